#include "lib/run/unfold_tables.h"

#include <math.h>
#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/graph/formula.h"
#include "lib/extract/graph/infer.h"
#include "lib/run/transform.h"

#define TABLES_MOST ((int64_t)1 << 26) /* elements, of all of them */

/* A table for a node. Equal ones have the same name, which says all that their elements follow
 * from, and are one constant. */
struct table {
	const char *name;
	struct shape shape;
	int made;  /* the constant */
	float *to; /* its elements, which the caller writes; NULL: they are there already */
};

/* Returns the elements of a shape, or one more than there may be. */
static int64_t elements(const struct shape *s)
{
	int64_t n = 1;

	for (int i = 0; i < s->rank; i++)
		if (__builtin_mul_overflow(n, s->dim[i], &n) || n > TABLES_MOST)
			return TABLES_MOST + 1;
	return n;
}

/* Makes the constant, if there is none yet. -1: tables have too many elements, or there is no
 * memory. */
static int begin(struct build *b, const struct graph_node *n, struct table *t, int64_t *all,
		 struct err *e)
{
	const int64_t size = elements(&t->shape);
	struct value *v;

	t->to = NULL;
	t->made = graph_place(b->g, t->name);
	if (t->made >= 0 && b->g->value[t->made]->is_fixed)
		return 0;
	if (size > TABLES_MOST - *all)
		return err_set(e,
			       "the node %s (%s) multiplies by a table that is too large: all "
			       "tables together may have %lld numbers",
			       node_label(b->g, n), n->type, (long long)TABLES_MOST);
	*all += size;
	t->made = build_parameter(b, t->name, 0);
	v = b->g->value[t->made];
	v->shape = t->shape;
	v->is_fixed = 1;
	t->to = value_room(v, (size_t)size * sizeof *t->to);
	return t->to ? 0 : err_sys(e, "there is no memory for a table");
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
		       int64_t *all, struct err *e)
{
	const struct value *out = node_out(b->g, n, 0);
	const int64_t size = out->shape.dim[0];
	const int64_t turn = node_int(n, "periodic", 1) || size == 1 ? size : size - 1;
	struct table t = {.shape = out->shape};

	t.name =
		arena_printf(b->a, "table/%s/%lld/%lld", n->type, (long long)size, (long long)turn);
	if (begin(b, n, &t, all, e))
		return -1;
	for (int64_t i = 0; t.to && i < size; i++) {
		const double at = 2 * M_PI * (double)i / (double)turn;

		t.to[i] = (float)(factor[0] - factor[1] * cos(at) + factor[2] * cos(2 * at));
	}
	formula_of_node(b, n, "$0 = Cast(@%d) to=%d", t.made, out->elem);
	return 0;
}

/* ---- transforms ---- */

/* Returns the axis that a DFT is along, or -1. */
static int describe(const struct graph *g, const struct graph_node *n, int64_t opset,
		    struct transform *t)
{
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);
	const int one_sided = node_int(n, "onesided", 0) != 0, last = in->shape.rank - 1;
	int64_t at = node_int(n, "axis", opset < 20 ? 1 : -2);
	const int told = infer_one(g, n, 2, &at);
	const int axis = infer_axis(at, last + 1);

	if (told < 0 || axis < 0 || axis == last || out->shape.rank != in->shape.rank)
		return -1;
	*t = (struct transform){.from = in->shape.dim[axis],
				.to = out->shape.dim[axis],
				.parts = in->shape.dim[last],
				.parts_to = out->shape.dim[last],
				.is_inverse = node_int(n, "inverse", 0) != 0};
	t->is_halved = one_sided && t->is_inverse;
	t->length = t->is_halved ? t->to : t->from;
	if (infer_one(g, n, 1, &t->length) < 0)
		return -1;
	return t->length > 0 && t->parts >= 1 && t->parts <= 2 &&
			       t->parts_to == (t->is_halved ? 1 : 2)
		       ? axis
		       : -1;
}

/* Rows are the parts of the numbers that come in, columns of those that go out. */
static void fill_dft(struct transform *t, float *to)
{
	transform_begin(t);
	for (int64_t j = 0; j < t->from; j++)
		for (int64_t p = 0; p < t->parts; p++)
			for (int64_t k = 0; k < t->to; k++)
				for (int64_t q = 0; q < t->parts_to; q++)
					*to++ = (float)transform_factor(t, j, p, k, q);
	transform_end(t);
}

static int dft_table(struct build *b, const struct graph_node *n, struct transform *t,
		     struct table *made, int64_t *all, struct err *e)
{
	*made = (struct table){.shape = {2, {t->from * t->parts, t->to * t->parts_to}}};
	made->name =
		arena_printf(b->a, "table/DFT/%lld/%lld/%lld/%lld/%lld/%d/%d", (long long)t->from,
			     (long long)t->to, (long long)t->length, (long long)t->parts,
			     (long long)t->parts_to, t->is_inverse, t->is_halved);
	if (begin(b, n, made, all, e))
		return -1;
	if (made->to)
		fill_dft(t, made->to);
	return 0;
}

static int make_dft(struct build *b, const struct graph_node *n, int64_t opset, int64_t *all,
		    struct err *e)
{
	const struct shape *in = &node_in(b->g, n, 0)->shape;
	struct transform t;
	const int rank = in->rank, axis = describe(b->g, n, opset, &t);
	int64_t order[GRAPH_MAX_RANK], back[GRAPH_MAX_RANK], dim[GRAPH_MAX_RANK], rows = 1;
	struct table made;
	int k = 0;

	if (dft_table(b, n, &t, &made, all, e))
		return -1;
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
	formula_of_node(b, n, "axis_last = Transpose(0)");
	build_ints(b, build_last(b), "perm", order, rank);
	formula_of_node(b, n,
			"rows = Reshape(@%d) shape=[%lld,%lld]; product = MatMul(rows @%d); "
			"sizes = Reshape(product @%d); $0 = Transpose(sizes)",
			build_last(b)->out[0], (long long)rows, (long long)made.shape.dim[0],
			made.made, build_integers(b, dim, rank));
	build_ints(b, build_last(b), "perm", back, rank);
	return 0;
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

/* The weights are numbers x parts x elements of a frame, by those of a window that is known. */
static void fill_stft(struct transform *t, const struct value *window, float *to)
{
	transform_begin(t);
	for (int64_t k = 0; k < 2 * t->to; k++)
		for (int64_t p = 0; p < t->parts; p++)
			for (int64_t j = 0; j < t->from; j++)
				*to++ = (float)((window ? element(window, j) : 1) *
						transform_factor(t, j, p, k / 2, k % 2));
	transform_end(t);
}

static int stft_table(struct build *b, const struct graph_node *n, struct transform *t,
		      const struct value *window, struct table *made, int64_t *all, struct err *e)
{
	*made = (struct table){.shape = {3, {2 * t->to, t->parts, t->from}}};
	made->name = arena_printf(b->a, "table/STFT/%lld/%lld/%lld/%d", (long long)t->from,
				  (long long)t->to, (long long)t->parts, window ? n->in[2] : -1);
	if (begin(b, n, made, all, e))
		return -1;
	if (made->to)
		fill_stft(t, window, made->to);
	return 0;
}

static int make_stft(struct build *b, const struct graph_node *n, int64_t *all, struct err *e)
{
	const struct shape *in = &node_in(b->g, n, 0)->shape, *out = &node_out(b->g, n, 0)->shape;
	const struct value *window = node_in(b->g, n, 2);
	const int64_t parts = in->rank == 3 ? in->dim[2] : 1;
	const int is_known = window && is_element_known(window);
	struct transform t = {.parts = parts, .parts_to = 2, .to = out->dim[2]};
	struct table table;
	int64_t step = 1;
	int made;

	infer_one(b->g, n, 1, &step);
	t.length = t.from = infer_frame(b->g, n);
	if (stft_table(b, n, &t, is_known ? window : NULL, &table, all, e))
		return -1;
	made = table.made;
	if (window && !is_known)
		made = formula_of_node(b, n, "weights = Mul(@%d 2)", made);
	formula_of_node(b, n,
			"signal = Reshape(0) shape=[%lld,%lld,%lld]; "
			"channels = Transpose(signal) perm=[0,2,1]; "
			"numbers = Conv(channels @%d) strides=[%lld]; "
			"frames = Transpose(numbers) perm=[0,2,1]; $0 = Reshape(frames @%d)",
			(long long)in->dim[0], (long long)in->dim[1], (long long)parts, made,
			(long long)step, build_integers(b, out->dim, 4));
	return 0;
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
static void fill_grid(const struct shape *out, int is_corner, const struct table *t)
{
	const int rank = out->rank - 2;
	const int64_t points = t->shape.dim[1];
	int64_t stride = 1;

	for (int i = 0; i <= rank; i++) {
		const int64_t size = i < rank ? out->dim[rank - i] : 1;

		for (int64_t k = 0; k < points; k++)
			t->to[i * points + k] =
				i < rank ? coordinate(k / stride % size, size, is_corner) : 1;
		stride *= size;
	}
}

static int make_grid(struct build *b, const struct graph_node *n, int64_t *all, struct err *e)
{
	const struct shape *out = &node_out(b->g, n, 0)->shape;
	const int rank = out->rank - 2, is_corner = node_int(n, "align_corners", 0) != 0;
	struct table t = {.shape = {2, {rank + 1, 1}}};

	t.name = arena_printf(b->a, "table/AffineGrid/%d", is_corner);
	for (int i = 1; i <= rank; i++) {
		t.shape.dim[1] *= out->dim[i];
		t.name = arena_printf(b->a, "%s/%lld", t.name, (long long)out->dim[i]);
	}
	if (begin(b, n, &t, all, e))
		return -1;
	if (t.to)
		fill_grid(out, is_corner, &t);
	formula_of_node(b, n,
			"points = MatMul(0 @%d); turned = Transpose(points) perm=[0,2,1]; "
			"$0 = Reshape(turned @%d)",
			t.made, build_integers(b, out->dim, out->rank));
	return 0;
}

/* ---- steps of a cache ---- */

/* Places before the first one, which only a run can find, become places behind the last one:
 * indices of ScatterElements that lie outside. Indices before the first one would count from the
 * end. */
static int refuse_before(struct build *b, const struct graph_node *n, int at, int64_t size)
{
	const int64_t zero = 0;

	return formula_of_node(b, n, "is_before = Less(@%d @%d); places = Where(is_before @%d @%d)",
			       at, build_integers(b, &zero, 1), build_integers(b, &size, 1), at);
}

/* Item i of the update goes to where the steps of its sequence begin, and i further, which may lead
 * around the end. */
static int make_scatter(struct build *b, const struct graph_node *n)
{
	const struct shape *in = &node_in(b->g, n, 0)->shape, *more = &node_in(b->g, n, 1)->shape;
	const int axis = infer_axis(node_int(n, "axis", -2), in->rank);
	const int64_t steps = more->dim[axis];
	int64_t *item = arena_array(b->a, int64_t, steps), along[GRAPH_MAX_RANK],
		first[GRAPH_MAX_RANK];
	int at;

	for (int i = 0; i < in->rank; i++) {
		along[i] = i == axis ? steps : 1;
		first[i] = i ? 1 : in->dim[0];
	}
	for (int64_t i = 0; i < steps; i++)
		item[i] = i;
	at = formula_of_node(b, n, "items = Reshape(@%d @%d)", build_integers(b, item, (int)steps),
			     build_integers(b, along, in->rank));
	if (node_in(b->g, n, 2))
		at = formula_of_node(b, n, "first = Reshape(2 @%d); places = Add(@%d first)",
				     build_integers(b, first, in->rank), at);
	if (!strcmp(node_str(n, "mode", "linear"), "circular"))
		at = formula_of_node(b, n, "places = Mod(@%d @%d)", at,
				     build_integers(b, &in->dim[axis], 1));
	else if (node_in(b->g, n, 2))
		at = refuse_before(b, n, at, in->dim[axis]);
	formula_of_node(b, n, "places = Expand(@%d @%d); $0 = ScatterElements(0 places 1) axis=%d",
			at, build_integers(b, more->dim, more->rank), axis);
	return 0;
}

/* A bias that is computed is added behind a convolution whose weights are constant. */
static int make_biased(struct build *b, const struct graph_node *n)
{
	const struct shape *out = &node_out(b->g, n, 0)->shape;
	int64_t channels[GRAPH_MAX_RANK];
	int sums;

	for (int i = 0; i < out->rank; i++)
		channels[i] = i == 1 ? out->dim[1] : 1;
	sums = formula_of_node(b, n, "sums = %s(0 1) *", n->type);
	build_last(b)->name = n->name;
	formula_of_node(b, n, "bias = Reshape(2 @%d); $0 = Add(@%d bias)",
			build_integers(b, channels, out->rank), sums);
	return 0;
}

/* ---- which nodes ---- */

static int has_biased(const struct graph *g, const struct graph_node *n)
{
	const struct value *w = node_in(g, n, 1), *bias = node_in(g, n, 2);
	const struct shape *out = &node_out(g, n, 0)->shape;

	return w && w->is_const && bias && !bias->is_const && bias->shape.rank == 1 &&
	       out->rank > 2 && bias->shape.dim[0] == out->dim[1];
}

static int has_dft(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	struct transform t;

	return describe(g, n, opset, &t) >= 0;
}

static int has_stft(const struct graph *g, const struct graph_node *n)
{
	const struct value *in = node_in(g, n, 0), *window = node_in(g, n, 2);
	const int64_t frame = infer_frame(g, n), to = node_out(g, n, 0)->shape.dim[2];
	int64_t step;

	if (infer_one(g, n, 1, &step) != 1 || step < 1)
		return 0;
	if ((in->shape.rank != 2 && in->shape.rank != 3) ||
	    (in->shape.rank == 3 && (in->shape.dim[2] < 1 || in->shape.dim[2] > 2)))
		return 0;
	if (window && (window->shape.rank != 1 || window->shape.dim[0] != frame))
		return 0;
	return frame > 0 && to > 0;
}

/* Implementations disagree on where the corners of one pixel are. */
static int has_grid(const struct graph *g, const struct graph_node *n)
{
	const int is_corner = node_int(n, "align_corners", 0) != 0;
	const struct shape *in = &node_in(g, n, 0)->shape, *out = &node_out(g, n, 0)->shape;

	for (int i = 1; i < out->rank - 1; i++)
		if (is_corner && out->dim[i] < 2)
			return 0;
	return (out->rank == 4 || out->rank == 5) && in->rank == 3 && in->dim[0] == out->dim[0] &&
	       in->dim[1] == out->rank - 2 && in->dim[2] == out->rank - 1 &&
	       out->dim[out->rank - 1] == out->rank - 2;
}

/* Steps go along the axis from where a sequence begins, which may be known: not before the first
 * place, and around the end by `mode` alone. */
static int has_beginnings(const struct graph *g, const struct graph_node *n)
{
	const char *mode = node_str(n, "mode", "linear");
	const int64_t *at;
	int count;

	if (strcmp(mode, "linear") != 0)
		return !strcmp(mode, "circular");
	if (infer_list(g, n, NULL, 2, &count, &at) == 1)
		for (int i = 0; i < count; i++)
			if (at[i] < 0 && at[i] != INT_UNKNOWN)
				return 0;
	return 1;
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
	return more->shape.dim[axis] <= KEEP_INTS && has_beginnings(g, n);
}

int unfold_has_table(const struct graph *g, const struct graph_node *n, int64_t opset)
{
	const struct value *in = node_in(g, n, 0), *out = node_out(g, n, 0);
	double window[3];

	if (!in || !out || !shape_known(&in->shape) || !shape_known(&out->shape) ||
	    !shape_count(&out->shape) || !value_is_read(out))
		return 0;
	if (is_window(n, window))
		return out->shape.rank == 1;
	return (node_is(n, OP_DFT) && in->shape.rank >= 2 && has_dft(g, n, opset)) ||
	       (node_is(n, OP_STFT) && has_stft(g, n)) ||
	       (node_is(n, OP_AffineGrid) && has_grid(g, n)) ||
	       ((node_is(n, OP_Conv) || node_is(n, OP_ConvTranspose)) && has_biased(g, n)) ||
	       (node_is(n, OP_TensorScatter) && has_scatter(g, n));
}

int unfold_table(struct build *b, const struct graph_node *n, int64_t opset, int64_t *all,
		 struct err *e)
{
	double window[3];

	if (is_window(n, window))
		return make_window(b, n, window, all, e);
	if (node_is(n, OP_DFT))
		return make_dft(b, n, opset, all, e);
	if (node_is(n, OP_TensorScatter))
		return make_scatter(b, n);
	if (node_is(n, OP_Conv) || node_is(n, OP_ConvTranspose))
		return make_biased(b, n);
	return node_is(n, OP_STFT) ? make_stft(b, n, all, e) : make_grid(b, n, all, e);
}
