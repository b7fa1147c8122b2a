/* Attention as its products: of the queries with the keys, and of what softmax makes of it with the
 * values, for each head of each text. */
#include "lib/extract/onnx/rewrite.h"

int rewrite_heads(struct rewrite *r, int in, int64_t heads)
{
	return in < 0 ? -1
		      : rewrite_make(r,
				     "split = Reshape(@%d) shape=[0,0,%lld,-1]; "
				     "heads = Transpose(split) perm=[0,2,1,3]",
				     in, (long long)heads);
}

void rewrite_from_heads(struct rewrite *r, int in)
{
	rewrite_make(r, "steps = Transpose(@%d) perm=[0,2,1,3]; $0 = Reshape(steps) shape=[0,0,-1]",
		     in);
}

void rewrite_pair(struct rewrite *r, const int part[2], int out, const char *name)
{
	rewrite_make(r,
		     "%s1 = Unsqueeze(@%d) axes=[0]; %s2 = Unsqueeze(@%d) axes=[0]; "
		     "@%d = Concat(%s1 %s2) axis=0",
		     name, part[0], name, part[1], out, name, name);
}

static void pass(struct rewrite *r, int from, int to)
{
	if (to >= 0)
		rewrite_make(r, "@%d = Identity(@%d)", to, from);
}

/* What was there before, and what is new behind it; it is also an output. */
static int remember(struct rewrite *r, int past, int now, int present)
{
	const int all = past < 0 ? now : rewrite_make(r, "all = Concat(@%d @%d) axis=2", past, now);

	pass(r, all, present);
	return all;
}

/* As many heads as the queries have: each one of keys and values serves several of them. */
static int repeat(struct rewrite *r, int in, int like)
{
	return rewrite_make(r, "repeated = RepeatHeads(@%d @%d)", in, like);
}

/* Makes the two products of queries, keys and values, which have batch x heads x steps x elements
 * each; scores (-1: nobody reads them) is an output. */
static int products(struct rewrite *r, int q, int k, int v, int scores, const char *out)
{
	const int made = rewrite_make(r, "scores = MatMul(@%d @%d) transB=1 /scores", q, k);

	pass(r, made, scores);
	return rewrite_make(r, "softmax = Softmax(@%d); %s = MatMul(softmax @%d) /values", made,
			    out, v);
}

/* Q, K, V, mask, past keys and values. In operator set 23: of three dimensions, with the numbers of
 * heads as attributes, or of four. */
void rewrite_attention(struct rewrite *r)
{
	int64_t heads = node_int(r->n, "q_num_heads", 0), own = node_int(r->n, "kv_num_heads", 0);
	int q = rewrite_in(r, 0), k = rewrite_in(r, 1), v = rewrite_in(r, 2), flat = heads > 0;

	if (q < 0 || k < 0 || v < 0) {
		rewrite_keep(r);
		return;
	}
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
	q = products(r, q, k, v, rewrite_out(r, 3), flat ? "attention" : "$0");
	if (flat)
		rewrite_from_heads(r, q);
}

void rewrite_split(struct rewrite *r, int in, int axis, const int64_t *sizes, int out[3])
{
	out[0] = rewrite_make(r, "part1 part2 part3 = Split(@%d) axis=%d", in, axis);
	out[1] = out[0] + 1;
	out[2] = out[0] + 2;
	if (sizes)
		build_ints(&r->b, build_last(&r->b), "split", sizes, 3);
}

int rewrite_item(struct rewrite *r, int in, int i)
{
	return rewrite_make(r,
			    "slice = Slice(@%d) starts=[%d] ends=[%d] axes=[0]; "
			    "item = Squeeze(slice) axes=[0]",
			    in, i, i + 1);
}

/* From the sum of the products of queries, keys and values on. past and present have both keys and
 * values, in a first dimension of 2. */
static void from_packed(struct rewrite *r, int packed, int past)
{
	const struct attr *sizes = node_attr(r->n, "qkv_hidden_sizes");
	int64_t heads = node_int(r->n, "num_heads", 1);
	int part[3];

	rewrite_split(r, packed, -1, sizes && sizes->nints == 3 ? sizes->ints : NULL, part);
	for (int i = 0; i < 3; i++)
		part[i] = rewrite_heads(r, part[i], heads > 0 ? heads : 1);
	for (int i = 1; i < 3; i++)
		part[i] = remember(r, past < 0 ? -1 : rewrite_item(r, past, i - 1), part[i], -1);
	if (rewrite_out(r, 1) >= 0)
		rewrite_pair(r, part + 1, rewrite_out(r, 1), "present");
	rewrite_from_heads(r, products(r, part[0], part[1], part[2], -1, "attention"));
}

/* Input, weights, bias, mask, past. */
void rewrite_ms_attention(struct rewrite *r)
{
	const int product = rewrite_make(r, "product = MatMul(0 1) /input");

	from_packed(r, rewrite_plus(r, product, rewrite_in(r, 2)), rewrite_in(r, 4));
}

/* Input, weights, bias, their scales, mask, their zeros, past. */
void rewrite_q_attention(struct rewrite *r)
{
	const int real = rewrite_make(
		r, "product = MatMulInteger(0 1) /input; float = Cast(product) to=%d", VALUE_F32);

	from_packed(r, rewrite_plus(r, real, rewrite_in(r, 2)), rewrite_in(r, 8));
}

/* Batch x steps x heads x parts x elements, into parts of batch x heads x steps x elements. */
static void unpack(struct rewrite *r, int in, int parts, int *out)
{
	const int turned = rewrite_make(r, "parts = Transpose(@%d) perm=[3,0,2,1,4]", in);

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
	rewrite_from_heads(r,
			   products(r, part[0], part[1], part[2], rewrite_out(r, 3), "attention"));
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
	rewrite_from_heads(r, products(r, part[0], part[1], part[2], -1, "attention"));
}
