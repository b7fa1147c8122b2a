/* Operators that pick elements out: slices and gathers. */
#include <string.h>

#include "lib/extract/graph/infer.h"

/* First element and count of start:end:step over a dimension, as Python counts. */
void infer_slice_range(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first,
		       int64_t *count)
{
	int64_t low = step < 0 ? -1 : 0, high = step < 0 ? dim - 1 : dim;

	if (start < 0)
		start = start < -dim ? -1 : start + dim;
	if (end < 0)
		end = end < -dim ? -1 : end + dim;
	start = start < 0 ? 0 : start > high ? high : start;
	end = end < low ? low : end > dim ? dim : end;
	*first = start;
	if (!dim) /* there is no element to begin with, where the bounds of a step back begin */
		*count = 0;
	else if (step > 0)
		*count = end > start ? (end - start - 1) / step + 1 : 0;
	else
		*count = start > end
				 ? (start - end - 1) / -(step == INT64_MIN ? -INT64_MAX : step) + 1
				 : 0;
}

struct slices {
	int n, known;
	const int64_t *start, *end, *axis, *step;
};

static int read_slices(const struct graph *g, const struct graph_node *n, struct slices *s)
{
	int attrs = node_attr(n, "starts") != NULL, ns, ne, na, nt, a, t;

	s->known = infer_list(g, n, "starts", attrs ? -1 : 1, &ns, &s->start) == 1;
	s->known &= infer_list(g, n, "ends", attrs ? -1 : 2, &ne, &s->end) == 1;
	a = infer_list(g, n, "axes", attrs ? -1 : 3, &na, &s->axis);
	t = infer_list(g, n, "steps", attrs ? -1 : 4, &nt, &s->step);
	s->n = s->known ? ns : a == 1 ? na : -1;
	if ((s->known && ns != ne) || (a == 1 && s->n != na) || (t == 1 && s->n >= 0 && s->n != nt))
		return -1;
	if (a < 0)
		s->n = -1; /* any dimension may be sliced */
	s->known &= a >= 0 && t >= 0;
	return 0;
}

/* One dimension; updates the shape, the offset and stride of the view. */
static int slice_axis(struct slices *c, int i, struct shape *s, int64_t *offset, int64_t *stride)
{
	int axis = infer_axis(c->axis ? c->axis[i] : i, s->rank);
	int64_t step = c->step ? c->step[i] : 1, first;

	if (axis < 0 || step == 0)
		return -1;
	if (!c->known || s->dim[axis] < 0 || c->start[i] == INT_UNKNOWN || step == INT_UNKNOWN ||
	    (c->end[i] == INT_UNKNOWN && step > 0)) {
		s->dim[axis] = DIM_UNKNOWN;
		return 0;
	}
	infer_slice_range(s->dim[axis], c->start[i], c->end[i], step, &first, &s->dim[axis]);
	if (s->dim[axis] > 0) {
		*offset += first * stride[axis];
		stride[axis] *= s->dim[axis] > 1 ? step : 1;
	}
	return 0;
}

INFER(slice)
{
	int64_t stride[GRAPH_MAX_RANK], offset = 0;
	struct slices c;

	if (read_slices(x->g, n, &c))
		return infer_bad(x, n, e, "has lists of different length");
	if (c.n < 0)
		return infer_open(made, made->rank);
	infer_strides(made, stride);
	for (int i = 0; i < c.n; i++)
		if (slice_axis(&c, i, made, &offset, stride))
			return infer_bad(x, n, e, "slices a dimension that is not there");
	if (infer_set(x, n, 0, made, e))
		return -1;
	infer_view(x, n, 0, in, offset, stride);
	return 0;
}

static void fold_gather(struct infer *x, const struct graph_node *n, int axis)
{
	const struct value *in = node_in(x->g, n, 0), *index = node_in(x->g, n, 1);
	int64_t outer = 1, inner = 1, dim, count, at = 0;
	union scalar *to;

	if (!in->kept || !index->kept || !shape_known(&in->shape) || !(to = infer_keep(x, n, 0)) ||
	    !shape_count(&node_out(x->g, n, 0)->shape))
		return;
	for (int d = 0; d < axis; d++)
		outer *= in->shape.dim[d];
	for (int d = axis + 1; d < in->shape.rank; d++)
		inner *= in->shape.dim[d];
	dim = in->shape.dim[axis];
	count = shape_count(&index->shape);
	for (int64_t o = 0; o < outer; o++)
		for (int64_t k = 0; k < count; k++) {
			int64_t i = index->kept[k].i;

			if (i < -dim || i >= dim) { /* unknown, or out of bounds */
				node_out(x->g, n, 0)->kept = NULL;
				return;
			}
			i += i < 0 ? dim : 0;
			memcpy(to + at, in->kept + (o * dim + i) * inner,
			       sizeof *to * (size_t)inner);
			at += inner;
		}
}

INFER(gather)
{
	const struct value *index = node_in(x->g, n, 1);
	struct shape s = {0};
	int axis;

	if (in->shape.rank < 0 || index->shape.rank < 0)
		return 0;
	axis = infer_axis(node_int(n, "axis", 0), in->shape.rank);
	if (axis < 0)
		return infer_bad(x, n, e, "gathers along a dimension that is not there");
	if (in->shape.rank + index->shape.rank - 1 > GRAPH_MAX_RANK)
		return 0;
	for (int i = 0; i < in->shape.rank; i++) {
		if (i != axis) {
			s.dim[s.rank++] = in->shape.dim[i];
			continue;
		}
		for (int k = 0; k < index->shape.rank; k++)
			s.dim[s.rank++] = index->shape.dim[k];
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	fold_gather(x, n, axis);
	return 0;
}

INFER(gather_elements)
{
	const struct value *index = node_in(x->g, n, 1);

	if (infer_set(x, n, 0, &index->shape, e))
		return -1;
	fold_elements(x, n);
	return 0;
}

INFER(gather_nd)
{
	const struct value *index = node_in(x->g, n, 1);
	int64_t batch = node_int(n, "batch_dims", 0), depth;
	struct shape s;

	if (in->shape.rank < 0 || index->shape.rank < 1)
		return 0;
	s = index->shape;
	depth = s.dim[--s.rank];
	if (node_int(n, "tuples_first",
		     0)) { /* not of ONNX: a tuple is along the first dimension */
		depth = index->shape.dim[0];
		memcpy(s.dim, index->shape.dim + 1, sizeof *s.dim * (size_t)s.rank);
	}
	if (depth < 0)
		return 0;
	if (batch < 0 || depth > in->shape.rank || batch + depth > in->shape.rank)
		return infer_bad(x, n, e, "has indices that do not fit its data");
	if (s.rank + in->shape.rank - batch - depth > GRAPH_MAX_RANK)
		return 0;
	for (int i = (int)(batch + depth); i < in->shape.rank; i++)
		s.dim[s.rank++] = in->shape.dim[i];
	if (infer_set(x, n, 0, &s, e))
		return -1;
	fold_tuples(x, n);
	return 0;
}
