/* NVIDIA's libraries on a device of CUDA, cuDNN and cuBLASLt, as one. If one of them is not there,
 * the other serves.
 *
 * NVIDIA's libraries on a device are one baseline: cuDNN and cuBLASLt, or the one of them that is
 * there. Its variants run one at a time, on one set of operands in the device's memory (stage.h),
 * and are timed by the device's clock. problem.h puts a workload as the libraries have it: a
 * convolution in its own layout and in the other one, and a product, with its right side as it is
 * and transposed.
 *
 * cuDNN 9 is asked by its graph API: an operation graph (graph.h) of the convolution or product
 * and of the post-ops (chain.h). Each engine that its heuristics propose, with the proposed knobs,
 * and each other engine by its number (engines.h) becomes a plan (plans.h), for at most 40 seconds
 * a workload, because some plans are compiled on the spot. All are collected first. Then up to 16
 * threads make them, as many as there are CPUs (makers.h). cuDNN may be called by several threads,
 * but a handle by one at a time, and nobody promises that another handle may run a plan. So each
 * thread has a handle of its own, which also runs the plans that it made. OpenMP has bound the
 * first thread of a worker to one CPU; the others may use all CPUs of the process.
 *
 * cuDNN 9.28, asked for plans for a described H100, which needs no device, told how a graph must
 * look. Its kernels for relu(convolution + z + bias) take that graph with all
 * four operations only, so zeros stand in for what a workload lacks. No other kernel of single
 * precision fuses post-ops, but one that is compiled. Chains of pointwise operations alone want
 * the second dimension innermost, so nchw is turned.
 *
 * cuBLASLt gives up to 32 algorithms for a product, with the longest beginning of the post-ops
 * that its epilogues compute. Its GELU is that by tanh. What is left is cuDNN's (struct finisher).
 *
 * Whole numbers of 8 bits are summed as such (COMPUTE_32I, a convolution of compute type INT32),
 * also where they go straight into post-ops. A bias is converted to single precision off the
 * clock: cuDNN 9.19's compiled-in kernels for relu(convolution + z + bias) take no other. For a
 * 3x3 convolution of 64 channels and s8:s8:f32 on a described H100 cuDNN makes plans by engines 0,
 * 28 and 71 without post-ops, by 0, 11, 49 and 52 with all four operations fused, and by 1, 2 and
 * 7 (compiled on the spot) with other chains; for u8 by engine 0 alone. It multiplies matrices of
 * s8 by engines 1 and 7, and none of u8. cuBLASLt sums to s32 only, behind which it adds a tensor
 * s32 and nothing else, and it wants the right side transposed and rows of whole fours. A second
 * call of cuDNN converts the sums to f32. Where the result is f32 and nothing is left to do,
 * cuBLASLt also sums in single precision.
 *
 * The same numbers. For single precision, engines with notes of tensor cores or of inputs that are
 * converted down are left out, and NVIDIA_TF32_OVERRIDE=0 tells both libraries. Verification would
 * not tell TF32 from a poor Winograd on small sums.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/baseline/cuda/cublaslt.h"
#include "lib/baseline/cuda/cudnn.h"
#include "lib/baseline/cuda/plans.h"
#include "lib/target/device.h"

struct cuda {
	struct baseline baseline; /* the first member */
	struct stage stage;
	struct problem problem[PROBLEMS];
	struct plans *cudnn;	   /* NULL: it is not there, or not version 9 */
	struct cublaslt *cublaslt; /* NULL: likewise */
	struct variants all;
	double seconds; /* of the last run */
};

static struct cuda *of(struct baseline *r)
{
	return (struct cuda *)r;
}

static const struct variant *variant_of(const struct baseline *r, int variant)
{
	return &((const struct cuda *)r)->all.v[variant];
}

static void close_libraries(struct baseline *r)
{
	struct cuda *c = of(r);

	for (int i = 0; i < c->all.n; i++)
		cuda_row_free(&c->all.v[i].row);
	cublaslt_close(c->cublaslt);
	plans_close(c->cudnn);
	stage_close(&c->stage);
	free(c->all.v);
	free(c);
}

/* Opens what is there. -1: nothing is. */
static int open_both(struct cuda *c, struct err *e)
{
	struct err one = ERR_INIT, other = ERR_INIT;

	c->cudnn = plans_open(&c->stage, &one);
	c->cublaslt = cublaslt_open(&c->stage, &other);
	if (c->cudnn || c->cublaslt)
		return 0;
	return err_set(e, "%.400s; %.400s", one.msg, other.msg);
}

static int offer_all(struct cuda *c, struct err *e)
{
	const int n = problem_list(&c->stage.w, c->problem);
	struct finisher *rest = plans_finisher(c->cudnn);

	for (int i = 0; i < n; i++) {
		const struct problem *p = &c->problem[i];

		if (c->cublaslt && p->is_product &&
		    cublaslt_offer(c->cublaslt, p, rest, &c->all, e) < 0)
			return -1;
		if (c->cudnn && plans_offer(c->cudnn, p, &c->all, e) < 0)
			return -1;
	}
	if (c->cudnn)
		plans_make(c->cudnn, &c->all);
	return stage_provide(&c->stage, e);
}

static struct baseline *open_libraries(const struct workload *w, const struct baseline_data *data,
				       const struct baseline_choice *only, int n, struct err *e)
{
	struct cuda *c = xcalloc(1, sizeof *c);
	struct problem ignored[PROBLEMS];

	c->baseline.of = &library_cuda;
	if (!stage_numbers(w, &c->stage.numbers) || !problem_list(w, ignored))
		return &c->baseline;
	/* Both libraries read this when they start: no product of single precision is rounded. */
	if (c->stage.numbers.is_strict)
		setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
	else
		unsetenv("NVIDIA_TF32_OVERRIDE");
	c->all.only = only;
	c->all.nonly = n;
	if (stage_open(&c->stage, w, data, e) < 0 || open_both(c, e) < 0 || offer_all(c, e) < 0) {
		close_libraries(&c->baseline);
		return NULL;
	}
	c->all.only = NULL;
	c->stage.data = (struct baseline_data){0};
	return &c->baseline;
}

static int variants(const struct baseline *r)
{
	return ((const struct cuda *)r)->all.n;
}

static const char *name(const struct baseline *r, int variant)
{
	return variant_of(r, variant)->name;
}

static const char *layout(const struct baseline *r, int variant)
{
	return variant_of(r, variant)->layout;
}

static int call(void *variant, void *stream, struct err *e)
{
	const struct variant *v = variant;

	for (int i = 0; i < v->ncalls; i++)
		if (v->call[i].run(v->call[i].arg, stream, e) < 0) {
			errno = EIO; /* the library's own failure, whatever it did before */
			return -1;
		}
	return 0;
}

static int capture(struct baseline *r, int variant, int calls)
{
	struct cuda *c = of(r);

	return cuda_capture(c->stage.device, call, &c->all.v[variant], calls,
			    &c->all.v[variant].row);
}

static int row(struct baseline *r, int variant, int calls, struct err *e)
{
	struct cuda *c = of(r);

	return cuda_time(c->stage.device, call, &c->all.v[variant], calls, &c->all.v[variant].row,
			 &c->seconds, e);
}

static int run(struct baseline *r, int variant, struct err *e)
{
	return row(r, variant, 1, e);
}

static double seconds(const struct baseline *r)
{
	return ((const struct cuda *)r)->seconds;
}

/* The output lies in the device's memory. */
static int write_to(struct baseline *r, int variant, float *dst, struct err *e)
{
	(void)r, (void)variant, (void)dst, (void)e;
	return 0;
}

/* All variants have one output: this one runs once more, into NaN. */
static int output(struct baseline *r, int variant, float *dst, struct err *e)
{
	struct cuda *c = of(r);

	if (stage_poison(&c->stage, e) < 0 || run(r, variant, e) < 0)
		return -1;
	return stage_read(&c->stage, &c->all.v[variant].dst, dst, e);
}

static int memory(const struct baseline *r, int variant, int i, const void **data, size_t *bytes)
{
	(void)r, (void)variant, (void)i, (void)data, (void)bytes;
	return 0;
}

static int is_weights(const struct baseline *r, int variant, int i)
{
	(void)r, (void)variant, (void)i;
	return 0;
}

static const char *version(void)
{
	static char text[112];
	const char *cublaslt = cublaslt_version(), *cudnn = plans_version();

	if (!*cudnn && !*cublaslt)
		return "none";
	snprintf(text, sizeof text, "%s%s%s", cudnn, *cudnn && *cublaslt ? ", " : "", cublaslt);
	return text;
}

const struct library library_cuda = {
	.open = open_libraries,
	.variants = variants,
	.name = name,
	.layout = layout,
	.run = run,
	.capture = capture,
	.row = row,
	.seconds = seconds,
	.write_to = write_to,
	.output = output,
	.memory = memory,
	.is_weights = is_weights,
	.close = close_libraries,
	.version = version,
};
