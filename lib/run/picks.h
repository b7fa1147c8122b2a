/* Picking: each element of the result is the one of the source that a table of each dimension says,
 * or a number that fills what lies outside. Padding by what is there, running backwards and cutting
 * are picking.
 */
#ifndef TL_RUN_PICKS_H
#define TL_RUN_PICKS_H

#include "lib/run/place.h"

struct picks {
	struct place out;
	/* By index of each dimension of out: where in the source, in elements; -1: outside. */
	const int64_t *from[PLACE_RANK];
	float fill;
};

/* The part of thread `thread` of `threads` of a struct picks. Buffers: source, result. 0. */
int picks_run(const void *with, float *const *buffers, int thread, int threads);

#endif
