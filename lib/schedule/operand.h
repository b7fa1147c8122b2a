/* The tensors of a kernel, and the addresses of their elements.
 *
 * Strides belong to the dimensions that an algorithm names, so that its code serves all layouts.
 *
 * A residual is added in place: the kernel finds it in dst, and the sum replaces it. A separate
 * operand would cost the traffic of one more tensor, which the library's sum does not pay. In
 * networks nothing reads the residual after its addition. Where only the bias comes before it, the
 * tile's sum begins with the residual.
 */
#ifndef TL_SCHEDULE_OPERAND_H
#define TL_SCHEDULE_OPERAND_H

#include "lib/nest/nest.h"
#include "lib/op/op.h"
#include "lib/tile/brgemm.h"

/* Part of a tensor along one dimension, in place or in a copy: unit i is at (i - first) * stride +
 * rest. */
struct window {
	int buffer;
	struct affine first, stride, rest;
};
struct affine window_at(const struct window *w, struct affine i);

/* A tensor, or a copy of a part, by its dimensions. */
enum { ACCESS_DIMS = 5 };
struct access {
	int buffer;
	int64_t half; /* elements from its first half to its second (stage.h); 0: it is whole */
	struct {
		int64_t step; /* elements from one index to the next; 0: it has one index */
		int symbol;   /* step as a symbol, or -1: it stands in the source as a constant */
	} dim[ACCESS_DIMS];
};
/* Makes dimension d's step a symbol of this name. */
void access_name(struct nest *n, struct access *a, int d, const char *name);
struct index {
	int dim;
	struct affine i;
};
/* access_at(a, {dimension, index}, ..): where the element is. */
#define access_at(a, ...)                                                                          \
	access_at_((a), (struct index[]){__VA_ARGS__},                                             \
		   sizeof((struct index[]){__VA_ARGS__}) / sizeof(struct index))
struct affine access_at_(const struct access *a, const struct index *at, unsigned long n);

/* What is left of an extent (a symbol) from `at` on, for vectors of tiles of nr to be masked by;
 * NULL: the tiles are whole. */
const struct affine *operand_left(struct nest *n, int extent, int64_t nr, struct affine at);

/* Elements from a pixel or a row of the result, which has so many, to the next (nest.h). */
int64_t operand_pitch(const struct nest *n, int64_t columns);

/* Where a tile of a matrix is that has as many columns as a symbol says, in rows that o has: sets
 * c_at, valid and bias_at of o, for tiles of nr columns. */
void operand_place(struct nest *n, int columns, int64_t nr, struct affine row, struct affine column,
		   struct brgemm_out *o);

/* Sets the type of the elements of packed weights, for operand_types() does not know the tile. They
 * are those that the tile reads; where is_wide is set, those that it widens them to. */
void operand_weights(struct nest *n, int buffer, const struct workload *w, const struct tile *t,
		     int is_wide);

/* The bias, packed and padded with zeros: dimension i has `is` values, padded to `padded`. -1: the
 * workload has none. Declares scales and shifts, too, which lie as the bias does. */
struct extent {
	int64_t is, padded;
};
int operand_bias(struct nest *n, const struct workload *w, int rank, const struct extent *dim);
/* The result, of so many elements, and the post-ops. Sets c, bias, scale, shift, is_whole, adds,
 * mul, post and npost of o. */
void operand_out(struct nest *n, const struct workload *w, int bias, int64_t size,
		 struct brgemm_out *o);
/* Arguments and weights have the workload's types. A packed bias has the type in which it is added:
 * 32 bits where source and weights are whole numbers, else single precision. */
void operand_types(struct nest *n, const struct workload *w);
/* x, vectors of so many lanes or scalars, through the post-ops to element `at` of the result, whose
 * bias is at bias_at; for stores other than the register tile's own. valid may be NULL. */
void operand_store(struct nest *n, const struct brgemm_out *o, const struct expr *x,
		   struct affine at, struct affine bias_at, const struct affine *valid);

#endif
