/* What moves elements, picks some of them, or makes them of sizes. */
#include "lib/extract/compose.h"
#include "lib/extract/tflite/rewrite.h"

enum { CONCATENATION_AXIS = 0 };
enum { PACK_AXIS = 1 };
enum { GATHER_AXIS, GATHER_BATCH };
enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, IS_OFFSET };

static int64_t option(const struct operation *o, int i, int64_t otherwise)
{
	return o->options ? flat_int(o->flat, o->options, i, otherwise) : otherwise;
}

void rewrite_concatenation(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "axis", option(o, CONCATENATION_AXIS, 0));
}

void rewrite_pack(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_pack(b, o->in, o->nin, rewrite_out(o, 0), option(o, PACK_AXIS, 0)))
		rewrite_own(b, o);
}

void rewrite_unpack(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	compose_unpack(b, rewrite_in(o, 0), o->nout, o->out, o->nout, option(o, PACK_AXIS, 0));
}

void rewrite_split(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_split(b, rewrite_in(o, 1), rewrite_in(o, 0), -1, o->nout, o->out, o->nout))
		rewrite_own(b, o);
}

void rewrite_split_v(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (rewrite_in(o, 1) < 0 || compose_split(b, rewrite_in(o, 0), rewrite_in(o, 2), o->in[1],
						  o->nout, o->out, o->nout))
		rewrite_own(b, o);
}

/* The list that begins the options. Returns how many there are; -1: more than a tensor can have
 * dimensions. */
static int list(const struct operation *o, int64_t v[GRAPH_MAX_RANK])
{
	struct flat_list l = flat_list(o->flat, o->options, 0, 4);

	if (l.n > GRAPH_MAX_RANK)
		return -1;
	for (uint32_t i = 0; i < l.n; i++)
		v[i] = flat_list_int(o->flat, &l, i);
	return (int)l.n;
}

/* The new shape is an input, or else an option. */
void rewrite_reshape(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);
	int64_t shape[GRAPH_MAX_RANK];
	int count;

	build_int(b, n, "allowzero", 1);
	if (rewrite_in(o, 1) >= 0 || !o->options)
		return;
	count = list(o, shape);
	if (count < 0)
		n->domain = TFLITE_DOMAIN;
	else
		build_ints(b, n, "shape", shape, count);
}

void rewrite_squeeze(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);
	int64_t axes[GRAPH_MAX_RANK];
	int count = o->options ? list(o, axes) : 0;

	if (count < 0)
		n->domain = TFLITE_DOMAIN;
	else if (count)
		build_ints(b, n, "axes", axes, count);
}

void rewrite_slice(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_slice(b, rewrite_in(o, 0), rewrite_in(o, 1), rewrite_in(o, 2),
			  rewrite_out(o, 0)))
		rewrite_own(b, o);
}

void rewrite_strided_slice(struct build *b, const struct operation *o, const char *onnx)
{
	const int list[] = {rewrite_in(o, 1), rewrite_in(o, 2), rewrite_in(o, 3)};
	const struct compose_masks m = {option(o, BEGIN_MASK, 0), option(o, END_MASK, 0),
					option(o, ELLIPSIS_MASK, 0), option(o, NEW_AXIS_MASK, 0),
					option(o, SHRINK_MASK, 0)};

	(void)onnx;
	if ((o->options && flat_ubyte(o->flat, o->options, IS_OFFSET, 0)) ||
	    compose_strided_slice(b, rewrite_in(o, 0), list, rewrite_out(o, 0), &m))
		rewrite_own(b, o);
}

void rewrite_gather(struct build *b, const struct operation *o, const char *onnx)
{
	if (option(o, GATHER_BATCH, 0))
		rewrite_own(b, o);
	else
		build_int(b, build_node(b, onnx, o->in, o->nin, o->out, o->nout), "axis",
			  option(o, GATHER_AXIS, 0));
}

void rewrite_embedding(struct build *b, const struct operation *o, const char *onnx)
{
	const int in[] = {rewrite_in(o, 1), rewrite_in(o, 0)};

	build_node(b, onnx, in, 2, o->out, o->nout);
}

void rewrite_fill(struct build *b, const struct operation *o, const char *onnx)
{
	rewrite_embedding(b, o, onnx); /* the value second here, too */
}

void rewrite_rank(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_rank(b, rewrite_in(o, 0), rewrite_out(o, 0)))
		rewrite_own(b, o);
}

void rewrite_one_hot(struct build *b, const struct operation *o, const char *onnx)
{
	int n = o->nin < 3 ? o->nin : 3;

	build_int(b, build_node(b, onnx, o->in, n, o->out, o->nout), "axis", option(o, 0, -1));
}
