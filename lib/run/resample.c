#include "lib/run/resample.h"

int resample_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct resample *r = with;
	const int64_t rows = r->outer * r->out;

	for (int64_t i = rows * thread / threads; i < rows * (thread + 1) / threads; i++) {
		const float *from = buffers[0] + i / r->out * r->in * r->inner;
		const int64_t first = i % r->out * r->taps;
		float *to = buffers[1] + i * r->inner;

		for (int64_t j = 0; j < r->inner; j++)
			to[j] = 0;
		for (int64_t k = first; k < first + r->taps; k++)
			for (int64_t j = 0; j < r->inner; j++)
				to[j] += r->weight[k] *
					 (r->index[k] < 0 ? r->fill
							  : from[r->index[k] * r->inner + j]);
	}
	return 0;
}
