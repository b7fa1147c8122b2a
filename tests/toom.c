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
	ok(toom_has(4, 3, 1, TOOM_TWO_WAYS) && !toom_has(6, 3, 1, TOOM_TWO_WAYS) &&
		   toom_has(6, 3, 1, TOOM_FEW_CHANNELS) && !toom_has(3, 3, 1, TOOM_ONE_WAY) &&
		   !toom_has(6, 7, 1, TOOM_ONE_WAY) && toom_has(5, 3, 2, TOOM_TWO_WAYS) &&
		   !toom_has(3, 5, 2, TOOM_ONE_WAY),
	   "not all filters are there");
	return done_testing();
}
