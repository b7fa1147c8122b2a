/* Operators that rearrange or repeat elements in ways that ONNX does not have: those of MXNet. */
#include <string.h>

#include "lib/extract/infer.h"

static void turn_round(int64_t *v, int n)
{
	for (int i = 0; i < n / 2; i++) {
		int64_t d = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = d;
	}
}

/* The codes of MXNet's Reshape, in their order: a size; 0: that of the data; -1: what is left; -2:
 * all that follow; -3: two of them multiplied; -4: one of them divided into the two sizes that
 * follow, of which one may be -1. */
struct codes {
	const struct shape *in;
	int at; /* in the data */
	struct shape s;
	int rest; /* the dimension that is left, or -1 */
};

static int add(struct codes *c, int64_t d)
{
	if (c->s.rank == GRAPH_MAX_RANK)
		return -1;
	c->s.dim[c->s.rank++] = d < 0 ? DIM_UNKNOWN : d;
	return 0;
}

static int take(struct codes *c, int64_t *d)
{
	if (c->at >= c->in->rank)
		return -1;
	*d = c->in->dim[c->at++];
	return 0;
}

static int divide(struct codes *c, int64_t a, int64_t b)
{
	int64_t d;

	if (take(c, &d) || a < -1 || b < -1 || !a || !b || (a == -1 && b == -1))
		return -1;
	if (d >= 0) {
		if (a == -1 ? d % b : b == -1 ? d % a : d / a != b || d % a)
			return -1;
		a = a == -1 ? d / b : a;
		b = b == -1 ? d / a : b;
	}
	return add(c, a) || add(c, b) ? -1 : 0;
}

/* One code; returns how many entries of the list it takes, -1: it makes no sense. */
static int apply(struct codes *c, const int64_t *code, int left)
{
	int64_t d, more;

	switch (code[0]) {
	case 0:
		return take(c, &d) || add(c, d) ? -1 : 1;
	case -1:
		c->at++;
		if (c->rest >= 0)
			return -1;
		c->rest = c->s.rank;
		return add(c, DIM_UNKNOWN) ? -1 : 1;
	case -2:
		while (!take(c, &d))
			if (add(c, d))
				return -1;
		return 1;
	case -3:
		if (take(c, &d) || take(c, &more))
			return -1;
		if (d < 0 || more < 0)
			d = DIM_UNKNOWN;
		else if (__builtin_mul_overflow(d, more, &d))
			return -1;
		return add(c, d) ? -1 : 1;
	case -4:
		return left < 3 || divide(c, code[1], code[2]) ? -1 : 3;
	default:
		c->at++;
		return code[0] < 0 || add(c, code[0]) ? -1 : 1;
	}
}

/* What is left follows from the number of elements. */
static int fill_rest(struct codes *c)
{
	int64_t all, known = 1;

	if (!shape_known(c->in))
		return 0;
	all = shape_count(c->in);
	for (int i = 0; i < c->s.rank; i++)
		if (i != c->rest &&
		    (c->s.dim[i] < 0 || __builtin_mul_overflow(known, c->s.dim[i], &known)))
			return c->s.dim[i] < 0 ? 0 : -1;
	if (c->rest < 0)
		return known == all ? 0 : -1;
	if (known ? all % known : all)
		return -1;
	c->s.dim[c->rest] = known ? all / known : 0;
	return 0;
}

int infer_reshape_codes(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const struct attr *shape = node_attr(n, "shape");
	const int backward = node_int(n, "reverse", 0) != 0;
	int64_t code[GRAPH_MAX_RANK];
	struct shape data;
	struct codes c = {.in = &data, .rest = -1};

	if (!in || !shape || shape->nints > GRAPH_MAX_RANK)
		return infer_lacks(x, n, e);
	if (in->shape.rank < 0)
		return 0;
	data = in->shape;
	memcpy(code, shape->ints, sizeof *code * (size_t)shape->nints);
	if (backward) {
		turn_round(data.dim, data.rank);
		turn_round(code, shape->nints);
	}
	for (int i = 0; i < shape->nints;) {
		const int taken = apply(&c, code + i, shape->nints - i);

		if (taken < 0)
			return infer_bad(x, n, e, "makes a shape that does not fit its data");
		i += taken;
	}
	if (fill_rest(&c))
		return infer_bad(x, n, e, "makes a shape that does not fit its data");
	if (backward)
		turn_round(c.s.dim, c.s.rank);
	return infer_set(x, n, 0, &c.s, e);
}

/* Along one axis so many times; or, by a list of "repeats", along the last dimensions, to which new
 * ones are added in front if there are too few. */
int infer_repeat(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const struct attr *list = node_attr(n, "repeats");
	int64_t times[GRAPH_MAX_RANK];
	struct shape s;
	int count = 1, first;

	if (!in)
		return infer_lacks(x, n, e);
	s = in->shape;
	if (s.rank < 0)
		return 0;
	if (list) {
		count = list->nints < GRAPH_MAX_RANK ? list->nints : GRAPH_MAX_RANK;
		memcpy(times, list->ints, sizeof *times * (size_t)count);
		while (s.rank < count) {
			memmove(s.dim + 1, s.dim, sizeof *s.dim * (size_t)s.rank++);
			s.dim[0] = 1;
		}
		first = s.rank - count;
	} else {
		times[0] = node_int(n, "times", 1);
		first = infer_axis(node_int(n, "axis", 0), s.rank);
		if (first < 0)
			return infer_bad(x, n, e, "repeats a dimension that is not there");
	}
	for (int i = 0; i < count; i++) {
		int64_t *d = &s.dim[first + i];

		if (times[i] < 0 || (*d >= 0 && __builtin_mul_overflow(*d, times[i], d)))
			return infer_bad(x, n, e, "makes a tensor of absurd size");
	}
	return infer_set(x, n, 0, &s, e);
}

int infer_swap_axes(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	const struct attr *axes = node_attr(n, "axes");
	struct shape s;
	int a, b;

	if (!in || !axes || axes->nints != 2)
		return infer_lacks(x, n, e);
	s = in->shape;
	if (s.rank < 0)
		return 0;
	a = infer_axis(axes->ints[0], s.rank);
	b = infer_axis(axes->ints[1], s.rank);
	if (a < 0 || b < 0)
		return infer_bad(x, n, e, "swaps a dimension that is not there");
	s.dim[a] = in->shape.dim[b];
	s.dim[b] = in->shape.dim[a];
	return infer_set(x, n, 0, &s, e);
}
