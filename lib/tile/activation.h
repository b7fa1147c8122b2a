/* Activations over the nest's arithmetic.
 *
 * In single precision they are polynomials and quotients of them; against double precision the
 * error is less than 1e-6 of the result or of 1e-2, whichever is larger (hardswish near -3: 5e-6),
 * for all finite x, and large |x| comes out as the limit. Of infinity and NaN they make what the
 * definition makes, such as NaN of -infinity times 0, within the same error. In double precision,
 * which only definitions use, they are the exponential and error functions themselves.
 *
 * They have one operation of their own, EXPR_POWER, 2^n. NaN passes through all of them, whatever
 * its bits are: maxima and minima have the constant first, and 2^n is a factor. A tile may leave
 * two registers, so values that are used several times go through the thread's own memory. The
 * value of one element is a chain of some 30 operations that wait for each other. So the tile is
 * stored, and loaded again a few rows at a time, and the statements of these rows are written side
 * by side (nest_jam()). Definitions call the functions themselves, in double precision.
 */
#ifndef TL_TILE_ACTIVATION_H
#define TL_TILE_ACTIVATION_H

#include "lib/nest/nest.h"
#include "lib/space/types.h"

/* p->kind: POST_CLIP or one behind it. Statements that come before the value are appended to the
 * nest: what is used several times goes through memory of the thread's own, since a tile may leave
 * as few as two registers. So the value must be stored before another one is asked for. It is a
 * chain of some 30 operations that wait for each other; jam the loops around it (nest_jam()), of
 * at most ACTIVATION_JAM turns together. */
enum { ACTIVATION_JAM = 8 };
/* result: the elements that the value is stored as. Of 8 bits and of bf16, on a processor, the
 * error is less than 2e-4 of the value or of 1e-4, whichever is larger, for a shorter chain. */
const struct expr *activation(struct nest *n, const struct expr *x, const struct post_op *p,
			      enum elem result);
/* e to the power of x, single precision: x is taken for -87 or 88 beyond these. The same holds of
 * it.
 */
const struct expr *activation_exp(struct nest *n, const struct expr *x);
/* The same for any x in single precision, also infinity, and NaN of NaN: what operators of whole
 * models are. The exponential is 0 and infinity where it leaves the numbers, and the sigmoid is 0
 * there; and the error function.
 */
const struct expr *activation_or_nan(struct nest *n, const struct expr *x, const struct post_op *p);
const struct expr *activation_exp_or_nan(struct nest *n, const struct expr *x);
const struct expr *activation_erf_or_nan(struct nest *n, const struct expr *x);
/* Is its chain so long that the tile is stored before it? */
int activation_waits(const struct post_op *p);

#endif
