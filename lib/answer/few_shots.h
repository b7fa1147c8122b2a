/* Few shots: measured answers for the time that was given. They stand between a prediction, which
 * measures nothing, and a tuning run, which ends when nothing pays any more.
 *
 * The workloads without a measured answer go to tl-tune, with a limit of time and without finals.
 * Its policy measures the candidates with the largest expected gain first. So the time goes to the
 * workloads that matter most, and the database has exact answers for them afterwards. It does
 * not end because little gain is expected, and races are short where there is little time for each
 * workload: many candidates that are known to a few per cent are worth more than few that are known
 * well.
 *
 * Few shots (tl-query --predict --budget 10s): what has no exact answer is
 * tuned by tl-tune for that time, without finals, without an end because little gain is expected,
 * and in short races where there is little time for each workload. The answers are then those of
 * the database, and predictions by a model that has been corrected by the same times.
 *
 * Whoever gives ten seconds wants an answer then. So waiting for other runs on the machine counts,
 * other than for tl-tune --time, and tl-tune is stopped two seconds after the time at the latest.
 */
#ifndef TL_ANSWER_FEW_SHOTS_H
#define TL_ANSWER_FEW_SHOTS_H

#include <stddef.h>

#include "lib/base/err.h"

enum { FEW_SHOTS_LATE = 400 };

struct few_shots;

struct few_shots_how {
	const char *db;	    /* path of the database, which is made if it is not there */
	const char *device; /* whose lock tl-tune takes */
	const char *target, *model, *caches; /* as the options of tl-tune; NULL: its defaults */
	double seconds;
	int quiet;
};

/* NULL on failure. */
struct few_shots *few_shots_open(const char *program, struct err *e);
/* Adds the record of a workload that has no measured answer. One that comes twice counts once. */
int few_shots_add(struct few_shots *f, const char *workload_id, const char *record, size_t n,
		  struct err *e);
/* Tunes what was added, and nothing if nothing was added. Waiting for other runs on the machine
 * counts: tl-tune is stopped when the time is over, and late[] has a sentence then, else it is
 * empty. Returns the exit status of tl-tune, which has told what went wrong, 0 if it was stopped;
 * -1 with e filled if it could not be started. */
int few_shots_tune(struct few_shots *f, const struct few_shots_how *how, char late[FEW_SHOTS_LATE],
		   struct err *e);
void few_shots_close(struct few_shots *f);

#endif
