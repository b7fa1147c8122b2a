/* A trial: what happens in a cell (cell.h) to a candidate, or to the library's variants.
 *
 * Verify, then time, then verify once more, on data that the kernel has not seen. The output is
 * poisoned before a run that is verified, and so is the workspace; operands lie in fences; what the
 * kernel reads is frozen. The zygote (session.h) prepares a trial, the child runs one of the
 * functions below and fills their answer, which holds no pointers.
 */
#ifndef TL_TRIAL_TRIAL_H
#define TL_TRIAL_TRIAL_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/baseline/baseline.h"
#include "lib/target/runner.h"
#include "lib/target/caches.h"
#include "lib/trial/fence.h"
#include "lib/trial/outcome.h"

/* A kernel with its operands. */
struct entrant {
	const char *object;
	long params[NEST_PARAMS]; /* as it takes them */
	void *buffers[NEST_BUFFERS];
	size_t bytes[NEST_BUFFERS];		/* of each buffer, in single precision */
	enum elem elem[NEST_BUFFERS];		/* as the kernel has them */
	unsigned char is_weights[NEST_BUFFERS]; /* constant weights or bias */
	struct fence work[NEST_BUFFERS];	/* by slot; those without a map are no workspace */
	int nslots;
	int threads; /* that run it */
	int is_cut;  /* it is run in these parts, as tl-run runs it */
	struct runner_parts parts;
};

/* The baselines of a final: variants of the library. No name: there is none. */
struct baselines {
	struct baseline_choice best; /* with which the challenger duels; none: it is timed alone */
	struct baseline_choice
		own; /* the best in the workload's own layout, where best has another */
};

struct trial {
	const struct workload *w;
	const struct runner *runner;	/* of the entrants */
	const struct library *compared; /* with candidates; NULL: there is none for this target */
	int threads;
	enum caches caches;	    /* what is in them before each call */
	const struct fence *tensor; /* by role */
	const struct fence
		*fresh; /* by role: other data for input, residual and factor; no map: none */
	const float *expected;	   /* the true output; behind it that of the fresh data */
	struct entrant entrant[2]; /* the challenger, and the incumbent if there is one */
	int nentrants;
	struct baselines baselines; /* of a final */
	struct duel_rules rules;
	double max_error; /* relative L2, and largest over largest */
};

/* Functions for cell_run(); `trial` is a struct trial. */

/* Verifies the challenger and duels it with the incumbent, or times it alone: *answer is a struct
 * outcome. */
void trial_race(void *trial, void *answer);
/* The same with the baseline in the incumbent's place; the library's best in the workload's own
 * layout is called in the same turns. */
void trial_final(void *trial, void *answer);
/* Verifies and times all variants of the library; the fastest of them duel: *answer is a struct
 * baseline_found. */
void trial_baseline(void *trial, void *answer);
/* Runs the naive nest, which is the only entrant, on both data: *answer is a struct truth, with
 * room for twice the floats of dst. */
struct truth {
	int ran;
	char why[TRIAL_WHY]; /* where it did not: the object does not load */
	float dst[];
};
void trial_truth(void *trial, void *answer);

#endif
