/* Whole numbers of 8 bits that become others of 8 bits: in sums of residuals, where scales change,
 * behind bounds. By its definition such an expression takes zero points away, multiplies, adds,
 * divides and rounds. In real numbers all of that is factor * x + factor' * y + rest. Two
 * multiply-adds in single precision round otherwise than the definition does, but the result has
 * 8 bits, and its operands have 65536 pairs of values at most: so all of them are tried. Where
 * factors that lie close to the real ones give the same result for each pair, they take the
 * expression's place. Where none do, the expression stays.
 */
#ifndef TL_RUN_RESCALE_H
#define TL_RUN_RESCALE_H

#include "lib/run/pointwise.h"

/* Sets m->sum, if there are such factors. */
void rescale_find(struct pointwise *m);

#endif
