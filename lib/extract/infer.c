#include "lib/extract/infer.h"

#include <stdio.h>
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
	/* Not of ONNX: */
	{"FloorDiv", infer_nary, SAME}, /* rounds down; Div of integers rounds to 0 */
	{"SpaceToBatch", infer_space_to_batch, MOVES},
	{"BatchToSpace", infer_space_to_batch, MOVES},
	{"BlockChannels", infer_block_channels, MOVES},
	{"RepeatHeads", infer_repeat_heads, MOVES},
	{"Repeat", infer_repeat, MOVES},
	{"SwapAxes", infer_swap_axes, MOVES},
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
	{"NonZero", infer_non_zero, INDEX},
	{"Where", infer_where, OWN},
	{"CumSum", infer_cumsum, SAME},
	{"Scatter", infer_scatter, MOVES},
	{"ScatterElements", infer_scatter, MOVES},
	{"ScatterND", infer_scatter, MOVES},
	{"PRelu", infer_prelu, SAME},
	{"Identity", infer_unary, MOVES},
	{"Dropout", infer_dropout, MOVES},
	{"Cast", infer_unary, CAST},
	{"CastLike", infer_unary, CAST_LIKE},
	{"QuantizeLinear", infer_unary, BYTES},
	{"DynamicQuantizeLinear", infer_quantize_dynamic, OWN},
	{"NonMaxSuppression", infer_boxes, INDEX},
	{"GridSample", infer_grid_sample, SAME},
	{"Bernoulli", infer_random_like, SAME},
	{"EyeLike", infer_random_like, SAME},
	{"DequantizeLinear", infer_unary, FLOATS},
	{"BatchNormalization", infer_batch_norm, SAME},
	{"LayerNormalization", infer_layer_norm, SAME},
	{"Optional", infer_unary, MOVES},
	{"OptionalGetElement", infer_unary, MOVES},
	{"RandomNormalLike", infer_random_like, SAME},
	{"RandomUniformLike", infer_random_like, SAME},
	{"Add", infer_nary, SAME},
	{"Sub", infer_nary, SAME},
	{"Mul", infer_nary, SAME},
	{"Div", infer_nary, SAME},
	{"Pow", infer_nary, SAME},
	{"Mod", infer_nary, SAME},
	{"Max", infer_nary, SAME},
	{"Min", infer_nary, SAME},
	{"Sum", infer_nary, SAME},
	{"Mean", infer_nary, SAME},
	{"BitShift", infer_nary, SAME},
	{"BitwiseAnd", infer_nary, SAME},
	{"BitwiseOr", infer_nary, SAME},
	{"BitwiseXor", infer_nary, SAME},
	{"And", infer_nary, BOOLEAN},
	{"Or", infer_nary, BOOLEAN},
	{"Xor", infer_nary, BOOLEAN},
	{"Equal", infer_nary, BOOLEAN},
	{"Greater", infer_nary, BOOLEAN},
	{"GreaterOrEqual", infer_nary, BOOLEAN},
	{"Less", infer_nary, BOOLEAN},
	{"LessOrEqual", infer_nary, BOOLEAN},
	{"Not", infer_unary, BOOLEAN},
	{"IsNaN", infer_unary, BOOLEAN},
	{"IsInf", infer_unary, BOOLEAN},
	{"RegexFullMatch", infer_unary, BOOLEAN},
	{"StringConcat", infer_nary, SAME},
	{"SwiGLU", infer_nary, SAME},
	{"BitCast", infer_unary, CAST},
	{"RoiAlign", infer_regions, SAME},
	{"MaxRoiPool", infer_regions, SAME},
	{"MaxUnpool", infer_unpool, SAME},
	{"Col2Im", infer_col2im, SAME},
	{"CenterCropPad", infer_center, MOVES},
	{"AffineGrid", infer_grid, SAME},
	{"Det", infer_det, SAME},
	{"DFT", infer_dft, SAME},
	{"STFT", infer_stft, SAME},
	{"BlackmanWindow", infer_window, OWN},
	{"HammingWindow", infer_window, OWN},
	{"HannWindow", infer_window, OWN},
	{"MelWeightMatrix", infer_mel, OWN},
	{"Multinomial", infer_multinomial, OWN},
	{"NegativeLogLikelihoodLoss", infer_loss, SAME},
	{"SoftmaxCrossEntropyLoss", infer_loss, SAME},
	{"RandomNormal", infer_random, OWN},
	{"RandomUniform", infer_random, OWN},
	{"Unique", infer_unique, SAME},
	{"Compress", infer_compress, MOVES},
	{"TfIdfVectorizer", infer_patterns, OWN},
	{"CausalConvWithState", infer_causal_conv, SAME},
	{"OptionalHasElement", infer_has_element, BOOLEAN},
	{"Attention", infer_attention, SAME},
	{"LinearAttention", infer_linear_attention, SAME},
	{"If", infer_if, OWN},
	{"Loop", infer_loop, OWN},
	{"Scan", infer_scan, OWN},
	{"While", infer_while, OWN},
	{"SequenceConstruct", infer_sequence_construct, OWN},
	{"SequenceEmpty", infer_sequence_construct, OWN},
	{"SequenceInsert", infer_sequence_insert, OWN},
	{"SequenceErase", infer_sequence_erase, OWN},
	{"SequenceAt", infer_sequence_at, OWN},
	{"SequenceLength", infer_sequence_length, OWN},
	{"SplitToSequence", infer_split_to_sequence, OWN},
	{"ConcatFromSequence", infer_concat_from_sequence, OWN},
	{"SetItem", infer_set_item, OWN},
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
	"CumProd",
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
	"RotaryEmbedding",
	"Round",
	"Selu",
	"Shrink",
	"Sigmoid",
	"Sign",
	"SimplifiedLayerNormalization",
	"Sin",
	"Sinh",
	"Softmax",
	"Softplus",
	"Softsign",
	"Sqrt",
	"Swish",
	"Tan",
	"Tanh",
	"TensorScatter",
	"ThresholdedRelu",
	"Trilu",
};

/* These operators of the com.microsoft domain make the shape of input 0. */
static const char *const contrib_like_first[] = {
	"Gelu",		  "QuickGelu",	    "SimplifiedLayerNormalization",
	"BiasAdd",	  "GroupNorm",	    "QLinearLeakyRelu",
	"QLinearSigmoid", "QLinearSoftmax", "RotaryEmbedding",
	"Trilu",
};

static const struct row like_first_row = {"", infer_unary, SAME};

static int listed(const char *const *list, size_t n, const char *type)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], type))
			return 1;
	return 0;
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const struct row *find_row(const struct graph_node *n)
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

static void set_type(struct infer *x, const struct graph_node *n, enum kind kind)
{
	const struct value *in = node_in(x->g, n, 0), *zero = node_in(x->g, n, 2);
	const struct value *second = node_in(x->g, n, 1);

	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v || kind == OWN)
			continue;
		v->elem = in ? in->elem : VALUE_UNKNOWN;
		v->quantized = kind == FLOATS || (kind == MOVES && in && in->quantized);
		v->quantized |= v->declared && v->declared->quantized;
		if (kind == SAME && node_attr(n, "dtype")) /* RandomNormalLike and its kin */
			v->elem = (int)node_int(n, "dtype", v->elem);
		else if (kind == BOOLEAN)
			v->elem = VALUE_BOOL;
		else if (kind == INDEX)
			v->elem = VALUE_I64;
		else if (kind == INT32)
			v->elem = VALUE_I32;
		else if (kind == CAST)
			v->elem = (int)node_int(n, "to", VALUE_UNKNOWN);
		else if (kind == FLOATS || kind == CAST_LIKE)
			v->elem = second ? second->elem : VALUE_F32;
		else if (kind == BYTES)
			v->elem = (int)node_int(n, "output_dtype", zero ? zero->elem : VALUE_U8);
	}
}

/* The declaration fills in what inference left open. */
static void use_declared(const struct infer *x, struct value *v)
{
	const struct declared *d = v->declared;
	const struct shape inferred = v->shape;

	if (!d)
		return;
	if (v->elem == VALUE_UNKNOWN)
		v->elem = d->elem;
	if (x->reshaped || d->shape.rank < 0 || infer_absurd(&d->shape))
		return;
	if (v->shape.rank < 0) {
		v->shape.rank = d->shape.rank;
		for (int i = 0; i < d->shape.rank; i++)
			v->shape.dim[i] = DIM_UNKNOWN;
	}
	if (v->shape.rank != d->shape.rank)
		return;
	for (int i = 0; i < d->shape.rank; i++) {
		if (v->shape.dim[i] >= 0)
			continue;
		if (d->shape.dim[i] > 0)
			v->shape.dim[i] = d->shape.dim[i];
		else if (d->symbol[i])
			(void)symbol_size(d->symbol[i], &x->symbols, &v->shape.dim[i]);
	}
	if (infer_absurd(&v->shape)) /* together, though neither is */
		v->shape = inferred;
}

void infer_count(struct map *m, struct arena *a, const char *key)
{
	int64_t **n = (int64_t **)map_put(m, key, strlen(key), NULL);

	if (!*n)
		*n = arena_new(a, int64_t);
	++**n;
}

/* Does it make other elements each time? */
static int is_random(const struct graph_node *n)
{
	static const char *const parts[] = {"andom",	  "rand",	    "ernoulli",
					    "ultinomial", "runcatedNormal", "oisson"};

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strstr(n->type, parts[i]))
			return 1;
	return 0;
}

/* What a node makes is constant if all that it reads is constant, also where no rule knows the
 * node. What it reads of unknown shape is to blame for its own. */
static void set_origin(struct infer *x, const struct graph_node *n, const struct row *row)
{
	int all_const = !is_random(n) && (n->ndeps || (row && row->fn == infer_constant));
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

/* Does the file tell the shapes of all that a node makes? */
static int is_told(const struct infer *x, const struct graph_node *n)
{
	if (!n->is_told || x->reshaped)
		return 0;
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(x->g, n, i);

		if (v && (!v->declared || !shape_known(&v->declared->shape) ||
			  infer_absurd(&v->declared->shape)))
			return 0;
	}
	return 1;
}

/* What multiplies relies on its rule's checks, whatever a file tells. */
static int is_checked(const struct row *row)
{
	return row && (row->fn == infer_conv || row->fn == infer_conv_transpose ||
		       row->fn == infer_matmul || row->fn == infer_gemm ||
		       row->fn == infer_einsum || row->fn == infer_rnn);
}

static void take_told(const struct infer *x, const struct graph_node *n, const struct row *row)
{
	const struct value *in = node_in(x->g, n, 0);

	for (int i = 0; i < n->nout; i++) {
		struct value *v = node_out(x->g, n, i);

		if (!v)
			continue;
		v->shape = v->declared->shape;
		v->elem = v->declared->elem;
		v->quantized = v->declared->quantized ||
			       (row && (row->kind == FLOATS ||
					(row->kind == MOVES && in && in->quantized)));
	}
}

/* The elements of what a node makes, where open sizes of others may depend on them: its rule knows
 * them, and its shape is told. */
static void follow_elements(struct infer *x, const struct graph_node *n, const struct row *row)
{
	struct value *v = node_out(x->g, n, 0);
	struct shape told;

	if (!row || !v || x->g->is_shaped || !elem_is_int(v->elem) ||
	    shape_count(&v->shape) > KEEP_INTS)
		return;
	told = v->shape;
	if (row->fn(x, n, NULL) || !shape_equal(&v->shape, &told))
		v->kept = NULL;
	v->shape = told;
	for (int i = 1; i < n->nout; i++) {
		struct value *other = node_out(x->g, n, i);

		if (other && other->declared)
			other->shape = other->declared->shape;
	}
}

int infer_node(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct row *row = find_row(n);

	if (is_told(x, n)) {
		if (is_checked(row) && row->fn(x, n, e))
			return -1;
		take_told(x, n, row);
		follow_elements(x, n, row);
		set_origin(x, n, row);
		return 0;
	}
	if (row) {
		infer_parameters(x, n);
		set_type(x, n, row->kind);
		if (row->fn(x, n, e))
			return -1;
	} else if (node_is_walked(n)) {
		if (infer_told_bodies(x, n, e))
			return -1;
	} else {
		infer_count(&x->unknown, x->g->a, n->type);
	}
	for (int i = 0; i < n->nout; i++)
		if (node_out(x->g, n, i))
			use_declared(x, node_out(x->g, n, i));
	set_origin(x, n, row);
	return 0;
}

/* A node may contradict itself because a size was taken for 1. */
static int blame_assumed(const struct infer *x, struct err *e)
{
	const char *name = x->assumed.n ? x->assumed.item[0].key : NULL;
	size_t n = strlen(e->msg);

	if (name && !strncmp(name, "a dimension of ", 15))
		snprintf(
			e->msg + n, sizeof e->msg - n,
			"; %s was taken for a batch of 1, and --batch or --shape give another size",
			name);
	else if (name)
		snprintf(e->msg + n, sizeof e->msg - n,
			 "; '%s' was taken for a batch of 1, and --dim %s=SIZE gives another size",
			 name, name);
	return -1;
}

int infer_run(struct infer *x, struct graph *g, int64_t opset, const struct infer_options *o,
	      struct err *e)
{
	*x = (struct infer){.g = g, .options = o, .opset = opset > 0 ? opset : 1};
	if (infer_inputs(x, e))
		return -1;
	for (int i = 0; i < g->nnode; i++)
		if (infer_node(x, &g->node[g->order[i]], e))
			return blame_assumed(x, e);
	return 0;
}

void infer_free(struct infer *x)
{
	map_free(&x->symbols);
	map_free(&x->unknown);
	map_free(&x->open);
	map_free(&x->unsized);
	map_free(&x->assumed);
}
