/* These operators slide a window over images, pad them or resize them. */
#include <string.h>

#include "lib/extract/call/compose.h"
#include "lib/extract/openvino/openvino.h"

static void pads(const struct call *c, struct graph_node *n)
{
	int64_t all[2 * GRAPH_MAX_RANK], end[GRAPH_MAX_RANK];
	int before = call_ints(c, "pads_begin", 0, all), after = call_ints(c, "pads_end", 0, end);

	if (call_is(c, "auto_pad", "same_upper") || call_is(c, "auto_pad", "same_lower"))
		build_str(c->b, n, "auto_pad",
			  call_is(c, "auto_pad", "same_upper") ? "SAME_UPPER" : "SAME_LOWER");
	else if (call_is(c, "auto_pad", "valid"))
		build_str(c->b, n, "auto_pad", "VALID");
	else if (before && before == after) {
		memcpy(all + before, end, sizeof *end * (size_t)after);
		build_ints(c->b, n, "pads", all, 2 * before);
	}
}

/* A filter whose first dimension is the groups, without that: the second one, which the groups
 * share, has them all. Returns the number of groups; 0: it is not known. */
static int64_t join_groups(const struct call *c, int *filter)
{
	const struct shape *s = build_shape(c->b, *filter);
	struct shape to = {.rank = s->rank - 1};
	int joined;

	if (s->rank < 4 || !shape_known(s) || !s->dim[0])
		return 0;
	to.dim[0] = s->dim[0] * s->dim[1];
	memcpy(to.dim + 1, s->dim + 2, sizeof *s->dim * (size_t)(s->rank - 2));
	joined = build_like(c->b, *filter, "joined", *filter, &to);
	build_ints(c->b, call_between(c, "Reshape", filter, 1, joined), "shape", to.dim, to.rank);
	*filter = joined;
	return s->dim[0];
}

/* The node that multiplies comes behind that of the filter, but has the name. */
static void name(const struct call *c, struct graph_node *n)
{
	c->b->g->node[c->b->g->nnode - 1].name = n->name = c->name;
}

int ov_conv(const struct call *c, const struct call_row *row)
{
	const int *given;
	const int n = call_operands(c, row, &given);
	const int has_groups = !strncmp(c->type, "Group", 5);
	int in[CALL_OPERANDS];
	struct graph_node *node;
	int64_t groups = 1;

	memcpy(in, given, sizeof in);
	if (has_groups && !(groups = join_groups(c, &in[1])))
		return call_weighs(c, row);
	node = call_node_of(c, row, in, n);
	pads(c, node);
	if (has_groups)
		build_int(c->b, node, "group", groups);
	name(c, node);
	return 0;
}

int ov_pool(const struct call *c, const struct call_row *row)
{
	struct graph_node *n = call_node_of(c, row, c->in, 1);

	pads(c, n);
	build_int(c->b, n, "ceil_mode",
		  call_is(c, "rounding_type", "ceil") || call_is(c, "rounding_type", "ceil_torch"));
	return 0;
}

/* What comes before and what comes behind are two inputs, where ONNX has one. */
int ov_pad(const struct call *c, const struct call_row *row)
{
	const char *mode = call_text(c, "pad_mode");

	(void)row;
	if (call_in(c, 1) < 0 || call_in(c, 2) < 0)
		return -1;
	call_make(c, "both = Concat(1 2) axis=0; $0 = Pad(0 both 3)");
	build_str(c->b, build_last(c->b), "mode",
		  mode && strcmp(mode, "symmetric") ? mode : "reflect");
	name(c, build_last(c->b));
	return 0;
}

/* Sizes or scales of some axes. Which axes an input tells; in operator set 1, an attribute. */
int ov_resize(const struct call *c, const struct call_row *row)
{
	const int is_v11 = !strcmp(((const struct ir_layer *)c->at)->version, "opset11");
	const int is_v1 = !strcmp(((const struct ir_layer *)c->at)->version, "opset1");
	const int by_scales = call_is(c, "shape_calculation_mode", "scales");
	const int in[] = {call_in(c, 0), -1, by_scales ? call_in(c, is_v11 ? 1 : 2) : -1,
			  by_scales ? -1 : call_in(c, 1)};
	const int axes = call_in(c, is_v11 ? 2 : 3);
	int64_t v[GRAPH_MAX_RANK], count = call_ints(c, "axes", 0, v);
	const union scalar *s = is_v1 || axes < 0 ? NULL : build_elements(c->b, axes, &count);
	struct graph_node *n = call_node(c, row->onnx, in, 4);

	if ((axes >= 0 && !is_v1 && !s) || count > GRAPH_MAX_RANK) {
		n->domain = c->domain;
		return 0;
	}
	for (int64_t i = 0; s && i < count; i++)
		v[i] = s[i].i;
	if (count > 0)
		build_ints(c->b, n, "axes", v, (int)count);
	return 0;
}
