/* A contest: which time each of a group's candidates is raced against, and who is in the finals.
 *
 * Candidates race in the order in which they came, each against the best time so far, that of an
 * earlier round's incumbent included. The fastest of the races, unless clearly behind that best,
 * are re-timed in finals, fastest first.
 *
 * Pure, so that what was recorded can be replayed by the rules that it would be measured by.
 */
#ifndef TL_MEASURE_CONTEST_H
#define TL_MEASURE_CONTEST_H

#include <stdint.h>

#include "lib/base/hash.h"

/* What became of a group's candidates, as its end record tells it. */
struct counts {
	int64_t measured, preempted, failed, built, audited, false_kills, known;
};

/* One that ended its race well; the caller's. */
struct contestant {
	void *who;
	double latency_s;
	struct contestant *next;
};

struct contest {
	double best_s; /* so far; 0: none yet */
	int preempt;
	int64_t finals; /* still to come */
	struct counts n;
	struct contestant *first, **last; /* not yet in finals */
};

void contest_begin(struct contest *c, double incumbent_s, int preempt, int64_t finals);
/* The time that the next candidate races against; 0: none. */
double contest_limit(const struct contest *c);
/* A race has ended. latency_s counts where the status is ok, audit_s (0: none) where it is
 * preempted. 1: it may come into the finals, and `in` is kept until they are over. */
int contest_raced(struct contest *c, struct contestant *in, const char *status, double latency_s,
		  double audit_s);
/* The same for one that is not raced, as an earlier run's result is known. */
int contest_known(struct contest *c, struct contestant *in, const char *status, double latency_s);
/* The next to be re-timed; NULL if there is none. */
struct contestant *contest_finalist(struct contest *c);

/* Whether a candidate that is preempted is timed to the end all the same: a share of them, the same
 * ones in every run of a seed. */
int contest_audits(double share, uint64_t seed, const struct id *candidate);

#endif
