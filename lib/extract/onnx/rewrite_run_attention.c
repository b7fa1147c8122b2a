/* onnxruntime's attentions become ONNX's, in graphs that are run: with masks, pasts and rotations.
 * ONNX's has two more inputs then, which onnxruntime alone has: a mask of keys, and the number of
 * each batch's last key (lib/run/lower_attention.c). What is of another kind stays as it is, which
 * is refused. */
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

/* Does the node have other attributes than these that are not 0? */
static int is_strange(const struct rewrite *r, const char *const *names)
{
	for (int i = 0; i < r->n->nattr; i++) {
		const struct attr *a = &r->n->attr[i];
		int k = 0;

		while (names[k] && strcmp(names[k], a->name) != 0)
			k++;
		if (!names[k] && (a->i || a->f != 0 || a->s || a->nints || a->nfloats || a->tensor))
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
	int out[3];
	int64_t heads, own;
	int is_causal;
};

static void attend(struct rewrite *r, const struct attention *a)
{
	const int in[] = {a->part[0], a->part[1], a->part[2], a->mask, a->past[0],
			  a->past[1], -1,	  a->hides,   a->last};
	struct graph_node *n = build_node(&r->b, "Attention", in, 9, a->out, 3);

	n->name = r->n->name;
	build_int(&r->b, n, "q_num_heads", a->heads);
	build_int(&r->b, n, "kv_num_heads", a->own);
	build_int(&r->b, n, "is_causal", a->is_causal);
	build_float(&r->b, n, "mask_filter_value", node_float(r->n, "mask_filter_value", -10000));
	if (node_float(r->n, "scale", 0) != 0)
		build_float(&r->b, n, "scale", node_float(r->n, "scale", 0));
	if (node_float(r->n, "softcap", 0) != 0)
		build_float(&r->b, n, "softcap", node_float(r->n, "softcap", 0));
	if (node_int(r->n, "local_window_size", -1) > 0)
		build_int(&r->b, n, "left_window_size",
			  node_int(r->n, "local_window_size", -1) - 1);
}

/* Returns the heads that an attribute says; 0: there are none. */
static int64_t heads_of(const struct rewrite *r, const char *name)
{
	const int64_t heads = node_int(r->n, name, 0);

	return heads > 0 && heads < 1 << 20 ? heads : 0;
}

/* Past and present have keys and values in a first dimension of 2. */
static void attend_packed(struct rewrite *r, struct attention *a, int past, int present)
{
	const int64_t first = 0;
	int pair[2];

	for (int i = 0; i < 2; i++) {
		a->past[i] = past < 0 ? -1 : rewrite_item(r, past, i);
		a->out[1 + i] = present < 0 ? -1 : rewrite_between(r, "present");
	}
	attend(r, a);
	if (present < 0)
		return;
	for (int i = 0; i < 2; i++) {
		pair[i] = rewrite_between(r, "pair");
		build_ints(&r->b, rewrite_node(r, "Unsqueeze", &a->out[1 + i], 1, pair[i]), "axes",
			   &first, 1);
	}
	rewrite_join(r, pair[0], pair[1], 0, present);
}

/* Takes queries, keys and values from the product of input and weights, where they stand side by
 * side. */
static void from_product(struct rewrite *r, int x, int weights, int hides, int past, int mask)
{
	const struct attr *sizes = node_attr(r->n, "qkv_hidden_sizes");
	const int in[] = {x, weights};
	int product = rewrite_between(r, "product");
	struct attention a = {.mask = mask,
			      .hides = hides,
			      .last = -1,
			      .out = {rewrite_made(r, 0)},
			      .heads = heads_of(r, "num_heads"),
			      .own = heads_of(r, "num_heads"),
			      .is_causal = node_int(r->n, "unidirectional", 0) != 0};

	rewrite_name_part(r, rewrite_node(r, "MatMul", in, 2, product), "input");
	rewrite_split(r, rewrite_plus(r, product, rewrite_in(r, 2)), -1,
		      sizes && sizes->nints == 3 ? sizes->ints : NULL, a.part);
	attend_packed(r, &a, past, rewrite_out(r, 1));
}

static const char *const known[] = {"num_heads", "unidirectional",    "qkv_hidden_sizes",
				    "scale",	 "mask_filter_value", NULL};

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
	const int in[] = {rewrite_in(r, i), rewrite_in(r, scale), rewrite_in(r, zero)};
	int out = rewrite_between(r, "reals");

	build_int(&r->b, rewrite_node(r, "DequantizeLinear", in, in[2] < 0 ? 2 : 3, out), "axis",
		  1);
	return out;
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
	int size[3], of[3], in[] = {bias, -1};
	struct graph_node *n;

	if (bias < 0)
		return;
	size[0] = size[1] = rewrite_size(r, part[0], 2);
	size[2] = has_heads ? size[0] : rewrite_size(r, part[2], 2);
	in[1] = rewrite_between(r, "sizes");
	build_int(&r->b, rewrite_node(r, "Concat", size, 3, in[1]), "axis", 0);
	for (int i = 0; i < 3; i++)
		of[i] = rewrite_between(r, "bias");
	n = build_node(&r->b, "Split", in, 2, of, 3);
	build_int(&r->b, n, "axis", 0);
	for (int i = 0; i < (has_heads ? 1 : 3); i++)
		part[i] = rewrite_plus(r, part[i], of[i]);
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
			      .out = {rewrite_made(r, 0), rewrite_out(r, 1), rewrite_out(r, 2)},
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
	const int all[] = {in, rewrite_in(r, 7), rewrite_in(r, 8), rewrite_in(r, 9),
			   rewrite_in(r, 3)};
	int out = rewrite_between(r, "turned");

	build_int(&r->b, rewrite_node(r, "RotaryEmbedding", all, all[3] >= 0 ? 4 : 5, out),
		  "interleaved", node_int(r->n, "rotary_interleaved", 0));
	return out;
}

/* Queries, keys, values (or all in the queries), past keys and values, the number of each batch's
 * last key, how many keys there are, cosines, sines, positions, mask. */
void rewrite_run_group_query(struct rewrite *r)
{
	static const char *const may[] = {
		"num_heads",	     "kv_num_heads",	   "scale",	"softcap",
		"local_window_size", "rotary_interleaved", "do_rotary", NULL};
	struct attention a = {
		.mask = rewrite_in(r, 10),
		.past = {rewrite_in(r, 3), rewrite_in(r, 4)},
		.hides = -1,
		.last = rewrite_in(r, 5),
		.out = {rewrite_between(r, "attention"), rewrite_out(r, 1), rewrite_out(r, 2)},
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
	attend(r, &a);
	rewrite_from_heads(r, a.out[0]);
}

/* Data, positions, cosines, sines. ONNX has the positions last. */
void rewrite_run_rotary(struct rewrite *r)
{
	static const char *const may[] = {"interleaved", "num_heads", "rotary_embedding_dim",
					  "scale", NULL};
	const int in[] = {rewrite_in(r, 0), rewrite_in(r, 2), rewrite_in(r, 3), rewrite_in(r, 1)};

	if (is_strange(r, may) || node_float(r->n, "scale", 1) != 1) {
		rewrite_keep(r);
		return;
	}
	rewrite_copy_attrs(r, rewrite_node(r, "RotaryEmbedding", in, 4, rewrite_made(r, 0)),
			   "scale");
}
