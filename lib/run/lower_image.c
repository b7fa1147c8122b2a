/* Images: where they are, and Resize. */
#include <math.h>
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/resize.h"

/* ---- places ---- */

static int is_image(const struct place *p)
{
	int64_t pixel = p->stride[3];

	return p->rank == 4 && p->stride[1] == 1 && pixel >= p->dim[1] &&
	       p->stride[2] == pixel * p->dim[3] &&
	       (p->dim[0] == 1 || p->stride[0] == p->stride[2] * p->dim[2]);
}

/* What has one dimension of space as an image of one row. */
static void one_row(struct place *p)
{
	if (p->rank != 3)
		return;
	p->rank = 4;
	p->dim[3] = p->dim[2];
	p->stride[3] = p->stride[2];
	p->stride[2] *= p->dim[2];
	p->dim[2] = 1;
}

int lower_get_image(struct lowering *l, int value, struct place *out, struct err *e)
{
	int order[PLACE_RANK];

	if (lower_get(l, value, out, e))
		return -1;
	one_row(out);
	if (out->rank == 4 && is_image(out))
		return 0;
	order_channels_last(out->rank, order);
	lower_dense(l, out, order, l->g->value[value]->name, out);
	return 0;
}

int lower_new_image(struct lowering *l, int value, struct place *out, struct err *e)
{
	int order[PLACE_RANK];

	order_channels_last(l->g->value[value]->shape.rank, order);
	if (lower_new(l, value, order, out, e))
		return -1;
	one_row(out);
	order_channels_last(4, order);
	if (!is_image(out)) {
		place_dense(out, 4, out->dim, order);
		lower_room(l, out);
	}
	return 0;
}

/* ---- Resize ---- */

enum coordinates { HALF_PIXEL, PYTORCH_HALF_PIXEL, ALIGN_CORNERS, ASYMMETRIC, COORDINATES };
enum rounding { ROUND_PREFER_FLOOR, ROUND_PREFER_CEIL, ROUND_FLOOR, ROUND_CEIL, ROUNDINGS };

struct resizing {
	enum coordinates coordinates;
	enum rounding rounding;
	int is_linear;
};

static int find(const char *const *names, int n, const char *name)
{
	int i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* -1: in a way that is not computed here. */
static int read_resizing(const struct lowering *l, const struct graph_node *n, struct resizing *r)
{
	static const char *const coordinates[] = {"half_pixel", "pytorch_half_pixel",
						  "align_corners", "asymmetric"};
	static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
						"ceil"};
	const char *mode = node_str(n, "mode", "nearest");
	/* Before operator set 11 there was one way. */
	const int old = l->opset < 11 || node_is(n, "Upsample");
	const char *from =
		old ? "asymmetric" : node_str(n, "coordinate_transformation_mode", "half_pixel");
	const char *to = old ? "floor" : node_str(n, "nearest_mode", "round_prefer_floor");

	r->is_linear = !strcmp(mode, "linear");
	r->coordinates = (enum coordinates)find(coordinates, COORDINATES, from);
	r->rounding = (enum rounding)find(roundings, ROUNDINGS, to);
	return (r->is_linear || !strcmp(mode, "nearest")) && r->coordinates < COORDINATES &&
			       r->rounding < ROUNDINGS && !node_int(n, "antialias", 0) &&
			       !node_int(n, "exclude_outside", 0)
		       ? 0
		       : -1;
}

/* Where output pixel o of `out` lies among `in` input pixels. In single precision, as onnxruntime
 * counts: which pixel is the nearest one depends on it. */
static float coordinate(const struct resizing *r, int64_t o, int64_t in, int64_t out, float scale)
{
	switch (r->coordinates) {
	case ALIGN_CORNERS:
		return out > 1 ? (float)o * (float)(in - 1) / (float)(out - 1) : 0;
	case ASYMMETRIC:
		return (float)o / scale;
	case PYTORCH_HALF_PIXEL:
		return out > 1 ? ((float)o + 0.5F) / scale - 0.5F : 0;
	default:
		return ((float)o + 0.5F) / scale - 0.5F;
	}
}

static float rounded(const struct resizing *r, float x)
{
	switch (r->rounding) {
	case ROUND_PREFER_FLOOR:
		return ceilf(x - 0.5F);
	case ROUND_PREFER_CEIL:
		return floorf(x + 0.5F);
	case ROUND_FLOOR:
		return floorf(x);
	default:
		return ceilf(x);
	}
}

static void make_axis(const struct resizing *r, int64_t in, int64_t out, double scale,
		      struct arena *a, struct resize_axis *axis)
{
	int64_t *low = arena_array(a, int64_t, out), *high = arena_array(a, int64_t, out);
	float *part = arena_array(a, float, out);

	for (int64_t o = 0; o < out; o++) {
		float x = coordinate(r, o, in, out, (float)scale);

		if (!r->is_linear)
			x = rounded(r, x);
		x = fminf(fmaxf(x, 0), (float)(in - 1));
		low[o] = (int64_t)x;
		high[o] = low[o] + 1 < in ? low[o] + 1 : low[o];
		part[o] = x - (float)low[o];
	}
	*axis = (struct resize_axis){in, out, low, high, part};
}

/* The factor of a dimension, by which the coordinates go: the one given, or that of the sizes. 0:
 * it is not known before the run. */
static double factor_of(const struct lowering *l, const struct graph_node *n, int dim, int64_t in,
			int64_t out)
{
	const struct attr *axes = node_attr(n, "axes");
	int count = axes ? axes->nints : 4;
	double factor;

	for (int i = 0; i < count; i++) {
		if ((axes ? infer_axis(axes->ints[i], 4) : i) != dim)
			continue;
		if (infer_resize_factor(l->g, n, l->opset, count, i, &factor))
			return factor;
		return node_in(l->g, n, 3) ? (double)out / (double)in : 0;
	}
	return 1;
}

int lower_resize(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct resize *r = arena_new(l->p->a, struct resize);
	struct resizing how;
	struct place from, to;
	struct place operand[2];
	double down, across;

	if (l->g->value[n->in[0]]->shape.rank != 4 || read_resizing(l, n, &how))
		return lower_bad(l, n, e, "resizes in a way that is not computed here");
	if (lower_get_image(l, n->in[0], &from, e) || lower_new_image(l, n->out[0], &to, e))
		return -1;
	if (from.dim[0] != to.dim[0] || from.dim[1] != to.dim[1])
		return lower_bad(l, n, e, "resizes more than height and width");
	down = factor_of(l, n, 2, from.dim[2], to.dim[2]);
	across = factor_of(l, n, 3, from.dim[3], to.dim[3]);
	if (down <= 0 || across <= 0)
		return lower_bad(l, n, e, "has factors that are not known before the run");
	make_axis(&how, from.dim[2], to.dim[2], down, l->p->a, &r->h);
	make_axis(&how, from.dim[3], to.dim[3], across, l->p->a, &r->w);
	r->images = from.dim[0];
	r->channels = from.dim[1];
	r->in_pixel = from.stride[3];
	r->out_pixel = to.stride[3];
	operand[0] = from;
	operand[1] = to;
	lower_put(l, n->out[0], &to);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){resize_run, r, NULL},
		   operand, 2);
	return 0;
}
