/* Boxes of a tensor, which the hardware copies as a whole into the memory of a block, whatever of
 * them lies outside of the tensor (NVIDIA, "Parallel Thread Execution ISA", "Tensors", im2col
 * mode; struct box in nest.h says what they are).
 *
 * The copy is a bulk copy. Positions lie one behind the other, each with its values side by side,
 * in the swizzled rows of the block's buffer.
 *
 * A box is a bulk copy of the pixels from which consecutive rows of an implicit product come,
 * whatever of them lies outside of the image. On Hopper a tensor map in im2col mode describes the
 * tensor (lib/target/cuda_box.c). A kernel takes it as a parameter, behind the buffers.
 */
#ifndef TL_NEST_BOX_H
#define TL_NEST_BOX_H

#include "lib/nest/nest.h"

/* Where a box begins. */
struct box_place {
	struct affine image, row, column; /* the pixel of its first position */
	struct affine channel;
	struct affine down, right; /* pixels that all of its positions are moved by: a tap's */
};

/* NULL, or why the hardware has no such boxes. size: bytes of an element. */
const char *box_refusal(const struct box *b, int size);
/* What is added to the corners of the image to get those of the pixels that have positions. */
struct box_corners {
	int64_t first_row, first_column, last_row, last_column;
};
struct box_corners box_corners(const struct box *b);

/* Declares the boxes of a tensor; returns their number. */
int nest_box(struct nest *n, const struct box *b);
/* Starts to copy a box to element `at` of a block's buffer. */
void nest_copy_box(struct nest *n, int to, struct affine at, int box, const struct box_place *p);

#endif
