/* Col2Im: images out of columns (columns.h). The file has them as channel x tap x window. */
#include "lib/op/op.h"
#include "lib/run/columns.h"
#include "lib/run/lower.h"

/* Returns number i of the list that an attribute has; `other` where there is none. */
static int64_t number(const struct graph_node *n, const char *name, int i, int64_t other)
{
	const struct attr *a = node_attr(n, name);

	return a && i >= 0 && i < a->nints ? a->ints[i] : other;
}

/* Counts the windows along an axis. */
static int64_t windows(const struct columns *c, int axis, int64_t end)
{
	const int64_t reach = (c->kernel[axis] - 1) * c->dilation[axis] + 1;
	const int64_t room = c->out[axis] + c->pad[axis] + end - reach;

	return room < 0 ? 0 : room / c->stride[axis] + 1;
}

/* Is a number of a window small enough that no product of two is too large? */
static int is_sound(int64_t v, int64_t least)
{
	return v >= least && v < 1 << 24;
}

static int describe(const struct lowering *l, const struct graph_node *n, const struct place *image,
		    struct columns *c, struct err *e)
{
	const int rank = image->rank - 2;
	const int64_t *block;
	int count;

	if (infer_list(l->g, n, NULL, 2, &count, &block) != 1 || count != rank)
		return lower_bad(l, n, e, "has blocks that are not known, or do not fit its image");
	for (int i = 0; i < COLUMNS_RANK; i++) {
		const int from = i - (COLUMNS_RANK - rank);
		const int64_t end = number(n, "pads", rank + from, 0);

		c->in[i] = c->out[i] = c->kernel[i] = c->stride[i] = c->dilation[i] = 1;
		if (from < 0)
			continue;
		c->out[i] = image->dim[2 + from];
		c->kernel[i] = block[from];
		c->stride[i] = number(n, "strides", from, 1);
		c->dilation[i] = number(n, "dilations", from, 1);
		c->pad[i] = number(n, "pads", from, 0);
		if (!is_sound(c->kernel[i], 1) || !is_sound(c->stride[i], 1) ||
		    !is_sound(c->dilation[i], 1) || !is_sound(c->pad[i], 0) || !is_sound(end, 0))
			return lower_bad(l, n, e, "has windows that make no sense");
		c->in[i] = windows(c, i, end);
	}
	return 0;
}

/* Puts the columns in the order that columns.h has: window x tap x channel. */
static int get_columns(struct lowering *l, const struct graph_node *n, const struct columns *c,
		       struct place *out, struct err *e)
{
	const int64_t taps = op_product(c->kernel, COLUMNS_RANK, INT64_MAX);
	const int64_t rows = op_product((const int64_t[]){c->channels, taps}, 2, INT64_MAX);
	struct place p, by;

	if (lower_get(l, n->in[0], &p, e))
		return -1;
	if (p.rank != 3 || p.dim[1] != rows ||
	    p.dim[2] != op_product(c->in, COLUMNS_RANK, INT64_MAX))
		return lower_bad(l, n, e, "has columns that do not fit its image");
	by = p;
	by.rank = 4;
	by.dim[1] = p.dim[2];
	by.stride[1] = p.stride[2];
	by.dim[2] = taps;
	by.stride[2] = p.stride[1];
	by.dim[3] = c->channels;
	by.stride[3] = taps * p.stride[1];
	lower_dense(l, &by, NULL, node_label(l->g, n), out);
	return 0;
}

int lower_col2im(struct lowering *l, const struct graph_node *n, struct err *e)
{
	struct columns *c = arena_new(l->p->a, struct columns);
	const struct plain plain = {columns_run, c, NULL};
	struct place operand[COLUMNS_OPERANDS], *image = &operand[COLUMNS_DST];
	int order[PLACE_RANK] = {0};

	if (lower_shape(l, n->out[0], image, e))
		return -1;
	if (image->rank < 3 || image->rank > 2 + COLUMNS_RANK)
		return lower_bad(l, n, e, "makes an image of %d dimensions", image->rank);
	*c = (struct columns){.sums = 1,
			      .images = image->dim[0],
			      .groups = 1,
			      .channels = image->dim[1],
			      .pixel = image->dim[1]};
	if (describe(l, n, image, c, e) || get_columns(l, n, c, &operand[COLUMNS_SRC], e))
		return -1;
	operand[COLUMNS_BIAS] = operand[COLUMNS_SRC];
	for (int i = 2; i < image->rank; i++)
		order[i - 1] = i;
	order[image->rank - 1] = 1;
	place_dense(image, image->rank, image->dim, order);
	lower_room(l, image);
	plan_plain(l->p, node_label(l->g, n), n->type, &plain, operand, COLUMNS_OPERANDS);
	lower_put(l, n->out[0], image);
	return 0;
}
