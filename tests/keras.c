/* Keras: what layers become, calls in any order, what Keras 2 and 3 write, and hostile models.
 *
 * A model is written here as lines "NAME CLASS ARGUMENT.. KEY=VALUE..", where a value is JSON
 * without spaces, and an argument is a name, NAME:RESULT, #NUMBER, or @KEY=NAME for one that is
 * given by its key. NAME/SHAPE is an argument whose shape the file tells. The last line is what the
 * model makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/calls.h"

enum style { KERAS2, KERAS3 };

/* ---- writing models ---- */

/* "lstm:1/[null,4]" */
static void put_tensor(struct buf *b, enum style style, const char *s, size_t n)
{
	const char *slash = memchr(s, '/', n), *const end = s + n;
	const size_t whole = slash ? (size_t)(slash - s) : n;
	const char *colon = memchr(s, ':', whole);
	const int name = (int)(colon ? (size_t)(colon - s) : whole);
	const int result = colon ? atoi(colon + 1) : 0;

	if (style == KERAS2)
		buf_fmt(b, "[\"%.*s\", 0, %d]", name, s, result);
	else
		buf_fmt(b,
			"{\"class_name\": \"__keras_tensor__\", \"config\": {%s%.*s%s"
			"\"dtype\": \"float32\", \"keras_history\": [\"%.*s\", 0, %d]}}",
			slash ? "\"shape\": " : "", slash ? (int)(end - slash - 1) : 0,
			slash ? slash + 1 : "", slash ? ", " : "", name, s, result);
}

struct call {
	struct buf args, keys, config;
};

static void put_word(struct call *c, enum style style, const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);

	if (*s == '@') {
		buf_fmt(&c->keys, "%s\"%.*s\": ", c->keys.n ? ", " : "", (int)(equals - s - 1),
			s + 1);
		put_tensor(&c->keys, style, equals + 1, (size_t)(s + n - equals - 1));
	} else if (equals) {
		buf_fmt(&c->config, ", \"%.*s\": %.*s", (int)(equals - s), s,
			(int)(s + n - equals - 1), equals + 1);
	} else {
		buf_str(&c->args, c->args.n ? ", " : "");
		if (*s == '#' && style == KERAS2)
			buf_fmt(&c->args, "[\"_CONSTANT_VALUE\", -1, %.*s]", (int)n - 1, s + 1);
		else if (*s == '#')
			buf_add(&c->args, s + 1, n - 1);
		else
			put_tensor(&c->args, style, s, n);
	}
}

static void put_line(struct buf *b, enum style style, const char *s, size_t size)
{
	struct call c = {BUF_INIT, BUF_INIT, BUF_INIT};
	const char *const end = s + size;
	char name[64], class[64];
	int skip = 0;

	if (sscanf(s, "%63s %63s%n", name, class, &skip) != 2)
		bail_out("no layer: %.*s", (int)size, s);
	for (s += skip; s < end;) {
		const size_t n = strcspn(s, " \n");

		if (n)
			put_word(&c, style, s, n);
		s += n + 1;
	}
	buf_fmt(b, "{\"class_name\": \"%s\", \"name\": \"%s\", \"config\": {\"name\": \"%s\"%s}, ",
		class, name, name, c.config.n ? c.config.s : "");
	if (!c.args.n)
		buf_str(b, "\"inbound_nodes\": []}");
	else if (style == KERAS3)
		buf_fmt(b, "\"inbound_nodes\": [{\"args\": [%s], \"kwargs\": {%s}}]}", c.args.s,
			c.keys.n ? c.keys.s : "");
	else /* the keys stand in the first tensor */
		buf_fmt(b, "\"inbound_nodes\": [[%.*s, {%s}]%s]]}", (int)strcspn(c.args.s, "]"),
			c.args.s, c.keys.n ? c.keys.s : "", c.args.s + strcspn(c.args.s, "]") + 1);
	buf_free(&c.args);
	buf_free(&c.keys);
	buf_free(&c.config);
}

static void write_model(struct buf *b, enum style style, const char *text)
{
	char last[64] = "";

	buf_clear(b);
	buf_str(b,
		"{\"class_name\": \"Functional\", \"config\": {\"name\": \"net\", \"layers\": [");
	for (const char *s = text; *s;) {
		const size_t n = strcspn(s, "\n");

		if (*s != '\n') {
			buf_str(b, s > text ? ",\n" : "\n");
			put_line(b, style, s, n);
			sscanf(s, "%63s", last);
		}
		s += n + (s[n] == '\n');
	}
	buf_fmt(b, "], \"output_layers\": [[\"%s\", 0, 0]]}}", last);
}

/* ---- reading them ---- */

static void read_text(struct extract *x, enum style style, const char *text)
{
	struct buf b = BUF_INIT;

	write_model(&b, style, text);
	read_bytes(x, &format_keras, b.s, b.n);
	buf_free(&b);
}

static void expect(enum style style, const char *text, const char *want, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf got = BUF_INIT;

	read_text(&x, style, text);
	describe(&x, &got);
	ok(!x.failed && !strcmp(got.s, want), "%s", what);
	if (strcmp(got.s, want) != 0)
		diag("found %s, not %s; said %s", got.s, want, said.s);
	buf_free(&got);
	extract_free(&x);
}

/* Of Keras 2 and 3. */
static void expect_both(const char *text, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	for (int style = KERAS2; style <= KERAS3; style++) {
		buf_clear(&b);
		buf_fmt(&b, "%s, of Keras %d", what, style + 2);
		expect((enum style)style, text, want, b.s);
	}
	buf_free(&b);
}

static void refuse(const char *text, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	read_text(&x, KERAS3, text);
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
}

#define PLAIN(layer) "$y " layer " $0\n"
#define ACTIVATION(name) "$y Activation $0 activation=\"" name "\"\n"
#define CONVOLVE(layer, sizes)                                                                     \
	"$y " layer " $0 filters=$1a kernel_size=[" sizes "] strides=$stride "                     \
	"dilation_rate=$dilation padding=\"$PAD\""
#define NO_BIAS " use_bias=false\n"

static const struct spelling_row own_words[] = {
	{"image", "$y InputLayer batch_shape=[$Y]\n"},
	{"data", "$y InputLayer batch_shape=[$Y]\n"},
	{"filter", ""},
	{"each", ""},
	{"grouped", ""},
	{"volume", ""},
	{"line", ""},
	{"turned", ""},
	{"vector", ""},
	{"row", ""},
	{"matrix", ""},
	{"conv", CONVOLVE("Conv2D", "$1b,$1c") NO_BIAS},
	{"conv_bias", CONVOLVE("Conv2D", "$1b,$1c") "\n"},
	{"depthwise", CONVOLVE("DepthwiseConv2D", "$1b,$1c") " depth_multiplier=$1e" NO_BIAS},
	{"groups", CONVOLVE("Conv2D", "$1b,$1c") " groups=$1e" NO_BIAS},
	{"conv3d", CONVOLVE("Conv3D", "$1b,$1c,$1d") NO_BIAS},
	{"conv1d", CONVOLVE("Conv1D", "$1b") NO_BIAS},
	{"transposed", CONVOLVE("Conv2DTranspose", "$1b,$1c") NO_BIAS},
	{"zeros", "$y ZeroPadding2D $0 padding=1\n"},
	{"batch_norm", PLAIN("BatchNormalization")},
	{"group_norm", "$y GroupNormalization $0 groups=$groups\n"},
	{"relu", PLAIN("ReLU")},
	{"sigmoid", ACTIVATION("sigmoid")},
	{"relu6", "$y ReLU $0 max_value=6\n"},
	{"silu", ACTIVATION("silu")},
	{"hardswish", ACTIVATION("hard_silu")},
	{"gelu", ACTIVATION("gelu")},
	{"tanh", ACTIVATION("tanh")},
	{"add", "$y Add $0 $1\n"},
	{"mul", "$y Multiply $0 $1\n"},
	{"concat", "$y Concatenate $0 $1 axis=-1\n"},
	{"max_pool", "$y MaxPooling2D $0 pool_size=$size strides=$stride padding=\"$PAD\"\n"},
	{"avg_pool", "$y AveragePooling2D $0 pool_size=$size strides=$stride padding=\"$PAD\"\n"},
	{"resize", "$y UpSampling2D $0 size=2\n"},
	{"linear", "$y Dense $0 units=$1a" NO_BIAS},
	{"linear_bias", "$y Dense $0 units=$1a\n"},
	{"flat", PLAIN("Flatten")},
	{"mean", PLAIN("GlobalAveragePooling1D")},
	{"product", "$y Matmul $0 $1\n"},
	{"attention", "$y Attention $0 $0\n"},
	{"einsum", "$y Einsum $0 $1 subscripts=\"bij,bkj->bik\"\n"},
	{"lstm", "$y LSTM $0 units=$c return_sequences=true\n"},
};
static const struct spelling spelling = {SPELLING(own_words), .cases = 30, .between = ',',
					 .pad = {"valid", "same"}, .expect = expect_both};

#define IMAGE "x InputLayer batch_shape=[null,14,14,8]\n"
#define STEPS "x InputLayer batch_shape=[null,6,8]\n"
#define SAME "filters=8 kernel_size=[3,3] padding=\"same\""
#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"
/* Layers that show the shape of what they read: of an image, and of rows. */
#define SHOW(in) "show Conv2D " in " filters=1 kernel_size=[1,1] use_bias=false"
#define ROWS(in) "show Dense " in " units=1 use_bias=false"

/* ---- the order of layers ---- */

static void test_order(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf b = BUF_INIT;

	expect_both("y ReLU c\nc Conv2D x " SAME "\n" IMAGE "z Dropout y\n", CONV " bias,relu",
		    "layers before those that they read");
	for (int i = 400; i > 0; i--)
		buf_fmt(&b, "l%d ReLU l%d\n", i, i - 1);
	buf_str(&b, "l0 InputLayer batch_shape=[null,14,14,8]\nl401 Conv2D l400 " SAME);
	expect(KERAS3, b.s, CONV " bias", "400 layers, the last one first");
	buf_clear(&b);
	for (int i = 10000; i > 0; i--)
		buf_fmt(&b, "l%d ReLU l%d\n", i, i - 1);
	buf_str(&b, "l0 InputLayer batch_shape=[null,14,14,8]\nl10001 ReLU l10000");
	read_text(&x, KERAS3, b.s);
	ok(x.failed == 1 && was_said("an order that takes too long to follow"),
	   "10000 of them are refused");
	extract_free(&x);
	buf_free(&b);
	refuse(IMAGE "y ReLU z\nz ReLU y\n", "results that no layer makes",
	       "layers that read each other are refused");
	refuse(IMAGE "y ReLU nobody\n", "results that no layer makes",
	       "so is one that reads a layer that is not there");
}

/* ---- arguments ---- */

static void test_results(void)
{
	expect_both(STEPS "e LSTM x units=4 return_state=true\n"
			  "d LSTM x e:1 e:2 units=4 return_sequences=true\n" ROWS("d"),
		    "6x8:8x16 x2; 1x4:4x16 x12; 6x4:4x1", "states that start another network");
	expect_both(STEPS "e LSTM x units=4 return_state=true return_sequences=true\n" ROWS("e:2"),
		    "6x8:8x16; 1x4:4x16 x6; 1x4:4x1", "the cells of an LSTM");
	expect_both(STEPS "e GRU x units=4 return_state=true return_sequences=true\n" ROWS("e:1"),
		    "6x8:8x12; 1x4:4x12 x6; 1x4:4x1", "the state of a GRU");
	expect_both(STEPS "l Bidirectional x layer={\"class_name\":\"GRU\",\"config\":{\"units\":4,"
			  "\"return_state\":true}}\n" ROWS("l:2"),
		    "6x8:8x12 x2; 1x4:4x12 x12; 1x4:4x1", "the state of the second direction");
	expect_both(STEPS "a MultiHeadAttention x x num_heads=2 key_dim=4\n" ROWS("a:1"),
		    "6x8:8x8 bias x4; 2x6x4:2x4x6 computed; 2x6x6:2x6x4 computed; "
		    "12x6:6x1",
		    "the scores of attention");
	expect_both(STEPS "d EinsumDense x equation=\"abc,cde->abde\" output_shape=[null,3,5] "
			  "bias_axes=\"de\"\nf EinsumDense d equation=\"abde,def->abf\" "
			  "output_shape=[null,7] bias_axes=\"f\"\ng EinsumDense f "
			  "equation=\"...x,xy->...y\" output_shape=4\n" ROWS("g"),
		    "6x8:8x15; 6x15:15x7; 6x7:7x4; 6x4:4x1",
		    "products by equations, whose sizes are those of the data and of the result");
	expect_both(STEPS "t Transpose x axes=[0,2,1]\nm Mean t axis=[1] keepdims=true\n"
			  "s Squeeze m axis=1\ne ExpandDims s axis=-1\np Stack e e axis=1\n"
			  "q Max p axis=-1 keepdims=false\n" ROWS("q"),
		    "2x6:6x1", "what moves elements and reduces them, whose shapes follow");
	expect_both(IMAGE "c Conv2D x " SAME "\ns Silu c\nd Conv2D s " SAME "\nh HardSilu d\n"
			  "e Conv2D h " SAME "\ng Gelu e approximate=true\nf Conv2D g " SAME
			  "\nr Relu6 f\ni Conv2D r " SAME "\nk Clip i x_min=0 x_max=4\n",
		    CONV " bias,silu; " CONV " bias,hardswish; " CONV " bias,gelu_tanh; " CONV
			 " bias,relu6; " CONV " bias,clip(0,4)",
		    "activations that are functions");
	expect_both(STEPS "q Square x\nm Mean q axis=[-1] keepdims=true\nr Rsqrt m\n"
			  "f Flip r axis=1\ny Multiply x f\n" ROWS("y"),
		    "6x8:8x1", "and parts of a normalization");
	expect_both("q InputLayer batch_shape=[2,3,8]\nv InputLayer batch_shape=[2,5,8]\n"
		    "a AdditiveAttention q v use_scale=true\n" ROWS("a"),
		    "2x3x5:2x5x8 computed; 6x8:8x1", "attention whose scores are sums");
	expect_both("x InputLayer batch_shape=[2,3,5]\ny InputLayer batch_shape=[2,10,3]\n"
		    "d Dot x y axes=[1,2]\n" ROWS("d"),
		    "2x5x3:2x3x10 computed; 10x10:10x1", "a product over a dimension of each");
	expect_both("x InputLayer batch_shape=[7,16]\nd Dot x x axes=-1 normalize=true\n" ROWS("d"),
		    "7x1x16:7x16x1 computed; 7x1:1x1", "the angle between two lists");
	expect_both("x InputLayer batch_shape=[7,16]\nd Dot x x axes=0\n", "",
		    "not over the batch");
	expect(KERAS3,
	       STEPS
	       "a GroupQueryAttention x x head_dim=4 num_query_heads=6 num_key_value_heads=2\n"
	       "n RMSNormalization a\n" ROWS("n"),
	       "6x8:8x24 bias; 6x8:8x8 bias x2; 6x6x4:6x4x6 computed; 6x6x6:6x6x4 computed; "
	       "6x24:24x8 bias; 6x8:8x1",
	       "keys and values that several heads share");
	expect(KERAS3,
	       STEPS "a GroupQueryAttention x x head_dim=4 num_query_heads=2 num_key_value_heads=1 "
		     "use_gate=true use_bias=false\n" ROWS("a"),
	       "6x8:8x8 x2; 6x8:8x4 x2; 2x6x4:2x4x6 computed; 2x6x6:2x6x4 computed; 6x8:8x8 "
	       "sigmoid,mul; 6x8:8x1",
	       "and a gate behind them");
	expect(KERAS3, IMAGE "s Split x\n" SHOW("s:2/[null,7,7,4]"), "mb1_ic4ih7_oc1oh7_kh1",
	       "one of several results, whose shape the file tells");
}

static void test_arguments(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	expect_both(IMAGE "c Conv2D x " SAME "\ny Subtract #1.0 c\n", CONV " bias",
		    "a number minus a tensor");
	read_text(&x, KERAS2,
		  IMAGE "y TFOpLambda #1.0 @y=x function=\"math.subtract\"\n" SHOW("y"));
	ok(!x.failed && x.found.by_id.n == 1, "a number, whose call has a tensor by its key");
	extract_free(&x);
	expect_both(IMAGE "c Conv2D x " SAME "\na Add c #3.0\nr ReLU a max_value=6\n"
			  "d TrueDivide r #6.0\ny Multiply c d\n",
		    CONV " bias,hardswish", "hardswish by numbers");
	expect_both(IMAGE "c Conv2D x " SAME "\na Add c #3.0\nr ReLU a max_value=6\n"
			  "d TrueDivide #6.0 r\ny Multiply c d\n",
		    CONV " bias", "but not with a number that is divided");
	expect_both(IMAGE "c Conv2D x " SAME "\na Multiply c #2.0\n"
			  "s Activation a activation=\"sigmoid\"\ny Multiply c s\n",
		    CONV " bias", "nor a sigmoid of two times the value");
	expect_both(STEPS "m InputLayer batch_shape=[null,6,6]\n"
			  "a MultiHeadAttention x x @attention_mask=m num_heads=2 key_dim=4\n",
		    "6x8:8x8 bias x4; 2x6x4:2x4x6 computed; 2x6x6:2x6x4 computed",
		    "a mask is no key");
	expect_both(STEPS "m InputLayer batch_shape=[null,6]\n"
			  "l LSTM x @mask=m units=4\n" ROWS("l"),
		    "6x8:8x16; 1x4:4x16 x6; 1x4:4x1", "nor is it a state");
}

static void test_told_shapes(void)
{
	struct extract x = {.layout = LAYOUT_NHWC, .infer.batch = 5};
	struct buf got = BUF_INIT;

	expect(KERAS3, STEPS "o Own x\n" ROWS("o/[null,12,64]"), "12x64:64x1",
	       "the shape that a layer of one's own makes");
	refuse(STEPS "e Einsum x x\n", "the node e (Einsum) has no equation",
	       "an Einsum without subscripts is refused");
	expect(KERAS3, IMAGE "c Conv2D x " SAME "\n" SHOW("c/[null,99,99,8]"),
	       CONV " bias; mb1_ic8ih14_oc1oh14_kh1", "a shape that is computed wins");
	read_text(&x, KERAS3, STEPS "o Own x\n" ROWS("o/[null,12,64]"));
	describe(&x, &got);
	ok(!x.failed && !strcmp(got.s, "60x64:64x1"), "the batch is that of the options");
	extract_free(&x);
	x = (struct extract){.layout = LAYOUT_NHWC};
	read_text(&x, KERAS2, STEPS "o Own x\n" ROWS("o"));
	ok(!x.failed && was_said("because of Own"), "Keras 2 tells no shape: the layer is named");
	extract_free(&x);
	buf_free(&got);
}

static void test_functions(void)
{
	static const char *const names[] = {"__operators__.add", "math.add",	 "math.multiply",
					    "math.subtract",	 "math.truediv", "nn.relu"};
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		buf_clear(&b);
		buf_fmt(&b, IMAGE "y TFOpLambda x function=\"%s\"\n" SHOW("y"), names[i]);
		expect(KERAS2, b.s, "mb1_ic8ih14_oc1oh14_kh1", names[i]);
	}
	buf_free(&b);
	expect(KERAS2, IMAGE "c Conv2D x " SAME "\ny TFOpLambda c function=\"nn.relu\"\n",
	       CONV " bias,relu", "a function that is an activation is fused");
}

/* ---- layers ---- */

static void test_slopes(void)
{
	expect_both(IMAGE "c Conv2D x " SAME "\ny LeakyReLU c\n", CONV " bias,leaky_relu(0.3)",
		    "the slope of the layer");
	expect(KERAS3, IMAGE "c Conv2D x " SAME "\ny LeakyReLU c negative_slope=0.125\n",
	       CONV " bias,leaky_relu(0.125)", "a slope that the file tells");
	expect(KERAS2, IMAGE "c Conv2D x " SAME "\ny LeakyReLU c alpha=0.25\n",
	       CONV " bias,leaky_relu(0.25)", "as Keras 2 calls it");
	expect(KERAS2, IMAGE "c Conv2D x " SAME "\ny ReLU c negative_slope=0.5\n",
	       CONV " bias,leaky_relu(0.5)", "a slope of ReLU");
	expect_both(IMAGE "c Conv2D x " SAME " activation=\"leaky_relu\"\n",
		    CONV " bias,leaky_relu(0.2)", "the slope of the activation");
	expect_both(IMAGE "c Conv2D x " SAME "\ny PReLU c\n" SHOW("y"),
		    CONV " bias; mb1_ic8ih14_oc1oh14_kh1", "slopes that are learned");
}

static void test_directions(void)
{
	static const struct {
		const char *mode, *steps, *last;
	} rows[] = {
		{"merge_mode=7", "6x8:8x1", "1x8:8x1"},
		{"merge_mode=\"concat\"", "6x8:8x1", "1x8:8x1"},
		{"merge_mode=\"sum\"", "6x4:4x1", "1x4:4x1"},
		{"merge_mode=\"ave\"", "6x4:4x1", "1x4:4x1"},
		{"merge_mode=\"mul\"", "6x4:4x1", "1x4:4x1"},
		{"merge_mode=null", "6x4:4x1", "1x4:4x1"},
	};
	struct buf text = BUF_INIT, want = BUF_INIT, what = BUF_INIT;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (int all = 0; all < 2; all++) {
			const int is_second = strstr(rows[i].mode, "null") != NULL;

			buf_clear(&text);
			buf_clear(&want);
			buf_fmt(&text,
				STEPS "l Bidirectional x %s layer={\"class_name\":\"LSTM\","
				      "\"config\":{\"units\":4,\"return_sequences\":%s}}\n"
				      "show Dense l%s units=1 use_bias=false",
				rows[i].mode, all ? "true" : "false", is_second ? ":1" : "");
			buf_fmt(&want, "6x8:8x16 x2; 1x4:4x16 x12; %s",
				all ? rows[i].steps : rows[i].last);
			buf_clear(&what);
			buf_fmt(&what, "directions, %s, %s", rows[i].mode,
				all ? "all steps" : "the last step");
			expect_both(text.s, want.s, what.s);
		}
	buf_free(&text);
	buf_free(&want);
	buf_free(&what);
}

static void test_groups(void)
{
	expect_both(IMAGE "n GroupNormalization x groups=-1\n" SHOW("n"), "mb1_ic8ih14_oc1oh14_kh1",
		    "each channel by itself is a group");
	expect_both(IMAGE "n GroupNormalization x groups=7 axis=1\n" SHOW("n"),
		    "mb1_ic8ih14_oc1oh14_kh1", "groups along another axis");
	expect_both(IMAGE "n GroupNormalization x groups=7 axis=-3\n" SHOW("n"),
		    "mb1_ic8ih14_oc1oh14_kh1", "counted from the end");
	expect_both(IMAGE "n GroupNormalization x groups=7 axis=2\n" SHOW("n"),
		    "mb1_ic8ih14_oc1oh14_kh1", "or in the middle");
	refuse(IMAGE "n GroupNormalization x\n", "divides 8 channels into 32 groups",
	       "the 32 groups of the default need channels");
}

static void test_steps(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	expect_both("x InputLayer batch_shape=[2,5,14,14,8]\nt TimeDistributed x layer="
		    "{\"class_name\":\"Conv2D\",\"config\":{\"filters\":4,\"kernel_size\":[3,3]}}\n"
		    "f TimeDistributed t layer={\"class_name\":\"Flatten\",\"config\":{}}\n"
		    "l LSTM f units=2\n",
		    "mb10_ic8ih14_oc4oh12_kh3 bias; 10x576:576x8; 2x2:2x8 x5",
		    "layers for each step");
	expect_both(STEPS "t TimeDistributed x layer={\"class_name\":\"Dense\",\"config\":"
			  "{\"units\":3}}\n",
		    "6x8:8x3 bias", "a product for each step");
	expect_both("x InputLayer batch_shape=[2,14,14,8]\ns SpectralNormalization x layer="
		    "{\"class_name\":\"Conv2D\",\"config\":{\"filters\":4,\"kernel_size\":[3,3]}}\n"
		    "u UnitNormalization s\nf Flatten u\nd Dense f units=2\n",
		    "mb2_ic8ih14_oc4oh12_kh3 bias; 2x576:576x2 bias",
		    "a layer whose weights are scaled");
	read_text(&x, KERAS3,
		  STEPS "c Conv1D x filters=4 kernel_size=[1]\nt TimeDistributed c layer="
			"{\"class_name\":\"Functional\",\"config\":{}}\n");
	ok(!x.failed && was_said("those of 1 operator are not known"),
	   "a model for each step counts as unknown multiply-adds");
	extract_free(&x);
	x = (struct extract){.layout = LAYOUT_NHWC};
	read_text(&x, KERAS3,
		  IMAGE "c Conv2D x " SAME
			"\nr Reshape c target_shape=[14,14,8,1]\nl ConvLSTM2D r\n");
	ok(!x.failed && was_said("those of 1 operator are not known"), "so does a ConvLSTM2D");
	extract_free(&x);
}

static void test_sizes(void)
{
	expect_both(IMAGE "r Resizing x height=20 width=10\n" SHOW("r"),
		    "mb1_ic8ih20iw10_oc1oh20ow10_kh1kw1", "another size");
	expect_both(IMAGE "r CenterCrop x height=6 width=5\n" SHOW("r"),
		    "mb1_ic8ih6iw5_oc1oh6ow5_kh1kw1", "the centre");
	expect_both("x InputLayer batch_shape=[null,8]\nr RepeatVector x n=7\n" ROWS("r"),
		    "7x8:8x1", "a vector for each step");
	expect_both("x InputLayer batch_shape=[null,2,6,6,3]\nr SpatialDropout3D x\n"
		    "f Flatten r\n" ROWS("f"),
		    "1x216:216x1", "dropout of volumes");
	expect_both(STEPS "a Attention x x\n" ROWS("a"),
		    "6x8:8x6 computed; 6x6:6x8 computed; 6x8:8x1", "attention without weights");
}

static void test_causal(void)
{
	expect_both(STEPS "c Conv1D x filters=4 kernel_size=[3] dilation_rate=[2] "
			  "padding=\"causal\" use_bias=false\n" ROWS("c"),
		    "mb1_ic8ih1iw6_oc4oh1ow6_kh1kw3ph0pw4dh0dw1; 6x4:4x1", "a causal convolution");
	for (int i = 0; i < 4; i++) {
		static const char *const sizes[] = {
			"", "kernel_size=[]", "kernel_size=[9007199254740991]",
			"kernel_size=[3] dilation_rate=[9007199254740991]"};
		struct extract x = {.layout = LAYOUT_NHWC};
		struct buf b = BUF_INIT;

		buf_fmt(&b, STEPS "c Conv1D x filters=4 padding=\"causal\" %s", sizes[i]);
		read_text(&x, KERAS3, b.s);
		ok(!x.found.by_id.n && said.n, "causal, with no usable size: '%s'", sizes[i]);
		extract_free(&x);
		buf_free(&b);
	}
}

/* ---- damage ---- */

static const char *const all_layers[] = {
	"Conv1D",
	"Conv2D",
	"Conv3D",
	"Conv1DTranspose",
	"Conv2DTranspose",
	"DepthwiseConv1D",
	"DepthwiseConv2D",
	"SeparableConv1D",
	"SeparableConv2D",
	"Dense",
	"MultiHeadAttention",
	"Attention",
	"Matmul",
	"EinsumDense",
	"Embedding",
	"LSTM",
	"GRU",
	"SimpleRNN",
	"RNN",
	"Bidirectional",
	"TimeDistributed",
	"ConvLSTM2D",
	"BatchNormalization",
	"LayerNormalization",
	"GroupNormalization",
	"Activation",
	"ReLU",
	"LeakyReLU",
	"PReLU",
	"ELU",
	"Softmax",
	"MaxPooling1D",
	"MaxPooling2D",
	"MaxPooling3D",
	"AveragePooling2D",
	"GlobalMaxPooling2D",
	"GlobalAveragePooling1D",
	"GlobalAveragePooling3D",
	"ZeroPadding1D",
	"ZeroPadding2D",
	"ZeroPadding3D",
	"Cropping1D",
	"Cropping2D",
	"Cropping3D",
	"CenterCrop",
	"UpSampling1D",
	"UpSampling2D",
	"UpSampling3D",
	"Resizing",
	"Reshape",
	"RepeatVector",
	"Flatten",
	"Permute",
	"Add",
	"Subtract",
	"Multiply",
	"TrueDivide",
	"Average",
	"Maximum",
	"Minimum",
	"Concatenate",
	"Dropout",
	"Masking",
	"Rescaling",
	"RandomFlip",
	"LayerScale",
	"TFOpLambda",
	"Own>Conv2D",
	"Own",
	"InputLayer",
	"Functional",
	"Sequential",
};

#define MUCH "9007199254740991"

/* Every layer with attributes that mean nothing, or none, and too few or too many tensors. */
static void test_absurd(void)
{
	static const char *const rest[] = {
		"",
		"x x x x x",
		"filters=0 units=-3 kernel_size=[0,0] pool_size=0 strides=[0,0] groups=0",
		"filters=4 kernel_size=[3,3] strides=[-1,9] dilation_rate=[0,-1] padding=\"what\"",
		"filters=" MUCH " units=" MUCH " kernel_size=" MUCH " pool_size=" MUCH
		" strides=" MUCH " dilation_rate=" MUCH " padding=\"causal\" groups=" MUCH,
		"size=" MUCH " height=" MUCH " width=" MUCH " n=" MUCH " target_shape=[" MUCH
		"] num_heads=" MUCH " key_dim=" MUCH " input_dim=" MUCH " output_dim=" MUCH
		" padding=" MUCH " cropping=" MUCH " dims=[" MUCH "]",
		"size=-1 height=-1 width=-1 n=-1 target_shape=[-1,-1] padding=-7 cropping=-7",
		"dims=[9,9] axis=-99 padding=[[1,2],[3]] cropping=[[],[]] size=[] height=[] n={}",
		"target_shape=[1,2,3,4,5,6,7,8,9,10,11,12,13,14] dims=[1,2,3,4,5,6,7,8,9,10,11,12,13]",
		"layer={} activation={} function={} negative_slope={} max_value=\"x\" merge_mode=7",
		"layer={\"class_name\":\"TimeDistributed\",\"config\":{\"layer\":{\"class_name\":"
		"\"Bidirectional\"}}} activation=\"nobody\" negative_slope=1e308 alpha=-1e308",
		"layer={\"class_name\":\"LSTM\",\"config\":{\"units\":" MUCH
		",\"return_state\":true}} "
		"merge_mode=null return_state=true return_sequences=true units=4",
		"num_heads=2 key_dim=4 value_dim=3 output_shape=[5,5] data_format=\"channels_first\"",
	};
	size_t silent = 0;
	struct buf s = BUF_INIT;

	for (size_t i = 0; i < sizeof all_layers / sizeof *all_layers; i++)
		for (size_t k = 0; k < sizeof rest / sizeof *rest; k++)
			for (int rank = 0; rank < 3; rank++) {
				static const char *const in[] = {IMAGE, STEPS,
								 "x InputLayer batch_shape=[]\n"};
				struct extract x = {.layout = LAYOUT_NHWC};

				buf_clear(&s);
				buf_fmt(&s, "%sy %s x %s\nz ReLU y\nw ReLU y:3\n", in[rank],
					all_layers[i], rest[k]);
				read_text(&x, k & 1 ? KERAS2 : KERAS3, s.s);
				silent += !said.n;
				extract_free(&x);
			}
	buf_free(&s);
	ok(!silent, "layers with absurd attributes are read, or refused with a sentence");
}

static void refuse_json(const char *json, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	read_bytes(&x, &format_keras, json, strlen(json));
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
}

static void test_damaged(void)
{
	struct buf b = BUF_INIT;

	refuse_json("[]", "own class", "another document");
	refuse_json("{\"class_name\": \"Functional\"}", "results that no layer makes",
		    "a model without layers");
	refuse_json("{\"class_name\": \"Sequential\", \"config\": {\"layers\": []}}",
		    "a model without layers", "a sequence without layers");
	refuse_json("{\"class_name\": \"Functional\", \"config\": {\"layers\": 7, "
		    "\"output_layers\": 7}}",
		    "results that no layer makes", "layers that are a number");
	refuse_json("{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": "
		    "\"ReLU\"}], \"output_layers\": [[\"\", 0, 0]]}}",
		    "a layer without input", "a layer that is called with nothing");
	for (int i = 0; i < 20; i++)
		buf_str(&b, "{\"class_name\": \"Sequential\", \"config\": {\"layers\": [");
	buf_str(&b, "{\"class_name\": \"ReLU\", \"config\": {}}");
	for (int i = 0; i < 20; i++)
		buf_str(&b, "]}}");
	refuse_json(b.s, "nested more than 16 deep", "models in models");
	write_model(&b, KERAS3,
		    IMAGE "c Conv2D x " SAME "\nr Reshape c target_shape=[14,112]\n"
			  "l Bidirectional r layer={\"class_name\":\"LSTM\",\"config\":{\"units\":"
			  "4,\"return_sequences\":true}}\na MultiHeadAttention l/[null,14,8] l "
			  "num_heads=2 key_dim=4\n" ROWS("a:1"));
	attack_whole(&format_keras, &b, 5000);
	buf_free(&b);
}

int main(void)
{
	begin();
	test_calls(&spelling);
	test_order();
	test_results();
	test_arguments();
	test_told_shapes();
	test_functions();
	test_slopes();
	test_directions();
	test_groups();
	test_steps();
	test_sizes();
	test_causal();
	test_absurd();
	test_damaged();
	return end();
}
