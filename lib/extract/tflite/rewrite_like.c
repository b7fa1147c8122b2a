/* What works element by element. */
#include <stdlib.h>

#include "lib/extract/compose.h"
#include "lib/extract/tflite/rewrite.h"

void rewrite_same(struct build *b, const struct operation *o, const char *onnx)
{
	build_node(b, onnx, o->in, o->nin, o->out, o->nout);
}

void rewrite_square(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_square(b, rewrite_in(o, 0), rewrite_in(o, 1), rewrite_out(o, 0)))
		rewrite_own(b, o);
}

void rewrite_rsqrt(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_chain(b, o->in, o->nin, rewrite_out(o, 0), "Sqrt", "Reciprocal"))
		rewrite_own(b, o);
}

void rewrite_not_equal(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	if (compose_chain(b, o->in, o->nin, rewrite_out(o, 0), "Equal", "Not"))
		rewrite_own(b, o);
}

/* onnx: the bounds. */
void rewrite_clip(struct build *b, const struct operation *o, const char *onnx)
{
	char *rest;
	float min = strtof(onnx, &rest);

	compose_clip(b, rewrite_in(o, 0), rewrite_out(o, 0), min, strtof(rest, NULL));
}

void rewrite_leaky_relu(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_float(b, n, "alpha", o->options ? flat_float(o->flat, o->options, 0, 0) : 0);
}

void rewrite_gelu(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	if (o->options && flat_ubyte(o->flat, o->options, 0, 0))
		build_str(b, n, "approximate", "tanh");
}

static int elem(const struct build *b, int value)
{
	return value >= 0 ? b->g->value[value]->declared->elem : VALUE_UNKNOWN;
}

void rewrite_cast(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "to", elem(b, rewrite_out(o, 0)));
}

/* Weights in half precision are widened so, which says nothing of how the model computes. */
void rewrite_dequantize(struct build *b, const struct operation *o, const char *onnx)
{
	if (elem_is_real(elem(b, rewrite_in(o, 0))))
		rewrite_cast(b, o, "Cast");
	else
		rewrite_same(b, o, onnx);
}

void rewrite_quantize(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, onnx, o->in, o->nin, o->out, o->nout);

	build_int(b, n, "output_dtype", elem(b, rewrite_out(o, 0)));
}
