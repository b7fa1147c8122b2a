/* Products of matrices, and what is made of them. */
#include "lib/extract/compose.h"
#include "lib/extract/torch/torch.h"

void torch_linear(const struct torch_call *c, const char *onnx)
{
	int bias = torch_tensor(c, "bias");

	(void)onnx;
	compose_linear(c->b, torch_tensor(c, "input"), torch_tensor(c, "weight"), bias, c->out[0],
		       1);
}

/* A value times a factor, as a node of its own. */
static int scaled(const struct torch_call *c, int v, double factor)
{
	const int in[] = {v, build_number(c->b, factor)};
	const int to = build_between(c->b, v);

	build_node(c->b, "Mul", in, 2, &to, 1)->is_told = 1;
	return to;
}

/* A product, to which something may be added; both may have factors. */
static void product(const struct torch_call *c, const char *a, const char *b, int added)
{
	const int x = torch_tensor(c, a), y = torch_tensor(c, b);
	const double alpha = torch_real(c, "alpha", 1), beta = torch_real(c, "beta", 1);
	int part[] = {c->out[0], added};

	if (x < 0 || y < 0) {
		torch_own(c);
		return;
	}
	if (alpha == 1 && beta == 1) {
		compose_linear(c->b, x, y, added, c->out[0], 0);
		return;
	}
	part[0] = build_between(c->b, c->out[0]);
	compose_linear(c->b, x, y, -1, part[0], 0);
	if (alpha != 1)
		part[0] = scaled(c, part[0], alpha);
	if (beta != 1 && added >= 0)
		part[1] = scaled(c, added, beta);
	torch_node(c, added < 0 ? "Identity" : "Add", part, added < 0 ? 1 : 2);
}

void torch_addmm(const struct torch_call *c, const char *onnx)
{
	(void)onnx;
	product(c, "mat1", "mat2", torch_tensor(c, "self"));
}

void torch_baddbmm(const struct torch_call *c, const char *onnx)
{
	(void)onnx;
	product(c, "batch1", "batch2", torch_tensor(c, "self"));
}

void torch_mm(const struct torch_call *c, const char *onnx)
{
	product(c, "self", onnx, -1);
}

void torch_einsum(const struct torch_call *c, const char *onnx)
{
	const char *equation = torch_text(c, "equation");

	if (equation)
		build_str(c->b, torch_node(c, onnx, c->in, c->nin), "equation", equation);
	else
		torch_own(c);
}

/* A value between the nodes of a call, whose shape is that of q but for the last dimension. */
static int scores(const struct torch_call *c, int q, int64_t columns)
{
	struct declared *d = arena_new(c->b->a, struct declared);
	int v = build_part(c->b, c->out[0], "scores");

	*d = *c->b->g->value[q]->declared;
	d->shape.dim[d->shape.rank - 1] = columns;
	c->b->g->value[v]->declared = d;
	return v;
}

/* Keys or values whose heads each serve several of the queries': once for each of these. */
static int for_each_head(const struct torch_call *c, int of, const struct shape *q)
{
	const struct shape *s = build_shape(c->b, of);
	struct declared *d;
	int wide;

	if (s->rank != q->rank || q->rank < 3 || s->dim[q->rank - 3] == q->dim[q->rank - 3])
		return of;
	wide = build_part(c->b, of, "heads");
	d = arena_new(c->b->a, struct declared);
	*d = *c->b->g->value[of]->declared;
	d->shape.dim[q->rank - 3] = q->dim[q->rank - 3];
	c->b->g->value[wide]->declared = d;
	build_node(c->b, "Expand", &of, 1, &wide, 1)->is_told = 1;
	return wide;
}

/* What is added to the scores; a causal mask is a constant. -1: nothing. */
static int mask_of(const struct torch_call *c, const struct shape *q, const struct shape *k)
{
	struct declared *d;
	struct value *v;
	int mask = torch_tensor(c, "attn_mask");

	if (mask < 0)
		mask = torch_tensor(c, "attn_bias");
	if (mask >= 0 || !torch_flag(c, "is_causal", 0) || q->rank < 2 || k->rank != q->rank)
		return mask;
	d = arena_new(c->b->a, struct declared);
	d->elem = VALUE_F32;
	d->shape.rank = 2;
	d->shape.dim[0] = q->dim[q->rank - 2];
	d->shape.dim[1] = k->dim[q->rank - 2];
	mask = build_part(c->b, c->out[0], "mask");
	v = c->b->g->value[mask];
	v->declared = d;
	v->is_const = 1;
	v->elem = d->elem;
	v->shape = d->shape;
	return mask;
}

/* The scores, to which a mask is added; one of truth values chooses among them. */
static int masked(const struct torch_call *c, int from, int mask)
{
	const int added[] = {from, mask};
	const int chosen[] = {mask, from, build_number(c->b, -1e30)};
	const struct declared *d = c->b->g->value[mask]->declared;
	const struct shape *s = build_shape(c->b, from);
	int to = scores(c, from, s->dim[s->rank - 1]);
	struct graph_node *n;

	n = d && d->elem == VALUE_BOOL ? build_node(c->b, "Where", chosen, 3, &to, 1)
				       : build_node(c->b, "Add", added, 2, &to, 1);
	n->is_told = 1;
	return to;
}

/* softmax(q k') v, as its two products. */
void torch_attention(const struct torch_call *c, const char *onnx)
{
	int in[] = {torch_tensor(c, "query"), torch_tensor(c, "key"), torch_tensor(c, "value")};
	const struct shape *q = build_shape(c->b, in[0]), *k = build_shape(c->b, in[1]);
	const int mask = mask_of(c, q, k);
	int product, after[2];

	(void)onnx;
	if (in[2] < 0 || q->rank < 2 || k->rank != q->rank) {
		torch_own(c);
		return;
	}
	for (int i = 1; i < 3; i++)
		in[i] = for_each_head(c, in[i], q);
	product = scores(c, in[0], k->dim[q->rank - 2]);
	compose_linear(c->b, in[0], in[1], -1, product, 1);
	if (mask >= 0)
		product = masked(c, product, mask);
	after[0] = scores(c, product, k->dim[q->rank - 2]);
	after[1] = in[2];
	build_node(c->b, "Softmax", &product, 1, after, 1)->is_told = 1;
	torch_node(c, "MatMul", after, 2);
}
