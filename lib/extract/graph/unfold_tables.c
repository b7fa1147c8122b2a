#include "lib/extract/graph/unfold_tables.h"

#include <math.h>
#include <string.h>

#include "lib/extract/graph/copy.h"
#include "lib/extract/graph/element.h"
#include "lib/extract/graph/infer.h"

#define TABLE_MOST ((int64_t)1 << 26) /* elements */

/* Makes a node of one input, or two, and the value that it makes. */
static int make(struct build *b, const struct graph_node *n, const char *type, int first,
		int second)
{
	const int in[] = {first, second};
	const int out =
		build_value(b, arena_printf(b->a, COPY_NAME "/%s", node_label(b->g, n), type));

	build_node(b, type, in, second < 0 ? 1 : 2, &out, 1);
	return out;
}

static int reshape(struct build *b, const struct graph_node *n, int from, const int64_t *dim,
		   int rank)
{
	return make(b, n, "Reshape", from, build_integers(b, dim, rank));
}

static int transpose(struct build *b, const struct graph_node *n, int from, const int64_t *order,
		     int rank)
{
	const int to = make(b, n, "Transpose", from, -1);

	build_ints(b, build_last(b), "perm", order, rank);
	return to;
}

/* The last node makes what the operator makes. */
static void finish(struct build *b, const struct graph_node *n, int from)
{
	build_node(b, "Identity", &from, 1, n->out, 1);
}

/* Makes a constant, whose elements the caller writes. NULL: there is no memory. */
static float *table(struct build *b, const struct shape *s, int *made, struct err *e)
{
	struct value *v;
	float *to;

	*made = build_parameter(b, "table", 0);
	v = b->g->value[*made];
	v->shape = *s;
	v->is_fixed = 1;
	to = value_room(v, (size_t)shape_count(s) * sizeof *to);
	if (!to)
		err_sys(e, "there is no memory for a table");
	return to;
}

/* ---- windows ---- */

/* Element i of a window is a sum of cosines of 0, 1 and 2 turns. */
static int is_window(const struct graph_node *n, double factor[3])
{
	const double hann[] = {0.5, 0.5, 0}, hamming[] = {25.0 / 46, 21.0 / 46, 0},
		     blackman[] = {0.42, 0.5, 0.08};
	const double *from = node_is(n, OP_HannWindow)	     ? hann
			     : node_is(n, OP_HammingWindow)  ? hamming
			     : node_is(n, OP_BlackmanWindow) ? blackman
							     : NULL;

	for (int i = 0; from && i < 3; i++)
		factor[i] = from[i];
	return from != NULL;
}

static int make_window(struct build *b, const struct graph_node *n, const double factor[3],
		       struct err *e)
{
	const struct value *out = node_out(b->g, n, 0);
	const int64_t size = out->shape.dim[0];
	const int64_t turn = node_int(n, "periodic", 1) || size == 1 ? size : size - 1;
	int made;
	float *to = table(b, &out->shape, &made, e);

	for (int64_t i = 0; to && i < size; i++) {
		const double at = 2 * M_PI * (double)i / (double)turn;

		to[i] = (float)(factor[0] - factor[1] * cos(at) + factor[2] * cos(2 * at));
	}
	build_int(b, build_node(b, "Cast", &made, 1, n->out, 1), "to", out->elem);
	return to ? 0 : -1;
}

/* ---- transforms ---- */

/* A transform of `from` numbers of `parts` parts (1: they are real) to `to` ones. */
struct transform {
	int64_t from, to, length;
	int64_t parts, parts_to;
	int is_inverse, is_halved; /* an inverse one, of the first half of its numbers */
};

/* What number j of part p is multiplied by in number k of part q. */
static double factor(const struct transform *t, int64_t j, int64_t p, int64_t k, int64_t q)
{
	const double turn = 2 * M_PI / (double)t->length;
	const double at = turn * (double)(j * k % t->length) * (t->is_inverse ? 1 : -1);
	double scale = t->is_inverse ? 1.0 / (double)t->length : 1;

	if (j >= t->length || (t->is_halved && 2 * j > t->length))
		return 0;
	if (t->is_halved && j > 0 && 2 * j < t->length)
		scale *= 2;
	return scale * (p == q ? cos(at) : p < q ? sin(at) : -sin(at));
}

/* Returns the axis that a DFT is along, or -1. */
static int describe(const struct graph *g, const struct graph_node *n, int64_t opset,
		    struct transform *t)
{
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);
	const int one_sided = node_int(n, "onesided", 0) != 0, last = in->shape.rank - 1;
	const int64_t *list;
	int count, axis = (int)node_int(n, "axis", opset < 20 ? 1 : -2);

	if (infer_list(g, n, NULL, 2, &count, &list) == 1 && count == 1)
		axis = infer_axis(list[0], last + 1);
	else
		axis = infer_axis(axis, last + 1);
	if (axis < 0 || axis == last)
		return -1;
	*t = (struct transform){.from = in->shape.dim[axis],
				.to = out->shape.dim[axis],
				.parts = in->shape.dim[last],
				.parts_to = out->shape.dim[last],
				.is_inverse = node_int(n, "inverse", 0) != 0};
	t->is_halved = one_sided && t->is_inverse;
	t->length = t->is_halved ? t->to : t->from;
	if (infer_list(g, n, NULL, 1, &count, &list) == 1 && count == 1)
		t->length = list[0];
	return t->length > 0 && t->parts >= 1 && t->parts <= 2 ? axis : -1;
}

static int make_dft(struct build *b, const struct graph_node *n, int64_t opset, struct err *e)
{
	const struct shape *in = &node_in(b->g, n, 0)->shape;
	struct transform t;
	const int rank = in->rank, axis = describe(b->g, n, opset, &t);
	int64_t order[GRAPH_MAX_RANK], back[GRAPH_MAX_RANK], dim[GRAPH_MAX_RANK], rows = 1;
	int made, at, k = 0;
	const struct shape s = {2, {t.from * t.parts, t.to * t.parts_to}};
	float *to = table(b, &s, &made, e);

	for (int64_t i = 0; to && i < shape_count(&s); i++)
		to[i] = (float)factor(&t, i / s.dim[1] / t.parts, i / s.dim[1] % t.parts,
				      i % s.dim[1] / t.parts_to, i % s.dim[1] % t.parts_to);
	for (int i = 0; i < rank - 1; i++)
		if (i != axis) {
			rows *= dim[k] = in->dim[i];
			order[k++] = i;
		}
	order[k] = axis;
	dim[k++] = t.to;
	order[k] = rank - 1;
	dim[k++] = t.parts_to;
	for (int i = 0; i < rank; i++)
		back[order[i]] = i;
	at = transpose(b, n, n->in[0], order, rank);
	at = reshape(b, n, at, (const int64_t[]){rows, s.dim[0]}, 2);
	at = make(b, n, "MatMul", at, made);
	finish(b, n, transpose(b, n, reshape(b, n, at, dim, rank), back, rank));
	return to ? 0 : -1;
}

/* ---- transforms of frames ---- */

static double element(const struct value *v, int64_t i)
{
	return element_number(v->elem, v->kept ? v->kept[i] : element_at(v->elem, v->data, i));
}

static int is_element_known(const struct value *v)
{
	return elem_is_real(v->elem) && v->producer < 0 && (v->kept || v->data);
}

/* The weights are numbers x parts x elements of a frame; a window that is known is part of them. */
static int make_stft(struct build *b, const struct graph_node *n, struct err *e)
{
	const struct shape *in = &node_in(b->g, n, 0)->shape, *out = &node_out(b->g, n, 0)->shape;
	const struct value *window = node_in(b->g, n, 2);
	const int64_t parts = in->rank == 3 ? in->dim[2] : 1, steps = out->dim[1];
	const int is_known = window && is_element_known(window);
	struct transform t = {.parts = parts, .parts_to = 2, .to = out->dim[2]};
	const int64_t *step;
	struct shape s;
	float *to;
	int made, at, count;

	infer_list(b->g, n, NULL, 1, &count, &step);
	t.length = t.from = infer_frame(b->g, n);
	s = (struct shape){3, {2 * t.to, parts, t.from}};
	to = table(b, &s, &made, e);
	for (int64_t i = 0; to && i < shape_count(&s); i++) {
		const int64_t j = i % t.from, p = i / t.from % parts, k = i / t.from / parts;

		to[i] = (float)((is_known ? element(window, j) : 1) *
				factor(&t, j, p, k / 2, k % 2));
	}
	if (window && !is_known)
		made = make(b, n, "Mul", made, n->in[2]);
	at = reshape(b, n, n->in[0], (const int64_t[]){in->dim[0], in->dim[1], parts}, 3);
	at = transpose(b, n, at, (const int64_t[]){0, 2, 1}, 3);
	at = make(b, n, "Conv", at, made);
	build_ints(b, build_last(b), "strides", step, 1);
	at = transpose(b, n, at, (const int64_t[]){0, 2, 1}, 3);
	finish(b, n, reshape(b, n, at, (const int64_t[]){in->dim[0], steps, t.to, 2}, 4));
	return to ? 0 : -1;
}

/* ---- grids ---- */

/* Where pixel i of a row is, from -1 to 1: its middle, or corners are pixels' middles. */
static float coordinate(int64_t i, int64_t size, int is_corner)
{
	const double at =
		is_corner ? (double)i / (double)(size - 1) : ((double)i + 0.5) / (double)size;

	return (float)(2 * at - 1);
}

/* Points of an image of that size, the last dimension first, and a 1 behind each. */
static int make_grid(struct build *b, const struct graph_node *n, struct err *e)
{
	const struct shape *out = &node_out(b->g, n, 0)->shape;
	const int rank = out->rank - 2, is_corner = node_int(n, "align_corners", 0) != 0;
	int64_t points = 1, stride = 1;
	int made, at;
	float *to;

	for (int i = 1; i <= rank; i++)
		points *= out->dim[i];
	to = table(b, &(struct shape){2, {rank + 1, points}}, &made, e);
	for (int i = 0; to && i <= rank; i++) {
		const int64_t size = i < rank ? out->dim[rank - i] : 1;

		for (int64_t k = 0; k < points; k++)
			to[i * points + k] =
				i < rank ? coordinate(k / stride % size, size, is_corner) : 1;
		stride *= size;
	}
	at = make(b, n, "MatMul", n->in[0], made);
	at = transpose(b, n, at, (const int64_t[]){0, 2, 1}, 3);
	finish(b, n, reshape(b, n, at, out->dim, out->rank));
	return to ? 0 : -1;
}

/* ---- steps of a cache ---- */

/* Item i of the update goes to where the steps of its sequence begin, and i further, which may lead
 * around the end. */
static int make_scatter(struct build *b, const struct graph_node *n)
{
	const struct shape *in = &node_in(b->g, n, 0)->shape, *more = &node_in(b->g, n, 1)->shape;
	const int axis = infer_axis(node_int(n, "axis", -2), in->rank);
	const int64_t steps = more->dim[axis];
	int64_t *item = arena_array(b->a, int64_t, steps), along[GRAPH_MAX_RANK],
		first[GRAPH_MAX_RANK];
	int at, to[3];

	for (int i = 0; i < in->rank; i++) {
		along[i] = i == axis ? steps : 1;
		first[i] = i ? 1 : in->dim[0];
	}
	for (int64_t i = 0; i < steps; i++)
		item[i] = i;
	at = reshape(b, n, build_integers(b, item, (int)steps), along, in->rank);
	if (node_in(b->g, n, 2))
		at = make(b, n, "Add", at, reshape(b, n, n->in[2], first, in->rank));
	if (!strcmp(node_str(n, "mode", "linear"), "circular"))
		at = make(b, n, "Mod", at, build_integers(b, &in->dim[axis], 1));
	to[0] = n->in[0];
	to[1] = make(b, n, "Expand", at, build_integers(b, more->dim, more->rank));
	to[2] = n->in[1];
	build_int(b, build_node(b, "ScatterElements", to, 3, n->out, 1), "axis", axis);
	return 0;
}

/* ---- which nodes ---- */

static int is_small(int64_t a, int64_t b)
{
	int64_t product;

	return !__builtin_mul_overflow(a, b, &product) && product > 0 && product <= TABLE_MOST;
}

static int has_dft(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	struct transform t;

	return describe(g, n, opset, &t) >= 0 && t.from <= TABLE_MOST && t.to <= TABLE_MOST &&
	       is_small(t.from * t.parts, t.to * t.parts_to);
}

static int has_stft(const struct graph *g, const struct graph_node *n)
{
	const struct value *in = node_in(g, n, 0), *window = node_in(g, n, 2);
	const int64_t frame = infer_frame(g, n), to = node_out(g, n, 0)->shape.dim[2];
	const int64_t *step;
	int count;

	if (infer_list(g, n, NULL, 1, &count, &step) != 1 || count != 1 || step[0] < 1)
		return 0;
	if ((in->shape.rank != 2 && in->shape.rank != 3) ||
	    (in->shape.rank == 3 && (in->shape.dim[2] < 1 || in->shape.dim[2] > 2)))
		return 0;
	if (window && (window->shape.rank != 1 || window->shape.dim[0] != frame))
		return 0;
	return frame > 0 && to > 0 && to <= TABLE_MOST && is_small(frame, 4 * to);
}

/* Implementations disagree on where the corners of one pixel are. */
static int has_grid(const struct graph *g, const struct graph_node *n)
{
	const int is_corner = node_int(n, "align_corners", 0) != 0;
	const struct shape *in = &node_in(g, n, 0)->shape, *out = &node_out(g, n, 0)->shape;
	int64_t points = 1;

	for (int i = 1; i < out->rank - 1; i++)
		if (!is_small(points, out->dim[i]) || (is_corner && out->dim[i] < 2))
			return 0;
		else
			points *= out->dim[i];
	return (out->rank == 4 || out->rank == 5) && in->rank == 3 && in->dim[0] == out->dim[0] &&
	       in->dim[1] == out->rank - 2 && in->dim[2] == out->rank - 1;
}

static int has_scatter(const struct graph *g, const struct graph_node *n)
{
	const struct value *in = node_in(g, n, 0), *more = node_in(g, n, 1), *at = node_in(g, n, 2);
	const int axis = infer_axis(node_int(n, "axis", -2), in->shape.rank);

	if (axis < 1 || !more || more->shape.rank != in->shape.rank || !shape_known(&more->shape) ||
	    (at && (at->shape.rank != 1 || at->shape.dim[0] != in->shape.dim[0])))
		return 0;
	for (int i = 0; i < in->shape.rank; i++)
		if (i == axis ? more->shape.dim[i] < 1 || more->shape.dim[i] > in->shape.dim[i]
			      : more->shape.dim[i] != in->shape.dim[i])
			return 0;
	return more->shape.dim[axis] <= KEEP_INTS;
}

int unfold_has_table(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);
	double window[3];

	if (!in || !out || !shape_known(&in->shape) || !shape_known(&out->shape) ||
	    !shape_count(&out->shape))
		return 0;
	if (is_window(n, window))
		return out->shape.rank == 1 && is_small(1, out->shape.dim[0]);
	return (node_is(n, OP_DFT) && in->shape.rank >= 2 && has_dft(g, n, opset)) ||
	       (node_is(n, OP_STFT) && has_stft(g, n)) ||
	       (node_is(n, OP_AffineGrid) && has_grid(g, n)) ||
	       (node_is(n, OP_TensorScatter) && has_scatter(g, n));
}

int unfold_table(struct build *b, const struct graph_node *n, int64_t opset, struct err *e)
{
	double window[3];

	if (is_window(n, window))
		return make_window(b, n, window, e);
	if (node_is(n, OP_DFT))
		return make_dft(b, n, opset, e);
	if (node_is(n, OP_TensorScatter))
		return make_scatter(b, n);
	return node_is(n, OP_STFT) ? make_stft(b, n, e) : make_grid(b, n, e);
}
