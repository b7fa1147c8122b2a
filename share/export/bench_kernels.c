/* Times each operator's kernel for this CPU: `./bench_kernels [THREADS]`, by default 2 threads.
 * Prints a line an operator: the median time of a call, what it took where it was tuned, and the
 * kernel's name; then the sums over the kernels that were measured there with as many threads.
 *
 * A call finds its operands in the caches, as far as they fit, as when the kernel was tuned. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tlx_kernels.h"

enum { CALLS = 4001, FEWEST = 5 };
static const double warm_s = 10e-3, time_s = 60e-3;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* At a multiple of 64 bytes: kernels are faster there. */
static void *tensor(size_t n, enum tlx_type type)
{
	const size_t bytes = (n * sizeof(float) + 64) / 64 * 64;
	float *x = aligned_alloc(64, bytes), *y = aligned_alloc(64, bytes);
	const float step = type == TLX_F32 || type == TLX_BF16 ? 0x1p-4F : 1;

	for (size_t i = 0; x && i < n; i++)
		x[i] = (float)(i % 17) * step - 0.5F;
	if (x && y)
		tlx_from_floats(type, x, y, n);
	free(x);
	return y;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median time of a call, in seconds, of those in 60 ms behind the first 10 ms. */
static double median(struct tlx *handle, const struct tlx_data *data)
{
	static double seconds[CALLS];
	double first = now(), begin;
	int n = 0;

	while (now() - first < warm_s)
		tlx_run_data(handle, data);
	for (first = now(); n < CALLS && (n < FEWEST || now() - first < time_s); n++) {
		begin = now();
		tlx_run_data(handle, data);
		seconds[n] = now() - begin;
	}
	qsort(seconds, (size_t)n, sizeof *seconds, compare);
	return seconds[n / 2];
}

/* The time of a call, and the kernel that runs; negative: it does not run. */
static double measure(const struct tlx_op *op, int threads, const struct tlx_kernel **kernel)
{
	float *weights = tensor(op->weights, TLX_F32), *bias = tensor(op->bias, TLX_F32);
	float *scale = tensor(op->scale, TLX_F32), *shift = tensor(op->shift, TLX_F32);
	float *pad = tensor(op->pad, TLX_F32), *zeros = tensor(op->zeros, TLX_F32);
	void *src = tensor(op->src, op->src_type), *rhs = tensor(op->weights, op->weights_type);
	void *mul = tensor(op->mul, op->dst_type), *dst = tensor(op->dst, op->dst_type);
	const struct tlx_constants constants = {weights, bias, scale, shift, pad, zeros};
	const struct tlx_data data = {src, dst, mul, rhs};
	struct tlx *handle = tlx_create_with(op, &constants, threads);
	double seconds = -1;

	if (handle && src && rhs && mul && dst) {
		*kernel = tlx_kernel_of(handle);
		seconds = median(handle, &data);
	}
	tlx_destroy(handle);
	free(src);
	free(weights);
	free(rhs);
	free(bias);
	free(scale);
	free(shift);
	free(pad);
	free(zeros);
	free(mul);
	free(dst);
	return seconds;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 2;
	double here = 0, there = 0;

	if (threads < 1)
		return fprintf(stderr, "usage: bench_kernels [THREADS]\n"), 2;
	printf("%10s %10s %6s\n", "us", "tuned us", "ratio");
	for (size_t i = 0; i < tlx_count(); i++) {
		const struct tlx_op *op = tlx_at(i);
		const struct tlx_kernel *k = NULL;
		double s = measure(op, threads, &k);

		if (s < 0)
			return fprintf(stderr, "%s %s does not run in %d threads: %s\n", op->op,
				       op->prob, threads, strerror(errno)),
			       1;
		if (k->measured_threads == threads) {
			here += s;
			there += k->measured_s;
			printf("%10.1f %10.1f %6.3f", s * 1e6, k->measured_s * 1e6,
			       s / k->measured_s);
		} else {
			printf("%10.1f %10s %6s", s * 1e6, "-", "-");
		}
		printf("  %s %s %s %s %s: %s\n", op->op, op->prob, op->dtype, op->layout, op->post,
		       k->name);
		fflush(stdout);
	}
	if (there > 0)
		printf("%10.1f %10.1f %6.3f  sum\n", here * 1e6, there * 1e6, here / there);
	return 0;
}
