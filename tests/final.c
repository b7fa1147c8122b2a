/* Finals: what the answers of several processes come to together. */
#include <math.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/io/field.h"
#include "lib/measure/final.h"
#include "tests/tap.h"

static struct final f;

static void begin(void)
{
	memset(&f, 0, sizeof f);
}

static void put_list(struct buf *b, double center, double wobble, int n)
{
	field_list(b, "samples_s");
	for (int i = 0; i < n; i++)
		field_number(b, NULL, center * (1 + wobble * (i % 3 - 1)));
	buf_ch(b, ']');
}

static int add(const char *answer, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	struct err none = ERR_INIT;
	struct arena a = ARENA_INIT;
	struct result r;
	int rc;

	*e = none;
	if (json_parse(&d, answer, strlen(answer), e))
		bail_out("the test's own answer: %s", e->msg);
	result_read(&r, &d, &a);
	rc = final_add(&f, &r, e);
	json_free(&d);
	arena_free(&a);
	return rc;
}

/* A process in which the candidate takes own_s, and the baseline `ratio` times as long, but for a
 * wobble of 1/1000; no ratio: there is no baseline. The same for the library's best in the
 * workload's own layout. */
static int process_with(double own_s, double ratio, double own_layout_ratio, int pairs)
{
	struct buf b = BUF_INIT;
	struct err e;
	int rc;

	field_object(&b, NULL);
	put_list(&b, own_s, 0, pairs);
	if (ratio > 0) {
		field_object(&b, "duel");
		put_list(&b, own_s * ratio, 1e-3, pairs);
		buf_ch(&b, '}');
	}
	if (own_layout_ratio > 0) {
		buf_str(&b, ",\"baseline\":{\"own_layout\":{");
		put_list(&b, own_s * own_layout_ratio, 1e-3, pairs);
		buf_str(&b, "}}");
	}
	buf_ch(&b, '}');
	rc = add(b.s, &e);
	buf_free(&b);
	return rc;
}

static int process(double own_s, double ratio, int pairs)
{
	return process_with(own_s, ratio, 0, pairs);
}

static int is_near(double a, double b)
{
	return a > 0.998 * b && a < 1.002 * b;
}

static void test_one(void)
{
	begin();
	ok(process(1e-3, 1.05, 100) == 0 && f.processes == 1 && f.n == 100 && f.best.is_there,
	   "a process of 100 pairs");
	ok(is_near(f.time.median, 1e-3) && is_near(f.best.time.median, 1.05e-3) &&
		   is_near(f.best.ratio.median, 1.05),
	   "times and their ratio: above 1 the candidate is faster");
	ok(stat_verdict(f.best.ratio) == STAT_FASTER && f.best.ratio.hi < 1.052, "that decides it");
}

/* Each process has its own place in memory, and its own ratio. */
static void test_several(void)
{
	begin();
	process(1e-3, 1.05, 100);
	process(1.1e-3, 1.00, 100);
	ok(process(1.2e-3, 0.96, 100) == 0 && f.processes == 3 && f.n == 300, "three processes");
	ok(is_near(f.best.ratio.median, 1.0026) && f.best.ratio.lo < 0.9 && f.best.ratio.hi > 1.1,
	   "the ratio is the mean of theirs, and the interval that of three values so far apart: "
	   "%.3f to %.3f",
	   f.best.ratio.lo, f.best.ratio.hi);
	ok(stat_verdict(f.best.ratio) == STAT_UNDECIDED, "which decides nothing");
	ok(f.s[0] == 1e-3 && f.s[100] == 1.1e-3 && f.s[299] == 1.2e-3 &&
		   is_near(f.best.s[299], 1.2e-3 * 0.96),
	   "the calls are there, in their order");
	begin();
	process(1e-3, 1.05, 100);
	process(1e-3, 1.0501, 50);
	ok(f.n == 150 && is_near(f.best.ratio.median, 1.05) &&
		   stat_verdict(f.best.ratio) == STAT_FASTER,
	   "processes that agree decide");
}

/* The verdict ends it: far from a tie after two processes, else after those that were asked for, or
 * after as many more as there may be. */
static void test_sequential(void)
{
	begin();
	ok(final_wants(&f, 3) && final_owes(&f, 3), "a final has a process");
	process(1e-3, 2, FINAL_PAIRS);
	ok(final_wants(&f, 3) && final_owes(&f, 3) && !final_wants(&f, 1) && !final_owes(&f, 1),
	   "and another, unless one was asked for");
	process(1e-3, 2.01, FINAL_PAIRS);
	ok(!final_wants(&f, 3) && !final_owes(&f, 3), "far from a tie two are enough");
	begin();
	process(1e-3, 1.025, FINAL_PAIRS);
	process(1e-3, 1.025, FINAL_PAIRS);
	ok(stat_verdict(f.best.ratio) == STAT_FASTER && final_wants(&f, 3) && !final_owes(&f, 3),
	   "near a tie those that were asked for follow");
	process(1e-3, 1.025, FINAL_PAIRS);
	ok(!final_wants(&f, 3), "and are enough if they decide");
	begin();
	process(1e-3, 1.05, FINAL_PAIRS);
	process(1e-3, 1.04, FINAL_PAIRS);
	process(1e-3, 1.00, FINAL_PAIRS);
	ok(stat_verdict(f.best.ratio) == STAT_UNDECIDED && final_wants(&f, 3),
	   "undecided: more follow");
	for (int i = 0; i < 5; i++)
		process(1e-3, 1.045, FINAL_PAIRS);
	ok(stat_verdict(f.best.ratio) == STAT_FASTER && !final_wants(&f, 3), "until it is decided");
	begin();
	while (final_wants(&f, 2))
		process(1e-3, f.processes % 2 ? 0.8 : 1.2, FINAL_PAIRS);
	ok(f.processes == 2 * FINAL_MORE, "or there have been %d times as many", FINAL_MORE);
}

/* About normal, with deviation 1. */
static double normal(struct rng *r)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += rng_unit(r);
	return sum - 6;
}

/* Processes of a final with this ratio, where the place in memory makes 1% of a difference. */
static int simulate(struct rng *r, double ratio, enum stat_verdict *verdict)
{
	begin();
	f.best.is_there = 1;
	while (final_wants(&f, 3)) {
		f.best.process_ratio[f.processes++] = ratio * exp(0.01 * normal(r));
		if (f.processes > 1)
			f.best.ratio = stat_mean(f.best.process_ratio, f.processes);
	}
	*verdict = stat_verdict(f.best.ratio);
	return f.processes;
}

static void test_errors(void)
{
	enum { TIMES = 2000 };
	struct rng r;
	enum stat_verdict v;
	int wrong = 0, right = 0, processes = 0;

	rng_seed(&r, 1, "final");
	for (int i = 0; i < TIMES; i++) {
		simulate(&r, 1, &v);
		wrong += v == STAT_FASTER || v == STAT_SLOWER;
	}
	ok(wrong < TIMES / 100, "of %d ties %d are called faster or slower", TIMES, wrong);
	for (int i = 0; i < TIMES; i++) {
		processes += simulate(&r, 1.3, &v);
		right += v == STAT_FASTER;
	}
	ok(right == TIMES && processes < 2.3 * TIMES,
	   "candidates that are clearly faster are found so in %.2f processes",
	   (double)processes / TIMES);
}

static void test_alone(void)
{
	begin();
	process(1e-3, 0, 20);
	ok(process(1.1e-3, 0, 20) == 0 && f.n == 40 && f.processes == 2 && !f.best.is_there,
	   "without a baseline there are times only");
	ok(is_near(f.time.median, 1.05e-3) && f.best.ratio.n == 0, "and no ratio");
}

static void test_own_layout(void)
{
	begin();
	process(1e-3, 1.05, 100);
	ok(!f.own.is_there, "one baseline alone is not in another layout");
	begin();
	process_with(1e-3, 1.05, 1.2, 100);
	ok(f.own.is_there && is_near(f.own.time.median, 1.2e-3) && is_near(f.own.ratio.median, 1.2),
	   "the library in the workload's own layout has a ratio of its own");
	process_with(1.1e-3, 1.05, 1.3, 50);
	ok(process_with(1e-3, 1.0501, 0.9, 50) == 0 && f.own.ratio.lo < 1 && f.own.ratio.hi > 1 &&
		   is_near(f.own.ratio.median, cbrt(1.2 * 1.3 * 0.9)) &&
		   is_near(f.own.s[199], 0.9e-3) && f.own.ratio.n == 200,
	   "of all processes: %.3f to %.3f", f.own.ratio.lo, f.own.ratio.hi);
	ok(stat_verdict(f.best.ratio) == STAT_FASTER && !final_wants(&f, 3),
	   "but the verdict is that against the best");
	ok(process(1e-3, 1.05, 50) < 0 && f.processes == 3,
	   "who was there in one process is there in all");
}

/* Rows of the processes: the shortest, and graphs where all are. */
static void test_rows(void)
{
	static const struct {
		const char *answer[2];
		int row, is_graph;
	} cases[] = {
		{{"{\"row\":8,\"row_by\":\"graph\",\"samples_s\":[1]}",
		  "{\"row\":6,\"row_by\":\"graph\",\"samples_s\":[1]}"},
		 6,
		 1},
		{{"{\"row\":6,\"row_by\":\"graph\",\"samples_s\":[1]}",
		  "{\"row\":8,\"row_by\":\"calls\",\"samples_s\":[1]}"},
		 6,
		 0},
		{{"{\"row\":6,\"row_by\":\"calls\",\"samples_s\":[1]}",
		  "{\"row\":6,\"row_by\":\"graph\",\"samples_s\":[1]}"},
		 6,
		 0},
		{{"{\"samples_s\":[1]}", "{\"row\":6,\"row_by\":\"graph\",\"samples_s\":[1]}"},
		 0,
		 0},
		{{"{\"row\":6,\"samples_s\":[1]}", "{\"row\":65,\"samples_s\":[1]}"}, 0, 0},
	};
	struct err e;
	int good = 1;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		good &= add(cases[i].answer[0], &e) == 0 && add(cases[i].answer[1], &e) == 0 &&
			f.row == cases[i].row && (f.row_is_graph != 0) == cases[i].is_graph;
	}
	ok(good, "rows are as long as the shortest, and graphs if all processes had graphs");
}

static void test_refused(void)
{
	static const char *const bad[] = {
		"{\"status\":\"ok\"}",
		"{\"samples_s\":[],\"duel\":{\"samples_s\":[]}}",
		"{\"samples_s\":[1,2],\"duel\":{\"samples_s\":[1]}}",
		"{\"samples_s\":[1],\"duel\":{\"samples_s\":[1,2]}}",
		"{\"samples_s\":[1,0],\"duel\":{\"samples_s\":[1,1]}}",
		"{\"samples_s\":[1,1],\"duel\":{\"samples_s\":[1,-1]}}",
		"{\"samples_s\":[1,\"x\"],\"duel\":{\"samples_s\":[1,1]}}",
		"{\"samples_s\":1,\"duel\":{\"samples_s\":1}}",
		"{\"samples_s\":[1],\"duel\":{\"samples_s\":null}}",
		"{\"samples_s\":[1],\"duel\":{\"samples_s\":[1]},"
		"\"baseline\":{\"own_layout\":{\"samples_s\":[]}}}",
		"{\"samples_s\":[1],\"duel\":{\"samples_s\":[1]},"
		"\"baseline\":{\"own_layout\":{\"samples_s\":[0]}}}",
	};
	struct err e;
	int good = 1, most;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		begin();
		if (add(bad[i], &e) == 0 || !e.msg[0] || f.processes) {
			diag("taken: %s", bad[i]);
			good = 0;
		}
	}
	ok(good, "an answer without samples, or with others than seconds, is refused");
	begin();
	for (most = 0; process(1e-3, 1, FINAL_PAIRS) == 0; most++)
		;
	ok(most == FINAL_PROCESSES && f.n == FINAL_PAIRS_MAX, "there is room for %d processes",
	   most);
}

int main(void)
{
	test_one();
	test_several();
	test_sequential();
	test_errors();
	test_alone();
	test_own_layout();
	test_rows();
	test_refused();
	return done_testing();
}
