/* ONNX's Resize and Upsample. Images by the nearest pixel or between two have a loop of their own
 * (resize.h); all else goes one dimension after the other (resample.h). */
#include <math.h>
#include <string.h>

#include "lib/run/lower.h"
#include "lib/run/resample.h"
#include "lib/run/resize.h"

enum coordinates {
	HALF_PIXEL,
	PYTORCH_HALF_PIXEL,
	ALIGN_CORNERS,
	ASYMMETRIC,
	HALF_PIXEL_SYMMETRIC,
	TF_CROP,
	TF_HALF_PIXEL,
	COORDINATES
};
/* ROUND_BY_SIZE: before operator set 11, up where the result is smaller, else down. */
enum rounding {
	ROUND_PREFER_FLOOR,
	ROUND_PREFER_CEIL,
	ROUND_FLOOR,
	ROUND_CEIL,
	ROUNDINGS,
	ROUND_BY_SIZE
};
enum mode { NEAREST, LINEAR, CUBIC, MODES };

struct resizing {
	enum coordinates coordinates;
	enum rounding rounding;
	enum mode mode;
	int antialias, exclude_outside;
	double a; /* of CUBIC */
	float fill;
};

/* One dimension: its sizes, the factor between them, and the part that TF_CROP takes. */
struct axis {
	int64_t in, out;
	float factor, start, end;
};

static int find(const char *const *names, int n, const char *name)
{
	int i = 0;

	while (i < n && strcmp(names[i], name) != 0)
		i++;
	return i;
}

/* -1: in a way that is not known. */
static int read_resizing(const struct lowering *l, const struct graph_node *n, struct resizing *r)
{
	static const char *const coordinates[] = {
		"half_pixel",		"pytorch_half_pixel", "align_corners",	     "asymmetric",
		"half_pixel_symmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"};
	static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
						"ceil"};
	static const char *const modes[] = {"nearest", "linear", "cubic"};
	/* Before operator set 11 there was one way. */
	const int old = l->opset < 11 || node_is(n, OP_Upsample);
	const char *from =
		old ? "asymmetric" : node_str(n, "coordinate_transformation_mode", "half_pixel");
	const char *to = node_str(n, "nearest_mode", "round_prefer_floor");

	*r = (struct resizing){
		.coordinates = (enum coordinates)find(coordinates, COORDINATES, from),
		.rounding = (enum rounding)find(roundings, ROUNDINGS, to),
		.mode = (enum mode)find(modes, MODES, node_str(n, "mode", "nearest")),
		.antialias = (int)node_int(n, "antialias", 0),
		.exclude_outside = (int)node_int(n, "exclude_outside", 0),
		.a = (double)node_float(n, "cubic_coeff_a", -0.75F),
		.fill = node_float(n, "extrapolation_value", 0)};
	if (r->coordinates == COORDINATES || r->rounding == ROUNDINGS || r->mode == MODES)
		return -1;
	if (old)
		r->rounding = ROUND_BY_SIZE;
	return 0;
}

/* Where output pixel o lies among the input pixels. In single precision, as onnxruntime counts:
 * which pixel is the nearest one depends on it. */
static float coordinate(const struct resizing *r, const struct axis *x, int64_t o)
{
	const float at = (float)o, last = (float)(x->in - 1);

	switch (r->coordinates) {
	case ALIGN_CORNERS:
		return x->out > 1 ? at * last / (float)(x->out - 1) : 0;
	case ASYMMETRIC:
		return at / x->factor;
	case PYTORCH_HALF_PIXEL:
		return x->out > 1 ? (at + 0.5F) / x->factor - 0.5F : 0;
	case HALF_PIXEL_SYMMETRIC:
		return (float)x->in / 2 * (1 - (float)x->out / (x->factor * (float)x->in)) +
		       (at + 0.5F) / x->factor - 0.5F;
	case TF_CROP:
		return x->start * last +
		       (x->out > 1 ? at * (x->end - x->start) * last / (float)(x->out - 1)
				   : (x->end - x->start) * last / 2);
	case TF_HALF_PIXEL:
		return (at + 0.5F) / x->factor;
	default:
		return (at + 0.5F) / x->factor - 0.5F;
	}
}

static float rounded(const struct resizing *r, float x, float factor)
{
	switch (r->rounding) {
	case ROUND_PREFER_FLOOR:
		return ceilf(x - 0.5F);
	case ROUND_PREFER_CEIL:
		return floorf(x + 0.5F);
	case ROUND_FLOOR:
		return floorf(x);
	case ROUND_BY_SIZE:
		return factor < 1 ? ceilf(x) : floorf(x);
	default:
		return ceilf(x);
	}
}

/* ---- dimensions ---- */

/* Entry of a list with a number for each dimension that is resized; -1: it is none of them. */
static int entry_of(const struct graph_node *n, int dim, int rank, int *count)
{
	const struct attr *axes = node_attr(n, "axes");

	*count = axes ? axes->nints : rank;
	for (int i = 0; i < *count; i++)
		if ((axes ? infer_axis(axes->ints[i], rank) : i) == dim)
			return i;
	return -1;
}

/* The factor is the one given, or that of the sizes. */
static int read_axis(const struct lowering *l, const struct graph_node *n, const struct resizing *r,
		     int dim, int rank, struct axis *x, struct err *e)
{
	const struct value *roi = node_in(l->g, n, 1);
	int count, i = entry_of(n, dim, rank, &count);
	double factor;

	x->factor = (float)((double)x->out / (double)x->in);
	x->start = 0;
	x->end = 1;
	if (i >= 0 && infer_resize_factor(l->g, n, l->opset, count, i, &factor)) {
		x->factor = (float)factor;
		/* The specification and onnxruntime disagree about what the corner is then. */
		if (r->coordinates == ALIGN_CORNERS && r->mode != NEAREST && x->out > 1 &&
		    fabs(factor * (double)x->in - (double)x->out) > 1e-4 * (double)x->out)
			return lower_bad(l, n, e,
					 "aligns the corners of an image whose size is no whole "
					 "number");
	} else if (i >= 0 && !node_in(l->g, n, 3)) {
		return lower_bad(l, n, e, "has factors that are not known before the run");
	}
	if (r->coordinates != TF_CROP || i < 0)
		return 0;
	if (!roi || !roi->kept || !elem_is_real(roi->elem) || shape_count(&roi->shape) != 2 * count)
		return lower_bad(l, n, e, "takes a part of the image that is not known");
	x->start = (float)roi->kept[i].f;
	x->end = (float)roi->kept[i + count].f;
	return 0;
}

/* ---- images ---- */

static void make_axis(const struct resizing *r, const struct axis *x, struct arena *a,
		      struct resize_axis *axis)
{
	int64_t *low = arena_array(a, int64_t, x->out), *high = arena_array(a, int64_t, x->out);
	float *part = arena_array(a, float, x->out);
	int is_whole = 1;

	for (int64_t o = 0; o < x->out; o++) {
		float at = coordinate(r, x, o);

		if (r->mode == NEAREST)
			at = rounded(r, at, x->factor);
		at = fminf(fmaxf(at, 0), (float)(x->in - 1));
		low[o] = (int64_t)at;
		high[o] = low[o] + 1 < x->in ? low[o] + 1 : low[o];
		part[o] = at - (float)low[o];
		is_whole &= part[o] == 0;
	}
	*axis = (struct resize_axis){x->in, x->out, low, high, part, is_whole};
}

static int resize_image(struct lowering *l, const struct graph_node *n, const struct resizing *how,
			const struct axis *axis, struct err *e)
{
	struct resize *r = arena_new(l->p->a, struct resize);
	struct place from, to;

	if (lower_get_image(l, n->in[0], &from, e) ||
	    lower_new_image(l, n->out[0], ELEM_F32, &to, e))
		return -1;
	make_axis(how, &axis[2], l->p->a, &r->h);
	make_axis(how, &axis[3], l->p->a, &r->w);
	r->images = from.dim[0];
	r->channels = from.dim[1];
	r->in_pixel = from.stride[3];
	r->out_pixel = to.stride[3];
	lower_put(l, n->out[0], &to);
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){resize_run, r, NULL},
		   (struct place[]){from, to}, 2);
	return 0;
}

/* ---- one dimension after the other ---- */

/* The weight of an input at distance x. Cubic: Keys, "Cubic convolution interpolation for digital
 * image processing", 1981, equation 15. */
static double kernel(const struct resizing *r, double x)
{
	const double a = r->a;

	x = fabs(x);
	if (r->mode == LINEAR)
		return x < 1 ? 1 - x : 0;
	if (x <= 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* The inputs around `at` and their weights, which add up to 1. Where an image becomes smaller,
 * antialiasing makes the kernel wider. */
static void make_taps(const struct resizing *r, const struct axis *x, float at, double narrow,
		      int64_t first, int64_t taps, int64_t *index, float *weight)
{
	const double base = ceil((double)at) - 1;
	double sum = 0;

	for (int64_t k = 0; k < taps; k++) {
		const int64_t i = (int64_t)base + first + k;
		const int outside = i < 0 || i >= x->in;
		double w = kernel(r, narrow * ((double)i - (double)at));

		w = outside && r->exclude_outside ? 0 : w;
		index[k] = i < 0 ? 0 : i >= x->in ? x->in - 1 : i;
		weight[k] = (float)w;
		sum += w;
	}
	for (int64_t k = 0; k < taps; k++)
		weight[k] = (float)((double)weight[k] / sum);
}

static void describe(const struct resizing *r, const struct axis *x, struct arena *a,
		     struct resample *s)
{
	const double narrow = r->antialias && x->factor < 1 ? (double)x->factor : 1;
	const double reach = r->mode == CUBIC ? 2 : 1;
	const int64_t first = (int64_t)floor(-reach / narrow) + 1;
	int64_t *index;
	float *weight;

	s->taps = r->mode == NEAREST ? 1 : 2 - 2 * first;
	s->index = index = arena_array(a, int64_t, x->out * s->taps);
	s->weight = weight = arena_array(a, float, x->out * s->taps);
	for (int64_t o = 0; o < x->out; o++) {
		const float at = coordinate(r, x, o);
		int64_t *i = index + o * s->taps;
		float *w = weight + o * s->taps;

		if (r->coordinates == TF_CROP && (at < 0 || at > (float)(x->in - 1))) {
			*i = -1;
			*w = 1;
		} else if (r->mode == NEAREST) {
			*i = (int64_t)fminf(fmaxf(rounded(r, at, x->factor), 0),
					    (float)(x->in - 1));
			*w = 1;
		} else {
			make_taps(r, x, at, narrow, first, s->taps, i, w);
		}
	}
}

static int resample(struct lowering *l, const struct graph_node *n, const struct resizing *how,
		    const struct axis *axis, struct err *e)
{
	struct place p, to;

	if (lower_get_dense(l, n->in[0], NULL, &p, e))
		return -1;
	for (int i = 0; i < p.rank; i++) {
		struct resample *s = arena_new(l->p->a, struct resample);

		if (axis[i].in == axis[i].out && axis[i].factor == 1 && axis[i].start == 0 &&
		    axis[i].end == 1)
			continue;
		*s = (struct resample){1, axis[i].in, axis[i].out, 1, .fill = how->fill};
		for (int k = 0; k < p.rank; k++)
			*(k < i ? &s->outer : k > i ? &s->inner : &(int64_t){0}) *= p.dim[k];
		describe(how, &axis[i], l->p->a, s);
		to = p;
		to.dim[i] = axis[i].out;
		place_dense(&to, p.rank, to.dim, NULL);
		lower_room(l, &to);
		plan_plain(l->p, node_label(l->g, n), n->type,
			   &(struct plain){resample_run, s, NULL}, (struct place[]){p, to}, 2);
		p = to;
	}
	lower_put(l, n->out[0], &p);
	return 0;
}

int lower_resize(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct axis axis[PLACE_RANK];
	struct place from, to;
	struct resizing how;

	if (lower_shape(l, n->in[0], &from, e) || lower_shape(l, n->out[0], &to, e))
		return -1;
	if (read_resizing(l, n, &how) || from.rank != to.rank)
		return lower_bad(l, n, e, "resizes in a way that is not known");
	for (int i = 0; i < from.rank; i++) {
		axis[i] = (struct axis){.in = from.dim[i], .out = to.dim[i]};
		if (!from.dim[i] || !to.dim[i])
			return lower_bad(l, n, e, "resizes an empty image");
		if (read_axis(l, n, &how, i, from.rank, &axis[i], e))
			return -1;
	}
	if (from.rank == 4 && from.dim[0] == to.dim[0] && from.dim[1] == to.dim[1] &&
	    how.mode != CUBIC && how.coordinates < HALF_PIXEL_SYMMETRIC && !how.antialias &&
	    !how.exclude_outside)
		return resize_image(l, n, &how, axis, e);
	return resample(l, n, &how, axis, e);
}
