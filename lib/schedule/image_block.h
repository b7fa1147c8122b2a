/* A block of image tiles of minimal filtering (lib/tile/image.h), which one thread computes. First
 * it transforms the inputs of all channels of its groups. Then, for each panel of a group's output
 * channels, it multiplies them by the transformed weights into a workspace that stays in a near
 * cache, and transforms the products back, with the post-ops.
 */
#ifndef TL_SCHEDULE_IMAGE_BLOCK_H
#define TL_SCHEDULE_IMAGE_BLOCK_H

#include "lib/schedule/space_to_depth.h"
#include "lib/tile/image.h"

struct image_block {
	struct image g;		 /* its channels fill whole vectors */
	struct space_to_depth d; /* what the image was made of */
	int64_t groups;		 /* that there are, in all blocks */
	int64_t depth, width;	 /* input and output channels of a group */
	int64_t rows, cols;	 /* image tiles of a block, along each side */
	int64_t values;		 /* of an image tile */
	int64_t nr, panels;	 /* output channels of a panel; how many of these a group has */
	struct row_split split;	 /* of a block's image tiles into register tiles */
	int ahead;		 /* are the weights of the next value prefetched? */
	int src, weights;
	struct brgemm_out out;
	/* Workspace, transformed: [values][tiles of the block][channels] and [values][tiles][nr].
	 */
	int inputs, products;
	struct affine from, to; /* where its image begins in the input and in the output */
	int row0, col0;		/* variables: where the block is, in image tiles */
	struct affine group; /* that is multiplied and finished, counted from the block's first */
	struct affine group0;
	struct brgemm b;
};

/* Can weights be transformed for tiles of m pixels a side of a kernel whose image is taken by d? */
int image_block_has(const struct image_kernel *k, const struct space_to_depth *d, int64_t m);
/* Declares the transformed weights: [group][panel][value][channel][nr]. */
void image_block_weights(struct image_block *s);
/* Declares the workspace and the registers, for tiles of at most so many rows. */
void image_block_workspace(struct image_block *s, int nv, int max_rows, int unroll);
void image_block_transform(struct image_block *s);
/* Panel j of the group at hand: its products, and its output. */
void image_block_multiply(struct image_block *s, int j);
void image_block_finish(struct image_block *s, int j);

#endif
