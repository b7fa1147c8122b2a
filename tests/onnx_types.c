/* Element types of what is taken out of ONNX models: half precision, and the ways in which models
 * say that they compute in 8 bits. */
#include "lib/extract/onnx/onnx.h"
#include "tests/onnx.h"

static void test_half(void)
{
	struct buf g = BUF_INIT;

	info(&g, 11, "x", "1,4,8,8", VALUE_F16);
	weights(&g, "w", "6,4,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "mb1_ic4ih8_oc6oh6_kh3 (f16:f32:f16)", "half precision");

	memset(&g, 0, sizeof g);
	info(&g, 11, "x", "5,7", VALUE_BF16);
	info(&g, 11, "v", "7,9", VALUE_BF16);
	node(&g, "MatMul x v -> y", "");
	output(&g, "y");
	expect(&g, 13, "5x7:7x9 (bf16) computed", "the upper half of single precision");

	memset(&g, 0, sizeof g);
	info(&g, 11, "x", "5,7", VALUE_F64);
	info(&g, 11, "v", "7,9", VALUE_F64);
	node(&g, "MatMul x v -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "double precision is not extracted");
	ok(was_said("MatMul (f64, no element type of workloads) 1"), "but reported");
}

static struct buf quantized_image(int elem)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "1,8,14,14");
	quantized(&g, "zero", "", elem);
	quantized(&g, "wq", "8,8,3,3", VALUE_I8);
	quantized(&g, "cq", "8", VALUE_I32);
	real(&g, "s", 0.5f);
	node(&g, "QuantizeLinear x s zero -> xq", "");
	return g;
}

/* The same between DequantizeLinear and QuantizeLinear. */
static struct buf dequantized_image(int elem)
{
	struct buf g = quantized_image(elem);

	node(&g, "DequantizeLinear xq s zero -> xd", "");
	node(&g, "DequantizeLinear wq s -> wd", "");
	node(&g, "DequantizeLinear cq s -> cd", "");
	return g;
}

static void test_dequantized(void)
{
	struct buf g = dequantized_image(VALUE_U8);

	conv(&g, "Conv xd wd cd -> a");
	node(&g, "Relu a -> b", "");
	node(&g, "QuantizeLinear b s zero -> q", "");
	node(&g, "DequantizeLinear q s zero -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " (u8:s8:u8) bias,scale,relu,shift,pad",
	       "between dequantizing and quantizing");
	ok(was_said("not extracted: QuantizeLinear 1, DequantizeLinear 1\n"),
	   "what quantizes for an operator is part of it");

	g = dequantized_image(VALUE_I8);
	conv(&g, "Conv xd wd cd -> a");
	node(&g, "Sigmoid a -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " (s8:s8:f32) bias,scale,sigmoid,pad", "the result may stay real");

	g = dequantized_image(VALUE_U8);
	node(&g, "MaxPool xd -> p", "kernel_shape=1,1");
	conv(&g, "Conv p wd -> y");
	output(&g, "y");
	expect(&g, 13, CONV " (u8:s8:f32) bias,scale,pad",
	       "what was moved in between is still of 8 bits");

	g = dequantized_image(VALUE_U8);
	weights(&g, "w", "8,8,3,3");
	conv(&g, "Conv xd w -> y");
	output(&g, "y");
	expect(&g, 13, CONV, "with real weights it is a product of reals");
}

/* With a zero point that is known, between a bound and a quantizer of this scale. */
static void bounded(const char *bound, const char *attrs, float scale, const char *zero,
		    const char *want, const char *what)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "1,8,14,14");
	ints(&g, "z", "0");
	ints(&g, "z1", zero);
	node(&g, "Cast z -> zero", "to=2");
	node(&g, "Cast z1 -> zero1", "to=2");
	quantized(&g, "wq", "8,8,3,3", VALUE_I8);
	real(&g, "s", 0.5f);
	real(&g, "s1", scale);
	real(&g, "low", 0);
	real(&g, "high", 6);
	node(&g, "QuantizeLinear x s zero -> xq", "");
	node(&g, "DequantizeLinear xq s zero -> xd", "");
	node(&g, "DequantizeLinear wq s -> wd", "");
	conv(&g, "Conv xd wd -> a");
	node(&g, bound, attrs);
	node(&g, "QuantizeLinear b s1 zero1 -> q", "");
	node(&g, "DequantizeLinear q s1 zero1 -> y", "");
	output(&g, "y");
	expect(&g, 13, want, what);
}

static void test_bounds(void)
{
	bounded("Relu a -> b", "", 0.5f, "0", CONV " (u8:s8:u8) scale",
		"what the type bounds needs no relu");
	bounded("Relu a -> b", "", 0.5f, "9", CONV " (u8:s8:u8) scale,relu,shift",
		"but with a zero point it does");
	bounded("Clip a low high -> b", "", 0.0234f, "0", CONV " (u8:s8:u8) scale",
		"a range that ends at the bound bounds, too");
	bounded("Clip a low high -> b", "", 0.5f, "0", CONV " (u8:s8:u8) scale,clip(0,12)",
		"bounds are in units of the result");
	bounded("Clip a low high -> b", "", 0.0234f, "9", CONV " (u8:s8:u8) scale,relu,shift",
		"one bound may be left");
	bounded("Sigmoid a -> b", "", 0.5f, "0", CONV " (u8:s8:f32) scale,sigmoid",
		"what is no bound is computed of reals");
}

static void test_quantized_operators(void)
{
	struct buf g = quantized_image(VALUE_U8);

	conv(&g, "QLinearConv xq s zero wq s zero s zero cq -> q");
	node(&g, "DequantizeLinear q s zero -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " (u8:s8:u8) bias,scale,shift,pad", "QLinearConv");

	g = quantized_image(VALUE_U8);
	node(&g, "com.microsoft:DequantizeLinear xq s zero -> xd", "");
	node(&g, "com.microsoft:DequantizeLinear wq s -> wd", "");
	conv(&g, "Conv xd wd -> a");
	node(&g, "com.microsoft:QuantizeLinear a s zero -> q", "");
	node(&g, "DequantizeLinear q s zero -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " (u8:s8:u8) bias,scale,shift,pad", "what onnxruntime quantizes with");

	g = quantized_image(VALUE_U8);
	conv(&g, "ConvInteger xq wq zero -> q");
	node(&g, "Cast q -> y", "to=1");
	output(&g, "y");
	expect(&g, 13, CONV " (u8:s8:f32)", "ConvInteger, made real");

	memset(&g, 0, sizeof g);
	input(&g, "x", "5,7");
	quantized(&g, "v", "7,9", VALUE_I8);
	weights(&g, "c", "9");
	real(&g, "s", 0.5f);
	node(&g, "DynamicQuantizeLinear x -> xq xs xz", "");
	node(&g, "MatMulInteger xq v xz -> q", "");
	node(&g, "Cast q -> r", "to=1");
	node(&g, "Mul xs s -> both", "");
	node(&g, "Mul r both -> t", "");
	node(&g, "Add t c -> u", "");
	node(&g, "Relu u -> y", "");
	output(&g, "y");
	expect(&g, 13, "5x7:7x9 (u8:s8:f32) bias,scale,shift,relu",
	       "MatMulInteger of what was just quantized");

	memset(&g, 0, sizeof g);
	info(&g, 11, "x", "5,7", VALUE_U8);
	quantized(&g, "v", "7,9", VALUE_I8);
	node(&g, "MatMulInteger x v -> y", "");
	output(&g, "y");
	expect(&g, 13, "5x7:7x9 (u8:s8:s32)", "MatMulInteger alone");
}

static void test_quantized(void)
{
	struct buf g = image(), t = BUF_INIT;

	tensor(&t, "q", "8,8,3,3", VALUE_I8);
	put_buf(&g, 5, &t);
	real(&g, "scale", 0.5f);
	node(&g, "DequantizeLinear q scale -> dq", "");
	node(&g, "Conv x dq -> y", "");
	output(&g, "y");
	expect(&g, 13, "mb1_ic8ih14_oc8oh12_kh3 (f32:s8:f32)", "weights that were quantized alone");
}

/* The type and shape of a value, "9 1x4" for booleans. */
static void type_of(const struct graph *g, const char *name, struct buf *out)
{
	for (int i = 0; i < g->nvalue; i++)
		if (!strcmp(g->value[i]->name, name)) {
			buf_fmt(out, "%d%s ", g->value[i]->elem, g->value[i]->quantized ? "q" : "");
			shape_print(&g->value[i]->shape, out);
		}
}

/* The graph, which has a value y beside its result, is consumed. */
static void second(struct buf *g, int opset, const char *want, const char *what)
{
	struct infer_options none = {0};
	struct buf m = BUF_INIT, got = BUF_INIT;
	struct drip d = {0};
	struct pull in = {.next = drip_next, .ctx = &d};
	struct arena a = ARENA_INIT;
	struct onnx_model read;
	struct infer x = {0};
	struct err e = ERR_INIT;

	model(&m, g, opset);
	d = (struct drip){(const unsigned char *)m.s, m.n, 1 << 16, 0};
	if (onnx_read(&read, &in, &a, &e) || infer_run(&x, &read.graph, opset, &none, &e))
		buf_str(&got, e.msg);
	else
		type_of(&read.graph, "y", &got);
	ok(!strcmp(got.s, want), "%s: %s", what, got.s);
	infer_free(&x);
	onnx_free(&read);
	arena_free(&a);
	buf_free(&got);
	buf_free(&m);
}

static struct buf pair(const char *text, const char *attrs, int elem)
{
	struct buf g = BUF_INIT;

	info(&g, 11, "x", "1,8,14,14", elem);
	info(&g, 11, "s", "8", VALUE_F32);
	node(&g, text, attrs);
	output(&g, "a");
	output(&g, "y");
	return g;
}

/* Results beside the first one have types of their own. */
static void test_second_results(void)
{
	struct buf g = pair("Dropout x -> a y", "", VALUE_F16);

	second(&g, 13, "9 1x8x14x14", "a mask of Dropout");
	g = pair("Dropout x -> a y", "ratio=0.5", VALUE_F16);
	second(&g, 7, "10 1x8x14x14", "which has the data's type before operator set 10");
	g = pair("MaxPool x -> a y", "kernel_shape=2,2 strides=2,2", VALUE_U8);
	second(&g, 13, "7 1x8x7x7", "the indices of MaxPool");
	g = pair("LayerNormalization x s -> a y", "axis=2", VALUE_F16);
	second(&g, 17, "1 1x8x1x1", "the mean of LayerNormalization");
	g = pair("LayerNormalization x s -> a _ y", "stash_type=11", VALUE_F32);
	second(&g, 17, "11 1x8x14x1", "its deviation, in another type");
	g = pair("BatchNormalization x s s s s -> a y", "training_mode=1", VALUE_F16);
	second(&g, 15, "1 8", "the mean of BatchNormalization in training");
	g = pair("TopK x k -> a y", "axis=1", VALUE_F32);
	ints(&g, "k", "3");
	second(&g, 11, "7 1x3x14x14", "the indices of TopK");
}

int main(void)
{
	begin();
	test_second_results();
	test_half();
	test_quantized();
	test_dequantized();
	test_bounds();
	test_quantized_operators();
	return end();
}
