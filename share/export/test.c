/* Each operator's kernel for this CPU against its definition in plain C, on seeded random data, in
 * one thread and in two. Prints a line an operator, and the sum. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlx_kernels.h"

static const double most = 1e-4; /* difference over the largest value */

static float *filled(size_t n, double scale, uint32_t seed)
{
	float *x = malloc((n ? n : 1) * sizeof *x);

	for (size_t i = 0; x && i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)(scale * ((int32_t)seed * 0x1p-31));
	}
	return x;
}

struct data {
	float *src, *weights, *bias, *add, *mul, *dst;
};

static int make(const struct tlx_op *op, struct data *d)
{
	double scale = op->weights ? sqrt((double)op->dst / (double)op->weights) : 1;

	d->src = filled(op->src, 1, 1);
	d->weights = filled(op->weights, scale < 1 ? scale : 1, 2);
	d->bias = filled(op->bias, 1, 3);
	d->add = filled(op->add, 1, 4);
	d->mul = filled(op->mul, 1, 5);
	d->dst = filled(op->dst, 0, 6);
	return d->src && d->weights && d->bias && d->add && d->mul && d->dst;
}

static void drop(struct data *d)
{
	free(d->src);
	free(d->weights);
	free(d->bias);
	free(d->add);
	free(d->mul);
	free(d->dst);
}

/* dst by a kernel of at most this instruction set; its name, or NULL. */
static const char *compute(const struct tlx_op *op, struct data *d, int threads, enum tlx_isa isa)
{
	const struct tlx_data operands = {d->src, d->dst, d->mul, d->weights};
	struct tlx *h = tlx_create_for(op, d->weights, d->bias, threads, isa);
	const char *name = h ? tlx_kernel_name(h) : NULL;

	if (op->add)
		memcpy(d->dst, d->add, op->dst * sizeof(float));
	if (h && tlx_run_data(h, &operands))
		name = NULL;
	tlx_destroy(h);
	return name;
}

static double difference(const float *x, const float *y, size_t n)
{
	double largest = 1e-30, apart = 0;

	for (size_t i = 0; i < n; i++) {
		double a = fabs((double)x[i] - y[i]);

		largest = fmax(largest, fabs(y[i]));
		apart = a > apart || isnan(a) ? a : apart;
	}
	return apart / largest;
}

/* Is this operator right? */
static int check(const struct tlx_op *op)
{
	const char *name = NULL;
	double worst = 0;
	struct data d;
	float *expected = filled(op->dst, 0, 0);
	int fine = make(op, &d) && expected;

	for (int isa = TLX_DEFINITION; fine && isa <= TLX_AVX512; isa++)
		for (int threads = 1; fine && threads <= 2; threads++) {
			name = compute(op, &d, threads, isa);
			fine = name != NULL;
			if (fine && isa == TLX_DEFINITION && threads == 1)
				memcpy(expected, d.dst, op->dst * sizeof(float));
			else if (fine)
				worst = fmax(worst, difference(d.dst, expected, op->dst));
		}
	fine = fine && worst <= most;
	printf("%s: %s %s %s %s: %s, error %.2g\n", fine ? "ok" : "not ok", op->op, op->prob,
	       op->layout, op->post, name ? name : "it does not run", worst);
	drop(&d);
	free(expected);
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
