/* Products of matrices, and what is made of them. */
#include "lib/extract/call/compose.h"
#include "lib/extract/torch/torch.h"

int torch_linear(const struct call *c, const struct call_row *row)
{
	const int *in;

	call_operands(c, row, &in);
	compose_linear(c->b, in[0], in[1], in[2], c->out[0], 1);
	return 0;
}

/* A value times a factor, as a node of its own. */
static int scaled(const struct call *c, int v, double factor)
{
	const int in[] = {v, build_number(c->b, factor)};
	const int to = build_between(c->b, v);

	call_between(c, "Mul", in, 2, to);
	return to;
}

/* A product, to which something may be added; both may have factors. */
int torch_product(const struct call *c, const struct call_row *row)
{
	const double alpha = call_real(c, "alpha", 1), beta = call_real(c, "beta", 1);
	const int *in;
	int part[] = {c->out[0], -1};

	call_operands(c, row, &in);
	if (in[0] < 0 || in[1] < 0)
		return -1;
	part[1] = in[2];
	if (alpha == 1 && beta == 1) {
		compose_linear(c->b, in[0], in[1], in[2], c->out[0], 0);
		return 0;
	}
	part[0] = build_between(c->b, c->out[0]);
	compose_linear(c->b, in[0], in[1], -1, part[0], 0);
	if (alpha != 1)
		part[0] = scaled(c, part[0], alpha);
	if (beta != 1 && part[1] >= 0)
		part[1] = scaled(c, part[1], beta);
	call_node(c, part[1] < 0 ? "Identity" : "Add", part, part[1] < 0 ? 1 : 2);
	return 0;
}

/* A value between the nodes of a call, whose shape is that of q but for the last dimension. */
static int scores(const struct call *c, int q, int64_t columns)
{
	struct shape s = *build_shape(c->b, q);

	s.dim[s.rank - 1] = columns;
	return build_like(c->b, c->out[0], "scores", q, &s);
}

/* Keys or values whose heads each serve several of the queries': once for each of these. */
static int for_each_head(const struct call *c, int of, const struct shape *q)
{
	struct shape s = *build_shape(c->b, of);
	int wide;

	if (s.rank != q->rank || q->rank < 3 || s.dim[q->rank - 3] == q->dim[q->rank - 3])
		return of;
	s.dim[q->rank - 3] = q->dim[q->rank - 3];
	wide = build_like(c->b, of, "heads", of, &s);
	call_between(c, "Expand", &of, 1, wide);
	return wide;
}

/* What is added to the scores; a causal mask is a constant. -1: nothing. */
static int mask_of(const struct call *c, const struct shape *q, const struct shape *k)
{
	struct declared *d;
	struct value *v;
	int mask = call_input(c, "attn_mask");

	if (mask < 0)
		mask = call_input(c, "attn_bias");
	if (mask >= 0 || !call_flag(c, "is_causal", 0) || q->rank < 2 || k->rank != q->rank)
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
static int masked(const struct call *c, int from, int mask)
{
	const int added[] = {from, mask};
	const int chosen[] = {mask, from, build_number(c->b, -1e30)};
	const struct declared *d = c->b->g->value[mask]->declared;
	const struct shape *s = build_shape(c->b, from);
	int to = scores(c, from, s->dim[s->rank - 1]);

	if (d && d->elem == VALUE_BOOL)
		call_between(c, "Where", chosen, 3, to);
	else
		call_between(c, "Add", added, 2, to);
	return to;
}

/* softmax(q k') v, as its two products. */
int torch_attention(const struct call *c, const struct call_row *row)
{
	int in[] = {call_input(c, "query"), call_input(c, "key"), call_input(c, "value")};
	const struct shape *q = build_shape(c->b, in[0]), *k = build_shape(c->b, in[1]);
	const int mask = mask_of(c, q, k);
	int product, after[2];

	(void)row;
	if (in[2] < 0 || q->rank < 2 || k->rank != q->rank)
		return -1;
	for (int i = 1; i < 3; i++)
		in[i] = for_each_head(c, in[i], q);
	product = scores(c, in[0], k->dim[q->rank - 2]);
	compose_linear(c->b, in[0], in[1], -1, product, 1);
	if (mask >= 0)
		product = masked(c, product, mask);
	after[0] = scores(c, product, k->dim[q->rank - 2]);
	after[1] = in[2];
	call_between(c, "Softmax", &product, 1, after[0]);
	call_node(c, "MatMul", after, 2);
	return 0;
}
