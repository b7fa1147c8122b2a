#include "lib/run/arg.h"

static int64_t find(const struct arg *g, const float *row)
{
	int64_t best = 0;

	for (int64_t i = 1; i < g->size; i++) {
		const int better = g->is_least ? row[i] < row[best] : row[i] > row[best];

		if (better || (g->is_last && row[i] == row[best]))
			best = i;
	}
	return best;
}

int arg_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct arg *g = with;

	for (int64_t r = g->rows * thread / threads; r < g->rows * (thread + 1) / threads; r++)
		buffers[1][r] = (float)find(g, buffers[0] + r * g->size);
	return 0;
}
