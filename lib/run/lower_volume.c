/* Convolutions over three dimensions that are tasks (lib/extract/task/task_volume.c): the source
 * and the weights of the convolution over two. Its result lies as the node's does, channels last.
 */
#include "lib/run/lower.h"

/* Are the planes of the source its images, as they are? */
static int is_as_it_is(const struct task_volume *v)
{
	return v->is_column || (v->kernel == 1 && v->stride == 1 && !v->before && v->in == v->out);
}

/* Dimensions of what is folded: images, planes of the result, groups, channels of one, rows,
 * columns. */
enum { IMAGE, PLANE, GROUP, CHANNEL, ROW, COLUMN, FOLDED };

/* The source, image x channel x plane x row x column, by these dimensions. */
static struct place by_group(const struct place *x, int64_t groups)
{
	struct place p = *x;
	const int from[FOLDED] = {0, 2, 1, 1, 3, 4};

	p.rank = FOLDED;
	for (int i = 0; i < FOLDED; i++) {
		p.dim[i] = x->dim[from[i]];
		p.stride[i] = x->stride[from[i]];
	}
	p.dim[GROUP] = groups;
	p.dim[CHANNEL] /= groups;
	p.stride[GROUP] = p.stride[CHANNEL] * p.dim[CHANNEL];
	return p;
}

/* Planes [lo, hi) of a place. */
static struct place planes(const struct place *p, int64_t lo, int64_t hi)
{
	struct place part = *p;

	part.at += lo * p->stride[PLANE];
	part.dim[PLANE] = hi - lo;
	return part;
}

static int zeros(struct lowering *l, const struct place *to, const char *name, struct err *e)
{
	struct pointwise m = {.out = *to};

	if (!place_count(to))
		return 0;
	pointwise_const(&m, 0);
	return lower_pointwise(l, &m, name, "zeros", e);
}

/* The channels that plane k of the window reads: `to` has them for all planes of the result. Where
 * it reads outside the source, they are zero. */
static int fold_plane(struct lowering *l, const struct task_volume *v, int64_t k,
		      const struct place *x, const struct place *to, const char *name,
		      struct err *e)
{
	const int64_t first = k * v->dilation - v->before;
	int64_t lo = first < 0 ? (-first + v->stride - 1) / v->stride : 0;
	int64_t hi = first >= v->in ? 0 : (v->in - 1 - first) / v->stride + 1;
	struct place from, part;

	hi = hi < v->out ? hi : v->out;
	lo = lo < hi ? lo : hi;
	part = planes(to, 0, lo);
	if (zeros(l, &part, name, e))
		return -1;
	part = planes(to, hi, v->out);
	if (zeros(l, &part, name, e))
		return -1;
	part = planes(to, lo, hi);
	if (!place_count(&part))
		return 0;
	from = *x;
	from.at += (first + lo * v->stride) * x->stride[PLANE];
	from.dim[PLANE] = hi - lo;
	from.stride[PLANE] *= v->stride;
	plan_copy(l->p, name, &from, &part, 0);
	return 0;
}

int lower_volume_source(struct lowering *l, const struct task_volume *v, int value, enum elem elem,
			struct place *out, struct err *e)
{
	/* In memory: images, planes, rows, columns, groups, planes of the window, channels. */
	static const int order[] = {0, 1, 5, 6, 2, 3, 4};
	static const int dim_of[FOLDED] = {0, 1, 2, 4, 5, 6};
	const char *name = l->g->value[value]->name;
	struct place x, wide = {0}, to;
	int channels_last[PLACE_RANK];

	if (lower_get_made(l, value, &x, e))
		return -1;
	if (is_as_it_is(v)) {
		order_channels_last(x.rank, channels_last);
		lower_dense_as(l, &x, channels_last, elem, name, out);
		return 0;
	}
	x = by_group(&x, v->groups);
	place_dense(&wide, 7,
		    (int64_t[]){x.dim[IMAGE], v->out, v->groups, v->kernel, x.dim[CHANNEL],
				x.dim[ROW], x.dim[COLUMN]},
		    order);
	lower_room_as(l, &wide, elem);
	for (int64_t k = 0; k < v->kernel; k++) {
		to = x;
		to.memory = wide.memory;
		to.elem = wide.elem;
		to.at = wide.at + k * wide.stride[3];
		to.dim[PLANE] = v->out;
		for (int i = 0; i < FOLDED; i++)
			to.stride[i] = wide.stride[dim_of[i]];
		if (fold_plane(l, v, k, &x, &to, name, e))
			return -1;
	}
	*out = wide;
	return 0;
}

int lower_volume_weights(struct lowering *l, const struct task_volume *v, int value, enum elem elem,
			 struct place *out, struct err *e)
{
	static const int depth_first[] = {0, 2, 1, 3, 4};
	struct place p;

	if (lower_get_made(l, value, &p, e))
		return -1;
	lower_dense_as(l, &p, v->is_column ? NULL : depth_first, elem, l->g->value[value]->name,
		       out);
	return 0;
}
