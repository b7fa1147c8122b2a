/* A library (lib/baseline/baseline.h) in the place of tuned kernels: what the same plan takes with
 * its code. It computes in the plan's own layouts and memory, by the quickest of its variants that
 * can.
 */
#ifndef TL_RUN_LIBRARY_H
#define TL_RUN_LIBRARY_H

#include "lib/run/plan.h"

/* Makes the step's variant; the plan's memory is laid out. */
int library_open(struct plan *p, struct step *s, struct err *e);
int library_run(const struct step *s, struct err *e);
void library_close(struct step *s);

#endif
