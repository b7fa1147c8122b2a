/* Inside of lib/store: counts that are kept while results are stored, so that no question needs to
 * count them again (tables tallies and workloads.candidates, see schema.c).
 *
 * For a workload, an env and a status: the results that have it; their core-seconds, each rounded
 * to a microsecond, so that sums do not depend on an order; and the distinct candidates whose best
 * status it is. Which is best follows from lib/record/status.h. For a workload: its distinct
 * candidates, in whatever env.
 *
 * Changes are gathered in memory and written by tally_flush(), once a batch: a table that grew
 * with each result would cost half as much again as storing it. store_check() counts anew.
 */
#ifndef TL_STORE_TALLY_H
#define TL_STORE_TALLY_H

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/record/status.h"

struct store;

/* The fields of a result that are counted. */
struct tally_result {
	int64_t num, workload, env;
	const unsigned char *candidate; /* ID_HEX / 2 bytes */
	enum status status;
	double core_s; /* NAN: unknown */
};

/* Counts a result that was inserted. */
int tally_new(struct store *s, const struct tally_result *r, struct err *e);
/* Counts a result that was rewritten. Before, it had this status and these core-seconds. */
int tally_changed(struct store *s, const struct tally_result *r, enum status status, double core_s,
		  struct err *e);
/* Writes the gathered changes. The batch in which they were gathered must still be open. */
int tally_flush(struct store *s, struct err *e);
void tally_forget(struct store *s);
/* Are the counts of a workload those of its results? 1; 0; -1. */
int tally_holds(struct store *s, int64_t workload, struct err *e);

#endif
