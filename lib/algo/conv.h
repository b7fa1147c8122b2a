/* The numbers of a convolution, as algorithms use them. */
#ifndef TL_ALGO_CONV_H
#define TL_ALGO_CONV_H

#include "lib/op/op.h"

struct conv {
	int64_t mb, g, ic, ih, iw, oc, oh, ow, kh, kw; /* ic and oc: channels of one group */
	int64_t sh, sw, ph, pw, dh, dw;		       /* dh, dw: 1 is no dilation */
	int64_t band_w;				       /* width of a padded input row */
	int padded;				       /* does any tap read outside the input? */
	int clipped; /* kernel rows outside the image are left out, row by row: needs no dilation */
	int nchw;
};

/* 1, or 0: the workload is no convolution. */
int conv_of(const struct workload *w, struct conv *s);

#endif
