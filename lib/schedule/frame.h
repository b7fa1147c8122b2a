/* A frame: the source of a convolution with its padding around it, in the team's memory. It is for
 * algorithms that leave taps outside of the image out, where what lies there is no 0 (POST_PAD). */
#ifndef TL_SCHEDULE_FRAME_H
#define TL_SCHEDULE_FRAME_H

#include "lib/schedule/conv.h"
#include "lib/schedule/reorder.h"

/* Declares the source, as reorder_src() does, and returns the buffer to read, whose images have
 * the sizes of p. If the workload has a frame, conv_frame() has made p, and a phase copies it. */
int frame_src(struct reorder *r, const struct conv *p);

#endif
