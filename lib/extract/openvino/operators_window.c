/* What slides a window over images, and what pads and resizes them. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/openvino/openvino.h"

/* Strides and dilations, as far as they are told. */
static void steps(const struct ov_call *c, struct graph_node *n)
{
	static const char *const names[] = {"strides", "dilations"};
	int64_t v[GRAPH_MAX_RANK];

	for (int i = 0; i < 2; i++) {
		int count = ov_ints(c, names[i], v);

		if (count)
			build_ints(c->b, n, names[i], v, count);
	}
}

static void pads(const struct ov_call *c, struct graph_node *n)
{
	int64_t all[2 * GRAPH_MAX_RANK], end[GRAPH_MAX_RANK];
	int before = ov_ints(c, "pads_begin", all), after = ov_ints(c, "pads_end", end);

	if (ov_is(c, "auto_pad", "same_upper") || ov_is(c, "auto_pad", "same_lower"))
		build_str(c->b, n, "auto_pad",
			  ov_is(c, "auto_pad", "same_upper") ? "SAME_UPPER" : "SAME_LOWER");
	else if (ov_is(c, "auto_pad", "valid"))
		build_str(c->b, n, "auto_pad", "VALID");
	else if (before && before == after) {
		memcpy(all + before, end, sizeof *end * (size_t)after);
		build_ints(c->b, n, "pads", all, 2 * before);
	}
}

/* A filter whose first dimension is the groups, without that: the second one, which the groups
 * share, has them all. Returns the number of groups; 0: it is not known. */
static int64_t join_groups(const struct ov_call *c, int *filter)
{
	const struct shape *s = build_shape(c->b, *filter);
	int64_t to[GRAPH_MAX_RANK];
	struct declared *d;
	struct graph_node *n;
	int joined;

	if (s->rank < 4 || !shape_known(s) || !s->dim[0])
		return 0;
	d = arena_new(c->b->a, struct declared);
	d->elem = c->b->g->value[*filter]->declared->elem;
	d->shape.rank = s->rank - 1;
	d->shape.dim[0] = s->dim[0] * s->dim[1];
	memcpy(d->shape.dim + 1, s->dim + 2, sizeof *s->dim * (size_t)(s->rank - 2));
	memcpy(to, d->shape.dim, sizeof to);
	joined = build_part(c->b, *filter, "joined");
	c->b->g->value[joined]->declared = d;
	n = build_node(c->b, "Reshape", filter, 1, &joined, 1);
	n->is_told = 1;
	build_ints(c->b, n, "shape", to, d->shape.rank);
	*filter = joined;
	return s->dim[0];
}

/* The node that multiplies comes behind that of the filter, but has the name. */
static void name(const struct ov_call *c, struct graph_node *n)
{
	c->b->g->node[c->b->g->nnode - 1].name = n->name = c->layer->name;
}

void ov_conv(const struct ov_call *c, const char *onnx)
{
	int in[] = {ov_in(c, 0), ov_in(c, 1)};
	const int is_grouped = !strncmp(c->layer->type, "Group", 5);
	int64_t groups = 1;
	struct graph_node *n;

	if (is_grouped && !(groups = join_groups(c, &in[1]))) {
		ov_own(c)->weighs = 1;
		return;
	}
	n = ov_node(c, onnx, in, 2);
	steps(c, n);
	pads(c, n);
	build_int(c->b, n, "group", groups);
	name(c, n);
}

/* The sizes to make may be told by an input. */
void ov_conv_transpose(const struct ov_call *c, const char *onnx)
{
	int in[] = {ov_in(c, 0), ov_in(c, 1), -1, ov_in(c, 2)};
	const int is_grouped = !strncmp(c->layer->type, "Group", 5);
	int64_t groups = 1, more[GRAPH_MAX_RANK];
	struct graph_node *n;
	int count;

	if (is_grouped && !(groups = join_groups(c, &in[1]))) {
		ov_own(c)->weighs = 1;
		return;
	}
	n = ov_node(c, onnx, in, in[3] < 0 ? 2 : 4);
	steps(c, n);
	pads(c, n);
	count = ov_ints(c, "output_padding", more);
	if (count)
		build_ints(c->b, n, "output_padding", more, count);
	build_int(c->b, n, "group", groups);
	name(c, n);
}

/* The filter comes third here. */
void ov_deformable(const struct ov_call *c, const char *onnx)
{
	const int in[] = {ov_in(c, 0), ov_in(c, 2), ov_in(c, 1)};
	struct graph_node *n = ov_node(c, onnx, in, 3);

	steps(c, n);
	pads(c, n);
	build_int(c->b, n, "group", ov_int(c, "group", 1));
}

void ov_pool(const struct ov_call *c, const char *onnx)
{
	struct graph_node *n = ov_node(c, onnx, c->in, 1);
	int64_t v[GRAPH_MAX_RANK];
	int count = ov_ints(c, "kernel", v);

	build_ints(c->b, n, "kernel_shape", v, count);
	steps(c, n);
	pads(c, n);
	build_int(c->b, n, "ceil_mode",
		  ov_is(c, "rounding_type", "ceil") || ov_is(c, "rounding_type", "ceil_torch"));
}

/* What comes before and what comes behind are two inputs, where ONNX has one. */
void ov_pad(const struct ov_call *c, const char *onnx)
{
	const int both[] = {ov_in(c, 1), ov_in(c, 2)};
	const int in[] = {ov_in(c, 0), both[0] < 0 ? -1 : build_part(c->b, both[0], "both"),
			  ov_in(c, 3)};
	const char *mode = ir_attr(c->layer, "pad_mode");
	struct graph_node *n;

	if (both[0] < 0 || both[1] < 0) {
		ov_own(c);
		return;
	}
	build_int(c->b, build_node(c->b, "Concat", both, 2, &in[1], 1), "axis", 0);
	n = ov_node(c, onnx, in, in[2] < 0 ? 2 : 3);
	build_str(c->b, n, "mode", mode && strcmp(mode, "symmetric") ? mode : "reflect");
	name(c, n);
}

/* Sizes or scales of some axes. Which axes an input tells; in operator set 1, an attribute. */
void ov_resize(const struct ov_call *c, const char *onnx)
{
	const int is_v11 = !strcmp(c->layer->version, "opset11");
	const int is_v1 = !strcmp(c->layer->version, "opset1");
	const int by_scales = ov_is(c, "shape_calculation_mode", "scales");
	const int in[] = {ov_in(c, 0), -1, by_scales ? ov_in(c, is_v11 ? 1 : 2) : -1,
			  by_scales ? -1 : ov_in(c, 1)};
	const int axes = ov_in(c, is_v11 ? 2 : 3);
	int64_t v[GRAPH_MAX_RANK], count = ov_ints(c, "axes", v);
	const union scalar *s = is_v1 || axes < 0 ? NULL : build_elements(c->b, axes, &count);
	struct graph_node *n = ov_node(c, onnx, in, 4);

	if ((axes >= 0 && !is_v1 && !s) || count > GRAPH_MAX_RANK) {
		n->domain = OPENVINO_DOMAIN;
		return;
	}
	for (int64_t i = 0; s && i < count; i++)
		v[i] = s[i].i;
	if (count)
		build_ints(c->b, n, "axes", v, (int)count);
}

void ov_blocks(const struct ov_call *c, const char *onnx)
{
	build_int(c->b, ov_node(c, onnx, c->in, 1), "blocksize", ov_int(c, "block_size", 1));
}
