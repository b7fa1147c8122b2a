/* Compares the loops of steps in plain C, for every instruction set that the CPU has, with loops of
 * one number at a time. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "lib/run/vectors.h"
#include "tests/tap.h"

enum { MOST = 150 };

static float number(int64_t i)
{
	return (float)((i * 7919) % 211 - 105) / 64;
}

/* In units of the last place of the right number. */
static int is_near(float x, double right)
{
	const float f = (float)right;

	if (isnan(right))
		return isnan(x);
	return fabs((double)x - right) <= 4 * (double)(nextafterf(fabsf(f), INFINITY) - fabsf(f));
}

static void try_functions(int lanes)
{
	static const float odd[] = {NAN,    INFINITY, -INFINITY, 0,  -0.0F, 1e-30F,
				    -1e-5F, 0.624F,   0.626F,	 90, -90,   1000,
				    -87.5F, 3e38F,    8,	 -8, 20,    1e-3F};
	int far = 0, changed = 0;

	for (int64_t n = 0; n < 40; n++) {
		float s[40], t[40], at[40];

		for (int64_t i = 0; i < 40; i++)
			s[i] = t[i] = at[i] = n < 20 ? odd[(i + n) % 18] : number(i + 40 * n) * 4;
		vectors_sigmoid(lanes, s, n);
		vectors_tanh(lanes, t, n);
		for (int64_t i = 0; i < 40; i++) {
			const double x = (double)at[i];

			changed += i >= n && memcmp(&s[i], &at[i], sizeof s[i]) != 0;
			changed += i >= n && memcmp(&t[i], &at[i], sizeof t[i]) != 0;
			/* Below 1e-37 numbers have fewer digits. */
			far += i < n && !is_near(s[i], 1 / (1 + exp(-x))) && fabsf(s[i]) > 1e-37F;
			far += i < n && !is_near(t[i], tanh(x));
		}
	}
	ok(!far, "%d lanes: sigmoid and tanh (%d are far off)", lanes, far);
	ok(!changed, "%d lanes: what follows stays", lanes);
}

/* Numbers that are below the most; the sum is that of what they become. */
static void try_exps(int lanes)
{
	static const float odd[] = {0, -0.0F, -1e-30F, -1, -20, -86.5F, -87.5F, -1000, -INFINITY};
	int far = 0, changed = 0;

	for (int64_t n = 0; n < 40; n++) {
		double right = 0;
		float x[40], at[40], sum;

		for (int64_t i = 0; i < 40; i++)
			x[i] = at[i] =
				3 + (n < 20 ? odd[(i + n) % 9] : -fabsf(number(i + 40 * n)) * 9);
		sum = vectors_exps(lanes, x, 3, n);
		for (int64_t i = 0; i < 40; i++) {
			const float by = at[i] - 3;

			changed += i >= n && x[i] != at[i];
			far += i < n && by < -87 && x[i] != 0;
			far += i < n && by >= -87 && !is_near(x[i], exp((double)by));
			right += i < n ? exp((double)by) : 0;
		}
		far += fabs((double)sum - right) > 1e-6 * right;
	}
	ok(!far, "%d lanes: powers of e (%d are far off)", lanes, far);
	ok(!changed, "%d lanes: what follows them stays", lanes);
}

static void try_rows(int lanes)
{
	int wrong = 0;

	for (int64_t n = 0; n <= MOST; n += n < 40 ? 1 : 37) {
		float x[MOST], y[3 * MOST], weight[3] = {0.5F, 0, -2}, to[3], sum[MOST];

		for (int64_t i = 0; i < MOST; i++)
			x[i] = sum[i] = number(i);
		for (int64_t i = 0; i < 3 * MOST; i++)
			y[i] = i / (n + !n) == 1 ? INFINITY : number(i + 5);
		vectors_weigh(lanes, weight, y, 3, n, sum);
		for (int64_t i = 0; i < MOST; i++)
			wrong += fabsf(sum[i] -
				       (i < n ? x[i] + y[i] / 2 - 2 * y[2 * n + i] : x[i])) > 1e-5F;
		vectors_dots(lanes, x, y, 3, n, to);
		for (int64_t j = 0; j < 3; j += 2) {
			double right = 0;

			for (int64_t i = 0; i < n; i++)
				right += (double)x[i] * (double)y[j * n + i];
			wrong += fabs((double)to[j] - right) > 1e-4;
		}
	}
	ok(!wrong, "%d lanes: products of rows, and sums without those that weigh 0", lanes);
}

static void try_product(int lanes, int64_t panels, int64_t n, int64_t rows)
{
	const int64_t wide = panels * VECTORS_PANEL, apart = wide + 3;
	float *panel = calloc((size_t)(wide * rows), sizeof *panel);
	float *x = calloc((size_t)(n * (rows + 2)), sizeof *x);
	float *sum = calloc((size_t)(n * apart), sizeof *sum);
	int wrong = 0;

	for (int64_t i = 0; i < wide * rows; i++)
		panel[i] = number(i);
	for (int64_t i = 0; i < n * (rows + 2); i++)
		x[i] = number(i + 3);
	for (int64_t i = 0; i < n * apart; i++)
		sum[i] = number(i + 1);
	vectors_product(lanes, &(struct vectors_product){.panels = panels,
							 .rows = rows,
							 .panel = panel,
							 .n = n,
							 .row = x,
							 .x = rows + 2,
							 .sum = sum,
							 .to = apart});
	for (int64_t i = 0; i < n * apart; i++) {
		const int64_t column = i % apart, p = column / VECTORS_PANEL;
		double right = (double)number(i + 1);

		for (int64_t j = 0; column < wide && j < rows; j++)
			right += (double)x[i / apart * (rows + 2) + j] *
				 (double)panel[(p * rows + j) * VECTORS_PANEL +
					       column % VECTORS_PANEL];
		wrong += fabs((double)sum[i] - right) > 1e-4;
	}
	ok(!wrong, "%d lanes: %d rows by %d panels of %d (%d are wrong)", lanes, (int)n,
	   (int)panels, (int)rows, wrong);
	free(panel);
	free(x);
	free(sum);
}

static void try_set(int lanes)
{
	try_functions(lanes);
	try_exps(lanes);
	try_rows(lanes);
	for (int64_t n = 1; n <= 8; n++)
		try_product(lanes, n % 3 * 3 + 1, n, 5 + n);
	try_product(lanes, 5, 7, 0);
}

int main(void)
{
	__builtin_cpu_init();
	try_set(4);
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		try_set(8);
	else
		skip("this CPU has no AVX2");
	if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512dq"))
		try_set(16);
	else
		skip("this CPU has no AVX-512");
	return done_testing();
}
