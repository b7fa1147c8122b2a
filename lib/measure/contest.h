/* A contest: whom each of a group's candidates races against, and who is in the final.
 *
 * Candidates race in the order in which they came, each against the holder: the incumbent of
 * earlier rounds, or else the first that ended well. One that wins its duel and is ahead in
 * a second process, too, is the holder from then on; the holder falls in no other way. Where whole
 * spaces are recorded the first holder stays, so that all ratios are to the same reference.
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

/* A candidate; the caller's. */
struct contestant {
	void *owner;
	const char *at; /* when it became the holder, of those known from earlier runs; NULL: now */
};

/* How a race ended. */
struct contest_end {
	const char *status; /* of the result */
	int won;	    /* a duel was won, or there was nobody to duel with */
	double ratio;	    /* of the holder's time over its own; 0: not known */
};

struct contest {
	struct contestant *holder, *best; /* NULL: none yet */
	int is_fixed;			  /* the first holder stays */
	double best_ratio;		  /* of best, then */
	struct counts n;
};

/* holder: of earlier rounds; NULL: none. */
void contest_begin(struct contest *c, struct contestant *holder, int is_fixed);
/* A race has ended. 1: `in` is the best of all now, and is kept. */
int contest_raced(struct contest *c, struct contestant *in, const struct contest_end *end);
/* The same for one whose result of an earlier run is known; is_incumbent: it became the holder
 * then.
 */
int contest_known(struct contest *c, struct contestant *in, int is_incumbent);
/* A candidate that had lost had a second duel. */
void contest_audited(struct contest *c, int won);

/* Whether a candidate that has lost gets a second duel: a share of them, the same ones in every run
 * of a seed. */
int contest_audits(double share, uint64_t seed, const struct id *candidate);

#endif
