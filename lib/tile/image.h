/* Image tiles of minimal filtering (toom.h): the output of a convolution in nhwc is cut into tiles
 * of v.m x h.m pixels. The v.inputs x h.inputs inputs of each are transformed into v.n x h.n
 * values,
 *
 *     V = B_v^T d B_h,
 *
 * a vector of channels at a time; and products of values with transformed weights are transformed
 * back into pixels, Y = A_v^T M A_h. A direction of one tap is left as it is: v.n or h.n is 1.
 */
#ifndef TL_TILE_IMAGE_H
#define TL_TILE_IMAGE_H

#include "lib/tile/transform.h"

struct image {
	struct nest *n;
	struct toom v, h;		/* vertical, horizontal */
	int64_t ih, iw, ic, oh, ow, oc; /* pixels, and channels of each */
	/* Of the input's channels those that are transformed: whole vectors, and the first one. */
	int64_t channels;
	struct affine first;
	int64_t ph, pw; /* padding at the top and on the left */
	/* Rows and columns of the image lie so many apart in a larger one, of which it is a phase:
	 * what taps that are dilated read. 1: it is the whole one. */
	int64_t apart_v, apart_h;
	int64_t rows, cols; /* of tiles */
	int lanes;
	/* In which inputs and products are transformed: single precision, or pairs of 16 bits and
	 * whole numbers of 32. */
	enum elem elem, sum;
	int half, back;	    /* workspace of image_half() elements, of inputs and of products */
	struct transform f; /* open where the functions below are called */
};

/* A tile: variables of its row and column (of tiles), and where the input and the output of its
 * image begin. */
struct image_tile {
	struct affine from, to;
	int row, col;
};

/* Where the v.n * h.n values of a tile lie: value (y, x) at + (y * h.n + x) * step. */
struct image_values {
	int buffer;
	struct affine at;
	int64_t step;
};

/* Takes one pixel of what comes out, a vector of channels: it begins at dst[at + channel], where
 * channel counts from the first one that was transformed back. */
typedef void image_put(const struct image *s, struct affine at, struct affine channel,
		       const struct expr *x, void *arg);

/* A kernel: taps and strides, vertical and horizontal. few: few channels are summed. */
struct image_kernel {
	int64_t kh, kw, sh, sw;
	int few;
};
/* Can tiles have m pixels in each direction of more than one tap? */
int image_has(const struct image_kernel *k, int64_t m);
/* Fills in rows, cols and the transforms, of tiles of rows x cols pixels in directions of more than
 * one tap. */
void image_make(struct image *s, const struct image_kernel *k, int rows, int cols);
/* Tiles of which taps lie outside the image at the left or right have code of their own, for each
 * such column: how many columns are there? */
int64_t image_edges(const struct image *s);
int64_t image_half(const struct image *s);
/* Returns how many channels a vector of inputs has. */
int image_vector(const struct image *s);

/* The values of the channels. */
void image_transform(const struct image *s, const struct image_tile *t, int src,
		     const struct image_values *to);
/* Values back to the pixels that lie inside the output: one vector of channels, or, where `vectors`
 * is not NULL, so many. */
void image_transform_back(const struct image *s, const struct image_tile *t,
			  const struct image_values *from, const struct affine *vectors,
			  image_put *put, void *arg);

#endif
