/* What came of a trial (trial.h): the answer that a cell's child fills. It holds no pointers. */
#ifndef TL_TRIAL_OUTCOME_H
#define TL_TRIAL_OUTCOME_H

#include "lib/trial/quiet.h"
#include "lib/trial/race.h"

enum {
	TRIAL_WHY = 200,
	TRIAL_NAME = 112,
	PROCESS_ROUNDS = 11,		   /* turns in one process, at most */
	FINAL_ROUNDS = 2 * PROCESS_ROUNDS, /* and in all */
};

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
	int is_calm;	    /* no neighbours while it was timed, or it makes no difference */
	double x[RACE_MAX]; /* the samples of the race, n of them */
	int has_audit;
	struct stat_median audit;
	int nopponents;				  /* trial_final() only: how many took turns */
	struct stat_median opponent[2], ratio[2]; /* ratio: opponent / candidate, paired */
	double turn[2][FINAL_ROUNDS];		  /* the opponents' turns, n of them, as x */
};

/* What a race found. */
void outcome_keep_race(struct outcome *o, const struct race *r);
/* Is it further from 1 than a verdict will ever be in doubt? */
int outcome_is_far(const struct stat_median *ratio);
/* Times and ratios from the turns that are there. */
void outcome_judge_turns(struct outcome *o);
/* Will another process not change the verdict? The ratio is far from 1, or the machine is and stays
 * disturbed. */
int outcome_is_clear(const struct outcome *o);
/* Adds what another process has found: its turns, if they are worth as much, or that it fails
 * there. Where memory came to lie makes a per cent or two, and stays what it is as long as a
 * process lives: one alone knows its ratio too well. */
void outcome_add(struct outcome *o, const struct outcome *more);
/* From the ratio to the first opponent. What a disturbed machine tells is off by 3% in the median
 * and 11% in one of ten: too much for a verdict, unless it is far from 1. */
enum stat_verdict outcome_verdict(const struct outcome *o);
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

#endif
