/* Extraction: figures of real models, fusion, shapes, formats, and hostile inputs.
 *
 * Models are written here field by field, so that each test shows the graph it is about. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/extract/contents.h"
#include "lib/extract/onnx/onnx.h"
#include "tests/extracting.h"

/* Writing protobuf */

static void put_varint(struct buf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_ch(b, (char)(v | 128));
	buf_ch(b, (char)v);
}

static void put_int(struct buf *b, int field, int64_t v)
{
	put_varint(b, (uint64_t)field << 3);
	put_varint(b, (uint64_t)v);
}

static void put_bytes(struct buf *b, int field, const void *p, size_t n)
{
	put_varint(b, (uint64_t)field << 3 | 2);
	put_varint(b, n);
	buf_add(b, p, n);
}

static void put_str(struct buf *b, int field, const char *s)
{
	put_bytes(b, field, s, strlen(s));
}

static void put_buf(struct buf *b, int field, struct buf *m)
{
	put_bytes(b, field, m->s ? m->s : "", m->n);
	buf_free(m);
}

/* Writing ONNX */

/* Numbers of "1,3,224,224" as repeated field, one by one. */
static void put_dims(struct buf *b, int field, const char *dims)
{
	for (char *end; *dims; dims = *end ? end + 1 : end)
		put_int(b, field, strtoll(dims, &end, 10));
}

/* An attribute "axis=1", "pads=0,0,1,1", "alpha=0.5", or "mode=edge". */
static void put_attr(struct buf *node, const char *text)
{
	struct buf a = BUF_INIT;
	const char *v = strchr(text, '=') + 1;
	float f = strtof(v, NULL);

	put_bytes(&a, 1, text, (size_t)(v - 1 - text));
	if (strspn(v, "-0123456789,") < strlen(v) && strspn(v, "-0123456789.") == strlen(v)) {
		put_varint(&a, 2 << 3 | 5);
		buf_add(&a, &f, sizeof f);
	} else if (strspn(v, "-0123456789,") < strlen(v)) {
		put_str(&a, 4, v);
	} else if (strchr(v, ',')) {
		put_dims(&a, 8, v);
	} else {
		put_int(&a, 3, strtoll(v, NULL, 10));
	}
	put_buf(node, 5, &a);
}

/* Names in "a b c"; "_" is one left out. */
static void put_names(struct buf *b, int field, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, " ");

		put_bytes(b, field, names, n == 1 && *names == '_' ? 0 : n);
		names += n + (names[n] == ' ');
	}
}

/* "Conv x w -> y", with attributes in "group=8 pads=1,1,1,1". */
static void node(struct buf *g, const char *text, const char *attrs)
{
	struct buf n = BUF_INIT, in = BUF_INIT;
	const char *arrow = strstr(text, " -> "), *space = strchr(text, ' ');

	if (space < arrow)
		buf_add(&in, space + 1, (size_t)(arrow - space - 1));
	buf_str(&in, "");
	put_names(&n, 1, in.s);
	put_names(&n, 2, arrow + 4);
	put_bytes(&n, 4, text, (size_t)(space - text));
	while (*attrs) {
		size_t k = strcspn(attrs, " ");
		char one[80];

		snprintf(one, sizeof one, "%.*s", (int)k, attrs);
		put_attr(&n, one);
		attrs += k + (attrs[k] == ' ');
	}
	buf_free(&in);
	put_buf(g, 1, &n);
}

static void tensor(struct buf *t, const char *name, const char *dims, int elem)
{
	put_dims(t, 1, dims);
	put_int(t, 2, elem);
	put_str(t, 8, name);
}

/* Weights: no data, as if they lay outside. */
static void weights(struct buf *g, const char *name, const char *dims)
{
	struct buf t = BUF_INIT;

	tensor(&t, name, dims, VALUE_F32);
	put_buf(g, 5, &t);
}

static void ints(struct buf *g, const char *name, const char *values)
{
	struct buf t = BUF_INIT;
	char dims[24];
	int n = 1;

	for (const char *s = values; *s; s++)
		n += *s == ',';
	snprintf(dims, sizeof dims, "%d", *values ? n : 0);
	tensor(&t, name, dims, VALUE_I64);
	put_dims(&t, 7, values);
	put_buf(g, 5, &t);
}

static void real(struct buf *g, const char *name, float v)
{
	struct buf t = BUF_INIT;

	tensor(&t, name, "", VALUE_F32);
	put_bytes(&t, 9, &v, sizeof v);
	put_buf(g, 5, &t);
}

/* Field 11: input, 12: output, 13: value_info. Dimensions that are no numbers are symbols. */
static void info(struct buf *g, int field, const char *name, const char *dims, int elem)
{
	struct buf v = BUF_INIT, type = BUF_INIT, tt = BUF_INIT, shape = BUF_INIT;

	put_int(&tt, 1, elem);
	while (*dims) {
		struct buf d = BUF_INIT;
		size_t n = strcspn(dims, ",");

		if (strchr("-0123456789", dims[0]))
			put_int(&d, 1, strtoll(dims, NULL, 10));
		else
			put_bytes(&d, 2, dims, n);
		put_buf(&shape, 1, &d);
		dims += n + (dims[n] == ',');
	}
	put_buf(&tt, 2, &shape);
	put_buf(&type, 1, &tt);
	put_str(&v, 1, name);
	put_buf(&v, 2, &type);
	put_buf(g, field, &v);
}

static void input(struct buf *g, const char *name, const char *dims)
{
	info(g, 11, name, dims, VALUE_F32);
}

static void output(struct buf *g, const char *name)
{
	info(g, 12, name, "", VALUE_F32);
}

static void model(struct buf *m, struct buf *g, int opset)
{
	struct buf o = BUF_INIT;

	put_int(m, 1, 7);
	put_str(m, 2, "test");
	put_buf(m, 7, g);
	put_int(&o, 2, opset);
	put_buf(m, 8, &o);
}

/* Running the extraction */

/* The workloads of a graph, or what was said if it could not be read. The graph is consumed. */
static void workloads(struct buf *g, int opset, struct infer_options *o, struct buf *out)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf m = BUF_INIT;

	if (o)
		x.infer = *o;
	model(&m, g, opset);
	extract_bytes(&x, m.s, m.n);
	describe(&x, out);
	if (x.failed)
		buf_str(out, said.s);
	extract_free(&x);
	buf_free(&m);
}

static void expect(struct buf *g, int opset, const char *want, const char *what)
{
	struct buf got = BUF_INIT;

	workloads(g, opset, NULL, &got);
	if (!ok(!strcmp(got.s, want), "%s", what))
		diag("got  %s\nwant %s", got.s, want);
	buf_free(&got);
}

/* The graph is refused with a sentence that holds text. */
static void refuse(struct buf *g, const char *text, const char *what)
{
	struct buf got = BUF_INIT;

	workloads(g, 13, NULL, &got);
	ok(said.s && !strncmp(said.s, "E: ", 3) && was_said(text), "refused: %s", what);
	buf_free(&got);
}

/* The models of the collection */

static void test_figures(void)
{
	static const struct {
		const char *file;
		int64_t flops;
		int count;
	} want[] = {
		{"resnet50.tar.zst", 8178368512, 54},	  {"resnet18.tar.gz", 3628146688, 21},
		{"vgg16.tar.gz", 30940528640, 16},	  {"mobilenet_v2.tar.zst", 601548544, 53},
		{"densenet121.tar.zst", 5668323328, 121}, {"inception_v3.tar.zst", 11426432192, 95},
		{"alexnet.zip", 1428376960, 8},		  {"squeezenet1_1.zip", 698303872, 26},
		{"bert_base.tar.zst", 22348431360, 97},
	};

	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct extract x = {.layout = LAYOUT_NHWC, .say = say};
		int64_t flops = 0;
		char name[100];
		int count = 0;

		snprintf(name, sizeof name, "share/models/%s", want[i].file);
		extract_input(&x, name);
		for (size_t k = 0; k < x.found.by_id.n; k++) {
			const struct work *w = x.found.by_id.item[k].value;

			flops += w->w.flops * (int64_t)w->source.n;
			count += (int)w->source.n;
		}
		ok(flops == want[i].flops && count == want[i].count && !x.failed,
		   "%s: %lld flops in %d operators", want[i].file, (long long)flops, count);
		extract_free(&x);
	}
}

/* Fusion */

static void conv(struct buf *g, const char *text)
{
	node(g, text, "kernel_shape=3,3 pads=1,1,1,1");
}

static struct buf image(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "1,8,14,14");
	weights(&g, "w", "8,8,3,3");
	weights(&g, "v", "8,8,3,3");
	weights(&g, "c", "8");
	return g;
}

#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"

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

static void test_activations(void)
{
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

static void test_subgraph(void)
{
	struct buf g = image(), n = BUF_INIT, sub = BUF_INIT, attr = BUF_INIT;

	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> y", "");
	node(&sub, "Sigmoid a -> s", "");
	output(&sub, "s");
	put_str(&attr, 1, "then_branch");
	put_buf(&attr, 6, &sub);
	put_str(&n, 1, "y");
	put_str(&n, 2, "z");
	put_str(&n, 4, "If");
	put_buf(&n, 5, &attr);
	put_buf(&g, 1, &n);
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, CONV, "what a subgraph reads is not fused away");
	ok(was_said("unknown operators: If") && was_said("Sigmoid (inside If) 1"),
	   "subgraphs are reported");
}

/* Operators and their geometry */

static void test_padding(void)
{
	struct buf g = image();

	ints(&g, "p", "0,0,1,1,0,0,1,1");
	node(&g, "Pad x p -> a", "");
	node(&g, "Conv a w -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV, "a pad of zeros goes into the convolution");
	ok(!strstr(said.s, "Pad"), "and is not left over");

	g = image();
	node(&g, "Pad x -> a", "pads=0,0,0,0,0,0,1,1 mode=constant");
	node(&g, "Conv a w -> y", "strides=2,2");
	output(&g, "y");
	expect(&g, 9, "mb1_ic8ih14_oc8oh7_kh3sh2", "an asymmetric one too");

	g = image();
	ints(&g, "p", "0,0,1,1,0,0,1,1");
	node(&g, "Pad x p -> a", "mode=reflect");
	node(&g, "Conv a w -> y", "");
	output(&g, "y");
	expect(&g, 13, "mb1_ic8ih16_oc8oh14_kh3", "a pad by reflection stays outside");
	ok(was_said("Pad 1"), "and is reported");

	g = image();
	node(&g, "Conv x w -> y", "auto_pad=SAME_UPPER strides=2,2");
	output(&g, "y");
	expect(&g, 13, "mb1_ic8ih14_oc8oh7_kh3sh2", "SAME_UPPER pads behind");

	g = image();
	node(&g, "Conv x w -> y", "auto_pad=SAME_LOWER strides=2,2");
	output(&g, "y");
	expect(&g, 13, "mb1_ic8ih14_oc8oh7_kh3sh2ph1", "SAME_LOWER pads before");

	g = image();
	node(&g, "Conv x w -> y", "auto_pad=VALID dilations=2,2");
	output(&g, "y");
	expect(&g, 13, "mb1_ic8ih14_oc8oh10_kh3dh1", "VALID pads nothing; dilation counts from 0");
}

static void test_convolutions(void)
{
	struct buf g = image();

	weights(&g, "d", "8,1,3,3");
	node(&g, "Conv x d -> y", "group=8 pads=1,1,1,1");
	output(&g, "y");
	expect(&g, 13, "mb1g8_ic8ih14_oc8oh14_kh3ph1", "depthwise");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,4,50");
	weights(&g, "w", "6,4,5");
	node(&g, "Conv x w -> y", "pads=2,2 strides=2,");
	output(&g, "y");
	expect(&g, 13, "mb2_ic4ih1iw50_oc6oh1ow25_kh1kw5sh1sw2ph0pw2",
	       "one spatial dimension is a width");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,4,8,8,8");
	weights(&g, "w", "6,4,3,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "three spatial dimensions are not extracted");
	ok(was_said("Conv (3-D) 1") && was_said("0.0 %"), "but reported, with their share");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,4,8,8");
	input(&g, "w", "6,4,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "computed weights are not extracted");
	ok(was_said("computed weights"), "but reported");

	memset(&g, 0, sizeof g);
	info(&g, 11, "x", "1,4,8,8", VALUE_F16);
	weights(&g, "w", "6,4,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "f16 is not extracted");
	ok(was_said("f16, not f32"), "but reported");
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
	expect(&g, 13, "", "dequantized weights are not f32");
	ok(was_said("quantized, not f32"), "and reported so");
}

static void test_products(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "5,7");
	weights(&g, "w", "9,7");
	weights(&g, "c", "9");
	node(&g, "Gemm x w c -> y", "transB=1");
	output(&g, "y");
	expect(&g, 13, "5x7:7x9 bias", "Gemm with a transposed right side");

	memset(&g, 0, sizeof g);
	input(&g, "x", "7,5");
	weights(&g, "w", "7,9");
	input(&g, "c", "5,9");
	node(&g, "Gemm x w c -> y", "transA=1");
	output(&g, "y");
	expect(&g, 13, "5x7:7x9 add", "Gemm with a transposed left side and a matrix to add");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,7");
	weights(&g, "w", "7,9");
	weights(&g, "c", "9");
	node(&g, "MatMul x w -> a", "");
	node(&g, "Add a c -> b", "");
	node(&g, "Relu b -> y", "");
	output(&g, "y");
	expect(&g, 13, "6x7:7x9 bias,relu", "one matrix on the right takes all rows at once");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,4,7");
	input(&g, "z", "1,3,7,9");
	node(&g, "MatMul x z -> y", "");
	output(&g, "y");
	expect(&g, 13, "6x4x7:6x7x9 computed", "batches are multiplied out");

	memset(&g, 0, sizeof g);
	input(&g, "x", "7");
	weights(&g, "w", "7,9");
	node(&g, "MatMul x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "1x7:7x9", "a vector is a row");

	memset(&g, 0, sizeof g);
	input(&g, "x", "5,7");
	weights(&g, "w", "9,7");
	node(&g, "Transpose w -> t", "");
	node(&g, "MatMul x t -> y", "");
	node(&g, "MatMul x t -> z", "");
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, "5x7:7x9 x2", "what is made of constants is constant; equal ones come once");
}

/* Shapes */

static void test_shapes(void)
{
	struct buf g = BUF_INIT, got = BUF_INIT;
	char name[] = "x";
	struct input_shape given = {.name = name, .shape = {2, {3, 40}}};
	struct infer_options batch8 = {.batch = 8}, shaped = {.shape = &given, .nshape = 1};

	for (int i = 0; i < 3; i++) {
		memset(&g, 0, sizeof g);
		input(&g, "x", "N,12,5");
		ints(&g, "zero", "0");
		ints(&g, "rest", "-1");
		weights(&g, "w", "60,9");
		node(&g, "Shape x -> s", "");
		node(&g, "Gather s zero -> n", "axis=0");
		node(&g, "Concat n rest -> to", "axis=0");
		node(&g, "Reshape x to -> f", "");
		node(&g, "MatMul f w -> y", "");
		output(&g, "y");
		if (i == 0)
			expect(&g, 13, "1x60:60x9", "sizes are computed through the graph; N is 1");
		if (i == 1)
			workloads(&g, 13, &batch8, &got);
	}
	buf_free(&g);
	ok(!strcmp(got.s, "8x60:60x9"), "--batch: %s", got.s);

	memset(&g, 0, sizeof g);
	input(&g, "x", "N,seq");
	input(&g, "z", "seq,6");
	node(&g, "MatMul x z -> y", "");
	output(&g, "y");
	workloads(&g, 13, &shaped, &got);
	ok(!strcmp(got.s, "3x40:40x6 computed"), "--shape binds symbols: %s", got.s);

	memset(&g, 0, sizeof g);
	input(&g, "x", "N,seq,8");
	weights(&g, "w", "8,9");
	node(&g, "MatMul x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "a size that nobody gives is not made up");
	ok(was_said("sizes not known: seq (--dim") && was_said("MatMul (unknown shape"),
	   "and reported");

	memset(&g, 0, sizeof g);
	input(&g, "x", "4,8");
	weights(&g, "w", "8,9");
	node(&g, "Strange x -> a", "");
	node(&g, "MatMul a w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "behind an unknown operator nothing is extracted");
	ok(was_said("unknown operators: Strange") &&
		   was_said("MatMul (unknown shape because of Strange) 1"),
	   "and the operator to blame is named");

	memset(&g, 0, sizeof g);
	input(&g, "x", "4,8");
	weights(&g, "w", "8,9");
	node(&g, "Strange x -> a", "");
	node(&g, "MatMul a w -> y", "");
	info(&g, 13, "a", "4,8", VALUE_F32);
	output(&g, "y");
	expect(&g, 13, "4x8:8x9", "what the file declares stands in for inference");

	memset(&g, 0, sizeof g);
	input(&g, "x", "4,8");
	weights(&g, "w", "8,9");
	node(&g, "Strange x -> a", "");
	node(&g, "MatMul a w -> y", "");
	info(&g, 13, "a", "4,8", VALUE_F32);
	output(&g, "y");
	workloads(&g, 13, &batch8, &got);
	ok(!got.n, "but not where another batch was asked for");
	buf_free(&got);
}

static int64_t size_of(const char *symbol, int64_t seq, int64_t batch)
{
	struct map m = MAP_INIT;
	int64_t size = -1;

	*map_put(&m, "seq", 3, NULL) = &seq;
	*map_put(&m, "b.1", 3, NULL) = &batch;
	if (symbol_size(symbol, &m, &size))
		size = -1;
	map_free(&m);
	return size;
}

static void test_symbols(void)
{
	char deep[400];

	ok(size_of("seq", 7, 3) == 7 && size_of("2*seq + b.1", 7, 3) == 17 &&
		   size_of("(seq + 1)//2*b.1", 6, 3) == 9 && size_of("-seq + 8", 7, 3) == 1,
	   "the size of a symbol that is an expression");
	ok(size_of("floor(seq/2 - 1/2) + 1", 7, 3) == 4 && size_of("Max(seq, 9) % 5", 7, 3) == 4 &&
		   size_of("FloorDiv(seq, 2)", 7, 3) == 3 && size_of("ceiling(seq/2)", 7, 3) == 4,
	   "with functions");
	ok(size_of("other", 7, 3) < 0 && size_of("seq + other", 7, 3) < 0 &&
		   size_of("seq - 8", 7, 3) < 0 && size_of("seq/2", 7, 3) < 0 &&
		   size_of("seq/0", 7, 3) < 0 && size_of("seq seq", 7, 3) < 0 &&
		   size_of("floor(seq", 7, 3) < 0 && size_of("", 7, 3) < 0 &&
		   size_of("f(seq)", 7, 3) < 0 && size_of("seq*1e99", 7, 3) < 0,
	   "one that is not known, or none");
	memset(deep, '(', sizeof deep);
	deep[sizeof deep - 1] = 0;
	ok(size_of(deep, 7, 3) < 0, "parentheses beyond measure");
}

/* Two inputs: images of a batch, and a text whose length is half a symbol. */
static void open_model(struct buf *g)
{
	memset(g, 0, sizeof *g);
	input(g, "x", "seq,batch_size,8");
	input(g, "z", "batch_size,floor(seq/2),6");
	weights(g, "w", "8,9");
	weights(g, "v", "6,5");
	node(g, "MatMul x w -> a", "");
	node(g, "MatMul z v -> b", "");
	node(g, "Strange b -> c", "");
	node(g, "MatMul c v -> d", "");
	info(g, 13, "c", "batch_size,seq*2,6", VALUE_F32);
	output(g, "a");
	output(g, "d");
}

static int unused;

static void count_unused(const char *what, const char *name)
{
	unused += !strcmp(what, "open dimension") && !strcmp(name, "width");
}

/* n of these: --dim. */
static void open_dims(int n, const char *const *dim, const char *want, const char *told)
{
	struct infer_options o = {0};
	struct buf g = BUF_INIT, got = BUF_INIT;
	struct err e = ERR_INIT;

	infer_options_read(&o, &(struct infer_words){.batch = -1, .dim = dim, .ndim = n}, &e);
	open_model(&g);
	workloads(&g, 13, &o, &got);
	ok(!strcmp(got.s, want), "%d sizes by --dim: %s", n, got.s);
	ok(!told || was_said(told), "and what is told of them");
	unused = 0;
	infer_options_unused(&o, count_unused);
	infer_options_free(&o);
	buf_free(&got);
}

static void test_dims(void)
{
	static const char *const both[] = {"seq=10", "batch=4", "width=3"};
	static const char *const bad[] = {"seq", "=3", "seq=", "seq=0", "seq=-2", "seq=3x"};

	open_dims(0, both, "", "sizes not known: seq, floor(seq/2) (--dim NAME=SIZE gives them)");
	ok(was_said("taken for a batch of 1: batch_size"), "a batch of 1 is told");
	open_dims(1, both, "10x8:8x9; 5x6:6x5; 20x6:6x5", "taken for a batch of 1: batch_size (");
	open_dims(2, both, "40x8:8x9; 20x6:6x5; 80x6:6x5", NULL);
	ok(!strstr(said.s, "batch of 1") && !unused, "a batch that is given is not told");
	open_dims(3, both, "40x8:8x9; 20x6:6x5; 80x6:6x5", NULL);
	ok(unused == 1, "a name that is in no model is");
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct infer_options o = {0};
		struct err e = ERR_INIT;

		ok(infer_options_read(
			   &o, &(struct infer_words){.batch = -1, .dim = &bad[i], .ndim = 1}, &e) &&
			   e.status == EXIT_USAGE,
		   "refused: --dim %s", bad[i]);
		infer_options_free(&o);
	}
}

/* Refusals */

static void test_refusals(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "4,8");
	node(&g, "Add x b -> a", "");
	node(&g, "Relu a -> b", "");
	output(&g, "b");
	refuse(&g, "cycle", "a cycle");

	memset(&g, 0, sizeof g);
	input(&g, "x", "4,8");
	node(&g, "Add x gone -> y", "");
	output(&g, "y");
	refuse(&g, "'gone', which nothing makes", "an input that nothing makes");

	memset(&g, 0, sizeof g);
	input(&g, "x", "4,8");
	node(&g, "Relu x -> y", "");
	node(&g, "Tanh x -> y", "");
	output(&g, "y");
	refuse(&g, "'y' is made twice", "a value made twice");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,-3,8");
	node(&g, "Relu x -> y", "");
	output(&g, "y");
	refuse(&g, "absurd dimension, -3", "a negative dimension");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1048576,1048576,2");
	node(&g, "Relu x -> y", "");
	output(&g, "y");
	refuse(&g, "absurd size", "more than 2^40 elements");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,8");
	weights(&g, "w", "4611686018427387904,4");
	node(&g, "MatMul x w -> y", "");
	output(&g, "y");
	refuse(&g, "absurd dimension", "weights whose size overflows");

	g = image();
	node(&g, "Conv x w -> y", "dilations=9,9");
	output(&g, "y");
	refuse(&g, "a window of 19 over 14", "a window larger than its image");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,4,14,14");
	weights(&g, "w", "8,8,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	refuse(&g, "reads 4 channels, but its weights want 8", "channels that do not fit");

	memset(&g, 0, sizeof g);
	put_varint(&g, 1 << 3 | 2); /* a node that claims more bytes than its graph has */
	put_varint(&g, 99);
	put_int(&g, 1, 0);
	refuse(&g, "a field runs over the end of its message", "a length that lies");

	memset(&g, 0, sizeof g);
	input(&g, "x", "5,6");
	weights(&g, "w", "7,8");
	node(&g, "MatMul x w -> y", "");
	output(&g, "y");
	refuse(&g, "inner dimensions 6 and 7", "inner dimensions that differ");
}

/* The same model byte by byte and in one block gives the same graph and the same hash. */

static void a_model(struct buf *m)
{
	struct buf g = image(), t = BUF_INIT;
	char data[1500] = {0};

	tensor(&t, "big", "375", VALUE_F32);
	put_bytes(&t, 9, data, sizeof data);
	put_buf(&g, 5, &t);
	conv(&g, "Conv x w c -> a");
	node(&g, "Relu a -> b", "");
	node(&g, "Flatten b -> f", "");
	weights(&g, "fc", "1568,10");
	node(&g, "MatMul f fc -> y", "");
	output(&g, "y");
	model(m, &g, 13);
}

static void test_stream(void)
{
	static const size_t steps[] = {1, 7, 1 << 20};
	struct buf m = BUF_INIT;
	struct id hash[3];
	int nodes[3];

	a_model(&m);
	for (int i = 0; i < 3; i++) {
		struct drip d = {(unsigned char *)m.s, m.n, steps[i]};
		struct pull p = {.next = drip_next, .ctx = &d};
		struct arena a = ARENA_INIT;
		struct onnx_model mo = {0};
		struct err e = ERR_INIT;
		const unsigned char *head;
		size_t n;

		if (pull_head(&p, &head, &n, &e) || onnx_read(&mo, &p, &a, &e))
			diag("%s", e.msg);
		hash[i] = mo.hash;
		nodes[i] = mo.graph.nnode;
		onnx_free(&mo);
		arena_free(&a);
	}
	ok(nodes[0] == 4 && nodes[1] == 4 && nodes[2] == 4,
	   "a model can come in blocks of any size");
	ok(hash[0].s[0] && !strcmp(hash[0].s, hash[1].s) && !strcmp(hash[0].s, hash[2].s),
	   "and has the same hash");
	buf_free(&m);
}

/* Whatever happens to the bytes, the answer is a list of workloads or a sentence. */
static void test_hostile(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf m = BUF_INIT, whole = BUF_INIT, got = BUF_INIT;
	struct rng r;
	size_t refused = 0, silent = 0;

	a_model(&m);
	extract_bytes(&x, m.s, m.n);
	describe(&x, &whole);
	extract_free(&x);
	ok(!strcmp(whole.s, CONV " bias,relu; 1x1568:1568x10"), "the model as it is: %s", whole.s);
	for (size_t n = 0; n < m.n; n++) {
		struct extract cut = {.layout = LAYOUT_NHWC};

		extract_bytes(&cut, m.s, n);
		refused += cut.failed == 1;
		extract_free(&cut);
	}
	ok(refused == m.n, "cut off anywhere it is refused (%zu of %zu)", refused, m.n);
	rng_seed(&r, 1, "flip");
	for (int i = 0; i < 3000; i++) {
		struct extract flip = {.layout = LAYOUT_NHWC};
		char *s = xmalloc(m.n);

		memcpy(s, m.s, m.n);
		for (uint64_t k = rng_below(&r, 4) + 1; k--;)
			s[rng_below(&r, m.n)] ^= (char)(1 << rng_below(&r, 8));
		extract_bytes(&flip, s, m.n);
		silent += !flip.failed && !said.n;
		extract_free(&flip);
		free(s);
	}
	ok(!silent, "with bits flipped it is read or refused, and never silently");
	buf_free(&m);
	buf_free(&whole);
	buf_free(&got);
}

/* The other formats */

static void lines(const char *format, const char *text, const char *want, int failed,
		  const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC, .format = format};
	struct buf got = BUF_INIT;

	for (int i = 0; i < 2; i++) /* twice is once */
		extract_bytes(&x, text, strlen(text));
	describe(&x, &got);
	if (!ok(!strcmp(got.s, want) && x.failed == 2 * failed, "%s", what))
		diag("got  %s, %lld failed\nwant %s\n%s", got.s, (long long)x.failed, want, said.s);
	buf_free(&got);
	extract_free(&x);
}

static void test_lists(void)
{
	lines("csv",
	      "op,prob,layout,post,count\nconv2d,ic8ih14oc8kh3ph1,nchw,bias+relu,3\n"
	      "matmul,5x7:7x9,,,\n",
	      CONV " bias,relu x3; 5x7:7x9", 0, "rows of a list; a count makes sources");
	lines("csv", "prob,note,op\r\n5x7:7x9,\"a, b\",matmul\r\n", "5x7:7x9", 0,
	      "columns in any order, others ignored");
	lines("csv", "op,prob\nmatmul,nonsense\nmatmul,5x7:7x9\nmatmul\n", "5x7:7x9", 2,
	      "bad rows are counted, good ones taken");
	lines("csv",
	      "op,prob,rhs\nmatmul,5x7:7x9,computed\nmatmul,5x7:7x9,const\n"
	      "matmul,5x7:7x9,x\nconv2d,ic8ih14oc8kh3ph1,const\n",
	      "5x7:7x9 computed; 5x7:7x9", 2, "a right side that is computed");
	lines("csv", "a,b\n1,2\n", "", 1, "a list without op and prob is refused");
}

static void test_logs(void)
{
	lines(NULL, "mb1_ic8ih14oc8oh14kh3ph1n\"first\"\n5x7:7x9\n", CONV "; 5x7:7x9", 0,
	      "problems, one a line");
	lines(NULL, "--matmul --dt=f32 2x3x4x7:1x3x7x9\n--dt=bf16 8x8:8x8\n", "6x4x7:6x7x9", 0,
	      "options of benchdnn; other types are left out");
	lines("log", "2x3x4x7:1x1x7x9\n", "24x7:7x9", 0, "one matrix for all batches");
	lines(NULL, "mb1_ic8ih14oc8oh99kh3ph1\n", "", 1, "a problem that is none is a bad line");
	lines(NULL,
	      "onednn_verbose,info,oneDNN v2.6.3\n"
	      "onednn_verbose,exec,cpu,convolution,jit:avx512_core,forward_inference,"
	      "src_f32::blocked:abcd:f0 wei_f32::blocked:Acdb16a:f0 bia_f32::blocked:a:f0 "
	      "dst_f32::blocked:acdb:f0,attr-scratchpad:user attr-post-ops:sum+eltwise_relu ,"
	      "alg:convolution_direct,mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.05\n"
	      "app says hello\n"
	      "onednn_verbose,v1,primitive,exec,cpu,matmul,brg:avx512_core,undef,"
	      "src:f32:a:blocked:ab::f0 wei:f32:a:blocked:ab::f0 dst:f32:a:blocked:ab::f0,,,"
	      "5x7:7x9,0.01\n"
	      "onednn_verbose,exec,cpu,pooling,jit,forward,src_f32 dst_f32,,alg,mb1ic8,0.1\n"
	      "onednn_verbose,exec,cpu,inner_product,gemm:jit,forward_inference,"
	      "src_f32::blocked:acdb:f0 wei_f32::x bia_f32::x dst_f32::x,,,mb1ic4ih2iw2oc5,0.1\n",
	      CONV " bias,add,relu; 5x7:7x9; 1x16:16x5 bias", 0, "verbose lines of oneDNN 2 and 3");
	ok(was_said("pooling 1"), "what is left out is reported");
#define PRODUCT                                                                                    \
	"onednn_verbose,exec,cpu,matmul,jit,undef,src_f32::blocked:ab:f0 "                         \
	"wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,attr-post-ops:"
#define DONE " ,,5x7:7x9,0.01\n"
	lines(NULL, PRODUCT "eltwise_swish:1+binary_mul:f32:3:ab" DONE, "5x7:7x9 silu,mul", 0,
	      "a gate in a verbose line");
	lines(NULL,
	      PRODUCT "eltwise_relu:0.1+eltwise_gelu_erf" DONE PRODUCT "eltwise_clip:0:6" DONE,
	      "5x7:7x9 leaky_relu(0.1),gelu; 5x7:7x9 relu6", 0, "numbers of post-ops");
	lines(NULL, PRODUCT "eltwise_clip:-1:1+eltwise_swish:2" DONE, "5x7:7x9 clip(-1,1)", 0,
	      "what follows a post-op that is not ours is left out");
	lines(NULL, PRODUCT "binary_mul:f32:2" DONE, "5x7:7x9", 0,
	      "a factor for each column is not one of the output's shape");
	lines(NULL, PRODUCT "binary_mul:f32:0+eltwise_relu" DONE, "5x7:7x9", 0,
	      "nor is one factor for all");
	lines(NULL, PRODUCT "sum:0.5+eltwise_relu" DONE, "5x7:7x9", 0, "a scaled sum is not ours");
}

/* Lines as versions 1.x to 3.x write them, from their sources and their users' reports. */
static void test_versions(void)
{
	lines(NULL,
	      "dnnl_verbose,info,DNNL v1.7.0 (commit N/A)\n"
	      "dnnl_verbose,create:cache_miss,cpu,convolution,jit:avx2,forward_inference,"
	      "src_f32::blocked:acdb:f0 wei_f32::blocked:acdb:f0 bia_f32::blocked:a:f0 "
	      "dst_f32::blocked:acdb:f0,post_ops:'eltwise_relu;';,alg:convolution_direct,"
	      "mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.9\n"
	      "dnnl_verbose,exec,cpu,convolution,jit:avx2,forward_inference,"
	      "src_f32::blocked:acdb:f0 wei_f32::blocked:acdb:f0 bia_f32::blocked:a:f0 "
	      "dst_f32::blocked:acdb:f0,post_ops:'sum;eltwise_bounded_relu:6;';,"
	      "alg:convolution_direct,mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.05\n"
	      "dnnl_verbose,exec,cpu,convolution,jit_dw:avx2,forward_training,"
	      "src_f32::blocked:aBcd8b:f0 wei_f32::blocked:Abcde8a:f0 bia_undef::undef::f0 "
	      "dst_f32::blocked:aBcd8b:f0,,alg:convolution_direct,"
	      "mb1_g64ic64oc64_ih112oh56kh3sh2dh0ph0_iw112ow56kw3sw2dw0pw0,0.05\n"
	      "dnnl_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:ab:f0 "
	      "wei_f32::blocked:ab:f0 bia_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,m5n9k7,0.01\n"
	      "dnnl_verbose,exec,cpu,matmul,gemm:jit,undef,src_f32::blocked:abc:f0 "
	      "wei_f32::blocked:abc:f0 dst_f32::blocked:abc:f0,,,b6m4n9k7,0.01\n"
	      "mkldnn_verbose,exec,cpu,inner_product,gemm:jit,forward_inference,"
	      "src_f32::blocked:ab:f0 wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,"
	      "mb5ic7oc9,0.01\n",
	      CONV " bias,add,relu6; mb1g64_ic64ih112_oc64oh56_kh3sh2; 5x7:7x9 bias; "
		   "6x4x7:6x7x9; 5x7:7x9",
	      0, "verbose lines of 1.x");
	lines(NULL,
	      "onednn_verbose,primitive,exec,cpu,convolution,brgconv:avx512_core,"
	      "forward_inference,src_f32:a:blocked:acdb::f0 wei_f32:a:blocked:Acdb64a::f0 "
	      "bia_f32:a:blocked:a::f0 dst_f32:a:blocked:acdb::f0,attr-scratchpad:user "
	      "attr-post-ops:binary_add:f32:14:acdb+eltwise_relu ,alg:convolution_direct,"
	      "mb1_ic8oc8_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1,0.05\n"
	      "onednn_verbose,v1,1717.25,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,"
	      "src:f32:a:blocked:abc::f0 wei:f32:a:blocked:abc::f0 "
	      "bia:f32:a:blocked:abc::f0_mask4 dst:f32:a:blocked:abc::f0,"
	      "attr-scratchpad:user attr-post-ops:eltwise_gelu_erf,,1x5x7:1x7x9,0.01\n"
	      "onednn_verbose,v1,primitive,exec,cpu,matmul,ref,undef,"
	      "src:f32::blocked:ab::f0 wei:f32::blocked:ab::f0 bia:f32::blocked:ab::f0_mask3 "
	      "dst:f32::blocked:ab::f0,,,5x7:7x9,0.01\n"
	      "onednn_verbose,v1,graph,exec,cpu,100002,matmul_post_ops,,,in0_f32,,,0.1\n",
	      CONV " bias,add,relu; 5x7:7x9 bias,gelu", 0, "verbose lines of 3.x");
	ok(was_said("matmul (with another bias) 1") && was_said("graph 1"),
	   "a bias for each element, and what oneDNN Graph says, are left out");
}

static void test_benchdnn(void)
{
	lines(NULL,
	      "--conv --dir=FWD_B --stag=axb --attr-post-ops=sum+relu "
	      "mb1_ic8ih14oc8oh14kh3ph1n\"net:conv*3\"\n"
	      "--reset --matmul --bia_dt=f32 --bia_mask=2 --attr-post-ops=clip:0:6 5x7:7x9\n",
	      CONV " bias,add,relu x3; 5x7:7x9 bias,relu6", 0,
	      "options of benchdnn, and a count in a name");
	lines(NULL,
	      "--conv --dir=FWD_I,BWD_D,FWD_B --mb=2,0 mb1_ic8ih14oc8oh14kh3ph1\n"
	      "--cfg=u8s8u8,f32 ic8ih14oc8oh14kh3ph1\n",
	      "mb2_ic8ih14_oc8oh14_kh3ph1 x2; " CONV
	      " x2; mb2_ic8ih14_oc8oh14_kh3ph1 bias x2; " CONV " bias x2",
	      0, "lists of values make all combinations, and hold on");
	ok(was_said("backward problems 6") && was_said("problems that are not f32 4"),
	   "what is left out is told");
	lines(NULL, "--matmul --wtag=any,ab 5x7:7x9\n", "5x7:7x9; 5x7:7x9 computed", 0,
	      "a right side in a given layout is computed");
	lines(NULL, "--ip --dir=FWD_B mb5ic7oc9\n--ip mb0ic7oc9\n", "5x7:7x9 bias", 1,
	      "inner products");
	lines(NULL, "--matmul --bia_dt=f32 --bia_mask=3 5x7:7x9\n--batch=other\n", "", 0,
	      "another bias is left out");
	ok(was_said("products with another bias 1, files named by --batch 1"), "and told");
	lines(NULL, "--pool mb1ic3_ih4oh2kh2\n--matmul 5x8:7x9\n", "", 1,
	      "other drivers, and a product that is none");
}

/* Lists and logs with letters changed: what is taken is a workload, and nothing else happens. */
static void test_hostile_lines(void)
{
	static const char text[] =
		"--conv --reset --dir=FWD_B,FWD_I --stag=axb --mb=1,2 "
		"--attr-post-ops=sum+clip:0:6,relu "
		"mb1g2_ic8ih14oc8oh14kh3ph1n\"a:b*3\"\n"
		"--matmul --reset --wtag=any,ab --bia_dt=f32 --bia_mask=4 2x5x7:2x7x9n\"c*2\"\n"
		"--ip mb5ic7ih2iw2oc9\n"
		"dnnl_verbose,exec,cpu,matmul,gemm,undef,src_f32::blocked:ab:f0 "
		"wei_f32::blocked:ab:f0 bia_f32::blocked:ab:f0_mask2 dst_f32::blocked:ab:f0,"
		"post_ops:'sum;eltwise_relu:0.1;binary_mul:f32:3;',,b2m5n9k7,0.01\n";
	struct rng r;
	int64_t workloads = 0;

	rng_seed(&r, 2, "lines");
	for (int i = 0; i < 1000; i++) {
		struct extract x = {.layout = LAYOUT_NHWC, .format = "log"};
		char s[sizeof text];

		memcpy(s, text, sizeof s);
		for (uint64_t k = rng_below(&r, 6); k--;)
			s[rng_below(&r, sizeof s - 1)] = text[rng_below(&r, sizeof s - 1)];
		extract_bytes(&x, s, sizeof s - 1);
		for (size_t k = 0; k < x.found.by_id.n; k++) {
			struct work *w = x.found.by_id.item[k].value;
			struct err e = ERR_INIT;

			workloads += !workload_finish(&w->w, &e);
		}
		extract_free(&x);
	}
	ok(workloads > 1000, "lines with letters changed make workloads or are refused");
}

static void test_records(void)
{
	struct extract x = {.layout = LAYOUT_NHWC}, y = {.layout = LAYOUT_NHWC};
	struct json_doc scratch = JSON_DOC_INIT;
	struct buf m = BUF_INIT, line = BUF_INIT, again = BUF_INIT;

	a_model(&m);
	extract_bytes(&x, m.s, m.n);
	for (size_t i = 0; i < x.found.by_id.n; i++) {
		work_print(x.found.by_id.item[i].value, &scratch, &line);
		buf_ch(&line, '\n');
	}
	line.n -= 2; /* a field that is not ours */
	buf_str(&line, ",\"x\":{\"note\":7}}\n");
	extract_bytes(&y, line.s, line.n);
	extract_bytes(&y, m.s, m.n);
	extract_bytes(&y, line.s, line.n);
	for (size_t i = 0; i < y.found.by_id.n; i++) {
		work_print(y.found.by_id.item[i].value, &scratch, &again);
		buf_ch(&again, '\n');
	}
	ok(line.n && !strcmp(line.s, again.s),
	   "records, merged with the model they came from, stay as they are");
	extract_bytes(&y, "{\"tl\":1,\"type\":\"end\"}\n", 22);
	ok(y.failed == 1, "other records are refused");
	extract_free(&x);
	extract_free(&y);
	json_free(&scratch);
	buf_free(&m);
	buf_free(&line);
	buf_free(&again);
}

/* What is in a model */

/* A convolution with relu, a transposed one, which is no workload, and sizes that are known. */
static void a_mixed_model(struct buf *m)
{
	struct buf g = image();

	weights(&g, "v", "8,4,2,2");
	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> r", "");
	node(&g, "ConvTranspose r v -> t", "strides=2,2");
	node(&g, "Shape t -> u", "");
	node(&g, "Reshape t u -> y", "");
	output(&g, "y");
	model(m, &g, 13);
}

static void test_contents(void)
{
	/* 14x14 pixels of 8 channels from 9 taps of 8, and 14x14 of 8 to 2x2 of 4. */
	static const char want[] = "model,operator,count,multiply_adds,share,becomes,why\n"
				   "net,Conv,1,112896,0.818181818,workload,\n"
				   "net,ConvTranspose,1,25088,0.181818182,none,"
				   "not an operator here\n"
				   "net,Relu,1,0,0,fused,\n"
				   "net,Shape,1,0,0,constant,\n"
				   "net,Reshape,1,0,0,none,\n";
	struct contents c = {MAP_INIT};
	struct buf drawing = BUF_INIT, m = BUF_INIT, got = BUF_INIT;
	struct extract x = {.layout = LAYOUT_NHWC, .contents = &c, .drawing = &drawing};

	a_mixed_model(&m);
	extract_bytes(&x, m.s, m.n);
	contents_csv(&c, &got);
	if (!ok(!strcmp(got.s, want), "contents of a model: what became of each operator"))
		diag("got  %s\nwant %s\nsaid %s", got.s, want, said.s);
	ok(strstr(drawing.s, "digraph \"net\" {\n") == drawing.s &&
		   strstr(drawing.s, "n0 [label=\"Conv\", fillcolor=palegreen3") &&
		   strstr(drawing.s, "n1 [label=\"Relu\", fillcolor=darkseagreen1") &&
		   strstr(drawing.s, "n2 [label=\"ConvTranspose\", fillcolor=orange") &&
		   strstr(drawing.s, "n4 [label=\"Reshape\", fillcolor=white"),
	   "its drawing: colours tell what is covered");
	ok(strstr(drawing.s, "n1 -> n2 [label=\"1x8x14x14\"];") &&
		   strstr(drawing.s, "n2 -> n4 [label=\"1x4x28x28\"];") &&
		   strstr(drawing.s, "i0 -> n0 ") && strstr(drawing.s, "n4 -> o") &&
		   !strstr(drawing.s, "n3 ["),
	   "arrows have shapes, and nodes of sizes are left out");
	if (tap_failed)
		diag("%s", drawing.s);
	contents_free(&c);
	extract_free(&x);
	buf_free(&drawing);
	buf_free(&got);
	buf_free(&m);
}

/* A label ends neither early nor in the middle of a letter. */
static void test_hostile_names(void)
{
	struct buf g = image(), m = BUF_INIT, drawing = BUF_INIT, text = BUF_INIT;
	struct contents c = {MAP_INIT};
	struct extract x = {.layout = LAYOUT_NHWC, .contents = &c, .drawing = &drawing};
	const struct table_look look = {0, 0};

	node(&g, "A\"];b\\\033[31m x -> y", "");
	output(&g, "y");
	model(&m, &g, 13);
	extract_bytes(&x, m.s, m.n);
	ok(strstr(drawing.s, "label=\"A\\\"];b\\\\?[31m\"") != NULL,
	   "names in a drawing are quoted");
	contents_text(&c, &look, &text);
	ok(strstr(text.s, "b\\?[31m") && !strchr(text.s, '\033'),
	   "and give a terminal no commands");
	contents_free(&c);
	extract_free(&x);
	buf_free(&drawing);
	buf_free(&text);
	buf_free(&m);
}

int main(void)
{
	char folder[] = "/tmp/tl-extract-XXXXXX";

	if (!mkdtemp(folder))
		bail_out("no folder for temporary files");
	snprintf(path, sizeof path, "%s/net", folder);
	test_figures();
	test_fusion();
	test_clip();
	test_activations();
	test_subgraph();
	test_padding();
	test_convolutions();
	test_quantized();
	test_products();
	test_shapes();
	test_symbols();
	test_dims();
	test_refusals();
	test_stream();
	test_hostile();
	test_lists();
	test_logs();
	test_versions();
	test_benchdnn();
	test_hostile_lines();
	test_records();
	test_contents();
	test_hostile_names();
	unlink(path);
	rmdir(folder);
	buf_free(&said);
	return done_testing();
}
