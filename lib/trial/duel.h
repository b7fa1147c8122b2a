/* A duel finds out which of two programs is faster, from pairs of adjacent calls.
 *
 * Other work on a shared machine makes calls longer, for a millisecond or for seconds. It affects
 * adjacent calls alike. So the two programs are called in turns, a pair at a time, and the ratio
 * within each pair counts. If a burst of other work begins or ends within a pair, it affects one
 * call alone. Therefore pairs are left out in which a call took 1.25 times the 20% quantile of the
 * same program's calls, unless hardly any others are left. Median and interval of the ratios come
 * from order statistics (stat.h), which allow for dependence between neighbouring pairs.
 *
 * In a race a challenger has to beat an incumbent.
 * - It has lost when the 90% interval lies below 1, from four pairs on. It has already lost after
 *   n > 1 pairs if its ratio is below 1 / (1 + 1/n^2) in the best of them, and by more than the
 *   incumbent's own calls differ: 0.8 after two pairs, 0.9 after three.
 * - It has won when the 90% interval lies above 1, from eight pairs on, and when as many new pairs,
 *   16 at least, then have a median above 1. The new pairs alone make the ratio that is told: the
 *   first ones were looked at until they won, so their ratio owes something to luck. A win by more
 *   than 10% (that interval) is clear: it needs no new pairs, and its `first` stays empty.
 * - The incumbent stays if the challenger can hardly be better by more than 2% (80% interval), or
 * by 3% when the budget is spent; or after three budgets and 16 pairs. A whole duel, which goes on
 * even if the winner is clear, may spend five budgets if others had most of the calls' time. A
 * final makes all pairs that were asked for, or at least DUEL_FINAL_LEAST and as many as its limit
 * of time allows. What the pairs say does not end it.
 *
 * Times are rounded to the digits that a record has, so that a replay of the pairs decides alike.
 *
 * tests/duel.c simulates, with recorded pairs, how often these rules miss the best and what they
 * cost. All but the calls is pure, so that recorded pairs can take their place.
 *
 * Duels. On a shared machine everything slows down for a millisecond or for minutes, by 1.4 where
 * others use half of a core, and no counter of the kernel shows it. But neighbouring calls slow
 * down alike. So a time is never compared with a time of another moment. Instead, two programs are
 * called in turns in one process, and the ratio in each pair counts. Before each timed call there
 * is a warm-up call, which brings the operands back into the caches; then weights and bias are
 * flushed, because a network has used those of its other layers meanwhile (lib/target/caches.h;
 * --cache=warm keeps them). Intervals are those of medians, by order statistics, and take into
 * account that neighbouring pairs depend on each other. Nothing assumes a normal distribution, and
 * nothing waits for quiet.
 */
#ifndef TL_TRIAL_DUEL_H
#define TL_TRIAL_DUEL_H

#include "lib/base/err.h"
#include "lib/record/result.h"
#include "lib/trial/stat.h"

enum {
	DUEL_MAX = 512,
	DUEL_FINAL_LEAST = 8, /* pairs of a final that has no time for more */
};

enum duel_kind {
	DUEL_RACE,  /* stop as soon as it is clear that the challenger does not win */
	DUEL_WHOLE, /* go on until the ratio is known to 2% or the budget is spent */
	DUEL_FINAL, /* make all pairs */
};

struct duel_rules {
	enum duel_kind kind;
	double budget_s; /* of calls; no end of a final */
	int pairs;	 /* of a final, at most DUEL_MAX */
	double limit_s;	 /* of a final's calls; 0: none */
};

enum duel_end { DUEL_LOST, DUEL_EVEN, DUEL_WON };

struct duel_pairs {
	int n;
	double x[DUEL_MAX], y[DUEL_MAX]; /* seconds of the challenger and the incumbent */
};

struct duel {
	int n;				 /* pairs */
	double x[DUEL_MAX], y[DUEL_MAX]; /* seconds of the challenger and the incumbent, by pair */
	struct stat_median ratio;	 /* of y / x: above 1 the challenger is faster */
	struct stat_median time, other_time; /* of x and y, seconds */
	enum duel_end end;
	double spent_s;		 /* in the calls of these pairs */
	struct duel_pairs first; /* a race's that won, before the pairs above; n 0: it did not */
};

/* One pair: the seconds of a call of the challenger and of the incumbent. `turn` alternates: 1 if
 * the incumbent is to be called first. */
typedef int duel_pair(void *arg, int turn, double *x, double *y, struct err *e);

/* Begins a duel, or goes on with one (d->n > 0). -1 with e filled if a call fails. */
int duel_run(const struct duel_rules *rules, duel_pair *pair, void *arg, struct duel *d,
	     struct err *e);

/* Times one program alone, until its median is known to 2% or the budget is spent. d has the times
 * as both x and y; *y of `pair` is not read. */
int duel_alone(double budget_s, duel_pair *pair, void *arg, struct duel *d, struct err *e);

/* The ratio of the pairs so far, with its 95% interval. */
struct stat_median duel_ratio(const struct duel *d);

/* Fills a result with the time and, if the challenger was not alone, the duel, without samples. */
void duel_result(const struct duel *d, int alone, struct result *r);

/* Of a program's n calls, those beyond this many seconds were disturbed. Puts x in another order.
 */
double duel_limit(double *x, int n);

/* The sentence for a challenger that has lost. */
void duel_why(const struct duel *d, char *out, size_t size);

#endif
