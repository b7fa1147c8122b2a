/* Finds the best known candidate of a workload in an env, from the results of any number of runs.
 *
 * A winner ("incumbent":true) has won a duel with the incumbent that its run knew, so it is the
 * best known from then on. A run that knew no incumbent begins anew: its first winner had no duel,
 * and later ones won their duels within the run. So the last winner of such a run was never
 * compared with the best known. The better of the two is the one with the shorter time; or, if both
 * were compared with the baseline in pairs, the one with the greater ratio. So the outcome does not
 * depend on the order in which results were stored, and no run replaces a better kernel that it did
 * not know.
 */
#ifndef TL_STORE_INCUMBENT_H
#define TL_STORE_INCUMBENT_H

#include "lib/store/store.h"

struct incumbent {
	const struct store_result *best; /* NULL: there is none */
	const struct store_result
		*own;	  /* of the last run that began anew; NULL: it has met the best */
	const char *anew; /* that run; NULL: none did */
};

/* Takes a result that is ok, in the order of `at`. It must live as long as the incumbent. */
void incumbent_feed(struct incumbent *x, const struct store_result *r);
/* The best known; NULL: no result is a winner. */
const struct store_result *incumbent_found(const struct incumbent *x);

#endif
