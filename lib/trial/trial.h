/* A trial: what happens in a cell (cell.h) to a candidate, to finalists, or to the library's
 * variants.
 *
 * Verify, then time, then verify once more. The output is poisoned before a run that is verified,
 * and so is the workspace; operands lie in fences; what the kernel reads is frozen. The zygote
 * (session.h) prepares a trial, the child runs one of the functions below and fills their answer,
 * which holds no pointers.
 */
#ifndef TL_TRIAL_TRIAL_H
#define TL_TRIAL_TRIAL_H

#include "lib/trial/fence.h"
#include "lib/trial/outcome.h"
#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/ref/ref.h"

enum { ENTRANTS = 4 }; /* finalists in one process */

/* A kernel with its operands. */
struct entrant {
	const char *object;
	long params[NEST_PARAMS]; /* as it takes them */
	float *buffers[NEST_BUFFERS];
	size_t bytes[NEST_BUFFERS];	 /* of each buffer */
	struct fence work[NEST_BUFFERS]; /* by slot; those without a map are no workspace */
	int nslots;
};

struct trial {
	const struct workload *w;
	int threads;
	int cold;		    /* operands leave the caches before each call */
	const struct fence *tensor; /* by role */
	const float *expected;	    /* the true output */
	struct entrant entrant[ENTRANTS];
	int nentrants;
	struct ref_choice opponent[2]; /* to take turns with: the baseline, the best direct one */
	int nopponents;
	struct race_rules rules;
	double patience_s; /* with neighbours; 0: as much as pays usually */
	double max_error;
	int audit;	    /* time a candidate that has lost to the end, too */
	struct quiet quiet; /* what is known so far */
};

/* Functions for cell_run(); `trial` is a struct trial. */

/* Verifies and races the entrant: *answer is a struct outcome. */
void trial_race(void *trial, void *answer);
/* Verifies, and times all entrants and the opponents in turns (finals.c): *answer is a struct
 * outcome of each entrant. */
void trial_final(void *trial, void *answer);
/* Verifies and times all variants: *answer is a struct baseline. */
void trial_baseline(void *trial, void *answer);
/* Runs the naive nest, which is the entrant: *answer is a struct naive_output, with
 * room for the floats of dst. */
struct naive_output {
	int ran;
	char why[TRIAL_WHY]; /* where it did not: the object does not load */
	float dst[];
};
void trial_naive(void *trial, void *answer);

#endif
