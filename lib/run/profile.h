/* The time of each step of a plan, as a table and as a trace. */
#ifndef TL_RUN_PROFILE_H
#define TL_RUN_PROFILE_H

#include "lib/base/buf.h"
#include "lib/run/plan.h"

/* A table of all steps: the median time, the share of the whole, what the database says that the
 * kernel takes alone, and where the kernel comes from. ended: of exec_run(), `runs` of them one
 * behind the other. */
void profile_table(const struct plan *p, const double *ended, int runs, struct buf *out);
/* One run in Chrome's trace format: a JSON array of complete events, in microseconds. */
void profile_trace(const struct plan *p, const double *ended, struct buf *out);
/* The sum of what the database predicts, and how many kernels of workloads it knows, of how many.
 */
double profile_predicted(const struct plan *p, int *known, int *all);

#endif
