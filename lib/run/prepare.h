/* Prepares a plan: everything that is done once, before the first run. */
#ifndef TL_RUN_PREPARE_H
#define TL_RUN_PREPARE_H

#include "lib/run/plan.h"

/* Builds and loads the kernels, computes what is constant, lays out the memory, packs weights (or
 * gives them to the library). Constants are freed as soon as no other step reads them.
 * 1: a signal stopped it. */
int prepare_plan(struct plan *p, struct err *e);

#endif
