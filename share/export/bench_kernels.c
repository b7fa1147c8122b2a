/* Times each operator's kernel for this CPU: `./bench_kernels [THREADS]`, by default 2 threads.
 * Prints a line an operator: the median time of a call, what it took where it was tuned, and the
 * kernel's name; then the sums over the kernels that were measured there with as many threads.
 *
 * A call finds its operands in the caches, as far as they fit, as when the kernel was tuned. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tlx_kernels.h"

enum { SAMPLES = 21 };
static const double sample_s = 2e-3, warm_s = 10e-3;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* At a multiple of 64 bytes: kernels are faster there. */
static float *tensor(size_t n)
{
	float *x = aligned_alloc(64, (n * sizeof(float) + 64) / 64 * 64);

	for (size_t i = 0; x && i < n; i++)
		x[i] = (float)(i % 17) / 16 - 0.5F;
	return x;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double calls(struct tlx *handle, const struct tlx_data *data, long n)
{
	double begin = now();

	for (long i = 0; i < n; i++)
		tlx_run_data(handle, data);
	return now() - begin;
}

/* The median of the samples' means, in seconds; each sample is of enough calls for the clock. */
static double median(struct tlx *handle, const struct tlx_data *data)
{
	double took = 0, sample[SAMPLES];
	long n = 1;

	while ((took = calls(handle, data, n)) < warm_s)
		n = took > 0 && warm_s / took < 8 ? (long)((double)n * warm_s / took) + 1 : 8 * n;
	n = (long)((double)n * sample_s / took) + 1;
	for (int i = 0; i < SAMPLES; i++)
		sample[i] = calls(handle, data, n) / (double)n;
	qsort(sample, SAMPLES, sizeof *sample, compare);
	return sample[SAMPLES / 2];
}

/* The time of a call, and the kernel that runs; negative: it does not run. */
static double measure(const struct tlx_op *op, int threads, const struct tlx_kernel **kernel)
{
	float *src = tensor(op->src), *weights = tensor(op->weights), *bias = tensor(op->bias);
	float *mul = tensor(op->mul), *dst = tensor(op->dst);
	const struct tlx_data data = {src, dst, mul, weights};
	struct tlx *handle = tlx_create(op, weights, bias, threads);
	double seconds = -1;

	if (handle && src && mul && dst) {
		*kernel = tlx_kernel_of(handle);
		seconds = median(handle, &data);
	}
	tlx_destroy(handle);
	free(src);
	free(weights);
	free(bias);
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
			return fprintf(stderr, "%s %s does not run\n", op->op, op->prob), 1;
		if (k->measured_threads == threads) {
			here += s;
			there += k->measured_s;
			printf("%10.1f %10.1f %6.3f", s * 1e6, k->measured_s * 1e6,
			       s / k->measured_s);
		} else {
			printf("%10.1f %10s %6s", s * 1e6, "-", "-");
		}
		printf("  %s %s %s %s: %s\n", op->op, op->prob, op->layout, op->post, k->name);
		fflush(stdout);
	}
	if (there > 0)
		printf("%10.1f %10.1f %6.3f  sum\n", here * 1e6, there * 1e6, here / there);
	return 0;
}
