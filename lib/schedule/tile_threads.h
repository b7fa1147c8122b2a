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

/* Can winograd compute it so? Not if few channels are summed: to transform them costs more than
 * it spares. */
int tile_threads_applies(const struct workload *w, struct conv *c);
/* May tiles have m pixels along each side? The smallest that may, of 2 to TILE_LARGEST. */
enum { TILE_LARGEST = 8 };
int tile_threads_has(const struct conv *c, int64_t m);
int64_t tile_threads_smallest(const struct conv *c);
/* All but the nest, and what is declared there. */
struct tile_threads tile_threads_of(const struct workload *w, const struct conv *c, int64_t m);

/* Tiles of all images, and values of each. */
int64_t tile_threads_tiles(const struct tile_threads *s);
int64_t tile_threads_values(const struct tile_threads *s);
/* Registers that a thread needs for either transform, of so many lanes. */
int64_t tile_threads_registers(const struct image *g, int64_t lanes);

/* The weights, transformed, in panels of bn columns and chunks of bk channels: [value][panel]
 * [chunk][bk][bn], or, with chunks first, [panel][chunk][value][bk][bn]. */
int tile_threads_weights(struct nest *n, const struct conv *c, const struct image *g, int64_t bn,
			 int64_t bk, int chunks_first);

/* Where a thread is. */
struct tile_place {
	struct affine tile;	       /* its number */
	struct affine image, row, col; /* of the tile: tile_threads_find() */
	struct affine channel;
	int may_lack; /* there may be no such tile or channel: its inputs are 0 */
};
void tile_threads_find(const struct tile_threads *s, struct tile_place *x);

/* Steps of a thread: the inputs of its tile into values on a line, and products to the result. */
struct tile_products {
	int buffer;
	struct affine at;
	int64_t value_step, sums, sum_step; /* each is so many sums, which are added up */
};
void tile_threads_transform(const struct tile_threads *s, const struct tile_place *x, int lanes,
			    const struct line *to);
void tile_threads_back(const struct tile_threads *s, const struct tile_place *x, int lanes,
		       const struct tile_products *from);

/* Phases of their own: the inputs of all tiles, to [value][tile][channel] of a buffer; products, of
 * which channel c of tile t is at t * tile_step + c, to the result. */
void tile_threads_inputs(const struct tile_threads *s, int lanes, int to);
void tile_threads_outputs(const struct tile_threads *s, int lanes, struct tile_products from,
			  int64_t tile_step);

#endif
