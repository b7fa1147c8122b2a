/* Each operator's kernel for this CPU against its definition in plain C, on seeded random data, in
 * one thread and in two. Prints a line an operator, and the sum. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlx_kernels.h"

/* The difference that results may have, over the largest value. Whole numbers are equal: a few may
 * be a step apart, as what lies halfway between two of them may go to either. */
static const double most[] = {
	[TLX_F32] = 1e-4, [TLX_BF16] = 0x1p-7, [TLX_S32] = 0, [TLX_S8] = 0, [TLX_U8] = 0};
enum { FEW = 500 };

static int ends; /* numbers of 8 bits are the least or the largest */

static int is_whole(enum tlx_type type)
{
	return type != TLX_F32 && type != TLX_BF16;
}

/* Numbers from `from` to `to`. */
static float *between(size_t n, double from, double to, uint32_t seed)
{
	float *x = malloc((n ? n : 1) * sizeof *x);

	for (size_t i = 0; x && i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)(from + (to - from) * (seed * 0x1p-32));
	}
	return x;
}

static float *rounded(float *x, size_t n, float least, float largest)
{
	for (size_t i = 0; x && i < n; i++)
		x[i] = !ends ? nearbyintf(x[i]) : x[i] < (least + largest) / 2 ? least : largest;
	return x;
}

/* Values of a type, as floats: of reals those up to `scale`, else all that 8 or 4 bits have. */
static float *filled(size_t n, enum tlx_type type, double scale, uint32_t seed)
{
	const float least = type == TLX_U8 || type == TLX_U4 ? 0 : -128;
	const float largest = type == TLX_U8 ? 255 : type == TLX_U4 ? 15 : 127;

	if (!is_whole(type))
		return between(n, -scale, scale, seed);
	return rounded(between(n, least, largest, seed), n, least, largest);
}

/* The same in the type, in the place of floats. */
static void *typed(size_t n, enum tlx_type type, double scale, uint32_t seed)
{
	float *x = filled(n, type, scale, seed);
	void *y = malloc((n ? n : 1) * sizeof *x);

	if (x && y)
		tlx_from_floats(type, x, y, n);
	free(x);
	return y;
}

/* rhs: the weights in their type, where they are computed. */
struct data {
	float *weights, *bias, *scale, *shift, *pad, *zeros;
	void *src, *rhs, *add, *mul, *dst;
};

/* Factors that make of sums of whole numbers results which fit 8 bits, mostly. */
static double factor(const struct tlx_op *op)
{
	const double values = (double)op->weights / (double)(op->scale ? op->scale : 1);

	return is_whole(op->src_type) ? 0.02 / sqrt(values) : 0.1;
}

static int make(const struct tlx_op *op, struct data *d)
{
	double scale = op->weights ? fmin(sqrt((double)op->dst / (double)op->weights), 1) : 1;
	const enum tlx_type bias = is_whole(op->src_type) ? TLX_S32 : TLX_F32;

	d->src = typed(op->src, op->src_type, 1, 1);
	d->weights = filled(op->weights, op->weights_type, scale, 2);
	d->rhs = typed(op->weights, op->weights_type, scale, 2);
	d->bias = filled(op->bias, bias, 1, 3);
	d->add = typed(op->add, op->dst_type, 1, 4);
	d->mul = typed(op->mul, op->dst_type, 1, 5);
	d->scale = between(op->scale, 0.5 * factor(op), factor(op), 6);
	d->shift = filled(op->shift, op->dst_type, 1, 7);
	d->pad = filled(op->pad, op->src_type, 1, 8);
	d->zeros = filled(op->zeros, op->weights_type, 1, 9);
	d->dst = filled(op->dst, TLX_F32, 0, 10);
	return d->src && d->weights && d->rhs && d->bias && d->add && d->mul && d->scale &&
	       d->shift && d->pad && d->zeros && d->dst;
}

static void drop(struct data *d)
{
	free(d->src);
	free(d->weights);
	free(d->rhs);
	free(d->bias);
	free(d->scale);
	free(d->shift);
	free(d->pad);
	free(d->zeros);
	free(d->add);
	free(d->mul);
	free(d->dst);
}

/* dst by a kernel of at most this instruction set; its name, or NULL. */
static const char *compute(const struct tlx_op *op, struct data *d, int threads, enum tlx_isa isa)
{
	const struct tlx_data operands = {d->src, d->dst, d->mul, d->rhs};
	const struct tlx_constants constants = {d->weights, d->bias, d->scale,
						d->shift,   d->pad,  d->zeros};
	struct tlx *h = tlx_create_for(op, &constants, threads, isa);
	const char *name = h ? tlx_kernel_name(h) : NULL;

	if (op->add)
		memcpy(d->dst, d->add, op->dst * tlx_type_bytes(op->dst_type));
	if (h && tlx_run_data(h, &operands))
		name = NULL;
	tlx_destroy(h);
	return name;
}

/* NaN if one is. */
static double larger(double x, double y)
{
	return x > y || isnan(x) ? x : y;
}

static double difference(const struct tlx_op *op, const float *x, const float *y)
{
	double largest = 1e-30, apart = 0;
	size_t steps = 0;

	for (size_t i = 0; i < op->dst; i++) {
		const double d = fabs((double)x[i] - y[i]);

		largest = fmax(largest, fabs(y[i]));
		if (is_whole(op->dst_type) && d == 1 && ++steps <= 1 + op->dst / FEW)
			continue;
		apart = larger(apart, d);
	}
	return apart / largest;
}

static int has_kernel(const struct tlx_op *op, int isa)
{
	const struct tlx_kernel *const *k = ((const struct tlx_entry *)op)->kernel;

	while (*k && (int)(*k)->isa != isa)
		k++;
	return *k != NULL;
}

/* Is this operator right on the data at hand? Tells of the last kernel, and the largest error. */
static int check_data(const struct tlx_op *op, const char **name, double *worst)
{
	struct data d;
	float *expected = between(op->dst, 0, 0, 0), *got = between(op->dst, 0, 0, 0);
	int fine = make(op, &d) && expected && got;

	for (int isa = TLX_DEFINITION; fine && isa <= TLX_AVX512_AMX; isa++)
		for (int threads = 1; fine && has_kernel(op, isa) && threads <= 2; threads++) {
			*name = compute(op, &d, threads, isa);
			fine = *name != NULL;
			if (fine)
				tlx_to_floats(op->dst_type, d.dst, got, op->dst);
			if (fine && isa == TLX_DEFINITION && threads == 1)
				memcpy(expected, got, op->dst * sizeof(float));
			else if (fine)
				*worst = larger(*worst, difference(op, got, expected));
		}
	drop(&d);
	free(expected);
	free(got);
	return fine && *worst <= most[op->dst_type];
}

/* Whole numbers are tried twice: all that there are, and the ends of their range. */
static int check(const struct tlx_op *op)
{
	const char *name = NULL;
	double worst = 0;
	int fine = 1;

	for (ends = 0; fine && ends <= is_whole(op->src_type); ends++)
		fine = check_data(op, &name, &worst);
	printf("%s: %s %s %s %s %s: %s, error %.2g\n", fine ? "ok" : "not ok", op->op, op->prob,
	       op->dtype, op->layout, op->post, name ? name : "it does not run", worst);
	return fine;
}

int main(void)
{
	int passed = 0, failed = 0;

	for (size_t i = 0; i < tlx_count(); i++)
		if (check(tlx_at(i)))
			passed++;
		else
			failed++;
	printf("%d passed, %d failed\n", passed, failed);
	return failed ? 1 : 0;
}
