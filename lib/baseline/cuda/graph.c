#include "lib/baseline/cuda/graph.h"

#include <stdbool.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* Unique ids: a tensor of the workload has its role, plus one. */
enum { UID_MIDDLE = TENSOR_ROLES + 1, UID_NUMBER = 100, UID_VIRTUAL = 200 };

static const int single = DATA_FLOAT;
static const float one = 1, zero = 0;

/* Makes a descriptor of the graph; NULL: cuDNN refuses it. */
static void *make(struct graph *g, enum cudnn_kind kind, const struct cudnn_value *value, int n)
{
	struct err e = ERR_INIT;
	void *d;

	if (cudnn_describe(kind, value, n, &d, &e) < 0)
		return NULL;
	g->made[g->nmade++] = d;
	return d;
}

static void *add_op(struct graph *g, enum cudnn_kind kind, const struct cudnn_value *value, int n)
{
	void *op = make(g, kind, value, n);

	if (op)
		g->op[g->nops++] = op;
	return op;
}

/* Engines for chains alone want the second dimension innermost, and do not ask what it is. Of nchw
 * that is its columns. */
static int is_turned(const struct graph *g)
{
	const struct placed *dst = &g->problem->tensor[TENSOR_DST];

	return g->part == GRAPH_REST && dst->n == PLACED_DIMS && dst->stride[3] == 1 &&
	       dst->size[3] > 1;
}

static void order_dims(const struct graph *g, const struct placed *t, int64_t *size,
		       int64_t *stride)
{
	static const int as_is[] = {0, 1, 2, 3}, turned[] = {0, 3, 1, 2};
	const int *order = is_turned(g) ? turned : as_is;

	for (int i = 0; i < t->n; i++) {
		size[i] = t->size[order[i]];
		stride[i] = t->stride[order[i]];
	}
}

static void *tensor(struct graph *g, const struct placed *t, int64_t uid, int type, bool is_virtual)
{
	const int64_t alignment = 16;
	int64_t size[PLACED_DIMS], stride[PLACED_DIMS];
	const struct cudnn_value value[] = {
		{ATTR_TENSOR_UNIQUE_ID, TYPE_INT64, 1, &uid},
		{ATTR_TENSOR_DATA_TYPE, TYPE_DATA_TYPE, 1, &type},
		{ATTR_TENSOR_BYTE_ALIGNMENT, TYPE_INT64, 1, &alignment},
		{ATTR_TENSOR_DIMENSIONS, TYPE_INT64, t->n, size},
		{ATTR_TENSOR_STRIDES, TYPE_INT64, t->n, stride},
		{ATTR_TENSOR_IS_VIRTUAL, TYPE_BOOLEAN, 1, &is_virtual},
	};

	order_dims(g, t, size, stride);
	return make(g, KIND_TENSOR, value, COUNT(value));
}

/* A tensor in memory; NULL: refused, or there is no memory (address NULL). */
static void *bound(struct graph *g, const struct placed *t, int64_t uid, int type, void *address)
{
	int i = 0;

	if (!address)
		return NULL;
	while (i < g->nbound && g->uid[i] != uid)
		i++;
	g->uid[i] = uid;
	g->address[i] = address;
	g->nbound += i == g->nbound;
	return tensor(g, t, uid, type, false);
}

/* The bias once for each element: a value for each row of a turned tensor is none that engines
 * spread. */
static struct placed whole_bias(const struct graph *g)
{
	struct placed t = g->problem->tensor[TENSOR_DST];

	t.role = TENSOR_BIAS;
	for (int i = 0; i < t.n; i++)
		t.from[i] = i == 1;
	return t;
}

static void *input(struct graph *g, enum tensor_role role, int is_zero, struct err *e)
{
	const struct placed whole = whole_bias(g);
	const struct placed *t =
		role == TENSOR_BIAS && is_turned(g) ? &whole : &g->problem->tensor[role];
	void *address = is_zero ? stage_zeros(g->stage, t, e) : stage_input(g->stage, t, e);

	return bound(g, t, role + 1, cudnn_data(stage_type(g->stage, role)), address);
}

static void *middle(struct graph *g)
{
	return bound(g, &g->problem->tensor[TENSOR_DST], UID_MIDDLE,
		     cudnn_data(g->stage->numbers.middle), stage_middle(g->stage));
}

/* How products are summed, and the type of their sums that are not in memory. */
static int sum_type(const struct graph *g)
{
	return g->stage->numbers.is_whole ? DATA_INT32 : DATA_FLOAT;
}

/* What an operation writes, in this type, if it is not the last one. The last one writes to memory.
 */
static void *result(struct graph *g, int type, int is_last)
{
	const struct placed *t = &g->problem->tensor[TENSOR_DST];

	if (!is_last)
		return tensor(g, t, UID_VIRTUAL + g->nvirtual++, type, true);
	if (g->part == GRAPH_FIRST)
		return middle(g);
	return bound(g, t, TENSOR_DST + 1, cudnn_data(stage_type(g->stage, TENSOR_DST)),
		     stage_dst(g->stage));
}

static void *add_convolution(struct graph *g, void *x, void *w, void *y)
{
	const int mode = CROSS_CORRELATION, compute = sum_type(g);
	const int64_t dims = 2;
	const struct problem *p = g->problem;
	const struct cudnn_value numbers[] = {
		{ATTR_CONVOLUTION_COMP_TYPE, TYPE_DATA_TYPE, 1, &compute},
		{ATTR_CONVOLUTION_CONV_MODE, TYPE_CONVOLUTION_MODE, 1, &mode},
		{ATTR_CONVOLUTION_SPATIAL_DIMS, TYPE_INT64, 1, &dims},
		{ATTR_CONVOLUTION_DILATIONS, TYPE_INT64, dims, p->dilation},
		{ATTR_CONVOLUTION_FILTER_STRIDES, TYPE_INT64, dims, p->stride},
		{ATTR_CONVOLUTION_PRE_PADDINGS, TYPE_INT64, dims, p->near},
		{ATTR_CONVOLUTION_POST_PADDINGS, TYPE_INT64, dims, p->far},
	};
	void *convolution = make(g, KIND_CONVOLUTION, numbers, COUNT(numbers));
	const struct cudnn_value value[] = {
		{ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, TYPE_FLOAT, 1, &one},
		{ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, TYPE_FLOAT, 1, &zero},
		{ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, TYPE_BACKEND_DESCRIPTOR, 1,
		 &convolution},
		{ATTR_OPERATION_CONVOLUTION_FORWARD_X, TYPE_BACKEND_DESCRIPTOR, 1, &x},
		{ATTR_OPERATION_CONVOLUTION_FORWARD_W, TYPE_BACKEND_DESCRIPTOR, 1, &w},
		{ATTR_OPERATION_CONVOLUTION_FORWARD_Y, TYPE_BACKEND_DESCRIPTOR, 1, &y},
	};

	return convolution ? add_op(g, KIND_OPERATION_CONVOLUTION_FORWARD, value, COUNT(value))
			   : NULL;
}

static void *add_product(struct graph *g, void *a, void *b, void *c)
{
	const int compute = sum_type(g);
	const struct cudnn_value numbers[] = {{ATTR_MATMUL_COMP_TYPE, TYPE_DATA_TYPE, 1, &compute}};
	void *product = make(g, KIND_MATMUL, numbers, COUNT(numbers));
	const struct cudnn_value value[] = {
		{ATTR_OPERATION_MATMUL_ADESC, TYPE_BACKEND_DESCRIPTOR, 1, &a},
		{ATTR_OPERATION_MATMUL_BDESC, TYPE_BACKEND_DESCRIPTOR, 1, &b},
		{ATTR_OPERATION_MATMUL_CDESC, TYPE_BACKEND_DESCRIPTOR, 1, &c},
		{ATTR_OPERATION_MATMUL_DESC, TYPE_BACKEND_DESCRIPTOR, 1, &product},
	};

	return product ? add_op(g, KIND_OPERATION_MATMUL, value, COUNT(value)) : NULL;
}

/* The second operand of a link; *has: it has one. */
static void *operand(struct graph *g, const struct link *l, void *earlier, int *has, struct err *e)
{
	struct placed number = {.n = g->problem->tensor[TENSOR_DST].n,
				.size = {1, 1, 1, 1},
				.stride = {1, 1, 1, 1}};

	*has = l->operand != LINK_NONE;
	switch (l->operand) {
	case LINK_TENSOR:
		return input(g, l->role, 0, e);
	case LINK_ZEROS:
		return input(g, l->role, 1, e);
	case LINK_NUMBER:
		return bound(g, &number, UID_NUMBER + g->nops, DATA_FLOAT,
			     stage_number(g->stage, l->number, e));
	case LINK_EARLIER:
		return earlier;
	case LINK_NONE:
		break;
	}
	return NULL;
}

static void *add_link(struct graph *g, const struct link *l, void *x, void *earlier, void *y,
		      struct err *e)
{
	const int64_t relu = l->mode == POINTWISE_RELU_FWD, swish = l->mode == POINTWISE_SWISH_FWD;
	const int mode = (int)l->mode;
	const double beta = 1;
	const struct cudnn_value numbers[] = {
		{ATTR_POINTWISE_MODE, TYPE_POINTWISE_MODE, 1, &mode},
		{ATTR_POINTWISE_MATH_PREC, TYPE_DATA_TYPE, 1, &single},
		{ATTR_POINTWISE_RELU_LOWER_CLIP, TYPE_DOUBLE, relu, &l->lower},
		{ATTR_POINTWISE_RELU_UPPER_CLIP, TYPE_DOUBLE, relu, &l->upper},
		{ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, TYPE_DOUBLE, relu, &l->slope},
		{ATTR_POINTWISE_SWISH_BETA, TYPE_DOUBLE, swish, &beta},
	};
	void *pointwise = make(g, KIND_POINTWISE, numbers, COUNT(numbers));
	int has;
	void *b = operand(g, l, earlier, &has, e);
	const struct cudnn_value value[] = {
		{ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, TYPE_BACKEND_DESCRIPTOR, 1, &pointwise},
		{ATTR_OPERATION_POINTWISE_XDESC, TYPE_BACKEND_DESCRIPTOR, 1, &x},
		{ATTR_OPERATION_POINTWISE_BDESC, TYPE_BACKEND_DESCRIPTOR, has, &b},
		{ATTR_OPERATION_POINTWISE_YDESC, TYPE_BACKEND_DESCRIPTOR, 1, &y},
	};

	if (!pointwise || !y || (has && !b))
		return NULL;
	return add_op(g, KIND_OPERATION_POINTWISE, value, COUNT(value));
}

/* The chain's beginning: the result of the convolution or product, or the middle. */
static void *begin(struct graph *g, int is_last, struct err *e)
{
	void *x, *w, *y;

	if (g->part == GRAPH_REST)
		return middle(g);
	x = input(g, TENSOR_SRC, 0, e);
	w = input(g, TENSOR_WEIGHTS, 0, e);
	y = result(g, sum_type(g), is_last);
	if (!x || !w || !y)
		return NULL;
	return (g->problem->is_product ? add_product(g, x, w, y) : add_convolution(g, x, w, y))
		       ? y
		       : NULL;
}

int graph_open(struct graph *g, const struct link *link, int n, struct err *e)
{
	const int links = g->part == GRAPH_FIRST ? 0 : n;
	void *x[CHAIN_LINKS + 1] = {NULL};

	*e = (struct err)ERR_INIT;
	x[0] = begin(g, !links, e);
	for (int i = 0; i < links && x[i]; i++) {
		void *y = result(g, DATA_FLOAT, i == links - 1);

		x[i + 1] = add_link(g, &link[i], x[i], i > 1 ? x[i - 2] : NULL, y, e) ? y : NULL;
	}
	if (x[0] && (!links || x[links])) {
		const struct cudnn_value value[] = {
			{ATTR_OPERATIONGRAPH_HANDLE, TYPE_HANDLE, 1, &g->handle},
			{ATTR_OPERATIONGRAPH_OPS, TYPE_BACKEND_DESCRIPTOR, g->nops, g->op},
		};

		g->whole = make(g, KIND_OPERATIONGRAPH, value, COUNT(value));
	}
	if (g->whole)
		return 1;
	return e->msg[0] ? -1 : 0;
}

void graph_close(struct graph *g)
{
	while (g->nmade)
		cudnn_free(g->made[--g->nmade]);
}
