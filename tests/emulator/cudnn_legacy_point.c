/* What may follow the convolutions of the stand-in. */
#include "tests/emulator/cudnn_legacy.h"

#include <string.h>

#include "tests/emulator/queue.h"

struct point {
	struct tensor a, b, c;
	struct activation activation;
	const void *a_at, *b_at;
	void *c_at;
	int is_sum, is_product; /* else the activation of a */
};

static void run_point(void *arg)
{
	const struct point *p = arg;
	int at[4] = {0};

	do {
		double x = get(&p->a, p->a_at, at);

		if (p->is_sum)
			x += get(&p->b, p->b_at, at);
		else if (p->is_product)
			x *= get(&p->b, p->b_at, at);
		else
			x = activated(&p->activation, x);
		put(&p->c, p->c_at, at, x);
	} while (next(&p->c, at));
}

/* Is b of c's sizes, or spread over them? */
static int is_spread(const struct tensor *b, const struct tensor *c)
{
	for (int d = 0; d < 4; d++)
		if (b->size[d] != 1 && b->size[d] != c->size[d])
			return 0;
	return b->type == c->type && c->type != INT32;
}

static int put_point(void *handle, const struct point *p)
{
	if (!is_handle(handle) || !is_spread(&p->a, &p->c))
		return BAD_PARAM;
	return queue_put("cudnn", stream_now(), run_point, p, sizeof *p) ? EXECUTION_FAILED
									 : SUCCESS;
}

API int cudnnAddTensor(void *handle, const float *alpha, const struct tensor *a, const void *a_at,
		       const float *beta, const struct tensor *c, void *c_at)
{
	const struct point p = {
		.a = *c, .b = *a, .c = *c, .a_at = c_at, .b_at = a_at, .c_at = c_at, .is_sum = 1};

	return *alpha == 1 && *beta == 1 && is_spread(a, c) ? put_point(handle, &p) : BAD_PARAM;
}

API int cudnnOpTensor(void *handle, const struct op *op, const float *alpha, const struct tensor *a,
		      const void *a_at, const float *beta, const struct tensor *b, const void *b_at,
		      const float *gamma, const struct tensor *c, void *c_at)
{
	const struct point p = {.a = *a,
				.b = *b,
				.c = *c,
				.a_at = a_at,
				.b_at = b_at,
				.c_at = c_at,
				.is_sum = !op->is_product,
				.is_product = op->is_product};

	return *alpha == 1 && *beta == 1 && *gamma == 0 && is_spread(b, c) ? put_point(handle, &p)
									   : BAD_PARAM;
}

API int cudnnActivationForward(void *handle, const struct activation *activation,
			       const float *alpha, const struct tensor *x, const void *x_at,
			       const float *beta, const struct tensor *y, void *y_at)
{
	const struct point p = {
		.a = *x, .c = *y, .activation = *activation, .a_at = x_at, .c_at = y_at};

	return *alpha == 1 && *beta == 0 && !memcmp(x, y, sizeof *x) ? put_point(handle, &p)
								     : BAD_PARAM;
}
