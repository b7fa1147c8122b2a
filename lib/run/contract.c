#include "lib/run/contract.h"

static int64_t count(const int64_t *size, int n)
{
	int64_t all = 1;

	for (int i = 0; i < n; i++)
		all *= size[i];
	return all;
}

/* Moves a side by index i of the letters from `first` to `end`. */
static int64_t offset(const struct contract *c, int side, int64_t i, int first, int end)
{
	int64_t at = 0;

	for (int k = end; k-- > first;) {
		at += i % c->size[k] * c->stride[side][k];
		i /= c->size[k];
	}
	return at;
}

int contract_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct contract *c = with;
	const int64_t all = count(c->size, c->kept);
	const int64_t terms = count(c->size + c->kept, c->letters - c->kept);

	for (int64_t i = all * thread / threads; i < all * (thread + 1) / threads; i++) {
		const float *from[CONTRACT_SIDES];
		double sum = 0;

		for (int s = 0; s < c->sides; s++)
			from[s] = buffers[s] + offset(c, s, i, 0, c->kept);
		for (int64_t k = 0; k < terms; k++) {
			double x = 1;

			for (int s = 0; s < c->sides; s++)
				x *= (double)from[s][offset(c, s, k, c->kept, c->letters)];
			sum += x;
		}
		buffers[c->sides][i] = (float)sum;
	}
	return 0;
}
