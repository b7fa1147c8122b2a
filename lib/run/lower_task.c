/* Convolutions and products: kernels of workloads, with what was fused into them. */
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/weights.h"

struct making {
	struct lowering *l;
	const struct task *t;
	const struct graph_node *n;
	const int *order; /* of activations; NULL: row-major */
	int orders[PLACE_RANK];
	struct weights_plan *w;
	struct place role[TENSOR_ROLES];
	struct place dst;
	int add; /* value that is added, -1 */
};

/* A constant, dense, in memory that holds nothing else. */
static int constant(struct making *k, int value, struct place *out, struct err *e)
{
	struct lowering *l = k->l;
	struct place p;

	if (lower_get_dense(l, value, NULL, &p, e))
		return -1;
	*out = p;
	if (!p.at && l->p->memory[p.memory].size == place_count(&p))
		return 0;
	lower_room(l, out);
	plan_copy(l->p, l->g->value[value]->name, &p, out, 0);
	return 0;
}

static int add_change(struct making *k, enum weights_kind kind, const int value[4], int n,
		      double epsilon, double factor, struct err *e)
{
	struct weights_change *c = &k->w->change[k->w->nchange];
	int *memory[] = {&c->a, &c->b, &c->c, &c->d};
	struct place p;

	if (k->w->nchange++ == WEIGHTS_CHANGES)
		return lower_bad(k->l, k->n, e, "is scaled and shifted too often");
	*c = (struct weights_change){.kind = kind, .epsilon = epsilon, .factor = factor};
	for (int i = 0; i < n; i++) {
		if (constant(k, value[i], &p, e))
			return -1;
		*memory[i] = p.memory;
	}
	return 0;
}

static int take_fused(struct making *k, struct err *e)
{
	for (int i = 0; i < k->t->ntaken; i++) {
		const struct graph_node *n = &k->l->g->node[k->t->taken[i].node];
		int value[4] = {k->t->taken[i].other}, rc = 0;
		struct place p;

		switch (k->t->taken[i].as) {
		case TAKEN_BIAS:
			rc = add_change(k, WEIGHTS_BIAS, value, 1, 0, 1, e);
			break;
		case TAKEN_SCALE:
			rc = add_change(k, WEIGHTS_SCALE, value, 1, 0, 1, e);
			break;
		case TAKEN_NORM:
			rc = add_change(k, WEIGHTS_NORM, n->in + 1, 4,
					(double)node_float(n, "epsilon", 1e-5F), 1, e);
			break;
		case TAKEN_ADD:
			k->add = value[0];
			break;
		case TAKEN_MUL:
			rc = lower_get_dense(k->l, value[0], k->order, &p, e);
			k->role[TENSOR_MUL] = p;
			break;
		case TAKEN_REST:
			break;
		}
		if (rc)
			return -1;
	}
	return 0;
}

static int take_weights(struct making *k, int value, struct err *e)
{
	struct place p;

	if (lower_get_dense(k->l, value, NULL, &p, e))
		return -1;
	if (k->t->w.rhs_const) {
		k->w->memory = p.memory;
		k->w->at = p.at;
	} else {
		k->role[TENSOR_WEIGHTS] = p;
	}
	return 0;
}

static int make_conv(struct making *k, struct err *e)
{
	struct place p;
	int rank = k->l->g->value[k->t->in]->shape.rank;

	order_channels_last(rank, k->orders);
	k->order = k->orders;
	k->w->channels = k->t->w.dim[CONV_OC];
	if (lower_get_dense(k->l, k->t->in, k->order, &p, e) || take_weights(k, k->n->in[1], e))
		return -1;
	k->role[TENSOR_SRC] = p;
	if (node_in(k->l->g, k->n, 2))
		return add_change(k, WEIGHTS_BIAS, (int[4]){k->n->in[2]}, 1, 0, 1, e);
	return 0;
}

/* Matrices are dense, as they are stored or copied. */
static int make_matmul(struct making *k, struct err *e)
{
	const struct graph *g = k->l->g;
	const int64_t *d = k->t->w.dim;
	struct place p;

	k->w->channels = d[MATMUL_N];
	if (shape_count(&g->value[k->n->in[0]]->shape) != d[MATMUL_B] * d[MATMUL_M] * d[MATMUL_K] ||
	    shape_count(&g->value[k->n->in[1]]->shape) != d[MATMUL_B] * d[MATMUL_K] * d[MATMUL_N])
		return lower_bad(k->l, k->n, e, "broadcasts matrices, which is not computed here");
	if (lower_get_dense(k->l, k->n->in[0], NULL, &p, e) || take_weights(k, k->n->in[1], e))
		return -1;
	k->role[TENSOR_SRC] = p;
	return 0;
}

static void transpose(struct place *p)
{
	struct place t = *p;

	t.dim[0] = p->dim[1];
	t.dim[1] = p->dim[0];
	t.stride[0] = p->stride[1];
	t.stride[1] = p->stride[0];
	*p = t;
}

static int gemm_side(struct making *k, int input, int transposed, struct place *p, struct err *e)
{
	const char *name = k->l->g->value[k->n->in[input]]->name;

	if (lower_get(k->l, k->n->in[input], p, e))
		return -1;
	if (transposed)
		transpose(p);
	lower_dense(k->l, p, NULL, name, p);
	return 0;
}

static int make_gemm(struct making *k, struct err *e)
{
	const struct graph_node *n = k->n;
	struct place p;
	int in_weights = k->t->w.rhs_const && node_int(n, "transB", 0);
	double beta = (double)node_float(n, "beta", 1);
	const struct value *c = node_in(k->l->g, n, 2);
	const struct shape *out = &node_out(k->l->g, n, 0)->shape;

	k->w->channels = k->t->w.dim[MATMUL_N];
	k->w->alpha = (double)node_float(n, "alpha", 1);
	if (gemm_side(k, 0, node_int(n, "transA", 0) != 0, &p, e))
		return -1;
	k->role[TENSOR_SRC] = p;
	if (k->t->w.rhs_const) {
		k->w->transposed = in_weights;
		if (take_weights(k, n->in[1], e))
			return -1;
	} else {
		if (k->w->alpha != 1)
			return lower_bad(k->l, n, e, "scales a product of two computed matrices");
		if (gemm_side(k, 1, node_int(n, "transB", 0) != 0, &p, e))
			return -1;
		k->role[TENSOR_WEIGHTS] = p;
	}
	if (!c)
		return 0;
	if (value_is_along(c, out, 1, 1))
		return add_change(k, WEIGHTS_BIAS, (int[4]){n->in[2]}, 1, 0, beta, e);
	if (!shape_equal(&c->shape, out))
		return lower_bad(k->l, n, e,
				 "adds what must be repeated, which is not computed here");
	if (beta != 1)
		return lower_bad(k->l, n, e, "scales what it adds");
	k->add = n->in[2];
	return 0;
}

/* What is added is copied to where the result will be. If nobody needs it any more, both have the
 * same place, and nothing is copied (overwrite.h). */
static int make_result(struct making *k, struct err *e)
{
	struct lowering *l = k->l;
	struct place add, shape;

	if (lower_shape(l, k->t->out, &shape, e))
		return -1;
	place_dense(&shape, shape.rank, shape.dim, k->order);
	k->dst = shape;
	if (k->add >= 0 && lower_get(l, k->add, &add, e))
		return -1;
	if (l->want[k->t->out].memory >= 0 && place_is_dense(&l->want[k->t->out], k->order))
		k->dst = l->want[k->t->out];
	else
		lower_room(l, &k->dst);
	if (k->add < 0)
		return 0;
	plan_copy(l->p, l->g->value[k->add]->name, &add, &k->dst, 1);
	k->role[TENSOR_ADD] = k->dst;
	return 0;
}

/* "Conv+Add+Relu" */
static const char *title(const struct making *k)
{
	struct arena *a = k->l->p->a;
	const char *text = k->n->type;

	for (int i = 0; i < k->t->ntaken; i++)
		text = arena_printf(a, "%s+%s", text, k->l->g->node[k->t->taken[i].node].type);
	return text;
}

static int add_step(struct making *k, struct err *e)
{
	struct lowering *l = k->l;
	struct chosen c;
	struct step *s;
	int rc = chooser_pick(l->chooser, &k->t->w, &c, e);

	if (rc < 0)
		return -1;
	if (!rc)
		return lower_bad(l, k->n, e, "is a workload that no algorithm applies to");
	k->role[TENSOR_DST] = k->dst;
	s = plan_candidate(l->p, node_label(l->g, k->n), title(k), &c.candidate, k->w, k->role, e);
	if (!s)
		return -1;
	s->match = c.match;
	s->predicted_s = c.predicted_s;
	lower_put(l, k->t->out, &k->dst);
	return 0;
}

int lower_task(struct lowering *l, const struct task *t, struct err *e)
{
	struct making k = {.l = l,
			   .t = t,
			   .n = &l->g->node[t->node],
			   .w = arena_new(l->p->a, struct weights_plan),
			   .add = -1};
	int rc;

	k.w->memory = MEMORY_NONE;
	k.w->alpha = 1;
	for (int i = 0; i < TENSOR_ROLES; i++)
		k.role[i].memory = MEMORY_NONE;
	if (node_is(k.n, "Conv"))
		rc = make_conv(&k, e);
	else if (node_is(k.n, "Gemm"))
		rc = make_gemm(&k, e);
	else
		rc = make_matmul(&k, e);
	return rc || take_fused(&k, e) || make_result(&k, e) || add_step(&k, e) ? -1 : 0;
}
