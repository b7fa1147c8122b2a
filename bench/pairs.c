/* How a machine's noise hits pairs of adjacent calls: two equal kernels in a duel.
 *
 *     build/bench/pairs [PAIRS [NAME]] > tests/pairs/NAME
 *
 * Times PAIRS pairs of calls each of about 60 us, 250 us, 1 ms and 4 ms, on all threads, each a
 * warm call and a timed call of one and then of the other kernel, who is first in alternation.
 * Prints a line for each length: its name, and the two times of each pair in tenths of a
 * microsecond. Before the lines it tells on stderr how far the median of so many pairs lies from 1.
 * What tests/duel.c simulates races with.
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/err.h"
#include "lib/io/clock.h"
#include "lib/trial/stat.h"

enum { FLOATS = 48 * 1024, LENGTHS = 4, MAX_THREADS = 256 };

typedef float vec __attribute__((vector_size(32)));
static float *data[MAX_THREADS];
static volatile float sink;

/* Sums of squares over data that fit the second cache, on all threads. */
static double call(int repeats)
{
	double start = clock_now();

#pragma omp parallel
	{
		const vec *p = (const vec *)(void *)data[omp_get_thread_num()];
		vec sum[8] = {{0}};

		for (int r = 0; r < repeats; r++)
			for (int i = 0; i < FLOATS / 8; i += 8)
				for (int k = 0; k < 8; k++)
					sum[k] += p[i + k] * p[i + k];
		for (int k = 1; k < 8; k++)
			sum[0] += sum[k];
		sink = sum[0][0] + sum[0][5];
	}
	return clock_now() - start;
}

/* Of how many repeats a call takes so long, when nothing disturbs it. */
static int find_repeats(double seconds)
{
	double best = INFINITY;

	for (int i = 0; i < 200; i++)
		best = fmin(best, call(8));
	return (int)fmax(1, seconds / best * 8);
}

static void take_pairs(int repeats, int pairs, double (*x)[2])
{
	for (int n = 0; n < pairs; n++)
		for (int i = 0; i < 2; i++) {
			call(repeats);
			x[n][(i + n) & 1] = call(repeats);
		}
}

static void tell_error(const char *name, double (*x)[2], int pairs)
{
	enum { AT_ONCE = 20 };
	double *error = xmalloc((size_t)pairs * sizeof *error);
	int n = 0;

	for (int k = 0; k + AT_ONCE <= pairs; k += AT_ONCE) {
		double ratio[AT_ONCE];

		for (int i = 0; i < AT_ONCE; i++)
			ratio[i] = x[k + i][0] / x[k + i][1];
		error[n++] = fabs(stat_median(ratio, AT_ONCE).median - 1);
	}
	if (n) {
		struct stat_median m = stat_median(error, n); /* which sorts them */

		fprintf(stderr,
			"%s: the median of %d pairs errs by %.2f%%, by %.2f%% one time in ten\n",
			name, AT_ONCE, 100 * m.median, 100 * error[n * 9 / 10]);
	}
	free(error);
}

int main(int argc, char **argv)
{
	static const double length_s[LENGTHS] = {60e-6, 250e-6, 1e-3, 4e-3};
	int pairs = argc > 1 ? atoi(argv[1]) : 500;
	double(*x)[2];

	if (pairs < 1 || omp_get_max_threads() > MAX_THREADS)
		return 2;
	x = xmalloc((size_t)pairs * sizeof *x);
	for (int t = 0; t < omp_get_max_threads(); t++) {
		data[t] = aligned_alloc(64, FLOATS * sizeof(float));
		for (int i = 0; i < FLOATS; i++)
			data[t][i] = 1e-3f;
	}
	for (int k = 0; k < LENGTHS; k++) {
		char name[64];

		snprintf(name, sizeof name, "%s-%.0fus", argc > 2 ? argv[2] : "pairs",
			 length_s[k] * 1e6);
		take_pairs(find_repeats(length_s[k]), pairs, x);
		tell_error(name, x, pairs);
		printf("%s", name);
		for (int n = 0; n < pairs; n++)
			printf(" %.0f %.0f", x[n][0] * 1e7, x[n][1] * 1e7);
		printf("\n");
	}
	free(x);
	return 0;
}
