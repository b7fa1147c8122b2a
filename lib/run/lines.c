#include "lib/run/lines.h"

#include <math.h>
#include <string.h>

/* ---- rows of rows ---- */

static float largest(const float *x, int64_t n)
{
	float most = -INFINITY;

	for (int64_t i = 0; i < n; i++)
		most = x[i] > most || isnan(x[i]) ? x[i] : most;
	return most;
}

/* The logarithm of a sum of exponentials, in two parts: together they would lose the second one
 * where the first is large. */
struct log_sum {
	double most, rest;
};

static struct log_sum log_sum_exp(const float *x, int64_t n)
{
	const float most = largest(x, n), base = isinf(most) ? 0 : most;
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += exp((double)(x[i] - base));
	return (struct log_sum){(double)base, sum == 0 ? (double)-INFINITY : log(sum)};
}

/* A row with infinity has no softmax. */
static void log_softmax(const struct lines *s, const float *from, float *to)
{
	const struct log_sum sum = log_sum_exp(from, s->size);
	const double rest = isinf(sum.rest) ? (double)NAN : sum.rest;

	for (int64_t i = 0; i < s->size; i++)
		to[i] = (float)((double)from[i] - sum.most - rest);
}

/* 1 at the first largest element, 0 elsewhere. */
static void hardmax(const struct lines *s, const float *from, float *to)
{
	int64_t best = 0;

	for (int64_t i = 1; i < s->size; i++)
		best = from[i] > from[best] ? i : best;
	for (int64_t i = 0; i < s->size; i++)
		to[i] = i == best;
}

/* param: is the element itself left out? Does it go from the end? */
static void accumulate(const struct lines *s, const float *from, float *to, int is_product)
{
	const int is_exclusive = s->param[0] != 0, is_reverse = s->param[1] != 0;
	double all = is_product;

	for (int64_t i = 0; i < s->size; i++) {
		const int64_t at = is_reverse ? s->size - 1 - i : i;
		const double x = (double)from[at], before = all;

		all = is_product ? all * x : all + x;
		to[at] = (float)(is_exclusive ? before : all);
	}
}

static void cumulated_sum(const struct lines *s, const float *from, float *to)
{
	accumulate(s, from, to, 0);
}

static void cumulated_product(const struct lines *s, const float *from, float *to)
{
	accumulate(s, from, to, 1);
}

/* (sum of |x|^p)^(1/p); param: p. */
static double lp_norm(const float *x, int64_t n, double p)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += p == 1	? fabs((double)x[i])
		       : p == 2 ? (double)x[i] * (double)x[i]
				: pow(fabs((double)x[i]), p);
	return p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

/* A row of zeros stays one. */
static void normalize(const struct lines *s, const float *from, float *to)
{
	const double norm = lp_norm(from, s->size, s->param[0]);

	for (int64_t i = 0; i < s->size; i++)
		to[i] = norm == 0 ? 0 : (float)((double)from[i] / norm);
}

static double mean_of(const float *x, int64_t n)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += (double)x[i];
	return sum / (double)n;
}

static double variance_of(const float *x, int64_t n, double mean)
{
	double sum = 0;

	for (int64_t i = 0; i < n; i++)
		sum += ((double)x[i] - mean) * ((double)x[i] - mean);
	return sum / (double)n;
}

/* The standard deviation has a small number added, as ONNX's definition says. */
static void mean_variance(const struct lines *s, const float *from, float *to)
{
	const double mean = mean_of(from, s->size);
	const double deviation = sqrt(variance_of(from, s->size, mean)) + 1e-9;

	for (int64_t i = 0; i < s->size; i++)
		to[i] = (float)(((double)from[i] - mean) / deviation);
}

/* Local response normalization (Krizhevsky et al., 2012, section 3.3) over rows of channels. param:
 * the size of the window, alpha, beta, bias. */
static void local_response(const struct lines *s, const float *from, float *to)
{
	const int64_t window = (int64_t)s->param[0], before = (window - 1) / 2;

	for (int64_t i = 0; i < s->size; i++) {
		double sum = 0;

		for (int64_t k = i - before; k < i - before + window; k++)
			sum += k < 0 || k >= s->size ? 0 : (double)from[k] * (double)from[k];
		to[i] = (float)((double)from[i] /
				pow(s->param[3] + s->param[1] / (double)window * sum, s->param[2]));
	}
}

/* ---- rows of one element ---- */

static void product(const struct lines *s, const float *from, float *to)
{
	double all = 1;

	for (int64_t i = 0; i < s->size; i++)
		all *= (double)from[i];
	*to = (float)all;
}

static void log_sum(const struct lines *s, const float *from, float *to)
{
	*to = (float)log(mean_of(from, s->size) * (double)s->size);
}

static void log_sum_exponents(const struct lines *s, const float *from, float *to)
{
	const struct log_sum sum = log_sum_exp(from, s->size);

	*to = (float)(sum.most + sum.rest);
}

static void norm(const struct lines *s, const float *from, float *to)
{
	*to = (float)lp_norm(from, s->size, s->param[0]);
}

static void mean(const struct lines *s, const float *from, float *to)
{
	*to = (float)mean_of(from, s->size);
}

/* param: epsilon. */
static void inverse_deviation(const struct lines *s, const float *from, float *to)
{
	const double variance = variance_of(from, s->size, mean_of(from, s->size));

	*to = (float)(1 / sqrt(variance + s->param[0]));
}

static const struct {
	const char *type;
	line_fn *fn;
	int whole;
} table[] = {
	{"CumProd", cumulated_product, 1},
	{"CumSum", cumulated_sum, 1},
	{"GlobalLpPool", norm, 0},
	{"Hardmax", hardmax, 1},
	{"LRN", local_response, 1},
	{"LogSoftmax", log_softmax, 1},
	{"LpNormalization", normalize, 1},
	{"MeanVarianceNormalization", mean_variance, 1},
	{"ReduceLogSum", log_sum, 0},
	{"ReduceLogSumExp", log_sum_exponents, 0},
	{"ReduceProd", product, 0},
	{"inverse deviation", inverse_deviation, 0},
	{"mean", mean, 0},
};

line_fn *lines_find(const char *type, int *whole)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].type, type)) {
			*whole = table[i].whole;
			return table[i].fn;
		}
	return NULL;
}

int lines_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct lines *s = with;

	for (int64_t r = s->rows * thread / threads; r < s->rows * (thread + 1) / threads; r++)
		s->fn(s, buffers[0] + r * s->size, buffers[1] + r * s->made);
	return 0;
}
