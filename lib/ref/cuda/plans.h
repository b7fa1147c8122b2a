/* cuDNN's variants of a workload: a plan for each engine (engines.h), which is a call of a variant.
 */
#ifndef TL_REF_CUDA_PLANS_H
#define TL_REF_CUDA_PLANS_H

#include "lib/ref/cuda/graph.h"
#include "lib/ref/cuda/finisher.h"

struct plans;

/* Begins with cuDNN; NULL with e filled. s must stay until plans_close(). */
struct plans *plans_open(struct stage *s, struct err *e);
void plans_close(struct plans *all);
/* Adds all variants for a problem, which must stay: one graph computes all of it, or two do. -1:
 * the device has no memory. What cuDNN refuses is left out. */
int plans_offer(struct plans *all, const struct problem *p, struct variants *to, struct err *e);
/* NULL where all is. */
struct finisher *plans_finisher(struct plans *all);
/* "cudnn 9.28.0", or an empty text if the library is not there. */
const char *plans_version(void);

#endif
