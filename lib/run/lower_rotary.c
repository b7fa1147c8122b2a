/* RotaryEmbedding, as one step of plain C (rotary.h). Where no positions are given, rows follow
 * those of a fifth input, the keys before (rewrite_run_attention.c). */
#include "lib/run/lower.h"
#include "lib/run/rotary.h"

/* Reads the sizes of the heads that turn. Without a number of heads, all elements of a head turn.
 * Grouped attention does not say how many do: as many as have angles. */
static int read_heads(struct lowering *l, const struct graph_node *n, struct rotary *r,
		      struct err *e)
{
	const struct shape *x = &l->g->value[n->in[0]]->shape;
	const struct shape *angles = &l->g->value[n->in[1]]->shape;
	const int64_t turned = node_int(n, "rotary_embedding_dim", 0);
	const int64_t heads = node_int(n, "num_heads", 0);

	r->half = angles->dim[angles->rank - 1];
	r->are_heads_first = x->rank == 4;
	r->batch = x->dim[0];
	r->rows = x->dim[x->rank - 2];
	r->heads = r->are_heads_first ? x->dim[1] : heads;
	if (!r->are_heads_first && heads < 1 && r->half > 0)
		r->heads = x->dim[2] / (2 * r->half);
	r->size = x->dim[x->rank - 1];
	if (!r->are_heads_first && (r->heads < 1 || r->size % r->heads))
		return lower_bad(l, n, e, "has heads that do not divide its input");
	r->size /= r->are_heads_first ? 1 : r->heads;
	if (r->half < 1 || (turned && 2 * r->half != turned) || 2 * r->half > r->size)
		return lower_bad(l, n, e, "has angles that do not fit its heads");
	return 0;
}

/* Which angles belong to a row. */
static int read_positions(struct lowering *l, const struct graph_node *n, struct rotary *r,
			  struct err *e)
{
	const struct shape *angles = &l->g->value[n->in[1]]->shape;
	const struct value *at = node_in(l->g, n, 3), *past = node_in(l->g, n, 4);

	r->own_angles = angles->rank == 3;
	r->positions = angles->dim[0];
	if (r->own_angles && (at || angles->dim[0] != r->batch || angles->dim[1] != r->rows))
		return lower_bad(l, n, e, "has angles that do not fit its rows");
	if (past && past->shape.rank == 4)
		r->first = past->shape.dim[2];
	if (!at)
		return 0;
	r->is_first_told = at->shape.rank < 2;
	if (shape_count(&at->shape) != (r->is_first_told ? 1 : r->batch * r->rows))
		return lower_bad(l, n, e, "has positions that do not fit its rows");
	return 0;
}

int lower_rotary(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct rotary *r = arena_new(l->p->a, struct rotary);
	struct place known;

	for (int i = 0; i < 5; i++) {
		const struct value *v = node_in(l->g, n, i);

		if (i < 3 && !v)
			return lower_bad(l, n, e, "lacks an operand");
		if (v && lower_shape(l, n->in[i], &known, e))
			return -1;
		if (i < 3 && (v->shape.rank < 2 || v->shape.rank > 4 - (i > 0) ||
			      (i == 0 && v->shape.rank < 3)))
			return lower_bad(l, n, e, "has an operand of %d dimensions", v->shape.rank);
	}
	if (!shape_equal(&l->g->value[n->in[1]]->shape, &l->g->value[n->in[2]]->shape))
		return lower_bad(l, n, e, "has cosines and sines that do not fit");
	r->is_interleaved = node_int(n, "interleaved", 0) != 0;
	if (read_heads(l, n, r, e) || read_positions(l, n, r, e))
		return -1;
	return lower_plain(l, n, &(struct plain){rotary_run, r, "a position has no angles"},
			   ROTARY_TO, 0, e);
}
