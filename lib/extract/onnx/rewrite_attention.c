/* Attention as its products: of the queries with the keys, and of what softmax makes of it with the
 * values, for each head of each text. */
#include <string.h>

#include "lib/extract/onnx/rewrite.h"

static int reshape(struct rewrite *r, int in, const int64_t *to, int n, const char *what)
{
	int out = rewrite_between(r, what);

	build_ints(&r->b, rewrite_node(r, "Reshape", &in, 1, out), "shape", to, n);
	return out;
}

static int transpose(struct rewrite *r, int in, const int64_t *perm, int n, const char *what)
{
	int out = rewrite_between(r, what);

	build_ints(&r->b, rewrite_node(r, "Transpose", &in, 1, out), "perm", perm, n);
	return out;
}

int rewrite_heads(struct rewrite *r, int in, int64_t heads)
{
	static const int64_t perm[] = {0, 2, 1, 3};
	const int64_t to[] = {0, 0, heads, -1};

	return in < 0 ? -1 : transpose(r, reshape(r, in, to, 4, "split"), perm, 4, "heads");
}

void rewrite_from_heads(struct rewrite *r, int in)
{
	static const int64_t perm[] = {0, 2, 1, 3}, to[] = {0, 0, -1};
	int turned = transpose(r, in, perm, 4, "steps");

	build_ints(&r->b, rewrite_node(r, "Reshape", &turned, 1, rewrite_made(r, 0)), "shape", to,
		   3);
}

int rewrite_join(struct rewrite *r, int a, int b, int64_t axis, int out)
{
	const int in[] = {a, b};

	build_int(&r->b, rewrite_node(r, "Concat", in, 2, out), "axis", axis);
	return out;
}

static void pass(struct rewrite *r, int from, int to)
{
	if (to >= 0)
		rewrite_node(r, "Identity", &from, 1, to);
}

/* What was there before, and what is new behind it; it is also an output. */
static int remember(struct rewrite *r, int past, int now, int present)
{
	int all = past < 0 ? now : rewrite_join(r, past, now, 2, rewrite_between(r, "all"));

	pass(r, all, present);
	return all;
}

/* As many heads as the queries have: each one of keys and values serves several of them. */
static int repeat(struct rewrite *r, int in, int like)
{
	const int both[] = {in, like};
	int out = rewrite_between(r, "repeated");

	rewrite_node(r, "RepeatHeads", both, 2, out);
	return out;
}

void rewrite_name_part(struct rewrite *r, struct graph_node *n, const char *what)
{
	if (r->n->name[0])
		n->name = arena_printf(r->b.a, "%s/%s", r->n->name, what);
}

/* Makes the two products of queries, keys and values, which have batch x heads x steps x elements
 * each; scores (-1: nobody reads them) is an output. */
static int products(struct rewrite *r, int q, int k, int v, int scores, int out)
{
	const int first[] = {q, k};
	int made = rewrite_between(r, "scores"), soft;
	struct graph_node *n = rewrite_node(r, "MatMul", first, 2, made);

	build_int(&r->b, n, "transB", 1);
	rewrite_name_part(r, n, "scores");
	pass(r, made, scores);
	soft = rewrite_one(r, "Softmax", made, "softmax");
	{
		const int second[] = {soft, v};

		rewrite_name_part(r, rewrite_node(r, "MatMul", second, 2, out), "values");
	}
	return out;
}

/* Q, K, V, mask, past keys and values. In operator set 23: of three dimensions, with the numbers of
 * heads as attributes, or of four. */
void rewrite_attention(struct rewrite *r)
{
	int64_t heads = node_int(r->n, "q_num_heads", 0), own = node_int(r->n, "kv_num_heads", 0);
	int q = rewrite_in(r, 0), k = rewrite_in(r, 1), v = rewrite_in(r, 2), flat = heads > 0;

	if (flat && own < 1)
		own = heads;
	if (flat) {
		q = rewrite_heads(r, q, heads);
		k = rewrite_heads(r, k, own);
		v = rewrite_heads(r, v, own);
	}
	k = remember(r, rewrite_in(r, 4), k, rewrite_out(r, 1));
	v = remember(r, rewrite_in(r, 5), v, rewrite_out(r, 2));
	if (!flat || heads > own) {
		k = repeat(r, k, q);
		v = repeat(r, v, q);
	}
	if (flat)
		rewrite_from_heads(r, products(r, q, k, v, rewrite_out(r, 3),
					       rewrite_between(r, "attention")));
	else
		products(r, q, k, v, rewrite_out(r, 3), rewrite_made(r, 0));
}

void rewrite_split(struct rewrite *r, int in, int64_t axis, const int64_t *sizes, int out[3])
{
	struct graph_node *n;

	for (int i = 0; i < 3; i++)
		out[i] = rewrite_between(r, "part");
	n = build_node(&r->b, "Split", &in, 1, out, 3);
	build_int(&r->b, n, "axis", axis);
	if (sizes)
		build_ints(&r->b, n, "split", sizes, 3);
}

int rewrite_item(struct rewrite *r, int in, int64_t i)
{
	const int64_t axis = 0, end = i + 1;
	int out = rewrite_between(r, "slice"), flat = rewrite_between(r, "item");
	struct graph_node *n = rewrite_node(r, "Slice", &in, 1, out);

	build_ints(&r->b, n, "starts", &i, 1);
	build_ints(&r->b, n, "ends", &end, 1);
	build_ints(&r->b, n, "axes", &axis, 1);
	build_ints(&r->b, rewrite_node(r, "Squeeze", &out, 1, flat), "axes", &axis, 1);
	return flat;
}

/* From the sum of the products of queries, keys and values on. past and present have both keys and
 * values, in a first dimension of 2. */
static void from_packed(struct rewrite *r, int packed, int past)
{
	const struct attr *sizes = node_attr(r->n, "qkv_hidden_sizes");
	int64_t heads = node_int(r->n, "num_heads", 1);
	const int64_t first = 0;
	int part[3], present = rewrite_out(r, 1), pair[2];

	rewrite_split(r, packed, -1, sizes && sizes->nints == 3 ? sizes->ints : NULL, part);
	for (int i = 0; i < 3; i++)
		part[i] = rewrite_heads(r, part[i], heads > 0 ? heads : 1);
	for (int i = 1; i < 3; i++) {
		part[i] = remember(r, past < 0 ? -1 : rewrite_item(r, past, i - 1), part[i], -1);
		if (present < 0)
			continue;
		pair[i - 1] = rewrite_between(r, "present");
		build_ints(&r->b, rewrite_node(r, "Unsqueeze", &part[i], 1, pair[i - 1]), "axes",
			   &first, 1);
	}
	if (present >= 0)
		rewrite_join(r, pair[0], pair[1], 0, present);
	rewrite_from_heads(
		r, products(r, part[0], part[1], part[2], -1, rewrite_between(r, "attention")));
}

/* Input, weights, bias, mask, past. */
void rewrite_ms_attention(struct rewrite *r)
{
	const int in[] = {rewrite_in(r, 0), rewrite_in(r, 1)};
	int product = rewrite_between(r, "product");

	rewrite_name_part(r, rewrite_node(r, "MatMul", in, 2, product), "input");
	from_packed(r, rewrite_plus(r, product, rewrite_in(r, 2)), rewrite_in(r, 4));
}

/* Input, weights, bias, their scales, mask, their zeros, past. */
void rewrite_q_attention(struct rewrite *r)
{
	const int in[] = {rewrite_in(r, 0), rewrite_in(r, 1)};
	int product = rewrite_between(r, "product"), real = rewrite_between(r, "float");

	rewrite_name_part(r, rewrite_node(r, "MatMulInteger", in, 2, product), "input");
	build_int(&r->b, rewrite_node(r, "Cast", &product, 1, real), "to", VALUE_F32);
	from_packed(r, rewrite_plus(r, real, rewrite_in(r, 2)), rewrite_in(r, 8));
}

/* Batch x steps x heads x parts x elements, into parts of batch x heads x steps x elements. */
static void unpack(struct rewrite *r, int in, int parts, int *out)
{
	static const int64_t perm[] = {3, 0, 2, 1, 4};
	int turned = transpose(r, in, perm, 5, "parts");

	for (int i = 0; i < parts; i++)
		out[i] = rewrite_item(r, turned, i);
}

/* Queries, keys, values (or packed ones), bias, two masks, past keys and values. */
void rewrite_multi_head(struct rewrite *r)
{
	int64_t heads = node_int(r->n, "num_heads", 1);
	int q = rewrite_in(r, 0), k = rewrite_in(r, 1), v = rewrite_in(r, 2), part[3];

	heads = heads > 0 ? heads : 1;
	if (k < 0) {
		unpack(r, q, 3, part);
	} else {
		part[0] = rewrite_heads(r, q, heads);
		if (v < 0) {
			unpack(r, k, 2, part + 1);
		} else {
			part[1] = rewrite_heads(r, k, heads);
			part[2] = rewrite_heads(r, v, heads);
		}
	}
	part[1] = remember(r, rewrite_in(r, 6), part[1], rewrite_out(r, 1));
	part[2] = remember(r, rewrite_in(r, 7), part[2], rewrite_out(r, 2));
	rewrite_from_heads(r, products(r, part[0], part[1], part[2], rewrite_out(r, 3),
				       rewrite_between(r, "attention")));
}

/* Queries, keys, values (or all in the queries), past keys and values. */
void rewrite_group_query(struct rewrite *r)
{
	int64_t heads = node_int(r->n, "num_heads", 1), own = node_int(r->n, "kv_num_heads", 1);
	int q = rewrite_in(r, 0), k = rewrite_in(r, 1), v = rewrite_in(r, 2), part[3];

	heads = heads > 0 && heads < 1 << 20 ? heads : 1;
	own = own > 0 && own < 1 << 20 ? own : 1;
	if (k < 0) {
		const int64_t sizes[] = {heads, own, own};

		rewrite_split(r, rewrite_heads(r, q, heads + 2 * own), 1, sizes, part);
	} else {
		part[0] = rewrite_heads(r, q, heads);
		part[1] = rewrite_heads(r, k, own);
		part[2] = v < 0 ? part[1] : rewrite_heads(r, v, own);
	}
	part[1] = remember(r, rewrite_in(r, 3), part[1], rewrite_out(r, 1));
	part[2] = remember(r, rewrite_in(r, 4), part[2], rewrite_out(r, 2));
	if (heads > own) {
		part[1] = repeat(r, part[1], part[0]);
		part[2] = repeat(r, part[2], part[0]);
	}
	rewrite_from_heads(
		r, products(r, part[0], part[1], part[2], -1, rewrite_between(r, "attention")));
}
