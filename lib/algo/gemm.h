/* gemm, for algorithms that are gemm by another tile. */
#ifndef TL_ALGO_GEMM_H
#define TL_ALGO_GEMM_H

#include "lib/algo/algo.h"

enum { GEMM_KNOBS = 18 };

extern const struct knob gemm_knobs[GEMM_KNOBS];

/* r->halves, set by the caller: both sides are split in halves. */
range_list gemm_ranges;
int gemm_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e);

#endif
