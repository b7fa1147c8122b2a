#include "lib/run/scalar.h"

#include <math.h>
#include <string.h>

/* ---- functions ---- */

static float where(const float *x, float a)
{
	(void)a;
	return x[0] != 0 ? x[1] : x[2];
}

static float equal(const float *x, float a)
{
	(void)a;
	return x[0] == x[1];
}

static float less(const float *x, float a)
{
	(void)a;
	return x[0] < x[1];
}

static float less_or_equal(const float *x, float a)
{
	(void)a;
	return x[0] <= x[1];
}

static float greater(const float *x, float a)
{
	(void)a;
	return x[0] > x[1];
}

static float greater_or_equal(const float *x, float a)
{
	(void)a;
	return x[0] >= x[1];
}

static float both(const float *x, float a)
{
	(void)a;
	return x[0] != 0 && x[1] != 0;
}

static float either(const float *x, float a)
{
	(void)a;
	return x[0] != 0 || x[1] != 0;
}

static float one_of_two(const float *x, float a)
{
	(void)a;
	return (x[0] != 0) != (x[1] != 0);
}

static float negated(const float *x, float a)
{
	(void)a;
	return x[0] == 0;
}

static float is_nan(const float *x, float a)
{
	(void)a;
	return isnan(x[0]) != 0;
}

static float power(const float *x, float a)
{
	(void)a;
	return powf(x[0], x[1]);
}

/* a: the sign of the result is the dividend's (C), else the divisor's (Python). */
static float modulo(const float *x, float a)
{
	float r = fmodf(x[0], x[1]);

	return a == 0 && r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

static float logarithm(const float *x, float a)
{
	(void)a;
	return logf(x[0]);
}

static float down(const float *x, float a)
{
	(void)a;
	return floorf(x[0]);
}

static float up(const float *x, float a)
{
	(void)a;
	return ceilf(x[0]);
}

/* Halves go to the even neighbour, in the default rounding mode. */
static float nearest(const float *x, float a)
{
	(void)a;
	return rintf(x[0]);
}

static float to_zero(const float *x, float a)
{
	(void)a;
	return truncf(x[0]);
}

static float truth(const float *x, float a)
{
	(void)a;
	return x[0] != 0;
}

static float sign(const float *x, float a)
{
	(void)a;
	return (float)((x[0] > 0) - (x[0] < 0));
}

static float sine(const float *x, float a)
{
	(void)a;
	return sinf(x[0]);
}

static float cosine(const float *x, float a)
{
	(void)a;
	return cosf(x[0]);
}

/* log(1 + exp(x)), without overflow. */
static float softplus(const float *x, float a)
{
	(void)a;
	return fmaxf(x[0], 0) + log1pf(expf(-fabsf(x[0])));
}

static float softsign(const float *x, float a)
{
	(void)a;
	return x[0] / (1 + fabsf(x[0]));
}

static float mish(const float *x, float a)
{
	return x[0] * tanhf(softplus(x, a));
}

static float thresholded_relu(const float *x, float a)
{
	return x[0] > a ? x[0] : 0;
}

static const struct {
	const char *type;
	int operands;
	scalar_fn *fn;
} table[] = {
	{"And", 2, both},
	{"Ceil", 1, up},
	{"Cos", 1, cosine},
	{"Equal", 2, equal},
	{"Floor", 1, down},
	{"Greater", 2, greater},
	{"GreaterOrEqual", 2, greater_or_equal},
	{"IsNaN", 1, is_nan},
	{"Less", 2, less},
	{"LessOrEqual", 2, less_or_equal},
	{"Log", 1, logarithm},
	{"Mish", 1, mish},
	{"Mod", 2, modulo},
	{"Not", 1, negated},
	{"Or", 2, either},
	{"Pow", 2, power},
	{"Round", 1, nearest},
	{"Sign", 1, sign},
	{"Sin", 1, sine},
	{"Softplus", 1, softplus},
	{"Softsign", 1, softsign},
	{"ThresholdedRelu", 1, thresholded_relu},
	{"Where", 3, where},
	{"Xor", 2, one_of_two},
	{"truncate", 1, to_zero},
	{"truth", 1, truth},
};

scalar_fn *scalar_find(const char *type, int *operands)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].type, type)) {
			*operands = table[i].operands;
			return table[i].fn;
		}
	return NULL;
}

/* ---- loops ---- */

/* Where a row along the last dimension begins. */
static int64_t row_at(const struct place *p, int64_t row)
{
	int64_t at = 0;

	for (int i = p->rank - 2; i >= 0; i--) {
		at += row % p->dim[i] * p->stride[i];
		row /= p->dim[i];
	}
	return at;
}

static void run_row(const struct scalar_map *s, const float *const from[SCALAR_INPUTS], float *to,
		    int64_t n)
{
	const int last = s->out.rank - 1;
	float x[SCALAR_INPUTS];

	for (int64_t i = 0; i < n; i++) {
		for (int k = 0; k < s->nin; k++)
			x[k] = from[k][i * (last < 0 ? 0 : s->in[k].stride[last])];
		to[i * (last < 0 ? 0 : s->out.stride[last])] = s->fn(x, s->a);
	}
}

int scalar_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct scalar_map *s = with;
	const int64_t n = s->out.rank ? s->out.dim[s->out.rank - 1] : 1;
	const int64_t rows = n ? place_count(&s->out) / n : 0;

	for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; r++) {
		const float *from[SCALAR_INPUTS];

		for (int k = 0; k < s->nin; k++)
			from[k] = buffers[k] + row_at(&s->in[k], r);
		run_row(s, from, buffers[s->nin] + row_at(&s->out, r), n);
	}
	return 0;
}
