#include "lib/trial/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/base/sort.h"

enum { MIN_SERIES = 16 /* values, to see whether they depend on each other */ };

/* Around 1: less is no difference; and all of it within this is the same. */
static const double LEAST = 0.01, SAME = 0.02;

/* Of sorted values; spread: by how much the ranks of the interval move out. */
static struct stat_median interval(const double *x, int n, double spread)
{
	struct stat_median m = {.n = n};
	int lo = (int)floor(n / 2.0 - spread), hi = (int)ceil(n / 2.0 + spread);

	m.median = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
	m.lo = x[n < 6 || lo < 0 ? 0 : lo];
	m.hi = x[n < 6 || hi > n - 1 ? n - 1 : hi];
	return m;
}

struct stat_median stat_median(double *x, int n)
{
	sort_numbers(x, (size_t)n);
	return interval(x, n, 0.98 * sqrt(n));
}

/* The 97.5% quantile of Student's t: from a table, or where there are many degrees of freedom by an
 * expansion about the normal quantile (Abramowitz and Stegun, "Handbook of Mathematical
 * Functions", 26.7.5). */
static double student(int freedom)
{
	static const double few[] = {12.706, 4.3027, 3.1824, 2.7764, 2.5706};
	const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z;

	if (freedom <= (int)(sizeof few / sizeof *few))
		return few[freedom - 1];
	return z + (z3 + z) / (4.0 * freedom) +
	       (5 * z5 + 16 * z3 + 3 * z) / (96.0 * freedom * freedom);
}

struct stat_median stat_mean(const double *x, int n)
{
	double sum = 0, squares = 0, mean, half;

	for (int i = 0; i < n; i++)
		sum += log(x[i]);
	mean = sum / n;
	for (int i = 0; i < n; i++)
		squares += (log(x[i]) - mean) * (log(x[i]) - mean);
	half = student(n - 1) * sqrt(squares / (n - 1) / n);
	return (struct stat_median){exp(mean), exp(mean - half), exp(mean + half), n};
}

/* How much more the counts of values above the median vary from block to block than they would
 * if each value were by itself; at least 1. */
static double dependence(const double *x, int n, double median)
{
	int length = (int)sqrt(n), blocks = n / length;
	double sum = 0;

	if (n < MIN_SERIES)
		return 1;
	for (int b = 0; b < blocks; b++) {
		double above = 0;

		for (int i = 0; i < length; i++)
			above += x[b * length + i] > median   ? 1
				 : x[b * length + i] < median ? 0
							      : 0.5;
		sum += (above - length / 2.0) * (above - length / 2.0);
	}
	return fmax(1, sum / blocks / (length / 4.0));
}

struct stat_median stat_series(double *x, int n, double z)
{
	double *series = xmalloc((size_t)n * sizeof *series), more;

	memcpy(series, x, (size_t)n * sizeof *x);
	sort_numbers(x, (size_t)n);
	more = dependence(series, n, interval(x, n, 0).median);
	free(series);
	return interval(x, n, z / 2 * sqrt(n * more));
}

/* Between the two nearest of the sorted values. */
static double quantile(const double *x, int n, double q)
{
	double at = q * (n - 1);
	int i = (int)at;

	return i + 1 < n ? x[i] + (at - i) * (x[i + 1] - x[i]) : x[n - 1];
}

double stat_quantile(double *x, int n, double q)
{
	sort_numbers(x, (size_t)n);
	return quantile(x, n, q);
}

enum stat_verdict stat_verdict(struct stat_median r)
{
	if (r.lo > 1 + LEAST)
		return STAT_FASTER;
	if (r.hi < 1 - LEAST)
		return STAT_SLOWER;
	return r.lo >= 1 - SAME && r.hi <= 1 + SAME ? STAT_SAME : STAT_UNDECIDED;
}

const char *stat_verdict_name(enum stat_verdict v)
{
	static const char *const name[] = {"faster", "same", "slower", "undecided"};

	return name[v];
}
