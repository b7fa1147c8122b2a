/* ONNX models: what follows an operator and becomes a part of it. */
#include "tests/onnx.h"

static void test_fusion(void)
{
	struct buf g = image();

	conv(&g, "Conv x w -> a");
	node(&g, "BatchNormalization a c c c c -> b", "");
	node(&g, "Relu b -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " bias,relu", "batch normalization becomes a bias, relu follows");

	g = image();
	conv(&g, "Conv x w c -> a");
	node(&g, "BatchNormalization a c c c c -> b", "");
	node(&g, "Relu b -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " bias,relu", "with a bias that is there already it is one bias");

	g = image();
	weights(&g, "k", "1,8,1,1");
	conv(&g, "Conv x w -> a");
	node(&g, "Mul a k -> b", "");
	node(&g, "Add b k -> d", "");
	node(&g, "Relu d -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " bias,relu", "so does one written as a product and a sum");

	g = image();
	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> b", "");
	node(&g, "BatchNormalization b c c c c -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " relu", "batch normalization behind a relu stays outside");

	g = image();
	conv(&g, "Conv x w c -> a");
	conv(&g, "Conv a v c -> b");
	node(&g, "Add b a -> d", "");
	node(&g, "Relu d -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " bias; " CONV " bias,add,relu",
	       "a residual goes to the later producer");

	g = image();
	conv(&g, "Conv x w c -> a");
	conv(&g, "Conv x v c -> b");
	node(&g, "Add a b -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " bias; " CONV " bias,add", "of two producers the later takes the sum");

	g = image();
	conv(&g, "Conv x w -> a");
	conv(&g, "Conv x v -> b");
	node(&g, "Sigmoid b -> s", "");
	node(&g, "Mul s a -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV "; " CONV " sigmoid,mul", "a product of two producers");

	g = image();
	conv(&g, "Conv x w -> a");
	conv(&g, "Conv x v -> b");
	node(&g, "Add a b -> d", "");
	node(&g, "Add d x -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV "; " CONV " add", "one residual at most");

	g = image();
	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> y", "");
	output(&g, "y");
	output(&g, "a");
	expect(&g, 13, CONV, "what the graph puts out is not fused away");

	g = image();
	conv(&g, "Conv x w -> a");
	node(&g, "Sigmoid a -> z", "");
	node(&g, "Relu a -> y", "");
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, CONV, "what two nodes read is not fused away");

	g = image();
	conv(&g, "Conv x w -> a");
	node(&g, "Add a a -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV, "a sum with itself is no residual");

	g = image();
	weights(&g, "k", "8,1,1");
	conv(&g, "Conv x w -> a");
	node(&g, "Add k a -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " bias", "a constant for each channel is a bias");

	g = image();
	weights(&g, "k", "14");
	conv(&g, "Conv x w -> a");
	node(&g, "Add k a -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV, "a constant for each column is none");
}

static void clip(int opset, const char *low, const char *high, const char *want)
{
	struct buf g = image();
	char bounds[64], what[80];

	conv(&g, "Conv x w -> a");
	snprintf(bounds, sizeof bounds, "min=%s max=%s", low, high);
	if (opset < 11) {
		node(&g, "Clip a -> y", bounds);
	} else {
		real(&g, "l", strtof(low, NULL));
		real(&g, "h", strtof(high, NULL));
		node(&g, "Clip a l h -> y", "");
	}
	output(&g, "y");
	snprintf(what, sizeof what, "clip from %s to %s in opset %d", low, high, opset);
	expect(&g, opset, want, what);
}

static void test_clip(void)
{
	struct buf g = image();

	clip(13, "0.0", "6.0", CONV " relu6");
	clip(9, "0.0", "6.0", CONV " relu6");
	clip(13, "0.0", "5.0", CONV " clip(0,5)");
	clip(9, "-1.0", "6.0", CONV " clip(-1,6)");
	clip(13, "2.0", "1.0", CONV);
	conv(&g, "Conv x w -> a");
	real(&g, "l", 0);
	node(&g, "Clip a l -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " relu", "clip from 0 without an upper bound is relu");
}

static void activation(const char *text, const char *attrs, const char *want)
{
	struct buf g = image();

	conv(&g, "Conv x w -> a");
	node(&g, text, attrs);
	output(&g, "y");
	expect(&g, 20, want, text);
}

/* The gate and the product; other: what else is an output. */
static void gate(const char *text, const char *attrs, const char *other, const char *want)
{
	struct buf g = image();

	conv(&g, "Conv x w -> a");
	node(&g, text, attrs);
	node(&g, "Mul a s -> y", "");
	output(&g, "y");
	if (other)
		output(&g, other);
	expect(&g, 13, want, other ? "a gate that something else reads stays outside" : text);
}

/* divisor: sqrt(2) for GELU; first: what the sum is multiplied by first. */
static void erf_gelu(double divisor, const char *first, const char *other, const char *want)
{
	struct buf g = image();
	int by_input = !strcmp(first, "a");
	char what[96];

	conv(&g, "Conv x w -> a");
	real(&g, "s", (float)divisor);
	real(&g, "one", 1);
	real(&g, "half", 0.5F);
	node(&g, "Div a s -> b", "");
	node(&g, "Erf b -> e", "");
	node(&g, "Add e one -> d", "");
	node(&g, by_input ? "Mul a d -> f" : "Mul d half -> f", "");
	node(&g, by_input ? "Mul f half -> h" : "Mul a f -> h", "");
	node(&g, "Relu h -> y", "");
	output(&g, "y");
	if (other)
		output(&g, other);
	snprintf(what, sizeof what, "GELU by Erf, divided by %g, times %s first%s%s", divisor,
		 first, other ? "; an output is " : "", other ? other : "");
	expect(&g, 13, want, what);
}

/* GELU by 1 - erf(-x), times x / 2; one: what Erf is taken from; other: a value in between
 * that is an output of the model, too (NULL: none). */
static void erfc_gelu(float one, const char *other, const char *want)
{
	struct buf g = image();
	char what[96];

	conv(&g, "Conv x w -> a");
	real(&g, "s", 0.70710678F);
	real(&g, "one", one);
	real(&g, "half", 0.5F);
	node(&g, "Mul half a -> f", "");
	node(&g, "Neg a -> b", "");
	node(&g, "Mul b s -> r", "");
	node(&g, "Erf r -> e", "");
	node(&g, "Sub one e -> d", "");
	node(&g, "Mul f d -> h", "");
	node(&g, "Relu h -> y", "");
	output(&g, "y");
	if (other)
		output(&g, other);
	snprintf(what, sizeof what, "GELU by %g - erf(-x)%s%s", (double)one,
		 other ? "; an output is " : "", other ? other : "");
	expect(&g, 13, want, what);
}

/* A product's result in other dimensions, and what is added there. */
static void reshaped(const char *to, const char *bias, const char *want)
{
	struct buf g = BUF_INIT;
	char what[96];

	input(&g, "x", "12,8");
	weights(&g, "w", "8,6");
	weights(&g, "k", bias);
	ints(&g, "to", to);
	node(&g, "MatMul x w -> a", "");
	node(&g, "Reshape a to -> b", "");
	node(&g, "Add b k -> d", "");
	node(&g, "Relu d -> y", "");
	output(&g, "y");
	snprintf(what, sizeof what, "a bias of %s behind a Reshape to %s", bias, to);
	expect(&g, 13, want, what);
}

static void test_reshaped(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "12,8");
	weights(&g, "w", "8,6");
	weights(&g, "k", "6");
	ints(&g, "to", "3,4,6");
	node(&g, "MatMul x w -> a", "");
	node(&g, "Relu a -> r", "");
	node(&g, "Reshape r to -> b", "");
	node(&g, "Add b k -> y", "");
	output(&g, "y");
	expect(&g, 13, "12x8:8x6 relu", "no bias behind a relu and a Reshape");
	ok(was_said("not extracted: Reshape 1, Add 1"), "and the Reshape is not taken");

	g = (struct buf)BUF_INIT;
	input(&g, "x", "8");
	input(&g, "w", "8");
	weights(&g, "k", "1");
	ints(&g, "to", "1");
	node(&g, "MatMul x w -> a", "");
	node(&g, "Reshape a to -> b", "");
	node(&g, "Add b k -> y", "");
	output(&g, "y");
	expect(&g, 13, "1x8:8x1 computed", "a product of two vectors");
	reshaped("3,4,6", "6", "12x8:8x6 bias,relu");
	reshaped("3,4,6", "1,1,6", "12x8:8x6 bias,relu");
	reshaped("3,4,2,3", "2,3", "12x8:8x6 bias,relu");
	reshaped("3,4,2,3", "1,1,2,3", "12x8:8x6 bias,relu");
	reshaped("3,4,2,3", "3", "12x8:8x6");	  /* the same for each head */
	reshaped("3,4,2,3", "2,1", "12x8:8x6");	  /* the same within a head */
	reshaped("3,4,2,3", "4,2,3", "12x8:8x6"); /* another one for each row */
	reshaped("4,3,6", "3,6", "12x8:8x6");
	reshaped("2,4,9", "9", "12x8:8x6"); /* columns of several rows */
	reshaped("72", "72", "12x8:8x6");
}

/* Nodes from a to y by constants of that name; what comes of it. */
static void written(const char *const *nodes, const char *want, const char *what)
{
	struct buf g = image();

	conv(&g, "Conv x w -> a");
	real(&g, "one", 1);
	real(&g, "two", 2);
	real(&g, "half", 0.5F);
	real(&g, "three", 3);
	real(&g, "zero", 0);
	real(&g, "six", 6);
	real(&g, "sixth", 1 / 6.0F);
	real(&g, "root", 1.4142135F);
	real(&g, "beta", 0.79788456F);
	real(&g, "kappa", 0.044715F);
	for (; *nodes; nodes++)
		node(&g, *nodes, "");
	node(&g, "Relu y -> z", "");
	output(&g, "z");
	expect(&g, 13, want, what);
}

#define WRITTEN(want, what, ...) written((const char *const[]){__VA_ARGS__, NULL}, CONV want, what)

static void test_written(void)
{
	WRITTEN(" silu,relu", "x * sigmoid(1 * x)", "Mul one a -> b", "Sigmoid b -> s",
		"Mul s a -> y");
	WRITTEN("", "x * sigmoid(2 * x)", "Mul two a -> b", "Sigmoid b -> s", "Mul s a -> y");
	WRITTEN(" hardswish,relu", "x * (relu6(x + 3) / 6)", "Add a three -> b",
		"Clip b zero six -> d", "Div d six -> e", "Mul a e -> y");
	WRITTEN(" hardswish,relu", "(x * relu6(x + 3)) * 1/6", "Add three a -> b",
		"Clip b zero six -> d", "Mul a d -> e", "Mul sixth e -> y");
	WRITTEN("", "x * (relu6(x + 2) / 6)", "Add a two -> b", "Clip b zero six -> d",
		"Div d six -> e", "Mul a e -> y");
	WRITTEN("", "x * (clip(x + 3, 0, 3) / 6)", "Add a three -> b", "Clip b zero three -> d",
		"Div d six -> e", "Mul a e -> y");
	WRITTEN("", "x * (relu6(x + 3) / 3)", "Add a three -> b", "Clip b zero six -> d",
		"Div d three -> e", "Mul a e -> y");
	WRITTEN(" gelu,relu", "(x / 2) * (1 + erf(x / sqrt(2)))", "Mul half a -> f",
		"Div a root -> b", "Erf b -> e", "Add e one -> d", "Mul f d -> y");
	WRITTEN(" gelu_tanh,relu", "GELU by tanh, x^3 by Pow", "Mul half a -> f",
		"Pow a three -> b", "Mul kappa b -> d", "Add a d -> e", "Mul beta e -> h",
		"Tanh h -> i", "Add i one -> j", "Mul f j -> y");
	WRITTEN(" gelu_tanh,relu", "x^3 by products", "Mul a a -> b", "Mul a b -> d",
		"Mul kappa d -> e", "Add a e -> h", "Mul beta h -> i", "Tanh i -> j",
		"Add one j -> k", "Mul a k -> l", "Mul half l -> y");
	WRITTEN(" gelu_tanh,relu", "x^2 beside x", "Mul a half -> f", "Mul a beta -> b",
		"Mul a kappa -> d", "Mul d a -> e", "Add e one -> h", "Mul b h -> i", "Tanh i -> j",
		"Add j one -> k", "Mul f k -> y");
	WRITTEN("", "3^x", "Mul half a -> f", "Pow three a -> b", "Mul kappa b -> d",
		"Add a d -> e", "Mul beta e -> h", "Tanh h -> i", "Add i one -> j", "Mul f j -> y");
	WRITTEN("", "a formula beside another reader", "Mul half a -> f", "Pow a three -> b",
		"Mul kappa b -> d", "Add a d -> e", "Mul beta e -> h", "Tanh h -> i",
		"Add i one -> j", "Mul f j -> k", "Add k a -> y");
	WRITTEN("", "x * (1 + erf(x / sqrt(2)))", "Div a root -> b", "Erf b -> e", "Add e one -> d",
		"Mul a d -> y");
}

/* GELU by tanh with these numbers; exact: is it one? */
static void by_numbers(double half, double power, double kappa, double beta, int exact)
{
	struct buf g = image();
	char what[96];

	conv(&g, "Conv x w -> a");
	real(&g, "half", (float)half);
	real(&g, "power", (float)power);
	real(&g, "kappa", (float)kappa);
	real(&g, "beta", (float)beta);
	real(&g, "one", 1);
	node(&g, "Mul half a -> f", "");
	node(&g, "Pow a power -> b", "");
	node(&g, "Mul kappa b -> d", "");
	node(&g, "Add a d -> e", "");
	node(&g, "Mul beta e -> h", "");
	node(&g, "Tanh h -> i", "");
	node(&g, "Add i one -> j", "");
	node(&g, "Mul f j -> y", "");
	output(&g, "y");
	snprintf(what, sizeof what, "GELU by %.8g, ^%g, %.8g, %.8g", half, power, kappa, beta);
	expect(&g, 13, exact ? CONV " gelu_tanh" : CONV, what);
}

/* Programs round to single or half precision, or bf16, and no further. */
static void test_numbers(void)
{
	by_numbers(0.5, 3, 0.044715, 0.7978845608, 1);
	by_numbers(0.5, 3, 0.044708252, 0.79785156, 1);
	by_numbers(0.5, 3, 0.044677734, 0.796875, 1);
	by_numbers(0.5003, 3, 0.044715, 0.79788456, 0);
	by_numbers(0.5, 3.002, 0.044715, 0.79788456, 0);
	by_numbers(0.5, 3, 0.04473, 0.79788456, 0);
	by_numbers(0.5, 3, 0.044715, 0.7977, 0);
	erf_gelu(1.4140625, "a", NULL, CONV " gelu,relu");
	erf_gelu(1.4141, "a", NULL, CONV);
}

static void test_activations(void)
{
	erfc_gelu(1, NULL, CONV " gelu,relu");
	erfc_gelu(2, NULL, CONV);
	erfc_gelu(1, "f", CONV);
	erfc_gelu(1, "e", CONV);
	erf_gelu(1.4142135, "a", NULL, CONV " gelu,relu");
	erf_gelu(1.4142135, "half", NULL, CONV " gelu,relu");
	erf_gelu(1.5, "a", NULL, CONV);
	erf_gelu(1.4142135, "a", "d", CONV);
	activation("LeakyRelu a -> y", "alpha=0.1", CONV " leaky_relu(0.1)");
	activation("LeakyRelu a -> y", "", CONV " leaky_relu(0.01)");
	activation("HardSwish a -> y", "", CONV " hardswish");
	activation("Sigmoid a -> y", "", CONV " sigmoid");
	activation("Tanh a -> y", "", CONV " tanh");
	activation("Gelu a -> y", "", CONV " gelu");
	gate("Sigmoid a -> s", "", NULL, CONV " silu");
	gate("Sigmoid a -> s", "", "s", CONV);
	gate("Sigmoid a -> s", "", "a", CONV);
	gate("HardSigmoid a -> s", "alpha=0.16666667", NULL, CONV " hardswish");
	gate("HardSigmoid a -> s", "alpha=0.2", NULL, CONV);
}

/* Nodes from a to y, which the graph puts out; other: so does it this (NULL: nothing). */
static void behind(const char *const *nodes, const char *other, const char *want, const char *what)
{
	struct buf g = image();

	conv(&g, "Conv x w -> a");
	real(&g, "one", 1);
	real(&g, "half", 0.5F);
	real(&g, "root", 1.4142135F);
	weights(&g, "c8", "8,1,1");
	weights(&g, "k", "1,1,8");
	ints(&g, "flat", "1,8,196");
	ints(&g, "zero", "0");
	for (; *nodes; nodes++)
		node(&g, *nodes, "");
	output(&g, "y");
	if (other)
		output(&g, other);
	expect(&g, 13, want, what);
}

#define BEHIND(other, want, what, ...)                                                             \
	behind((const char *const[]){__VA_ARGS__, NULL}, other, CONV want, what)

/* Views between the operator and an activation. */
static void test_behind(void)
{
	BEHIND(NULL, " relu", "ReLU behind a Reshape", "Reshape a flat -> b", "Relu b -> y");
	BEHIND(NULL, " relu", "ReLU behind three views", "Transpose a -> b", "Flatten b -> d",
	       "Unsqueeze d zero -> e", "Relu e -> y");
	BEHIND(NULL, " gelu", "GELU that is written out, behind two views", "Reshape a flat -> b",
	       "Transpose b -> d", "Div d root -> e", "Erf e -> f", "Add f one -> h",
	       "Mul d h -> i", "Mul i half -> y");
	ok(was_said("not extracted: Reshape 1, Transpose 1"), "and the views stay");
	BEHIND(NULL, " bias,relu", "what comes before the view, too", "Add a c8 -> b",
	       "Transpose b -> d", "Relu d -> y");
	BEHIND(NULL, " relu", "the first of two activations", "Transpose a -> b", "Relu b -> d",
	       "Tanh d -> y");
	BEHIND(NULL, " relu", "beside a reader of the shape", "Shape a -> s", "Reshape a s -> b",
	       "Relu b -> y");
	BEHIND("b", "", "not of a view that is an output", "Transpose a -> b", "Relu b -> y");
	BEHIND("a", "", "nor of an operator that is one", "Transpose a -> b", "Relu b -> y");
	BEHIND("d", "", "nor where another node reads the view", "Transpose a -> b", "Relu b -> y",
	       "Neg b -> d");
	BEHIND("d", "", "nor where one reads the operator", "Transpose a -> b", "Relu b -> y",
	       "Neg a -> d");
	BEHIND(NULL, "", "no addition", "Reshape a flat -> b", "Transpose b -> d", "Add d k -> e",
	       "Relu e -> y");
}

int main(void)
{
	begin();
	test_fusion();
	test_clip();
	test_reshaped();
	test_written();
	test_numbers();
	test_activations();
	test_behind();
	return end();
}
