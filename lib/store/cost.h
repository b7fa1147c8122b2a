/* What runs cost, summed by purpose, from their run records (lib/host/ledger.h, man 5 tl-record)
 * and from the results that they brought.
 *
 * A run that is part of another (tl-tune's rounds of tl-measure) counts in it: its purposes are the
 * whole's, and the whole's record leaves them out. So the purposes of all records of a run sum to
 * its wall time x cores; where they do not, a record is missing.
 *
 * Wasted is what was spent on building, verifying and timing candidates that never were the best of
 * their workload and env, in the order in which results came ("at"): the share of Trimmer (IEEE
 * CLOUD 2022, section III). It is a part of these purposes, not one beside them.
 */
#ifndef TL_STORE_COST_H
#define TL_STORE_COST_H

#include "lib/host/ledger.h"
#include "lib/store/store.h"

/* A run record, as far as it counts. */
struct cost_run {
	double wall_s, cores;
	double core_s[COSTS];
	double unknown_s; /* core-seconds of purposes that this version does not know */
	double energy_J;  /* NAN: unknown; 0 where others tell it */
};
int cost_read(struct cost_run *c, const struct json_doc *d, struct err *e);

/* Which runs: all if both are NULL. */
struct cost_which {
	const char *run;   /* this one with its parts; "last": the last whole one */
	const char *since; /* those that ended then or later: a time as in "at" */
};

struct cost_sum {
	int64_t runs;  /* run records */
	int64_t whole; /* of them not part of another one of these */
	double wall_s; /* of the whole ones */
	double held_s; /* the same x cores: core-seconds */
	double core_s[COSTS], unknown_s;
	double energy_J; /* NAN: unknown for some */
	/* From the results of these runs: */
	int64_t results;
	int64_t candidates, measured, preempted, failed; /* by their first result in these runs */
	double results_s;				 /* core-seconds that the results tell of */
	double wasted_s;
};
/* 1; 0: there is no such run; -1. */
int cost_sum(struct store *s, const struct cost_which *which, struct cost_sum *sum, struct err *e);
double cost_total(const struct cost_sum *sum); /* of all purposes */

#endif
