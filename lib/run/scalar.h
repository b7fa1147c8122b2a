/* Element-wise operators that nests have no expression for: comparisons, logic, choice, rounding,
 * logarithms and the like, by a C function that is called for each element.
 *
 * Truth is 1, and 0 is not; what is not 0 is true.
 *
 * Numbers. x86's maximum answers with its second operand if one is NaN, and so do all printers and
 * the interpreter. So activations have the constant first, and NaN passes through tuned kernels.
 * Functions that must also be right at infinity are in nests of lib/run/, by the ..._or_nan()
 * activations. A comparison of two values uses ex_limit(), which puts NaN back by EXPR_NAN: a
 * comparison and an OR, or AVX-512's vfixupimmps. Integers are floats, and follow their own rules
 * by functions of scalars (lower_integer.c): narrow ones wrap around, wide ones are refused beyond
 * 2^24.
 */
#ifndef TL_RUN_SCALAR_H
#define TL_RUN_SCALAR_H

#include "lib/run/place.h"

enum { SCALAR_INPUTS = 3, SCALAR_MORE = 2 };

/* x: an element of each operand, then the operator's other parameters; a: the first parameter. */
typedef float scalar_fn(const float *x, float a);

/* The function of an ONNX operator, and how many operands it has, 1 to SCALAR_INPUTS; NULL: there
 * is none. Others, for Cast and for integers: "truth", "f16" and "bf16" (rounded to these);
 * "truncate" and "wrap" of reals and of whole numbers to an integer of a bits, which has a sign if
 * a < 0; "exact", which is NaN where a float does not hold all such integers; "quotient", "share"
 * (by a) and "power of integers", cut off to whole numbers; "at least" and "at most", a Clip of
 * which one bound is an operand, and a is the other. */
scalar_fn *scalar_find(const char *type, int *operands);

/* Operands have the dimensions of the result, by strides of 0 where they are broadcast. */
struct scalar_map {
	scalar_fn *fn;
	float a, more[SCALAR_MORE];
	int nin, nan_is_bad;
	struct place in[SCALAR_INPUTS], out;
};

/* The part of thread `thread` of `threads` of a struct scalar_map. Buffers: the operands, then the
 * result, each from its first element. -1: a result is NaN, and that is bad. */
int scalar_run(const void *with, float *const *buffers, int thread, int threads);

#endif
