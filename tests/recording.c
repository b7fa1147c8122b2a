/* Recordings and replays: which of several results answers, whatever their order; and that a race
 * over recorded samples ends as the race over the calls themselves would have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/trial/race.h"
#include "lib/store/replay.h"
#include "tests/tap.h"

#define WORKLOAD "00000000000000000000000000000001"
#define HEAD                                                                                       \
	"{\"tl\":1,\"type\":\"%s\",\"candidate_id\":\"%s\",\"workload\":{\"workload_id\":"         \
	"\"" WORKLOAD "\"}"

enum { LINES = 200, PROGRAMS = 120 };

static struct buf line[LINES];
static int nlines;

static void forget(void)
{
	for (int i = 0; i < nlines; i++)
		buf_free(&line[i]);
	nlines = 0;
}

static struct id candidate(int i)
{
	struct id id;

	hash_id(&id, &i, sizeof i);
	return id;
}

/* A result as it was measured; fields: what stands behind the common ones. */
static void add(int who, const char *run, const char *at, const char *status, double latency_s,
		const char *fields)
{
	struct buf *b = &line[nlines++];
	const struct id id = candidate(who);

	buf_fmt(b, HEAD, "result", id.s);
	buf_fmt(b,
		",\"status\":\"%s\",\"latency_s\":%.9g,\"run\":\"%s\",\"at\":\"2026-11-%s\","
		"\"env_id\":\"e\"%s}",
		status, latency_s, run, at, fields);
}

static void fill(struct recording *r, const int *order)
{
	struct err e = ERR_INIT;

	for (int i = 0; i < nlines; i++) {
		const struct buf *b = &line[order ? order[i] : i];

		if (recording_add(r, b->s, b->n, &e))
			diag("%s", e.msg);
	}
}

static int is_from(const struct recorded *x, const char *run, double latency_s)
{
	return x && !strcmp(x->run, run) && x->latency_s == latency_s;
}

static void make_choices(void)
{
	static const char day[] = "21T09:00:00.000Z", next[] = "22T09:00:00.000Z";
	static const char samples[] = ",\"samples_s\":[0.002,0.002]";

	add(0, "a", day, "ok", 2e-3, "");
	add(0, "b", day, "ok", 1e-3, "");
	add(0, "c", day, "preempted", 9e-4, "");
	add(0, "a", day, "ok", 1.5e-3, ",\"stage\":\"final\"");
	add(1, "a", day, "ok", 1e-3, "");
	add(1, "b", day, "ok", 2e-3, samples);
	add(2, "a", day, "ok", 1e-3, "");
	add(2, "b", day, "wrong", 1e-3, ",\"why\":\"off\"");
	add(3, "a", day, "ok", 1e-3, "");
	add(3, "b", day, "wrong", 1e-3, ",\"stage\":\"final\",\"why\":\"off\"");
	add(4, "a", day, "preempted", 1e-3, "");
	add(4, "b", day, "preempted", 3e-3, "");
	add(4, "c", day, "crash", 0, "");
	add(5, "b", day, "crash", 0, "");
	add(5, "a", next, "timeout", 0, "");
	add(6, "b", day, "ok", 1e-3, "");
	add(6, "a", day, "ok", 1e-3, "");
	add(7, "a", day, "ok", 1e-3, ",\"stage\":\"final\"");
	add(8, "a", day, "ok", 5e-4, ",\"cache\":\"cold\"");
	add(8, "b", day, "ok", 6e-4, "");
	add(9, "a", day, "ok", 1e-3, ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0.25}");
	add(9, "b", next, "ok", 2e-3,
	    ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0,\"baseline_s\":0.5}");
}

/* All rules of the choice at once, in some order of the lines. */
static int chooses_right(const int *order)
{
	struct recording r = {.cache = "warm"};
	const struct recorded_env *v;
	const struct recorded *x[10];
	int right;

	fill(&r, order);
	v = recording_env(&r, "e");
	for (int i = 0; i < 10; i++)
		x[i] = recording_race(v, candidate(i).s);
	right = is_from(x[0], "b", 1e-3) && is_from(x[1], "b", 2e-3) && x[1]->nx == 2 &&
		is_from(x[2], "b", 1e-3) && !strcmp(x[2]->status, "wrong") &&
		is_from(x[3], "b", 1e-3) && !strcmp(x[3]->status, "wrong") &&
		is_from(x[4], "b", 3e-3) && is_from(x[5], "a", 0) && is_from(x[6], "a", 1e-3) &&
		is_from(x[7], "a", 1e-3) && is_from(x[8], "b", 6e-4);
	right &= is_from(recording_final(v, candidate(0).s), "a", 1.5e-3) &&
		 !recording_final(v, candidate(1).s) && !recording_race(v, candidate(10).s);
	right &= x[9]->code->build_s == 0.25 && *x[0]->baseline_s == 0.5;
	right &= v->n == nlines - 1 && recording_latest(&r) == v;
	recording_free(&r);
	return right;
}

static void test_choice(void)
{
	int order[LINES], right = 1;
	struct rng g;

	forget();
	make_choices();
	ok(chooses_right(NULL), "one of several results answers");
	rng_seed(&g, 1, "order");
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < nlines; i++) {
			int j = (int)rng_below(&g, (uint64_t)i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		right &= chooses_right(order);
	}
	ok(right, "and the same one in whatever order they came");
}

static int refuses(const char *text)
{
	struct recording r = {.cache = "warm"};
	struct err e = ERR_INIT;
	int rc = recording_add(&r, text, strlen(text), &e);

	recording_free(&r);
	return rc == -1 && e.msg[0];
}

static void test_bad(void)
{
	struct recording r = {.cache = "warm"};
	static const char end[] = "{\"tl\":1,\"type\":\"end\"";
	struct buf b = BUF_INIT;

	ok(refuses("garbage") && refuses("{\"tl\":1,\"type\":\"result\"}") &&
		   refuses("{\"tl\":1,\"type\":\"result\""),
	   "what is no result is refused");
	forget();
	add(0, "a", "21T09:00:00.000Z", "ok", 1e-3, ",\"replayed\":true");
	add(0, "a", "21T09:00:00.000Z", "ok", 1e-3, ",\"samples_s\":[1,-1]");
	add(0, "a", "noon", "ok", 1e-3, "");
	ok(refuses(line[0].s), "and what was replayed");
	ok(refuses(line[1].s) && refuses(line[2].s), "and samples and times that are none");
	buf_str(&b, "[1");
	for (int i = 0; i < RACE_MAX; i++)
		buf_str(&b, ",1");
	buf_str(&b, "]}");
	line[2].n = 0;
	buf_add(&line[2], line[1].s, strstr(line[1].s, "[1,") - line[1].s);
	buf_add(&line[2], b.s, b.n);
	ok(refuses(line[2].s), "and more samples than a race has");
	ok(recording_add(&r, end, sizeof end - 1, NULL) == 0 && !recording_latest(&r),
	   "other records are passed over unread");
	buf_free(&b);
}

/* ---- replays ---- */

/* A program's calls, as they would last whenever it ran: slow at first, disturbed at times. */
static void make_calls(struct rng *g, double *x)
{
	const double t = 3e-4 * (1 + 0.1 * rng_unit(g)) * (rng_below(g, 4) ? 1 : 2);
	const double noise = 0.3 * rng_unit(g);
	const int warm = (int)rng_below(g, 3);

	for (int i = 0; i < RACE_MAX; i++) {
		double v = t * (1 + noise * rng_unit(g)) * (i < warm ? 2 : 1);
		char text[32];

		v *= rng_below(g, 20) ? 1 : 3;
		snprintf(text, sizeof text, "%.9g", v); /* as a record holds it */
		x[i] = strtod(text, NULL);
	}
}

struct feed {
	const double *x;
	int at;
};

static int feed(void *arg, double *seconds, struct err *e)
{
	struct feed *f = arg;

	(void)e;
	*seconds = f->x[f->at++];
	return 0;
}

static void race(const double *x, double limit_s, struct race *r)
{
	const struct race_rules rules = {limit_s, 0.1};
	struct feed f = {x, 0};

	memset(r, 0, sizeof *r);
	race_run(&rules, feed, &f, r, NULL);
}

/* What a race comes to, as the fields of its result. */
static void told(const struct race *r, struct buf *b)
{
	buf_fmt(b,
		"\"latency_s\":%.9g%s,\"ci_s\":[%.9g,%.9g],\"reps\":%d,\"warmup\":%d,"
		"\"outliers\":%d",
		r->lost ? r->time.lo : r->time.median, r->lost ? ",\"bound\":\"lower\"" : "",
		r->time.lo, r->time.hi, r->n, r->warmup, r->outliers);
}

/* Records the whole race of each, with its samples. */
static void record(double (*x)[RACE_MAX], int n)
{
	for (int i = 0; i < n; i++) {
		struct buf *b = &line[nlines++];
		const struct id id = candidate(i);
		struct race r;

		race(x[i], 0, &r);
		buf_fmt(b, HEAD, "result", id.s);
		buf_str(b, ",\"status\":\"ok\",");
		told(&r, b);
		buf_str(b, ",\"run\":\"a\",\"at\":\"2026-11-21T09:00:00.000Z\",\"env_id\":\"e\","
			   "\"cost\":{\"verify_s\":0.001,\"run_s\":");
		buf_num(b, r.spent_s);
		buf_str(b, "},\"samples_s\":[");
		for (int k = 0; k < r.n; k++)
			buf_fmt(b, "%s%.9g", k ? "," : "", r.x[k]);
		buf_str(b, "]}");
	}
}

static char path[] = "/tmp/tl-test-XXXXXX";

/* Opens a replay of what was added, whose output goes to path. */
static void open_replay(struct replay *p, struct recording *r, const int preempt)
{
	struct err e = ERR_INIT;

	*r = (struct recording){.cache = "warm"};
	fill(r, NULL);
	*p = (struct replay){.rules = {.race_s = 0.1, .finals = 2, .preempt = preempt},
			     .env = recording_env(r, "e"),
			     .run = "run",
			     .out = rec_create(path, &e)};
	if (!p->out || !p->env)
		bail_out("no replay: %s", e.msg);
}

static int play(struct replay *p, int who)
{
	struct json_doc d = JSON_DOC_INIT;
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	const struct id id = candidate(who);
	int rc;

	buf_fmt(&b, HEAD "}", "candidate", id.s);
	if (json_parse(&d, b.s, b.n, &e))
		bail_out("%s", e.msg);
	rc = replay_candidate(p, &d, &id, &e);
	json_free(&d);
	buf_free(&b);
	return rc;
}

/* Ends it; its output in text. */
static void close_replay(struct replay *p, struct recording *r, struct buf *text)
{
	struct err e = ERR_INIT;
	char block[4096];
	FILE *f;
	size_t n;

	if (replay_finals(p, &e) || replay_end(p, WORKLOAD, NULL, 0, &e) || rec_commit(p->out, &e))
		bail_out("%s", e.msg);
	rec_discard(p->out);
	replay_free(p);
	recording_free(r);
	buf_clear(text);
	f = fopen(path, "re");
	while (f && (n = fread(block, 1, sizeof block, f)) > 0)
		buf_add(text, block, n);
	if (f)
		fclose(f);
}

/* The candidate's line in the text, of a stage; "" if there is none. */
static const char *answer(const struct buf *text, int who, const char *stage, struct buf *out)
{
	const struct id id = candidate(who);

	buf_clear(out);
	buf_str(out, "");
	for (const char *s = text->s, *nl; (nl = strchr(s, '\n')); s = nl + 1) {
		buf_clear(out);
		buf_add(out, s, (size_t)(nl - s));
		if (strstr(out->s, id.s) && strstr(out->s, stage))
			return out->s;
	}
	return "";
}

static void test_exact(void)
{
	static double x[PROGRAMS][RACE_MAX];
	struct buf text = BUF_INIT, one = BUF_INIT, want = BUF_INIT;
	int same = 1, lost = 0, early = 0, finals = 0;
	struct recording r;
	struct replay p;
	struct rng g;
	double best = 0;

	forget();
	rng_seed(&g, 3, "calls");
	for (int i = 0; i < PROGRAMS; i++)
		make_calls(&g, x[i]);
	record(x, PROGRAMS);
	open_replay(&p, &r, 1);
	replay_open(&p, 0);
	for (int i = 0; i < PROGRAMS; i++)
		same &= play(&p, i) == 1;
	close_replay(&p, &r, &text);
	for (int i = 0; i < PROGRAMS; i++) {
		struct race now;

		race(x[i], best, &now);
		buf_clear(&want);
		buf_fmt(&want, ",\"stage\":\"race\",");
		told(&now, &want);
		answer(&text, i, "\"stage\":\"race\"", &one);
		if (!strstr(one.s, want.s) ||
		    !strstr(one.s, now.lost ? "\"status\":\"preempted\"" : "\"status\":\"ok\"")) {
			diag("want %s in %s", want.s, one.s);
			same = 0;
		}
		lost += now.lost;
		early += now.lost && now.n < 8;
		if (!now.lost && (best <= 0 || now.time.median < best))
			best = strtod(strstr(want.s, "latency_s") + 11, NULL);
		finals += *answer(&text, i, "\"stage\":\"final\"", &one) != 0;
	}
	ok(same, "each race over samples ends as over the calls");
	ok(lost > 20 && lost < PROGRAMS - 5 && early > 5 && early < lost,
	   "of which %d lost, %d of them early", lost, early);
	ok(finals >= 1 && finals <= 2, "then there are finals: %d", finals);
	buf_free(&text);
	buf_free(&one);
	buf_free(&want);
}

static void test_bounds(void)
{
	static const char day[] = "21T09:00:00.000Z";
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;

	forget();
	add(0, "a", day, "ok", 1e-3, ",\"ci_s\":[0.00099,0.00101],\"cost\":{\"run_s\":0.1}");
	add(1, "a", day, "ok", 2e-3, ",\"ci_s\":[0.00199,0.00201],\"cost\":{\"run_s\":0.1}");
	add(2, "a", day, "ok", 1.03e-3, ",\"ci_s\":[0.0010,0.00104],\"cost\":{\"run_s\":0.1}");
	add(3, "a", day, "preempted", 1.5e-3, ",\"bound\":\"lower\",\"cost\":{\"run_s\":0.01}");
	add(4, "a", day, "preempted", 1.01e-3, ",\"bound\":\"lower\",\"cost\":{\"run_s\":0.01}");
	open_replay(&p, &r, 1);
	replay_open(&p, 0);
	ok(play(&p, 3) == 0, "one that was preempted is unknown while nothing can preempt it");
	ok(play(&p, 0) == 1 && play(&p, 1) == 1 && play(&p, 2) == 1 && play(&p, 3) == 1 &&
		   play(&p, 4) == 0 && play(&p, 5) == 0,
	   "and where its bound is not beyond the limit, as one that was never recorded");
	ok(p.unknown == 3 && p.asked == 7, "they are counted");
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"preempted\"") && strstr(one.s, "\"latency_s\":0.00199,\"bound\"") &&
		   strstr(one.s, "\"reps\":2,") && strstr(one.s, "\"run_s\":0.00398"),
	   "without samples: clearly slower, so preempted by a probe, with its bound and cost");
	answer(&text, 2, "race", &one);
	ok(strstr(one.s, "\"ok\"") && strstr(one.s, "\"latency_s\":0.00103,"),
	   "not clearly slower: as recorded");
	answer(&text, 3, "race", &one);
	ok(strstr(one.s, "\"preempted\"") && strstr(one.s, "\"latency_s\":0.0015,\"bound\"") &&
		   strstr(one.s, "\"run_s\":0.01,"),
	   "preempted then, preempted now");
	answer(&text, 0, "\"stage\":\"final\"", &one);
	ok(strstr(one.s, "\"ratio\":null,\"ratio_why\"") != NULL,
	   "a final that was not recorded is the race once more, and says so");
	ok(strstr(text.s, "\"measured\":2,\"preempted\":2,\"failed\":0,\"built\":0,") &&
		   strstr(text.s, "\"unknown\":3,\"replayed\":true}"),
	   "the end tells what became of them");
	buf_free(&text);
	buf_free(&one);
}

static void test_costs(void)
{
	static const char day[] = "21T09:00:00.000Z";
	static const char first[] = ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0.5,\"build_core_"
				    "s\":0.375,\"verify_s\":0."
				    "25,\"run_s\":0.125,\"baseline_s\":1},\"env\":{\"threads\":2}";
	static const char second[] = ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0,\"verify_s\":0."
				     "25,\"run_s\":0.125,\"baseline_s\":0}";
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;

	forget();
	add(0, "a", day, "ok", 1e-3, first);
	add(1, "a", day, "ok", 1e-3, second);
	open_replay(&p, &r, 1);
	p.rules.finals = 0;
	p.start_ms = 1000;
	replay_open(&p, 0);
	play(&p, 1);
	play(&p, 0);
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"build_s\":0.5,\"build_core_s\":0.375,\"verify_s\":0.25,\"run_s\":0.125,"
			 "\"baseline_s\":1,"
			 "\"core_s\":3.125,") != NULL,
	   "what is shared is charged to the first that wants it");
	ok(strstr(one.s, "\"at\":\"1970-01-01T00:00:02.875Z\"") != NULL, "and takes its time");
	answer(&text, 0, "race", &one);
	ok(strstr(one.s, "\"build_s\":0,\"build_core_s\":0,\"verify_s\":0.25,\"run_s\":0.125,"
			 "\"baseline_s\":0,"
			 "\"core_s\":0.75,") != NULL,
	   "and to no other");
	ok(strstr(one.s, "\"at\":\"1970-01-01T00:00:03.250Z\"") != NULL, "the clock goes on");
	ok(strstr(text.s, "\"built\":1,") != NULL, "one object was built");
	buf_free(&text);
	buf_free(&one);
}

static void test_audit(void)
{
	static const char day[] = "21T09:00:00.000Z";
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;

	forget();
	add(0, "a", day, "ok", 1e-3, "");
	/* Slow at first: its race is lost before it shows that it is the better one. */
	add(1, "a", day, "ok", 9e-4,
	    ",\"cost\":{\"run_s\":0.02},\"samples_s\":[0.002,0.002,0.0009,0.0009]");
	open_replay(&p, &r, 1);
	p.rules.audit = 1;
	p.rules.finals = 0;
	replay_open(&p, 0);
	play(&p, 0);
	play(&p, 1);
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"preempted\"") &&
		   strstr(one.s, "\"audit\":{\"latency_s\":0.0009,\"false_kill\":true}"),
	   "an audit shows a false kill");
	ok(strstr(text.s, "\"audited\":1,\"false_kills\":1") != NULL, "which is counted");
	ok(strstr(one.s, "\"audit_s\":0.00620689655") != NULL, "and charged with the rest");
	buf_free(&text);
	buf_free(&one);
}

/* Of an older version, which had an env for each class of the machine's speed. */
static void test_renewed(void)
{
	static const char day[] = "21T09:00:00.000Z";
	static const char *const class[] = {"242 GFLOP/s, 36.6 GB/s", "165 GFLOP/s, 29.3 GB/s"};
	struct recording r = {.cache = "warm"};
	struct recorded_env *v;
	struct buf env = BUF_INIT;

	forget();
	for (int i = 0; i < 2; i++) {
		buf_clear(&env);
		buf_fmt(&env,
			",\"env\":{\"isa\":\"avx512\",\"features\":\"avx2,fma,avx512f\",\"l1d\":"
			"49152,"
			"\"l2\":2097152,\"l3\":33554432,\"threads\":2,\"cc\":\"gcc "
			"12.2.0\",\"libs\":"
			"\"onednn 2.6.3\",\"hw_id\":\"h\",\"probe\":{\"class\":\"%s\"}}",
			class[i]);
		add(i, i ? "b" : "a", day, "ok", 1e-3, env.s);
	}
	r.only = "c558a9dc3e929bd7603fa7219c5715e3";
	fill(&r, NULL);
	v = recording_latest(&r);
	ok(v && !strcmp(v->id, r.only) && v->n == 2 && v->threads == 2,
	   "one machine is one env, whatever the class of its speed was");
	ok(v && strstr(v->json, "\"hw_id\":\"a64678d6821eaab11078f1c32ec13acc\",\"probe\":{}}"),
	   "and told as one of today");
	recording_free(&r);
	buf_free(&env);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("no temporary file");
	close(fd);
	test_choice();
	test_bad();
	test_renewed();
	test_exact();
	test_bounds();
	test_costs();
	test_audit();
	forget();
	unlink(path);
	return done_testing();
}
