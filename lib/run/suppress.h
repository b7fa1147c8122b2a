/* ONNX's NonMaxSuppression: of boxes that overlap the one of the largest score stays. */
#ifndef TL_RUN_SUPPRESS_H
#define TL_RUN_SUPPRESS_H

#include "lib/run/plan.h"

enum {
	SUPPRESS_BOXES,
	SUPPRESS_SCORES,
	SUPPRESS_MOST,
	SUPPRESS_OVERLAP,
	SUPPRESS_SCORE,
	SUPPRESS_TO,
	SUPPRESS_OPERANDS
};

/* Boxes: batch x boxes x 4. Scores: batch x classes x boxes. Of each class at most so many boxes
 * stay: `most`, or, where that is -1, the number of a buffer. The buffers of the least overlap and
 * of the least score may be NULL. order and stays have room for a number of each box. */
struct suppress {
	struct counted *counted;
	int64_t batch, classes, boxes, most;
	int is_centered; /* a box is its centre and its size, and not two corners */
	int64_t *order, *stays;
};

/* The first part does all the work (counted.h). -1: the overlap lies outside of 0 to 1, or another
 * number of boxes stays. */
int suppress_run(const void *with, float *const *buffers, int thread, int threads);

#endif
