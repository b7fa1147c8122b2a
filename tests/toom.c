/* Minimal filtering: the matrices compute what a filter does, and are symmetric where the kernels
 * rely on it. */
#include <math.h>

#include "lib/base/rng.h"
#include "lib/tile/toom.h"
#include "tests/tap.h"

static void times(const struct toom_matrix *t, const double *x, double *y)
{
	for (int r = 0; r < t->rows; r++) {
		y[r] = 0;
		for (int c = 0; c < t->cols; c++)
			y[r] += t->m[r][c] * x[c];
	}
}

static void test_filter(int m, int r, int stride)
{
	struct toom t;
	struct rng rng;
	double worst = 0;

	toom_make(&t, m, r, stride);
	rng_seed(&rng, 1, "toom");
	for (int turn = 0; turn < 100; turn++) {
		double d[TOOM_MAX], g[TOOM_MAX], u[TOOM_MAX], v[TOOM_MAX], y[TOOM_MAX];

		for (int i = 0; i < t.inputs; i++)
			d[i] = (double)rng_below(&rng, 2001) / 1000 - 1;
		for (int i = 0; i < r; i++)
			g[i] = (double)rng_below(&rng, 2001) / 1000 - 1;
		times(&t.g, g, u);
		times(&t.bt, d, v);
		for (int i = 0; i < t.n; i++)
			v[i] *= u[i];
		times(&t.at, v, y);
		for (int i = 0; i < m; i++) {
			for (int k = 0; k < r; k++)
				y[i] -= d[i * stride + k] * g[k];
			worst = fmax(worst, fabs(y[i]));
		}
	}
	ok(t.n == (stride == 1 ? m + r - 1 : 2 * m + 1) && worst < 1e-13,
	   "%d outputs of %d taps at stride %d from %d products: error %.1e", m, r, stride, t.n,
	   worst);
}

static void test_pairs(int m, int r)
{
	struct toom t;
	int alike = 1;

	toom_make(&t, m, r, 1);
	for (int i = 1; i < t.n - 1; i += 2) {
		for (int c = 0; c < t.n; c++)
			alike &= fabs(t.bt.m[i][c]) == fabs(t.bt.m[i + 1][c]);
		for (int k = 0; k < m; k++)
			alike &= t.at.m[k][i] == (k % 2 ? -1 : 1) * t.at.m[k][i + 1];
	}
	ok(alike, "%d outputs of %d taps: rows and columns come in pairs", m, r);
}

/* All factors are whole, inputs and weights of 8 bits stay within 16 in two directions, and what
 * comes out is so many times too large. */
static void test_whole(int m, int r)
{
	double most_in = 0, most_weight = 0;
	struct toom t;
	int is_whole = 1, is_right = 1;

	toom_make_whole(&t, m, r);
	for (int i = 0; i < t.n; i++) {
		double in = 0, weight = 0;

		for (int c = 0; c < t.n; c++)
			in += fabs(t.bt.m[i][c]);
		for (int k = 0; k < r; k++)
			weight += fabs(t.g.m[i][k]);
		for (int c = 0; c < TOOM_MAX; c++)
			is_whole &= t.bt.m[i][c] == rint(t.bt.m[i][c]) &&
				    t.g.m[i][c] == rint(t.g.m[i][c]) &&
				    t.at.m[i][c] == rint(t.at.m[i][c]);
		most_in = fmax(most_in, in);
		most_weight = fmax(most_weight, weight);
	}
	for (int d = 0; d < t.n; d++)
		for (int k = 0; k < r; k++)
			for (int y = 0; y < m; y++) {
				double sum = 0;

				for (int i = 0; i < t.n; i++)
					sum += t.at.m[y][i] * t.g.m[i][k] * t.bt.m[i][d];
				is_right &= sum == (d == y + k ? t.times : 0);
			}
	ok(is_whole && is_right && most_in * most_in / 2 * 256 <= 32768 &&
		   most_weight * most_weight * 128 <= 32768,
	   "%d outputs of %d taps in whole numbers: %d times, inputs %g, weights %g", m, r, t.times,
	   most_in, most_weight);
}

int main(void)
{
	test_filter(1, 1, 1);
	test_filter(3, 3, 2);
	test_filter(5, 3, 2);
	for (int r = 2; r <= 7; r++)
		for (int m = 2; m <= 8; m++) {
			if (!toom_has(m, r, 1, TOOM_ONE_WAY))
				continue;
			test_filter(m, r, 1);
			test_pairs(m, r);
		}
	test_whole(2, 3);
	test_whole(4, 3);
	ok(toom_has(4, 3, 1, TOOM_TWO_WAYS) && !toom_has(6, 3, 1, TOOM_TWO_WAYS) &&
		   toom_has(6, 3, 1, TOOM_FEW_CHANNELS) && !toom_has(3, 3, 1, TOOM_ONE_WAY) &&
		   !toom_has(6, 7, 1, TOOM_ONE_WAY) && toom_has(5, 3, 2, TOOM_TWO_WAYS) &&
		   !toom_has(3, 5, 2, TOOM_ONE_WAY),
	   "not all filters are there");
	return done_testing();
}
