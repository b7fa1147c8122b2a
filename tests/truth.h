/* What convolutions and products with post-ops are, by plain loops in double precision: for tests
 * of references. */
#ifndef TL_TESTS_TRUTH_H
#define TL_TESTS_TRUTH_H

#include <math.h>
#include <stdlib.h>

#include "lib/base/rng.h"
#include "lib/baseline/baseline.h"

static inline float *randoms(int64_t n, const char *stream)
{
	float *p = malloc((size_t)n * sizeof *p);
	struct rng rng;

	rng_seed(&rng, 1, stream);
	for (int64_t i = 0; i < n; i++)
		p[i] = (float)(2 * rng_unit(&rng) - 1);
	return p;
}

static inline double with_posts(const struct workload *w, const struct baseline_data *t, double x,
				int64_t at, int64_t channel)
{
	for (int i = 0; i < w->npost; i++)
		switch (w->post[i].kind) {
		case POST_BIAS:
			x += t->bias[channel];
			break;
		case POST_ADD:
			x += t->add[at];
			break;
		case POST_MUL:
			x *= t->mul[at];
			break;
		case POST_SCALE:
			x *= t->scale[channel];
			break;
		case POST_SHIFT:
			x = (dtype_is_int(w->dtype.dst) ? nearbyint(x) : x) + t->shift[channel];
			break;
		case POST_PAD:	  /* conv_at() */
		case POST_GROUPS: /* weight_at() */
		case POST_ZEROS:
			break;
		case POST_RELU:
			x = x > 0 ? x : 0;
			break;
		case POST_RELU6:
			x = x > 0 ? x < 6 ? x : 6 : 0;
			break;
		case POST_CLIP:
			x = fmin(fmax(x, w->post[i].a), w->post[i].b);
			break;
		case POST_LEAKY_RELU:
			x = x > 0 ? x : w->post[i].a * x;
			break;
		case POST_HARDSWISH:
			x *= fmin(fmax(x / 6 + 0.5, 0), 1);
			break;
		case POST_SIGMOID:
			x = 1 / (1 + exp(-x));
			break;
		case POST_TANH:
			x = tanh(x);
			break;
		case POST_SILU:
			x /= 1 + exp(-x);
			break;
		case POST_GELU:
			x *= erfc(-x / sqrt(2)) / 2;
			break;
		case POST_GELU_TANH:
			x *= (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
			break;
		case POSTS:
			break;
		}
	return x;
}

/* Index of an activation. */
static inline int64_t place(const struct workload *w, int64_t n, int64_t c, int64_t y, int64_t x,
			    int64_t cs, int64_t h, int64_t wd)
{
	return w->layout == LAYOUT_NHWC ? ((n * h + y) * wd + x) * cs + c
					: ((n * cs + c) * h + y) * wd + x;
}

static inline double conv_at(const struct workload *w, const struct baseline_data *t, int64_t n,
			     int64_t o, int64_t y, int64_t x)
{
	const int64_t *d = w->dim;
	int64_t ics = d[CONV_IC] / d[CONV_G], g = o / (d[CONV_OC] / d[CONV_G]);
	double sum = 0;

	for (int64_t c = 0; c < ics; c++)
		for (int64_t i = 0; i < d[CONV_KH]; i++)
			for (int64_t j = 0; j < d[CONV_KW]; j++) {
				int64_t iy = y * d[CONV_SH] - d[CONV_PH] + i * (d[CONV_DH] + 1);
				int64_t ix = x * d[CONV_SW] - d[CONV_PW] + j * (d[CONV_DW] + 1);
				int64_t tap = ((o * ics + c) * d[CONV_KH] + i) * d[CONV_KW] + j;

				if (iy < 0 || iy >= d[CONV_IH] || ix < 0 || ix >= d[CONV_IW]) {
					if (t->pad)
						sum += (double)t->weights[tap] *
						       t->pad[g * ics + c];
					continue;
				}
				sum += (double)t->weights[tap] *
				       t->src[place(w, n, g * ics + c, iy, ix, d[CONV_IC],
						    d[CONV_IH], d[CONV_IW])];
			}
	return sum;
}

static inline void conv(const struct workload *w, const struct baseline_data *t, double *dst)
{
	const int64_t *d = w->dim;

	for (int64_t n = 0; n < d[CONV_MB]; n++)
		for (int64_t o = 0; o < d[CONV_OC]; o++)
			for (int64_t y = 0; y < d[CONV_OH]; y++)
				for (int64_t x = 0; x < d[CONV_OW]; x++) {
					int64_t at = place(w, n, o, y, x, d[CONV_OC], d[CONV_OH],
							   d[CONV_OW]);

					dst[at] =
						with_posts(w, t, conv_at(w, t, n, o, y, x), at, o);
				}
}

/* Returns the real that element i of the right side, of n columns, stands for. */
static inline double weight_at(const struct workload *w, const struct baseline_data *t, int64_t i,
			       int64_t n)
{
	const int64_t group = workload_group(w), at = group ? i / n / group * n + i % n : 0;

	if (!group)
		return (double)t->weights[i];
	return (double)(float)(((double)t->weights[i] - (t->zeros ? (double)t->zeros[at] : 8)) *
			       (double)t->scale[at]);
}

static inline void matmul(const struct workload *w, const struct baseline_data *t, double *dst)
{
	int64_t b = w->dim[MATMUL_B], m = w->dim[MATMUL_M], k = w->dim[MATMUL_K];
	int64_t n = w->dim[MATMUL_N];

	for (int64_t row = 0; row < b * m; row++)
		for (int64_t col = 0; col < n; col++) {
			double sum = 0;

			for (int64_t i = 0; i < k; i++)
				sum += (double)t->src[row * k + i] *
				       weight_at(w, t, (row / m * k + i) * n + col, n);
			dst[row * n + col] = with_posts(w, t, sum, row * n + col, col);
		}
}

/* Largest error over largest value. */
static inline double error(const float *got, const double *want, int64_t n)
{
	double worst = 0, most = 0;

	for (int64_t i = 0; i < n; i++) {
		double diff = fabs(got[i] - want[i]);

		if (!(diff <= worst)) /* NaN too */
			worst = diff;
		most = fmax(most, fabs(want[i]));
	}
	return worst / most;
}

#endif
