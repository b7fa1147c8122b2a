#include "lib/tile/toom.h"

#include <string.h>

/* The product of (x - point[i]) over all i but `without`, by powers of x. */
static void product(const double *point, int n, int without, double *coef)
{
	int degree = 0;

	memset(coef, 0, sizeof *coef * TOOM_MAX);
	coef[0] = 1;
	for (int i = 0; i < n; i++) {
		if (i == without)
			continue;
		degree++;
		for (int k = degree; k >= 0; k--)
			coef[k] = (k ? coef[k - 1] : 0) - point[i] * coef[k];
	}
}

static double power(double x, int k)
{
	double p = 1;

	while (k-- > 0)
		p *= x;
	return p;
}

/* The finite points for n products. */
static const double *points(int n)
{
	static const double four[] = {0, 1, -1}, six[] = {0, 0.75, -0.75, 1.5, -1.5};
	static const double eight[] = {0, 1, -1, 0.625, -0.625, 1.75, -1.75};
	static const double ten[] = {0, 0.5, -0.5, 0.75, -0.75, 1.25, -1.25, 2, -2};

	return n <= 4 ? four : n == 6 ? six : n == 8 ? eight : ten;
}

static void by_points(struct toom *t, int m, int r, const double *point)
{
	int n = m + r - 1, last = n - 1;

	memset(t, 0, sizeof *t);
	t->m = m;
	t->r = r;
	t->stride = t->times = 1;
	t->n = t->inputs = n;
	t->at.rows = m;
	t->at.cols = t->bt.rows = t->bt.cols = t->g.rows = n;
	t->g.cols = r;
	for (int j = 0; j < last; j++) {
		double scale = 1;

		for (int i = 0; i < last; i++)
			scale *= i == j ? 1 : point[j] - point[i];
		for (int k = 0; k < m; k++)
			t->at.m[k][j] = power(point[j], k);
		for (int k = 0; k < r; k++)
			t->g.m[j][k] = power(point[j], k) / scale;
		product(point, last, j, t->bt.m[j]);
	}
	t->at.m[m - 1][last] = 1;
	t->g.m[last][r - 1] = 1;
	product(point, last, -1, t->bt.m[last]);
}

static void unit_stride(struct toom *t, int m, int r)
{
	by_points(t, m, r, points(m + r - 1));
}

/* The filter's row of infinity, alone with its factor of 24, would not leave room in 16 bits for
 * those of another direction; so that factor is shared with A^T. */
void toom_make_whole(struct toom *t, int m, int r)
{
	static const double point[] = {0, 1, -1, 2, -2};
	enum { TWO = 2, TWENTY_FOUR = 24, SHARED = 6 };
	const int last = m + r - 2;

	by_points(t, m, r, point);
	t->times = last < 4 ? TWO : TWENTY_FOUR;
	for (int j = 0; j <= last; j++)
		for (int k = 0; k < r; k++)
			t->g.m[j][k] *= t->times;
	if (t->times == TWO)
		return;
	t->g.m[last][r - 1] /= SHARED;
	t->at.m[m - 1][last] = SHARED;
}

/* Products of even inputs first, then those of odd ones. */
static void stride_two(struct toom *t, int m)
{
	struct toom even;

	unit_stride(&even, m, 2);
	memset(t, 0, sizeof *t);
	t->m = m;
	t->r = 3;
	t->stride = 2;
	t->times = 1;
	t->n = t->inputs = 2 * m + 1;
	t->at.rows = m;
	t->at.cols = t->bt.rows = t->bt.cols = t->g.rows = t->n;
	t->g.cols = 3;
	for (int j = 0; j < even.n; j++) {
		for (int k = 0; k < m; k++)
			t->at.m[k][j] = even.at.m[k][j];
		for (int k = 0; k < 2; k++)
			t->g.m[j][2 * k] = even.g.m[j][k];
		for (int c = 0; c < even.n; c++)
			t->bt.m[j][2 * c] = even.bt.m[j][c];
	}
	for (int k = 0; k < m; k++) {
		t->at.m[k][even.n + k] = 1;
		t->g.m[even.n + k][1] = 1;
		t->bt.m[even.n + k][2 * k + 1] = 1;
	}
}

void toom_make(struct toom *t, int m, int r, int stride)
{
	if (stride == 2 && r == 3) {
		stride_two(t, m);
		return;
	}
	unit_stride(t, m, r);
	t->stride = stride;
}

int toom_has(int64_t m, int64_t r, int64_t stride, int most)
{
	int64_t n = m + r - 1;

	if (stride == 2)
		return r == 3 && (m == 3 || m == 5);
	return stride == 1 && m >= 2 && m <= 8 && r >= 2 && n >= 4 && n % 2 == 0 && n <= most;
}
