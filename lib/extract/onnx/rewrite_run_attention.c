/* onnxruntime's attentions become ONNX's, in graphs that are run: with masks, pasts and rotations.
 * ONNX's has two more inputs then, which onnxruntime alone has: a mask of keys, and the number of
 * each batch's last key (lib/run/lower_attention.c). What is of another kind stays as it is, which
 * is refused. */
#include "lib/base/words.h"
#include "lib/extract/onnx/rewrite.h"

/* Does the node have other attributes than these that are not 0? */
static int is_strange(const struct rewrite *r, const char *names)
{
	for (int i = 0; i < r->n->nattr; i++) {
		const struct attr *a = &r->n->attr[i];

		if (!words_are(names, a->name) &&
		    (a->i || a->f != 0 || a->s || a->nints || a->nfloats || a->tensor))
			return 1;
	}
	return 0;
}

/* Does the node have one of the inputs from `first` on? */
static int has_inputs(const struct rewrite *r, int first)
{
	for (int i = first; i < r->n->nin; i++)
		if (r->n->in[i] >= 0)
			return 1;
	return 0;
}

/* This is an attention of heads. It may have past keys and values, and outputs of present ones. */
struct attention {
	int part[3], mask, past[2], hides, last;
	const char *out; /* what it makes, in a formula */
	int64_t heads, own;
	int is_causal;
};

static int attend(struct rewrite *r, const struct attention *a)
{
	const int out = rewrite_make(
		r,
		"%s = Attention(@%d @%d @%d @%d @%d @%d - @%d @%d) q_num_heads=%lld "
		"kv_num_heads=%lld is_causal=%d",
		a->out, a->part[0], a->part[1], a->part[2], a->mask, a->past[0], a->past[1],
		a->hides, a->last, (long long)a->heads, (long long)a->own, a->is_causal);
	struct graph_node *n = build_last(&r->b);

	build_float(&r->b, n, "mask_filter_value", node_float(r->n, "mask_filter_value", -10000));
	if (node_float(r->n, "scale", 0) != 0)
		build_float(&r->b, n, "scale", node_float(r->n, "scale", 0));
	if (node_float(r->n, "softcap", 0) != 0)
		build_float(&r->b, n, "softcap", node_float(r->n, "softcap", 0));
	if (node_int(r->n, "local_window_size", -1) > 0)
		build_int(&r->b, n, "left_window_size",
			  node_int(r->n, "local_window_size", -1) - 1);
	return out;
}

/* Returns the heads that an attribute says; 0: there are none. */
static int64_t heads_of(const struct rewrite *r, const char *name)
{
	const int64_t heads = node_int(r->n, name, 0);

	return heads > 0 && heads < 1 << 20 ? heads : 0;
}

/* Takes queries, keys and values from the product of input and weights, where they stand side by
 * side. Past and present have keys and values in a first dimension of 2. */
static void from_product(struct rewrite *r, int x, int weights, int hides, int past, int mask)
{
	const struct attr *sizes = node_attr(r->n, "qkv_hidden_sizes");
	const int present = rewrite_out(r, 1);
	struct attention a = {.mask = mask,
			      .hides = hides,
			      .last = -1,
			      .past = {-1, -1},
			      .out = present < 0 ? "$0" : "$0 present1 present2",
			      .heads = heads_of(r, "num_heads"),
			      .own = heads_of(r, "num_heads"),
			      .is_causal = node_int(r->n, "unidirectional", 0) != 0};
	const int product = rewrite_make(r, "product = MatMul(@%d @%d) /input", x, weights);

	rewrite_split(r, rewrite_plus(r, product, rewrite_in(r, 2)), -1,
		      sizes && sizes->nints == 3 ? sizes->ints : NULL, a.part);
	for (int i = 0; i < 2 && past >= 0; i++)
		a.past[i] = rewrite_item(r, past, i);
	attend(r, &a);
	if (present >= 0)
		rewrite_pair(r, build_last(&r->b)->out + 1, present, "pair");
}

static const char known[] = "num_heads unidirectional qkv_hidden_sizes scale mask_filter_value";

/* Input, weights, bias, mask of keys, past, mask. */
void rewrite_run_attention(struct rewrite *r)
{
	if (is_strange(r, known) || has_inputs(r, 6) || !heads_of(r, "num_heads"))
		rewrite_keep(r);
	else
		from_product(r, rewrite_in(r, 0), rewrite_in(r, 1), rewrite_in(r, 3),
			     rewrite_in(r, 4), rewrite_in(r, 5));
}

/* Turns an input of whole numbers into reals, by its scale and zero point. */
static int reals(struct rewrite *r, int i, int scale, int zero)
{
	return rewrite_make(r, "reals = DequantizeLinear(%d %d %d) axis=1", i, scale, zero);
}

/* Input, weights, bias, their scales, mask of keys, their zeros, past. */
void rewrite_run_q_attention(struct rewrite *r)
{
	if (is_strange(r, known) || !heads_of(r, "num_heads"))
		rewrite_keep(r);
	else
		from_product(r, reals(r, 0, 3, 6), reals(r, 1, 4, 7), rewrite_in(r, 5),
			     rewrite_in(r, 8), -1);
}

/* Makes sums of queries, keys and values with their parts of the bias, which are as wide as they
 * are. Keys and values of another attention have four dimensions, and no bias. */
static void add_bias(struct rewrite *r, int part[3])
{
	const int has_heads = build_shape(&r->b, part[1])->rank == 4, bias = rewrite_in(r, 3);
	int size[2], of;

	if (bias < 0)
		return;
	size[0] = rewrite_size(r, part[0], 2);
	size[1] = has_heads ? size[0] : rewrite_size(r, part[2], 2);
	of = rewrite_make(r,
			  "sizes = Concat(@%d @%d @%d) axis=0; "
			  "bias1 bias2 bias3 = Split(@%d sizes) axis=0",
			  size[0], size[0], size[1], bias);
	for (int i = 0; i < (has_heads ? 1 : 3); i++)
		part[i] = rewrite_plus(r, part[i], of + i);
}

/* Does onnxruntime compute another thing than its text says? If attention is causal, and there are
 * more keys than rows but none of them is past, its rows see other keys. */
static int is_odd(const struct rewrite *r, const struct attention *a)
{
	const struct shape *q = build_shape(&r->b, a->part[0]), *k = build_shape(&r->b, a->part[1]);

	return a->is_causal && a->past[0] < 0 && q->rank == 3 && k->rank >= 3 && q->dim[1] > 0 &&
	       k->dim[k->rank - 2] > q->dim[1];
}

/* Queries, keys, values, bias, mask of keys, mask, past keys and values. */
void rewrite_run_multi_head(struct rewrite *r)
{
	struct attention a = {.part = {rewrite_in(r, 0), rewrite_in(r, 1), rewrite_in(r, 2)},
			      .mask = rewrite_in(r, 5),
			      .hides = rewrite_in(r, 4),
			      .last = -1,
			      .past = {rewrite_in(r, 6), rewrite_in(r, 7)},
			      .out = "$0 $1? $2?",
			      .heads = heads_of(r, "num_heads"),
			      .own = heads_of(r, "num_heads"),
			      .is_causal = node_int(r->n, "unidirectional", 0) != 0};

	if (is_strange(r, known) || has_inputs(r, 8) || !a.heads || rewrite_in(r, 1) < 0 ||
	    rewrite_in(r, 2) < 0 || rewrite_out(r, 3) >= 0 || is_odd(r, &a)) {
		rewrite_keep(r);
		return;
	}
	add_bias(r, a.part);
	attend(r, &a);
}

/* Turns queries or keys, behind the past. */
static int rotate(struct rewrite *r, int in)
{
	return rewrite_make(r, "turned = RotaryEmbedding(@%d 7 8 9 @%d) interleaved=%lld", in,
			    rewrite_in(r, 9) < 0 ? rewrite_in(r, 3) : -1,
			    (long long)node_int(r->n, "rotary_interleaved", 0));
}

/* Queries, keys, values (or all in the queries), past keys and values, the number of each batch's
 * last key, how many keys there are, cosines, sines, positions, mask. */
void rewrite_run_group_query(struct rewrite *r)
{
	static const char may[] = "num_heads kv_num_heads scale softcap local_window_size "
				  "rotary_interleaved do_rotary";
	struct attention a = {.mask = rewrite_in(r, 10),
			      .past = {rewrite_in(r, 3), rewrite_in(r, 4)},
			      .hides = -1,
			      .last = rewrite_in(r, 5),
			      .out = "attention $1? $2?",
			      .heads = heads_of(r, "num_heads"),
			      .own = heads_of(r, "kv_num_heads"),
			      .is_causal = 1};
	const int64_t sizes[] = {a.heads, a.own, a.own};

	if (is_strange(r, may) || has_inputs(r, 11) || !a.heads || !a.own ||
	    rewrite_out(r, 3) >= 0 || (rewrite_in(r, 1) < 0) != (rewrite_in(r, 2) < 0)) {
		rewrite_keep(r);
		return;
	}
	if (rewrite_in(r, 1) < 0)
		rewrite_split(r, rewrite_heads(r, rewrite_in(r, 0), a.heads + 2 * a.own), 1, sizes,
			      a.part);
	for (int i = 0; i < 3 && rewrite_in(r, 1) >= 0; i++)
		a.part[i] = rewrite_heads(r, rewrite_in(r, i), sizes[i]);
	for (int i = 0; i < 2 && node_int(r->n, "do_rotary", 0); i++)
		a.part[i] = rotate(r, a.part[i]);
	rewrite_from_heads(r, attend(r, &a));
}

/* Data, positions, cosines, sines. ONNX has the positions last. */
void rewrite_run_rotary(struct rewrite *r)
{
	static const char may[] = "interleaved num_heads rotary_embedding_dim scale";

	if (is_strange(r, may) || node_float(r->n, "scale", 1) != 1)
		rewrite_keep(r);
	else
		rewrite_make(r, "$0 = RotaryEmbedding(0 2 3 1) *-scale");
}
