#include "lib/run/given.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which inputs of an operator say something of the shape of what it makes, or how it goes about it:
 * a bit for each. */
static const struct {
	const char *type;
	unsigned inputs;
} table[] = {
	{"AffineGrid", 2},
	{"BlackmanWindow", 1},
	{"CenterCropPad", 2},
	{"Clip", 2 | 4},
	{"Col2Im", 2 | 4},
	{"ConstantOfShape", 1},
	{"CumProd", 2},
	{"CumSum", 2},
	{"DFT", 2 | 4},
	{"Dropout", 2 | 4},
	{"Expand", 2},
	{"HammingWindow", 1},
	{"HannWindow", 1},
	{"MaxUnpool", 4},
	{"OneHot", 2},
	{"Pad", 2 | 4 | 8},
	{"Range", 1 | 2 | 4},
	{"ReduceL1", 2},
	{"ReduceL2", 2},
	{"ReduceLogSum", 2},
	{"ReduceLogSumExp", 2},
	{"ReduceMax", 2},
	{"ReduceMean", 2},
	{"ReduceMin", 2},
	{"ReduceProd", 2},
	{"ReduceSum", 2},
	{"ReduceSumSquare", 2},
	{"Reshape", 2},
	{"Resize", 2 | 4 | 8},
	{"STFT", 2 | 8},
	{"Slice", 2 | 4 | 8 | 16},
	{"Split", 2},
	{"Squeeze", 2},
	{"Tile", 2},
	{"TopK", 2},
	{"Trilu", 2},
	{"Unsqueeze", 2},
	{"Upsample", 2},
};

static unsigned needed_inputs(const struct graph_node *n)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (node_is(n, table[i].type))
			return table[i].inputs;
	return 0;
}

/* From the last node to the first: what is needed, and what that is computed from. The shape of a
 * value tells nothing of its elements. */
static void mark_needed(const struct graph *g, unsigned char *needed)
{
	for (int i = g->nnode; i-- > 0;) {
		const struct graph_node *n = &g->node[g->order[i]];
		unsigned inputs = needed_inputs(n);

		for (int k = 0; k < n->nout; k++)
			if (n->out[k] >= 0 && needed[n->out[k]] && !node_is(n, "Shape") &&
			    !node_is(n, "Size"))
				inputs = ~0U;
		for (int k = 0; k < n->nin; k++)
			if (n->in[k] >= 0 && (inputs & 1U << (k < 31 ? k : 31)))
				needed[n->in[k]] = 1;
	}
}

static int fits(const struct array *a, const struct shape *s)
{
	if (s->rank >= 0 && s->rank != a->rank)
		return 0;
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] > 0 && s->dim[i] != a->dim[i])
			return 0;
	return 1;
}

/* A whole number in a float; what is too large becomes the largest. */
static int64_t whole(float f)
{
	const float far = 9.2e18F;

	return f >= far ? INT64_MAX : f <= -far ? -INT64_MAX : isnan(f) ? 0 : (int64_t)f;
}

static void fix(struct graph *g, struct value *v, const struct array *a)
{
	v->is_input = 0;
	v->is_const = 1;
	v->elem = v->declared->elem;
	v->shape.rank = a->rank;
	memcpy(v->shape.dim, a->dim, sizeof *a->dim * (size_t)a->rank);
	v->kept = arena_array(g->a, union scalar, a->size ? a->size : 1);
	for (int64_t i = 0; i < a->size; i++)
		if (elem_is_int(v->elem))
			v->kept[i].i = whole(a->data[i]);
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
			fix(g, v, a);
	}
	free(needed);
	return rc;
}
