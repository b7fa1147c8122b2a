/* MXNet's symbols: what their operators become, variables, old files, and hostile ones.
 *
 * A symbol is written here as lines "NAME OP INPUT.. KEY=VALUE..", where an input is a name or
 * NAME:RESULT. The last line is what the symbol makes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/mxnet/mxnet.h"
#include "tests/extracting.h"

enum { MOST = 64 };

static const char *attributes = "attrs"; /* where they stand: in old files it is "param" */

/* ---- writing symbols ---- */

struct names {
	char name[MOST][32];
	int n;
};

/* "conv:1": the number of the node, and of the result. */
static void put_input(struct buf *b, const struct names *all, const char *s, size_t n)
{
	const char *colon = memchr(s, ':', n);
	const size_t len = colon ? (size_t)(colon - s) : n;

	for (int i = 0; i < all->n; i++)
		if (strlen(all->name[i]) == len && !memcmp(all->name[i], s, len))
			buf_fmt(b, "[%d, %d, 0], ", i, colon ? atoi(colon + 1) : 0);
}

static void put_line(struct buf *b, struct names *all, const char *s, size_t size)
{
	struct buf inputs = BUF_INIT, attrs = BUF_INIT;
	const char *const end = s + size;
	char op[64];
	int name = 0, skip = 0;

	if (all->n == MOST || sscanf(s, "%31s %n%63s%n", all->name[all->n], &name, op, &skip) != 2)
		bail_out("no node: %.*s", (int)size, s);
	for (s += skip; s < end;) {
		const size_t n = strcspn(s, " \n"), key = strcspn(s, "= \n");

		if (n && key < n)
			buf_fmt(&attrs, "%s\"%.*s\": \"%.*s\"", attrs.n ? ", " : "", (int)key, s,
				(int)(n - key - 1), s + key + 1);
		else if (n)
			put_input(&inputs, all, s, n);
		s += n + 1;
	}
	if (inputs.n)
		inputs.n -= 2;
	buf_fmt(b, "%s{\"op\": \"%s\", \"name\": \"%s\", \"%s\": {%s}, \"inputs\": [%.*s]}",
		all->n ? ",\n" : "", op, all->name[all->n], attributes, attrs.n ? attrs.s : "",
		(int)inputs.n, inputs.n ? inputs.s : "");
	all->n++;
	buf_free(&inputs);
	buf_free(&attrs);
}

static void write_symbol(struct buf *b, const char *text)
{
	struct names all = {.n = 0};

	buf_clear(b);
	buf_str(b, "{\"nodes\": [");
	for (const char *s = text; *s;) {
		const size_t n = strcspn(s, "\n");

		put_line(b, &all, s, n);
		s += n + (s[n] == '\n');
	}
	buf_fmt(b, "], \"arg_nodes\": [0], \"heads\": [[%d, 0, 0]]}", all.n - 1);
}

/* ---- reading them ---- */

static void read_text(struct extract *x, const char *text)
{
	static char name[] = "x";
	static struct input_shape shape = {.name = name, .shape = {4, {1, 8, 14, 14}}};
	struct buf b = BUF_INIT;

	write_symbol(&b, text);
	x->infer.shape = &shape;
	x->infer.nshape = 1;
	read_bytes(x, &format_mxnet, b.s, b.n);
	buf_free(&b);
}

static void expect(const char *text, const char *want, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf got = BUF_INIT;

	read_text(&x, text);
	describe(&x, &got);
	ok(!x.failed && !strncmp(got.s, want, strlen(want)) && strlen(got.s) <= strlen(want) + 2,
	   "%s", what);
	if (strncmp(got.s, want, strlen(want)) != 0)
		diag("found %s, not %s; said %s", got.s, want, said.s);
	buf_free(&got);
	extract_free(&x);
}

static void refuse(const char *text, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	read_text(&x, text);
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
}

#define X "x null\n"
#define W "w null\n"
#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"
#define SAME "kernel=(3,3) pad=(1,1) num_filter=8"
/* A convolution that shows the shape of what it reads, as long as there are four dimensions. */
#define SHOW(in) "v null\nshow Convolution " in " v kernel=(1,1) num_filter=1 no_bias=True"

/* ---- the tests ---- */

static void test_windows(void)
{
	expect(X W "c null\ny Convolution x w c " SAME "\nz Activation y act_type=relu",
	       CONV " bias,relu", "a convolution with bias and activation");
	expect(X W "y Convolution x w num_group=8 no_bias=1 " SAME, "mb1g8_ic8ih14_oc8oh14_kh3ph1",
	       "a convolution for each channel");
	expect(X "p Pooling x kernel=(1,1) stride=(5,5) pooling_convention=full\n" SHOW("p"),
	       "mb1_ic8ih4_oc1oh4_kh1", "a pool that also counts a window behind the data");
	expect(X "p Pooling x kernel=(3,3) stride=(2,2) pool_type=avg\n" SHOW("p"),
	       "mb1_ic8ih6_oc1oh6_kh1", "a pool that leaves out what does not fit");
	expect(X "p Pooling x kernel=(3,3) stride=(2,2) pooling_convention=same\n" SHOW("p"),
	       "mb1_ic8ih7_oc1oh7_kh1", "a pool that pads as much as it wants");
	expect(X "p Pooling x global_pool=True pool_type=avg\n" SHOW("p"), "mb1_ic8ih1_oc1oh1_kh1",
	       "a pool of all");
	expect(X W "d Deconvolution x w kernel=(3,3) stride=(2,2) pad=(1,1) adj=(1,1) "
		   "num_filter=4\n" SHOW("d"),
	       "196x8:8x36; mb1_ic4ih28_oc1oh28_kh1", "a transposed convolution");
	expect(X W "d Deconvolution x w kernel=(4,4) stride=(2,2) target_shape=(27,27) "
		   "num_filter=4\n" SHOW("d"),
	       "196x8:8x64; mb1_ic4ih27_oc1oh27_kh1",
	       "a transposed convolution to a size that is told");
	expect(X "p pad x mode=constant pad_width=(0,0,0,0,1,1,2,2)\n" SHOW("p"),
	       "mb1_ic8ih14iw14_oc1oh16ow18_kh1kw1ph1pw2", "padding, in pairs");
	expect(X "u UpSampling x scale=2 sample_type=nearest\n" SHOW("u"),
	       "mb1_ic8ih28_oc1oh28_kh1", "upsampling");
	expect(X "u _contrib_BilinearResize2D x height=20 width=10\n" SHOW("u"),
	       "mb1_ic8ih20iw10_oc1oh20ow10_kh1kw1", "resizing");
	expect(X "p Pooling x kernel=(2,2) stride=(2,2)\n"
		 "u _contrib_BilinearResize2D x p mode=like\n" SHOW("u"),
	       "mb1_ic8ih7_oc1oh7_kh1", "resizing to another's size");
	expect(X "p Pooling x kernel=(2,2) stride=(2,2)\nu Crop x p offset=(2,2)\n" SHOW("u"),
	       "mb1_ic8ih7_oc1oh7_kh1", "cutting to another's size");
	expect(X "u _contrib_AdaptiveAvgPooling2D x output_size=(3,5)\n" SHOW("u"),
	       "mb1_ic8ih3iw5_oc1oh3ow5_kh1kw1", "an average of parts");
}

static void test_products(void)
{
	expect(X W "c null\ny FullyConnected x w c num_hidden=10", "1x1568:1568x10 bias",
	       "a product of all that belongs to one of the batch");
	expect(X W "y FullyConnected x w num_hidden=10 flatten=False no_bias=True", "112x14:14x10",
	       "a product of the last dimension");
	expect(X W "y FullyConnected x w num_hidden=10L no_bias=True", "1x1568:1568x10",
	       "numbers as Python 2 wrote them");
	expect(X "r Reshape x shape=(-3,0,0)\ny batch_dot r r transpose_b=True",
	       "8x14x14:8x14x14 computed", "a product of each of a batch");
	expect(X "r Reshape x shape=(-3,-3)\ny dot r r transpose_a=True", "196x8:8x196 computed",
	       "a product whose left side is transposed");
	expect(X "r Reshape x shape=(-3,-3)\nw null __shape__=(5,196) __lr_mult__=1.0\n"
		 "y dot r w transpose_b=True",
	       "8x196:196x5", "a product by a parameter of Gluon's");
	/* Shapes as MXNet 1.9.1 tells them: the other dimensions of both sides, one behind the
	 * other. */
	expect("a null __shape__=(2,3,4)\nb null __shape__=(4,5,6)\nd dot a b\n"
	       "r Reshape d shape=(1,2,15,6)\n" SHOW("r"),
	       "6x4:4x30 computed; mb1_ic2ih15iw6_oc1oh15ow6_kh1kw1",
	       "a dot of three dimensions by three");
	expect("a null __shape__=(4,3,2)\nb null __shape__=(6,5,4)\n"
	       "d dot a b transpose_a=True transpose_b=True\nr Reshape d shape=(0,0,0,-1)\n" SHOW(
		       "r"),
	       "6x4:4x30 computed; mb3_ic2ih6iw5_oc1oh6ow5_kh1kw1", "both transposed");
	expect("a null __shape__=(4,)\nb null __shape__=(4,5,6)\nd dot a b\n"
	       "r Reshape d shape=(-4,1,5,-1,1)\n" SHOW("r"),
	       "1x4:4x30 computed; mb1_ic5ih6iw1_oc1oh6ow1_kh1kw1", "a vector by three dimensions");
	expect(X "w null\nv null\ns _zeros shape=(0,5)\n"
		 "i FullyConnected x w num_hidden=5 no_bias=True\n"
		 "h FullyConnected s v num_hidden=5 no_bias=True\ny elemwise_add i h",
	       "1x1568:1568x5; 1x5:5x5 add", "the state that a recurrent network begins with");
	expect("x null\nw null\ne Embedding x w input_dim=50 output_dim=6\nv null\n"
	       "y FullyConnected e v num_hidden=4 flatten=False no_bias=True",
	       "1568x6:6x4", "a table");
}

static void test_reshape(void)
{
	static const struct {
		const char *codes, *want;
	} rows[] = {
		{"(0,0,-1,7)", "mb1_ic8ih28iw7"},
		{"(0,0,-4,2,-1,0)", ""},
		{"(-2,)", "mb1_ic8ih14_"},
		{"(0,-4,2,-1,-3)", "mb1_ic2ih4iw196"},
		{"(-4,-1,1,-3,0)", "mb1_ic1ih112iw14"},
		{"(0,-4,-1,4,-3)", "mb1_ic2ih4iw196"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct extract x = {.layout = LAYOUT_NHWC};
		struct buf s = BUF_INIT, got = BUF_INIT;

		buf_fmt(&s, X "r Reshape x shape=%s\n" SHOW("r"), rows[i].codes);
		read_text(&x, s.s);
		describe(&x, &got);
		if (rows[i].want[0])
			ok(!strncmp(got.s, rows[i].want, strlen(rows[i].want)), "shape=%s is %s",
			   rows[i].codes, rows[i].want);
		else /* five dimensions */
			ok(x.failed == 1, "shape=%s has one dimension too many", rows[i].codes);
		if (strncmp(got.s, rows[i].want, strlen(rows[i].want)) != 0)
			diag("found %s; said %s", got.s, said.s);
		extract_free(&x);
		buf_free(&s);
		buf_free(&got);
	}
	expect(X "r Reshape x shape=(8,2,-1,0) reverse=True\n" SHOW("r"),
	       "mb8_ic2ih7iw14_oc1oh7ow14_kh1kw1", "codes from the end");
	expect(X "r Reshape x target_shape=(0,8,7,28)\n" SHOW("r"),
	       "mb1_ic8ih7iw28_oc1oh7ow28_kh1kw1", "the shape of old files");
	refuse(X "r Reshape x shape=(-3,-3,-3)\n" SHOW("r"), "does not fit its data",
	       "codes that do not fit are refused");
	refuse(X "r Reshape x shape=(0,-4,3,-1,-3)\n" SHOW("r"), "does not fit its data",
	       "so are parts that do not divide");
}

static void test_moves(void)
{
	expect(X "r SwapAxis x dim1=1 dim2=3\n" SHOW("r"), "mb1_ic14ih14iw8_oc1oh14ow8_kh1kw1",
	       "axes swapped");
	expect(X "r tile x reps=(2,3)\n" SHOW("r"), "mb1_ic8ih28iw42_oc1oh28ow42_kh1kw1",
	       "the last axes repeated");
	expect(X "r repeat x repeats=3 axis=2\n" SHOW("r"), "mb1_ic8ih42iw14_oc1oh42ow14_kh1kw1",
	       "an axis repeated");
	expect(X "r broadcast_axis x axis=(0,) size=(4,)\n" SHOW("r"), "mb4_ic8ih14_oc1oh14_kh1",
	       "an axis of 1 repeated");
	expect(X "r slice x begin=(None,2) end=(None,None)\n" SHOW("r"), "mb1_ic6ih14_oc1oh14_kh1",
	       "a part");
	expect(X "r slice_axis x axis=-1 begin=0 end=-4\n" SHOW("r"),
	       "mb1_ic8ih14iw10_oc1oh14ow10_kh1kw1", "a part of an axis");
	expect(X "p Pooling x kernel=(2,2) stride=(2,2)\nr slice_like x p axes=(2,)\n" SHOW("r"),
	       "mb1_ic8ih7iw14_oc1oh7ow14_kh1kw1", "a part as large as another's");
	expect(X "s SliceChannel x num_outputs=4 axis=1\n" SHOW("s:3"), "mb1_ic2ih14_oc1oh14_kh1",
	       "the last of four parts, of which no other is read");
	expect(X "s _split_v2 x indices=(0,3,5) axis=1\n" SHOW("s:1"), "mb1_ic2ih14_oc1oh14_kh1",
	       "one of parts that begin at places that are told");
	expect(X "m mean x axis=(1,) exclude=True keepdims=True\n" SHOW("m"),
	       "mb1_ic8ih1_oc1oh1_kh1", "a mean over all axes but one");
	expect(X "p Pooling x kernel=(2,2) stride=(2,2)\nf Reshape p shape=(0,0,-1)\n"
		 "r reshape_like f p lhs_begin=2 rhs_begin=2\n" SHOW("r"),
	       "mb1_ic8ih7_oc1oh7_kh1", "some axes as another has them");
	expect(X "a _contrib_arange_like x axis=1\nc Cast a dtype=float32\n"
		 "r broadcast_to c shape=(1,6,3,8)\n" SHOW("r"),
	       "mb1_ic6ih3iw8_oc1oh3ow8_kh1kw1", "the numbers along an axis");
	expect(X "o topk x axis=1 k=3 ret_typ=value\n" SHOW("o"), "mb1_ic3ih14_oc1oh14_kh1",
	       "the largest");
}

static void test_variables(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf b = BUF_INIT;

	write_symbol(&b, "image null\n" W "y Convolution image w " SAME);
	read_bytes(&x, &format_mxnet, b.s, b.n);
	ok(x.failed == 1 && was_said("--shape image:1,3,224,224"),
	   "an input without a shape is said, with the option that gives it");
	extract_free(&x);
	write_symbol(&b, "image null __shape__=(2,8,14,14)\n" W "y Convolution image w " SAME);
	x = (struct extract){.layout = LAYOUT_NHWC};
	read_bytes(&x, &format_mxnet, b.s, b.n);
	ok(!x.failed && x.found.by_id.n == 1, "the file may tell the shape of an input");
	extract_free(&x);
	buf_free(&b);
	expect(X W "g null\nb null\nl null\nn BatchNorm x g b\ny Convolution n w no_bias=True " SAME
		   "\nf FullyConnected y w2 num_hidden=3 no_bias=True\ns SoftmaxOutput y l",
	       CONV, "parameters, labels and unread variables are no inputs");
}

static void test_old(void)
{
	attributes = "param";
	expect(X W "c null\ny Convolution x w c " SAME
		   " workspace=256\nz Activation y act_type=relu",
	       CONV " bias,relu", "attributes of MXNet before 0.9");
	attributes = "attr";
	expect(X W "c null\ny Convolution x w c " SAME, CONV " bias",
	       "attributes of MXNet before 1.0");
	attributes = "attrs";
}

/* Own operators, unknown ones, and such as there is no counterpart for. */
static void test_unknown(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	expect(X W "g null\nb null\ny Convolution x w no_bias=True " SAME
		   "\nn BatchNorm y g b\nm elemwise_add n:1 n:2",
	       CONV, "results of training that are read hide nothing");

	read_text(&x, X W "o MyOwn x\ny Convolution o w " SAME);
	ok(!x.failed && was_said("unknown operators: MyOwn") && was_said("because of MyOwn"),
	   "an operator of one's own is named");
	extract_free(&x);
}

#define NULLS "{\"op\": \"null\", \"name\": \"x\", \"inputs\": []}"

static void refuse_json(const char *json, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};

	read_bytes(&x, &format_mxnet, json, strlen(json));
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
}

static void test_damaged(void)
{
	refuse_json("{\"nodes\": [" NULLS
		    ", {\"op\": \"relu\", \"name\": \"y\", \"inputs\": [[1, 0, "
		    "0]]}], \"heads\": [[1, 0, 0]]}",
		    "reads a later one", "a node that reads itself");
	refuse_json("{\"nodes\": [" NULLS "], \"heads\": [[7, 0]]}", "reads a later one",
		    "a head that is not there");
	refuse_json("{\"nodes\": [" NULLS "], \"heads\": [[0, 99999]]}", "too many results",
		    "too many results");
	refuse_json("{\"nodes\": [" NULLS "], \"heads\": [[0, -1]]}", "too many results",
		    "a negative result");
	refuse_json("{\"nodes\": [], \"heads\": []}", "no nodes", "no nodes");
	refuse_json("{\"nodes\": [" NULLS "]}", "no heads", "no heads");
	refuse_json("{\"nodes\": [7], \"heads\": [[0, 0]]}", "a node without an operator",
		    "a node that is a number");
	refuse_json("{\"nodes\": [{\"op\": \"null\", \"inputs\": 5}], \"heads\": [[0, 0]]}",
		    "a node without an operator", "inputs that are a number");
	refuse_json("{\"nodes\": [{\"op\": \"null\", \"inputs\": [5]}], \"heads\": [[0, 0]]}",
		    "no pair of numbers", "an input that is a number");
	refuse_json("[]", "it is no symbol", "another document");
}

/* Each node reads a far result of the one before it: few bytes, many values. */
static void test_bombs(void)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf b = BUF_INIT, deep = BUF_INIT;

	buf_str(&b, "{\"nodes\": [" NULLS);
	for (int i = 0; i < 1000; i++)
		buf_fmt(&b, ", {\"op\": \"o\", \"name\": \"n\", \"inputs\": [[%d, 4095]]}", i);
	buf_str(&b, "], \"heads\": [[0, 0]]}");
	read_bytes(&x, &format_mxnet, b.s, b.n);
	ok(x.failed == 1 && was_said("more than 1048576 results"), "a bomb of results");
	extract_free(&x);
	buf_clear(&b);
	for (int i = 0; i < 12; i++)
		buf_str(&b,
			"{\"nodes\": [" NULLS ", {\"op\": \"_sg_mkldnn_conv\", \"name\": \"y\", "
			"\"inputs\": [[0, 0]], \"subgraphs\": [");
	buf_str(&b, "{\"nodes\": [" NULLS "], \"heads\": [[0, 0]]}");
	for (int i = 0; i < 12; i++)
		buf_str(&b, "]}], \"heads\": [[1, 0]]}");
	x = (struct extract){.layout = LAYOUT_NHWC};
	read_bytes(&x, &format_mxnet, b.s, b.n);
	ok(x.failed == 1 && was_said("nested more than 8 deep"), "graphs in graphs in graphs");
	extract_free(&x);
	buf_free(&b);
	buf_free(&deep);
}

/* A symbol's graph, for looking at its nodes. */
struct seen {
	struct json_doc d;
	struct arena a;
	struct buf b;
	struct graph g;
};

static void see(struct seen *s, const char *text)
{
	const struct infer_options none = {0};
	struct err e = ERR_INIT;

	*s = (struct seen){JSON_DOC_INIT, ARENA_INIT, BUF_INIT, {0}};
	write_symbol(&s->b, text);
	graph_init(&s->g, &s->a);
	s->d.foreign = 1;
	if (json_parse(&s->d, s->b.s, s->b.n, &e) < 0 || mxnet_read(&s->g, &s->d, &none, &e))
		diag("%s", e.msg);
}

static void unsee(struct seen *s)
{
	graph_free(&s->g);
	json_free(&s->d);
	arena_free(&s->a);
	buf_free(&s->b);
}

static void test_pool(void)
{
	struct seen s;

	see(&s, "x null __shape__=(1,8,14,14)\np Pooling x kernel=(3,3) stride=(2,2)");
	ok(s.g.nnode == 1 && !strcmp(s.g.node[0].type, "MaxPool"),
	   "a pool that does not say which finds the greatest");
	unsee(&s);
}

/* Only the parts of a split that are read take memory. */
static void test_parts(void)
{
	struct seen s;

	see(&s, "x null __shape__=(1,4096,14)\n"
		"s SliceChannel x num_outputs=4096 axis=1\ny relu s");
	ok(s.g.nnode == 2 && s.g.node[0].nout == 1, "of 4096 parts only the first is there");
	unsee(&s);
	expect(X "s SliceChannel x num_outputs=4 axis=1\n" SHOW("s"), "mb1_ic2ih14_oc1oh14_kh1",
	       "the first of four parts, of which no other is read");
}

/* Every operator with too few or too many inputs, and attributes that mean nothing. */
static void test_absurd(void)
{
	static const char *const types[] = {
		"Convolution",
		"Deconvolution",
		"Pooling",
		"FullyConnected",
		"Embedding",
		"RNN",
		"BatchNorm",
		"LeakyReLU",
		"Activation",
		"Reshape",
		"reshape_like",
		"slice",
		"slice_axis",
		"slice_like",
		"SliceChannel",
		"_split_v2",
		"stack",
		"Concat",
		"tile",
		"repeat",
		"broadcast_to",
		"broadcast_axis",
		"broadcast_like",
		"take",
		"gather_nd",
		"one_hot",
		"topk",
		"_arange",
		"_zeros",
		"transpose",
		"SwapAxis",
		"squeeze",
		"expand_dims",
		"Pad",
		"Crop",
		"UpSampling",
		"_contrib_BilinearResize2D",
		"_contrib_AdaptiveAvgPooling2D",
		"_contrib_ROIAlign",
		"dot",
		"batch_dot",
		"linalg_gemm",
		"_contrib_interleaved_matmul_selfatt_qk",
		"_contrib_interleaved_matmul_selfatt_valatt",
		"_contrib_interleaved_matmul_encdec_qk",
		"_contrib_interleaved_matmul_encdec_valatt",
		"_contrib_ModulatedDeformableConvolution",
		"Cast",
		"amp_multicast",
		"where",
		"clip",
		"mean",
		"argmax",
		"norm",
		"softmax",
		"rsqrt",
		"_plus_scalar",
		"depth_to_space",
		"_contrib_quantize_v2",
		"elemwise_add",
		"add_n",
		"LayerNorm",
		"square",
	};
	static const char *const rest[] = {
		"",
		" x",
		" x x",
		" x x x",
		" x x x x x x",
		" x w w kernel=(1,1) num_filter=-5 num_group=0 num_hidden=9223372036854775807",
		" x w w kernel=(0,0) stride=(0,0) pad=(-9,99999999) dilate=(-1,0) num_filter=4",
		" x w w kernel=(3,3,3,3,3,3,3,3,3,3,3,3,3,3) shape=(1,2,3,4,5,6,7,8,9,10,11,12,13)",
		" x w heads=3 axis=-9 axes=(9,9,9) num_outputs=99999999 shape=(-4,-4,-4) k=-1",
		" x w heads=4 input_dim=7 output_dim=7 state_size=8 num_layers=1024 mode=lstm",
		" x w w heads=1 axis=0 shape=(9223372036854775807,9) size=(9,9) repeats=-7 depth=1",
		" x x scale=-1 height=-5 width=0 block_size=0 pooled_size=(0,-1) reps=(-1,-1)",
		" x begin=(1,None) end=(None,-5) step=(0,-1) indices=(7,3,-2) pad_width=(1,2,3)",
		" x x squeeze_axis=True num_outputs=1 axis=1 dtype=what act_type=what mode=what",
	};
	size_t silent = 0;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
			struct extract x = {.layout = LAYOUT_NHWC};
			struct buf s = BUF_INIT;

			buf_fmt(&s, X W "y %s%s\nz relu y:2", types[i], rest[k]);
			read_text(&x, s.s);
			silent += !said.n;
			extract_free(&x);
			buf_free(&s);
		}
	ok(!silent, "operators without inputs and attributes are read, or refused with a sentence");
}

static void test_hostile(void)
{
	static const char text[] =
		"x null __shape__=(1,8,14,14)\n" W "g null\nb null\nm null\ns null\n"
		"y Convolution x w no_bias=True " SAME "\nn BatchNorm y g b m s axis=1\n"
		"a Activation n act_type=relu\nr Reshape a shape=(0,-4,2,-1,-3)\n"
		"p SliceChannel r num_outputs=2 axis=1\nd batch_dot p:0 p:1 transpose_b=1\n"
		"v null\nf FullyConnected d v num_hidden=5 no_bias=True";
	struct buf b = BUF_INIT;

	write_symbol(&b, text);
	attack_whole(&format_mxnet, &b, 5000);
	buf_free(&b);
}

int main(void)
{
	begin();
	test_windows();
	test_products();
	test_reshape();
	test_moves();
	test_variables();
	test_old();
	test_unknown();
	test_damaged();
	test_bombs();
	test_pool();
	test_parts();
	test_absurd();
	test_hostile();
	return end();
}
