/* cuDNN's variants of a workload: a plan for each engine (engines.h), which is a call of a variant.
 */
#ifndef TL_BASELINE_CUDA_PLANS_H
#define TL_BASELINE_CUDA_PLANS_H

#include "lib/baseline/cuda/graph.h"
#include "lib/baseline/cuda/finisher.h"

struct plans;

/* Begins with cuDNN; NULL with e filled. s must stay until plans_close(). */
struct plans *plans_open(struct stage *s, struct err *e);
void plans_close(struct plans *all);
/* Adds all variants that there may be for a problem, which must stay: one graph computes all of it,
 * or two do. None can run before plans_make(). -1: the device has no memory. */
int plans_offer(struct plans *all, const struct problem *p, struct variants *to, struct err *e);
/* Makes the plans of what was offered, several at once (makers.h), once all problems were. It
 * leaves out variants whose plans cuDNN refuses, or whose turn does not come in time. */
void plans_make(struct plans *all, struct variants *of);
/* NULL where all is. */
struct finisher *plans_finisher(struct plans *all);
/* "cudnn 9.28.0", or an empty text if the library is not there. */
const char *plans_version(void);

#endif
