#include "lib/run/picks.h"

/* Where a row along the last dimension begins in the source and in the result; -1: outside. */
static int64_t row_from(const struct picks *p, int64_t row, int64_t *to)
{
	int64_t from = 0;

	*to = 0;
	for (int i = p->out.rank - 2; i >= 0; i--) {
		const int64_t k = row % p->out.dim[i], at = p->from[i][k];

		row /= p->out.dim[i];
		*to += k * p->out.stride[i];
		from = from < 0 || at < 0 ? -1 : from + at;
	}
	return from;
}

int picks_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct picks *p = with;
	const int last = p->out.rank - 1;
	const int64_t n = p->out.dim[last], rows = n ? place_count(&p->out) / n : 0;

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		int64_t to, from = row_from(p, r, &to);

		for (int64_t i = 0; i < n; i++) {
			const int64_t at = p->from[last][i];

			buffers[1][to + i * p->out.stride[last]] =
				from < 0 || at < 0 ? p->fill : buffers[0][from + at];
		}
	}
	return 0;
}
