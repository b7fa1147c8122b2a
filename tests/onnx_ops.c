/* What tl-extract --ops all takes out of ONNX models: operators that multiply and add nothing, and
 * attention as one. */
#include "tests/onnx.h"

static void test_rows(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "2,3,4,5");
	node(&g, "Softmax x -> y", "");
	output(&g, "y");
	expect(&g, 13, "softmax 24x5", "softmax along the last dimension");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,4,5");
	node(&g, "Softmax x -> y", "");
	output(&g, "y");
	expect(&g, 12, "softmax 2x60", "which was over several until operator set 13");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,4,1");
	node(&g, "Softmax x -> y", "axis=2");
	output(&g, "y");
	expect(&g, 13, "softmax 6x4", "and may have dimensions of 1 behind it");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,4,5");
	node(&g, "Softmax x -> y", "axis=1");
	output(&g, "y");
	expect(&g, 13, "", "along another one it is not extracted");
	ok(was_said("Softmax (along another axis than the last) 1"), "which is said");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,8");
	weights(&g, "c", "8");
	node(&g, "LayerNormalization x c c -> a", "");
	node(&g, "RMSNormalization a c -> y", "");
	output(&g, "y");
	expect(&g, 23, "layer_norm 6x8 bias; rms_norm 6x8", "normalizations");

	memset(&g, 0, sizeof g);
	info(&g, 11, "x", "2,3,8", VALUE_F16);
	node(&g, "Softmax x -> y", "");
	output(&g, "y");
	expect(&g, 13, "softmax 6x8 (f16)", "in half precision");
}

/* A normalization as operator sets before 17 write it. */
static struct buf written(const char *square, const char *root)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "2,3,8");
	weights(&g, "c", "8");
	real(&g, "two", 2);
	real(&g, "one", 1);
	real(&g, "tiny", 1e-6f);
	node(&g, "ReduceMean x -> m", "axes=-1,");
	node(&g, "Sub x m -> d", "");
	node(&g, square, "");
	node(&g, "ReduceMean p -> v", "axes=-1,");
	node(&g, "Add v tiny -> e", "");
	node(&g, "Sqrt e -> s", "");
	node(&g, root, "");
	return g;
}

static void normalizes(struct buf *g, const char *want, const char *what)
{
	node(g, "Mul q c -> f", "");
	node(g, "Add f c -> y", "");
	output(g, "y");
	expect(g, 13, want, what);
}

static void test_written(void)
{
	struct buf g = written("Pow d two -> p", "Div d s -> q");

	normalizes(&g, "layer_norm 6x8 bias", "layer normalization in nine nodes");
	ok(!strstr(said.s, "not extracted"), "of which none is left");
	g = written("Mul d d -> p", "Reciprocal s -> r");
	node(&g, "Mul d r -> q", "");
	normalizes(&g, "layer_norm 6x8 bias", "by products");
	g = written("Pow d two -> p", "Sub x m -> d2");
	node(&g, "Div d2 s -> q", "");
	normalizes(&g, "layer_norm 6x8 bias", "with the difference twice");
	g = written("Pow x two -> p", "Div one s -> r");
	node(&g, "Mul x r -> q", "");
	normalizes(&g, "rms_norm 6x8 bias", "by the root mean square");
	g = written("Pow d two -> p", "Div d s -> q");
	output(&g, "s");
	normalizes(&g, "eltwise 6x1 bias; eltwise 6x8 bias",
		   "what somebody else reads stays apart");
	g = written("Pow d two -> p", "Div x s -> q");
	normalizes(&g, "eltwise 6x1 bias; eltwise 6x8 bias", "and the quotient of something else");
}

static void test_pools(void)
{
	struct buf g = image();

	node(&g, "MaxPool x -> a", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1");
	node(&g, "AveragePool a -> b", "kernel_shape=2,2 strides=2,2 ceil_mode=1");
	node(&g, "GlobalAveragePool b -> y", "");
	output(&g, "y");
	expect(&g, 13,
	       "maxpool2d mb1_ic8ih14_oh7_kh3sh2ph1; avgpool2d mb1_ic8ih7_oh4_kh2sh2; "
	       "avgpool2d mb1_ic8ih4_oh1_kh4",
	       "pools");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,8,20");
	node(&g, "MaxPool x -> y", "kernel_shape=2, strides=2,");
	output(&g, "y");
	expect(&g, 13, "maxpool2d mb1_ic8ih1iw20_oh1ow10_kh1kw2sh1sw2", "a pool of one dimension");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,8,4,4,4");
	node(&g, "MaxPool x -> y", "kernel_shape=2,2,2");
	output(&g, "y");
	expect(&g, 13, "maxpool3d mb1_ic8id4_od3_kd2", "a pool of three dimensions");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,8,4,6,6");
	node(&g, "AveragePool x -> a", "kernel_shape=1,2,2 strides=1,2,2");
	node(&g, "GlobalAveragePool a -> y", "");
	output(&g, "y");
	expect(&g, 13,
	       "avgpool3d mb1_ic8id4ih6iw6_od4oh3ow3_kd1kh2kw2sd1sh2sw2; "
	       "avgpool3d mb1_ic8id4ih3iw3_od1oh1ow1_kd4kh3kw3",
	       "and means");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,8,4,4,4,4");
	node(&g, "MaxPool x -> y", "kernel_shape=2,2,2,2");
	output(&g, "y");
	expect(&g, 13, "", "one of four is not extracted");
	ok(was_said("MaxPool (of another rank) 1"), "which is said");
}

static void test_chains(void)
{
	struct buf g = image();

	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> b", "");
	node(&g, "MaxPool b -> p", "kernel_shape=2,2 strides=2,2");
	node(&g, "Sigmoid p -> s", "");
	node(&g, "Mul s p -> m", "");
	node(&g, "Relu m -> y", "");
	output(&g, "y");
	expect(&g, 13, CONV " relu; maxpool2d mb1_ic8ih14_oh7_kh2sh2 silu,relu",
	       "pools take what follows, too");

	g = image();
	node(&g, "Sigmoid x -> s", "");
	node(&g, "Mul s x -> m", "");
	node(&g, "Relu m -> y", "");
	output(&g, "y");
	expect(&g, 13, "eltwise 196x8 sigmoid,mul,relu",
	       "a chain that no operator takes is one itself");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,3,8");
	input(&g, "z", "2,3,8");
	weights(&g, "c", "8");
	node(&g, "Add x z -> a", "");
	node(&g, "Add a c -> b", "");
	node(&g, "Tanh b -> d", "");
	node(&g, "Exp d -> y", "");
	output(&g, "y");
	expect(&g, 13, "eltwise 6x8 add; eltwise 6x8 bias,tanh",
	       "a bias begins another, for it must be the first");
	ok(was_said("not extracted: Exp 1"), "and what is no post-op is said");

	memset(&g, 0, sizeof g);
	info(&g, 11, "x", "2,3", VALUE_I64);
	info(&g, 11, "z", "2,3", VALUE_I64);
	node(&g, "Add x z -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "numbers that count are none");
}

/* Scores of 2 texts of 4 heads, 6 words of 8 numbers; rest: from the scores to the weights. */
static struct buf scores(void)
{
	struct buf g = BUF_INIT;

	input(&g, "q", "2,4,6,8");
	input(&g, "k", "2,4,8,5");
	input(&g, "v", "2,4,5,7");
	input(&g, "mask", "2,1,1,5");
	input(&g, "bias", "2,4,6,5");
	info(&g, 11, "keep", "2,1,1,5", VALUE_BOOL);
	real(&g, "eight", 8);
	real(&g, "least", -1e9f);
	node(&g, "MatMul q k -> s", "");
	return g;
}

static void attends(struct buf *g, const char *from, const char *want, const char *what)
{
	char text[80];

	snprintf(text, sizeof text, "Softmax %s -> w", from);
	node(g, text, "axis=-1");
	node(g, "MatMul w v -> y", "");
	output(g, "y");
	expect(g, 13, want, what);
}

static void test_attention(void)
{
	struct buf g = scores();

	attends(&g, "s", "attention b2h4_m6n5_k8v7", "attention is one operator");
	ok(was_said("1 operator extracted, 100.0 % of the model's 3600 multiply-adds"),
	   "with the multiply-adds of both products");
	g = scores();
	node(&g, "Div s eight -> a", "");
	node(&g, "Add a mask -> b", "");
	attends(&g, "b", "attention b2h4_m6n5_k8v7_mask1", "scaled and masked");
	g = scores();
	node(&g, "Mul eight s -> a", "");
	node(&g, "Where keep a least -> b", "");
	attends(&g, "b", "attention b2h4_m6n5_k8v7_mask1", "masked by choice");
	g = scores();
	node(&g, "Add bias s -> a", "");
	attends(&g, "a", "attention b2h4_m6n5_k8v7_mask1", "with a bias for each score");
	g = scores();
	output(&g, "s");
	attends(&g, "s", "8x6x8:8x8x5 computed; softmax 48x5; 8x6x5:8x5x7 computed",
		"scores that somebody else reads stay apart");
	g = scores();
	node(&g, "Tanh s -> a", "");
	attends(&g, "a", "8x6x8:8x8x5 tanh computed; softmax 48x5; 8x6x5:8x5x7 computed",
		"and those of which something else is made");

	memset(&g, 0, sizeof g);
	input(&g, "q", "6,8");
	weights(&g, "k", "8,5");
	input(&g, "v", "5,7");
	node(&g, "MatMul q k -> s", "");
	attends(&g, "s", "6x8:8x5; softmax 6x5; 6x5:5x7 computed",
		"a product with constants is no score");
}

static void test_hostile(void)
{
	struct buf g = scores(), h = written("Pow d two -> p", "Div d s -> q");

	node(&g, "Div s eight -> a", "");
	node(&g, "Add a mask -> b", "");
	node(&g, "Softmax b -> w", "");
	node(&g, "MatMul w v -> p", "");
	node(&g, "MaxPool p -> y", "kernel_shape=2,2 strides=2,2");
	output(&g, "y");
	attack_model(&g, 13, "attention and a pool");
	node(&h, "Mul q c -> f", "");
	node(&h, "Add f c -> y", "");
	output(&h, "y");
	attack_model(&h, 13, "a normalization");
	g = image();
	weights(&g, "t", "8,3,4,4");
	node(&g, "ConvTranspose x t -> a", "strides=2,2 pads=1,1,1,1 dilations=1,1 group=1");
	node(&g, "Relu a -> y", "");
	output(&g, "y");
	attack_model(&g, 13, "a transposed convolution");
}

static void test_default(void)
{
	struct buf g = scores();

	want_all = 0;
	attends(&g, "s", "8x6x8:8x8x5 computed; 8x6x5:8x5x7 computed",
		"unless all are asked for, there are products alone");
}

/* Transposed convolutions, over 8 x 14 x 14, with what follows them. */
static void test_transposed(void)
{
	static const struct {
		const char *weights, *attributes, *then, *as, *name;
	} row[] = {
		{"8,3,2,2", "strides=2,2", "Relu a -> y", "196x8:8x12 relu",
		 "windows that lie side by side are a product"},
		{"8,3,2,2", "strides=2,2 output_padding=1,0", "Relu a -> y",
		 "mb1_ic8ih14iw14_oc12oh15ow14_kh1kw1 relu",
		 "a row that no window reaches makes a convolution with padding"},
		{"8,3,2,2", "strides=2,2 pads=1,1,1,1", "Relu a -> y", "196x8:8x12 relu",
		 "and its edges may be cut off"},
		{"8,3,4,4", "strides=2,2 pads=1,1,1,1", "Clip a zero six -> y",
		 "mb1_ic8ih14_oc12oh15_kh2ph1 relu6",
		 "a stride that divides the kernel makes a convolution of its phases"},
		{"8,3,4,2", "strides=2,1", "Relu a -> y", "mb1_ic8ih14_oc6oh15_kh2ph1 relu",
		 "each axis by its own stride"},
		{"8,3,3,3", "pads=1,1,1,1", "Add a x3 -> y", "mb1_ic8ih14_oc3oh14_kh3ph1 add",
		 "one of unit stride takes in what a convolution does"},
		{"8,3,3,3", "dilations=2,2 pads=2,2,2,2", "Relu a -> y",
		 "mb1_ic8ih14_oc3oh14_kh3ph2dh1 relu", "a dilated one of unit stride"},
		{"8,3,4,4", "strides=2,2 pads=1,1,1,1", "Add a x3 -> y",
		 "mb1_ic8ih14_oc12oh15_kh2ph1",
		 "another value for each pixel is added behind the phases are moved"},
		{"8,3,3,3", "strides=2,2 pads=1,1,1,1", "Relu a -> y",
		 "mb1_ic8ih14_oc12oh14_kh2ph1 relu", "of another stride some taps are 0"},
		{"8,3,1,1", "strides=2,2", "Relu a -> y", "196x8:8x3",
		 "where most would be, it is a product whose columns are summed"},
		{"8,3,2,2", "strides=2,2 dilations=2,2", "Relu a -> y", "196x8:8x12",
		 "and so it is of dilated windows"},
		{"8,3,2,2", "strides=2,2 group=2", "Relu a -> y", "mb1g2_ic8ih14_oc24oh14_kh1 relu",
		 "groups are those of a convolution"},
		{"8,1,3,3", "strides=2,2 group=8", "Relu a -> y",
		 "mb1g8_ic8ih14_oc32oh15_kh2ph1 relu", "even with taps of zero"},
		{"8,3,3,3", "strides=3,3 pads=5,5,5,5", "Relu a -> y", "196x8:8x27 relu",
		 "padding may cut off whole windows"},
	};

	for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
		struct buf g = image(), n = BUF_INIT;
		int size = i == 5 ? 14 : 28;

		weights(&g, "t", row[i].weights);
		real(&g, "zero", 0);
		real(&g, "six", 6);
		buf_fmt(&n, "1,3,%d,%d", size, size);
		input(&g, "x3", n.s);
		node(&g, "ConvTranspose x t -> a", row[i].attributes);
		node(&g, row[i].then, "");
		output(&g, "y");
		expect(&g, 13, row[i].as, row[i].name);
		buf_free(&n);
	}
}

/* The products in convolutions that are not plain ones. */
static void test_parts(void)
{
	struct buf g = image();

	input(&g, "t", "8,3,2,2");
	node(&g, "ConvTranspose x t -> y", "strides=2,2");
	output(&g, "y");
	expect(&g, 13, "196x8:8x12 computed", "by weights that come in");

	g = image();
	weights(&g, "t", "4,8,3,3");
	input(&g, "o", "1,18,7,7");
	node(&g, "DeformConv x t o -> y", "strides=2,2 pads=1,1,1,1");
	output(&g, "y");
	expect(&g, 19, "49x72:72x4", "a deformable convolution");

	g = image();
	weights(&g, "t", "4,4,3,3");
	input(&g, "o", "1,18,7,7");
	node(&g, "DeformConv x t o -> y", "strides=2,2 pads=1,1,1,1 group=2");
	output(&g, "y");
	expect(&g, 19, "2x49x36:2x36x2", "in groups, too");
}

/* Each operator of the catalogue with an input less than its row asks for. */
static void test_inputs(void)
{
	int refused = 0, asking = 0;

	for (int i = 1; i < OPERATORS; i++) {
		const struct operator_row *row = &operator_rows[i];
		struct buf g = BUF_INIT, text = BUF_INIT, got = BUF_INIT;

		if (!row->inputs)
			continue;
		buf_str(&text, row->name);
		for (int k = 1; k < row->inputs; k++)
			buf_str(&text, " x");
		buf_str(&text, " -> y");
		input(&g, "x", "2,3,4,5");
		node(&g, text.s, "");
		output(&g, "y");
		workloads(&g, 13, NULL, &got);
		asking++;
		if (strstr(said.s, "lacks an input"))
			refused++;
		else
			diag("%s: %s", text.s, said.s);
		buf_free(&text);
		buf_free(&got);
	}
	ok(asking > 100 && refused == asking, "%d operators that lack an input are refused",
	   asking);
}

int main(void)
{
	begin();
	test_transposed();
	test_parts();
	test_inputs();
	want_all = 1;
	test_rows();
	test_written();
	test_pools();
	test_chains();
	test_attention();
	test_hostile();
	test_default();
	return end();
}
