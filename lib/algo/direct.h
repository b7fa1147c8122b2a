/* direct, for algorithms that are direct by another tile. */
#ifndef TL_ALGO_DIRECT_H
#define TL_ALGO_DIRECT_H

#include "lib/algo/algo.h"

enum { DIRECT_KNOBS = 18 };

extern const struct knob direct_knobs[DIRECT_KNOBS];

/* r->halves, set by the caller: both sides are split in halves. */
range_list direct_ranges;
int direct_build(const struct workload *w, const int64_t *k, struct nest *n, struct err *e);

#endif
