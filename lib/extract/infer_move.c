/* Operators that only move elements: shapes and, for small tensors, the elements too. */
#include <string.h>

#include "lib/extract/infer.h"

static void copy_kept(struct infer *x, const struct node *n, const struct value *in)
{
	const struct value *v = node_out(x->g, n, 0);

	if (v && in->kept && shape_known(&v->shape) && shape_known(&in->shape) &&
	    shape_count(&v->shape) == shape_count(&in->shape))
		node_out(x->g, n, 0)->kept = in->kept;
}

static int set_and_copy(struct infer *x, const struct node *n, const struct shape *s,
			const struct value *in, struct err *e)
{
	if (infer_set(x, n, 0, s, e))
		return -1;
	copy_kept(x, n, in);
	return 0;
}

static void unknown_dims(struct shape *s, int64_t rank)
{
	s->rank = rank >= 0 && rank <= GRAPH_MAX_RANK ? (int)rank : RANK_UNKNOWN;
	for (int i = 0; i < s->rank; i++)
		s->dim[i] = DIM_UNKNOWN;
}

static int no_input(const struct infer *x, const struct node *n, struct err *e)
{
	return infer_bad(x, n, e, "lacks an input");
}

/* Elements of a concatenation: for each outer index, the inner parts of all inputs. */
static void fold_concat(struct infer *x, const struct node *n, int axis)
{
	struct value *v = node_out(x->g, n, 0);
	int64_t outer = 1, at = 0;
	union scalar *to;

	for (int i = 0; i < n->nin; i++)
		if (!node_in(x->g, n, i)->kept)
			return;
	if (!(to = infer_keep(x, n, 0)))
		return;
	for (int d = 0; d < axis; d++)
		outer *= v->shape.dim[d];
	for (int64_t o = 0; o < outer; o++) /* not at all where there are no elements */
		for (int i = 0; i < n->nin; i++) {
			const struct value *in = node_in(x->g, n, i);
			int64_t part = shape_count(&in->shape) / outer;

			memcpy(to + at, in->kept + o * part, sizeof *to * (size_t)part);
			at += part;
		}
}

int infer_concat(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s;
	int axis;

	if (!in)
		return no_input(x, n, e);
	s = in->shape;
	if (s.rank < 0)
		return 0;
	axis = infer_axis(node_int(n, "axis", 1), s.rank);
	if (axis < 0)
		return infer_bad(x, n, e, "joins along a dimension that is not there");
	for (int i = 1; i < n->nin; i++) {
		const struct value *v = node_in(x->g, n, i);

		if (!v)
			return no_input(x, n, e);
		if (v->shape.rank < 0)
			return 0;
		if (v->shape.rank != s.rank)
			return infer_bad(x, n, e, "joins tensors of different rank");
		for (int d = 0; d < s.rank; d++) {
			int64_t p = s.dim[d], q = v->shape.dim[d];

			if (d == axis)
				s.dim[d] = p < 0 || q < 0 ? DIM_UNKNOWN : p + q;
			else if (p >= 0 && q >= 0 && p != q)
				return infer_bad(x, n, e, "joins sizes %lld and %lld", (long long)p,
						 (long long)q);
			else
				s.dim[d] = p < 0 ? q : p;
		}
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (shape_known(&s))
		fold_concat(x, n, axis);
	return 0;
}

int infer_split(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	int64_t stride[GRAPH_MAX_RANK], at = 0;
	const int64_t *sizes;
	int axis, nsizes, given, known = 1;
	struct shape s;

	if (!in)
		return no_input(x, n, e);
	if (in->shape.rank < 0 || !n->nout)
		return 0;
	s = in->shape;
	axis = infer_axis(node_int(n, "axis", 0), s.rank);
	if (axis < 0)
		return infer_bad(x, n, e, "splits a dimension that is not there");
	given = infer_list(x->g, n, "split", 1, &nsizes, &sizes);
	if (given == 1 && nsizes != n->nout)
		return infer_bad(x, n, e, "has %d sizes for %d outputs", nsizes, n->nout);
	if (shape_known(&in->shape))
		infer_strides(&in->shape, stride);
	else
		memset(stride, 0, sizeof stride);
	for (int i = 0; i < n->nout; i++) {
		int64_t all = in->shape.dim[axis], part = (all + n->nout - 1) / n->nout;

		if (given == 1)
			s.dim[axis] = sizes[i] == INT_UNKNOWN ? DIM_UNKNOWN : sizes[i];
		else if (given < 0 || all < 0)
			s.dim[axis] = DIM_UNKNOWN;
		else /* equal parts, the last may be smaller */
			s.dim[axis] = all - at < part ? all - at : part;
		if (s.dim[axis] < DIM_UNKNOWN || (all >= 0 && s.dim[axis] > all - at))
			return infer_bad(x, n, e, "splits %lld into parts that do not fit",
					 (long long)all);
		if (infer_set(x, n, i, &s, e))
			return -1;
		known &= shape_known(&s); /* behind an unknown part, all places are unknown */
		if (known && in->kept)
			infer_view(x, n, i, in, at * stride[axis], stride);
		at += s.dim[axis] > 0 ? s.dim[axis] : 0;
	}
	return 0;
}

/* First element and count of start:end:step over a dimension, as Python counts. */
static void slice_range(int64_t dim, int64_t start, int64_t end, int64_t step, int64_t *first,
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
	if (step > 0)
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

static int read_slices(const struct graph *g, const struct node *n, struct slices *s)
{
	int attrs = node_attr(n, "starts") != NULL, ns, ne, na, nt, a, t;

	s->known = infer_list(g, n, "starts", attrs ? -1 : 1, &ns, &s->start) == 1;
	s->known &= infer_list(g, n, "ends", attrs ? -1 : 2, &ne, &s->end) == 1;
	a = infer_list(g, n, "axes", attrs ? -1 : 3, &na, &s->axis);
	t = infer_list(g, n, NULL, attrs ? -1 : 4, &nt, &s->step);
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
	slice_range(s->dim[axis], c->start[i], c->end[i], step, &first, &s->dim[axis]);
	if (s->dim[axis] > 0) {
		*offset += first * stride[axis];
		stride[axis] *= s->dim[axis] > 1 ? step : 1;
	}
	return 0;
}

int infer_slice(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	int64_t stride[GRAPH_MAX_RANK], offset = 0;
	struct slices c;
	struct shape s;

	if (!in)
		return no_input(x, n, e);
	if (in->shape.rank < 0)
		return 0;
	s = in->shape;
	if (read_slices(x->g, n, &c))
		return infer_bad(x, n, e, "has lists of different length");
	if (c.n < 0) {
		unknown_dims(&s, s.rank);
		return infer_set(x, n, 0, &s, e);
	}
	if (shape_known(&s))
		infer_strides(&s, stride);
	else
		memset(stride, 0, sizeof stride);
	for (int i = 0; i < c.n; i++)
		if (slice_axis(&c, i, &s, &offset, stride))
			return infer_bad(x, n, e, "slices a dimension that is not there");
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (shape_known(&s) && shape_known(&in->shape) && in->kept)
		infer_view(x, n, 0, in, offset, stride);
	return 0;
}

static void fold_gather(struct infer *x, const struct node *n, int axis)
{
	const struct value *in = node_in(x->g, n, 0), *index = node_in(x->g, n, 1);
	int64_t outer = 1, inner = 1, dim, count, at = 0;
	union scalar *to;

	if (!in->kept || !index->kept || !shape_known(&in->shape) || !(to = infer_keep(x, n, 0)))
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

int infer_gather(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *index = node_in(x->g, n, 1);
	struct shape s = {0};
	int axis;

	if (!in || !index)
		return no_input(x, n, e);
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

int infer_gather_elements(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *index = node_in(x->g, n, 1);

	return index ? infer_set(x, n, 0, &index->shape, e) : no_input(x, n, e);
}

int infer_gather_nd(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *index = node_in(x->g, n, 1);
	int64_t batch = node_int(n, "batch_dims", 0), depth;
	struct shape s;

	if (!in || !index)
		return no_input(x, n, e);
	if (in->shape.rank < 0 || index->shape.rank < 1)
		return 0;
	s = index->shape;
	depth = s.dim[--s.rank];
	if (depth < 0)
		return 0;
	if (batch < 0 || depth > in->shape.rank || batch + depth > in->shape.rank)
		return infer_bad(x, n, e, "has indices that do not fit its data");
	if (s.rank + in->shape.rank - batch - depth > GRAPH_MAX_RANK)
		return 0;
	for (int i = (int)(batch + depth); i < in->shape.rank; i++)
		s.dim[s.rank++] = in->shape.dim[i];
	return infer_set(x, n, 0, &s, e);
}

/* 0 copies the input's dimension (unless allowzero), -1 is what is left. */
static int reshape_dims(struct infer *x, const struct node *n, const struct shape *in, int count,
			const int64_t *want, struct shape *s, struct err *e)
{
	int64_t known = 1, all = shape_known(in) ? shape_count(in) : -1;
	int rest = -1, open = 0;

	s->rank = count;
	for (int i = 0; i < count; i++) {
		int64_t d = want[i];

		if (d == 0 && !node_int(n, "allowzero", 0))
			d = in->rank < 0 ? INT_UNKNOWN : i < in->rank ? in->dim[i] : 0;
		else if (d == -1 && rest < 0)
			rest = i;
		else if (d < 0 && d != INT_UNKNOWN)
			return infer_bad(x, n, e, "makes an absurd dimension, %lld", (long long)d);
		s->dim[i] = d < 0 ? DIM_UNKNOWN : d;
		if (i == rest)
			continue;
		if (d < 0)
			open++;
		else if (__builtin_mul_overflow(known, d, &known) || known > MAX_ELEMENTS)
			return infer_bad(x, n, e, "makes a tensor of absurd size");
	}
	if (all < 0)
		return 0;
	if (open + (rest >= 0) == 1) { /* one size is open, and follows */
		for (int i = 0; i < count; i++)
			if (s->dim[i] < 0)
				rest = i;
		if (known ? all % known : all)
			return infer_bad(x, n, e,
					 "makes a shape that does not divide %lld elements",
					 (long long)all);
		s->dim[rest] = known ? all / known : 0;
	} else if (!open && known != all) {
		return infer_bad(x, n, e, "makes %lld elements of %lld", (long long)known,
				 (long long)all);
	}
	return 0;
}

int infer_reshape(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *to = node_in(x->g, n, 1);
	const int64_t *want;
	int count, given;
	struct shape s;

	if (!in)
		return no_input(x, n, e);
	given = infer_list(x->g, n, "shape", 1, &count, &want);
	if (!given)
		return no_input(x, n, e);
	if (given < 0) {
		unknown_dims(&s, to->shape.rank == 1 ? to->shape.dim[0] : -1);
		return infer_set(x, n, 0, &s, e);
	}
	if (count > GRAPH_MAX_RANK)
		return 0;
	if (reshape_dims(x, n, &in->shape, count, want, &s, e))
		return -1;
	return set_and_copy(x, n, &s, in, e);
}

int infer_flatten(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s = {2, {1, 1}};
	int64_t axis = node_int(n, "axis", 1);

	if (!in)
		return no_input(x, n, e);
	if (in->shape.rank < 0)
		return 0;
	if (axis < -in->shape.rank || axis > in->shape.rank)
		return infer_bad(x, n, e, "flattens at a dimension that is not there");
	if (axis < 0)
		axis += in->shape.rank;
	for (int i = 0; i < in->shape.rank; i++) {
		int64_t *d = &s.dim[i >= axis];

		*d = *d < 0 || in->shape.dim[i] < 0 ? DIM_UNKNOWN : *d * in->shape.dim[i];
	}
	return set_and_copy(x, n, &s, in, e);
}

int infer_transpose(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const struct attr *perm = node_attr(n, "perm");
	int64_t stride[GRAPH_MAX_RANK], moved[GRAPH_MAX_RANK];
	unsigned seen = 0;
	struct shape s;

	if (!in)
		return no_input(x, n, e);
	if (in->shape.rank < 0)
		return 0;
	s = in->shape;
	if (perm && perm->nints != s.rank)
		return infer_bad(x, n, e, "permutes %d of %d dimensions", perm->nints, s.rank);
	if (shape_known(&s))
		infer_strides(&in->shape, stride);
	else
		memset(stride, 0, sizeof stride);
	for (int i = 0; i < s.rank; i++) {
		int from = perm ? infer_axis(perm->ints[i], s.rank) : s.rank - 1 - i;

		if (from < 0 || seen >> from & 1)
			return infer_bad(x, n, e, "has a perm that is no permutation");
		seen |= 1u << from;
		s.dim[i] = in->shape.dim[from];
		moved[i] = stride[from];
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (shape_known(&s) && in->kept)
		infer_view(x, n, 0, in, 0, moved);
	return 0;
}

int infer_squeeze(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const int64_t *axes;
	struct shape s = {0};
	unsigned drop = 0;
	int given, count;

	if (!in)
		return no_input(x, n, e);
	given = infer_list(x->g, n, "axes", 1, &count, &axes);
	if (in->shape.rank < 0 || given < 0)
		return 0;
	if (!given && !shape_known(&in->shape))
		return 0; /* which are 1 is not known */
	for (int i = 0; i < count; i++) {
		int axis = infer_axis(axes[i], in->shape.rank);

		if (axis < 0 || in->shape.dim[axis] > 1)
			return infer_bad(x, n, e, "squeezes a dimension that is not 1");
		drop |= 1u << axis;
	}
	for (int i = 0; i < in->shape.rank; i++)
		if (given ? !(drop >> i & 1) : in->shape.dim[i] != 1)
			s.dim[s.rank++] = in->shape.dim[i];
	return set_and_copy(x, n, &s, in, e);
}

int infer_unsqueeze(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const int64_t *axes;
	struct shape s = {0};
	unsigned add = 0;
	int given, count, from = 0;

	if (!in)
		return no_input(x, n, e);
	given = infer_list(x->g, n, "axes", 1, &count, &axes);
	if (in->shape.rank < 0 || given < 0 || in->shape.rank + count > GRAPH_MAX_RANK)
		return 0;
	s.rank = in->shape.rank + count;
	for (int i = 0; i < count; i++) {
		int axis = infer_axis(axes[i], s.rank);

		if (axis < 0 || add >> axis & 1)
			return infer_bad(x, n, e, "adds a dimension out of range");
		add |= 1u << axis;
	}
	for (int i = 0; i < s.rank; i++)
		s.dim[i] = add >> i & 1 ? 1 : in->shape.dim[from++];
	return set_and_copy(x, n, &s, in, e);
}

int infer_expand(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *to = node_in(x->g, n, 1);
	int64_t stride[GRAPH_MAX_RANK], wide[GRAPH_MAX_RANK];
	const int64_t *want;
	int count;
	struct shape s;

	if (!in || !to)
		return no_input(x, n, e);
	if (infer_list(x->g, n, NULL, 1, &count, &want) < 0 || count > GRAPH_MAX_RANK)
		return 0;
	s.rank = count;
	for (int i = 0; i < count; i++) {
		if (want[i] < 0 && want[i] != INT_UNKNOWN && want[i] != -1)
			return infer_bad(x, n, e, "makes an absurd dimension, %lld",
					 (long long)want[i]);
		s.dim[i] = want[i] == -1 ? 1 : want[i] < 0 ? DIM_UNKNOWN : want[i];
	}
	if (infer_broadcast(x, n, &s, &in->shape, e) || infer_set(x, n, 0, &s, e))
		return -1;
	if (!shape_known(&s) || !in->kept || !shape_known(&in->shape))
		return 0;
	infer_strides(&in->shape, stride);
	for (int i = 0; i < s.rank; i++) {
		int from = i - (s.rank - in->shape.rank);

		wide[i] = from < 0 || in->shape.dim[from] == 1 ? 0 : stride[from];
	}
	infer_view(x, n, 0, in, 0, wide);
	return 0;
}

int infer_tile(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const int64_t *times;
	struct shape s;
	int count;

	if (!in || !node_in(x->g, n, 1))
		return no_input(x, n, e);
	s = in->shape;
	if (s.rank < 0)
		return 0;
	if (infer_list(x->g, n, NULL, 1, &count, &times) < 0) {
		unknown_dims(&s, s.rank);
		return infer_set(x, n, 0, &s, e);
	}
	if (count != s.rank)
		return infer_bad(x, n, e, "repeats %d of %d dimensions", count, s.rank);
	for (int i = 0; i < s.rank; i++) {
		if (times[i] == INT_UNKNOWN || s.dim[i] < 0)
			s.dim[i] = DIM_UNKNOWN;
		else if (times[i] < 0 || __builtin_mul_overflow(s.dim[i], times[i], &s.dim[i]))
			return infer_bad(x, n, e, "makes a tensor of absurd size");
	}
	return infer_set(x, n, 0, &s, e);
}

int infer_shape(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	int64_t start = node_int(n, "start", 0), end = node_int(n, "end", INT64_MAX), first;
	struct shape s = {1, {DIM_UNKNOWN}};
	union scalar *to;

	if (!in)
		return no_input(x, n, e);
	if (in->shape.rank < 0)
		return infer_set(x, n, 0, &s, e);
	slice_range(in->shape.rank, start, end, 1, &first, &s.dim[0]);
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (!(to = infer_keep(x, n, 0)))
		return 0;
	for (int64_t i = 0; i < s.dim[0]; i++) {
		int64_t d = in->shape.dim[first + i];

		to[i].i = d < 0 ? INT_UNKNOWN : d;
	}
	return 0;
}

int infer_size(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s = {0};
	union scalar *to;

	if (!in)
		return no_input(x, n, e);
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if ((to = infer_keep(x, n, 0)))
		to[0].i = shape_known(&in->shape) ? shape_count(&in->shape) : INT_UNKNOWN;
	return 0;
}

static void constant_list(struct value *v, struct graph *g, const struct attr *a, int is_int,
			  int is_list)
{
	int n = !is_list ? 1 : is_int ? a->nints : a->nfloats;

	v->elem = is_int ? ELEM_I64 : ELEM_F32;
	v->shape = (struct shape){is_list, {n}};
	if (n > (is_int ? KEEP_INTS : KEEP_REALS))
		return;
	v->kept = arena_array(g->a, union scalar, n);
	for (int i = 0; i < n; i++) {
		if (is_int)
			v->kept[i].i = is_list ? a->ints[i] : a->i;
		else
			v->kept[i].f = (double)(is_list ? a->floats[i] : a->f);
	}
}

int infer_constant(struct infer *x, const struct node *n, struct err *e)
{
	struct value *v = node_out(x->g, n, 0);
	const struct attr *a;

	if (!v)
		return 0;
	if ((a = node_attr(n, "value")) && a->tensor) {
		v->shape = a->tensor->shape;
		v->elem = a->tensor->elem;
		v->kept = a->tensor->kept;
	} else if ((a = node_attr(n, "value_int"))) {
		constant_list(v, x->g, a, 1, 0);
	} else if ((a = node_attr(n, "value_ints"))) {
		constant_list(v, x->g, a, 1, 1);
	} else if ((a = node_attr(n, "value_float"))) {
		constant_list(v, x->g, a, 0, 0);
	} else if ((a = node_attr(n, "value_floats"))) {
		constant_list(v, x->g, a, 0, 1);
	} else if (!node_attr(n, "value_string") && !node_attr(n, "value_strings") &&
		   !node_attr(n, "sparse_value")) {
		return infer_bad(x, n, e, "has no value");
	}
	return 0;
}

int infer_constant_of_shape(struct infer *x, const struct node *n, struct err *e)
{
	const struct attr *a = node_attr(n, "value");
	struct value *v = node_out(x->g, n, 0);
	const struct value *to = node_in(x->g, n, 0);
	union scalar fill = {.i = 0}, *kept;
	const int64_t *want;
	struct shape s;
	int count;

	if (!to || !v)
		return no_input(x, n, e);
	v->elem = a && a->tensor ? a->tensor->elem : ELEM_F32;
	if (infer_list(x->g, n, NULL, 0, &count, &want) < 0 || count > GRAPH_MAX_RANK) {
		unknown_dims(&s, to->shape.rank == 1 ? to->shape.dim[0] : -1);
		return infer_set(x, n, 0, &s, e);
	}
	s.rank = count;
	for (int i = 0; i < count; i++) {
		if (want[i] < 0 && want[i] != INT_UNKNOWN)
			return infer_bad(x, n, e, "makes an absurd dimension, %lld",
					 (long long)want[i]);
		s.dim[i] = want[i] < 0 ? DIM_UNKNOWN : want[i];
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (a && a->tensor) {
		if (!a->tensor->kept || shape_count(&a->tensor->shape) < 1)
			return 0;
		fill = a->tensor->kept[0];
	}
	if (!shape_known(&s) || shape_count(&s) > KEEP_INTS || !(kept = infer_keep(x, n, 0)))
		return 0;
	for (int64_t i = 0; i < shape_count(&s); i++)
		kept[i] = fill;
	return 0;
}

static const union scalar *one_int(const struct value *v)
{
	return v && v->kept && elem_is_int(v->elem) && shape_known(&v->shape) &&
			       shape_count(&v->shape) == 1 && v->kept[0].i != INT_UNKNOWN
		       ? v->kept
		       : NULL;
}

int infer_range(struct infer *x, const struct node *n, struct err *e)
{
	const union scalar *start = one_int(node_in(x->g, n, 0));
	const union scalar *limit = one_int(node_in(x->g, n, 1));
	const union scalar *step = one_int(node_in(x->g, n, 2));
	struct shape s = {1, {DIM_UNKNOWN}};
	union scalar *to;
	int64_t span;

	if (start && limit && step) {
		if (!step->i || step->i == INT64_MIN ||
		    __builtin_sub_overflow(limit->i, start->i, &span) || span == INT64_MIN)
			return infer_bad(x, n, e, "counts in steps that make no sense");
		if (step->i < 0)
			span = -span;
		s.dim[0] = span > 0 ? (span - 1) / (step->i < 0 ? -step->i : step->i) + 1 : 0;
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (!shape_known(&s) || !(to = infer_keep(x, n, 0)))
		return 0;
	for (int64_t i = 0; i < s.dim[0]; i++)
		to[i].i = start->i + i * step->i;
	return 0;
}

int infer_one_hot(struct infer *x, const struct node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *values = node_in(x->g, n, 2);
	const union scalar *depth = one_int(node_in(x->g, n, 1));
	struct shape s = {0};
	int axis;

	if (!in || !values)
		return no_input(x, n, e);
	if (node_out(x->g, n, 0))
		node_out(x->g, n, 0)->elem = values->elem;
	if (in->shape.rank < 0 || in->shape.rank == GRAPH_MAX_RANK)
		return 0;
	axis = infer_axis(node_int(n, "axis", -1), in->shape.rank + 1);
	if (axis < 0)
		return infer_bad(x, n, e, "adds a dimension out of range");
	for (int i = 0; i <= in->shape.rank; i++)
		s.dim[s.rank++] = i == axis ? (depth ? depth->i : DIM_UNKNOWN)
					    : in->shape.dim[i - (i > axis)];
	return infer_set(x, n, 0, &s, e);
}
