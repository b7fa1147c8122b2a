/* Image tiles of minimal filtering (lib/tile/image.h), transformed by threads, in their registers.
 * A thread transforms the inputs of a tile for a channel, or for a vector of four in nhwc, into
 * v.n x h.n values, and as many products back into v.m x h.m pixels.
 *
 * Values lie as [value][tile][channel], which is the left side of a product for each value. Tiles
 * are counted through all images, columns innermost. Neighbouring threads have neighbouring
 * channels, some 32 of them, and then neighbouring tiles, which share inputs in the first cache.
 */
#ifndef TL_SCHEDULE_TILE_THREADS_H
#define TL_SCHEDULE_TILE_THREADS_H

#include "lib/schedule/conv.h"
#include "lib/tile/image.h"

struct tile_threads {
	struct nest *n;
	struct conv c;
	struct image g; /* the transforms, and the tiles of an image */
	int nchw;
	int threads; /* of a block */
	int src;
	struct brgemm_out out;
};

/* Tiles of all images, and values of each. */
int64_t tile_threads_tiles(const struct tile_threads *s);
int64_t tile_threads_values(const struct tile_threads *s);
/* Registers that a thread needs for either transform, of so many lanes. */
int64_t tile_threads_registers(const struct image *g, int64_t lanes);

/* The weights, transformed: panels of bn columns, and chunks of bk channels, for each value. */
int tile_threads_weights(struct nest *n, const struct conv *c, const struct image *g, int64_t bn,
			 int64_t bk);
/* A phase: the inputs, to value * value_step + tile * c.ic + channel of a buffer. */
void tile_threads_inputs(const struct tile_threads *s, int lanes, int to);

/* Where products lie: value * value_step + tile * tile_step + channel, as so many sums, sum_step
 * apart. */
struct tile_products {
	int buffer;
	int64_t value_step, tile_step, sums, sum_step;
};
/* A phase: products through the post-ops to the result. */
void tile_threads_outputs(const struct tile_threads *s, int lanes,
			  const struct tile_products *from);

#endif
