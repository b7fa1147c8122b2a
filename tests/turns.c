/* Which final has the next process, and how a run shares out its time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/measure/final.h"
#include "lib/measure/span.h"
#include "lib/measure/turns.h"
#include "tests/tap.h"

enum { N = 3 };

/* Final i is open until it has most[i] processes, each of which takes 1 s. Returns the order of the
 * turns, as letters. */
static const char *play(const int *most, const double *weight, double time_s)
{
	static char order[64];
	struct turn t[N] = {{0}};
	int n = 0, next = -1;

	for (int i = 0; i < N; i++)
		t[i].weight = weight[i];
	for (;;) {
		for (int i = 0; i < N; i++) {
			t[i].owes = t[i].processes < FINAL_LEAST;
			t[i].wants = t[i].processes < most[i];
			t[i].last_s = n > 0; /* the first one tells it of all */
		}
		next = turns_next(t, N, next, time_s - n);
		if (next < 0 || n == sizeof order - 1)
			break;
		t[next].processes++;
		order[n++] = (char)('a' + next);
	}
	order[n] = 0;
	return order;
}

static void is(const char *got, const char *want, const char *what)
{
	ok(!strcmp(got, want), "%s: %s", what, got);
}

static void test_order(void)
{
	static const int two[N] = {2, 2, 2}, open[N] = {2, 6, 6}, one[N] = {2, 2, 6};
	static const double even[N] = {1, 1, 1}, uneven[N] = {1, 2, 3}, far[N] = {1, 1, 100};

	is(play(two, even, INFINITY), "abcabc", "finals take turns");
	is(play(two, uneven, INFINITY), "cbacba", "those on which much depends are first");
	is(play(open, even, INFINITY), "abcabcbcbcbcbc", "open verdicts have more");
	is(play(open, far, INFINITY), "cabcabcbcbcbcb", "no final has two in a row");
	is(play(one, even, INFINITY), "abcabccccc", "unless no other is open");
}

static void test_time(void)
{
	static const int two[N] = {2, 2, 2}, open[N] = {6, 6, 6};
	static const double uneven[N] = {1, 2, 3};

	is(play(two, uneven, 0), "", "without time there is none");
	is(play(two, uneven, -1), "", "nor after it");
	is(play(two, uneven, 2), "cc", "with little time the heaviest has an interval");
	is(play(two, uneven, 4), "cbcb", "and with a little more two of them, in turns");
	is(play(two, uneven, 5), "cbcba", "what is left is for another one");
	is(play(two, uneven, 0.5), "c", "what the first one takes is not known before");
	is(play(open, uneven, 7.5), "cbacbac", "no process begins that would end too late");
}

static void test_limit(void)
{
	struct turn t[N] = {{.processes = 0, .owes = 1, .wants = 1, .may_more = 1},
			    {.processes = 1, .owes = 1, .wants = 1, .may_more = 1},
			    {.processes = 2, .wants = 1, .may_more = 1}};
	const struct turn single = {.owes = 1, .wants = 1};
	const double owed = turns_limit(t, N, 0, 0.06), open = turns_limit(t + 2, 1, 0, 12);

	ok(turns_limit(t, N, 2, INFINITY) == 0,
	   "no limit of time, no limit of an open final's process");
	ok(turns_limit(t, N, 0, INFINITY) > 0 &&
		   turns_limit(t, N, 0, INFINITY) == turns_limit(t, N, 0, 12),
	   "those that are owed are short");
	ok(turns_limit(&single, 1, 0, INFINITY) == 0, "but not the only one that a final may have");
	ok(owed > 0 && 3 * owed < 0.06 && fabs(open - 600 * owed) < 1e-9,
	   "and share the time where there is little: %g s of calls for each of 3, %g for one in 12 s",
	   owed, open);
}

/* How many processes a tie has that is never clear, beside so many finals that are clear after what
 * was asked for; each process takes 1 s, and the first ones first_s. */
static int tie(int others, int asked, double first_s)
{
	struct turns_spent s = {0};
	int processes = 0;

	for (int i = 0; i < others * asked; i++)
		turns_add(&s, i % asked, asked, i % asked ? 1 : first_s);
	while (processes < 1000 && turns_may_more(&s, processes, asked, 1)) {
		turns_add(&s, processes, asked, processes ? 1 : first_s);
		processes++;
	}
	ok(s.first_s == first_s, "the longest first process took %g s", s.first_s);
	return processes;
}

static void test_more(void)
{
	const int alone = tie(0, 4, 1), beside = tie(3, 4, 1), long_first = tie(1, 2, 3),
		  single = tie(0, 1, 1);

	ok(alone == 4 + 2, "a tie alone has half as much again: %d processes", alone);
	ok(beside == 4 + 8, "beside clear verdicts it has their half, too: %d", beside);
	ok(long_first == 2 + 4, "time counts, not processes: %d", long_first);
	ok(single == 1, "there is no half of one process: %d", single);
}

static void test_span(void)
{
	double now = 100;

	ok(isinf(span_races(now, INFINITY, 8, 2)) && isinf(span_share(now, INFINITY, 1, 8)),
	   "no limit");
	ok(span_races(now, 120, SPAN_FINAL, 1) == 110 && span_races(now, 120, 8, 0) == 120 &&
		   span_races(now, 120, 0, 4) == now,
	   "a final counts as much as %d candidates", SPAN_FINAL);
	ok(span_races(now, 90, 8, 1) == 90 && span_share(now, 90, 1, 8) == 90, "the past stays");
	ok(span_share(now, 108, 2, 8) == 102 && span_share(now, 108, 8, 8) == 108,
	   "each candidate has the same share");
	for (int left = 8; left > 0; left -= 2)
		now = span_share(now, 108, 2, left);
	ok(now == 108, "and all shares are the whole");
	ok(span_reserve(100, 2, 1) == 10 && span_reserve(100, 50, 1) == 20 &&
		   span_reserve(0, 2, 1) == 0,
	   "finals have what they take, but a fifth at most");
	ok(span_reserve(100, 10, 0.001) >= 2 && span_reserve(100, 10, 0.001) <= 10,
	   "and however little a candidate takes, a final has a least time: %g s for ten",
	   span_reserve(100, 10, 0.001));
}

int main(void)
{
	test_order();
	test_time();
	test_limit();
	test_more();
	test_span();
	return done_testing();
}
