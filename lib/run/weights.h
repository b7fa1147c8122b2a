/* Weights of a workload's kernel: what the file has, with the scales, shifts and batch
 * normalizations that were fused into the operator, in the order that the kernel wants.
 *
 * Normalization: Ioffe and Szegedy, "Batch normalization", ICML 2015, section 3.1: scale / sqrt(var
 * + epsilon) goes into the weights, and the rest into the bias.
 */
#ifndef TL_RUN_WEIGHTS_H
#define TL_RUN_WEIGHTS_H

#include "lib/base/err.h"
#include "lib/run/plan.h"

/* Fills the operands of the step's packed buffers and constant arguments. */
int weights_prepare(struct plan *p, struct step *s, const struct nest *n, struct err *e);

/* Weights (NULL where they are no constant) and bias in the workload's own order; malloc'ed. */
void weights_plain(const struct plan *p, const struct weights_plan *w, const struct workload *load,
		   float **weights, float **bias);

#endif
