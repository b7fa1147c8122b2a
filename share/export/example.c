/* How to call the library: makes a handle of its first operator, or of the one named on the command
 * line (op problem threads), and times some calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tlx.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Zeros, which are the same in every type and take most room as floats, at a multiple of 64 bytes:
 * kernels are faster there. */
static float *tensor(size_t n)
{
	size_t bytes = (n * sizeof(float) + 64) / 64 * 64;
	float *x = aligned_alloc(64, bytes);

	return x ? memset(x, 0, bytes) : NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median time of a call, in seconds, after a few that are not timed. */
static double median(struct tlx *handle, const struct tlx_data *data)
{
	enum { WARM = 20, CALLS = 201 };
	static double seconds[CALLS];

	for (int i = 0; i < WARM; i++)
		tlx_run_data(handle, data);
	for (int i = 0; i < CALLS; i++) {
		double begin = now();

		tlx_run_data(handle, data);
		seconds[i] = now() - begin;
	}
	qsort(seconds, CALLS, sizeof *seconds, compare);
	return seconds[CALLS / 2];
}

int main(int argc, char **argv)
{
	const struct tlx_op *op = argc > 2 ? tlx_find(argv[1], argv[2], NULL, NULL) : tlx_at(0);
	int threads = argc > 3 ? atoi(argv[3]) : 2;
	struct tlx_data data = {NULL, NULL, NULL, NULL};
	float *weights, *bias, *scale, *shift, *pad, *zeros;
	struct tlx *handle;

	if (!op) {
		fprintf(stderr, "example: the library has no such operator\n");
		return 1;
	}
	weights = tensor(op->weights);
	bias = tensor(op->bias);
	scale = tensor(op->scale);
	shift = tensor(op->shift);
	pad = tensor(op->pad);
	zeros = tensor(op->zeros);
	data.src = tensor(op->src);
	data.mul = tensor(op->mul);
	data.dst = tensor(op->dst);
	data.rhs = weights;

	/* Without scales and zero points, tlx_create(op, weights, bias, threads) does the same. */
	handle = tlx_create_with(
		op, &(struct tlx_constants){weights, bias, scale, shift, pad, zeros}, threads);
	if (!handle || tlx_run_data(handle, &data)) {
		perror("example");
		return 1;
	}
	printf("%s %s %s %s %s: %.1f us a call, %s\n", op->op, op->prob, op->dtype, op->layout,
	       op->post, 1e6 * median(handle, &data), tlx_kernel_name(handle));
	tlx_destroy(handle);
	free(weights);
	free(bias);
	free(scale);
	free(shift);
	free(pad);
	free(zeros);
	free((void *)data.src);
	free((void *)data.mul);
	free(data.dst);
	return 0;
}
