/* The workloads of a network's steps as records, for tl-tune: in the types that they are computed
 * in.
 */
#ifndef TL_RUN_WORKLOADS_H
#define TL_RUN_WORKLOADS_H

#include "lib/base/err.h"
#include "lib/run/plan.h"

/* Writes a record for each workload, with its steps, in the order of the first ones. source: of the
 * network, "MODEL:HASH12". */
int workloads_write(const struct plan *p, const char *source, const char *path, struct err *e);

#endif
