/* Gathering and scattering of single elements and of rows (gather.h). */
#include <string.h>

#include "lib/run/gather.h"
#include "lib/run/lower.h"

static const char outside[] = "an index lies outside";

static int read_how(const struct lowering *l, const struct graph_node *n, enum scatter_how *how,
		    struct err *e)
{
	static const char *const names[] = {"none", "add", "mul", "max", "min"};
	const char *name = node_str(n, "reduction", "none");
	int i = 0;

	while (i < SCATTERS && strcmp(names[i], name) != 0)
		i++;
	*how = (enum scatter_how)i;
	return i < SCATTERS ? 0 : lower_bad(l, n, e, "reduces by \"%s\", which is not known", name);
}

/* Are they sums or products of integers that do not wrap around? */
static int is_whole(const struct lowering *l, const struct graph_node *n, enum scatter_how how)
{
	const int elem = l->g->value[n->out[0]]->elem;

	return (how == SCATTER_ADD || how == SCATTER_MUL) && elem_is_int(elem) &&
	       value_elem_size(elem) >= 4;
}

/* Sets the sizes by the places of data, tuples of indices and updates. */
static int set_scatter(const struct lowering *l, const struct graph_node *n, struct scatter *s,
		       const struct place *data, const struct place *index,
		       const struct place *updates, struct err *e)
{
	s->rank = index->rank < 1 ? 0 : (int)index->dim[index->rank - 1];
	if (s->rank < 1 || s->rank > data->rank)
		return lower_bad(l, n, e, "has indices that do not fit its data");
	s->rows = 1;
	for (int i = 0; i < s->rank; i++) {
		s->extent[i] = data->dim[i];
		s->rows *= s->extent[i];
	}
	s->inner = s->rows ? place_count(data) / s->rows : 0;
	s->count = place_count(index) / s->rank;
	if (place_count(updates) != s->count * s->inner)
		return lower_bad(l, n, e, "has updates that do not fit its indices");
	return 0;
}

/* Indices are often constant: frameworks write assignments to a part of a tensor so. Then the rows
 * that they name are found once. */
int lower_scatter(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct scatter *s = arena_new(l->p->a, struct scatter);
	const char *name = node_label(l->g, n);
	struct place operand[SCATTER_OPERANDS], index, rows = {0};

	if (read_how(l, n, &s->how, e) ||
	    lower_get_dense(l, n->in[0], NULL, &operand[SCATTER_DATA], e) ||
	    lower_get_dense(l, n->in[1], NULL, &index, e) ||
	    lower_get_dense(l, n->in[2], NULL, &operand[SCATTER_UPDATES], e) ||
	    lower_shape(l, n->out[0], &operand[SCATTER_TO], e) ||
	    set_scatter(l, n, s, &operand[SCATTER_DATA], &index, &operand[SCATTER_UPDATES], e))
		return -1;
	s->is_whole = is_whole(l, n, s->how);
	place_dense(&rows, 1, (int64_t[]){s->count * SCATTER_ROW}, NULL);
	lower_room(l, &rows);
	plan_plain(l->p, name, n->type, &(struct plain){scatter_rows_run, s, outside},
		   (struct place[]){index, rows}, 2);
	operand[SCATTER_ROWS] = rows;
	lower_room(l, &operand[SCATTER_TO]);
	lower_put(l, n->out[0], &operand[SCATTER_TO]);
	plan_plain(l->p, name, n->type, &(struct plain){scatter_run, s, NULL, .is_scan = 1},
		   operand, SCATTER_OPERANDS);
	return 0;
}

int lower_gather_rows(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct gather_rows *g = arena_new(l->p->a, struct gather_rows);
	const struct shape *data = &l->g->value[n->in[0]]->shape;
	const struct shape *index = &l->g->value[n->in[1]]->shape;
	const int batch = (int)node_int(n, "batch_dims", 0);

	if (!shape_known(data) || !shape_known(index) || index->rank < 1 || batch < 0)
		return lower_bad(l, n, e, "has indices of unknown shape");
	g->rank = (int)index->dim[index->rank - 1];
	if (batch >= index->rank || g->rank < 1 || batch + g->rank > data->rank ||
	    g->rank > SCATTER_RANK)
		return lower_bad(l, n, e, "has indices that do not fit its data");
	g->batches = g->count = g->rows = g->inner = 1;
	for (int i = 0; i < batch; i++)
		g->batches *= data->dim[i];
	for (int i = batch; i < index->rank - 1; i++)
		g->count *= index->dim[i];
	for (int i = 0; i < g->rank; i++) {
		g->extent[i] = data->dim[batch + i];
		g->rows *= g->extent[i];
	}
	for (int i = batch + g->rank; i < data->rank; i++)
		g->inner *= data->dim[i];
	return lower_plain(l, n, &(struct plain){gather_rows_run, g, outside}, 2, 0, e);
}

/* GatherElements and ScatterElements, and Scatter, as that was called before. */
int lower_elements(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int is_gather = node_is(n, OP_GatherElements);
	struct elements *g = arena_new(l->p->a, struct elements);
	struct place data, index;

	if (lower_shape(l, n->in[0], &data, e) || lower_shape(l, n->in[1], &index, e))
		return -1;
	g->axis = infer_axis(node_int(n, "axis", 0), data.rank);
	if (g->axis < 0 || index.rank != data.rank)
		return lower_bad(l, n, e, "has indices that do not fit its data");
	if (!is_gather && read_how(l, n, &g->how, e))
		return -1;
	g->is_whole = is_whole(l, n, g->how);
	g->rank = data.rank;
	g->extent = data.dim[g->axis];
	g->size = place_count(&data);
	for (int i = 0; i < data.rank; i++) {
		g->dim[i] = index.dim[i];
		g->stride[i] = data.stride[i];
		if (i != g->axis && index.dim[i] > data.dim[i])
			return lower_bad(l, n, e, "has indices that do not fit its data");
	}
	return lower_plain(
		l, n,
		&(struct plain){is_gather ? gather_elements_run : scatter_elements_run, g, outside},
		is_gather ? 2 : 3, 0, e);
}
