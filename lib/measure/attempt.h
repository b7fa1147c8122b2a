/* Attempts: one candidate's trial in the worker, with its session, its kernel and its costs. Each
 * trial runs in a process of its own, so that a crash affects that candidate alone.
 */
#ifndef TL_MEASURE_ATTEMPT_H
#define TL_MEASURE_ATTEMPT_H

#include "lib/measure/result.h"

/* Opens the group in the worker, and starts a worker if none runs. If the workload cannot be run,
 * *status says what happened. Returns as ask_open() does. */
int attempt_open(struct measure *m, struct group *g, double until, enum status *status,
		 struct err *e);
/* Finds the baseline that the group's final is against, unless it is known. It is no fault
 * if the library fails: candidates can be measured without it. It stays unknown if the time of the
 * run is over before. */
int attempt_baseline(struct measure *m, struct group *g, struct err *e);
/* Charges an item with the builds that it was the first to need. */
void attempt_charge_build(struct group *g, struct item *it, struct counts *n);
void attempt_take_cost(struct build *b, struct item *it);
/* 1, with v filled: the candidate needs no trial, because it was refused or did not build. */
int attempt_settled(const struct item *it, struct verdict *v);
/* Runs a race with v->incumbent (NULL: alone), or a process of a final, and fills v. v->said.status
 * is STATUS_NONE if the time of the run was over before it ended. An object that does not load is
 * damaged or gone, and is built again once. 0, ASKED_STOPPED or -1. */
int attempt_run(struct measure *m, struct group *g, struct item *it, struct verdict *v,
		struct err *e);
/* Writes the cost of a trial into v and the ledger. All but the timing counts as verifying: a
 * process, its data, the comparison. run_s: of the timing; NAN: the worker did not say. */
void attempt_charge_trial(struct measure *m, struct verdict *v, double run_s, double elapsed_s);
/* After more than `most` failures in a row, runs the canary, a known good program, before any of
 * the failures is written. If it fails, too, the machine is at fault and not the candidates. */
int attempt_suspect(struct measure *m, struct group *g, int most, struct err *e);

#endif
