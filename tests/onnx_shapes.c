/* ONNX models: operators with their geometry, and sizes that are computed or given. */
#include "tests/onnx.h"

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
	expect(&g, 13, "mb1_ic4id8_oc6od6_kd3", "three spatial dimensions");

	memset(&g, 0, sizeof g);
	input(&g, "x", "2,4,6,9,11");
	weights(&g, "w", "6,2,3,1,5");
	weights(&g, "c", "6");
	node(&g, "Conv x w c -> a", "group=2 pads=1,0,2,0,0,3 strides=1,2,2 dilations=1,3,1");
	node(&g, "Relu a -> y", "");
	output(&g, "y");
	expect(&g, 13, "mb2g2_ic4id6ih9iw11_oc6od5oh5ow6_kd3kh1kw5sd1sh2sw2pd1ph0pw2 bias,relu",
	       "each with its own padding and stride");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,4,4,4,4,4");
	weights(&g, "w", "6,4,3,3,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "four spatial dimensions are not extracted");
	ok(was_said("Conv (4-D) 1") && was_said("0.0 %"), "but reported, with their share");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,4,8,8");
	input(&g, "w", "6,4,3,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	expect(&g, 13, "", "computed weights are not extracted");
	ok(was_said("computed weights"), "but reported");
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

static void einsum(const char *equation, const char *want)
{
	struct buf g = BUF_INIT;
	char attrs[64];

	input(&g, "x", "2,3,4,5");
	weights(&g, "w", "5,6");
	input(&g, "z", "2,3,7,5");
	snprintf(attrs, sizeof attrs, "equation=%s", equation);
	node(&g,
	     strstr(equation, "hw") ? "Einsum x z -> y"
	     : *equation == 'w'	    ? "Einsum w x -> y"
				    : "Einsum x w -> y",
	     attrs);
	output(&g, "y");
	expect(&g, 13, want, equation);
}

static void test_einsum(void)
{
	einsum("abcd,de->abce", "24x5:5x6");
	einsum("...d,de->...e", "24x5:5x6");
	einsum("abcd,de", "24x5:5x6");
	einsum("wo,abcw->abco", "24x5:5x6");
	einsum("nhqd,nhwd->nhqw", "6x4x5:6x5x7 computed");
	einsum("nhqd,nhwd->nqhw", "6x4x5:6x5x7 computed");
	einsum("nhqd,nhwd->nqw", "2x4x15:2x15x7 computed");
	einsum("nhqd,nhwd->nhw", "");
	ok(was_said("Einsum (not an operator here) 1"), "what is no product is told");
}

static struct buf grouped(const char *groups)
{
	struct buf g = image();

	node(&g, "GroupNormalization x c c -> n", groups);
	conv(&g, "Conv n w -> y");
	output(&g, "y");
	return g;
}

static void test_groups(void)
{
	struct buf g = grouped("num_groups=4");

	expect(&g, 21, CONV, "a normalization of groups keeps the shape");
	g = grouped("num_groups=3");
	refuse(&g, "divides 8 channels into 3 groups", "groups of unequal size");
	g = grouped("");
	refuse(&g, "the node n (GroupNormalization) has no num_groups",
	       "groups that nobody counts");
	g = grouped("num_groups=0");
	refuse(&g, "divides 8 channels into 0 groups", "no groups");
}

static struct buf joined(const char *axis)
{
	struct buf g = image();

	weights(&g, "k", "8,16,3,3");
	node(&g, "Concat x x -> n", axis);
	conv(&g, "Conv n k -> y");
	output(&g, "y");
	return g;
}

static void test_joined(void)
{
	struct buf g = joined("axis=1");

	expect(&g, 13, "mb1_ic16ih14_oc8oh14_kh3ph1", "channels are joined");
	g = joined("");
	expect(&g, 3, "mb1_ic16ih14_oc8oh14_kh3ph1", "which was the default before operator set 4");
	g = joined("");
	refuse(&g, "the node n (Concat) has no axis", "tensors that are joined along nothing");
}

/* Shapes */

/* A product of an input of these sizes. */
static struct buf product(const char *dims)
{
	struct buf g = BUF_INIT;

	input(&g, "x", dims);
	weights(&g, "w", "8,9");
	node(&g, "MatMul x w -> y", "");
	output(&g, "y");
	return g;
}

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
	input(&g, "x", "4,12,5");
	ints(&g, "least", "-9223372036854775808");
	ints(&g, "last", "-2");
	ints(&g, "rest", "-1");
	weights(&g, "w", "60,9");
	node(&g, "Shape x -> s", "");
	node(&g, "Slice s least last -> n", "");
	node(&g, "Concat n rest -> to", "axis=0");
	node(&g, "Reshape x to -> f", "");
	node(&g, "MatMul f w -> y", "");
	output(&g, "y");
	expect(&g, 13, "4x60:60x9", "a slice from the least integer on is one from the beginning");

	memset(&g, 0, sizeof g);
	input(&g, "x", "N,seq");
	input(&g, "z", "seq,6");
	node(&g, "MatMul x z -> y", "");
	output(&g, "y");
	workloads(&g, 13, &shaped, &got);
	ok(!strcmp(got.s, "3x40:40x6 computed"), "--shape binds symbols: %s", got.s);

	g = product("N,seq,8");
	expect(&g, 13, "", "a size that nobody gives is not made up");
	ok(was_said("sizes not known: seq (--dim") && was_said("MatMul (unknown shape"),
	   "and reported");

	g = product("batch_size,N,8");
	expect(&g, 13, "", "an N beside a batch is none");
	ok(was_said("sizes not known: N (--dim") &&
		   was_said("taken for a batch of 1: batch_size (--batch"),
	   "but a size that is asked for");

	g = product("7,N,8");
	expect(&g, 13, "7x8:8x9", "alone it is the batch, wherever it stands");

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
	ok(size_of("Mul(Integer(4), Symbol('seq', positive=True, integer=True))", 7, 3) == 28 &&
		   size_of("Add(seq, 1, Min(Integer(2), Symbol('b.1')))", 7, 3) == 10 &&
		   size_of("Pow(seq, 2) + seq**2", 7, 3) == 98 &&
		   size_of("Symbol('seq", 7, 3) < 0 && size_of("Symbol(seq)", 7, 3) < 0,
	   "as SymPy tells it");
	ok(size_of("2*seq**2", 7, 3) == 98 && size_of("b.1*seq**2*2", 7, 3) == 294 &&
		   size_of("100 - seq**2", 7, 3) == 51 && size_of("60 + -seq**2", 7, 3) == 11 &&
		   size_of("2**b.1**2", 7, 3) == 512 && size_of("(2**b.1)**2", 7, 3) == 64 &&
		   size_of("-(-seq)**3 + 8*2**-b.1", 7, 3) == 344,
	   "powers bind before products and signs, and from the right");
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
	static const char *const bad[] = {"seq",    "=3",     "seq=",	"seq=-2",
					  "seq=3x", "seq=+3", "seq= 3", "seq=0x3"};

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

int main(void)
{
	begin();
	test_padding();
	test_convolutions();
	test_products();
	test_einsum();
	test_groups();
	test_joined();
	test_shapes();
	test_symbols();
	test_dims();
	return end();
}
