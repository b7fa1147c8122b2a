#include "lib/ref/cuda/legacy_kit.h"

#include <limits.h>
#include <stdlib.h>

#include "lib/ref/cuda/cudnn.h"

struct legacy_made {
	struct legacy_made *next;
	void *d;
	int (*free)(void *d);
};

int legacy_kit_open(struct legacy_kit *k, struct stage *s, struct err *e)
{
	*k = (struct legacy_kit){.api = legacy_api_open(e), .stage = s};
	if (!k->api)
		return -1;
	return legacy_kit_check(k, k->api->create(&k->handle), "start", e);
}

void legacy_kit_close(struct legacy_kit *k)
{
	for (struct legacy_made *m = k->made, *next; m; m = next) {
		next = m->next;
		m->free(m->d);
		free(m);
	}
	k->api->destroy(k->handle);
}

int legacy_kit_check(const struct legacy_kit *k, int status, const char *what, struct err *e)
{
	return status ? err_set(e, "cuDNN fails to %s: %s", what, k->api->error(status)) : 0;
}

int legacy_kit_take_stream(struct legacy_kit *k, void *stream, struct err *e)
{
	if (k->has_stream && k->stream == stream)
		return 0;
	k->has_stream = 1;
	k->stream = stream;
	return legacy_kit_check(k, k->api->stream(k->handle, stream), "take a stream", e);
}

/* ---- descriptors ---- */

/* NULL: there is none. */
static void *make(struct legacy_kit *k, int (*create)(void **d), int (*destroy)(void *d))
{
	struct legacy_made *m;
	void *d;

	if (create(&d))
		return NULL;
	m = xcalloc(1, sizeof *m);
	*m = (struct legacy_made){k->made, d, destroy};
	k->made = m;
	return d;
}

/* Numbers of the library are int. */
static int fit(const int64_t *number, int n)
{
	for (int i = 0; i < n; i++)
		if (number[i] > INT_MAX)
			return 0;
	return 1;
}

void *legacy_kit_tensor(struct legacy_kit *k, const struct problem *p, enum tensor_role role)
{
	const struct placed *t = &p->tensor[role];
	const int64_t *s = t->size;
	const int type = cudnn_data(stage_type(k->stage, role));
	void *d = fit(s, t->n) ? make(k, k->api->make_tensor, k->api->free_tensor) : NULL;
	int status;

	if (!d)
		return NULL;
	if (p->is_product)
		status = k->api->set_tensor(d, FORMAT_NHWC, type, (int)s[0], (int)s[2], (int)s[1],
					    1);
	else
		status = k->api->set_tensor(d, p->is_nhwc ? FORMAT_NHWC : FORMAT_NCHW, type,
					    (int)s[0], (int)s[1], (int)s[2], (int)s[3]);
	return status ? NULL : d;
}

void *legacy_kit_filter(struct legacy_kit *k, const struct problem *p)
{
	const int64_t *s = p->tensor[TENSOR_WEIGHTS].size;
	const int type = cudnn_data(stage_type(k->stage, TENSOR_WEIGHTS));
	const int format = p->is_nhwc ? FORMAT_NHWC : FORMAT_NCHW;
	void *d = fit(s, PLACED_DIMS) ? make(k, k->api->make_filter, k->api->free_filter) : NULL;

	if (!d || k->api->set_filter(d, type, format, (int)s[0], (int)s[1], (int)s[2], (int)s[3]))
		return NULL;
	return d;
}

/* The library pads both ends alike, and results follow from that. */
static int is_even(const struct problem *p)
{
	const int64_t *x = p->tensor[TENSOR_SRC].size, *w = p->tensor[TENSOR_WEIGHTS].size;
	const int64_t *y = p->tensor[TENSOR_DST].size;

	for (int a = 0; a < 2; a++) {
		const int64_t window = (w[2 + a] - 1) * p->dilation[a] + 1;

		if (y[2 + a] != (x[2 + a] + 2 * p->near[a] - window) / p->stride[a] + 1)
			return 0;
	}
	return 1;
}

void *legacy_kit_convolution(struct legacy_kit *k, const struct problem *p, enum legacy_math math)
{
	const int64_t groups = p->tensor[TENSOR_SRC].size[1] / p->tensor[TENSOR_WEIGHTS].size[1];
	const int64_t *const numbers[] = {p->near, p->stride, p->dilation};
	const int compute = k->stage->numbers.is_whole ? DATA_INT32 : DATA_FLOAT;
	void *d;

	for (int i = 0; i < 3; i++)
		if (!fit(numbers[i], 2))
			return NULL;
	if (!is_even(p) || !(d = make(k, k->api->make_convolution, k->api->free_convolution)))
		return NULL;
	if (k->api->set_convolution(d, (int)p->near[0], (int)p->near[1], (int)p->stride[0],
				    (int)p->stride[1], (int)p->dilation[0], (int)p->dilation[1],
				    CROSS_CORRELATION, compute) ||
	    k->api->set_math(d, (int)math) || k->api->set_groups(d, (int)groups))
		return NULL;
	return d;
}

void *legacy_kit_activation(struct legacy_kit *k, enum legacy_activation mode, double ceiling)
{
	void *d = make(k, k->api->make_activation, k->api->free_activation);

	return d && !k->api->set_activation(d, (int)mode, NOT_PROPAGATE_NAN, ceiling) ? d : NULL;
}

void *legacy_kit_op(struct legacy_kit *k, int op)
{
	void *d = make(k, k->api->make_op, k->api->free_op);

	return d && !k->api->set_op(d, op, DATA_FLOAT, NOT_PROPAGATE_NAN) ? d : NULL;
}
