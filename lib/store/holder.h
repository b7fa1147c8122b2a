/* Which candidate is the best known of a workload in an env, by results of any number of runs.
 *
 * A winner ("incumbent") has won a duel with the holder that its run knew, so it is the best known
 * from then on. A run that knew no holder begins anew: its first winner had no duel, and the next
 * ones won theirs among its own. What such a run ends with has not met the best known; the one with
 * the shorter time is the best, or, where both have been compared with the library in pairs, the
 * one that was more times as fast. So what is known does not depend on the order in which results
 * were stored, and no run takes the place of a better kernel that it knew nothing of.
 */
#ifndef TL_STORE_HOLDER_H
#define TL_STORE_HOLDER_H

#include "lib/store/store.h"

struct holder {
	const struct store_result *best; /* NULL: there is none */
	const struct store_result
		*own;	  /* of the last run that began anew; NULL: it has met the best */
	const char *anew; /* that run; NULL: none did */
};

/* Takes a result that is ok, in the order of `at`; it outlives the holder. */
void holder_feed(struct holder *h, const struct store_result *r);
/* The best known; NULL: no result is a winner's. */
const struct store_result *holder_found(const struct holder *h);

#endif
