/* What values the descriptors of the stand-in may have, as the documentation says. */
#include <stdlib.h>

#include "tests/emulator/cudnn.h"

enum need { REQUIRED, OPTIONAL };

static const struct rule {
	int kind, attribute, type;
	int64_t least, most; /* elements */
	enum need need;
} rules[] = {
	{KIND_POINTWISE, ATTR_POINTWISE_MODE, TYPE_POINTWISE_MODE, 1, 1, REQUIRED},
	{KIND_POINTWISE, ATTR_POINTWISE_MATH_PREC, TYPE_DATA_TYPE, 1, 1, REQUIRED},
	{KIND_POINTWISE, ATTR_POINTWISE_RELU_LOWER_CLIP, TYPE_DOUBLE, 1, 1, OPTIONAL},
	{KIND_POINTWISE, ATTR_POINTWISE_RELU_UPPER_CLIP, TYPE_DOUBLE, 1, 1, OPTIONAL},
	{KIND_POINTWISE, ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, TYPE_DOUBLE, 1, 1, OPTIONAL},
	{KIND_POINTWISE, ATTR_POINTWISE_SWISH_BETA, TYPE_DOUBLE, 1, 1, OPTIONAL},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_COMP_TYPE, TYPE_DATA_TYPE, 1, 1, REQUIRED},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_CONV_MODE, TYPE_CONVOLUTION_MODE, 1, 1, REQUIRED},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_SPATIAL_DIMS, TYPE_INT64, 1, 1, REQUIRED},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_DILATIONS, TYPE_INT64, 2, 2, REQUIRED},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_FILTER_STRIDES, TYPE_INT64, 2, 2, REQUIRED},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_PRE_PADDINGS, TYPE_INT64, 2, 2, REQUIRED},
	{KIND_CONVOLUTION, ATTR_CONVOLUTION_POST_PADDINGS, TYPE_INT64, 2, 2, REQUIRED},
	{KIND_ENGINE, ATTR_ENGINE_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_ENGINE, ATTR_ENGINE_GLOBAL_INDEX, TYPE_INT64, 1, 1, REQUIRED},
	{KIND_ENGINECFG, ATTR_ENGINECFG_ENGINE, TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_ENGINEHEUR, ATTR_ENGINEHEUR_OPERATION_GRAPH, TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_ENGINEHEUR, ATTR_ENGINEHEUR_MODE, TYPE_HEUR_MODE, 1, 1, REQUIRED},
	{KIND_EXECUTION_PLAN, ATTR_EXECUTION_PLAN_HANDLE, TYPE_HANDLE, 1, 1, REQUIRED},
	{KIND_EXECUTION_PLAN, ATTR_EXECUTION_PLAN_ENGINE_CONFIG, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
	{KIND_OPERATION_CONVOLUTION_FORWARD, ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, TYPE_FLOAT,
	 1, 1, REQUIRED},
	{KIND_OPERATION_CONVOLUTION_FORWARD, ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, TYPE_FLOAT, 1,
	 1, REQUIRED},
	{KIND_OPERATION_CONVOLUTION_FORWARD, ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
	 TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_OPERATION_CONVOLUTION_FORWARD, ATTR_OPERATION_CONVOLUTION_FORWARD_X,
	 TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_OPERATION_CONVOLUTION_FORWARD, ATTR_OPERATION_CONVOLUTION_FORWARD_W,
	 TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_OPERATION_CONVOLUTION_FORWARD, ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
	 TYPE_BACKEND_DESCRIPTOR, 1, 1, REQUIRED},
	{KIND_OPERATION_POINTWISE, ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, TYPE_BACKEND_DESCRIPTOR,
	 1, 1, REQUIRED},
	{KIND_OPERATION_POINTWISE, ATTR_OPERATION_POINTWISE_XDESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
	{KIND_OPERATION_POINTWISE, ATTR_OPERATION_POINTWISE_BDESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 OPTIONAL},
	{KIND_OPERATION_POINTWISE, ATTR_OPERATION_POINTWISE_YDESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
	{KIND_OPERATIONGRAPH, ATTR_OPERATIONGRAPH_HANDLE, TYPE_HANDLE, 1, 1, REQUIRED},
	{KIND_OPERATIONGRAPH, ATTR_OPERATIONGRAPH_OPS, TYPE_BACKEND_DESCRIPTOR, 1, 64, REQUIRED},
	{KIND_VARIANT_PACK, ATTR_VARIANT_PACK_UNIQUE_IDS, TYPE_INT64, 1, 64, REQUIRED},
	{KIND_VARIANT_PACK, ATTR_VARIANT_PACK_DATA_POINTERS, TYPE_VOID_PTR, 1, 64, REQUIRED},
	{KIND_VARIANT_PACK, ATTR_VARIANT_PACK_WORKSPACE, TYPE_VOID_PTR, 1, 1, REQUIRED},
	{KIND_TENSOR, ATTR_TENSOR_UNIQUE_ID, TYPE_INT64, 1, 1, REQUIRED},
	{KIND_TENSOR, ATTR_TENSOR_DATA_TYPE, TYPE_DATA_TYPE, 1, 1, REQUIRED},
	{KIND_TENSOR, ATTR_TENSOR_BYTE_ALIGNMENT, TYPE_INT64, 1, 1, REQUIRED},
	{KIND_TENSOR, ATTR_TENSOR_DIMENSIONS, TYPE_INT64, 1, RANK, REQUIRED},
	{KIND_TENSOR, ATTR_TENSOR_STRIDES, TYPE_INT64, 1, RANK, REQUIRED},
	{KIND_TENSOR, ATTR_TENSOR_IS_VIRTUAL, TYPE_BOOLEAN, 1, 1, OPTIONAL},
	{KIND_MATMUL, ATTR_MATMUL_COMP_TYPE, TYPE_DATA_TYPE, 1, 1, REQUIRED},
	{KIND_OPERATION_MATMUL, ATTR_OPERATION_MATMUL_ADESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
	{KIND_OPERATION_MATMUL, ATTR_OPERATION_MATMUL_BDESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
	{KIND_OPERATION_MATMUL, ATTR_OPERATION_MATMUL_CDESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
	{KIND_OPERATION_MATMUL, ATTR_OPERATION_MATMUL_DESC, TYPE_BACKEND_DESCRIPTOR, 1, 1,
	 REQUIRED},
};
enum { RULES = sizeof rules / sizeof *rules };

enum status check_value(const struct descriptor *d, int attribute, int type, int64_t n)
{
	for (const struct rule *r = rules; r < rules + RULES; r++)
		if (r->kind == d->kind && r->attribute == attribute) {
			if (r->type != type)
				return ATTRIBUTE_TYPE;
			return n < r->least || n > r->most ? SIZE_INSUFFICIENT : SUCCESS;
		}
	return NOT_SUPPORTED;
}

static const int64_t *list(const struct descriptor *d, int attribute)
{
	return find_value(d, attribute)->of;
}

static const int64_t *sizes(const struct descriptor *t)
{
	return list(t, ATTR_TENSOR_DIMENSIONS);
}

static int64_t rank(const struct descriptor *t)
{
	return find_value(t, ATTR_TENSOR_DIMENSIONS)->n;
}

static enum status check_tensor(const struct descriptor *t)
{
	const int64_t *size = sizes(t), *stride = list(t, ATTR_TENSOR_STRIDES);

	if (find_value(t, ATTR_TENSOR_STRIDES)->n != rank(t) ||
	    integer(t, ATTR_TENSOR_BYTE_ALIGNMENT) % 4)
		return BAD_PARAM;
	for (int64_t i = 0; i < rank(t); i++)
		if (size[i] < 1 || stride[i] < 1)
			return BAD_PARAM;
	return SUCCESS;
}

/* Are channels innermost? -1: of one channel, or one pixel, both are true. */
static int is_nhwc(const struct descriptor *t)
{
	const int64_t *size = sizes(t), *stride = list(t, ATTR_TENSOR_STRIDES);

	return size[1] == 1 || size[2] * size[3] == 1 ? -1 : stride[1] == 1;
}

static int64_t type_of(const struct descriptor *t)
{
	return integer(t, ATTR_TENSOR_DATA_TYPE);
}

static int is_byte(int64_t type)
{
	return type == DATA_INT8 || type == DATA_UINT8;
}

/* Products of whole numbers are summed in such, those of reals in single precision. A sum that is
 * not in memory has the type in which it was computed. */
static enum status check_types(const struct descriptor *x, const struct descriptor *w,
			       const struct descriptor *y, int64_t compute)
{
	const int64_t sum = is_byte(type_of(x)) ? DATA_INT32 : DATA_FLOAT;

	if (is_byte(type_of(x)) != is_byte(type_of(w)) || compute != sum)
		return NOT_SUPPORTED;
	if (integer(y, ATTR_TENSOR_IS_VIRTUAL))
		return type_of(y) == sum ? SUCCESS : NOT_SUPPORTED;
	if (sum == DATA_INT32)
		return type_of(y) == sum || type_of(y) == DATA_FLOAT ? SUCCESS : NOT_SUPPORTED;
	return type_of(y) == type_of(x) ? SUCCESS : NOT_SUPPORTED;
}

static enum status check_convolution(const struct descriptor *op)
{
	const struct descriptor *c = linked(op, ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
	const struct descriptor *t[] = {linked(op, ATTR_OPERATION_CONVOLUTION_FORWARD_X),
					linked(op, ATTR_OPERATION_CONVOLUTION_FORWARD_W),
					linked(op, ATTR_OPERATION_CONVOLUTION_FORWARD_Y)};
	const int64_t *x = sizes(t[0]), *w = sizes(t[1]), *y = sizes(t[2]);
	const int64_t *stride = list(c, ATTR_CONVOLUTION_FILTER_STRIDES);
	const int64_t *dilation = list(c, ATTR_CONVOLUTION_DILATIONS);
	const int64_t *near = list(c, ATTR_CONVOLUTION_PRE_PADDINGS);
	const int64_t *far = list(c, ATTR_CONVOLUTION_POST_PADDINGS);
	int order = -1;

	for (int i = 0; i < 3; i++) {
		const int is = is_nhwc(t[i]);

		if (rank(t[i]) != RANK || (order >= 0 && is >= 0 && is != order))
			return NOT_SUPPORTED;
		order = is >= 0 ? is : order;
	}
	if (x[0] != y[0] || x[1] % w[1] || w[0] != y[1] || w[0] % (x[1] / w[1]))
		return SHAPE_MISMATCH;
	for (int a = 0; a < 2; a++) {
		const int64_t window = (w[2 + a] - 1) * dilation[a] + 1;

		if (dilation[a] < 1 || stride[a] < 1 || near[a] < 0 || far[a] < 0 ||
		    y[2 + a] != (x[2 + a] + near[a] + far[a] - window) / stride[a] + 1)
			return SHAPE_MISMATCH;
	}
	return check_types(t[0], t[1], t[2], integer(c, ATTR_CONVOLUTION_COMP_TYPE));
}

static enum status check_product(const struct descriptor *op)
{
	const struct descriptor *t[] = {linked(op, ATTR_OPERATION_MATMUL_ADESC),
					linked(op, ATTR_OPERATION_MATMUL_BDESC),
					linked(op, ATTR_OPERATION_MATMUL_CDESC)};
	const int64_t *a = sizes(t[0]), *b = sizes(t[1]), *c = sizes(t[2]);

	for (int i = 0; i < 3; i++) {
		const int64_t *stride = list(t[i], ATTR_TENSOR_STRIDES);

		if (rank(t[i]) != 3 || (stride[1] != 1 && stride[2] != 1))
			return NOT_SUPPORTED;
	}
	if (a[0] != b[0] || a[0] != c[0] || a[1] != c[1] || a[2] != b[1] || b[2] != c[2])
		return SHAPE_MISMATCH;
	if (type_of(t[0]) == DATA_UINT8 || type_of(t[1]) == DATA_UINT8)
		return NOT_SUPPORTED;
	return check_types(t[0], t[1], t[2],
			   integer(linked(op, ATTR_OPERATION_MATMUL_DESC), ATTR_MATMUL_COMP_TYPE));
}

static int is_binary(int64_t mode)
{
	return mode == POINTWISE_ADD || mode == POINTWISE_MUL;
}

static int64_t mode_of(const struct descriptor *op)
{
	return integer(linked(op, ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR), ATTR_POINTWISE_MODE);
}

static enum status check_pointwise(const struct descriptor *op)
{
	const struct descriptor *x = linked(op, ATTR_OPERATION_POINTWISE_XDESC);
	const struct descriptor *b = linked(op, ATTR_OPERATION_POINTWISE_BDESC);
	const struct descriptor *y = linked(op, ATTR_OPERATION_POINTWISE_YDESC);

	if (!b != !is_binary(mode_of(op)) || rank(x) != rank(y) || (b && rank(b) != rank(y)))
		return BAD_PARAM;
	if (integer(linked(op, ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR), ATTR_POINTWISE_MATH_PREC) !=
	    DATA_FLOAT)
		return NOT_SUPPORTED;
	for (int64_t i = 0; i < rank(y); i++)
		if (sizes(x)[i] != sizes(y)[i] ||
		    (b && sizes(b)[i] != 1 && sizes(b)[i] != sizes(y)[i]))
			return SHAPE_MISMATCH;
	return SUCCESS;
}

/* Behind a convolution or a product the engines know additions, products and relu alone. */
static enum status check_graph(const struct descriptor *g)
{
	const struct value *ops = find_value(g, ATTR_OPERATIONGRAPH_OPS);
	struct descriptor *const *op = ops->of;

	for (int64_t i = 0; i < ops->n; i++) {
		if (op[i]->kind != KIND_OPERATION_POINTWISE && i > 0)
			return NOT_SUPPORTED;
		if (op[0]->kind != KIND_OPERATION_POINTWISE && i > 0 &&
		    !is_binary(mode_of(op[i])) && mode_of(op[i]) != POINTWISE_RELU_FWD)
			return NOT_SUPPORTED;
	}
	return SUCCESS;
}

enum status check_finish(const struct descriptor *d)
{
	for (const struct rule *r = rules; r < rules + RULES; r++)
		if (r->kind == d->kind && r->need == REQUIRED && !find_value(d, r->attribute))
			return BAD_PARAM;
	switch ((enum cudnn_kind)d->kind) {
	case KIND_TENSOR:
		return check_tensor(d);
	case KIND_OPERATION_CONVOLUTION_FORWARD:
		return check_convolution(d);
	case KIND_OPERATION_MATMUL:
		return check_product(d);
	case KIND_OPERATION_POINTWISE:
		return check_pointwise(d);
	case KIND_OPERATIONGRAPH:
		return check_graph(d);
	case KIND_ENGINE:
		return integer(d, ATTR_ENGINE_GLOBAL_INDEX) < ENGINES ? SUCCESS : NOT_SUPPORTED;
	case KIND_VARIANT_PACK:
		return find_value(d, ATTR_VARIANT_PACK_UNIQUE_IDS)->n ==
				       find_value(d, ATTR_VARIANT_PACK_DATA_POINTERS)->n
			       ? SUCCESS
			       : BAD_PARAM;
	default:
		return SUCCESS;
	}
}
