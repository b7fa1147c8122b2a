/* Convolutions and products: kernels of workloads, with what was fused into them. */
#include <string.h>

#include "lib/run/constants.h"
#include "lib/run/lower.h"
#include "lib/run/weights.h"

struct making {
	struct lowering *l;
	const struct task *t;
	const struct graph_node *n;
	struct workload load; /* in the types that it computes in */
	enum elem in, out;    /* of its sources; of its result and what is added to that */
	const int *order;     /* of activations; NULL: row-major */
	int orders[PLACE_RANK];
	struct weights_plan *w;
	const struct task_scales *q; /* of a product in 8 bits; NULL: it is of reals */
	int side_value[2];	     /* source and weights */
	int is_transposed;
	struct task_phases phases; /* of a transposed convolution */
	struct place role[TENSOR_ROLES];
	struct place dst, side[2]; /* side: of a product, before it is made dense */
	struct chosen chosen;
	int64_t pitch;	    /* of dst (plan.h) */
	int add;	    /* value that is added, -1 */
	struct place added; /* or what is added, if its memory is not MEMORY_NONE */
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

/* Without gaps in an order, in a type. */
static int get_as(struct making *k, int value, const int *order, enum elem elem, struct place *out,
		  struct err *e)
{
	struct place p;

	lower_arrange(k->l, value, order);
	if (lower_get_made(k->l, value, &p, e))
		return -1;
	lower_dense_as(k->l, &p, order, elem, k->l->g->value[value]->name, out);
	return 0;
}

/* Returns the type of the weights before the kernel's own are made of them: constants are packed in
 * single precision. */
static enum elem weights_elem(const struct making *k)
{
	return k->t->w.rhs_const ? ELEM_F32 : k->in;
}

static int add_change(struct making *k, enum weights_kind kind, const int value[4], int n,
		      double epsilon, double factor, struct err *e)
{
	struct weights_change *c = &k->w->change[k->w->nchange];
	int *memory[] = {&c->a, &c->b, &c->c, &c->d};
	const int64_t channels = k->w->channels / k->w->times;
	struct place p;

	if (k->w->nchange++ == WEIGHTS_CHANGES)
		return lower_bad(k->l, k->n, e, "is scaled and shifted too often");
	*c = (struct weights_change){.kind = kind, .epsilon = epsilon, .factor = factor};
	for (int i = 0; i < n; i++) {
		if (constant(k, value[i], &p, e))
			return -1;
		if (place_count(&p) != channels && place_count(&p) != 1)
			return lower_bad(k->l, k->n, e,
					 "has %lld channels, but %lld values for them",
					 (long long)channels, (long long)place_count(&p));
		*memory[i] = p.memory;
	}
	return 0;
}

/* A convolution's own bias has a value for each channel. */
static int add_bias(struct making *k, struct err *e)
{
	const int value = k->n->in[2];

	if (shape_count(&k->l->g->value[value]->shape) != k->w->channels / k->w->times)
		return lower_bad(k->l, k->n, e, "has a bias that does not fit its channels");
	return add_change(k, WEIGHTS_BIAS, (int[4]){value}, 1, 0, 1, e);
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
			rc = get_as(k, value[0], k->order, k->out, &p, e);
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

static void take_weights(struct making *k, const struct place *p)
{
	if (k->t->w.rhs_const) {
		k->w->memory = p->memory;
		k->w->at = p->at;
	} else {
		k->role[TENSOR_WEIGHTS] = *p;
	}
}

/* The weights of the rows and columns that the window has. */
static int get_window(struct making *k, struct place *out, struct err *e)
{
	const int64_t *d = k->t->w.dim;
	struct place p;

	if (lower_get_made(k->l, k->side_value[1], &p, e))
		return -1;
	for (int axis = 0; axis < 2; axis++) {
		const int i = p.rank - 2 + axis;

		if (i < 2) /* it has columns alone */
			continue;
		p.at += k->t->skip[axis] * p.stride[i];
		p.dim[i] = d[CONV_KH + axis];
	}
	lower_dense_as(k->l, &p, NULL, weights_elem(k), k->l->g->value[k->side_value[1]]->name,
		       out);
	return 0;
}

static int make_volume(struct making *k, struct place *x, struct place *weights, struct err *e)
{
	const struct task_volume *v = &k->t->volume;

	return lower_volume_source(k->l, v, k->side_value[0], k->in, x, e) ||
	       lower_volume_weights(k->l, v, k->side_value[1], weights_elem(k), weights, e);
}

static int make_conv(struct making *k, struct err *e)
{
	struct place p, weights;
	const int rank = k->l->g->value[k->t->in]->shape.rank;
	const int has_bias = node_is(k->n, OP_Conv) && node_in(k->l->g, k->n, 2);

	order_channels_last(rank, k->orders);
	k->order = k->orders;
	k->w->channels = k->t->w.dim[CONV_OC];
	if (k->t->volume.kernel ? make_volume(k, &p, &weights, e)
				: get_as(k, k->side_value[0], k->order, k->in, &p, e) ||
					  get_window(k, &weights, e))
		return -1;
	take_weights(k, &weights);
	k->role[TENSOR_SRC] = p;
	if (has_bias)
		return add_bias(k, e);
	return 0;
}

/* A transposed convolution: what is made are channels of phases, or columns. */
static int make_transposed(struct making *k, struct err *e)
{
	const struct task_phases *p = &k->phases;
	struct place src, weights;

	order_channels_last(p->w.rank + 2, k->orders);
	k->order = k->orders;
	k->w->run = p->oc;
	if (p->form == PHASES_CONV) {
		k->w->channels = k->t->w.dim[CONV_OC];
		k->w->times = p->phases;
	} else {
		k->w->channels = k->t->w.dim[MATMUL_N];
		k->w->times = k->w->channels / p->oc;
	}
	if (get_as(k, k->side_value[0], k->order, k->in, &src, e) ||
	    lower_phases_weights(k->l, k->n, p, &weights, e))
		return -1;
	take_weights(k, &weights);
	k->role[TENSOR_SRC] = src;
	if (node_in(k->l->g, k->n, 2) && !k->t->part)
		return add_bias(k, e);
	return 0;
}

/* A side of a product whose batches are broadcast: repeated in a copy, unless all of it is there. A
 * vector is a matrix of one row or column. */
static int get_side(struct making *k, int input, int64_t count, struct place *out, struct err *e)
{
	const struct place *other = &k->side[!input];
	const enum elem elem = input ? weights_elem(k) : k->in;
	struct place p = k->side[input], wide = {0};
	const char *name = k->l->g->value[k->side_value[input]]->name;

	if (place_count(&p) == count) {
		lower_dense_as(k->l, &p, NULL, elem, name, out);
		return 0;
	}
	wide.rank = p.rank > other->rank ? p.rank : other->rank;
	for (int i = 1; i <= wide.rank; i++) {
		const int64_t a = i <= p.rank ? p.dim[p.rank - i] : 1;
		const int64_t b = i <= 2 || i > other->rank ? 1 : other->dim[other->rank - i];

		wide.dim[wide.rank - i] = a == 1 ? b : a;
	}
	if (place_broadcast(&p, wide.rank, wide.dim, &wide) || place_count(&wide) != count)
		return lower_bad(k->l, k->n, e, "has matrices whose batches do not fit");
	lower_dense_as(k->l, &wide, NULL, elem, name, out);
	return 0;
}

/* Matrices are dense, as they are stored or copied. */
static int make_matmul(struct making *k, struct err *e)
{
	const int64_t *d = k->t->w.dim;
	struct place p, weights;

	k->w->channels = d[MATMUL_N];
	for (int i = 0; i < 2; i++) {
		lower_arrange(k->l, k->side_value[i], NULL);
		if (lower_get_made(k->l, k->side_value[i], &k->side[i], e))
			return -1;
	}
	if (get_side(k, 0, d[MATMUL_B] * d[MATMUL_M] * d[MATMUL_K], &p, e) ||
	    get_side(k, 1, d[MATMUL_B] * d[MATMUL_K] * d[MATMUL_N], &weights, e))
		return -1;
	take_weights(k, &weights);
	k->role[TENSOR_SRC] = p;
	return 0;
}

/* A matrix that stays packed, with its scales and zero points. */
static int make_packed(struct making *k, struct err *e)
{
	struct lowering *l = k->l;
	const struct graph_node *n = &l->g->node[l->g->value[k->side_value[1]]->producer];
	struct weights_groups *g = &k->w->groups;
	int *memory[] = {&k->w->memory, &g->scales, &g->zeros};
	struct place p;

	k->w->channels = k->t->w.dim[MATMUL_N];
	g->packed = lower_packed(l, n, e);
	g->zeros = MEMORY_NONE;
	if (!g->packed)
		return -1;
	for (int i = 0; i < 3; i++) {
		if (!node_in(l->g, n, i))
			continue;
		if (constant(k, n->in[i], &p, e))
			return -1;
		*memory[i] = p.memory;
	}
	return get_as(k, k->side_value[0], NULL, k->in, &k->role[TENSOR_SRC], e);
}

/* The letters of the result lie as the product makes them: batch, rows, columns. */
static int make_einsum(struct making *k, struct err *e)
{
	const struct graph *g = k->l->g;
	const int left = g->value[k->n->in[0]]->is_const && !g->value[k->n->in[1]]->is_const;
	struct place side[2];

	k->w->channels = k->t->w.dim[MATMUL_N];
	if (lower_einsum_sides(k->l, k->n, left, side, k->orders, e))
		return -1;
	k->order = k->orders;
	lower_as(k->l, &side[0], k->in, node_label(g, k->n), &side[0]);
	lower_as(k->l, &side[1], weights_elem(k), node_label(g, k->n), &side[1]);
	take_weights(k, &side[1]);
	k->role[TENSOR_SRC] = side[0];
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
	const char *name = k->l->g->value[k->side_value[input]]->name;

	lower_arrange(k->l, k->side_value[input], transposed ? (const int[]){1, 0} : NULL);
	if (lower_get_made(k->l, k->side_value[input], p, e))
		return -1;
	if (transposed)
		transpose(p);
	lower_dense_as(k->l, p, NULL, input ? weights_elem(k) : k->in, name, p);
	return 0;
}

/* beta * c, which is repeated as the result needs it, as something that is added. */
static int add_matrix(struct making *k, double beta, const struct shape *out, struct err *e)
{
	struct lowering *l = k->l;
	struct pointwise m = {0};
	struct place c, broad;

	if (beta == 1 && shape_equal(&l->g->value[k->n->in[2]]->shape, out)) {
		k->add = k->n->in[2];
		return 0;
	}
	place_dense(&m.out, out->rank, out->dim, NULL);
	if (lower_get(l, k->n->in[2], &c, e))
		return -1;
	if (place_broadcast(&c, m.out.rank, m.out.dim, &broad))
		return lower_bad(l, k->n, e, "adds what does not fit its result");
	if (beta == 1) {
		k->added = broad;
		return 0;
	}
	pointwise_op(&m, PW_MUL, pointwise_input(&m, &broad), pointwise_const(&m, beta));
	lower_room(l, &m.out);
	k->added = m.out;
	return lower_pointwise(l, &m, l->g->value[k->n->in[2]]->name, "scale", e);
}

/* A product of two computed matrices is scaled by its left side. */
static int scale_side(struct making *k, struct place *p, struct err *e)
{
	struct pointwise m = {.out = *p};

	pointwise_op(&m, PW_MUL, pointwise_input(&m, p), pointwise_const(&m, k->w->alpha));
	lower_room_as(k->l, &m.out, p->elem);
	*p = m.out;
	return lower_pointwise(k->l, &m, node_label(k->l->g, k->n), "scale", e);
}

static int make_gemm(struct making *k, struct err *e)
{
	const struct graph_node *n = k->n;
	struct place p, weights;
	const int is_const = k->t->w.rhs_const, turned = node_int(n, "transB", 0) != 0;
	double beta = (double)node_float(n, "beta", 1);
	const struct value *c = task_gemm_added(k->l->g, n);
	const struct shape *out = &node_out(k->l->g, n, 0)->shape;

	k->w->channels = k->t->w.dim[MATMUL_N];
	k->w->alpha = (double)node_float(n, "alpha", 1);
	k->w->transposed = is_const && turned;
	if (gemm_side(k, 0, node_int(n, "transA", 0) != 0, &p, e) ||
	    gemm_side(k, 1, turned && !is_const, &weights, e) ||
	    (!is_const && k->w->alpha != 1 && scale_side(k, &p, e)))
		return -1;
	take_weights(k, &weights);
	k->role[TENSOR_SRC] = p;
	if (!c)
		return 0;
	if (value_is_along(c, out, 1, 1))
		return add_change(k, WEIGHTS_BIAS, (int[4]){n->in[2]}, 1, 0, beta, e);
	return add_matrix(k, beta, out, e);
}

/* Is the result made where it is wanted? Sets its pitch. The library's code leaves no gaps. */
static int takes_want(struct making *k)
{
	const struct place *want = &k->l->want[k->t->out];

	if (want->memory < 0 || want->elem != k->out)
		return 0;
	if (place_is_dense(want, k->order))
		return 1;
	if (!k->l->p->by_library && candidate_pitches(&k->chosen.candidate))
		k->pitch = place_pitch(want, k->order);
	return k->pitch > 0;
}

/* The types of the operator: its result is made in that of the place where it is wanted. */
static int set_types(struct making *k, struct err *e)
{
	const struct lowering *l = k->l;
	const struct place *want = &l->want[k->t->out];

	if (k->q) {
		k->load = k->t->w;
		k->in = elem_of(k->load.dtype.src);
		k->out = elem_of(k->load.dtype.dst);
		return 0;
	}
	k->in = l->computes[k->t - l->tasks];
	if (k->in == ELEM_BF16)
		k->out = want->memory >= 0 ? want->elem : l->elem[k->t->out];
	if (k->is_transposed && k->phases.is_moved)
		k->out = lower_phases_elem(&k->phases, k->out);
	return lower_workload(k->t, k->in, k->out, &k->load, e);
}

/* What is added is copied to where the result will be. If nobody needs it any more, both have the
 * same place, and nothing is copied (overwrite.h). */
static int make_result(struct making *k, struct err *e)
{
	struct lowering *l = k->l;
	struct place add = k->added, shape;

	if (k->is_transposed && k->phases.is_moved) {
		lower_phases_room(l, &k->phases, k->role[TENSOR_SRC].dim[0], k->w->channels, k->out,
				  &k->dst);
		return 0;
	}
	if (lower_shape(l, k->t->out, &shape, e))
		return -1;
	place_dense(&shape, shape.rank, shape.dim, k->order);
	k->dst = shape;
	if (k->add >= 0 && lower_get_made(l, k->add, &add, e))
		return -1;
	if (takes_want(k))
		k->dst = l->want[k->t->out];
	else
		lower_room_as(l, &k->dst, k->out);
	if (add.memory < 0)
		return 0;
	plan_copy(l->p, node_label(l->g, k->n), &add, &k->dst, 1);
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
	if (k->t->behind >= 0)
		text = arena_printf(a, "%s+%s", text, k->l->g->node[k->t->behind].type);
	return text;
}

/* Returns the name that tl-extract tells for the task. */
static const char *step_name(const struct making *k)
{
	const char *name = node_label(k->l->g, k->n), *part = task_part_name(k->t);

	return part[0] ? arena_printf(k->l->p->a, "%s%s", name, part) : name;
}

static int add_rivals(struct making *k, struct err *e)
{
	struct chosen rival[CHOOSER_RIVALS];
	const int n = chooser_rivals(k->l->chooser, &k->load, &k->chosen, rival, e);

	for (int i = 0; i < n; i++) {
		struct step *s;

		if (k->pitch && !candidate_pitches(&rival[i].candidate))
			continue;
		s = plan_rival(k->l->p, &rival[i].candidate, e);
		if (!s)
			return -1;
		s->match = rival[i].match;
		s->predicted_s = rival[i].predicted_s;
	}
	return n < 0 ? -1 : 0;
}

static int choose(struct making *k, struct err *e)
{
	const int rc = chooser_pick(k->l->chooser, &k->load, &k->chosen, e);

	return rc ? rc < 0 ? -1 : 0
		  : lower_bad(k->l, k->n, e, "is a workload that no algorithm applies to");
}

static int add_step(struct making *k, struct err *e)
{
	struct lowering *l = k->l;
	struct step *s;

	k->role[TENSOR_DST] = k->dst;
	s = plan_candidate(l->p, step_name(k), title(k), &k->chosen.candidate, k->w, k->role,
			   k->pitch, e);
	if (!s)
		return -1;
	s->match = k->chosen.match;
	s->predicted_s = k->chosen.predicted_s;
	s->is_decided = k->chosen.is_decided;
	return add_rivals(k, e);
}

static int put_result(struct making *k, struct err *e)
{
	if (k->is_transposed && k->phases.is_moved)
		return lower_phases_image(k->l, k->t, &k->phases, &k->dst, e);
	lower_put(k->l, k->t->out, &k->dst);
	return 0;
}

/* Finds the whole numbers that the bias of reals was dequantized from. Whether they have the unit
 * of the sums is seen by the reals (weights.c). -1: there are none for each channel. */
static int dequantized_bias(const struct making *k)
{
	const struct graph *g = k->l->g;
	const int is_conv = k->load.op == &op_conv2d;
	const struct value *bias = is_conv || node_is(k->n, OP_Gemm) ? node_in(g, k->n, 2) : NULL;
	const struct graph_node *n;

	for (int i = 0; !bias && i < k->t->ntaken; i++)
		if (k->t->taken[i].as == TAKEN_BIAS)
			bias = g->value[k->t->taken[i].other];
	n = bias && bias->producer >= 0 ? &g->node[bias->producer] : NULL;
	if (!n || !node_is(n, OP_DequantizeLinear) || !shape_known(&bias->shape) ||
	    shape_count(&bias->shape) != k->load.dim[is_conv ? CONV_OC : MATMUL_N] ||
	    (node_in(g, n, 2) && value_is_zero(node_in(g, n, 2)) != 1))
		return -1;
	return n->in[0];
}

/* The memory of the bias as whole numbers, which sums of 32 bits take as they are. */
static int take_whole_bias(struct making *k, int value, struct err *e)
{
	struct place p;
	int *memory = &k->w->scales.bias;

	*memory = value < 0 ? MEMORY_NONE : constant_whole(k->l->p, k->l->g, value);
	if (*memory >= 0 || value != k->q->bias || value < 0)
		return 0;
	if (constant(k, value, &p, e))
		return -1;
	*memory = p.memory;
	return 0;
}

/* The scales and zero points, which are constants. */
static int take_scales(struct making *k, struct err *e)
{
	const struct task_scales *q = k->q;
	struct weights_scales *s = &k->w->scales;
	const struct {
		int value, *memory;
	} all[] = {{q->x.scale, &s->x_scale},
		   {q->x.zero, &s->x_zero},
		   {q->w.scale, &s->w_scale},
		   {q->y.scale, &s->y_scale},
		   {q->y.zero, &s->y_zero}};
	struct place p;

	s->is = 1;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		*all[i].memory = MEMORY_NONE;
		if (all[i].value < 0)
			continue;
		if (constant(k, all[i].value, &p, e))
			return -1;
		*all[i].memory = p.memory;
	}
	return take_whole_bias(k, q->bias < 0 ? dequantized_bias(k) : q->bias, e);
}

static struct making begin(struct lowering *l, const struct task *t)
{
	struct making k = {.l = l,
			   .t = t,
			   .n = &l->g->node[t->node],
			   .w = arena_new(l->p->a, struct weights_plan),
			   .add = -1,
			   .added = {.memory = MEMORY_NONE}};

	k.w->memory = MEMORY_NONE;
	k.w->alpha = 1;
	k.w->times = k.w->run = 1;
	for (int i = 0; i < TENSOR_ROLES; i++)
		k.role[i].memory = MEMORY_NONE;
	return k;
}

int lower_product(struct lowering *l, const struct graph_node *n, const struct task *t,
		  const struct place *x, const struct place *weights, struct place *out,
		  struct err *e)
{
	const int64_t *d = t->w.dim;
	struct making k = begin(l, t);
	struct place w = *weights;

	k.w->channels = d[MATMUL_N];
	k.w->transposed = t->w.rhs_const;
	if (!t->w.rhs_const) {
		transpose(&w);
		lower_dense(l, &w, NULL, node_label(l->g, n), &w);
	}
	k.load = t->w;
	if (workload_set_dtype(&k.load, "f32", strlen("f32"), e) || workload_finish(&k.load, e))
		return -1;
	take_weights(&k, &w);
	k.role[TENSOR_SRC] = *x;
	place_dense(&k.dst, 2, (int64_t[]){d[MATMUL_M], d[MATMUL_N]}, NULL);
	lower_room(l, &k.dst);
	*out = k.dst;
	return choose(&k, e) || add_step(&k, e) ? -1 : 0;
}

int lower_task(struct lowering *l, const struct task *t, struct err *e)
{
	struct making k = begin(l, t);
	int rc;

	k.q = dtype_is_int(t->w.dtype.src) ? &t->scales : NULL;
	k.is_transposed = node_is(k.n, OP_ConvTranspose);
	if (k.is_transposed && task_phases(l->g, k.n, &k.phases, e))
		return -1;
	if (t->part) { /* whatever else it could be */
		k.phases.form = PHASES_SUMS;
		k.phases.is_moved = 1;
	}
	k.side_value[0] = k.q ? k.q->x.is : node_is(k.n, OP_Conv) ? t->in : k.n->in[0];
	k.side_value[1] = k.q ? k.q->w.is : k.n->in[1];
	if (set_types(&k, e) || (k.q && take_scales(&k, e)))
		return -1;
	if (node_is(k.n, OP_Conv) || node_is(k.n, OP_QLinearConv))
		rc = make_conv(&k, e);
	else if (k.is_transposed)
		rc = make_transposed(&k, e);
	else if (node_is(k.n, OP_Gemm))
		rc = make_gemm(&k, e);
	else if (workload_group(&t->w))
		rc = make_packed(&k, e);
	else if (node_is(k.n, OP_Einsum))
		rc = make_einsum(&k, e);
	else
		rc = make_matmul(&k, e);
	return rc || take_fused(&k, e) || choose(&k, e) || make_result(&k, e) || add_step(&k, e) ||
			       put_result(&k, e)
		       ? -1
		       : 0;
}
