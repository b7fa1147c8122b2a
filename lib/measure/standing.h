/* How a run stands: what its progress line tells of the candidates, and of the best ones so far
 * against the library, the geometric mean over the workloads whose ratio is known.
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

/* What is done from here on, so many times in all. */
void standing_begin(struct standing *s, const char *what, int64_t all);
/* One more of them begins, of this workload. */
void standing_next(struct standing *s, const struct workload *w);
/* The library's time over that of a workload's best candidate is now `ratio`. *of: the workload's
 * ratio as it was told last, 0: never. What is no ratio (0, NAN) changes nothing. */
void standing_ratio(struct standing *s, double *of, double ratio);
/* A candidate is faster than the best before it, by so much. */
void standing_better(struct standing *s, double *of, double by);

#endif
