#include "lib/extract/infer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an operator does to the element type, besides taking that of input 0. */
enum kind {
	SAME,
	MOVES,	 /* the same, and what was quantized stays so */
	BOOLEAN, /* makes booleans */
	INDEX,	 /* makes i64 */
	INT32,
	CAST,	   /* attribute "to" */
	FLOATS,	   /* makes what its last float input is: DequantizeLinear's scale */
	CAST_LIKE, /* the type of input 1 */
	BYTES,	   /* QuantizeLinear: the type of the zero point */
	OWN,	   /* the function sets it */
};

struct row {
	const char *type;
	infer_fn *fn;
	enum kind kind;
};

static infer_fn unary, nary, where, prelu, dropout, random_like, non_zero, quantize_dynamic, boxes,
	grid_sample;

static const struct row rows[] = {
	{"Conv", infer_conv, SAME},
	{"ConvInteger", infer_conv, INT32},
	{"QLinearConv", infer_conv, SAME},
	{"DeformConv", infer_conv, SAME},
	{"ConvTranspose", infer_conv_transpose, SAME},
	{"MaxPool", infer_pool, MOVES},
	{"AveragePool", infer_pool, SAME},
	{"LpPool", infer_pool, SAME},
	{"GlobalAveragePool", infer_global_pool, SAME},
	{"GlobalMaxPool", infer_global_pool, SAME},
	{"GlobalLpPool", infer_global_pool, SAME},
	{"Pad", infer_pad, MOVES},
	{"Resize", infer_resize, SAME},
	{"Upsample", infer_resize, SAME},
	{"DepthToSpace", infer_depth_to_space, MOVES},
	{"SpaceToDepth", infer_space_to_depth, MOVES},
	{"Gemm", infer_gemm, SAME},
	{"MatMul", infer_matmul, SAME},
	{"MatMulInteger", infer_matmul, INT32},
	{"QLinearMatMul", infer_matmul, SAME},
	{"Einsum", infer_einsum, SAME},
	{"ReduceMean", infer_reduce, SAME},
	{"ReduceSum", infer_reduce, SAME},
	{"ReduceMax", infer_reduce, SAME},
	{"ReduceMin", infer_reduce, SAME},
	{"ReduceProd", infer_reduce, SAME},
	{"ReduceL1", infer_reduce, SAME},
	{"ReduceL2", infer_reduce, SAME},
	{"ReduceLogSum", infer_reduce, SAME},
	{"ReduceLogSumExp", infer_reduce, SAME},
	{"ReduceSumSquare", infer_reduce, SAME},
	{"ArgMax", infer_arg, INDEX},
	{"ArgMin", infer_arg, INDEX},
	{"TopK", infer_topk, SAME},
	{"LSTM", infer_rnn, SAME},
	{"GRU", infer_rnn, SAME},
	{"RNN", infer_rnn, SAME},
	{"Concat", infer_concat, MOVES},
	{"Split", infer_split, MOVES},
	{"Slice", infer_slice, MOVES},
	{"Gather", infer_gather, MOVES},
	{"GatherElements", infer_gather_elements, MOVES},
	{"GatherND", infer_gather_nd, MOVES},
	{"Reshape", infer_reshape, MOVES},
	{"Flatten", infer_flatten, MOVES},
	{"Transpose", infer_transpose, MOVES},
	{"Squeeze", infer_squeeze, MOVES},
	{"Unsqueeze", infer_unsqueeze, MOVES},
	{"Expand", infer_expand, MOVES},
	{"Tile", infer_tile, MOVES},
	{"Shape", infer_shape, INDEX},
	{"Size", infer_size, INDEX},
	{"Constant", infer_constant, OWN},
	{"ConstantOfShape", infer_constant_of_shape, OWN},
	{"Range", infer_range, SAME},
	{"OneHot", infer_one_hot, OWN},
	{"NonZero", non_zero, INDEX},
	{"Where", where, OWN},
	{"PRelu", prelu, SAME},
	{"Identity", unary, MOVES},
	{"Dropout", dropout, MOVES},
	{"Cast", unary, CAST},
	{"CastLike", random_like, CAST_LIKE},
	{"QuantizeLinear", unary, BYTES},
	{"DynamicQuantizeLinear", quantize_dynamic, OWN},
	{"NonMaxSuppression", boxes, INDEX},
	{"GridSample", grid_sample, SAME},
	{"Bernoulli", random_like, SAME},
	{"EyeLike", random_like, SAME},
	{"DequantizeLinear", unary, FLOATS},
	{"BatchNormalization", unary, SAME},
	{"LayerNormalization", unary, SAME},
	{"RandomNormalLike", random_like, SAME},
	{"RandomUniformLike", random_like, SAME},
	{"Add", nary, SAME},
	{"Sub", nary, SAME},
	{"Mul", nary, SAME},
	{"Div", nary, SAME},
	{"Pow", nary, SAME},
	{"Mod", nary, SAME},
	{"Max", nary, SAME},
	{"Min", nary, SAME},
	{"Sum", nary, SAME},
	{"Mean", nary, SAME},
	{"BitShift", nary, SAME},
	{"BitwiseAnd", nary, SAME},
	{"BitwiseOr", nary, SAME},
	{"BitwiseXor", nary, SAME},
	{"And", nary, BOOLEAN},
	{"Or", nary, BOOLEAN},
	{"Xor", nary, BOOLEAN},
	{"Equal", nary, BOOLEAN},
	{"Greater", nary, BOOLEAN},
	{"GreaterOrEqual", nary, BOOLEAN},
	{"Less", nary, BOOLEAN},
	{"LessOrEqual", nary, BOOLEAN},
	{"Not", unary, BOOLEAN},
	{"IsNaN", unary, BOOLEAN},
	{"IsInf", unary, BOOLEAN},
};

/* Element-wise in shape if not in meaning: output 0 has the shape and type of input 0. */
static const char *const like_first[] = {
	"Abs",
	"Acos",
	"Acosh",
	"Asin",
	"Asinh",
	"Atan",
	"Atanh",
	"BitwiseNot",
	"Ceil",
	"Celu",
	"Clip",
	"Cos",
	"Cosh",
	"CumSum",
	"Elu",
	"Erf",
	"Exp",
	"Floor",
	"Gelu",
	"GroupNormalization",
	"HardSigmoid",
	"HardSwish",
	"Hardmax",
	"InstanceNormalization",
	"LRN",
	"LeakyRelu",
	"Log",
	"LogSoftmax",
	"LpNormalization",
	"MeanVarianceNormalization",
	"Mish",
	"Neg",
	"RMSNormalization",
	"Reciprocal",
	"Relu",
	"ReverseSequence",
	"Round",
	"Scatter",
	"ScatterElements",
	"ScatterND",
	"Selu",
	"Shrink",
	"Sigmoid",
	"Sign",
	"Sin",
	"Sinh",
	"Softmax",
	"Softplus",
	"Softsign",
	"Sqrt",
	"Swish",
	"Tan",
	"Tanh",
	"ThresholdedRelu",
	"Trilu",
};

/* Of the com.microsoft domain: those with the shape of input 0. */
static const char *const contrib_like_first[] = {
	"BiasGelu",
	"FastGelu",
	"Gelu",
	"QuickGelu",
	"SkipLayerNormalization",
	"SkipSimplifiedLayerNormalization",
	"SimplifiedLayerNormalization",
	"BiasAdd",
	"LayerNormalization",
};

static const struct row like_first_row = {"", unary, SAME};

static int listed(const char *const *list, size_t n, const char *type)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], type))
			return 1;
	return 0;
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct row *find_row(const struct node *n)
{
	if (!strcmp(n->domain, "com.microsoft")) {
		if (listed(contrib_like_first, COUNT(contrib_like_first), n->type))
			return &like_first_row;
		if (strcmp(n->type, "QuantizeLinear") && strcmp(n->type, "DequantizeLinear"))
			return NULL;
	} else if (n->domain[0] && strcmp(n->domain, "ai.onnx")) {
		return NULL;
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(rows[i].type, n->type))
			return &rows[i];
	return listed(like_first, COUNT(like_first), n->type) ? &like_first_row : NULL;
}

int infer_bad(const struct infer *x, const struct node *n, struct err *e, const char *fmt, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return err_set(e, "the node %s (%s) %s", node_label(x->g, n), n->type, why);
}

int infer_axis(int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		return -1;
	return (int)(axis < 0 ? axis + rank : axis);
}

static int absurd(const struct shape *s)
{
	int64_t count = 1;

	for (int i = 0; i < s->rank; i++) {
		int64_t d = s->dim[i];

		if (d < DIM_UNKNOWN || (d > 0 && count > MAX_ELEMENTS / d))
			return 1;
		if (d > 0)
			count *= d;
	}
	return 0;
}

int infer_set(struct infer *x, const struct node *n, int i, const struct shape *s, struct err *e)
{
	struct value *v = node_out(x->g, n, i);

	if (!v)
		return 0;
	if (absurd(s)) {
		struct buf b = BUF_INIT;

		shape_print(s, &b);
		infer_bad(x, n, e, "makes a tensor of absurd size, %s", b.s);
		buf_free(&b);
		return -1;
	}
	v->shape = *s;
	return 0;
}

int infer_broadcast(struct infer *x, const struct node *n, struct shape *a, const struct shape *b,
		    struct err *e)
{
	struct shape r;

	if (a->rank < 0 || b->rank < 0) {
		a->rank = RANK_UNKNOWN;
		return 0;
	}
	r.rank = a->rank > b->rank ? a->rank : b->rank;
	for (int i = 1; i <= r.rank; i++) {
		int64_t p = i <= a->rank ? a->dim[a->rank - i] : 1;
		int64_t q = i <= b->rank ? b->dim[b->rank - i] : 1;

		if (p != q && p > 1 && q > 1) {
			struct buf t = BUF_INIT;

			shape_print(a, &t);
			buf_str(&t, " and ");
			shape_print(b, &t);
			infer_bad(x, n, e, "combines shapes that do not fit, %s", t.s);
			buf_free(&t);
			return -1;
		}
		r.dim[r.rank - i] = p == 1 ? q : q == 1 ? p : p > q ? p : q;
		if (p != q && (p == 0 || q == 0))
			r.dim[r.rank - i] = 0;
	}
	*a = r;
	return 0;
}

int infer_list(const struct graph *g, const struct node *n, const char *attr, int i, int *count,
	       const int64_t **v)
{
	const struct attr *a = attr ? node_attr(n, attr) : NULL;
	const struct value *in = i >= 0 ? node_in(g, n, i) : NULL;

	*count = 0;
	*v = NULL;
	if (a) {
		*count = a->nints;
		*v = a->ints;
		return 1;
	}
	if (!in)
		return 0;
	if (!in->kept || !shape_known(&in->shape) || !elem_is_int(in->elem))
		return -1;
	*count = (int)shape_count(&in->shape);
	*v = (const int64_t *)in->kept; /* union scalar begins with its i, and is no wider */
	return 1;
}

union scalar *infer_keep(struct infer *x, const struct node *n, int i)
{
	struct value *v = node_out(x->g, n, i);

	if (!v || !shape_known(&v->shape) || shape_count(&v->shape) > KEEP_INTS)
		return NULL;
	v->kept = arena_array(x->g->a, union scalar, shape_count(&v->shape));
	return v->kept;
}

void infer_strides(const struct shape *s, int64_t *stride)
{
	int64_t n = 1;

	for (int i = s->rank; i-- > 0;) {
		stride[i] = n;
		n *= s->dim[i];
	}
}

void infer_view(struct infer *x, const struct node *n, int i, const struct value *from,
		int64_t offset, const int64_t *stride)
{
	const struct value *v = node_out(x->g, n, i);
	int64_t at[GRAPH_MAX_RANK] = {0}, count;
	union scalar *to;

	if (!from->kept || !(to = infer_keep(x, n, i)))
		return;
	count = shape_count(&v->shape);
	for (int64_t k = 0; k < count; k++) {
		int64_t p = offset;

		for (int d = 0; d < v->shape.rank; d++)
			p += at[d] * stride[d];
		to[k] = from->kept[p];
		for (int d = v->shape.rank; d-- > 0 && ++at[d] == v->shape.dim[d];)
			at[d] = 0;
	}
}

static int unary(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);

	if (!in)
		return infer_bad(x, n, e, "has no input");
	if (infer_set(x, n, 0, &in->shape, e))
		return -1;
	fold_elementwise(x, n);
	return 0;
}

static int dropout(struct infer *x, const struct node *n, struct err *e)
{
	if (unary(x, n, e))
		return -1;
	if (node_out(x->g, n, 1))
		node_out(x->g, n, 1)->elem = ELEM_BOOL;
	return infer_set(x, n, 1, &node_in(x->g, n, 0)->shape, e);
}

static int random_like(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);

	return in ? infer_set(x, n, 0, &in->shape, e) : infer_bad(x, n, e, "has no input");
}

static int nary(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s;

	if (!in)
		return infer_bad(x, n, e, "has no input");
	s = in->shape;
	if (!node_attr(n, "broadcast")) /* before opset 7, input 1 took the shape of input 0 */
		for (int i = 1; i < n->nin; i++)
			if ((in = node_in(x->g, n, i)) && infer_broadcast(x, n, &s, &in->shape, e))
				return -1;
	if (infer_set(x, n, 0, &s, e))
		return -1;
	fold_elementwise(x, n);
	return 0;
}

static int where(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *p = node_in(x->g, n, 1);

	if (n->nin < 3 || !p)
		return infer_bad(x, n, e, "wants three inputs");
	if (n->nout && node_out(x->g, n, 0))
		node_out(x->g, n, 0)->elem = p->elem;
	return nary(x, n, e);
}

/* The slope is broadcast onto the data, never the other way. */
static int prelu(struct infer *x, const struct node *n, struct err *e)
{
	return random_like(x, n, e);
}

static int non_zero(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s = {2, {DIM_UNKNOWN, DIM_UNKNOWN}};

	if (in && in->shape.rank >= 0)
		s.dim[0] = in->shape.rank;
	return infer_set(x, n, 0, &s, e);
}

static int quantize_dynamic(struct infer *x, const struct node *n, struct err *e)
{
	static const int elem[] = {ELEM_U8, ELEM_F32, ELEM_U8};
	const struct shape scalar = {0};

	for (int i = 0; i < 3; i++)
		if (node_out(x->g, n, i))
			node_out(x->g, n, i)->elem = elem[i];
	if (infer_set(x, n, 1, &scalar, e) || infer_set(x, n, 2, &scalar, e))
		return -1;
	return random_like(x, n, e);
}

static int boxes(struct infer *x, const struct node *n, struct err *e)
{
	const struct shape s = {2, {DIM_UNKNOWN, 3}};

	return infer_set(x, n, 0, &s, e);
}

/* N x C x the size of the grid, which is N x size x rank. */
static int grid_sample(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *grid = node_in(x->g, n, 1);
	struct shape s;

	if (!in || !grid)
		return infer_bad(x, n, e, "wants data and a grid");
	if (in->shape.rank < 3 || grid->shape.rank != in->shape.rank)
		return 0;
	s = in->shape;
	for (int i = 2; i < s.rank; i++)
		s.dim[i] = grid->shape.dim[i - 1];
	return infer_set(x, n, 0, &s, e);
}

static void set_type(struct infer *x, const struct node *n, enum kind kind)
{
	const struct value *in = node_in(x->g, n, 0), *zero = node_in(x->g, n, 2);
	const struct value *second = node_in(x->g, n, 1);

	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v || kind == OWN)
			continue;
		v->elem = in ? in->elem : ELEM_UNKNOWN;
		v->quantized = kind == FLOATS || (kind == MOVES && in && in->quantized);
		if (kind == SAME && node_attr(n, "dtype")) /* RandomNormalLike and its kin */
			v->elem = (int)node_int(n, "dtype", v->elem);
		else if (kind == BOOLEAN)
			v->elem = ELEM_BOOL;
		else if (kind == INDEX)
			v->elem = ELEM_I64;
		else if (kind == INT32)
			v->elem = ELEM_I32;
		else if (kind == CAST)
			v->elem = (int)node_int(n, "to", ELEM_UNKNOWN);
		else if (kind == FLOATS || kind == CAST_LIKE)
			v->elem = second ? second->elem : ELEM_F32;
		else if (kind == BYTES)
			v->elem = (int)node_int(n, "output_dtype", zero ? zero->elem : ELEM_U8);
	}
}

/* The declaration fills in what inference left open. */
static void use_declared(const struct infer *x, struct value *v)
{
	const struct declared *d = v->declared;

	if (!d)
		return;
	if (v->elem == ELEM_UNKNOWN)
		v->elem = d->elem;
	if (x->reshaped || d->shape.rank < 0 || absurd(&d->shape))
		return;
	if (v->shape.rank < 0) {
		v->shape.rank = d->shape.rank;
		for (int i = 0; i < d->shape.rank; i++)
			v->shape.dim[i] = DIM_UNKNOWN;
	}
	if (v->shape.rank != d->shape.rank)
		return;
	for (int i = 0; i < d->shape.rank; i++)
		if (v->shape.dim[i] < 0 && d->shape.dim[i] > 0)
			v->shape.dim[i] = d->shape.dim[i];
}

static void count(struct map *m, struct arena *a, const char *key)
{
	int64_t **n = (int64_t **)map_put(m, key, strlen(key), NULL);

	if (!*n)
		*n = arena_new(a, int64_t);
	++**n;
}

/* Constant if all it reads is; and what it reads of unknown shape is to blame for its own. */
static void set_origin(struct infer *x, const struct node *n, const struct row *row)
{
	int all_const = row && row->fn != random_like && (n->ndeps || row->fn == infer_constant);
	const char *blame = row ? NULL : n->type;

	for (int i = 0; i < n->ndeps; i++) {
		const struct value *v = n->in[i] >= 0 ? x->g->value[n->in[i]] : NULL;

		if (v && !v->is_const)
			all_const = 0;
		if (v && v->blame && !blame && !shape_known(&v->shape))
			blame = v->blame;
	}
	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v)
			continue;
		v->is_const = all_const;
		if (!shape_known(&v->shape))
			v->blame = blame ? blame : n->type;
	}
}

static int infer_node(struct infer *x, const struct node *n, struct err *e)
{
	const struct row *row = find_row(n);

	if (row) {
		set_type(x, n, row->kind);
		if (row->fn(x, n, e))
			return -1;
	} else {
		count(&x->unknown, x->g->a, n->type);
	}
	for (int i = 0; i < n->nout; i++)
		if (node_out(x->g, n, i))
			use_declared(x, node_out(x->g, n, i));
	set_origin(x, n, row);
	return 0;
}

static struct input_shape *given_shape(const struct infer *x, const char *name)
{
	for (int i = 0; i < x->options->nshape; i++)
		if (!strcmp(x->options->shape[i].name, name))
			return &x->options->shape[i];
	return NULL;
}

static int bind_given(struct infer *x, struct value *v, struct input_shape *given, struct err *e)
{
	const struct declared *d = v->declared;

	given->used = 1;
	v->shape = given->shape;
	if (!d || d->shape.rank < 0)
		return 0;
	if (d->shape.rank != v->shape.rank)
		return err_set(e, "the input '%s' has %d dimensions, not the %d given for it",
			       v->name, d->shape.rank, v->shape.rank);
	for (int i = 0; i < v->shape.rank; i++) {
		const char *symbol = d->symbol[i];

		if (symbol && symbol[0])
			*map_put(&x->symbols, symbol, strlen(symbol), NULL) = &v->shape.dim[i];
		if (d->shape.dim[i] && d->shape.dim[i] != v->shape.dim[i])
			x->reshaped = 1;
	}
	return 0;
}

static void resolve_dim(struct infer *x, struct value *v, int i)
{
	const struct declared *d = v->declared;
	const char *symbol = d->symbol[i] ? d->symbol[i] : "";
	const int64_t *bound = map_get(&x->symbols, symbol, strlen(symbol));
	int64_t batch = x->options->batch;

	if (d->shape.dim[i]) {
		v->shape.dim[i] = d->shape.dim[i];
		if (i == 0 && batch && d->shape.rank > 1 && d->shape.dim[0] != batch) {
			v->shape.dim[0] = batch;
			x->reshaped = 1;
		}
		return;
	}
	v->shape.dim[i] = bound ? *bound : i == 0 ? (batch ? batch : 1) : DIM_UNKNOWN;
	if (v->shape.dim[i] < 0) {
		char *text = arena_printf(x->g->a, "%s of '%s'", symbol[0] ? symbol : "a dimension",
					  v->name);

		count(&x->open, x->g->a, text);
	}
}

static int resolve_inputs(struct infer *x, struct err *e)
{
	for (int i = 0; i < x->g->nvalue; i++) {
		struct value *v = x->g->value[i];
		struct input_shape *given = v->is_input ? given_shape(x, v->name) : NULL;

		if (given && bind_given(x, v, given, e))
			return -1;
	}
	for (int i = 0; i < x->g->nvalue; i++) {
		struct value *v = x->g->value[i];

		if (!v->is_input)
			continue;
		v->elem = v->declared->elem;
		if (!given_shape(x, v->name)) {
			v->shape.rank = v->declared->shape.rank;
			for (int k = 0; k < v->shape.rank; k++)
				resolve_dim(x, v, k);
		}
		if (v->shape.rank < 0)
			v->blame = "an input without a shape";
		else if (!shape_known(&v->shape))
			v->blame = "an input with an open dimension";
		for (int k = 0; k < v->shape.rank; k++)
			if (v->declared->shape.rank > k && v->declared->shape.dim[k] < 0 &&
			    v->shape.dim[k] < 0)
				return err_set(e, "the input '%s' has an absurd dimension, %lld",
					       v->name, (long long)v->declared->shape.dim[k]);
		if (absurd(&v->shape))
			return err_set(e, "the input '%s' is of absurd size", v->name);
	}
	return 0;
}

int infer_run(struct infer *x, struct graph *g, int64_t opset, const struct infer_options *o,
	      struct err *e)
{
	*x = (struct infer){.g = g, .options = o, .opset = opset > 0 ? opset : 1};
	if (resolve_inputs(x, e))
		return -1;
	for (int i = 0; i < g->nnode; i++)
		if (infer_node(x, &g->node[g->order[i]], e))
			return -1;
	return 0;
}

void infer_free(struct infer *x)
{
	map_free(&x->symbols);
	map_free(&x->unknown);
	map_free(&x->open);
}

int infer_shape_option(struct input_shape *s, const char *text, struct err *e)
{
	const char *colon = strrchr(text, ':');
	const char *p = colon ? colon + 1 : "";

	*s = (struct input_shape){0};
	while (*p) {
		char *end;
		long long v = strtoll(p, &end, 10);

		if (end == p || (*end && *end != ',') || v < 1 || v > MAX_ELEMENTS ||
		    s->shape.rank == GRAPH_MAX_RANK)
			break;
		s->shape.dim[s->shape.rank++] = v;
		p = *end ? end + 1 : end;
	}
	if (!colon || colon == text || *p || colon[1] == 0 || colon[strlen(colon) - 1] == ',')
		return err_status(
			e, EXIT_USAGE,
			"--shape wants NAME:1,3,224,224 (sizes of 1 and more), not \"%s\"", text);
	s->name = strndup(text, (size_t)(colon - text));
	if (!s->name)
		die_no_memory();
	return 0;
}

void infer_shape_free(struct input_shape *s)
{
	free(s->name);
	s->name = NULL;
}
