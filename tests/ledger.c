/* The ledger: its purposes sum to wall time x cores at any time, whatever is told in whatever
 * order. */
#include <math.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/host/ledger.h"
#include "tests/tap.h"

static double sum(const struct ledger *l)
{
	double s = 0;

	for (int c = 0; c < COSTS; c++)
		s += l->core_s[c];
	return s;
}

static int is(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

/* A run of tl-measure: reads for 3 s while compilers take 4 core-seconds, then a candidate. */
static void a_run(void)
{
	struct buf text = BUF_INIT;
	struct ledger l;

	ledger_open(&l, 2, 100);
	ledger_switch(&l, COST_IDLE, 100.5);
	ledger_beside(&l, COST_BUILD, 4, 103.5);
	ledger_switch(&l, COST_BASELINE, 103.5);
	ledger_switch(&l, COST_TIME, 104);
	ledger_move(&l, COST_TIME, COST_VERIFY, 0.25, 104.5);
	ok(ledger_switch(&l, COST_OTHER, 104.5) == COST_TIME, "a switch tells the purpose before");
	ledger_close(&l, 105);
	ok(is(l.core_s[COST_BUILD], 4) && is(l.core_s[COST_IDLE], 2),
	   "what ran beside is taken out of what was idle");
	ok(is(l.core_s[COST_BASELINE], 1), "a purpose is charged with all cores");
	ok(is(l.core_s[COST_VERIFY], 0.25) && is(l.core_s[COST_TIME], 0.75),
	   "a part of a purpose moves to another");
	ok(is(sum(&l), 10), "the sum is wall time x cores");
	ledger_json(&l, &text);
	ok(!strcmp(text.s, "{\"build\":4,\"verify\":0.25,\"baseline\":1,\"time\":0.75,"
			   "\"other\":2,\"idle\":2}"),
	   "as JSON: %s", text.s);
	buf_free(&text);
}

static void limits(void)
{
	struct ledger l;

	ledger_open(&l, 2, 0);
	ledger_switch(&l, COST_IDLE, 0);
	ledger_switch(&l, COST_TIME, 1);
	ledger_beside(&l, COST_BUILD, 3, 2);
	ok(is(l.core_s[COST_BUILD], 3) && is(l.core_s[COST_IDLE], 0) && is(l.core_s[COST_TIME], 1),
	   "beyond what was idle, the purpose in effect pays");
	ledger_beside(&l, COST_BUILD, 100, 2);
	ok(is(l.core_s[COST_BUILD], 4) && is(sum(&l), 4), "no more is taken than there was");
	ledger_skip(&l, 7);
	ledger_close(&l, 8);
	ok(is(l.parts_s, 5) && is(sum(&l), 6), "what is skipped is charged to no purpose");
}

static void record(void)
{
	struct ledger_run run = {.run = "r", .program = "p", .at = "now", .part_of = "whole"};
	struct buf text = BUF_INIT;
	struct ledger l;

	ledger_open(&l, 2, 10);
	ledger_switch(&l, COST_STORE, 10);
	ledger_close(&l, 11);
	ledger_skip(&l, 14);
	ledger_record(&l, &run, &text);
	ok(!!strstr(text.s, "\"program\":\"p\",\"part_of\":\"whole\",\"at\":\"now\",\"wall_s\":4,"
			    "\"cores\":2,\"parts_s\":3,\"cost\":{\"store\":2}"),
	   "the record: %s", text.s);
	buf_free(&text);
}

static void names(void)
{
	int bad = 0;

	for (int c = 0; c < COSTS; c++) {
		const char *name = cost_name((enum cost)c);

		bad += cost_find(name, strlen(name)) != (enum cost)c;
	}
	ok(!bad, "a purpose is found by its name");
	ok(cost_find("tim", 3) == COSTS && cost_find("", 0) == COSTS, "and only by that");
}

/* Anything, in any order. */
static void at_random(void)
{
	struct rng r;
	int bad = 0;

	rng_seed(&r, 1, "ledger");
	for (int round = 0; round < 200; round++) {
		double now = rng_unit(&r) * 100, opened = now, skipped = 0, cores;
		struct ledger l;

		cores = 1 + (double)rng_below(&r, 64);
		ledger_open(&l, cores, now);
		for (int i = 0; i < 200; i++) {
			enum cost a = (enum cost)rng_below(&r, COSTS);
			enum cost b = (enum cost)rng_below(&r, COSTS);
			double before = now;

			now += rng_unit(&r) * 10;
			switch (rng_below(&r, 4)) {
			case 0:
				ledger_switch(&l, a, now);
				break;
			case 1:
				ledger_beside(&l, a, rng_unit(&r) * 40, now);
				break;
			case 2:
				ledger_move(&l, a, b, rng_unit(&r) * 40, now);
				break;
			default:
				ledger_close(&l, before); /* all before it is ours */
				ledger_skip(&l, now);
				skipped += now - before;
			}
			for (int c = 0; c < COSTS; c++)
				bad += l.core_s[c] < 0;
			bad += !is(sum(&l), (now - opened - skipped) * cores);
		}
		bad += !is(l.parts_s, skipped);
	}
	ok(!bad, "the sum holds in 200 runs of 200 steps, and nothing is negative");
}

int main(void)
{
	a_run();
	limits();
	record();
	names();
	at_random();
	return done_testing();
}
