/* The outcome of a trial (trial.h): the answer that a cell's child fills. It holds no pointers. */
#ifndef TL_TRIAL_OUTCOME_H
#define TL_TRIAL_OUTCOME_H

#include "lib/record/status.h"
#include "lib/target/runner.h"
#include "lib/trial/duel.h"

enum { TRIAL_WHY = 200, TRIAL_NAME = 112, TRIAL_REJECTED = 4, OUTCOME_ROW = 64 };

struct outcome {
	/* Crash, timeout, oom and unsupported come from a device alone, whose failures leave the
	   process alive. */
	enum status status;
	char why[TRIAL_WHY];
	double error_l2, error_max; /* NaN: no output was compared */
	double verify_s, run_s;
	int row;	  /* calls that each of the times below is the mean of; 0: single calls */
	int row_is_graph; /* the device went through a row without this machine */
	int is_duel;	  /* there was an incumbent to duel with */
	int has_use;
	struct device_use use; /* of the device, by the candidate's kernel */
	struct duel duel;
	int has_own; /* of a final: the library ran in the workload's own layout as well, */
	double own[DUEL_MAX]; /* for so many seconds in the turns of the duel's pairs */
};

/* Could a trial have made this outcome? The kernel could write to the memory where it lies. */
int outcome_is_sane(const struct outcome *o);

/* A variant of the library's. */
struct variant_found {
	char impl[TRIAL_NAME], layout[16];
	struct stat_median time; /* seconds */
	double error_l2, error_max;
	char why[TRIAL_WHY]; /* of one that is right and was rejected: how it failed */
};

struct baseline_found {
	int failed;	     /* the library does not work at all here */
	int known;	     /* best is */
	char why[TRIAL_WHY]; /* where it is not */
	struct variant_found best;
	int own_known; /* best is in another layout than the workload's: the best in that, */
	struct variant_found own;
	int wrong; /* variants whose answer is wrong, by the same limit as a candidate's */
	/* The first of them, and those that were right, but failed when they were timed: */
	struct variant_found rejected[TRIAL_REJECTED];
	int nrejected;
};

#endif
