/* Operators over rows by functions in plain C (lines.h). */
#include <string.h>

#include "lib/run/lines.h"
#include "lib/run/lower.h"

/* The rows are the dimensions marked, of a dense copy in which they come last. */
int lower_lines(struct lowering *l, const struct graph_node *n, const char *function,
		const unsigned char *marked, const double *param, int out, struct err *e)
{
	struct lines *s = arena_new(l->p->a, struct lines);
	struct place from, to;
	int order[PLACE_RANK], whole;

	s->fn = lines_find(function, &whole);
	memcpy(s->param, param, sizeof s->param);
	lower_marked_last(l->g->value[n->in[0]]->shape.rank, marked, order);
	if (lower_get_dense(l, n->in[0], order, &from, e) || lower_shape(l, n->out[out], &to, e))
		return -1;
	s->size = 1;
	for (int i = 0; i < from.rank; i++)
		s->size *= marked[i] ? from.dim[i] : 1;
	s->rows = s->size ? place_count(&from) / s->size : 0;
	if (!s->rows)
		return lower_bad(l, n, e, "has an empty input");
	s->made = whole ? s->size : 1;
	if (whole)
		to = from;
	lower_room(l, &to);
	lower_put(l, n->out[out], &to);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){lines_run, s, NULL},
		   (struct place[]){from, to}, 2);
	return 0;
}

/* The dimensions from the axis on, or this one alone. */
static int mark_axis(const struct lowering *l, const struct graph_node *n, int64_t axis,
		     int to_the_end, unsigned char *marked, struct err *e)
{
	const int rank = l->g->value[n->in[0]]->shape.rank;
	const int first = rank > PLACE_RANK ? -1 : infer_axis(axis, rank);

	if (first < 0)
		return lower_bad(l, n, e, "has an axis that is none");
	for (int i = first; i < (to_the_end ? rank : first + 1); i++)
		marked[i] = 1;
	return 0;
}

/* Before operator set 13 all dimensions from the axis on were one. */
int lower_like_softmax(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_old = l->opset < 13;
	const double param[LINES_PARAMS] = {0};
	unsigned char marked[PLACE_RANK] = {0};

	if (mark_axis(l, n, node_int(n, "axis", is_old ? 1 : -1), is_old, marked, e))
		return -1;
	return lower_lines(l, n, n->type, marked, param, 0, e);
}

int lower_cumulate(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const double param[LINES_PARAMS] = {(double)node_int(n, "exclusive", 0),
					    (double)node_int(n, "reverse", 0)};
	unsigned char marked[PLACE_RANK] = {0};
	double axis;

	if (!node_in(l->g, n, 1) || !lower_number(l, n->in[1], &axis))
		return lower_bad(l, n, e, "has an axis that is not known");
	if (mark_axis(l, n, (int64_t)axis, 0, marked, e))
		return -1;
	return lower_lines(l, n, n->type, marked, param, 0, e);
}

int lower_lp_norm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const double param[LINES_PARAMS] = {(double)node_int(n, "p", 2)};
	unsigned char marked[PLACE_RANK] = {0};

	if (mark_axis(l, n, node_int(n, "axis", -1), 0, marked, e))
		return -1;
	return lower_lines(l, n, n->type, marked, param, 0, e);
}

int lower_mean_variance(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct attr *axes = node_attr(n, "axes");
	const double param[LINES_PARAMS] = {0};
	unsigned char marked[PLACE_RANK] = {0};
	static const int64_t otherwise[] = {0, 2, 3};

	for (int i = 0; i < (axes ? axes->nints : 3); i++)
		if (mark_axis(l, n, axes ? axes->ints[i] : otherwise[i], 0, marked, e))
			return -1;
	return lower_lines(l, n, n->type, marked, param, 0, e);
}

int lower_lrn(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const double param[LINES_PARAMS] = {
		(double)node_int(n, "size", 1), (double)node_float(n, "alpha", 1e-4F),
		(double)node_float(n, "beta", 0.75F), (double)node_float(n, "bias", 1)};
	unsigned char marked[PLACE_RANK] = {0};

	if (param[0] < 1)
		return lower_bad(l, n, e, "has a window of no channels");
	if (mark_axis(l, n, 1, 0, marked, e))
		return -1;
	return lower_lines(l, n, n->type, marked, param, 0, e);
}
