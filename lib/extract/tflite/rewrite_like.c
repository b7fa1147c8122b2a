/* What works element by element. */
#include <stdlib.h>

#include "lib/extract/tflite/rewrite.h"

void rewrite_same(struct build *b, const struct operation *o, const char *onnx)
{
	build_node(b, onnx, o->in, o->nin, o->out, o->nout);
}

/* x * x, or the same of a difference. */
void rewrite_square(struct build *b, const struct operation *o, const char *onnx)
{
	int in[2] = {rewrite_in(o, 0), rewrite_in(o, 0)}, out = rewrite_out(o, 0);

	(void)onnx;
	if (o->nin > 1 && out >= 0) {
		in[0] = in[1] = build_between(b, out);
		build_node(b, "Sub", o->in, 2, in, 1);
	}
	build_node(b, "Mul", in, 2, &out, 1);
}

/* Two nodes, one behind the other. */
static void chain(struct build *b, const struct operation *o, const char *first, const char *second)
{
	int out = rewrite_out(o, 0), between;

	if (out < 0) {
		rewrite_own(b, o);
		return;
	}
	between = build_between(b, out);
	build_node(b, first, o->in, o->nin, &between, 1);
	build_node(b, second, &between, 1, &out, 1);
}

void rewrite_rsqrt(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	chain(b, o, "Sqrt", "Reciprocal");
}

void rewrite_not_equal(struct build *b, const struct operation *o, const char *onnx)
{
	(void)onnx;
	chain(b, o, "Equal", "Not");
}

/* onnx: the bounds. */
void rewrite_clip(struct build *b, const struct operation *o, const char *onnx)
{
	struct graph_node *n = build_node(b, "Clip", o->in, o->nin, o->out, o->nout);
	char *rest;

	build_float(b, n, "min", strtof(onnx, &rest));
	build_float(b, n, "max", strtof(rest, NULL));
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
