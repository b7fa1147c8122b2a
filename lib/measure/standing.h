/* The progress line of a run: the candidates, and how the best ones so far compare with the
 * baseline (the geometric mean over the workloads with a known ratio).
 */
#ifndef TL_MEASURE_STANDING_H
#define TL_MEASURE_STANDING_H

#include "lib/io/progress.h"
#include "lib/op/op.h"

struct standing {
	struct progress shown;
	double sum; /* of logarithms of ratios */
	int64_t known;
};

/* Begins a stage of `all` steps; `what` names it. */
void standing_begin(struct standing *s, const char *what, int64_t all);
/* Begins the next step, for this workload. */
void standing_next(struct standing *s, const struct workload *w);
/* Enters `ratio`, the baseline's time over that of a workload's best candidate. *of: the ratio that
 * was entered last for the workload; 0: none. A ratio of 0 or NAN changes nothing. */
void standing_ratio(struct standing *s, double *of, double ratio);
/* Enters that a candidate is faster than the best before, by the factor `by`. */
void standing_better(struct standing *s, double *of, double by);

#endif
