#include "lib/run/gather.h"

#include <math.h>
#include <string.h>

int gather_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct gather *g = with;
	const float *data = buffers[GATHER_DATA], *index = buffers[GATHER_INDEX];
	int64_t rows = g->outer * g->count, first = rows * thread / threads;
	int64_t end = rows * (thread + 1) / threads;
	size_t bytes = (size_t)g->inner * sizeof(float);
	const float most = 16777216; /* whole numbers beyond it are not exact */
	int rc = 0;

	for (int64_t r = first; r < end; r++) {
		float f = index[r % g->count];
		int64_t i = fabsf(f) <= most ? (int64_t)f : g->extent;

		i += i < 0 ? g->extent : 0;
		if (i < 0 || i >= g->extent)
			rc = -1;
		else
			memcpy(buffers[GATHER_TO] + r * g->inner,
			       data + (r / g->count * g->extent + i) * g->inner, bytes);
	}
	return rc;
}
