/* What works element by element. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/tensorflow/convert.h"

void convert_square(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_unless(compose_square(n->b, convert_in(n, 0), convert_in(n, 1), n->out[0]), n);
}

void convert_rsqrt(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_unless(compose_chain(n->b, n->in, n->nin, n->out[0], "Sqrt", "Reciprocal"), n);
}

/* 1 - erf(x) */
void convert_error_function_complement(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {build_number(n->b, 1), build_between(n->b, n->out[0])};

	(void)onnx;
	build_node(n->b, "Erf", n->in, 1, &from[1], 1);
	convert_node(n, "Sub", from, 2);
}

void convert_not_equal(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	convert_unless(compose_chain(n->b, n->in, n->nin, n->out[0], "Equal", "Not"), n);
}

/* log(1 + x) */
void convert_log1p_of(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {convert_in(n, 0), build_number(n->b, 1)};

	convert_unless(compose_chain(n->b, from, 2, n->out[0], "Add", onnx), n);
}

/* exp(x) - 1 */
void convert_expm1_of(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {build_between(n->b, n->out[0]), build_number(n->b, 1)};

	build_node(n->b, onnx, n->in, n->nin ? 1 : 0, from, 1);
	convert_node(n, "Sub", from, 2);
}

/* x - x, or of that the power of e. */
void convert_zeros_or_ones(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {convert_in(n, 0), convert_in(n, 0)};

	if (onnx)
		convert_unless(compose_chain(n->b, from, 2, n->out[0], "Sub", onnx), n);
	else
		convert_node(n, "Sub", from, 2);
}

/* x * sigmoid(x) */
void convert_swish(const struct tensorflow_node *n, const char *onnx)
{
	const int from[] = {convert_in(n, 0), build_between(n->b, n->out[0])};

	build_node(n->b, onnx, n->in, n->nin ? 1 : 0, &from[1], 1);
	convert_node(n, "Mul", from, 2);
}

void convert_gelu(const struct tensorflow_node *n, const char *onnx)
{
	build_str(n->b, convert_node(n, "Gelu", n->in, n->nin ? 1 : 0), "approximate", onnx);
}

void convert_relu6(const struct tensorflow_node *n, const char *onnx)
{
	(void)onnx;
	compose_clip(n->b, convert_in(n, 0), n->out[0], 0, 6);
}

void convert_leaky_relu(const struct tensorflow_node *n, const char *onnx)
{
	build_float(n->b, convert_node(n, onnx, n->in, 1), "alpha",
		    convert_real(n, "alpha", convert_real(n, "leakyrelu_alpha", 0.2f)));
}

void convert_cast(const struct tensorflow_node *n, const char *onnx)
{
	build_int(n->b, convert_node(n, onnx, n->in, 1), "to",
		  convert_int(n, "DstT", VALUE_UNKNOWN));
}

void convert_softmax(const struct tensorflow_node *n, const char *onnx)
{
	build_int(n->b, convert_node(n, onnx, n->in, 1), "axis", -1);
}
