/* Operators over rows: softmax, reductions, layer normalization. */
#include <math.h>
#include <string.h>

#include "lib/run/arg.h"
#include "lib/run/contract.h"
#include "lib/run/lines.h"
#include "lib/run/lower.h"
#include "lib/run/rows.h"

void lower_marked_last(int rank, const unsigned char *marked, int order[PLACE_RANK])
{
	int n = 0;

	for (int last = 0; last < 2; last++)
		for (int i = 0; i < rank; i++)
			if (marked[i] == last)
				order[n++] = i;
}

/* The last of n places is the result's. It may replace the first operand, if it has all of its
 * elements. */
static int emit(struct lowering *l, const struct rows *r, const struct place *places, int n,
		const char *name, const char *what, struct err *e)
{
	struct step *s;

	rows_nest(r, l->lanes, plan_nest(l->p, "rows"));
	s = plan_kernel(l->p, name, what, places, e);
	if (s)
		s->elementwise = place_same_shape(&places[0], &places[n - 1]);
	return s ? 0 : -1;
}

int lower_softmax(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct place place[2];
	unsigned char marked[PLACE_RANK] = {0};
	struct rows r = {.kind = ROWS_SOFTMAX, .size = 1};
	int order[PLACE_RANK], axis, is_old, rank = l->g->value[n->in[0]]->shape.rank;

	if (rank < 1 || rank > PLACE_RANK)
		return lower_bad(l, n, e, "has an input of unknown shape");
	/* Before operator set 13 all dimensions from the axis on were one. A node of onnxruntime's
	 * names its set itself. */
	is_old = node_int(n, "opset", l->opset) < 13;
	axis = infer_axis(node_int(n, "axis", is_old ? 1 : -1), rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	for (int i = axis; i < (is_old ? rank : axis + 1); i++)
		marked[i] = 1;
	lower_marked_last(rank, marked, order);
	if (lower_get_dense(l, n->in[0], order, &place[0], e))
		return -1;
	for (int i = 0; i < rank; i++)
		if (marked[i])
			r.size *= place[0].dim[i];
	r.rows = place_count(&place[0]) / r.size;
	place[1] = place[0];
	lower_room(l, &place[1]);
	lower_put(l, n->out[0], &place[1]);
	return emit(l, &r, place, 2, node_label(l->g, n), n->type, e);
}

static int reduced_axes(const struct lowering *l, const struct graph_node *n, int rank,
			unsigned char *marked)
{
	const int64_t *axes;
	int naxes, given = infer_list(l->g, n, "axes", 1, &naxes, &axes);
	const int is_noop = node_int(n, "noop_with_empty_axes", 0) != 0;
	const int all = (given == 0 || naxes == 0) && !is_noop;

	if (given < 0)
		return -1;
	for (int i = 0; i < rank; i++)
		marked[i] = (unsigned char)all;
	for (int i = 0; given && i < naxes; i++) {
		int axis = infer_axis(axes[i], rank);

		if (axis < 0)
			return -1;
		marked[axis] = 1;
	}
	return 0;
}

/* What a reduction adds up: the squares or sizes of a place, in memory of their own. */
static int change(struct lowering *l, enum pointwise_kind kind, struct place *p, const char *name,
		  struct err *e)
{
	struct pointwise m = {.out = *p};
	int x = pointwise_input(&m, p);

	if (kind == PW_MUL)
		pointwise_op(&m, PW_MUL, x, x);
	else
		pointwise_op(&m, kind, x, pointwise_op(&m, PW_SUB, pointwise_const(&m, 0), x));
	lower_room(l, &m.out);
	*p = m.out;
	return lower_pointwise(l, &m, name, kind == PW_MUL ? "square" : "size", e);
}

static int root(struct lowering *l, struct place *p, const char *name, struct err *e)
{
	struct pointwise m = {.out = *p};

	pointwise_op(&m, PW_SQRT, pointwise_input(&m, p), -1);
	lower_room(l, &m.out);
	*p = m.out;
	return lower_pointwise(l, &m, name, "root", e);
}

static const struct reduction {
	enum node_op op;
	enum rows_kind kind;
	enum pointwise_kind before; /* PW_MUL: of squares, PW_MAX: of sizes; else PW_INPUT */
	int is_root;
} reductions[] = {
	{OP_ReduceL1, ROWS_SUM, PW_MAX, 0},	   {OP_ReduceL2, ROWS_SUM, PW_MUL, 1},
	{OP_ReduceMax, ROWS_MAX, PW_INPUT, 0},	   {OP_ReduceMean, ROWS_MEAN, PW_INPUT, 0},
	{OP_ReduceMin, ROWS_MIN, PW_INPUT, 0},	   {OP_ReduceSum, ROWS_SUM, PW_INPUT, 0},
	{OP_ReduceSumSquare, ROWS_SUM, PW_MUL, 0}, {OP_GlobalAveragePool, ROWS_MEAN, PW_INPUT, 0},
	{OP_GlobalMaxPool, ROWS_MAX, PW_INPUT, 0},
};

static const struct reduction *find_reduction(const struct graph_node *n)
{
	for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
		if (node_is(n, reductions[i].op))
			return &reductions[i];
	return NULL;
}

/* Finds what a reduction makes of no elements. 0: there is no such number. */
static int find_neutral(const struct graph_node *n, int is_int, float *x)
{
	static const struct {
		enum node_op op;
		float neutral;
	} neutrals[] = {{OP_ReduceL1, 0},
			{OP_ReduceL2, 0},
			{OP_ReduceProd, 1},
			{OP_ReduceSum, 0},
			{OP_ReduceSumSquare, 0},
			{OP_ReduceLogSum, -INFINITY},
			{OP_ReduceLogSumExp, -INFINITY},
			{OP_ReduceMax, -INFINITY},
			{OP_ReduceMin, INFINITY}};

	for (size_t i = 0; i < sizeof neutrals / sizeof *neutrals; i++)
		if (node_is(n, neutrals[i].op)) {
			*x = neutrals[i].neutral;
			return !is_int || isfinite(*x);
		}
	return 0;
}

/* All elements of the result are this number. */
static int reduce_nothing(struct lowering *l, const struct graph_node *n, struct err *e)
{
	float *x = arena_new(l->p->a, float);
	struct place p;

	if (!find_neutral(n, elem_is_int(node_out(l->g, n, 0)->elem), x))
		return lower_bad(l, n, e, "has an empty input");
	if (lower_shape(l, n->out[0], &p, e))
		return -1;
	p.memory = plan_const(l->p, x, 1);
	p.at = 0;
	memset(p.stride, 0, sizeof p.stride);
	lower_put(l, n->out[0], &p);
	return 0;
}

/* Adds up integers, or their squares, in double precision: a sum in between may be larger than the
 * result. */
static void sum_whole(struct lowering *l, const struct graph_node *n, const struct rows *r,
		      int is_of_squares, const struct place place[2])
{
	const struct place operand[] = {place[0], is_of_squares ? place[0] : place[1], place[1]};
	struct contract *c = arena_new(l->p->a, struct contract);

	*c = (struct contract){.sides = 1 + is_of_squares,
			       .letters = 2,
			       .kept = 1,
			       .size = {r->rows, r->size},
			       .stride = {{r->size, 1}, {r->size, 1}}};
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){contract_run, c, NULL},
		   operand, c->sides + 1);
}

int lower_reduce_marked(struct lowering *l, const struct graph_node *n, const unsigned char *marked,
			struct err *e)
{
	const struct reduction *how = find_reduction(n);
	const double param[LINES_PARAMS] = {(double)node_int(n, "p", 2)};
	struct place place[2], shape;
	struct rows r = {.size = 1};
	int is_share, is_whole;
	int order[PLACE_RANK], rank = l->g->value[n->in[0]]->shape.rank;

	if (!shape_count(&l->g->value[n->in[0]]->shape))
		return reduce_nothing(l, n, e);
	if (!how)
		return lower_lines(l, n, n->type, marked, param, 0, e);
	is_whole = (how->kind == ROWS_MEAN || how->kind == ROWS_SUM) &&
		   elem_is_int(node_out(l->g, n, 0)->elem);
	is_share = how->kind == ROWS_MEAN && is_whole;
	r.kind = is_share ? ROWS_SUM : how->kind;
	lower_marked_last(rank, marked, order);
	if (lower_get_dense(l, n->in[0], order, &place[0], e) ||
	    lower_shape(l, n->out[0], &shape, e) ||
	    (how->before != PW_INPUT && !(is_whole && how->before == PW_MUL) &&
	     change(l, how->before, &place[0], node_label(l->g, n), e)))
		return -1;
	for (int i = 0; i < rank; i++)
		r.size *= marked[i] ? place[0].dim[i] : 1;
	r.rows = place_count(&place[0]) / r.size;
	lower_room(l, &shape);
	place[1] = shape;
	if (is_whole)
		sum_whole(l, n, &r, how->before == PW_MUL, place);
	if ((!is_whole && emit(l, &r, place, 2, node_label(l->g, n), n->type, e)) ||
	    (how->is_root && root(l, &shape, node_label(l->g, n), e)))
		return -1;
	lower_put(l, n->out[0], &shape);
	if (is_share &&
	    (lower_exact(l, n, -64, e) || lower_again(l, n, "share", (double)r.size, NULL, e)))
		return -1;
	return 0;
}

int lower_reduce(struct lowering *l, const struct graph_node *n, struct err *e)
{
	unsigned char marked[PLACE_RANK] = {0};
	int rank = l->g->value[n->in[0]]->shape.rank, axis;

	if (rank < 0 || rank > PLACE_RANK || reduced_axes(l, n, rank, marked))
		return lower_bad(l, n, e, "has axes that are not known");
	if (lower_is_image_mean(l, n, marked))
		return lower_image_mean(l, n, e);
	axis = lower_few_axis(l, n, marked);
	return axis < 0 ? lower_reduce_marked(l, n, marked, e) : lower_few(l, n, axis, e);
}

int lower_arg(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct arg *g = arena_new(l->p->a, struct arg);
	int order[PLACE_RANK], axis, rank = l->g->value[n->in[0]]->shape.rank;
	unsigned char marked[PLACE_RANK] = {0};
	struct place place[2];

	axis = rank > PLACE_RANK ? -1 : infer_axis(node_int(n, "axis", 0), rank);
	if (axis < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	if (!l->g->value[n->in[0]]->shape.dim[axis])
		return lower_bad(l, n, e, "has an empty input");
	if (lower_countable(l, n, l->g->value[n->in[0]]->shape.dim[axis], e))
		return -1;
	marked[axis] = 1;
	lower_marked_last(rank, marked, order);
	if (lower_get_dense(l, n->in[0], order, &place[0], e) ||
	    lower_shape(l, n->out[0], &place[1], e))
		return -1;
	lower_room(l, &place[1]);
	*g = (struct arg){.rows = place_count(&place[1]),
			  .size = place[0].dim[axis],
			  .is_least = node_is(n, OP_ArgMin),
			  .is_last = node_int(n, "select_last_index", 0) != 0};
	lower_put(l, n->out[0], &place[1]);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){arg_run, g, NULL},
		   (struct place[]){place[0], place[1]}, 2);
	return 0;
}

/* A value repeated to a row: the last dimensions of what is normalized, `size` elements. */
static int get_row(struct lowering *l, int value, int from, int64_t size, struct place *out,
		   struct err *e)
{
	const struct shape *in = &l->g->value[from]->shape;
	const char *name = l->g->value[value]->name;
	struct place p, broad;
	int first = in->rank;
	int64_t n = 1;

	while (first > 0 && n * in->dim[first - 1] <= size)
		n *= in->dim[--first];
	if (lower_get(l, value, &p, e))
		return -1;
	if (n != size || place_broadcast(&p, in->rank - first, in->dim + first, &broad))
		return err_set(e, "'%s' does not fit the rows that it scales or shifts", name);
	lower_dense(l, &broad, NULL, name, out);
	return 0;
}

/* Rows of `size` elements from `from`, with scale and shift where there are any (values, or -1). */
static int norm_rows(struct lowering *l, enum rows_kind kind, int from, int64_t size, int scale,
		     int shift, double epsilon, int out, const char *name, struct err *e)
{
	struct rows r = {.kind = kind,
			 .size = size,
			 .epsilon = epsilon,
			 .has_scale = scale >= 0,
			 .has_shift = shift >= 0};
	struct place place[4], shape;
	int n = 1;

	if (lower_get_dense(l, from, NULL, &place[0], e) || lower_shape(l, out, &shape, e) ||
	    (scale >= 0 && get_row(l, scale, from, size, &place[n++], e)) ||
	    (shift >= 0 && get_row(l, shift, from, size, &place[n++], e)))
		return -1;
	r.rows = place_count(&place[0]) / size;
	place[n] = place[0];
	lower_room(l, &place[n]);
	lower_put(l, out, &place[n]);
	return emit(l, &r, place, n + 1, name,
		    kind == ROWS_NORM ? "LayerNormalization" : "RMSNormalization", e);
}

int lower_layer_norm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const enum rows_kind kind = node_is(n, OP_LayerNormalization) ? ROWS_NORM : ROWS_RMS;
	const struct value *in = node_in(l->g, n, 0);
	const double param[LINES_PARAMS] = {(double)node_float(n, "epsilon", 1e-5F)};
	unsigned char marked[PLACE_RANK] = {0};
	int axis = infer_axis(node_int(n, "axis", -1), in->shape.rank);
	int64_t size = 1;

	if (axis < 0 || in->shape.rank > PLACE_RANK)
		return lower_bad(l, n, e, "has an axis that is none");
	for (int i = axis; i < in->shape.rank; i++) {
		size *= in->shape.dim[i];
		marked[i] = 1;
	}
	for (int i = 1; i < 3; i++) {
		const struct value *v = node_out(l->g, n, i);

		if (value_is_read(v) &&
		    lower_lines(l, n, i == 1 ? "mean" : "inverse deviation", marked, param, i, e))
			return -1;
	}
	return norm_rows(
		l, kind, n->in[0], size, n->in[1], n->nin > 2 && n->in[2] >= 0 ? n->in[2] : -1,
		(double)node_float(n, "epsilon", 1e-5F), n->out[0], node_label(l->g, n), e);
}

/* One element each a channel. Before operator set 21 there was one each a group. */
static int get_channels(struct lowering *l, const struct graph_node *n, int value, int64_t channels,
			int64_t groups, struct place *out, struct err *e)
{
	if (lower_get_dense(l, value, NULL, out, e))
		return -1;
	if (place_count(out) == channels)
		return 0;
	if (l->opset >= 21 || place_count(out) != groups)
		return lower_bad(l, n, e, "scales something else than channels");
	out->rank = 2;
	out->dim[0] = groups;
	out->dim[1] = channels / groups;
	out->stride[0] = 1;
	out->stride[1] = 0;
	lower_dense(l, out, NULL, l->g->value[value]->name, out);
	return 0;
}

/* x * scale + shift, by channel, waits as the node's output. */
static int scale_channels(struct lowering *l, const struct graph_node *n, const struct place *x,
			  int64_t groups, struct err *e)
{
	struct pointwise *m = arena_new(l->p->a, struct pointwise);
	struct place v, broad;
	int r;

	m->out = *x;
	r = pointwise_input(m, x);
	for (int i = 1; i < 3; i++) {
		if (!node_in(l->g, n, i))
			return lower_bad(l, n, e, "lacks an operand");
		if (get_channels(l, n, n->in[i], x->dim[1], groups, &v, e))
			return -1;
		broad = *x;
		broad.memory = v.memory;
		broad.at = v.at;
		for (int k = 0; k < broad.rank; k++)
			broad.stride[k] = k == 1;
		r = pointwise_op(m, i == 1 ? PW_MUL : PW_ADD, r, pointwise_input(m, &broad));
	}
	l->waiting[n->out[0]] = m;
	return 0;
}

/* Rows of elements are made to have mean 0 and variance 1; then the channels are scaled. A row has
 * a group of an image's channels; or, if order has the channels first, one channel of all images.
 */
static int norm_groups(struct lowering *l, const struct graph_node *n, int64_t groups,
		       const int *order, struct err *e)
{
	struct rows r = {.kind = ROWS_NORM, .epsilon = (double)node_float(n, "epsilon", 1e-5F)};
	struct place place[2];

	if (lower_get_dense(l, n->in[0], order, &place[0], e))
		return -1;
	if (place[0].rank < 2 || groups < 1 || place[0].dim[1] % groups)
		return lower_bad(l, n, e, "has groups that do not fit its channels");
	r.rows = order ? groups : place[0].dim[0] * groups;
	r.size = place_count(&place[0]) / r.rows;
	place[1] = place[0];
	lower_room(l, &place[1]);
	return emit(l, &r, place, 2, node_label(l->g, n), n->type, e) ||
			       scale_channels(l, n, &place[1], groups, e)
		       ? -1
		       : 0;
}

int lower_instance_norm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	return norm_groups(l, n, l->g->value[n->in[0]]->shape.dim[1], NULL, e);
}

int lower_own_batch_norm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct shape *in = &l->g->value[n->in[0]]->shape;
	int order[PLACE_RANK];

	if (in->rank < 2)
		return lower_bad(l, n, e, "has no channels");
	if (in->rank > PLACE_RANK)
		return lower_bad(l, n, e, "has too many dimensions");
	for (int i = 0; i < in->rank; i++)
		order[i] = i < 2 ? !i : i;
	return norm_groups(l, n, in->dim[1], order, e);
}

int lower_group_norm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	return norm_groups(l, n, node_int(n, "num_groups", 1), NULL, e);
}

int lower_norm(struct lowering *l, const struct norm *m, struct err *e)
{
	const struct value *in = l->g->value[m->from];

	return norm_rows(l, m->is_rms ? ROWS_RMS : ROWS_NORM, m->from,
			 in->shape.dim[in->shape.rank - 1], m->scale, m->shift, m->epsilon, m->out,
			 node_label(l->g, &l->g->node[m->last]), e);
}
