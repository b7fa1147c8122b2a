#include "lib/trial/stat.h"

#include <math.h>
#include <stdlib.h>

/* Around 1: less is no difference; and all of it within this is the same. */
static const double LEAST = 0.01, SAME = 0.02;

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct stat_median stat_median(double *x, int n)
{
	struct stat_median m = {.n = n};
	int lo, hi;

	qsort(x, (size_t)n, sizeof *x, compare);
	m.median = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
	lo = (int)floor(n / 2.0 - 0.98 * sqrt(n));
	hi = (int)ceil(n / 2.0 + 0.98 * sqrt(n));
	m.lo = x[n < 6 || lo < 0 ? 0 : lo];
	m.hi = x[n < 6 || hi > n - 1 ? n - 1 : hi];
	return m;
}

/* Between the two nearest of the sorted values. */
static double quantile(const double *x, int n, double q)
{
	double at = q * (n - 1);
	int i = (int)at;

	return i + 1 < n ? x[i] + (at - i) * (x[i + 1] - x[i]) : x[n - 1];
}

struct stat_fences stat_fences(double *x, int n)
{
	double q1, q3;

	qsort(x, (size_t)n, sizeof *x, compare);
	q1 = quantile(x, n, 0.25);
	q3 = quantile(x, n, 0.75);
	return (struct stat_fences){q1 - 3 * (q3 - q1), q3 + 3 * (q3 - q1)};
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
