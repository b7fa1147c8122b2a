/* Transposed convolutions that are tasks (lib/extract/task/task_transposed.c): the weights that
 * their workload has, and the image that is made of what it makes (columns.h). */
#include "lib/run/columns.h"
#include "lib/run/lower.h"

/* The right side of a product: input channel x tap x output channel. */
static int column_weights(struct lowering *l, const struct graph_node *n, struct place *out,
			  struct err *e)
{
	struct place p;
	int order[PLACE_RANK];

	if (lower_get_dense(l, n->in[1], NULL, &p, e))
		return -1;
	order[0] = 0;
	for (int i = 2; i < p.rank; i++)
		order[i - 1] = i;
	order[p.rank - 1] = 1;
	lower_dense(l, &p, order, node_label(l->g, n), out);
	return 0;
}

int lower_phases_weights(struct lowering *l, const struct graph_node *n,
			 const struct task_phases *p, struct place *out, struct err *e)
{
	struct phases *w = arena_new(l->p->a, struct phases);
	struct place operand[PHASES_OPERANDS];
	int64_t size;

	if (p->form != PHASES_CONV)
		return column_weights(l, n, out, e);
	*w = (struct phases){.groups = p->groups, .ic = p->ic, .oc = p->oc};
	size = p->groups * p->phases * p->oc * p->ic;
	for (int i = 0; i < PHASES_RANK; i++) {
		const int from = i - (PHASES_RANK - p->w.rank);

		w->kernel[i] = from < 0 ? 1 : p->w.kernel[from];
		w->stride[i] = from < 0 ? 1 : p->w.stride[from];
		w->taps[i] = from < 0 ? 1 : p->conv.kernel[from];
		size *= w->taps[i];
	}
	if (lower_get_dense(l, n->in[1], NULL, &operand[PHASES_SRC], e))
		return -1;
	place_dense(out, 1, &size, NULL);
	lower_room(l, out);
	operand[PHASES_DST] = *out;
	plan_plain(l->p, node_label(l->g, n), "phases of weights",
		   &(struct plain){phases_run, w, NULL}, operand, PHASES_OPERANDS);
	return 0;
}

/* Are the phases of what is made whole pixels side by side, without anything cut off? */
static int is_exact(const struct task_phases *p)
{
	if (p->form == PHASES_SUMS)
		return 0;
	for (int i = 0; i < p->w.rank; i++) {
		const int64_t made = p->form == PHASES_CONV ? p->conv.out[i] : p->w.in[i];

		if (p->w.before[i] % p->w.stride[i] || p->w.out[i] != made * p->w.stride[i])
			return 0;
		if (p->form == PHASES_COLUMNS && p->w.before[i])
			return 0;
	}
	return 1;
}

enum elem lower_phases_elem(const struct task_phases *p, enum elem out)
{
	return is_exact(p) ? out : ELEM_F32;
}

void lower_phases_room(struct lowering *l, const struct task_phases *p, int64_t images,
		       int64_t channels, enum elem elem, struct place *out)
{
	int64_t dim[PLACE_RANK] = {images, channels};
	int order[PLACE_RANK];

	order_channels_last(p->w.rank + 2, order);
	for (int i = 0; i < p->w.rank; i++)
		dim[i + 2] = p->form == PHASES_CONV ? p->conv.out[i] : p->w.in[i];
	place_dense(out, p->w.rank + 2, dim, order);
	lower_room_as(l, out, elem);
}

/* Adds one dimension to both. */
static void add_dim(struct place *from, struct place *to, int64_t dim, int64_t from_stride,
		    int64_t to_stride)
{
	from->dim[from->rank] = to->dim[to->rank] = dim;
	from->stride[from->rank++] = from_stride;
	to->stride[to->rank++] = to_stride;
}

/* Each dimension of space is made of pixels and their phases. */
static void copy_phases(struct lowering *l, const struct task_phases *p, const char *name,
			const struct place *made, const struct place *image)
{
	struct place from = *made, to = *image;
	int64_t phases = p->phases;

	from.rank = to.rank = 0;
	add_dim(&from, &to, made->dim[0], made->stride[0], image->stride[0]);
	for (int i = 2; i < made->rank; i++)
		add_dim(&from, &to, made->dim[i], made->stride[i],
			image->stride[i] * p->w.stride[i - 2]);
	if (p->groups > 1)
		add_dim(&from, &to, p->groups, phases * p->oc, image->stride[1] * p->oc);
	for (int i = 2; i < made->rank; i++) {
		phases /= p->w.stride[i - 2];
		if (p->w.stride[i - 2] > 1)
			add_dim(&from, &to, p->w.stride[i - 2], phases * p->oc, image->stride[i]);
	}
	add_dim(&from, &to, p->oc, 1, image->stride[1]);
	plan_copy(l->p, name, &from, &to, 0);
}

/* Are its channels dense, and do pixels, rows and images follow each other? */
static int is_image(const struct place *p)
{
	int64_t step = p->stride[p->rank - 1];

	if (p->stride[1] != 1 || step < p->dim[1])
		return 0;
	for (int i = p->rank - 1; i > 1; i--) {
		if (p->stride[i] != step)
			return 0;
		step *= p->dim[i];
	}
	return p->stride[0] == step;
}

static void describe(const struct task_phases *p, struct columns *c)
{
	for (int i = 0; i < COLUMNS_RANK; i++) {
		const int from = i - (COLUMNS_RANK - p->w.rank);
		const int convolves = p->form == PHASES_CONV;

		c->in[i] = c->out[i] = c->kernel[i] = c->stride[i] = c->dilation[i] = 1;
		if (from < 0)
			continue;
		c->in[i] = convolves ? p->conv.out[from] : p->w.in[from];
		c->out[i] = p->w.out[from];
		c->stride[i] = p->w.stride[from];
		c->kernel[i] = convolves ? c->stride[i] : p->w.kernel[from];
		c->pad[i] = convolves ? p->w.before[from] % c->stride[i] : p->w.before[from];
		c->dilation[i] = convolves ? 1 : p->w.dilation[from];
	}
}

static int make_image(struct lowering *l, const struct graph_node *n, const struct task_phases *p,
		      const struct place *made, const struct place *image, struct err *e)
{
	struct columns *c = arena_new(l->p->a, struct columns);
	struct place operand[COLUMNS_OPERANDS] = {*made, *made, *image};

	*c = (struct columns){.sums = p->form == PHASES_SUMS,
			      .images = image->dim[0],
			      .groups = p->groups,
			      .channels = p->oc,
			      .pixel = image->stride[image->rank - 1]};
	describe(p, c);
	c->has_bias = c->sums && node_in(l->g, n, 2);
	if (c->has_bias && lower_get_dense(l, n->in[2], NULL, &operand[COLUMNS_BIAS], e))
		return -1;
	if (c->has_bias && place_count(&operand[COLUMNS_BIAS]) != image->dim[1])
		return lower_bad(l, n, e, "has a bias that does not fit its channels");
	plan_plain(l->p, node_label(l->g, n), c->sums ? "sums of columns" : "pixels of phases",
		   &(struct plain){columns_run, c, NULL}, operand, COLUMNS_OPERANDS);
	return 0;
}

int lower_phases_image(struct lowering *l, const struct task *t, const struct task_phases *p,
		       const struct place *made, struct err *e)
{
	const struct graph_node *n = &l->g->node[t->node];
	const struct place *want = &l->want[t->out];
	struct place image;
	int order[PLACE_RANK];

	if (lower_shape(l, t->out, &image, e))
		return -1;
	order_channels_last(image.rank, order);
	place_dense(&image, image.rank, image.dim, order);
	if (want->memory >= 0 && (is_exact(p) || (want->elem == ELEM_F32 && is_image(want))))
		image = *want;
	else
		lower_room_as(l, &image, made->elem);
	if (is_exact(p))
		copy_phases(l, p, node_label(l->g, n), made, &image);
	else if (make_image(l, n, p, made, &image, e))
		return -1;
	lower_put(l, t->out, &image);
	return 0;
}
