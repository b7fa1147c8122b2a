/* How to call the library: makes a handle of its first operator, or of the one named on the command
 * line (op problem), and times some calls. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tlx.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct tlx_op *op = argc > 2 ? tlx_find(argv[1], argv[2], NULL, NULL) : tlx_at(0);
	int threads = argc > 3 ? atoi(argv[3]) : 2, calls = 100;
	struct tlx_data data = {NULL, NULL, NULL, NULL};
	float *weights, *bias;
	struct tlx *handle;
	double begin;

	if (!op) {
		fprintf(stderr, "example: the library has no such operator\n");
		return 1;
	}
	weights = calloc(op->weights + 1, sizeof *weights);
	bias = calloc(op->bias + 1, sizeof *bias);
	data.src = calloc(op->src + 1, sizeof(float));
	data.mul = calloc(op->mul + 1, sizeof(float));
	data.dst = calloc(op->dst + 1, sizeof(float));
	data.rhs = weights;

	handle = tlx_create(op, weights, bias, threads);
	if (!handle || tlx_run_data(handle, &data)) {
		perror("example");
		return 1;
	}
	begin = now();
	for (int i = 0; i < calls; i++)
		tlx_run_data(handle, &data);
	printf("%s %s %s %s: %.1f us a call, %s\n", op->op, op->prob, op->layout, op->post,
	       1e6 * (now() - begin) / calls, tlx_kernel_name(handle));
	tlx_destroy(handle);
	free(weights);
	free(bias);
	free((float *)data.src);
	free((float *)data.mul);
	free(data.dst);
	return 0;
}
