/* Products, reductions and recurrent networks. */
#include <ctype.h>
#include <string.h>

#include "lib/extract/infer.h"

int infer_gemm(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *a = node_in(x->g, n, 0), *b = node_in(x->g, n, 1);
	int ta = node_int(n, "transA", 0) != 0, tb = node_int(n, "transB", 0) != 0;
	struct shape s = {2, {DIM_UNKNOWN, DIM_UNKNOWN}};

	if (!a || !b || (a->shape.rank >= 0 && a->shape.rank != 2) ||
	    (b->shape.rank >= 0 && b->shape.rank != 2))
		return infer_bad(x, n, e, "wants two matrices");
	if (a->shape.rank == 2)
		s.dim[0] = a->shape.dim[ta];
	if (b->shape.rank == 2)
		s.dim[1] = b->shape.dim[!tb];
	if (a->shape.rank == 2 && b->shape.rank == 2) {
		int64_t k = a->shape.dim[!ta], k2 = b->shape.dim[tb];

		if (k >= 0 && k2 >= 0 && k != k2)
			return infer_bad(x, n, e, "has inner dimensions %lld and %lld",
					 (long long)k, (long long)k2);
	}
	return infer_set(x, n, 0, &s, e);
}

/* A right or left side that is given transposed. */
static void turn(const struct graph_node *n, const char *attr, struct shape *s)
{
	int64_t d;

	if (!node_int(n, attr, 0) || s->rank < 2)
		return;
	d = s->dim[s->rank - 1];
	s->dim[s->rank - 1] = s->dim[s->rank - 2];
	s->dim[s->rank - 2] = d;
}

/* Rows that come before the batch go behind it. */
static void move_rows(const struct graph_node *n, const char *attr, struct shape *s)
{
	int64_t rows = s->dim[0];

	if (!node_int(n, attr, 0) || s->rank < 3)
		return;
	memmove(s->dim, s->dim + 1, sizeof *s->dim * (size_t)(s->rank - 2));
	s->dim[s->rank - 2] = rows;
}

void infer_operands(const struct graph_node *n, struct shape *a, struct shape *b)
{
	move_rows(n, "transBatchA", a);
	move_rows(n, "transBatchB", b);
	turn(n, "transA", a);
	turn(n, "transB", b);
}

/* A vector on the left is a row, on the right a column; the one added dimension is dropped again.
 */
int infer_matmul(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *va = node_in(x->g, n, 0);
	const struct value *vb = node_in(x->g, n, node_is(n, "QLinearMatMul") ? 3 : 1);
	struct shape a, b, s;
	int row = 0, column = 0;

	if (!va || !vb)
		return infer_bad(x, n, e, "wants two inputs");
	if (va->shape.rank < 0 || vb->shape.rank < 0)
		return 0;
	a = va->shape;
	b = vb->shape;
	if (!a.rank || !b.rank)
		return infer_bad(x, n, e, "multiplies a scalar");
	infer_operands(n, &a, &b);
	if (a.rank == 1) {
		a = (struct shape){2, {1, a.dim[0]}};
		row = 1;
	}
	if (b.rank == 1) {
		b = (struct shape){2, {b.dim[0], 1}};
		column = 1;
	}
	if (a.dim[a.rank - 1] >= 0 && b.dim[b.rank - 2] >= 0 &&
	    a.dim[a.rank - 1] != b.dim[b.rank - 2])
		return infer_bad(x, n, e, "has inner dimensions %lld and %lld",
				 (long long)a.dim[a.rank - 1], (long long)b.dim[b.rank - 2]);
	s = a;
	s.rank -= 2;
	b.rank -= 2;
	if (infer_broadcast(x, n, &s, &b, e))
		return -1;
	if (!row)
		s.dim[s.rank++] = a.dim[a.rank - 2];
	if (!column)
		s.dim[s.rank++] = b.dim[b.rank + 1];
	return infer_set(x, n, 0, &s, e);
}

/* Sizes of the letters of one operand, "bij". -1: they do not fit. */
static int letters(struct einsum *s, const char *p, size_t len, const struct shape *shape)
{
	if (shape->rank != (int)len)
		return -1;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)p[i];
		int64_t d = shape->dim[i];

		if (c >= sizeof s->used || d < 0)
			return -1;
		if (s->used[c] && s->size[c] != d && s->size[c] != 1 && d != 1)
			return -1;
		if (!s->used[c] || d > s->size[c])
			s->size[c] = d;
		s->used[c] = 1;
	}
	return 0;
}

enum { EQUATION_MAX = 256, ELLIPSIS = GRAPH_MAX_RANK };

/* The equation without blanks; an ellipsis becomes letters 1 to 12, the last of which is 1, as many
 * as the operand has dimensions there; without "->" the letters that occur once are put out, in
 * alphabetical order. -1: there is no sense in it. */
static int write_out(const struct graph *g, const struct graph_node *n, char *to)
{
	const char *text = node_str(n, "equation", "");
	int operand = 0, most = 0, times[128] = {0}, arrow = 0;
	size_t len = 0;

	for (; *text; text++) {
		const struct value *v = node_in(g, n, operand);
		size_t letters = 0;

		if (len + ELLIPSIS + 2 > EQUATION_MAX || (*text & 0x80) || *text < ' ')
			return -1;
		if (*text == '.') {
			if (strncmp(text, "...", 3) != 0)
				return -1;
			text += 2;
			for (const char *c = text + 1; *c && *c != ',' && *c != '-'; c++)
				letters += *c != ' ';
			for (size_t i = len; i-- > 0 && to[i] != ',';)
				letters++;
			if (!arrow && (!v || v->shape.rank < (int)letters))
				return -1;
			for (int i = arrow ? most : v->shape.rank - (int)letters; i > 0; i--) {
				most = i > most ? i : most;
				to[len++] = (char)i;
			}
			continue;
		}
		if (*text == ',')
			operand++;
		arrow |= *text == '>';
		if (isalpha((unsigned char)*text))
			times[(unsigned char)*text]++;
		if (*text != ' ')
			to[len++] = *text;
	}
	if (!arrow) {
		if (len + 2 + (size_t)most + 128 > EQUATION_MAX)
			return -1;
		to[len++] = '-';
		to[len++] = '>';
		for (int i = most; i > 0; i--)
			to[len++] = (char)i;
		for (int c = 'A'; c <= 'z'; c++)
			if (times[c] == 1)
				to[len++] = (char)c;
	}
	to[len] = 0;
	return 0;
}

int einsum_resolve(const struct graph *g, const struct graph_node *n, struct einsum *s)
{
	char *eq = s->equation;
	const char *p = eq, *arrow;

	*s = (struct einsum){0};
	if (write_out(g, n, eq))
		return -1;
	arrow = strstr(eq, "->");
	if (!arrow || strlen(arrow + 2) > GRAPH_MAX_RANK)
		return -1;
	for (int i = 0; i < n->nin; i++) {
		const struct value *v = node_in(g, n, i);
		size_t k = strcspn(p, ",-");

		if (!v || letters(s, p, k, &v->shape))
			return -1;
		p += k + (p[k] == ',');
	}
	if (p != arrow)
		return -1;
	for (size_t i = 0; arrow[2 + i]; i++) {
		unsigned char c = (unsigned char)arrow[2 + i];

		if (c >= sizeof s->used || !s->used[c])
			return -1;
		s->out[i] = (char)c;
	}
	return 0;
}

int infer_einsum(struct infer *x, const struct graph_node *n, struct err *e)
{
	struct shape s = {0};
	struct einsum sum;

	if (einsum_resolve(x->g, n, &sum))
		return 0;
	for (; sum.out[s.rank]; s.rank++)
		s.dim[s.rank] = sum.size[(unsigned char)sum.out[s.rank]];
	return infer_set(x, n, 0, &s, e);
}

static void mark_axes(const struct shape *s, int given, int naxes, const int64_t *axes,
		      int none_is_all, char *reduced)
{
	memset(reduced, given && naxes ? 0 : none_is_all, GRAPH_MAX_RANK);
	for (int i = 0; i < naxes; i++) {
		int axis = infer_axis(axes[i], s->rank);

		if (axis >= 0)
			reduced[axis] = 1;
	}
}

int infer_reduce(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	int keep = node_int(n, "keepdims", 1) != 0, given, naxes;
	char reduced[GRAPH_MAX_RANK];
	const int64_t *axes;
	struct shape s = {0};

	if (!in)
		return infer_bad(x, n, e, "has no input");
	given = infer_list(x->g, n, "axes", 1, &naxes, &axes);
	if (in->shape.rank < 0 || (given < 0 && !keep))
		return 0;
	for (int i = 0; i < naxes; i++)
		if (infer_axis(axes[i], in->shape.rank) < 0)
			return infer_bad(x, n, e, "reduces a dimension that is not there");
	mark_axes(&in->shape, given, naxes, axes, !node_int(n, "noop_with_empty_axes", 0), reduced);
	for (int i = 0; i < in->shape.rank; i++) {
		if (given < 0)
			s.dim[s.rank++] = DIM_UNKNOWN;
		else if (!reduced[i])
			s.dim[s.rank++] = in->shape.dim[i];
		else if (keep)
			s.dim[s.rank++] = 1;
	}
	if (infer_set(x, n, 0, &s, e))
		return -1;
	if (given >= 0)
		fold_reduce(x, n, reduced);
	return 0;
}

int infer_arg(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0);
	struct shape s = {0};
	int axis;

	if (!in)
		return infer_bad(x, n, e, "has no input");
	if (in->shape.rank < 0)
		return 0;
	axis = infer_axis(node_int(n, "axis", 0), in->shape.rank);
	if (axis < 0)
		return infer_bad(x, n, e, "reduces a dimension that is not there");
	for (int i = 0; i < in->shape.rank; i++)
		if (i != axis)
			s.dim[s.rank++] = in->shape.dim[i];
		else if (node_int(n, "keepdims", 1))
			s.dim[s.rank++] = 1;
	return infer_set(x, n, 0, &s, e);
}

int infer_topk(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *k = node_in(x->g, n, 1);
	const struct attr *fixed = node_attr(n, "k");
	struct shape s;
	int axis;

	if (!in)
		return infer_bad(x, n, e, "has no input");
	if (in->shape.rank < 0)
		return 0;
	s = in->shape;
	axis = infer_axis(node_int(n, "axis", -1), s.rank);
	if (axis < 0)
		return infer_bad(x, n, e, "sorts along a dimension that is not there");
	s.dim[axis] = DIM_UNKNOWN;
	if (fixed)
		s.dim[axis] = fixed->i;
	else if (k && k->kept && elem_is_int(k->elem) && shape_count(&k->shape) == 1 &&
		 k->kept[0].i != INT_UNKNOWN)
		s.dim[axis] = k->kept[0].i;
	if (n->nout > 1 && node_out(x->g, n, 1))
		node_out(x->g, n, 1)->elem = VALUE_I64;
	return infer_set(x, n, 0, &s, e) || infer_set(x, n, 1, &s, e) ? -1 : 0;
}

/* X: sequence x batch x input (layout 0). Y: sequence x directions x batch x hidden; then the last
 * states. */
int infer_rnn(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *in = node_in(x->g, n, 0), *r = node_in(x->g, n, 2);
	int64_t hidden, dirs;
	struct shape y, h;

	if (!in || !r)
		return infer_bad(x, n, e, "wants data and two weights");
	if (in->shape.rank != 3 || r->shape.rank != 3)
		return in->shape.rank < 0 || r->shape.rank < 0
			       ? 0
			       : infer_bad(x, n, e, "wants three-dimensional inputs");
	hidden = r->shape.dim[2];
	dirs = r->shape.dim[0];
	if (node_int(n, "layout", 0)) {
		y = (struct shape){4, {in->shape.dim[0], in->shape.dim[1], dirs, hidden}};
		h = (struct shape){3, {in->shape.dim[0], dirs, hidden}};
	} else {
		y = (struct shape){4, {in->shape.dim[0], dirs, in->shape.dim[1], hidden}};
		h = (struct shape){3, {dirs, in->shape.dim[1], hidden}};
	}
	return infer_set(x, n, 0, &y, e) || infer_set(x, n, 1, &h, e) || infer_set(x, n, 2, &h, e)
		       ? -1
		       : 0;
}

/* Queries, keys and values: batch x steps x heads and their elements. The state is a matrix for
 * each head of the values. */
int infer_linear_attention(struct infer *x, const struct graph_node *n, struct err *e)
{
	const struct value *q = node_in(x->g, n, 0), *v = node_in(x->g, n, 2);
	int64_t heads = node_int(n, "q_num_heads", 0), own = node_int(n, "kv_num_heads", heads);
	struct shape out, state;

	if (!q || !v || heads < 1 || own < 1)
		return infer_bad(x, n, e, "wants queries, keys and values, and numbers of heads");
	if (q->shape.rank != 3 || v->shape.rank != 3)
		return 0;
	out = q->shape;
	out.dim[2] = v->shape.dim[2] < 0 ? DIM_UNKNOWN : v->shape.dim[2] / own * heads;
	state = (struct shape){4, {q->shape.dim[0], own, q->shape.dim[2], v->shape.dim[2]}};
	if (state.dim[2] > 0)
		state.dim[2] /= heads;
	if (state.dim[3] > 0)
		state.dim[3] /= own;
	return infer_set(x, n, 0, &out, e) || infer_set(x, n, 1, &state, e) ? -1 : 0;
}
