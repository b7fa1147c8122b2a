/* The tile of a depthwise convolution in nhwc: a run of output pixels in one row by a few vectors
 * of channels. Vectors of input are multiplied by vectors of weights, so nothing is broadcast, and
 * there is no sum over channels.
 *
 * Tiles with taps outside the image at the left or the right have bodies of their own, without
 * these taps. Kernel rows above and below the image are left out row by row.
 *
 * Whole numbers of 8 bits may be multiplied in groups (lib/nest/elem.h): kernel rows below each
 * other are a group, whose elements of one column and channel are loaded from as many rows of the
 * image, and one instruction multiplies and sums them.
 */
#ifndef TL_SCHEDULE_CHANNELWISE_H
#define TL_SCHEDULE_CHANNELWISE_H

#include "lib/schedule/edge.h"
#include "lib/tile/tile.h"

struct channelwise {
	struct nest *n;
	struct conv p;	   /* ic = oc = 1 */
	int lanes, nv;	   /* of a vector, vectors of a tile */
	int64_t nr, tiles; /* channels of a tile, tiles */
	int weights;	   /* [tile][kh][kw][nr]; in groups [tile][groups of kh][kw][nr][group] */
	int once;	   /* of a kernel row each vector of input is loaded once */
	/* How it multiplies, of which group and types count. Kernel rows of a group are one below.
	 */
	const struct tile *tile;
	int acc, wreg; /* registers: pixels x nv; taps held, or those of a row, or 1, x nv */
	int xreg;      /* 1 x nv, where they are loaded once */
	int bias;      /* what sums begin with; -1: with zero */
	struct access src, dst;
	struct brgemm_out out;
	int img; /* variable of the image */
};

/* Where a tile stands. */
struct channelwise_place {
	int oh;	    /* variable */
	int inside; /* no kernel row leaves the image: the tile is one straight run */
	int held;   /* so it is, and its weights are in registers */
	struct panel panel;
	struct stretch run;
};

/* Groups of kernel rows. */
int64_t channelwise_groups(const struct conv *p, int64_t group);
/* Declares the packed weights. */
void channelwise_weights(struct channelwise *s);
/* Can tiles of so many pixels load each vector of input once? They must be as wide as the taps that
 * it meets. */
int channelwise_loads_once(const struct conv *p, int64_t pixels);
/* Declares the registers: tiles of so many pixels at most, and whether weights are held. */
void channelwise_registers(struct channelwise *s, int pixels, int holds);
/* Loads all weights of the place's panel into their registers. */
void channelwise_hold(struct channelwise *s, const struct channelwise_place *at);
void channelwise_tile(struct channelwise *s, const struct channelwise_place *at);
/* The tiles of the place's pixels and panel in all rows of the open band, one below the other. Rows
 * whose kernel rows all lie inside the image are straight runs, if they may be, with held weights,
 * if they are to be. */
void channelwise_column(struct channelwise *s, struct channelwise_place *at,
			const struct block *band, int straight, int hold);

#endif
