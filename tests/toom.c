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

static void test_filter(int m)
{
	struct toom t;
	struct rng rng;
	double worst = 0;

	toom_make(&t, m, 3);
	rng_seed(&rng, 1, "toom");
	for (int turn = 0; turn < 100; turn++) {
		double d[TOOM_MAX], g[3], u[TOOM_MAX], v[TOOM_MAX], y[TOOM_MAX];

		for (int i = 0; i < t.n; i++)
			d[i] = (double)rng_below(&rng, 2001) / 1000 - 1;
		for (int i = 0; i < 3; i++)
			g[i] = (double)rng_below(&rng, 2001) / 1000 - 1;
		times(&t.g, g, u);
		times(&t.bt, d, v);
		for (int i = 0; i < t.n; i++)
			v[i] *= u[i];
		times(&t.at, v, y);
		for (int i = 0; i < m; i++)
			worst = fmax(worst,
				     fabs(y[i] - d[i] * g[0] - d[i + 1] * g[1] - d[i + 2] * g[2]));
	}
	ok(t.n == m + 2 && worst < 1e-13, "%d outputs of 3 taps from %d products: error %.1e", m,
	   t.n, worst);
}

static void test_pairs(int m)
{
	struct toom t;
	int alike = 1;

	toom_make(&t, m, 3);
	for (int i = 1; i < t.n - 1; i += 2) {
		for (int c = 0; c < t.n; c++)
			alike &= fabs(t.bt.m[i][c]) == fabs(t.bt.m[i + 1][c]);
		for (int r = 0; r < m; r++)
			alike &= t.at.m[r][i] == (r % 2 ? -1 : 1) * t.at.m[r][i + 1];
	}
	ok(alike, "%d outputs: rows and columns come in pairs", m);
}

int main(void)
{
	for (int m = 2; m <= 4; m += 2) {
		test_filter(m);
		test_pairs(m);
	}
	return done_testing();
}
