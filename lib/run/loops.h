/* Loops over the elements of several places of the same dimensions. */
#ifndef TL_RUN_LOOPS_H
#define TL_RUN_LOOPS_H

#include "lib/run/place.h"

enum { LOOPS_PLACES = 7 };

/* Dimensions of more than 1 in the order of the last place's strides, neighbours that are one run
 * in all places joined; and the strides of each place. */
struct loops {
	int n;
	int64_t dim[PLACE_RANK], stride[LOOPS_PLACES][PLACE_RANK];
};

struct loops loops_of(const struct place *const place[], int nplace);

#endif
