/* Makers of cuDNN's plans. Each makes one plan at a time, in a thread of its own. The caller's
 * thread is the first maker's.
 */
#ifndef TL_BASELINE_CUDA_MAKERS_H
#define TL_BASELINE_CUDA_MAKERS_H

#include "lib/baseline/cuda/execution.h"

enum { MAKERS = 16 }; /* at most */

struct makers {
	struct device *device; /* opened by the caller's thread */
	struct maker maker[MAKERS];
};

/* Starts the first maker; the others start when there is work for them. -1: cuDNN does not start;
 * nothing is left then. */
int makers_open(struct makers *all, struct device *d, struct err *e);
/* Plans that were made must be gone. */
void makers_close(struct makers *all);
/* Makes n plans, by as many makers as they are worth, and as the process may use CPUs. They begin
 * with the first plans, and begin none any more after `until` (clock_now()). execution_make() says
 * what comes of a plan.
 */
void makers_make(struct makers *all, struct execution *const *plan, int n, double until);

#endif
