/* The convolutions of the stand-in: plain loops over the emulated device's memory.
 *
 * Algorithms:
 *   0  right                            4  wrong
 *   1  right, with a workspace          5  fails when it runs
 *   2  writes nothing                   6  wants more workspace than it gets
 *   3  does not exist                   7  right
 *
 * Products of single precision are rounded as TF32, from version 8 on and unless the math is FMA's,
 * which version 7 does not know. Version 7 knows no bfloat16, and swish is from version 8.2.
 */
#include "tests/emulator/cudnn_legacy.h"

#include <string.h>

#include "tests/emulator/queue.h"

/* Everything that a run needs, by value: the stream comes to it later. */
struct work {
	struct tensor x, w, z, bias, y;
	struct convolution c;
	struct activation a;
	const void *x_at, *w_at, *z_at, *bias_at;
	void *y_at, *workspace;
	float alpha, beta;
	int algorithm, is_all;
};

/* As tensor cores take a number of single precision: its first 11 bits. */
static double rounded(const struct work *k, double x)
{
	int exponent;

	if (!k->c.rounds || k->x.type != FLOAT)
		return x;
	x = frexp(x, &exponent);
	return ldexp(nearbyint(ldexp(x, 11)), exponent - 11);
}

static double window(const struct work *k, const int at[4])
{
	const int first = at[1] / (k->w.size[0] / k->c.groups) * k->w.size[1];
	double sum = 0;

	for (int c = 0; c < k->w.size[1]; c++)
		for (int i = 0; i < k->w.size[2]; i++)
			for (int j = 0; j < k->w.size[3]; j++) {
				const int tap[] = {at[1], c, i, j};
				const int y =
					at[2] * k->c.stride[0] - k->c.pad[0] + i * k->c.dilation[0];
				const int x =
					at[3] * k->c.stride[1] - k->c.pad[1] + j * k->c.dilation[1];
				const int from[] = {at[0], first + c, y, x};

				if (y >= 0 && y < k->x.size[2] && x >= 0 && x < k->x.size[3])
					sum += rounded(k, get(&k->x, k->x_at, from)) *
					       rounded(k, get(&k->w, k->w_at, tap));
			}
	return sum;
}

static void run_convolution(void *arg)
{
	const struct work *k = arg;
	int at[4] = {0};

	if (k->algorithm == IDLE)
		return;
	if (k->algorithm == WITH_WORKSPACE)
		memset(k->workspace, 1, WORKSPACE);
	do {
		double x = k->alpha * window(k, at);

		if (k->is_all && k->beta != 0)
			x += k->beta * get(&k->z, k->z_at, at);
		if (k->is_all)
			x = activated(&k->a, x + get(&k->bias, k->bias_at, at));
		put(&k->y, k->y_at, at, k->algorithm == WRONG ? x + 1e6 : x);
	} while (next(&k->y, at));
}

/* Whole numbers of 8 bits: sums in 32 bits, results in single precision, innermost channels in
 * whole fours. */
static int has_types(const struct tensor *x, const struct tensor *w, const struct convolution *c,
		     const struct tensor *y)
{
	if (x->type != w->type || x->is_nhwc != w->is_nhwc || x->is_nhwc != y->is_nhwc)
		return 0;
	if (x->type != INT8)
		return x->type == y->type && c->compute == FLOAT;
	return y->type == FLOAT && c->compute == INT32 && x->is_nhwc && x->size[1] % 4 == 0 &&
	       y->size[1] % 4 == 0;
}

static int is_convolution(const struct tensor *x, const struct tensor *w,
			  const struct convolution *c, const struct tensor *y)
{
	for (int a = 0; a < 2; a++) {
		const int reach = (w->size[2 + a] - 1) * c->dilation[a] + 1;

		if (y->size[2 + a] != (x->size[2 + a] + 2 * c->pad[a] - reach) / c->stride[a] + 1)
			return 0;
	}
	return x->size[0] == y->size[0] && x->size[1] == w->size[1] * c->groups &&
	       w->size[0] == y->size[1] && w->size[0] % c->groups == 0;
}

static enum status check(const struct tensor *x, const struct tensor *w,
			 const struct convolution *c, const struct tensor *y, int algorithm)
{
	if (algorithm < 0 || algorithm >= ALGORITHMS || !is_convolution(x, w, c, y))
		return BAD_PARAM;
	return algorithm == MISSING || !has_types(x, w, c, y) ? NOT_SUPPORTED : SUCCESS;
}

static size_t workspace_of(int algorithm)
{
	return algorithm == WITH_WORKSPACE ? WORKSPACE : algorithm == GREEDY ? (size_t)1 << 40 : 0;
}

API int cudnnGetConvolutionForwardWorkspaceSize(void *handle, const struct tensor *x,
						const struct tensor *w, const struct convolution *c,
						const struct tensor *y, int algorithm,
						size_t *bytes)
{
	*bytes = workspace_of(algorithm);
	return is_handle(handle) ? check(x, w, c, y, algorithm) : BAD_PARAM;
}

static enum status start(const struct work *k, size_t bytes)
{
	enum status s = check(&k->x, &k->w, &k->c, &k->y, k->algorithm);

	if (s)
		return s;
	if (!k->x_at || !k->w_at || !k->y_at || bytes < workspace_of(k->algorithm))
		return BAD_PARAM;
	if (k->algorithm == FAILING ||
	    queue_put("cudnn", stream_now(), run_convolution, k, sizeof *k))
		return EXECUTION_FAILED;
	return SUCCESS;
}

API int cudnnConvolutionForward(void *handle, const float *alpha, const struct tensor *x,
				const void *x_at, const struct tensor *w, const void *w_at,
				const struct convolution *c, int algorithm, void *workspace,
				size_t bytes, const float *beta, const struct tensor *y, void *y_at)
{
	const struct work k = {.x = *x,
			       .w = *w,
			       .y = *y,
			       .c = *c,
			       .x_at = x_at,
			       .w_at = w_at,
			       .y_at = y_at,
			       .workspace = workspace,
			       .alpha = *alpha,
			       .algorithm = algorithm};

	return is_handle(handle) && *beta == 0 ? start(&k, bytes) : BAD_PARAM;
}

/* The identity is for one algorithm only. */
API int cudnnConvolutionBiasActivationForward(
	void *handle, const float *alpha, const struct tensor *x, const void *x_at,
	const struct tensor *w, const void *w_at, const struct convolution *c, int algorithm,
	void *workspace, size_t bytes, const float *beta, const struct tensor *z, const void *z_at,
	const struct tensor *bias, const void *bias_at, const struct activation *a,
	const struct tensor *y, void *y_at)
{
	const struct work k = {.x = *x,
			       .w = *w,
			       .z = *z,
			       .bias = *bias,
			       .y = *y,
			       .c = *c,
			       .a = *a,
			       .x_at = x_at,
			       .w_at = w_at,
			       .z_at = z_at,
			       .bias_at = bias_at,
			       .y_at = y_at,
			       .workspace = workspace,
			       .alpha = *alpha,
			       .beta = *beta,
			       .algorithm = algorithm,
			       .is_all = 1};

	if (!is_handle(handle) || memcmp(z, y, sizeof *z) || !z_at || !bias_at ||
	    bias->type != y->type || bias->size[1] != y->size[1] || bias->size[0] != 1)
		return BAD_PARAM;
	if (a->mode != RELU && !(a->mode == IDENTITY && algorithm == WITH_WORKSPACE))
		return NOT_SUPPORTED;
	return start(&k, bytes);
}
