/* A convolution, as algorithms use it: its numbers, and its tensors by dimension. */
#ifndef TL_SCHEDULE_CONV_H
#define TL_SCHEDULE_CONV_H

#include "lib/schedule/operand.h"

struct conv {
	int64_t mb, g, ic, ih, iw, oc, oh, ow, kh, kw; /* ic and oc: channels of one group */
	int64_t sh, sw, ph, pw, dh, dw;		       /* dh, dw: 1 is no dilation */
	int64_t band_w;				       /* width of a padded input row */
	int padded;				       /* does any tap read outside the input? */
	int fills;   /* what lies there is no 0, but has a value for each channel (POST_PAD) */
	int clipped; /* kernel rows outside the image are left out, row by row: needs no dilation,
			and zeros there */
};

/* 1, or 0: the workload is no convolution. */
int conv_of(const struct workload *w, struct conv *s);

/* The same convolution of an image that has the padding around it (frame.h). */
void conv_frame(struct conv *p);

/* Dimensions of its images; CHANNEL is one of a group. */
enum conv_dim { CONV_IMAGE, CONV_GROUP, CONV_CHANNEL, CONV_ROW, CONV_COLUMN };
/* The source and the result, nhwc. Pixels of the result lie as the nest says. */
struct access conv_src(const struct conv *p, int buffer);
struct access conv_dst(const struct nest *n, const struct conv *p, int buffer);
/* Declares what lies outside of the image, in the workload's type. */
struct access conv_pad(struct nest *n, const struct workload *w, const struct conv *p);
/* Weights as panels of nr output channels and chunks of kc input channels:
 * [g][tile][chunk][kh][kw][kc][nr]; `depth` input channels of an output channel stand side
 * by side. halves: each tile's are split in halves (lib/space/layout.h). */
struct packing conv_packing(const struct conv *p, int64_t nr, int64_t kc, int64_t depth,
			    int halves);
int conv_weights(struct nest *n, const struct conv *p, int64_t nr, int64_t kc, int64_t depth,
		 int halves);
/* Kernel rows [lo, hi) that lie inside the image for output row oh, where there is no dilation, by
 * symbols or constants. */
void conv_rows_inside(struct nest *n, const struct conv *p, int oh, int symbols, struct affine *lo,
		      struct affine *hi);

/* Output rows [first, end) have all their kernel rows inside the image. */
void conv_whole_rows(const struct conv *p, int64_t *first, int64_t *end);

/* Where a register tile stands: a variable each, and its first pixel and channel. */
struct conv_place {
	int img, g, oh;
	struct affine ow, channel;
};

#endif
