/* What the rules for operators share. */
#include <stdarg.h>
#include <stdio.h>

#include "lib/extract/graph/infer.h"

int infer_bad(const struct infer *x, const struct graph_node *n, struct err *e, const char *fmt,
	      ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	return err_set(e, "the node %s (%s) %s", node_label(x->g, n), n->type, why);
}

int infer_axis(int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		return -1;
	return (int)(axis < 0 ? axis + rank : axis);
}

int infer_absurd(const struct shape *s)
{
	int64_t count = 1;

	for (int i = 0; i < s->rank; i++) {
		int64_t d = s->dim[i];

		if (d < DIM_UNKNOWN || (d > 0 && count > MAX_ELEMENTS / d))
			return 1;
		if (d > 0)
			count *= d;
	}
	return 0;
}

int infer_set(struct infer *x, const struct graph_node *n, int i, const struct shape *s,
	      struct err *e)
{
	struct value *v = node_out(x->g, n, i);

	if (!v)
		return 0;
	if (infer_absurd(s)) {
		struct buf b = BUF_INIT;

		shape_print(s, &b);
		infer_bad(x, n, e, "makes a tensor of absurd size, %s", b.s);
		buf_free(&b);
		return -1;
	}
	v->shape = *s;
	return 0;
}

void infer_elem(struct infer *x, const struct graph_node *n, int i, int elem)
{
	struct value *v = node_out(x->g, n, i);

	if (v)
		v->elem = elem;
}

int infer_broadcast(struct infer *x, const struct graph_node *n, struct shape *a,
		    const struct shape *b, struct err *e)
{
	struct shape r;

	if (a->rank < 0 || b->rank < 0) {
		a->rank = RANK_UNKNOWN;
		return 0;
	}
	r.rank = a->rank > b->rank ? a->rank : b->rank;
	for (int i = 1; i <= r.rank; i++) {
		int64_t p = i <= a->rank ? a->dim[a->rank - i] : 1;
		int64_t q = i <= b->rank ? b->dim[b->rank - i] : 1;

		if (p != q && p > 1 && q > 1) {
			struct buf t = BUF_INIT;

			shape_print(a, &t);
			buf_str(&t, " and ");
			shape_print(b, &t);
			infer_bad(x, n, e, "combines shapes that do not fit, %s", t.s);
			buf_free(&t);
			return -1;
		}
		r.dim[r.rank - i] = p == 1 ? q : q == 1 ? p : p > q ? p : q;
		if (p != q && (p == 0 || q == 0))
			r.dim[r.rank - i] = 0;
	}
	*a = r;
	return 0;
}

int infer_list(const struct graph *g, const struct graph_node *n, const char *attr, int i,
	       int *count, const int64_t **v)
{
	const struct attr *a = attr ? node_attr(n, attr) : NULL;
	const struct value *in = i >= 0 ? node_in(g, n, i) : NULL;

	*count = 0;
	*v = NULL;
	if (a) {
		*count = a->nints;
		*v = a->ints;
		return 1;
	}
	if (!in)
		return 0;
	if (!in->kept || !shape_known(&in->shape) || !elem_is_int(in->elem))
		return -1;
	*count = (int)shape_count(&in->shape);
	*v = (const int64_t *)in->kept; /* union scalar begins with its i, and is no wider */
	return 1;
}

int infer_one(const struct graph *g, const struct graph_node *n, int i, int64_t *v)
{
	const int64_t *list;
	int count, r = infer_list(g, n, NULL, i, &count, &list);

	if (r == 1 && (count != 1 || list[0] == INT_UNKNOWN))
		r = -1;
	if (r == 1)
		*v = list[0];
	return r;
}

int64_t infer_told(const struct infer *x, const struct graph_node *n)
{
	const struct value *v = node_out(x->g, n, 0);

	return v && v->told ? v->told->count : DIM_UNKNOWN;
}

union scalar *infer_keep(struct infer *x, const struct graph_node *n, int i)
{
	struct value *v = node_out(x->g, n, i);

	if (!v || !shape_known(&v->shape) || shape_count(&v->shape) > KEEP_INTS ||
	    x->kept > KEEP_ALL)
		return NULL;
	x->kept += shape_count(&v->shape);
	v->kept = arena_array(x->g->a, union scalar, shape_count(&v->shape));
	return v->kept;
}

void infer_strides(const struct shape *s, int64_t *stride)
{
	int64_t n = shape_known(s);

	for (int i = s->rank; i-- > 0;) {
		stride[i] = n;
		n *= s->dim[i];
	}
}

int infer_wide_strides(const struct shape *in, const struct shape *out, int64_t *stride)
{
	int64_t own[GRAPH_MAX_RANK];

	if (in->rank > out->rank)
		return -1;
	infer_strides(in, own);
	for (int i = 0; i < out->rank; i++) {
		int from = i - (out->rank - in->rank);

		stride[i] = from < 0 || in->dim[from] == 1 ? 0 : own[from];
		if (from >= 0 && in->dim[from] != 1 && in->dim[from] != out->dim[i])
			return -1;
	}
	return 0;
}

void infer_view(struct infer *x, const struct graph_node *n, int i, const struct value *from,
		int64_t offset, const int64_t *stride)
{
	const struct value *v = node_out(x->g, n, i);
	int64_t at[GRAPH_MAX_RANK] = {0}, count;
	union scalar *to;

	if (!from->kept || !shape_known(&from->shape) || !(to = infer_keep(x, n, i)))
		return;
	count = shape_count(&v->shape);
	for (int64_t k = 0; k < count; k++) {
		int64_t p = offset;

		for (int d = 0; d < v->shape.rank; d++)
			p += at[d] * stride[d];
		to[k] = from->kept[p];
		for (int d = v->shape.rank; d-- > 0 && ++at[d] == v->shape.dim[d];)
			at[d] = 0;
	}
}

int infer_lacks(const struct infer *x, const struct graph_node *n, struct err *e)
{
	return infer_bad(x, n, e, "lacks an input");
}

int infer_required(const struct infer *x, const struct graph_node *n, const char *attr, int64_t *v,
		   struct err *e)
{
	*v = node_int(n, attr, 0);
	return node_attr(n, attr) ? 0 : infer_bad(x, n, e, "has no %s", attr);
}

int infer_open(struct shape *s, int64_t rank)
{
	s->rank = rank >= 0 && rank <= GRAPH_MAX_RANK ? (int)rank : RANK_UNKNOWN;
	for (int i = 0; i < s->rank; i++)
		s->dim[i] = DIM_UNKNOWN;
	return 1;
}
