/* Sums the costs of runs by purpose, from their run records (lib/host/ledger.h, man 5 tl-record)
 * and from their results.
 *
 * A run may be a part of another one (the tl-measure of a tl-tune). The record of the whole run
 * leaves out the purposes of its parts, so they are added to it. The purposes of all records of a
 * run sum to its wall time x cores; if they do not, a record is missing.
 *
 * Wasted is the cost of building, verifying and timing candidates that never were the best of their
 * workload and env, in the order of "at", as in Trimmer (IEEE CLOUD 2022, section III). It is a
 * part of the purposes above, not another purpose.
 *
 * Saved are estimates from the runs' own records; lib/store/savings.h tells of what.
 */
#ifndef TL_STORE_COST_H
#define TL_STORE_COST_H

#include "lib/host/ledger.h"
#include "lib/store/savings.h"
#include "lib/store/store.h"

/* The figures of a run record. */
struct cost_run {
	double wall_s, waited_s, cores;
	double core_s[COSTS];
	double unknown_s; /* core-seconds of purposes that this version does not know */
	double energy_J;  /* NAN: unknown; 0 if another record has it */
};
int cost_read(struct cost_run *c, const struct json_doc *d, struct err *e);

/* The runs to sum: all, if both are NULL. */
struct cost_which {
	const char *run;   /* this one with its parts; "last": the last whole one */
	const char *since; /* those that ended then or later: a time as in "at" */
};

enum { COST_STOP = 256 };

struct cost_sum {
	int64_t runs;	 /* run records */
	int64_t whole;	 /* of these, the ones that are no part of another */
	double wall_s;	 /* of the whole ones */
	double waited_s; /* the same: for other runs on the machine, beside wall_s */
	double held_s;	 /* the same x cores: core-seconds */
	double core_s[COSTS], unknown_s;
	double energy_J; /* NAN: unknown for some */
	/* From the results of these runs: */
	int64_t results;
	int64_t candidates, measured, preempted, failed; /* by their first result in these runs */
	double results_s; /* sum of the core-seconds in the results */
	double wasted_s;
	struct savings saved;
	char stop[COST_STOP]; /* why the rounds of the only whole run ended; "": not known */
};
/* 1; 0: there is no such run; -1. */
int cost_sum(struct store *s, const struct cost_which *which, struct cost_sum *sum, struct err *e);
/* Adds up how many seconds the parts of a run waited so far for other runs on the machine. */
int cost_waited(struct store *s, const char *run, double *waited_s, struct err *e);
double cost_total(const struct cost_sum *sum); /* of all purposes */

#endif
