/* Each operator's kernel for this CPU against its definition in plain C, on seeded random data, in
 * one thread and in two. Prints a line an operator, and the sum. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlx_kernels.h"

/* Difference over the largest value, of results in single precision and in bf16. */
static const double most[] = {[TLX_F32] = 1e-4, [TLX_BF16] = 0x1p-7};

static float *filled(size_t n, double scale, uint32_t seed)
{
	float *x = malloc((n ? n : 1) * sizeof *x);

	for (size_t i = 0; x && i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)(scale * ((int32_t)seed * 0x1p-31));
	}
	return x;
}

/* The same in a type, in the place of floats. */
static void *typed(float *x, size_t n, enum tlx_type type)
{
	if (x && type == TLX_BF16)
		tlx_to_bf16(x, (uint16_t *)x, n);
	return x;
}

/* rhs: the weights in the source's type, where they are computed. */
struct data {
	float *weights, *bias;
	void *src, *rhs, *add, *mul, *dst;
};

static int make(const struct tlx_op *op, struct data *d)
{
	double scale = op->weights ? sqrt((double)op->dst / (double)op->weights) : 1;

	d->src = typed(filled(op->src, 1, 1), op->src, op->src_type);
	d->weights = filled(op->weights, scale < 1 ? scale : 1, 2);
	d->rhs = typed(filled(op->weights, scale < 1 ? scale : 1, 2), op->weights, op->src_type);
	d->bias = filled(op->bias, 1, 3);
	d->add = typed(filled(op->add, 1, 4), op->add, op->dst_type);
	d->mul = typed(filled(op->mul, 1, 5), op->mul, op->dst_type);
	d->dst = filled(op->dst, 0, 6);
	return d->src && d->weights && d->rhs && d->bias && d->add && d->mul && d->dst;
}

static void drop(struct data *d)
{
	free(d->src);
	free(d->weights);
	free(d->rhs);
	free(d->bias);
	free(d->add);
	free(d->mul);
	free(d->dst);
}

/* dst by a kernel of at most this instruction set; its name, or NULL. */
static const char *compute(const struct tlx_op *op, struct data *d, int threads, enum tlx_isa isa)
{
	const struct tlx_data operands = {d->src, d->dst, d->mul, d->rhs};
	struct tlx *h = tlx_create_for(op, d->weights, d->bias, threads, isa);
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

static double difference(const float *x, const float *y, size_t n)
{
	double largest = 1e-30, apart = 0;

	for (size_t i = 0; i < n; i++) {
		largest = fmax(largest, fabs(y[i]));
		apart = larger(apart, fabs((double)x[i] - y[i]));
	}
	return apart / largest;
}

static void result(const struct tlx_op *op, const struct data *d, float *to)
{
	if (op->dst_type == TLX_BF16)
		tlx_from_bf16(d->dst, to, op->dst);
	else
		memcpy(to, d->dst, op->dst * sizeof(float));
}

static int has_kernel(const struct tlx_op *op, int isa)
{
	const struct tlx_kernel *const *k = ((const struct tlx_entry *)op)->kernel;

	while (*k && (int)(*k)->isa != isa)
		k++;
	return *k != NULL;
}

/* Is this operator right? */
static int check(const struct tlx_op *op)
{
	const char *name = NULL;
	double worst = 0;
	struct data d;
	float *expected = filled(op->dst, 0, 0), *got = filled(op->dst, 0, 0);
	int fine = make(op, &d) && expected && got;

	for (int isa = TLX_DEFINITION; fine && isa <= TLX_AVX512_AMX; isa++)
		for (int threads = 1; fine && has_kernel(op, isa) && threads <= 2; threads++) {
			name = compute(op, &d, threads, isa);
			fine = name != NULL;
			if (fine)
				result(op, &d, got);
			if (fine && isa == TLX_DEFINITION && threads == 1)
				memcpy(expected, got, op->dst * sizeof(float));
			else if (fine)
				worst = larger(worst, difference(got, expected, op->dst));
		}
	fine = fine && worst <= most[op->dst_type];
	printf("%s: %s %s %s %s %s: %s, error %.2g\n", fine ? "ok" : "not ok", op->op, op->prob,
	       op->dtype, op->layout, op->post, name ? name : "it does not run", worst);
	drop(&d);
	free(expected);
	free(got);
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
