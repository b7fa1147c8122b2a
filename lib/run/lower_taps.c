/* Convolutions in plain C (taps.h). */
#include "lib/run/lower.h"
#include "lib/run/taps.h"

/* The weights as tap x group x input channel x output channel of the group. A transposed
 * convolution has its input channels first, and another one its output channels. */
static int get_weights(struct lowering *l, const struct graph_node *n, struct taps *t,
		       struct place *out, struct err *e)
{
	int64_t dim[PLACE_RANK];
	int order[PLACE_RANK], rank;
	struct place p, split;

	if (lower_get_dense(l, n->in[1], NULL, &p, e))
		return -1;
	if (t->groups < 1 || p.dim[0] % t->groups)
		return lower_bad(l, n, e, "has groups that do not fit its channels");
	rank = p.rank + 1;
	dim[0] = t->groups;
	dim[1] = p.dim[0] / t->groups;
	for (int i = 1; i < p.rank; i++)
		dim[i + 1] = p.dim[i];
	t->ic = dim[t->is_transposed ? 1 : 2];
	t->oc = dim[t->is_transposed ? 2 : 1];
	for (int i = 3; i < rank; i++)
		order[i - 3] = i;
	order[rank - 3] = 0;
	order[rank - 2] = t->is_transposed ? 1 : 2;
	order[rank - 1] = t->is_transposed ? 2 : 1;
	if (!place_reshape(&p, rank, dim, &split))
		return lower_bad(l, n, e, "has weights that its groups do not divide");
	lower_dense(l, &split, order, node_label(l->g, n), out);
	return 0;
}

static void describe(struct taps *t, const struct window *w, const struct place *to)
{
	for (int i = 0; i < TAPS_RANK; i++) {
		const int from = i - (TAPS_RANK - w->rank);

		t->in[i] = from < 0 ? 1 : w->in[from];
		t->out[i] = from < 0 ? 1 : to->dim[from + 2];
		t->kernel[i] = from < 0 ? 1 : w->kernel[from];
		t->stride[i] = from < 0 ? 1 : w->stride[from];
		t->pad[i] = from < 0 ? 0 : w->before[from];
		t->dilation[i] = from < 0 ? 1 : w->dilation[from];
	}
}

int lower_taps(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct taps *t = arena_new(l->p->a, struct taps);
	const struct shape *in = &l->g->value[n->in[0]]->shape;
	const int64_t *kernel = l->g->value[n->in[1]]->shape.dim + 2;
	struct place operand[TAPS_OPERANDS];
	struct place from, weights, bias, to;
	int order[PLACE_RANK];
	struct window w;

	*t = (struct taps){.is_transposed = node_is(n, OP_ConvTranspose),
			   .has_bias = node_in(l->g, n, 2) != NULL,
			   .groups = node_int(n, "group", 1)};
	if (in->rank < 3 || in->rank > TAPS_RANK + 2)
		return lower_bad(l, n, e, "is a convolution over more than %d dimensions",
				 TAPS_RANK);
	order_channels_last(in->rank, order);
	if (lower_get_dense(l, n->in[0], order, &from, e) || get_weights(l, n, t, &weights, e) ||
	    lower_shape(l, n->out[0], &to, e) ||
	    (t->is_transposed ? window_transposed(l->g, n, in, kernel, &w, e)
			      : window_resolve(l->g, n, in, kernel, &w, e)))
		return -1;
	place_dense(&to, in->rank, to.dim, order);
	lower_room(l, &to);
	describe(t, &w, &to);
	t->images = from.dim[0];
	if (t->ic * t->groups != from.dim[1] || t->oc * t->groups != to.dim[1])
		return lower_bad(l, n, e, "has groups that do not fit its channels");
	bias = weights;
	if (t->has_bias && lower_get_dense(l, n->in[2], NULL, &bias, e))
		return -1;
	if (t->has_bias && place_count(&bias) != to.dim[1])
		return lower_bad(l, n, e, "has a bias that does not fit its channels");
	operand[TAPS_SRC] = from;
	operand[TAPS_WEIGHTS] = weights;
	operand[TAPS_BIAS] = bias;
	operand[TAPS_DST] = to;
	lower_put(l, n->out[0], &to);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){taps_run, t, NULL}, operand,
		   TAPS_OPERANDS);
	return 0;
}
