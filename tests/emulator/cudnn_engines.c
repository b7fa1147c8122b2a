/* The engines of the stand-in: plain loops over the emulated device's memory.
 *
 *   0  right                            4  right, on tensor cores, after rounding its inputs
 *   1  right, slow, with a workspace    5  fails when it runs
 *   2  wrong                            6  writes nothing
 *   3  makes no plan                    7  wants more workspace than it gets
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/emulator/cudnn.h"
#include "tests/emulator/number.h"

enum { RIGHT, SLOW, WRONG, WITHOUT_PLAN, ROUNDING, FAILING, IDLE, GREEDY };
enum { TENSORS = 64, WORKSPACE = 1 << 20, SLOW_US = 2000 };

int engine_notes(int64_t engine, int note[2])
{
	note[0] = NOTE_TENSOR_CORE;
	note[1] = NOTE_DOWN_CONVERT_INPUTS;
	return engine == ROUNDING ? 2 : 0;
}

int engine_plans(int64_t engine)
{
	return engine != WITHOUT_PLAN;
}

int64_t engine_workspace(int64_t engine)
{
	return engine == SLOW ? WORKSPACE : engine == GREEDY ? (int64_t)1 << 40 : 0;
}

/* ---- tensors ---- */

/* A tensor of a graph, in memory or (virtual) in an array that is made for a run. */
struct array {
	int64_t uid, size[RANK], stride[RANK];
	int type, is_virtual;
	void *at;
};

struct run {
	const struct descriptor *pack;
	struct array array[TENSORS];
	int n;
	enum status status;
};

static void *find_pointer(const struct run *r, int64_t uid)
{
	const struct value *ids = find_value(r->pack, ATTR_VARIANT_PACK_UNIQUE_IDS);
	const struct value *at = find_value(r->pack, ATTR_VARIANT_PACK_DATA_POINTERS);

	for (int64_t i = 0; i < ids->n; i++)
		if (((const int64_t *)ids->of)[i] == uid)
			return ((void *const *)at->of)[i];
	return NULL;
}

/* Sizes of dimensions that a tensor lacks are 1, and come first. */
static void fill(struct array *a, const struct descriptor *t)
{
	const struct value *size = find_value(t, ATTR_TENSOR_DIMENSIONS);
	const struct value *stride = find_value(t, ATTR_TENSOR_STRIDES);
	const int64_t lacks = RANK - size->n;

	for (int64_t i = 0; i < RANK; i++) {
		a->size[i] = i < lacks ? 1 : ((const int64_t *)size->of)[i - lacks];
		a->stride[i] = i < lacks ? 0 : ((const int64_t *)stride->of)[i - lacks];
	}
	a->uid = integer(t, ATTR_TENSOR_UNIQUE_ID);
	a->type = (int)integer(t, ATTR_TENSOR_DATA_TYPE);
	a->is_virtual = (int)integer(t, ATTR_TENSOR_IS_VIRTUAL);
}

static struct array *array_of(struct run *r, const struct descriptor *op, int attribute)
{
	const struct descriptor *t = linked(op, attribute);
	struct array *a = r->array;

	if (!t)
		return NULL;
	while (a < r->array + r->n && a->uid != integer(t, ATTR_TENSOR_UNIQUE_ID))
		a++;
	if (a < r->array + r->n)
		return a;
	if (r->n++ == TENSORS)
		abort();
	fill(a, t);
	a->at = a->is_virtual
			? calloc((size_t)(a->size[0] * a->size[1] * a->size[2] * a->size[3]), 4)
			: find_pointer(r, a->uid);
	if (!a->at)
		r->status = BAD_PARAM;
	return a;
}

/* Where an element lies; broadcast along dimensions of size 1. */
static int64_t place(const struct array *a, const int64_t at[RANK])
{
	int64_t i = 0;

	for (int d = 0; d < RANK; d++)
		i += (a->size[d] == 1 ? 0 : at[d]) * a->stride[d];
	return i;
}

static enum number number_of(const struct array *a)
{
	switch ((enum cudnn_data)a->type) {
	case DATA_HALF:
		return NUMBER_F16;
	case DATA_BFLOAT16:
		return NUMBER_BF16;
	case DATA_INT32:
		return NUMBER_S32;
	case DATA_INT8:
		return NUMBER_S8;
	case DATA_UINT8:
		return NUMBER_U8;
	case DATA_FLOAT:
		break;
	}
	return NUMBER_F32;
}

static double get(const struct array *a, const int64_t at[RANK])
{
	return number_get(number_of(a), a->at, place(a, at));
}

static void put(const struct array *a, const int64_t at[RANK], double value)
{
	number_put(number_of(a), a->at, place(a, at), value);
}

/* Goes to the next element: 0 behind the last one. */
static int next(const struct array *a, int64_t at[RANK])
{
	for (int d = RANK - 1; d >= 0; d--) {
		if (++at[d] < a->size[d])
			return 1;
		at[d] = 0;
	}
	return 0;
}

/* ---- operations ---- */

static const int64_t *pair(const struct descriptor *c, int attribute)
{
	return find_value(c, attribute)->of;
}

static double window(const struct descriptor *c, const struct array *x, const struct array *w,
		     const int64_t at[RANK], int64_t groups)
{
	const int64_t *stride = pair(c, ATTR_CONVOLUTION_FILTER_STRIDES);
	const int64_t *dilation = pair(c, ATTR_CONVOLUTION_DILATIONS);
	const int64_t *near = pair(c, ATTR_CONVOLUTION_PRE_PADDINGS);
	const int64_t first = at[1] / (w->size[0] / groups) * w->size[1];
	int64_t tap[RANK] = {at[1], 0, 0, 0};
	double sum = 0;

	for (tap[1] = 0; tap[1] < w->size[1]; tap[1]++)
		for (tap[2] = 0; tap[2] < w->size[2]; tap[2]++)
			for (tap[3] = 0; tap[3] < w->size[3]; tap[3]++) {
				const int64_t from[RANK] = {
					at[0], first + tap[1],
					at[2] * stride[0] - near[0] + tap[2] * dilation[0],
					at[3] * stride[1] - near[1] + tap[3] * dilation[1]};

				if (from[2] >= 0 && from[2] < x->size[2] && from[3] >= 0 &&
				    from[3] < x->size[3])
					sum += get(x, from) * get(w, tap);
			}
	return sum;
}

static void convolve(struct run *r, const struct descriptor *op)
{
	const struct descriptor *c = linked(op, ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
	const struct array *x = array_of(r, op, ATTR_OPERATION_CONVOLUTION_FORWARD_X);
	const struct array *w = array_of(r, op, ATTR_OPERATION_CONVOLUTION_FORWARD_W);
	const struct array *y = array_of(r, op, ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
	int64_t at[RANK] = {0};

	if (!r->status)
		do
			put(y, at, window(c, x, w, at, x->size[1] / w->size[1]));
		while (next(y, at));
}

static void multiply(struct run *r, const struct descriptor *op)
{
	const struct array *a = array_of(r, op, ATTR_OPERATION_MATMUL_ADESC);
	const struct array *b = array_of(r, op, ATTR_OPERATION_MATMUL_BDESC);
	const struct array *c = array_of(r, op, ATTR_OPERATION_MATMUL_CDESC);
	int64_t at[RANK] = {0};

	if (!r->status)
		do {
			double sum = 0;

			for (int64_t k = 0; k < a->size[3]; k++) {
				const int64_t left[] = {0, at[1], at[2], k};
				const int64_t right[] = {0, at[1], k, at[3]};

				sum += get(a, left) * get(b, right);
			}
			put(c, at, sum);
		} while (next(c, at));
}

static double number(const struct descriptor *d, int attribute, double other)
{
	const struct value *v = find_value(d, attribute);

	if (!v)
		return other;
	return v->type == TYPE_FLOAT ? *(const float *)v->of : *(const double *)v->of;
}

static double relu(const struct descriptor *p, double x)
{
	const double lower = number(p, ATTR_POINTWISE_RELU_LOWER_CLIP, 0);
	const double slope = number(p, ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);

	if (x < lower)
		return lower + slope * (x - lower);
	return fmin(x, number(p, ATTR_POINTWISE_RELU_UPPER_CLIP, FLT_MAX));
}

static double compute(const struct descriptor *p, double x, double b)
{
	switch ((enum cudnn_pointwise)integer(p, ATTR_POINTWISE_MODE)) {
	case POINTWISE_ADD:
		return x + b;
	case POINTWISE_MUL:
		return x * b;
	case POINTWISE_IDENTITY:
		return x;
	case POINTWISE_RELU_FWD:
		return relu(p, x);
	case POINTWISE_TANH_FWD:
		return tanh(x);
	case POINTWISE_SIGMOID_FWD:
		return 1 / (1 + exp(-x));
	case POINTWISE_SWISH_FWD:
		return x / (1 + exp(-number(p, ATTR_POINTWISE_SWISH_BETA, 1) * x));
	case POINTWISE_GELU_FWD:
		return x * erfc(-x / sqrt(2)) / 2;
	case POINTWISE_GELU_APPROX_TANH_FWD:
		return x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))) / 2;
	}
	return NAN;
}

static void point(struct run *r, const struct descriptor *op)
{
	const struct descriptor *p = linked(op, ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
	const struct array *x = array_of(r, op, ATTR_OPERATION_POINTWISE_XDESC);
	const struct array *b = array_of(r, op, ATTR_OPERATION_POINTWISE_BDESC);
	const struct array *y = array_of(r, op, ATTR_OPERATION_POINTWISE_YDESC);
	int64_t at[RANK] = {0};

	if (!r->status)
		do
			put(y, at, compute(p, get(x, at), b ? get(b, at) : 0));
		while (next(y, at));
}

/* The wrong engine adds 1000000 to the first element of the last result. */
static void spoil(struct run *r, const struct descriptor *op)
{
	const int64_t first[RANK] = {0};
	const struct array *y = array_of(
		r, op,
		op->kind == KIND_OPERATION_POINTWISE ? ATTR_OPERATION_POINTWISE_YDESC
		: op->kind == KIND_OPERATION_MATMUL  ? ATTR_OPERATION_MATMUL_CDESC
						     : ATTR_OPERATION_CONVOLUTION_FORWARD_Y);

	put(y, first, get(y, first) + 1e6);
}

enum status engine_check(int64_t engine, const struct descriptor *graph,
			 const struct descriptor *pack)
{
	static const int attribute[] = {
		ATTR_OPERATION_CONVOLUTION_FORWARD_X, ATTR_OPERATION_CONVOLUTION_FORWARD_W,
		ATTR_OPERATION_CONVOLUTION_FORWARD_Y, ATTR_OPERATION_MATMUL_ADESC,
		ATTR_OPERATION_MATMUL_BDESC,	      ATTR_OPERATION_MATMUL_CDESC,
		ATTR_OPERATION_POINTWISE_XDESC,	      ATTR_OPERATION_POINTWISE_BDESC,
		ATTR_OPERATION_POINTWISE_YDESC};
	const struct value *ops = find_value(graph, ATTR_OPERATIONGRAPH_OPS);
	struct descriptor *const *op = ops->of;
	const struct run r = {.pack = pack};

	for (int64_t i = 0; i < ops->n; i++)
		for (size_t a = 0; a < sizeof attribute / sizeof *attribute; a++) {
			const struct descriptor *t = linked(op[i], attribute[a]);

			if (t && !integer(t, ATTR_TENSOR_IS_VIRTUAL) &&
			    !find_pointer(&r, integer(t, ATTR_TENSOR_UNIQUE_ID)))
				return BAD_PARAM;
		}
	return engine == FAILING ? EXECUTION_FAILED : SUCCESS;
}

enum status engine_run(int64_t engine, const struct descriptor *graph,
		       const struct descriptor *pack)
{
	const struct value *ops = find_value(graph, ATTR_OPERATIONGRAPH_OPS);
	struct descriptor *const *op = ops->of;
	struct run r = {.pack = pack};

	if (engine == IDLE)
		return SUCCESS;
	if (engine == SLOW) {
		memset((void *)(uintptr_t)integer(pack, ATTR_VARIANT_PACK_WORKSPACE), 1, WORKSPACE);
		usleep(SLOW_US);
	}
	for (int64_t i = 0; i < ops->n && !r.status; i++)
		(op[i]->kind == KIND_OPERATION_POINTWISE ? point
		 : op[i]->kind == KIND_OPERATION_MATMUL	 ? multiply
							 : convolve)(&r, op[i]);
	if (engine == WRONG && !r.status)
		spoil(&r, op[ops->n - 1]);
	for (int i = 0; i < r.n; i++)
		if (r.array[i].is_virtual)
			free(r.array[i].at);
	return r.status;
}
