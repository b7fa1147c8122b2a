/* Preparing a plan: all that is done once, before the first run.
 */
#ifndef TL_RUN_PREPARE_H
#define TL_RUN_PREPARE_H

#include "lib/run/plan.h"

/* Builds and loads the kernels, computes what is constant, lays out the memory, packs weights (or
 * gives them to the library). Constants that no other step reads are given back as soon as may be.
 * 1: a signal stopped it. */
int prepare_plan(struct plan *p, struct err *e);

#endif
