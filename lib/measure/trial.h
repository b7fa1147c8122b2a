/* A trial: what happens in a cell (cell.h) to one candidate, or to the library's variants.
 *
 * Verify, then time, then verify once more. The output is poisoned before a run that is verified,
 * and so is the workspace; operands lie in fences; what the kernel reads is frozen. The zygote
 * (session.h) prepares a trial, the child runs one of the functions below and fills their answer,
 * which holds no pointers.
 */
#ifndef TL_MEASURE_TRIAL_H
#define TL_MEASURE_TRIAL_H

#include "lib/measure/fence.h"
#include "lib/measure/quiet.h"
#include "lib/measure/race.h"
#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/ref/ref.h"

enum { TRIAL_WHY = 200, TRIAL_NAME = 112 };

struct trial {
	const struct workload *w;
	int threads;
	int cold;		    /* operands leave the caches before each call */
	const struct fence *tensor; /* by role */
	const float *expected;	    /* the true output */
	const char *object;	    /* of the kernel */
	long params[NEST_PARAMS];   /* as it takes them */
	float *buffers[NEST_BUFFERS];
	size_t bytes[NEST_BUFFERS]; /* of each buffer */
	const struct fence *work;   /* by slot; those without a map are no workspace */
	int nslots;
	struct ref_choice opponent[2]; /* to take turns with: the baseline, the best direct one */
	int nopponents;
	struct race_rules rules;
	double max_error;
	int audit;	/* time a candidate that has lost to the end, too */
	double quiet_s; /* struct quiet's best_s so far */
};

enum { FINAL_ROUNDS = 22 }; /* turns of opponents and candidate, at most */

enum outcome_status {
	OUTCOME_OK,
	OUTCOME_PREEMPTED,
	OUTCOME_WRONG,
	OUTCOME_UNLOADABLE, /* the object is damaged or gone: no fault of the candidate */
	OUTCOME_FAILED,	    /* a fault of the machine */
	OUTCOME_STATUSES,
};

struct outcome {
	enum outcome_status status;
	char why[TRIAL_WHY];
	struct stat_median time; /* seconds; preempted: time.median is the lower bound */
	double error_l2, error_max;
	double verify_s, run_s, audit_s;
	int warmup, outliers, n;
	struct quiet quiet;
	double x[RACE_MAX]; /* the samples of the race, n of them */
	int has_audit;
	struct stat_median audit;
	int nopponents;				  /* trial_final() only: how many took turns */
	struct stat_median opponent[2], ratio[2]; /* ratio: opponent / candidate, paired */
	double turn[2][FINAL_ROUNDS];		  /* the opponents' turns, n of them, as x */
};

/* Is the ratio so far from 1 that another process will not change the verdict? */
int outcome_is_clear(const struct outcome *o);
/* Adds the turns that another process has taken. Where memory came to lie makes a per cent or two,
 * and stays what it is as long as a process lives: one alone knows its ratio too well. */
void outcome_add_turns(struct outcome *o, const struct outcome *more);
/* The kernel could write where its outcome lies: could a trial have made this one? */
int outcome_is_sane(const struct outcome *o);

/* The library's best variants: of all; and, where that is a Winograd one, of the others, which do
 * the same arithmetic as a direct candidate. */
struct best {
	int known;
	char impl[TRIAL_NAME], layout[16];
	struct stat_median time; /* seconds */
};
struct baseline {
	struct quiet quiet;
	int failed;	     /* the library does not work at all here */
	int wrong;	     /* its variants that differ from the true answer */
	char why[TRIAL_WHY]; /* where best is not known */
	struct best best, direct;
};

/* Functions for cell_run(); `trial` is a struct trial. */

/* Verifies and races: *answer is a struct outcome. */
void trial_race(void *trial, void *answer);
/* Verifies, and times in turns with the opponents: *answer is a struct outcome. */
void trial_final(void *trial, void *answer);
/* Verifies and times all variants: *answer is a struct baseline. */
void trial_baseline(void *trial, void *answer);
/* Runs the naive nest, whose operands trial->buffers names: *answer is a struct naive_output, with
 * room for the floats of dst. */
struct naive_output {
	int ran;
	char why[TRIAL_WHY]; /* where it did not: the object does not load */
	float dst[];
};
void trial_naive(void *trial, void *answer);

#endif
