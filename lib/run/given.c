#include "lib/run/given.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned table[OPERATORS] = {
	[OP_AffineGrid] = 2,
	[OP_BlackmanWindow] = 1,
	[OP_CenterCropPad] = 2,
	[OP_Clip] = 2 | 4,
	[OP_Col2Im] = 2 | 4,
	[OP_Compress] = 2,
	[OP_ConstantOfShape] = 1,
	[OP_CumProd] = 2,
	[OP_CumSum] = 2,
	[OP_DFT] = 2 | 4,
	[OP_Dropout] = 2 | 4,
	[OP_Expand] = 2,
	[OP_HammingWindow] = 1,
	[OP_HannWindow] = 1,
	[OP_If] = 1,
	[OP_Loop] = 1 | 2,
	[OP_MaxUnpool] = 4,
	[OP_OneHot] = 2,
	[OP_Pad] = 2 | 4 | 8,
	[OP_Range] = 1 | 2 | 4,
	[OP_ReduceL1] = 2,
	[OP_ReduceL2] = 2,
	[OP_ReduceLogSum] = 2,
	[OP_ReduceLogSumExp] = 2,
	[OP_ReduceMax] = 2,
	[OP_ReduceMean] = 2,
	[OP_ReduceMin] = 2,
	[OP_ReduceProd] = 2,
	[OP_ReduceSum] = 2,
	[OP_ReduceSumSquare] = 2,
	[OP_Reshape] = 2,
	[OP_Resize] = 2 | 4 | 8,
	[OP_STFT] = 2 | 8,
	[OP_SequenceAt] = 2,
	[OP_SequenceErase] = 2,
	[OP_SequenceInsert] = 4,
	[OP_Slice] = 2 | 4 | 8 | 16,
	[OP_Split] = 2,
	[OP_SplitToSequence] = 2,
	[OP_Squeeze] = 2,
	[OP_Tile] = 2,
	[OP_TopK] = 2,
	[OP_Trilu] = 2,
	[OP_Unsqueeze] = 2,
	[OP_Upsample] = 2,
};

unsigned given_matters(const struct graph_node *n)
{
	return table[n->op];
}

static void mark_needed(const struct graph *g, unsigned char *needed);

/* Marks what a graph inside a node needs from around it. The results of a branch are needed if one
 * of the node's is. A turn of a loop may hand anything to what ends it. */
static void mark_inside(const struct graph *g, const struct graph_node *n, const struct graph *body,
			int results, unsigned char *needed)
{
	unsigned char *inside = xcalloc((size_t)body->nvalue + 1, 1);

	for (int i = 0; i < body->outputs.n; i++)
		inside[body->outputs.at[i]] = results || node_is(n, OP_Loop);
	mark_needed(body, inside);
	for (int i = 0; i < body->inputs.n && i < n->nin; i++)
		if (n->in[i] >= 0 && inside[body->inputs.at[i]])
			needed[n->in[i]] = 1;
	for (int i = n->nin; i < n->ndeps; i++) { /* captures */
		const int at = graph_place(body, g->value[n->in[i]]->name);

		if (at >= 0 && inside[at])
			needed[n->in[i]] = 1;
	}
	free(inside);
}

/* From the last node to the first: what is needed, and what that is computed from. The shape of a
 * value tells nothing of its elements. */
static void mark_needed(const struct graph *g, unsigned char *needed)
{
	for (int i = g->nnode; i-- > 0;) {
		const struct graph_node *n = &g->node[g->order[i]];
		unsigned inputs = given_matters(n);
		int results = 0;

		for (int k = 0; k < n->nout; k++)
			results |= n->out[k] >= 0 && needed[n->out[k]];
		if (results && !node_is(n, OP_Shape) && !node_is(n, OP_Size))
			inputs = ~0U;
		for (int k = 0; k < n->nin; k++)
			if (n->in[k] >= 0 && (inputs & 1U << (k < 31 ? k : 31)))
				needed[n->in[k]] = 1;
		for (int k = 0; k < n->nattr; k++)
			if (n->attr[k].subgraph)
				mark_inside(g, n, n->attr[k].subgraph, results, needed);
	}
}

/* Has the array the dimensions of the shape, as far as these are known? */
static int fits(const struct array *a, const struct shape *s)
{
	if (s->rank >= 0 && s->rank != a->rank)
		return 0;
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] > 0 && s->dim[i] != a->dim[i])
			return 0;
	return 1;
}

int64_t given_whole(float f)
{
	const float far = 9.2e18F;

	return f >= far ? INT64_MAX : f <= -far ? -INT64_MAX : isnan(f) ? 0 : (int64_t)f;
}

/* Makes a constant of it, with elements of that type. */
static void fix(struct graph *g, struct value *v, const struct array *a, int elem)
{
	v->is_input = 0;
	v->is_const = 1;
	v->elem = elem;
	v->shape.rank = a->rank;
	memcpy(v->shape.dim, a->dim, sizeof *a->dim * (size_t)a->rank);
	v->kept = arena_array(g->a, union scalar, a->size ? a->size : 1);
	for (int64_t i = 0; i < a->size; i++)
		if (elem_is_int(v->elem))
			v->kept[i].i = given_whole(a->data[i]);
		else
			v->kept[i].f = (double)a->data[i];
}

int given_fix(struct graph *g, const struct arrays *all, struct err *e)
{
	unsigned char *needed = xcalloc((size_t)g->nvalue, 1);
	int rc = 0;

	mark_needed(g, needed);
	for (int i = 0; !rc && i < g->nvalue; i++) {
		struct value *v = g->value[i];
		const struct array *a = arrays_find(all, v->name);

		if (!needed[i] || !v->is_input || v->is_const || !a || a->rank > 1 ||
		    a->size > KEEP_INTS)
			continue;
		if (!fits(a, &v->declared->shape))
			rc = err_set(e, "the array '%s' has another shape than the model's input",
				     a->name);
		else
			fix(g, v, a, v->declared->elem);
	}
	free(needed);
	return rc;
}

/* ---- defaults ---- */

static int replace(struct graph *g, struct value *v, const struct array *a, int random,
		   struct err *e)
{
	const size_t bytes = (size_t)a->size * sizeof(float);
	const int is_int = elem_is_int(v->elem);

	if (random && !is_int && a->size > 1)
		return err_set(e, "the weights are random, so that '%s' cannot be given", a->name);
	if (a->rank != v->shape.rank || !fits(a, &v->shape))
		return err_set(e, "the array '%s' has another shape than the model's default",
			       a->name);
	if (a->size <= (is_int ? KEEP_INTS : KEEP_REALS)) {
		value_drop(v);
		fix(g, v, a, v->elem);
		return 0;
	}
	if (v->elem != VALUE_F32)
		return err_set(e, "an array for '%s', an input of %s with a default, is not taken",
			       v->name, elem_name(v->elem));
	v->kept = NULL;
	if (!value_room(v, bytes))
		return err_sys(e, "there is no memory for '%s'", v->name);
	if (bytes) /* else there is no data */
		memcpy(v->data, a->data, bytes);
	return 0;
}

int given_replace(struct graph *g, const struct arrays *all, int random, struct err *e)
{
	for (int i = 0; i < g->inputs.n; i++) {
		struct value *v = g->value[g->inputs.at[i]];
		const struct array *a = v->is_const ? arrays_find(all, v->name) : NULL;

		if (a && replace(g, v, a, random, e))
			return -1;
	}
	return 0;
}

/* ---- shapes ---- */

static int is_open(const struct shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] <= 0)
			return 1;
	return s->rank < 0;
}

static int count_inputs(const struct graph *g)
{
	int n = 0;

	for (int i = 0; i < g->inputs.n; i++)
		n += g->value[g->inputs.at[i]]->is_input;
	return n;
}

struct infer_options given_shapes(const struct graph *g, const struct arrays *all,
				  const struct infer_options *o)
{
	const int count = count_inputs(g);
	struct infer_options more = *o;

	more.shape = xmalloc((size_t)(o->nshape + g->inputs.n + 1) * sizeof *more.shape);
	if (o->nshape)
		memcpy(more.shape, o->shape, (size_t)o->nshape * sizeof *more.shape);
	for (int i = 0; i < g->inputs.n && !o->batch && !o->ndim; i++) {
		const struct value *v = g->value[g->inputs.at[i]];
		const struct array *a = v->is_input ? given_for(g, all, v->name, count) : NULL;
		struct input_shape *s = &more.shape[more.nshape];

		if (!a || !is_open(&v->declared->shape) || a->rank > GRAPH_MAX_RANK ||
		    !fits(a, &v->declared->shape) || infer_given_shape(o, v->name))
			continue;
		*s = (struct input_shape){.name = (char *)v->name, .shape.rank = a->rank};
		memcpy(s->shape.dim, a->dim, sizeof *a->dim * (size_t)a->rank);
		more.nshape++;
	}
	return more;
}

const struct array *given_for(const struct graph *g, const struct arrays *all, const char *name,
			      int count)
{
	const struct array *a = arrays_find(all, name);

	if (a || count != 1 || all->n != 1)
		return a;
	return all->is_named && graph_find(g, all->array->name) ? NULL : all->array;
}
