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
	int out = rewrite_out(r, 0);
	const char *name = r->n->name[0] ? r->n->name : out < 0 ? "" : r->b.g->value[out]->name;

	return build_value(&r->b, arena_printf(r->b.a, "%s/%s", name, what));
}

int rewrite_made(struct rewrite *r, int i)
{
	int out = rewrite_out(r, i);

	return out < 0 ? rewrite_between(r, "unread") : out;
}

struct graph_node *rewrite_node(struct rewrite *r, const char *type, const int *in, int nin,
				int out)
{
	struct graph_node *n = build_node(&r->b, type, in, nin, &out, 1);

	n->name = r->n->name;
	return n;
}

int rewrite_one(struct rewrite *r, const char *type, int in, const char *what)
{
	int out = rewrite_between(r, what);

	rewrite_node(r, type, &in, 1, out);
	return out;
}

void rewrite_keep(struct rewrite *r)
{
	*graph_add_node(r->b.g) = *r->n;
}

int rewrite_plus(struct rewrite *r, int in, int addend)
{
	const int both[] = {in, addend};
	int out;

	if (addend < 0)
		return in;
	out = rewrite_between(r, "sum");
	rewrite_node(r, "Add", both, 2, out);
	return out;
}

void rewrite_copy_attrs(struct rewrite *r, struct graph_node *n, const char *but)
{
	n->attr = arena_array(r->b.a, struct attr, r->n->nattr + 1);
	n->nattr = 0;
	for (int i = 0; i < r->n->nattr; i++)
		if (strncmp(r->n->attr[i].name, but, strlen(but)) != 0)
			n->attr[n->nattr++] = r->n->attr[i];
}

/* The activation that an attribute names, from `in` to the node's output. */
static void activate(struct rewrite *r, int in, const char *type)
{
	const struct attr *given = node_attr(r->n, "activation_params");
	float p = given && given->nfloats > 0 ? given->floats[0]
					      : node_float(r->n, "activation_alpha", 0);
	float q = given && given->nfloats > 1 ? given->floats[1]
					      : node_float(r->n, "activation_beta", 0);
	struct graph_node *n = rewrite_node(r, type, &in, 1, rewrite_made(r, 0));

	if (!strcmp(type, "Clip")) {
		build_float(&r->b, n, "min", p);
		build_float(&r->b, n, "max", q);
	} else if (!strcmp(type, "LeakyRelu")) {
		build_float(&r->b, n, "alpha", p);
	} else if (!strcmp(type, "HardSigmoid")) {
		build_float(&r->b, n, "alpha", p);
		build_float(&r->b, n, "beta", q);
	}
}

/* A product, or a convolution with an addend (input 3), and an activation behind it. */
static void fused(struct rewrite *r)
{
	const char *activation = node_str(r->n, "activation", "");
	const int addend = strcmp(r->row->onnx, "Conv") ? -1 : rewrite_in(r, 3);
	int out = activation[0] || addend >= 0 ? rewrite_between(r, "product") : rewrite_made(r, 0);
	int in[3], nin = 3;
	struct graph_node *n;

	for (int i = 0; i < 3; i++)
		in[i] = rewrite_in(r, i);
	while (nin > 1 && in[nin - 1] < 0)
		nin--;
	n = rewrite_node(r, r->row->onnx, in, nin, out);
	rewrite_copy_attrs(r, n, "activation");
	n->channels_last = r->row->channels_last;
	if (addend >= 0 && activation[0]) {
		out = rewrite_plus(r, out, addend);
	} else if (addend >= 0) {
		const int both[] = {out, addend};

		rewrite_node(r, "Add", both, 2, rewrite_made(r, 0));
	}
	if (activation[0])
		activate(r, out, activation);
}

static void fused_matmul(struct rewrite *r)
{
	const int in[] = {rewrite_in(r, 0), rewrite_in(r, 1)};
	struct graph_node *n = rewrite_node(r, "MatMul", in, 2, rewrite_made(r, 0));

	rewrite_copy_attrs(r, n, "activation");
}

/* A pool. One of blocks of channels has the shapes of one without. */
static void pool(struct rewrite *r)
{
	struct graph_node *n =
		rewrite_node(r, r->row->onnx, r->n->in, r->n->nin, rewrite_made(r, 0));

	n->attr = r->n->attr;
	n->nattr = r->n->nattr;
	n->channels_last = r->row->channels_last;
}

static void turn(struct rewrite *r, int in, int out, int to_last)
{
	static const int64_t last[] = {0, 2, 3, 1}, first[] = {0, 3, 1, 2};

	build_ints(&r->b, rewrite_node(r, "Transpose", &in, 1, out), "perm", to_last ? last : first,
		   4);
}

static void reorder_input(struct rewrite *r)
{
	int in = rewrite_in(r, 0), first = in;

	if (node_int(r->n, "channels_last", 0)) {
		first = rewrite_between(r, "first");
		turn(r, in, first, 0);
	}
	build_int(&r->b, rewrite_node(r, "BlockChannels", &first, 1, rewrite_made(r, 0)), "block",
		  r->block);
}

/* What was padded to whole blocks goes. */
static void reorder_output(struct rewrite *r)
{
	const int64_t from = 0, to = node_int(r->n, "channels", INT64_MAX), axis = 1;
	int last = node_int(r->n, "channels_last", 0) != 0, in = rewrite_in(r, 0);
	int out = last ? rewrite_between(r, "first") : rewrite_made(r, 0);
	struct graph_node *n = rewrite_node(r, "Slice", &in, 1, out);

	build_ints(&r->b, n, "starts", &from, 1);
	build_ints(&r->b, n, "ends", &to, 1);
	build_ints(&r->b, n, "axes", &axis, 1);
	if (last)
		turn(r, out, rewrite_made(r, 0), 1);
}

static void nchwc_upsample(struct rewrite *r)
{
	const struct attr *a = node_attr(r->n, "scales");
	int in = rewrite_in(r, 0), out = rewrite_made(r, 0);
	struct graph_node *n = rewrite_node(r, "Upsample", &in, 1, out);
	struct attr *to = arena_new(r->b.a, struct attr);

	*to = (struct attr){.name = "scales"};
	to->floats = arena_array(r->b.a, float, a ? a->nints + 1 : 1);
	for (int i = 0; a && i < a->nints; i++)
		to->floats[to->nfloats++] = (float)a->ints[i];
	n->attr = to;
	n->nattr = 1;
}

/* GELU of a sum with a bias. */
static void bias_gelu(struct rewrite *r)
{
	int in = rewrite_plus(r, rewrite_in(r, 0), rewrite_in(r, 1));
	struct graph_node *n = rewrite_node(r, "Gelu", &in, 1, rewrite_made(r, 0));

	if (!strcmp(r->n->type, "FastGelu"))
		build_str(&r->b, n, "approximate", "tanh");
}

/* Normalization of a sum: of input, skip and a bias; the sum is output 3. */
static void skip_norm(struct rewrite *r)
{
	int simple = strstr(r->n->type, "Simplified") != NULL;
	int bias = rewrite_in(r, simple ? 3 : 4), sum = rewrite_out(r, 3);
	int first[] = {rewrite_in(r, 0), rewrite_in(r, 1)}, in[3], out[3];
	struct graph_node *n;

	if (bias >= 0)
		first[1] = rewrite_plus(r, first[1], bias);
	if (sum < 0)
		sum = rewrite_between(r, "sum");
	rewrite_node(r, "Add", first, 2, sum);
	in[0] = sum;
	in[1] = rewrite_in(r, 2);
	in[2] = simple ? -1 : rewrite_in(r, 3);
	for (int i = 0; i < 3; i++)
		out[i] = rewrite_out(r, i);
	n = build_node(&r->b, simple ? "SimplifiedLayerNormalization" : "LayerNormalization", in,
		       in[2] < 0 ? 2 : 3, out, out[1] < 0 && out[2] < 0 ? 1 : 3);
	n->name = r->n->name;
	build_float(&r->b, n, "epsilon", node_float(r->n, "epsilon", 1e-12F));
}

int rewrite_size(struct rewrite *r, int of, int64_t axis)
{
	int out = rewrite_between(r, "size");
	struct graph_node *n = rewrite_node(r, "Shape", &of, 1, out);

	build_int(&r->b, n, "start", axis);
	build_int(&r->b, n, "end", axis + 1);
	return out;
}

/* Looks rows of a table up: those that an input names, or, without it, the first ones, a row a
 * place. -1: there is no table. */
static int rows_of(struct rewrite *r, int table, int by, const char *what)
{
	const int64_t zero = 0;
	int out, in[4] = {rewrite_in(r, table), rewrite_in(r, by)};

	if (in[0] < 0 || (in[1] < 0 && table != 3))
		return -1;
	out = rewrite_between(r, what);
	if (in[1] >= 0) {
		rewrite_node(r, "Gather", in, 2, out);
		return out;
	}
	in[1] = in[3] = build_integers(&r->b, &zero, 1);
	in[2] = rewrite_size(r, rewrite_in(r, 0), 1);
	rewrite_node(r, "Slice", in, 4, out);
	return out;
}

/* How many words each text has: as the mask (input 7) tells, else 0. */
static void count_words(struct rewrite *r)
{
	const int64_t axis = 1;
	int mask = rewrite_in(r, 7), size;
	struct graph_node *n;

	if (mask < 0) {
		size = rewrite_size(r, rewrite_in(r, 0), 0);
		rewrite_node(r, "ConstantOfShape", &size, 1, rewrite_out(r, 1));
		return;
	}
	n = rewrite_node(r, "ReduceSum", &mask, 1, rewrite_out(r, 1));
	build_ints(&r->b, n, "axes", &axis, 1);
	build_int(&r->b, n, "keepdims", 0);
}

/* The sum of the rows of tables for words, places and kinds, normalized. */
static void embed_norm(struct rewrite *r)
{
	int sum = rows_of(r, 2, 0, "words"), places = rows_of(r, 3, 8, "places");
	int all = rewrite_out(r, 2), in[3];

	sum = rewrite_plus(r, rewrite_plus(r, sum, places), rows_of(r, 4, 1, "kinds"));
	in[0] = sum;
	in[1] = rewrite_in(r, 5);
	in[2] = rewrite_in(r, 6);
	build_float(
		&r->b,
		rewrite_node(r, "LayerNormalization", in, in[2] < 0 ? 2 : 3, rewrite_made(r, 0)),
		"epsilon", node_float(r->n, "epsilon", 1e-12F));
	if (all >= 0)
		rewrite_node(r, "Identity", &sum, 1, all);
	if (rewrite_out(r, 1) >= 0)
		count_words(r);
}

static const struct rewrite_row table[] = {
	{"", "Attention", rewrite_attention},
	{"com.microsoft", "Attention", rewrite_ms_attention},
	{"com.microsoft", "MultiHeadAttention", rewrite_multi_head},
	{"com.microsoft", "GroupQueryAttention", rewrite_group_query},
	{"com.microsoft", "QAttention", rewrite_q_attention},
	{"com.microsoft", "FusedConv", fused, "Conv"},
	{"com.microsoft", "NhwcFusedConv", fused, "Conv", 1},
	{"com.microsoft", "NhwcConv", fused, "Conv", 1},
	{"com.microsoft", "NhwcMaxPool", pool, "MaxPool", 1},
	{"com.ms.internal.nhwc", "Conv", fused, "Conv", 1},
	{"com.ms.internal.nhwc", "MaxPool", pool, "MaxPool", 1},
	{"com.ms.internal.nhwc", "AveragePool", pool, "AveragePool", 1},
	{"com.microsoft", "FusedGemm", fused, "Gemm"},
	{"com.microsoft", "FusedMatMul", fused_matmul},
	{"com.microsoft", "TransposeMatMul", fused_matmul},
	{"com.microsoft", "BiasGelu", bias_gelu},
	{"com.microsoft", "FastGelu", bias_gelu},
	{"com.microsoft", "SkipLayerNormalization", skip_norm},
	{"com.microsoft", "SkipSimplifiedLayerNormalization", skip_norm},
	{"com.microsoft", "EmbedLayerNormalization", embed_norm},
	{"com.microsoft", "MatMulNBits", rewrite_matmul_bits},
	{"com.microsoft", "MatMulBnb4", rewrite_matmul_bits},
	{"com.microsoft", "MatMulFpQ4", rewrite_matmul_bits},
	{"com.microsoft", "QLinearConv", rewrite_q_conv},
	{"com.microsoft", "QLinearAdd", rewrite_q_binary},
	{"com.microsoft", "QLinearMul", rewrite_q_binary},
	{"com.microsoft", "QLinearConcat", rewrite_q_concat},
	{"com.microsoft", "QLinearAveragePool", rewrite_q_pool},
	{"com.microsoft", "QLinearGlobalAveragePool", rewrite_q_pool},
	{"com.microsoft", "QGemm", rewrite_q_gemm},
	{"com.microsoft", "DynamicQuantizeMatMul", rewrite_dynamic_matmul},
	{"com.microsoft", "DynamicQuantizeLSTM", rewrite_dynamic_lstm},
	{"com.microsoft", "MatMulIntegerToFloat", rewrite_matmul_to_float},
	{"com.microsoft.nchwc", "Conv", fused, "Conv"},
	{"com.microsoft.nchwc", "MaxPool", pool, "MaxPool"},
	{"com.microsoft.nchwc", "AveragePool", pool, "AveragePool"},
	{"com.microsoft.nchwc", "GlobalMaxPool", pool, "GlobalMaxPool"},
	{"com.microsoft.nchwc", "GlobalAveragePool", pool, "GlobalAveragePool"},
	{"com.microsoft.nchwc", "Upsample", nchwc_upsample},
	{"com.microsoft.nchwc", "ReorderInput", reorder_input},
	{"com.microsoft.nchwc", "ReorderOutput", reorder_output},
};

/* These become nodes that say all that they compute. */
static const struct rewrite_row whole[] = {
	{"", "ConvInteger", rewrite_integers},
	{"", "DynamicQuantizeLinear", rewrite_dynamic_quantize},
	{"", "MatMulInteger", rewrite_integers},
	{"", "QLinearConv", rewrite_linear_conv},
	{"", "QLinearMatMul", rewrite_linear_matmul},
	{"com.microsoft", "Attention", rewrite_run_attention},
	{"com.microsoft", "BiasGelu", bias_gelu},
	{"com.microsoft", "EmbedLayerNormalization", embed_norm},
	{"com.microsoft", "FastGelu", bias_gelu},
	{"com.microsoft", "FusedConv", fused, "Conv"},
	{"com.microsoft", "FusedGemm", fused, "Gemm"},
	{"com.microsoft", "FusedMatMul", rewrite_run_matmul},
	{"com.microsoft", "Gelu", rewrite_gelu},
	{"com.microsoft", "GroupQueryAttention", rewrite_run_group_query},
	{"com.microsoft", "MatMulNBits", rewrite_linear_bits},
	{"com.microsoft", "MultiHeadAttention", rewrite_run_multi_head},
	{"com.microsoft", "QAttention", rewrite_run_q_attention},
	{"com.microsoft", "QGemm", rewrite_linear_gemm},
	{"com.microsoft", "QLinearAdd", rewrite_linear_binary},
	{"com.microsoft", "QLinearAveragePool", rewrite_linear_unary},
	{"com.microsoft", "QLinearConcat", rewrite_linear_concat},
	{"com.microsoft", "QLinearGlobalAveragePool", rewrite_linear_unary},
	{"com.microsoft", "QLinearLeakyRelu", rewrite_linear_unary},
	{"com.microsoft", "QLinearMul", rewrite_linear_binary},
	{"com.microsoft", "QLinearSigmoid", rewrite_linear_unary},
	{"com.microsoft", "QLinearSoftmax", rewrite_linear_softmax},
	{"com.microsoft", "QLinearWhere", rewrite_linear_where},
	{"com.microsoft", "QuickGelu", rewrite_quick_gelu},
	{"com.microsoft", "RotaryEmbedding", rewrite_run_rotary},
	{"com.microsoft", "SkipLayerNormalization", skip_norm},
	{"com.microsoft", "SkipSimplifiedLayerNormalization", skip_norm},
	{"com.microsoft", "TransposeMatMul", rewrite_run_matmul},
};

static const struct rewrite_row *find(const struct graph_node *n, int runs)
{
	const char *domain = strcmp(n->domain, "ai.onnx") ? n->domain : "";
	const struct rewrite_row *row = runs ? whole : table;
	const size_t rows = runs ? sizeof whole / sizeof *whole : sizeof table / sizeof *table;

	for (size_t i = 0; i < rows; i++)
		if (!strcmp(row[i].type, n->type) && !strcmp(row[i].domain, domain) && n->nin)
			return &row[i];
	return NULL;
}

/* Blocks have 16 channels, or 8 if the filters of a convolution are no multiple of that. */
static int64_t block_size(const struct graph *g)
{
	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[i];
		const struct value *w = node_in(g, n, 1);

		if (!strcmp(n->domain, "com.microsoft.nchwc") && !strcmp(n->type, "Conv") && w &&
		    w->shape.rank > 0 && w->shape.dim[0] % 16)
			return 8;
	}
	return 16;
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
		r.n = &old[i];
		r.row = find(r.n, runs);
		if (r.row)
			r.row->fn(&r);
		else
			*graph_add_node(g) = old[i];
	}
}
