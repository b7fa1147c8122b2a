/* Results as structs: what is read is written again, and a field that is not there is none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/record/result.h"
#include "tests/tap.h"

static struct arena a;

static void read_text(const char *text, struct result *r)
{
	struct json_doc d = JSON_DOC_INIT;
	struct err e = ERR_INIT;

	if (json_parse(&d, text, strlen(text), &e))
		bail_out("%s: %s", text, e.msg);
	result_read(r, &d, &a);
	json_free(&d);
}

/* As tl-measure writes them: a winner's race, the race of one that has lost, two finals, and one
 * that did not build. */
static const char *const results[] = {
	"{\"status\":\"ok\",\"printer\":\"c\",\"printer_why\":\"no \\\"asm\\\"\",\"stage\":\"race\","
	"\"cache\":\"cold\",\"latency_s\":0.000123456789,\"ci_s\":[0.00012,0.000125],\"reps\":24,"
	"\"row\":8,\"row_by\":\"graph\",\"use\":{\"registers\":64,\"spilled_bytes\":0,"
	"\"block_bytes\":49152,\"blocks\":2},\"watch\":{\"nivcsw\":0},\"samples_s\":[0.000123,0.000124],"
	"\"duel\":{\"against\":\"c1\",\"ratio\":1.0625,\"ci\":[1.05,1.07],\"latency_s\":0.000131,"
	"\"end\":\"won\",\"samples_s\":[0.000131,0.000132]},\"again\":{\"ratio\":1.01,"
	"\"ci\":[1,1.02],\"ahead\":true},\"error\":{\"l2\":1.5e-07,\"max\":0},\"incumbent\":true,"
	"\"cost\":{\"build_s\":0,\"build_core_s\":0,\"verify_s\":0.25,\"run_s\":0.125,"
	"\"baseline_s\":0,\"core_s\":1.5,\"energy_J\":null,\"energy_why\":\"no RAPL\"},"
	"\"env_id\":\"e1\",\"code_hash\":\"c0\",\"settings\":\"s1\",\"run\":\"r1\","
	"\"at\":\"2026-11-26T09:00:00.000Z\",\"env\":{\"cpu\":\"x\",\"l2\": 1}}",
	"{\"status\":\"preempted\",\"why\":\"it lost\",\"printer\":\"assembly\",\"stage\":\"race\","
	"\"latency_s\":0.5,\"bound\":\"lower\",\"ci_s\":[0.5,0.75],\"reps\":4,\"duel\":{"
	"\"against\":\"c1\",\"ratio\":0.5,\"ci\":[0.4,0.6],\"latency_s\":0.25,\"end\":\"lost\"},"
	"\"audit\":{\"ratio\":0.5,\"ci\":[0.4,0.6],\"false_kill\":false},\"again\":{"
	"\"status\":\"crash\",\"ahead\":false},\"cost\":{\"audit_s\":1,\"energy_J\":2},"
	"\"run\":\"r1\",\"at\":\"2026-11-26T09:00:00.000Z\",\"replayed\":true}",
	"{\"status\":\"ok\",\"stage\":\"final\",\"latency_s\":0.5,\"ci_s\":[0.5,0.5],\"reps\":300,"
	"\"processes\":3,\"baseline\":{\"impl\":\"onednn\",\"layout\":\"preferred\","
	"\"latency_s\":0.75,\"ci_s\":[0.75,0.75],\"system\":\"Linux\",\"error\":{\"l2\":0,"
	"\"max\":0},\"samples_s\":[0.75],\"own_layout\":{\"impl\":\"onednn ref\",\"latency_s\":1,"
	"\"ci_s\":[1,1],\"ratio\":{\"median\":2,\"ci\":[2,2]},\"samples_s\":[1]}},\"ratio\":{"
	"\"median\":1.5,\"ci\":[1.5,1.5]},\"verdict\":\"faster\",\"rejected\":[{\"impl\":\"bad\"}]}",
	"{\"status\":\"ok\",\"stage\":\"final\",\"latency_s\":0.5,\"baseline\":null,"
	"\"baseline_why\":\"no library\",\"ratio\":null,\"ratio_why\":\"no final was recorded\"}",
	"{\"status\":\"build\",\"why\":\"no\",\"stage\":\"race\",\"latency_s\":null,"
	"\"latency_why\":\"not timed\",\"code_hash\":null,\"code_hash_why\":\"not built\"}",
	"{\"status\":\"ok\",\"baseline\":{\"impl\":\"i\",\"latency_s\":1,\"own_layout\":null,"
	"\"own_layout_why\":\"it has none\"}}",
};

static void test_round_trip(void)
{
	struct buf out = BUF_INIT;
	struct result r;

	for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
		read_text(results[i], &r);
		buf_clear(&out);
		buf_ch(&out, '{');
		result_write(&r, &out);
		buf_ch(&out, '}');
		if (!ok(!strcmp(out.s, results[i]), "result %zu comes back byte for byte", i))
			printf("# got  %s\n# want %s\n", out.s, results[i]);
	}
	buf_free(&out);
}

static void test_members(void)
{
	struct result r;

	read_text(results[0], &r);
	ok(r.status == STATUS_OK && r.stage == STAGE_RACE && !strcmp(r.printer_why, "no \"asm\"") &&
		   r.ci_s.hi == 0.000125 && r.reps == 24 && r.use.block_bytes == 49152 &&
		   r.samples_s.n == 2 && r.samples_s.v[1] == 0.000124,
	   "the members have the values of their fields");
	ok(r.duel.is_there && r.duel.end == RESULT_WON && r.again.ahead && r.error.is_there &&
		   !r.audit.is_there && !r.baseline.is_there && r.incumbent && !r.replayed &&
		   isnan(r.cost.energy_J) && !strcmp(r.cost.energy_why, "no RAPL") &&
		   !strcmp(r.env, "{\"cpu\":\"x\",\"l2\": 1}"),
	   "so have those of its objects");
	read_text("{\"candidate_id\":\"c\",\"workload\":{\"workload_id\":\"w\"}}", &r);
	ok(!strcmp(r.candidate_id, "c") && !strcmp(r.workload_id, "w"), "ids are the candidate's");
}

static int is_empty(const struct result *r)
{
	return !r->status && !r->why && !r->stage && isnan(r->latency_s) && !r->latency_why &&
	       isnan(r->ci_s.lo) && !r->reps && !r->samples_s.n && !r->duel.is_there &&
	       isnan(r->duel.ratio) && !r->baseline.is_there && isnan(r->baseline.latency_s) &&
	       isnan(r->baseline.own_layout.latency_s) && isnan(r->cost.core_s) &&
	       isnan(r->error.max) && !r->incumbent && !r->run && !r->env;
}

static void test_none(void)
{
	static const char *const none[] = {
		"{}",
		"[1,2]",
		"{\"x\":1,\"state\":\"ok\"}",
		"{\"status\":\"good\",\"why\":1,\"stage\":\"\",\"latency_s\":\"1\",\"ci_s\":[1],"
		"\"reps\":1.5,\"samples_s\":[1,null],\"duel\":[],\"baseline\":1,\"cost\":\"x\","
		"\"error\":true,\"incumbent\":1,\"run\":[],\"env\":null}",
	};
	struct result r;
	int good = 1;

	for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
		read_text(none[i], &r);
		good &= is_empty(&r);
	}
	ok(good, "what is not there, or of another kind, has no value");
}

/* -1: there is an error. */
static double ratio_of(const char *fields)
{
	struct err e = ERR_INIT;
	struct result r;
	char text[256];
	double ratio;

	snprintf(text, sizeof text, "{%s}", fields);
	read_text(text, &r);
	return result_ratio(&r, &ratio, &e) ? -1 : ratio;
}

static void test_ratio(void)
{
	static const char *const bad[] = {
		"\"duel\":{\"ratio\":0}",
		"\"duel\":{\"ratio\":-1.2}",
		"\"duel\":{\"ratio\":1.2},\"again\":{\"ratio\":0}",
		"\"stage\":\"final\",\"ratio\":{\"median\":0}",
	};
	int good = 1;

	ok(isnan(ratio_of("")) && isnan(ratio_of("\"duel\":{\"ratio\":null}")),
	   "without a duel there is no ratio");
	ok(ratio_of("\"duel\":{\"ratio\":1.25}") == 1.25, "a duel's is its own");
	ok(fabs(ratio_of("\"duel\":{\"ratio\":1.44},\"again\":{\"ratio\":1.0,\"ahead\":false}") -
		1.2) < 1e-12,
	   "of one that was not ahead again it is the geometric mean of both");
	ok(ratio_of("\"duel\":{\"ratio\":1.44},\"again\":{\"ratio\":1.2,\"ci\":[1.0625,1.3],"
		    "\"ahead\":true}") == 1.0625,
	   "a winner's is what it gained for certain");
	ok(ratio_of("\"duel\":{\"ratio\":1.44},\"again\":{\"ratio\":1.2,\"ci\":[0.9,1.3],"
		    "\"ahead\":true}") == 1,
	   "and 1 at least");
	ok(ratio_of("\"duel\":{\"ratio\":1.44},\"again\":{\"status\":\"crash\",\"ahead\":"
		    "false}") == 1.44,
	   "that of the first where the second did not end well");
	ok(ratio_of("\"stage\":\"final\",\"ratio\":{\"median\":1.5},\"duel\":{\"ratio\":3}") == 1.5,
	   "a final's is that with the library");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		good &= ratio_of(bad[i]) == -1;
	ok(good, "what is no ratio is refused");
}

int main(void)
{
	test_round_trip();
	test_members();
	test_none();
	test_ratio();
	arena_free(&a);
	return done_testing();
}
