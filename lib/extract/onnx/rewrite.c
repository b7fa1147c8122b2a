#include "lib/extract/onnx/rewrite.h"

#include <string.h>

int rewrite_in(const struct rewrite *r, int i)
{
	return i < r->n->nin ? r->n->in[i] : -1;
}

int rewrite_out(const struct rewrite *r, int i)
{
	return i < r->n->nout ? r->n->out[i] : -1;
}

int rewrite_between(struct rewrite *r, const char *what)
{
	const int out = rewrite_out(r, 0);
	const char *name = r->n->name[0] ? r->n->name : out < 0 ? "" : r->b.g->value[out]->name;

	return build_value(&r->b, arena_printf(r->b.a, "%s/%s", name, what));
}

static int between(const struct formula *f, const char *what)
{
	return rewrite_between(f->ctx, what);
}

struct formula rewrite_formula(struct rewrite *r)
{
	struct formula f = formula_node(&r->b, r->n);

	f.name = r->n->name;
	f.between = between;
	f.ctx = r;
	return f;
}

void rewrite_keep(struct rewrite *r)
{
	*graph_add_node(r->b.g) = *r->n;
}

int rewrite_plus(struct rewrite *r, int in, int addend)
{
	return addend < 0 ? in : rewrite_make(r, "sum = Add(@%d @%d)", in, addend);
}

const char *rewrite_product(int addend)
{
	return addend < 0 ? "$0" : "product";
}

void rewrite_sum(struct rewrite *r, int product, int addend)
{
	if (addend >= 0)
		rewrite_make(r, "$0 = Add(@%d @%d)", product, addend);
}

int rewrite_concat(struct rewrite *r, int (*part)(struct rewrite *r, int i), const char *made)
{
	const int count = r->n->nin > 4 ? (r->n->nin - 2) / 3 : 0;
	int *in = arena_array(r->b.a, int, count + 1);

	for (int i = 0; i < count; i++)
		in[i] = part(r, 2 + 3 * i);
	rewrite_make(r, "%s = Concat() axis=%lld", made, (long long)node_int(r->n, "axis", 0));
	build_last(&r->b)->in = in;
	build_last(&r->b)->nin = build_last(&r->b)->ndeps = count;
	return build_last(&r->b)->out[0];
}

/* The activation that an attribute names, from `in` to the node's output. */
static void activate(struct rewrite *r, int in, const char *type)
{
	static const struct {
		const char *type, *first, *second;
	} names[] = {{"Clip", "min", "max"},
		     {"LeakyRelu", "alpha", NULL},
		     {"HardSigmoid", "alpha", "beta"}};
	const struct attr *given = node_attr(r->n, "activation_params");
	const float p = given && given->nfloats > 0 ? given->floats[0]
						    : node_float(r->n, "activation_alpha", 0);
	const float q = given && given->nfloats > 1 ? given->floats[1]
						    : node_float(r->n, "activation_beta", 0);

	rewrite_make(r, "$0 = Identity(@%d)", in);
	build_last(&r->b)->type = type;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (strcmp(type, names[i].type) != 0)
			continue;
		build_float(&r->b, build_last(&r->b), names[i].first, p);
		if (names[i].second)
			build_float(&r->b, build_last(&r->b), names[i].second, q);
	}
}

/* A product, or a convolution with an addend (input 3), and an activation behind it. */
static void fused(struct rewrite *r)
{
	const char *activation = node_str(r->n, "activation", "");
	const int addend = strcmp(r->onnx, "Conv") ? -1 : rewrite_in(r, 3);
	int out = rewrite_make(r, "%s = %s(0 1 2) *-activation",
			       activation[0] ? "product" : rewrite_product(addend), r->onnx);

	build_last(&r->b)->channels_last = r->channels_last;
	if (!activation[0]) {
		rewrite_sum(r, out, addend);
		return;
	}
	out = rewrite_plus(r, out, addend);
	activate(r, out, activation);
}

static void reorder_input(struct rewrite *r)
{
	const int is_last = node_int(r->n, "channels_last", 0) != 0;
	const int first =
		is_last ? rewrite_make(r, "first = Transpose(0) perm=[0,3,1,2]") : rewrite_in(r, 0);

	rewrite_make(r, "$0 = BlockChannels(@%d) block=%d", first, r->block);
}

/* What was padded to whole blocks goes. */
static void reorder_output(struct rewrite *r)
{
	const int is_last = node_int(r->n, "channels_last", 0) != 0;

	rewrite_make(r, "%s = Slice(0) starts=[0] ends=[%lld] axes=[1]", is_last ? "first" : "$0",
		     (long long)node_int(r->n, "channels", INT64_MAX));
	if (is_last)
		rewrite_make(r, "$0 = Transpose(@%d) perm=[0,2,3,1]", build_last(&r->b)->out[0]);
}

static void nchwc_upsample(struct rewrite *r)
{
	const struct attr *a = node_attr(r->n, "scales");
	struct attr to = {.name = "scales"};

	to.floats = arena_array(r->b.a, float, a ? a->nints + 1 : 1);
	for (int i = 0; a && i < a->nints; i++)
		to.floats[to.nfloats++] = (float)a->ints[i];
	rewrite_make(r, "$0 = Upsample(0)");
	build_attr(&r->b, build_last(&r->b), &to);
}

/* GELU of a sum with a bias. */
static void bias_gelu(struct rewrite *r)
{
	rewrite_make(r, "$0 = Gelu(@%d)%s", rewrite_plus(r, rewrite_in(r, 0), rewrite_in(r, 1)),
		     strcmp(r->n->type, "FastGelu") ? "" : " approximate=tanh");
}

static void say_epsilon(struct rewrite *r)
{
	build_float(&r->b, build_last(&r->b), "epsilon", node_float(r->n, "epsilon", 1e-12F));
}

/* Normalization of a sum: of input, skip and a bias; the sum is output 3. */
static void skip_norm(struct rewrite *r)
{
	const int is_simple = strstr(r->n->type, "Simplified") != NULL;
	const int skip = rewrite_plus(r, rewrite_in(r, 1), rewrite_in(r, is_simple ? 3 : 4));
	const int sum =
		rewrite_make(r, "%s = Add(0 @%d)", rewrite_out(r, 3) < 0 ? "sum" : "$3", skip);

	rewrite_make(r, "$0? $1? $2? = %s(@%d 2 @%d)",
		     is_simple ? "SimplifiedLayerNormalization" : "LayerNormalization", sum,
		     is_simple ? -1 : rewrite_in(r, 3));
	say_epsilon(r);
}

int rewrite_size(struct rewrite *r, int of, int axis)
{
	return rewrite_make(r, "size = Shape(@%d) start=%d end=%d", of, axis, axis + 1);
}

/* Looks rows of a table up: those that an input names, or, without it, the first ones, a row a
 * place. -1: there is no table. */
static int rows_of(struct rewrite *r, int table, int by, const char *what)
{
	const int64_t zero = 0;
	int start, size;

	if (rewrite_in(r, table) < 0 || (rewrite_in(r, by) < 0 && table != 3))
		return -1;
	if (rewrite_in(r, by) >= 0)
		return rewrite_make(r, "%s = Gather(%d %d)", what, table, by);
	start = build_integers(&r->b, &zero, 1);
	size = rewrite_size(r, rewrite_in(r, 0), 1);
	return rewrite_make(r, "%s = Slice(%d @%d @%d @%d)", what, table, start, size, start);
}

/* The sum of the rows of tables for words, places and kinds, normalized. How many words each text
 * has the mask tells (input 7); without it, there are 0. */
static void embed_norm(struct rewrite *r)
{
	int sum = rows_of(r, 2, 0, "words"), places = rows_of(r, 3, 8, "places");

	sum = rewrite_plus(r, rewrite_plus(r, sum, places), rows_of(r, 4, 1, "kinds"));
	rewrite_make(r, "$0 = LayerNormalization(@%d 5 6)", sum);
	say_epsilon(r);
	if (rewrite_out(r, 2) >= 0)
		rewrite_make(r, "$2 = Identity(@%d)", sum);
	if (rewrite_out(r, 1) >= 0 && rewrite_in(r, 7) >= 0)
		rewrite_make(r, "$1 = ReduceSum(7) axes=[1] keepdims=0");
	else if (rewrite_out(r, 1) >= 0)
		rewrite_make(r, "size = Shape(0) start=0 end=1; $1 = ConstantOfShape(size)");
}

#define MS "com.microsoft"
#define NHWC "com.ms.internal.nhwc"
#define NCHWC "com.microsoft.nchwc"
/* A pool of blocks of channels has the shapes of one without. */
#define POOL(type)                                                                                 \
	{                                                                                          \
		{                                                                                  \
			NULL, "$0 = " type "(0) *"                                                 \
		}                                                                                  \
	}
/* ONNX has the operator, too, since another set or for fewer types. */
#define SAME(call)                                                                                 \
	{                                                                                          \
		{NULL, "$0 = " call " *"},                                                         \
		{                                                                                  \
			NULL, "$0 = " call " *"                                                    \
		}                                                                                  \
	}
#define REAL_RESULT(type)                                                                          \
	"real1 = DequantizeLinear(0 1 2) axis=1; real2 = DequantizeLinear(3 4 5) axis=1; "         \
	"result = " type "(real1 real2); $0 = QuantizeLinear(result 6 7)"

static const struct rewrite_row table[] = {
	{"", "Attention", {{rewrite_attention}}},
	{"", "ConvInteger", {{0}, {rewrite_integers}}},
	{"", "DynamicQuantizeLinear", {{0}, {rewrite_dynamic_quantize}}},
	{"", "MatMulInteger", {{0}, {rewrite_integers}}},
	{"", "QLinearConv", {{0}, {rewrite_linear_conv}}},
	{"", "QLinearMatMul", {{0}, {rewrite_linear_matmul}}},
	{MS, "Attention", {{rewrite_ms_attention}, {rewrite_run_attention}}},
	{MS, "BiasGelu", {{bias_gelu}, {bias_gelu}}},
	{MS, "DequantizeLinear", SAME("DequantizeLinear(0 1 2)")},
	{MS, "DynamicQuantizeLSTM", {{rewrite_dynamic_lstm}}},
	{MS, "DynamicQuantizeMatMul", {{rewrite_dynamic_matmul}}},
	{MS, "EmbedLayerNormalization", {{embed_norm}, {embed_norm}}},
	{MS, "FastGelu", {{bias_gelu}, {bias_gelu}}},
	{MS, "FusedConv", {{fused, "Conv"}, {fused, "Conv"}}},
	{MS, "FusedGemm", {{fused, "Gemm"}, {fused, "Gemm"}}},
	{MS, "FusedMatMul", {{NULL, "$0 = MatMul(0 1) *-activation"}, {rewrite_run_matmul}}},
	{MS, "Gelu", {{0}, {NULL, "$0 = Gelu(0)"}}},
	{MS, "GridSample", SAME("GridSample(0 1)")},
	{MS, "GroupQueryAttention", {{rewrite_group_query}, {rewrite_run_group_query}}},
	{MS, "MatMulBnb4", {{rewrite_matmul_bits}}},
	{MS, "MatMulFpQ4", {{rewrite_matmul_bits}}},
	{MS, "MatMulIntegerToFloat", {{rewrite_matmul_to_float}}},
	{MS, "MatMulNBits", {{rewrite_matmul_bits}, {rewrite_linear_bits}}},
	{MS, "MultiHeadAttention", {{rewrite_multi_head}, {rewrite_run_multi_head}}},
	{MS, "NhwcConv", {{fused, "Conv"}}, 1},
	{MS, "NhwcFusedConv", {{fused, "Conv"}}, 1},
	{MS, "NhwcMaxPool", POOL("MaxPool"), 1},
	{MS, "Pad", SAME("Pad(0 1 2)")},
	{MS, "QAttention", {{rewrite_q_attention}, {rewrite_run_q_attention}}},
	/* A, scale, zero, B, scale, zero, C, and the scale and zero of the result. */
	{MS,
	 "QGemm",
	 {{NULL, "$0 = QLinearMatMul(0 1 2 3 4 5 7 8) transA transB"}, {rewrite_linear_gemm}}},
	/* Results halfway between two steps may be a step from onnxruntime's, which multiplies what
	 * is left of whole numbers by one factor, and adds the zero point of the result before it
	 * rounds. QuantizeLinear rounds first. */
	{MS, "QLinearAdd", {{NULL, "$0 = Add(0 3)"}, {NULL, REAL_RESULT("Add")}}},
	{MS, "QLinearMul", {{NULL, "$0 = Mul(0 3)"}, {NULL, REAL_RESULT("Mul")}}},
	{MS, "QLinearAveragePool", {{rewrite_q_pool}, {rewrite_linear_pool}}},
	{MS, "QLinearConcat", {{rewrite_q_concat}, {rewrite_linear_concat}}},
	{MS, "QLinearConv", {{rewrite_q_conv}}},
	{MS, "QLinearGlobalAveragePool", {{rewrite_q_pool}, {rewrite_linear_unary}}},
	{MS, "QLinearLeakyRelu", {{0}, {rewrite_linear_unary}}},
	{MS, "QLinearSigmoid", {{0}, {rewrite_linear_unary}}},
	{MS, "QLinearSoftmax", {{0}, {rewrite_linear_softmax}}},
	{MS,
	 "QLinearWhere",
	 {{0},
	  {NULL, "real1 = DequantizeLinear(1 2 3) axis=1; real2 = DequantizeLinear(4 5 6) axis=1; "
		 "result = Where(0 real1 real2); $0 = QuantizeLinear(result 7 8)"}}},
	{MS, "QuantizeLinear", SAME("QuantizeLinear(0 1 2)")},
	{MS, "QuickGelu", {{0}, {rewrite_quick_gelu}}},
	{MS, "Range", SAME("Range(0 1 2)")},
	{MS, "RotaryEmbedding", {{0}, {rewrite_run_rotary}}},
	{MS, "SkipLayerNormalization", {{skip_norm}, {skip_norm}}},
	{MS, "SkipSimplifiedLayerNormalization", {{skip_norm}, {skip_norm}}},
	{MS, "TransposeMatMul", {{NULL, "$0 = MatMul(0 1) *-activation"}, {rewrite_run_matmul}}},
	{MS, "Trilu", SAME("Trilu(0 1)")},
	{NHWC, "AveragePool", POOL("AveragePool"), 1},
	{NHWC, "Conv", {{fused, "Conv"}}, 1},
	{NHWC, "MaxPool", POOL("MaxPool"), 1},
	{NCHWC, "AveragePool", POOL("AveragePool")},
	{NCHWC, "Conv", {{fused, "Conv"}}},
	{NCHWC, "GlobalAveragePool", POOL("GlobalAveragePool")},
	{NCHWC, "GlobalMaxPool", POOL("GlobalMaxPool")},
	{NCHWC, "MaxPool", POOL("MaxPool")},
	{NCHWC, "ReorderInput", {{reorder_input}}},
	{NCHWC, "ReorderOutput", {{reorder_output}}},
	{NCHWC, "Upsample", {{nchwc_upsample}}},
};

static const struct rewrite_row *find(const struct graph_node *n, int runs)
{
	const char *domain = strcmp(n->domain, "ai.onnx") ? n->domain : "";

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].domain[0] == domain[0] && !strcmp(table[i].type, n->type) &&
		    !strcmp(table[i].domain, domain) && n->nin)
			return table[i].how[runs].fn || table[i].how[runs].onnx ? &table[i] : NULL;
	return NULL;
}

/* Blocks have 16 channels, or 8 if the filters of a convolution are no multiple of that. */
static int block_size(const struct graph *g)
{
	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];
		const struct value *w = node_in(g, n, 1);

		if (!strcmp(n->domain, NCHWC) && !strcmp(n->type, "Conv") && w &&
		    w->shape.rank > 0 && w->shape.dim[0] % 16)
			return 8;
	}
	return 16;
}

static void replace(struct rewrite *r, const struct rewrite_row *row, int runs)
{
	const struct rewrite_how *how = &row->how[runs];

	r->onnx = how->onnx;
	r->channels_last = row->channels_last;
	if (how->fn) {
		how->fn(r);
		return;
	}
	rewrite_make(r, "%s", how->onnx);
	build_last(&r->b)->channels_last = row->channels_last;
}

void onnx_rewrite(struct graph *g, int runs)
{
	struct rewrite r = {.b = {.a = g->a, .g = g}};
	const struct graph_node *old;
	int n, any = 0;

	for (int i = 0; i < g->nnode; i++)
		any |= find(&g->node[i], runs) != NULL;
	if (!any)
		return;
	r.block = block_size(g);
	old = graph_start_over(g, &n);
	for (int i = 0; i < n; i++) {
		const struct rewrite_row *row = find(&old[i], runs);

		r.n = &old[i];
		if (row)
			replace(&r, row, runs);
		else
			rewrite_keep(&r);
	}
}
