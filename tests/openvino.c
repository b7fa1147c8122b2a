/* OpenVINO IR: what its operators become, and XML that is false. */
#include <sys/stat.h>

#include "lib/base/rng.h"
#include "lib/extract/openvino/openvino.h"
#include "tests/calls.h"

/* A network is written as lines, a layer each, of words:
 *     NAME TYPE [1x3x8x8 | ?x8:I64 | -]... [<INPUT]... [ATTRIBUTE=VALUE]...
 * Shapes are those of the outputs ("-": a scalar); an input is a layer, or the second output of
 * one, "NAME.1". "version=opset5" is an attribute of the layer itself. */
struct writer {
	struct buf layers, edges, in, out, data;
	char name[40][24];
	int n, nin, nout;
};

static void write_shape(struct writer *w, const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n), *end = colon ? colon : s + n;

	buf_fmt(&w->out, "<port id=\"%d\" precision=\"%.*s\">", 100 + w->nout++,
		colon ? (int)(s + n - colon - 1) : 4, colon ? colon + 1 : "FP32");
	while (s < end && *s != '-') {
		size_t k = 0;

		while (s + k < end && s[k] != 'x')
			k++;
		if (*s == '?')
			buf_str(&w->out, "<dim>-1</dim>");
		else
			buf_fmt(&w->out, "<dim>%.*s</dim>", (int)k, s);
		s += k + 1;
	}
	buf_str(&w->out, "</port>");
}

static void write_input(struct writer *w, const char *s, size_t n)
{
	const char *dot = memchr(s, '.', n);
	size_t k = dot ? (size_t)(dot - s) : n;
	int from = 0;

	while (from < w->n && (strlen(w->name[from]) != k || memcmp(w->name[from], s, k) != 0))
		from++;
	buf_fmt(&w->in, "<port id=\"%d\"/>", w->nin);
	buf_fmt(&w->edges,
		"<edge from-layer=\"%d\" from-port=\"%d\" to-layer=\"%d\" to-port=\"%d\"/>\n", from,
		100 + (dot ? atoi(dot + 1) : 0), w->n, w->nin++);
}

static void write_word(struct writer *w, const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);

	if (*s == '<')
		write_input(w, s + 1, n - 1);
	else if (equals)
		buf_fmt(&w->data, " %.*s=\"%.*s\"", (int)(equals - s), s, (int)(s + n - equals - 1),
			equals + 1);
	else
		write_shape(w, s, n);
}

static void write_layer(struct writer *w, const char *s, size_t n)
{
	const char *type = memchr(s, ' ', n), *end = s + n, *version;
	size_t ntype = type ? strcspn(type + 1, " \n") : 0;

	if (!type)
		bail_out("no type in %.*s", (int)n, s);
	buf_clear(&w->in);
	buf_clear(&w->out);
	buf_clear(&w->data);
	w->nin = w->nout = 0;
	for (const char *word = type + 1 + ntype; word < end; word++) {
		size_t k = strcspn(word, " \n");

		if (k)
			write_word(w, word, k);
		word += k;
	}
	snprintf(w->name[w->n], sizeof w->name[0], "%.*s", (int)(type - s), s);
	version = w->data.n ? strstr(w->data.s, "version=\"") : NULL;
	buf_fmt(&w->layers,
		"<layer id=\"%d\" name=\"%s\" type=\"%.*s\" version=\"%.6s\">\n<data%s/>"
		"<input>%s</input><output>%s</output></layer>\n",
		w->n, w->name[w->n], (int)ntype, type + 1, version ? version + 9 : "opset1",
		w->data.n ? w->data.s : "", w->in.n ? w->in.s : "", w->out.n ? w->out.s : "");
	w->n++;
}

static void write_network(struct buf *b, const char *text)
{
	struct writer w = {.n = 0};

	while (*text) {
		size_t n = strcspn(text, "\n");

		write_layer(&w, text, n);
		text += n + (text[n] == '\n');
	}
	buf_fmt(b,
		"<?xml version=\"1.0\"?>\n<net name=\"a\" version=\"11\"><layers>\n%s</layers>"
		"<edges>%s</edges></net>\n",
		w.layers.s, w.edges.n ? w.edges.s : "");
	buf_free(&w.layers);
	buf_free(&w.edges);
	buf_free(&w.in);
	buf_free(&w.out);
	buf_free(&w.data);
}

static void check_bytes(const struct buf *b, const struct infer_options *o, const char *want,
			const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf got = BUF_INIT;

	if (o)
		x.infer = *o;
	extract_bytes(&x, b->s, b->n);
	describe(&x, &got);
	ok(!x.failed && !strcmp(got.s, want), "%s", what);
	if (strcmp(got.s, want) != 0)
		diag("%s, said %s", got.s, said.s ? said.s : "");
	extract_free(&x);
	buf_free(&got);
}

static void expect(const char *text, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	write_network(&b, text);
	check_bytes(&b, NULL, want, what);
	buf_free(&b);
}

static void refuse_bytes(const char *s, size_t n, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	extract_bytes(&x, s, n);
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
}

static void refuse(const char *xml, const char *sentence, const char *what)
{
	refuse_bytes(xml, strlen(xml), sentence, what);
}

#define STEP "strides=$stride,$stride dilations=$dilation,$dilation "
#define CONVOLVE(type) " " type " $Y <$0 <$1 " STEP "pads_begin=$pad,$pad pads_end=$pad,$pad\n"
#define POOL(type) "$y " type " $Y <$0 " STEP "kernel=$size,$size pads_begin=0,0 pads_end=0,0\n"

static const struct spelling_row own_words[] = {
	{"image", "$y Parameter $Y\n"},
	{"data", "$y Parameter $Y\n"},
	{"filter", "$y Const $ax$dx$bx$c\n"},
	{"each", "$y Const $dx$ex1x$bx$c\n"},
	{"grouped", "$y Const $ex$fx$dx$bx$c\n"},
	{"volume", "$y Const $ax$ex$bx$cx$d\n"},
	{"line", "$y Const $ax$cx$b\n"},
	{"turned", "$y Const $dx$ax$bx$c\n"},
	{"vector", "$y Const $a\nv$y Const 1x$ax1x1\n"},
	{"channel", "$y Const 1x$ax1x1\n"},
	{"row", "$y Const 1x1x$a\n"},
	{"matrix", "$y Const $ax$b\n"},
	{"conv", "$y" CONVOLVE("Convolution")},
	{"conv_bias", "t$y" CONVOLVE("Convolution") "$y Add $Y <t$y <v$2\n"},
	{"depthwise", "$y" CONVOLVE("GroupConvolution")},
	{"groups", "$y" CONVOLVE("GroupConvolution")},
	{"conv3d", "$y Convolution $Y <$0 <$1 strides=1,1,1 pads_begin=$pad,$pad,$pad "
		   "pads_end=$pad,$pad,$pad\n"},
	{"conv1d", "$y Convolution $Y <$0 <$1 strides=1 pads_begin=0 pads_end=0\n"},
	{"transposed", "$y" CONVOLVE("ConvolutionBackpropData")},
	{"batch_norm", "$y BatchNormInference $Y <$0 <$1 <$1 <$1 <$1 version=opset5\n"},
	{"group_norm", "$y GroupNormalization $Y <$0 <$1 <$1 num_groups=$groups version=opset12\n"},
	{"relu", "$y ReLU $Y <$0\n"},
	{"sigmoid", "$y Sigmoid $Y <$0\n"},
	{"relu6", "$y Clamp $Y <$0 min=0 max=6\n"},
	{"silu", "$y Swish $Y <$0\n"},
	{"hardswish", "$y HSwish $Y <$0\n"},
	{"gelu", "$y Gelu $Y <$0 approximation_mode=ERF version=opset7\n"},
	{"tanh", "$y Tanh $Y <$0\n"},
	{"abs", "$y Abs $Y <$0\n"},
	{"add", "$y Add $Y <$0 <$1\n"},
	{"mul", "$y Multiply $Y <$0 <$1\n"},
	{"concat", "$y Concat $Y <$0 <$1 axis=1\n"},
	{"max_pool", POOL("MaxPool")},
	{"avg_pool", POOL("AvgPool")},
	{"resize", "s$y Const 2:I64\n$y Interpolate $Y <$0 <s$y <s$y mode=nearest "
		   "shape_calculation_mode=sizes version=opset4\n"},
	{"linear", "$y MatMul $Y <$0 <$1 transpose_b=true\n"},
	{"linear_bias", "t$y MatMul $Y <$0 <$1 transpose_b=true\n$y Add $Y <t$y <$2\n"},
	{"flat", "s$y Const 2:I64\n$y Reshape $Y <$0 <s$y\n"},
	{"reshape", "s$y Const 2:I64\n$y Reshape $Y <$0 <s$y\n"},
	{"transpose", "p$y Const 2:I64\n$y Transpose $Y <$0 <p$y\n"},
	{"mean", "k$y Const 1:I64\n$y ReduceMean $Y <$0 <k$y keep_dims=false\n"},
	{"product", "$y MatMul $Y <$0 <$1\n"},
	{"product_of_turned", "$y MatMul $Y <$0 <$1 transpose_b=true\n"},
	{"attention", "$y ScaledDotProductAttention $Y <$0 <$0 <$0 causal=false version=opset13\n"},
	{"einsum", "$y Einsum $Y <$0 <$1 equation=bij,bkj->bik version=opset7\n"},
	{"lstm", "h$y Parameter $0ax1x$c\nn$y Const $0a:I64\nw$y Const 1x$1ax$1b\n"
		 "r$y Const 1x$2ax$2b\nb$y Const 1x$1a\n$y LSTMSequence $0ax1x$0bx$c $0ax1x$c "
		 "$0ax1x$c <$0 <h$y <h$y <n$y <w$y <r$y <b$y version=opset5\n"},
};
static const struct spelling spelling = {SPELLING(own_words), .channels_second = 1, .cases = 33,
					 .between = 'x', .expect = expect};

#define IMAGE "x Parameter 1x8x14x14\nw Const 16x8x3x3\nb Const 1x16x1x1\n"
#define PADDED "strides=1,1 pads_begin=1,1 pads_end=1,1 dilations=1,1"
#define CONV "mb1_ic8ih14_oc16oh14_kh3ph1"

static void test_convolutions(void)
{
	expect("x Parameter 1x8x15x15\nw Const 8x1x1x3x3\n"
	       "c GroupConvolution 1x8x8x8 <x <w strides=2,2 auto_pad=same_upper dilations=1,1\n"
	       "o Result <c\n",
	       "mb1g8_ic8ih15_oc8oh8_kh3sh2ph1", "groups are the first dimension of a filter");
	expect(IMAGE "c Convolution 1x16x14x14 <x <w " PADDED " group=4\no Result <c\n", CONV,
	       "a plain convolution has no groups, whatever is written beside it");
	expect("x Parameter 1x8x14x14\ns Parameter 1x18x14x14\nw Const 16x4x3x3\n"
	       "c DeformableConvolution 1x16x14x14 <x <s <w " PADDED " group=2\no Result <c\n",
	       "2x196x36:2x36x8", "a deformed one has");
	expect("x Parameter 1x8x14x14\nh Const 16x8x3x3:FP16\nw Convert 16x8x3x3 <h "
	       "destination_type=f32\nc Convolution 1x16x14x14 <x <w " PADDED "\no Result <c\n",
	       CONV, "weights in half precision are widened");
	expect("x Parameter 1x8x14x14\nw Const 16x8x3x3\ng Const 16\n"
	       "c Convolution 1x16x14x14 <x <w " PADDED "\n"
	       "n BatchNormInference 1x16x14x14 <g <g <c <g <g\no Result <n\n",
	       CONV " bias", "a normalization in the order of operator set 1 is folded");
	expect("x Parameter 1x8x14x14\nw Const 2x8x3x3:u1\n"
	       "c BinaryConvolution 1x2x14x14 <x <w mode=xnor-popcount\no Result <c\n",
	       "", "a binary convolution is none");
	ok(was_said("BinaryConvolution (not an operator here)"), "which is said");
}

static void test_products(void)
{
	expect("x Parameter 4x20x64\nw Const 32x64\nb Const 1x1x32\n"
	       "m MatMul 4x20x32 <x <w transpose_a=false transpose_b=true\nd Add 4x20x32 <m <b\n"
	       "g Gelu 4x20x32 <d approximation_mode=TANH version=opset7\no Result <g\n",
	       "80x64:64x32 bias,gelu_tanh", "a product with rows in batches");
	expect("q Parameter 1x4x20x16\nk Parameter 1x4x30x16\nv Parameter 1x4x30x8\n"
	       "a ScaledDotProductAttention 1x4x20x8 <q <k <v causal=false version=opset13\n"
	       "o Result <a\n",
	       "4x20x16:4x16x30 computed; 4x20x30:4x30x8 computed", "attention is two products");
	expect("x Parameter 2x5x8\nh Parameter 2x2x16\nn Const 2:I64\nw Const 2x64x8\n"
	       "r Const 2x64x16\nb Const 2x64\n"
	       "l LSTMSequence 2x2x5x16 2x2x16 2x2x16 <x <h <h <n <w <r <b version=opset5\n"
	       "o Result <l\n",
	       "10x8:8x64 x2; 2x16:16x64 x10", "a recurrent network of two directions");
	expect("x Parameter 2x8\nh Parameter 2x16\nw Const 48x8\nr Const 48x16\nb Const 48\n"
	       "l GRUCell 2x16 <x <h <w <r <b\no Result <l\n",
	       "", "a cell");
	ok(was_said("GRUCell (not an operator here)") && was_said("of the model's 2304"),
	   "counts by its weights");
}

#define WIDENED                                                                                    \
	"k Const 4x16:I8\nh Convert 4x16:FP16 <k destination_type=f16\nz Const 4x1:I8\n"           \
	"y Convert 4x1:FP16 <z destination_type=f16\ns Const 4x1:FP16\n"                           \
	"i Subtract 4x16:FP16 <h <y\nj Multiply 4x16:FP16 <i <s\n"                                 \
	"w Convert 4x16 <j destination_type=f32\n"

static void test_types(void)
{
	expect("x Parameter 8x16\n" WIDENED "m MatMul 8x4 <x <w transpose_b=true\no Result <m\n",
	       "8x16:16x4 (f32:s8:f32)", "weights in 8 bits alone");
	expect("x Parameter 8x16\nl Const -\nf FakeQuantize 8x16 <x <l <l <l <l levels=256\n" WIDENED
	       "m MatMul 8x4 <f <w transpose_b=true\n"
	       "g FakeQuantize 8x4 <m <l <l <l <l levels=255\no Result <g\n",
	       "8x16:16x4 (u8:s8:s8)", "data and weights in 8 bits, and what is made");
	expect("x Parameter 8x16\nl Const -\nv Const 16x4\n"
	       "f FakeQuantize 8x16 <x <l <l <l <l levels=256\n"
	       "w FakeQuantize 16x4 <v <l <l <l <l levels=255\nm MatMul 8x4 <f <w\no Result <m\n",
	       "8x16:16x4 (u8:s8:f32)", "weights that are rounded where they are read");
	expect("x Parameter 8x16\nk Const 4x16:I4\nh Convert 4x16 <k destination_type=f32\n"
	       "m MatMul 8x4 <x <h transpose_b=true\no Result <m\n",
	       "8x16:16x4 (f32:s4:f32)", "weights in 4 bits");
}

static void test_open(void)
{
	struct infer_options o = {0};
	const char *shape = "x:3,8,14,14";
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;

	write_network(&b,
		      "x Parameter ?x8x14x14\nw Const 16x8x3x3\nk Const 2:I64\nv Const 3136x10\n"
		      "c Convolution ?x16x14x14 <x <w " PADDED "\nr Reshape ?x3136 <c <k\n"
		      "m MatMul ?x10 <r <v\no Result <m\n");
	check_bytes(&b, NULL, CONV "; 1x3136:3136x10", "an open batch is 1");
	infer_options_read(&o, &(struct infer_words){.batch = -1, .shape = &shape, .nshape = 1},
			   &e);
	check_bytes(&b, &o, "mb3_ic8ih14_oc16oh14_kh3ph1; 3x3136:3136x10", "or what --shape says");
	infer_options_free(&o);
	buf_clear(&b);
	write_network(&b, "x Parameter ?x8x14x14\nw Const 16x8x3x3\ns Const 2:I64\n"
			  "r Roll ?x8x14x14 <x <s <s\nc Convolution ?x16x14x14 <r <w " PADDED
			  "\no Result <c\n");
	check_bytes(&b, NULL, CONV, "pixels that are rolled");
	buf_clear(&b);
	write_network(&b, "x Parameter ?x8x28x28\nk Const 2:I64\nw Const 16x8x3x3\n"
			  "a AdaptiveAvgPool ?x8x14x14 <x <k version=opset8\n"
			  "c Convolution ?x16x14x14 <a <w " PADDED "\n"
			  "m AdaptiveMaxPool ?x8x14x14 ?x8x14x14:I64 <x <k version=opset8\n"
			  "d Convolution ?x16x14x14 <m <w " PADDED "\no Result <c\np Result <d\n");
	check_bytes(&b, NULL, CONV " x2", "pools that divide an image");
	buf_clear(&b);
	write_network(
		&b,
		"x Parameter ?x8x28x28\nr Parameter ?x4\ni Parameter ?:I64\nw Const 16x8x3x3\n"
		"g Parameter ?x14x14x2\nq Parameter ?x5\n"
		"a ROIAlign ?x8x14x14 <x <r <i pooled_h=14 pooled_w=14 version=opset9\n"
		"b ROIPooling ?x8x14x14 <x <q pooled_h=14 pooled_w=14\n"
		"e GridSample ?x8x14x14 <x <g version=opset9\nf GRN ?x8x14x14 <e\n"
		"c Convolution ?x16x14x14 <a <w " PADDED "\nd Convolution ?x16x14x14 <b <w " PADDED
		"\nh Convolution ?x16x14x14 <f <w " PADDED
		"\no Result <c\np Result <d\ns Result <h\n");
	check_bytes(&b, NULL, CONV " x3", "regions of an image");
	buf_clear(&b);
	write_network(&b, "x Parameter ?x?x8\nw Const 8x4\nk Const 1:I64\nt Transpose ?x?x8 <x <k\n"
			  "m MatMul ?x?x4 <t <w\no Result <m\n");
	check_bytes(&b, NULL, "", "a size may stay open");
	ok(was_said("file .bin, which is not beside it"), "then the file of constants is missed");
	buf_free(&b);
}

/* Its rule is asked where an option changes the shapes that the file tells. */
static void grouped(const char *groups, const char *want)
{
	const char *shape = "x:3,8,14,14";
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf text = BUF_INIT, b = BUF_INIT, got = BUF_INIT;
	struct err e = ERR_INIT;

	buf_fmt(&text,
		IMAGE "s Const 8\n"
		      "n GroupNormalization 1x8x14x14 <x <s <s num_groups=%s epsilon=0.1 "
		      "version=opset12\nc Convolution 1x16x14x14 <n <w " PADDED "\no Result <c\n",
		groups);
	write_network(&b, text.s);
	infer_options_read(&x.infer,
			   &(struct infer_words){.batch = -1, .shape = &shape, .nshape = 1}, &e);
	extract_bytes(&x, b.s, b.n);
	describe(&x, &got);
	ok(x.failed ? was_said(want) : !strcmp(got.s, want), "a normalization of %s groups: %s",
	   groups, want);
	infer_options_free(&x.infer);
	extract_free(&x);
	buf_free(&text);
	buf_free(&b);
	buf_free(&got);
}

/* Eight numbers of the constant k, and what is computed with them. */
static void test_constants(void)
{
	static const int64_t perm[] = {1, 0, 2};
	struct buf b = BUF_INIT;
	char name[sizeof path], bin[sizeof path + 4];

	memcpy(name, path, sizeof name);
	snprintf(bin, sizeof bin, "%.50s.bin", name);
	snprintf(path, sizeof path, "%.50s.xml", name);
	write_file(bin, perm, sizeof perm);
	write_network(&b, "x Parameter ?x6x8\nk Const 3:I64 offset=0 size=24\n"
			  "t Transpose ?x?x8 <x <k\nw Const ?x8x4\nm MatMul ?x?x4 <t <w\n"
			  "o Result <m\n");
	check_bytes(&b, NULL, "", "a constant of an open shape");
	buf_clear(&b);
	write_network(&b, "x Parameter ?x6x8\nk Const 3:I64 offset=0 size=24\n"
			  "t Transpose ?x?x8 <x <k\ny Parameter 6x8x4\nm MatMul ?x?x4 <t <y\n"
			  "o Result <m\n");
	check_bytes(&b, NULL, "6x1x8:6x8x4 computed", "constants are read from the file beside");
	buf_clear(&b);
	write_network(&b,
		      "x Parameter ?x6x8\nk Const 3:I64 offset=99999 size=24\n"
		      "t Transpose ?x?x8 <x <k\nw Const 8x4\nm MatMul ?x?x4 <t <w\no Result <m\n");
	check_bytes(&b, NULL, "", "but for one that would lie behind its end");
	buf_clear(&b);
	write_network(&b, "x Parameter ?x6x8\nk Const 3:I64 offset=9223372036854775800 size=24\n"
			  "t Transpose ?x?x8 <x <k\nw Const 8x4\nm MatMul ?x?x4 <t <w\n"
			  "o Result <m\n");
	check_bytes(&b, NULL, "", "wherever that is");
	buf_clear(&b);
	write_network(&b, "x Parameter ?x6x8\nk Const 3:I64 offset=0 size=24\n"
			  "t Transpose ?x?x8 <x <k\no Result <t\n");
	unlink(bin);
	if (mkdir(bin, 0700))
		bail_out("%s: no folder", bin);
	refuse_bytes(b.s, b.n, "cannot read", "a file of constants that cannot be read is told");
	rmdir(bin);
	if (symlink(strrchr(bin, '/') + 1, bin))
		bail_out("%s: no link", bin);
	refuse_bytes(b.s, b.n, "cannot open", "and one that cannot be opened");
	unlink(path);
	unlink(bin);
	memcpy(path, name, sizeof name);
	buf_free(&b);
}

/* Constants that all have the same 32 KB of NAME.bin, two thirds of them in the body of a loop. */
static void test_kept(void)
{
	enum { MANY = 600, BYTES = KEEP_INTS * 8 };
	static const char layer[] =
		"<layer id='%d' name='k%d' type='Const'><data offset='0' size='32768'/><output>"
		"<port id='0' precision='I64'><dim>4096</dim></port></output></layer>";
	struct ov_weights w = {.path = path};
	struct buf b = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct ir_net *net;
	struct graph g;
	int64_t kept = 0;

	buf_add(&b, arena_alloc(&a, BYTES), BYTES);
	write_file(path, b.s, b.n);
	w.fd = open(path, O_RDONLY);
	buf_clear(&b);
	buf_str(&b, "<net name='n' version='11'><layers><layer id='0' name='l' type='Loop'><body>"
		    "<layers>");
	for (int i = 0; i < MANY; i++) {
		buf_fmt(&b, layer, i + 1, i);
		if (i == 2 * MANY / 3)
			buf_str(&b, "</layers><edges/></body></layer>");
	}
	buf_str(&b, "</layers><edges/></net>");
	graph_init(&g, &a);
	if (w.fd < 0 || ir_read(&net, b.s, b.n, &a, &e) || openvino_read(&g, net, &w, &e))
		diag("%s", e.msg);
	for (int i = 0; i < g.nvalue; i++)
		kept += g.value[i]->kept ? KEEP_INTS : 0;
	for (int i = 0; g.nnode && i < g.node[0].attr[0].subgraph->nvalue; i++)
		kept += g.node[0].attr[0].subgraph->value[i]->kept ? KEEP_INTS : 0;
	ok(kept == KEEP_CONSTANTS, "constants of all graphs have one bound (%lld are kept)",
	   (long long)kept);
	close(w.fd);
	graph_free(&g);
	arena_free(&a);
	buf_free(&b);
}

#define PORT(id, dims) "<port id='" #id "' precision='FP32'>" dims "</port>"
#define DIMS(a, b) "<dim>" #a "</dim><dim>" #b "</dim>"
#define EDGE(a, b, c, d)                                                                           \
	"<edge from-layer='" #a "' from-port='" #b "' to-layer='" #c "' to-port='" #d "'/>"
#define LAYER(id, type, rest) "<layer id='" #id "' name='l" #id "' type='" type "'>" rest "</layer>"
#define IN(ports) "<input>" ports "</input>"
#define OUT(ports) "<output>" ports "</output>"

/* A row of 8 by a matrix. */
static const char body[] = "<body><layers>" LAYER(0, "Parameter", OUT(PORT(0, DIMS(1, 8))))
	LAYER(1, "Const", OUT(PORT(0, DIMS(8, 4))))
		LAYER(2, "MatMul", IN(PORT(0, "") PORT(1, "")) OUT(PORT(2, DIMS(1, 4))))
			LAYER(3, "Result", IN(PORT(0, ""))) "</layers><edges>" EDGE(0, 0, 2, 0)
				EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0) "</edges></body>";

/* A loop over 7 rows, along an axis. */
static void write_loop(struct buf *b, int axis)
{
	buf_clear(b);
	buf_str(b, "<net name='l' version='11'><layers>" LAYER(0, "Parameter",
							       OUT(PORT(0, DIMS(7, 8)))));
	buf_fmt(b,
		"<layer id='1' name='loop' type='TensorIterator'>" IN(PORT(0, "")) OUT(PORT(
			1,
			DIMS(7,
			     4))) "<port_map>"
				  "<input axis='%d' external_port_id='0' internal_layer_id='0' part_size='1'/>"
				  "<output external_port_id='1' internal_layer_id='3'/></port_map>%s</layer>",
		axis, body);
	buf_str(b, LAYER(2, "Result", IN(PORT(0, ""))) "</layers><edges>" EDGE(0, 0, 1, 0)
			   EDGE(1, 1, 2, 0) "</edges></net>");
}

static void test_bodies(void)
{
	struct buf b = BUF_INIT;

	write_loop(&b, 0);
	check_bytes(&b, NULL, "1x8:8x4 x7", "a body counts as often as the loop runs");
	write_loop(&b, 5);
	check_bytes(&b, NULL, "1x8:8x4", "and once, where the file does not tell that");
	buf_free(&b);
}

static void test_false(void)
{
	struct buf b = BUF_INIT;

	refuse("<net name=\"a\" version=\"7\"><layers/></net>", "an OpenVINO IR of version 7",
	       "an old version is refused");
	refuse("<?xml version='1.0'?><!DOCTYPE net [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n"
	       "<net name=\"&b;\" version=\"11\"></net>",
	       "declares a document type", "and entities");
	refuse("<?xml version='1.0'?><!DOCTYPE net SYSTEM \"file:///etc/passwd\"><net version=\"11\"></net>",
	       "declares a document type", "and other files");
	refuse("<net version=\"11\"><layers><layer id=\"x\"/></layers></net>",
	       "line 1: the id of an element <layer> is \"x\", which is no number",
	       "a number that is none");
	refuse("<net version=\"11\"><layers>\n<layer id=\"1\"/><layer id=\"1\"/></layers></net>",
	       "two layers have the id 1", "two layers of one id");
	refuse("<net version=\"11\"><layers><layer id=\"1\"/></layers><edges>" EDGE(
		       1, 0, 9, 0) "</edges></net>",
	       "not both are there", "an edge to nowhere");
	refuse("<net version=\"11\"><layers><layer id=\"1\" type=\"Const\"><output>" PORT(
		       0, DIMS(9999999999, 9999999999)) "</output></layer></layers></net>",
	       "of absurd size", "an absurd size");
	refuse("<net version=\"11\"><layers/></net>", "without layers", "nothing");
	refuse("<net version='11'><layers><layer id='1' type='Add'>" IN(PORT(0, ""))
		       IN("") "</layer></layers></net>",
	       "a layer has two lists of its inputs", "two lists of inputs");
	write_network(&b, "x Parameter 2x3\ny Const -\nm MatMul 2x3 <x <y\n");
	refuse_bytes(b.s, b.n, "multiplies a scalar", "a product with a scalar");
	buf_clear(&b);
	expect("x Parameter 2x3\nm MatMul 2x3 <x\n", "", "a product without its second side");
	ok(was_said("not extracted: MatMul 1"), "is said");
	buf_str(&b, "<net version=\"11\"><layers>");
	for (int i = 0; i < 40; i++)
		buf_fmt(&b, "<layer id=\"%d\" type=\"Loop\"><body><layers>", i);
	refuse_bytes(b.s, b.n, "nested more than 64 deep", "bodies in bodies in bodies");
	buf_clear(&b);
	buf_str(&b, "<net version=\"11\"><layers><layer id=\"1\" type=\"Add\"><input>");
	for (int i = 0; i < 300000; i++)
		buf_str(&b, "<port id=\"1\"/>");
	refuse_bytes(b.s, b.n, "more than 262144", "more ports than any network has");
	buf_free(&b);
}

static void read_network(const char *name, struct buf *out)
{
	struct err e = ERR_INIT;
	struct input *in;
	struct member *m;
	char file[100];

	snprintf(file, sizeof file, "tests/networks/openvino/%s.xml.zst", name);
	in = input_open(file, NULL, &e);
	if (!in || input_next(in, &m, &e) <= 0)
		bail_out("%s: %s", file, e.msg);
	while (pull_fill(&m->bytes, &e) > 0)
		if (pull_append(&m->bytes, out, (uint64_t)(m->bytes.end - m->bytes.at), &e))
			break;
	input_close(in);
}

/* Numbers changed: what is read then is well-formed, and makes no sense. Returns how often nothing
 * was said. */
static int change_numbers(const struct buf *b, int times)
{
	int silent = 0;
	struct rng r;

	rng_seed(&r, 1, "numbers");
	for (int i = 0; i < times; i++) {
		struct extract x = {.layout = LAYOUT_NHWC};
		char *s = xmalloc(b->n);
		int left = 1 + (int)rng_below(&r, 4);

		memcpy(s, b->s, b->n);
		while (left) {
			size_t at = rng_below(&r, b->n);

			if (s[at] < '0' || s[at] > '9')
				continue;
			s[at] = "0123456789-"[rng_below(&r, 11)];
			left--;
		}
		read_bytes(&x, &format_openvino, s, b->n);
		silent += !x.failed && !said.n;
		extract_free(&x);
		free(s);
	}
	return silent;
}

static void test_hostile(void)
{
	static const char *const names[] = {"recurrent", "detector", "encoder"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct buf b = BUF_INIT;
		size_t silent = 0, refused, step;

		read_network(names[i], &b);
		step = b.n / 300 + !!(b.n % 300);
		refused = attack(&format_openvino, &b, 300, 1000, &silent);
		/* The last character may be an end of a line. */
		ok(refused + 1 >= (b.n - 1) / step + 1 && !silent,
		   "%s, cut off and with bits flipped (%zu)", names[i], refused);
		ok(!change_numbers(&b, 2000), "and with other numbers, is never read silently");
		buf_free(&b);
	}
}

int main(void)
{
	begin();
	test_calls(&spelling);
	test_convolutions();
	test_products();
	test_types();
	test_open();
	grouped("2", "mb3_ic8ih14_oc16oh14_kh3ph1");
	grouped("3", "divides 8 channels into 3 groups");
	test_constants();
	test_kept();
	test_bodies();
	test_false();
	test_hostile();
	return end();
}
