/* The steps of a workload in a network: what they take in whole runs, with each of their kernels.
 */
#ifndef TL_RUN_TIMING_H
#define TL_RUN_TIMING_H

#include "lib/run/network.h"

/* The steps of a workload, and those right behind them, which find what they leave in the caches.
 */
struct timing {
	struct network *n;
	const struct workload *w;
	int *step, *behind;
	int nstep, nbehind;
	double *ended; /* of the last timed run */
};

/* The workload must be that of a step. */
void timing_make(struct timing *g, struct network *n, const char *workload_id);
void timing_free(struct timing *g);
/* Gives all its steps the kernel of this number (plan_take()). */
void timing_take(const struct timing *g, int number);
/* A run that is not timed, and one that is. -1: a step cannot be computed. */
int timing_run(const struct timing *g, struct err *e);
/* Of the last timed run: the time of the steps; with that of the steps behind them; of all. */
double timing_own_s(const struct timing *g);
double timing_with_behind_s(const struct timing *g);
double timing_whole_s(const struct timing *g);

/* The outputs of a network's last run, kept. */
struct outputs {
	float **data;
	int n;
};

void outputs_keep(const struct network *n, struct outputs *o);
/* Are those of the last run the same, but for what rounding differs? */
int outputs_are(const struct network *n, const struct outputs *o);
void outputs_free(struct outputs *o);

#endif
