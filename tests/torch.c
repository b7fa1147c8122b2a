/* Programs of torch.export: what their operators become, sizes that are open, and hostile files.
 *
 * Programs are written here from a few lines of text, so that each test shows the graph it is
 * about. A line is one of
 *     NAME KIND SIZE,..
 *         a tensor. Kinds: I an input of the user, d the same in double precision, B of truth
 *         values, P a parameter, S one of s8, t another one, u of u8, s of s8. A size that is no
 *         number is an expression.
 *     OPERATOR.OVERLOAD ARGUMENT=VALUE.. -> NAME,..
 *         a call and what it makes, such as
 *         conv2d.default input=x weight=w stride=[2,2] groups=1 -> y
 *         LIBRARY:OPERATOR.OVERLOAD is one of another library than aten.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/rng.h"
#include "lib/extract/torch/torch.h"
#include "tests/calls.h"

struct program {
	struct buf values, inputs, user, nodes; /* JSON, without the brackets around it */
};

static const char *comma(const struct buf *b)
{
	return b->n ? "," : "";
}

/* Calls put with each part of "a,b,c". */
static void each(struct buf *b, const char *list, size_t n,
		 void (*put)(struct buf *b, const char *s, size_t n))
{
	for (size_t k; n; list += k, n -= k) {
		k = 0;
		while (k < n && list[k] != ',')
			k++;
		put(b, list, k);
		if (k < n)
			buf_str(b, ","), k++;
	}
}

static int is_number(const char *s, size_t n)
{
	return n && strspn(s, "-0123456789") >= n;
}

static void put_size(struct buf *b, const char *s, size_t n)
{
	if (is_number(s, n))
		buf_fmt(b, "{\"as_int\":%.*s}", (int)n, s);
	else
		buf_fmt(b, "{\"as_expr\":{\"expr_str\":\"%.*s\",\"hint\":{\"as_int\":7}}}", (int)n,
			s);
}

static void put_name(struct buf *b, const char *s, size_t n)
{
	buf_fmt(b, "{\"name\":\"%.*s\"}", (int)n, s);
}

static void put_number(struct buf *b, const char *s, size_t n)
{
	buf_add(b, s, n);
}

static void add_tensor(struct program *p, const char *line)
{
	size_t n = strcspn(line, " ");
	const char kind = line[n + 1], *sizes = line + n + 3;

	buf_fmt(&p->values, "%s\"%.*s\":{\"dtype\":%d,\"sizes\":[", comma(&p->values), (int)n, line,
		kind == 'd'		     ? 8
		: kind == 'B'		     ? 12
		: kind == 'u'		     ? 1
		: kind == 's' || kind == 'S' ? 2
					     : 7);
	each(&p->values, sizes, strcspn(sizes, "\n"), put_size);
	buf_str(&p->values, "]}");
	if (strchr("tus", kind))
		return;
	buf_fmt(&p->inputs, "%s{\"as_tensor\":{\"name\":\"%.*s\"}}", comma(&p->inputs), (int)n,
		line);
	if (kind != 'P' && kind != 'S')
		buf_fmt(&p->user,
			"%s{\"user_input\":{\"arg\":{\"as_tensor\":{\"name\":\"%.*s\"}}}}",
			comma(&p->user), (int)n, line);
}

static void put_argument(struct buf *b, const char *s, size_t n)
{
	size_t name = strcspn(s, "=");
	const char *v = s + name + 1;
	const size_t k = n - name - 1;

	buf_fmt(b, "{\"name\":\"%.*s\",\"arg\":{", (int)name, s);
	if (*v == '[' && (k == 2 || !isalpha((unsigned char)v[1]))) {
		buf_str(b, "\"as_ints\":[");
		each(b, v + 1, k - 2, put_number);
		buf_str(b, "]");
	} else if (*v == '[') {
		buf_str(b, "\"as_tensors\":[");
		each(b, v + 1, k - 2, put_name);
		buf_str(b, "]");
	} else if (*v == '\'') {
		buf_fmt(b, "\"as_string\":\"%.*s\"", (int)k - 2, v + 1);
	} else if (!strncmp(v, "true", k) || !strncmp(v, "false", k)) {
		buf_fmt(b, "\"as_bool\":%.*s", (int)k, v);
	} else if (is_number(v, k) || strchr("-0123456789", *v)) {
		buf_fmt(b, "\"as_%s\":%.*s", is_number(v, k) ? "int" : "float", (int)k, v);
	} else {
		buf_str(b, "\"as_tensor\":");
		put_name(b, v, k);
	}
	buf_str(b, "}}");
}

static void add_call(struct program *p, const char *line)
{
	const char *arrow = strstr(line, " -> "), *s = line + strcspn(line, " ");
	const char *colon = memchr(line, ':', (size_t)(s - line)), *name = colon ? colon + 1 : line;
	struct buf *b = &p->nodes;

	buf_fmt(b, "%s{\"name\":\"%.*s\",\"target\":\"torch.ops.%.*s.%.*s\",\"inputs\":[", comma(b),
		(int)strcspn(arrow + 4, ",\n"), arrow + 4, colon ? (int)(colon - line) : 4,
		colon ? line : "aten", (int)(s - name), name);
	for (const char *first = ""; s < arrow; first = ",") {
		size_t n = strcspn(++s, " ");

		buf_str(b, first);
		put_argument(b, s, n);
		s += n;
	}
	buf_str(b, "],\"outputs\":[{\"as_tensor");
	s = arrow + 4;
	if (memchr(s, ',', strcspn(s, "\n"))) {
		buf_str(b, "s\":[");
		each(b, s, strcspn(s, "\n"), put_name);
		buf_str(b, "]}]}");
	} else {
		buf_str(b, "\":");
		put_name(b, s, strcspn(s, "\n"));
		buf_str(b, "}]}");
	}
}

static void write_program(struct buf *out, const char *text)
{
	struct program p = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		const char *arrow = strstr(line, " -> ");

		if (arrow && arrow < line + strcspn(line, "\n"))
			add_call(&p, line);
		else
			add_tensor(&p, line);
	}
	buf_clear(out);
	buf_fmt(out,
		"{\"graph_module\":{\"graph\":{\"inputs\":[%s],\"outputs\":[],\"nodes\":[%s],"
		"\"tensor_values\":{%s}},\"signature\":{\"input_specs\":[%s]}}}",
		p.inputs.n ? p.inputs.s : "", p.nodes.n ? p.nodes.s : "",
		p.values.n ? p.values.s : "", p.user.n ? p.user.s : "");
	buf_free(&p.values);
	buf_free(&p.inputs);
	buf_free(&p.user);
	buf_free(&p.nodes);
}

static int all; /* operators that multiply nothing are asked for, too */

/* What is found in a program, with these options. */
static void check_with(const struct infer_words *words, const char *text, const char *expected,
		       const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC, .format = "torch", .all = all};
	struct buf b = BUF_INIT, found = BUF_INIT;
	struct err e = ERR_INIT;

	if (infer_options_read(&x.infer, words, &e))
		bail_out("%s", e.msg);
	write_program(&b, text);
	extract_bytes(&x, b.s, b.n);
	describe(&x, &found);
	if (!ok(!strcmp(found.s, expected) && !x.failed, "%s", what))
		diag("%s\n# instead of %s\n# %s", found.s, expected, said.s);
	infer_options_free(&x.infer);
	extract_free(&x);
	buf_free(&b);
	buf_free(&found);
}

static void check(const char *text, const char *expected, const char *what)
{
	const struct infer_words none = {.batch = -1};

	check_with(&none, text, expected, what);
}

#define MADE "$y t $Y\n"
#define OF_ONE(name) MADE name ".default self=$0 -> $y\n"
#define CONVOLVE(name, more)                                                                       \
	MADE name " input=$0 weight=$1 stride=[$stride] padding=[$pad] dilation=[$dilation]" more  \
		  " -> $y\n"

static const struct spelling_row own_words[] = {
	{"image", "$y I $Y\n"},
	{"data", "$y I $Y\n"},
	{"filter", "$y P $a,$d,$b,$c\n"},
	{"each", "$y P $a,1,$b,$c\n"},
	{"grouped", "$y P $a,$d,$b,$c\n"},
	{"volume", "$y P $a,$e,$b,$c,$d\n"},
	{"line", "$y P $a,$c,$b\n"},
	{"turned", "$y P $d,$a,$b,$c\n"},
	{"vector", "$y P $a\n"},
	{"channel", "$y P $a,1,1\n"},
	{"row", "$y P $a\n"},
	{"matrix", "$y P $a,$b\n"},
	{"conv", CONVOLVE("conv2d.default", "")},
	{"conv_bias", CONVOLVE("conv2d.default", " bias=$2")},
	{"depthwise", CONVOLVE("conv2d.default", " groups=$1d")},
	{"groups", CONVOLVE("conv2d.default", " groups=$1e")},
	{"conv3d", CONVOLVE("conv3d.default", "")},
	{"conv1d", CONVOLVE("conv1d.default", "")},
	{"transposed", CONVOLVE("conv_transpose2d.input", "")},
	{"zeros", MADE "constant_pad_nd.default self=$0 pad=[1,1,1,1] value=0.0 -> $y\n"},
	{"batch_norm", MADE "batch_norm.default input=$0 weight=$1 bias=$1 running_mean=$1 "
			    "running_var=$1 -> $y\n"},
	{"group_norm",
	 MADE "group_norm.default input=$0 num_groups=$groups weight=$1 bias=$1 -> $y\n"},
	{"relu", OF_ONE("relu_")},
	{"sigmoid", OF_ONE("sigmoid")},
	{"relu6", MADE "hardtanh.default self=$0 min_val=0.0 max_val=6.0 -> $y\n"},
	{"silu", OF_ONE("silu")},
	{"hardswish", OF_ONE("hardswish")},
	{"gelu", OF_ONE("gelu")},
	{"tanh", OF_ONE("tanh")},
	{"abs", OF_ONE("abs")},
	{"add", MADE "add.Tensor self=$0 other=$1 -> $y\n"},
	{"mul", MADE "mul.Tensor self=$0 other=$1 -> $y\n"},
	{"concat", MADE "cat.default tensors=[$0,$1] dim=1 -> $y\n"},
	{"max_pool",
	 MADE "max_pool2d.default self=$0 kernel_size=[$size] stride=[$stride] -> $y\n"},
	{"avg_pool", MADE "avg_pool2d.default self=$0 kernel_size=[$size] -> $y\n"},
	{"resize", MADE "upsample_nearest2d.vec input=$0 output_size=[$b,$c] -> $y\n"},
	{"linear", MADE "linear.default input=$0 weight=$1 -> $y\n"},
	{"linear_bias", MADE "linear.default input=$0 weight=$1 bias=$2 -> $y\n"},
	{"flat", MADE "view.default self=$0 size=[$a,$b] -> $y\n"},
	{"reshape", MADE "view.default self=$0 size=[$a,$b] -> $y\n"},
	{"transpose", MADE "t.default self=$0 -> $y\n"},
	{"mean", MADE "mean.dim self=$0 dim=[1] -> $y\n"},
	{"product", MADE "bmm.default self=$0 mat2=$1 -> $y\n"},
	{"product_of_turned", "t$y t $1a,$1c,$1b\ntranspose.int self=$1 dim0=1 dim1=2 -> t$y\n" MADE
			      "bmm.default self=$0 mat2=t$y -> $y\n"},
	{"attention", MADE "scaled_dot_product_attention.default query=$0 key=$0 value=$0 -> $y\n"},
	{"einsum", MADE "einsum.default equation='bij\\u002cbkj->bik' tensors=[$0,$1] -> $y\n"},
	{"lstm",
	 MADE "h$y I 1,$0a,$c\nm$y t 1,$0a,$c\nn$y t 1,$0a,$c\n"
	      "lstm.input input=$0 hx=[h$y,h$y] params=[$1,$2] has_biases=false num_layers=1 "
	      "batch_first=true -> $y,m$y,n$y\n"},
};
static const struct spelling spelling = {SPELLING(own_words), .channels_second = 1, .cases = 34,
					 .between = ',', .expect = check};

#define IMAGE "x I 1,8,16,16\nw P 8,8,3,3\nc P 8\n"
#define CONV "ic8ih16_oc8oh16_kh3ph1"

static void test_convolutions(void)
{
	check(IMAGE "y t 1,8,16,16\nconv2d.padding input=x weight=w padding='same' -> y\n",
	      "mb1_" CONV, "padding by a word");
	check(IMAGE "y t 1,8,14,14\nconv2d.padding input=x weight=w padding='valid' -> y\n",
	      "mb1_ic8ih16_oc8oh14_kh3", "and another");
	check(IMAGE
	      "y t 1,8,8,8\nconvolution.default input=x weight=w bias=c stride=[2] padding=[1] "
	      "dilation=[1] transposed=false output_padding=[0] groups=1 -> y\n",
	      "mb1_ic8ih16_oc8oh8_kh3sh2ph1 bias", "one number for all dimensions");
	check("x d 1,8,16,16\nw P 8,8,3,3\ny t 1,8,16,16\nconv2d.default input=x weight=w padding=[1,1] -> y\n",
	      "", "double precision is left out");
	check("x I 8,16,16\nw P 8,8,3,3\nc P 8\ny t 8,16,16\nz t 8,16,16\n"
	      "conv2d.default input=x weight=w bias=c padding=[1,1] -> y\n"
	      "conv2d.default input=y weight=w padding=[1,1] -> z\n",
	      "mb1_" CONV " bias; mb1_" CONV, "an image without a batch is a batch of one");
	check(IMAGE "y t 1,8,16,16\nr t 1,8,72\ns t 1,8,72\nv t 8,8,3,3\n"
		    "view.default self=w size=[1,8,72] -> r\nstandardize.default input=r -> s\n"
		    "reshape_as.default self=s other=w -> v\n"
		    "conv2d.default input=x weight=v bias=c padding=[1,1] -> y\n",
	      "mb1_" CONV " bias", "weights that an unknown operator makes of weights");
	check(IMAGE "y t 1,8,16,16\nr t 8,8,3,3\nrandn_like.default input=w -> r\n"
		    "conv2d.default input=x weight=r bias=c padding=[1,1] -> y\n",
	      "", "but not what is random");
	check(IMAGE "y t 1,8,16,16\nr t 0,8,4,4\ns t 0,8,16\n"
		    "slice.Tensor self=x dim=0 start=1 end=1 -> r\n"
		    "view.default self=r size=[0,8,16] -> s\n"
		    "conv2d.default input=x weight=w bias=c padding=[1,1] -> y\n",
	      "mb1_" CONV " bias", "a tensor without elements beside it");
	check(IMAGE
	      "o I 1,18,8,8\nm I 1,9,8,8\ny t 1,8,8,8\n"
	      "torchvision:deform_conv2d.default input=x weight=w offset=o mask=m bias=c stride_h=2 "
	      "stride_w=2 pad_h=1 pad_w=1 dilation_h=1 dilation_w=1 groups=1 offset_groups=1 "
	      "use_mask=true -> y\n",
	      "64x72:72x8", "the product of a deformable convolution of torchvision");
	check("x I 8,16\nw P 8,8,3,3\ny t 8,16\nconv2d.default input=x weight=w -> y\n", "",
	      "data that are no image");
	ok(was_said("conv2d (not an operator here)"), "which is said");
}

/* "MaxPool kernel_shape=2,2; Relu" for the nodes of a program. */
static void check_nodes(const char *text, const char *expected, const char *what)
{
	struct json_doc d = JSON_DOC_INIT;
	struct buf b = BUF_INIT, found = BUF_INIT;
	struct infer_options none = {0};
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct graph g;

	write_program(&b, text);
	graph_init(&g, &a);
	buf_str(&found, "");
	if (json_parse(&d, b.s, b.n, &e) < 0 || torch_read(&g, &d, &none, &e))
		diag("%s", e.msg);
	for (int i = 0; i < g.nnode; i++) {
		const struct graph_node *n = &g.node[i];

		buf_fmt(&found, "%s%s", i ? "; " : "", n->type);
		for (int k = 0; k < n->nattr; k++) {
			const struct attr *x = &n->attr[k];

			buf_fmt(&found, " %s=%.9g", x->name,
				x->f != 0 ? (double)x->f : (double)(x->nints ? x->ints[0] : x->i));
			for (int j = 1; j < x->nints; j++)
				buf_fmt(&found, ",%lld", (long long)x->ints[j]);
		}
	}
	if (!ok(!strcmp(found.s, expected), "%s", what))
		diag("%s\n# instead of %s", found.s, expected);
	graph_free(&g);
	json_free(&d);
	arena_free(&a);
	buf_free(&b);
	buf_free(&found);
}

static void test_products(void)
{
	check("x I 5,16\nw P 16,32\nc P 32\ny t 5,32\naddmm.default self=c mat1=x mat2=w -> y\n",
	      "5x16:16x32 bias", "addmm");
	check("x I 5,16\nw P 16,32\nc P 32\ny t 5,32\n"
	      "addmm.default self=c mat1=x mat2=w beta=2 alpha=0.5 -> y\n",
	      "5x16:16x32 bias", "addmm with factors is a product, too");
	check("a P 5,16\nc P 5\nx I 16\ny t 5\nz t 5\nd t\nmv.default self=a vec=x -> y\n"
	      "addmv.default self=c mat=a vec=x -> z\ndot.default self=x tensor=x -> d\n",
	      "5x16:16x1 computed; 5x16:16x1 add computed; 1x16:16x1 computed",
	      "products with vectors");
	check("x I 5,16\nq s 5,16\nw S 16,4\nv S 4,16\ny t 5,4\nz t 5,4\n"
	      "mine:q.default x=x -> q\n_int_mm.default self=q mat2=w -> y\n"
	      "_weight_int8pack_mm.default self=x mat2=v scales=x -> z\n",
	      "5x16:16x4 (s8:s8:s32); 5x16:16x4 (f32:s8:f32)", "products of weights in 8 bits");
	check_nodes("x I 5,16\nw P 16,32\nc P 32\ny t 5,32\n"
		    "addmm.default self=c mat1=x mat2=w beta=2 alpha=0.5 -> y\n",
		    "MatMul transB=0; Mul; Mul; Add", "and the factors are there");
	check("q I 1,6,5,16\nk I 1,2,9,16\ny t 1,6,5,16\n"
	      "scaled_dot_product_attention.default query=q key=k value=k enable_gqa=true -> y\n",
	      "6x5x16:6x16x9 computed; 6x5x9:6x9x16 computed",
	      "attention is its two products, also where heads share keys");
	check("q I 1,2,5,16\ny t 1,2,5,16\nl t 1,2,5\n"
	      "_scaled_dot_product_cudnn_attention.default query=q key=q value=q -> y,l\n",
	      "2x5x16:2x16x5 computed; 2x5x5:2x5x16 computed", "attention as cuDNN has it");
	check("q I 2,16,16\ny t 2,16,16\n"
	      "scaled_dot_product_attention.default query=q key=q value=q -> y\n",
	      "2x16x16:2x16x16 computed x2", "which may have the same sizes");
	check("x I 5,16\nw P 16,16\nv t 16,16\ny t 5,16\n"
	      "t.default self=w -> v\nmm.default self=x mat2=v -> y\n",
	      "5x16:16x16", "what is made of parameters is constant");
	check("x I 1,4,9\nv P 6,4,3\np t 6,4,3\nw t 6,4,3\ny t 1,6,7\n"
	      "pow.Tensor_Scalar self=v exponent=2 -> p\nmul.Tensor self=p other=v -> w\n"
	      "conv1d.default input=x weight=w -> y\n",
	      "mb1_ic4ih1iw9_oc6oh1ow7_kh1kw3", "weights that are computed of parameters");
	check("x I 5,16\nv t 9,9\nw P 16,4\nz t 5,4\ny t 5,16\n"
	      "mine:f.default a=x -> y\nmm.default self=y mat2=w -> z\n",
	      "5x16:16x4", "an unknown operator hides no shape");
}

/* As networks of Hugging Face's have it. */
static void test_norm(void)
{
	all = 1;
	check("x I 2,5,16\ng t 2,5,16\np t 2,5,16\nm t 2,5,1\na t 2,5,1\nr t 2,5,1\n"
	      "q t 2,5,16\nc t 2,5,16\nw P 16\ny t 2,5,16\n"
	      "to.dtype self=x dtype=7 -> g\npow.Tensor_Scalar self=g exponent=2 -> p\n"
	      "mean.dim self=p dim=[-1] keepdim=true -> m\nadd.Tensor self=m other=0.001 -> a\n"
	      "rsqrt.default self=a -> r\nmul.Tensor self=g other=r -> q\n"
	      "to.dtype self=q dtype=7 -> c\nmul.Tensor self=w other=c -> y\n",
	      "rms_norm 10x16", "a normalization that is written out");
	all = 0;
}

#define QUANTIZE(in, q, out)                                                                       \
	"quantized_decomposed:quantize_per_tensor.default input=" in " scale=0.02 zero_point=3 "   \
	"quant_min=0 quant_max=255 dtype=1 -> " q "\n"                                             \
	"quantized_decomposed:dequantize_per_tensor.default input=" q                              \
	" scale=0.02 zero_point=3 quant_min=0 quant_max=255 dtype=1 -> " out "\n"
#define QUANTIZED                                                                                   \
	"x I 1,8,16,16\nq u 1,8,16,16\nd t 1,8,16,16\nw S 8,8,3,3\ns P 8\nv t 8,8,3,3\nc P 8\n"     \
	"y t 1,8,16,16\nz t 1,8,16,16\np u 1,8,16,16\nr t 1,8,16,16\n" QUANTIZE(                    \
		"x", "q",                                                                           \
		"d") "quantized_decomposed:dequantize_per_channel.default input=w scales=s axis=0 " \
		     "quant_min=-127 quant_max=127 dtype=2 -> v\n"                                  \
		     "conv2d.default input=d weight=v bias=c padding=[1,1] -> y\n"

/* Programs are read as torchao's quantizers leave them. */
static void test_quantized(void)
{
	check(QUANTIZED "relu.default self=y -> z\n" QUANTIZE("z", "p", "r"),
	      "mb1_" CONV " (u8:s8:u8) bias,scale,relu,shift,pad", "a convolution in 8 bits");
	check(QUANTIZED, "mb1_" CONV " (u8:s8:f32) bias,scale,pad", "one that makes reals");
	check("x I 5,16\nq u 5,16\nd t 5,16\nw S 4,16\nv t 4,16\ny t 5,4\n" QUANTIZE(
		      "x", "q",
		      "d") "quantized_decomposed:dequantize_per_tensor.default input=w scale=0.5 zero_point=0 "
			   "quant_min=-128 quant_max=127 dtype=2 -> v\nlinear.default input=d weight=v -> y\n",
	      "5x16:16x4 (u8:s8:f32) bias,scale", "a product in 8 bits");
	check("x I 5,16\nw S 4,16\ns P 4\nv t 4,16\ny t 5,4\n"
	      "torchao:dequantize_affine.default input=w block_size=[1,16] scale=s zero_point=s "
	      "quant_min=-128 -> v\nlinear.default input=x weight=v -> y\n",
	      "5x16:16x4 (f32:s8:f32)", "weights alone in 8 bits, by torchao");
	check_nodes("w S 8,4\ns P 8\nv t 8,4\nquantized_decomposed:dequantize_per_channel.default "
		    "input=w scales=s zero_points=s axis=1 quant_min=0 -> v\n",
		    "DequantizeLinear axis=1", "scales along a dimension");
}

#define LSTM2                                                                                      \
	"x I 7,1,16\nh I 2,1,20\na P 80,16\nb P 80,20\nc P 80,20\ny t 7,1,20\nhn t 2,1,20\ncn t 2,1,20\n"

static void test_recurrent(void)
{
	check(LSTM2
	      "lstm.input input=x hx=[h,h] params=[a,b,c,b] has_biases=false num_layers=2 -> y,hn,cn\n",
	      "7x16:16x80; 1x20:20x80 x14; 7x20:20x80", "layers of an LSTM");
	check("x I 3,7,16\nh I 2,3,5\na P 15,16\nb P 15,5\ny t 3,7,10\nhn t 2,3,5\n"
	      "gru.input input=x hx=h params=[a,b,a,b] has_biases=false bidirectional=true "
	      "batch_first=true -> y,hn\n",
	      "21x16:16x15 x2; 3x5:5x15 x14", "both directions of a GRU");
	check(LSTM2
	      "lstm.input input=x hx=[h,h] params=[a,b,c] has_biases=false num_layers=2 -> y,hn,cn\n",
	      "", "weights are missing");
	ok(was_said("lstm (not an operator here) 1"), "which is said");
	check(LSTM2
	      "lstm.input input=x hx=[h,h] params=[a,b] has_biases=false num_layers=4294967297 -> y,hn,cn\n",
	      "", "too many layers");
	check(LSTM2 "lstm.input input=x hx=[] params=[a,b] has_biases=false -> y,hn,cn\n", "",
	      "no state");
	check("x I 7,16\nh I 7,20\na P 80,16\nb P 80,20\nhn t 7,20\ncn t 7,20\n"
	      "lstm_cell.default input=x hx=[h,h] w_ih=a w_hh=b -> hn,cn\n",
	      "7x20:20x80; 7x16:16x80 add", "a cell");
}

static void test_nodes(void)
{
	check_nodes(
		"x I 1,8,16,16\ny t 1,8,8,8\n"
		"max_pool2d.default self=x kernel_size=[3] stride=[2] padding=[1] -> y\n",
		"MaxPool strides=2,2 pads=1,1,1,1 kernel_shape=3,3 ceil_mode=0 count_include_pad=1",
		"a pool");
	check_nodes(
		"x I 1,8,16\ny t 1,8,4\navg_pool1d.default self=x kernel_size=[4] stride=[] -> y\n",
		"AveragePool pads=0,0 strides=4 kernel_shape=4 ceil_mode=0 count_include_pad=1",
		"a pool without strides");
	check_nodes(
		"x I 1,8,16,14\ny t 1,8,4,7\nadaptive_avg_pool2d.default self=x output_size=[4,7] -> y\n",
		"AveragePool strides=4,2 kernel_shape=4,2", "an adaptive pool");
	check_nodes(
		"x I 1,8,16,15\ny t 1,8,4,7\nadaptive_avg_pool2d.default self=x output_size=[4,7] -> y\n",
		"adaptive_avg_pool2d", "one with windows of several sizes");
	check_nodes("x I 2,5,6\nw P 5,6\ny t 2,5,6\n"
		    "layer_norm.default input=x normalized_shape=[5,6] weight=w bias=w -> y\n",
		    "LayerNormalization axis=-2", "a normalization of two dimensions");
	check_nodes("x I 2,6\ny t 2,6\nz t 2,6\nw t 2,6\ncos.default self=x -> y\n"
		    "hardswish.default self=y -> z\ncosine.default self=z -> w\n",
		    "Cos; HardSwish; cosine", "functions that ONNX calls alike");
	check_nodes("x I 2,6,4,4\nw P 6\ny t 2,6,4,4\n"
		    "group_norm.default input=x num_groups=3 weight=w bias=w eps=0.25 -> y\n",
		    "GroupNormalization num_groups=3 epsilon=0.25", "a normalization of groups");
	check_nodes("x I 2,6,4,4\nw P 6\ny t 2,6,4,4\nm t 2,3\nr t 2,3\n"
		    "native_group_norm.default input=x weight=w bias=w N=2 C=6 HxW=16 group=3 "
		    "eps=0.25 -> y,m,r\n",
		    "GroupNormalization num_groups=3 epsilon=0.25", "as core operators call it");
	check_nodes(
		"q I 2,5,16\nm I 5,5\ny t 2,5,16\nscaled_dot_product_attention.default query=q key=q "
		"value=q attn_mask=m -> y\n",
		"MatMul transB=1; Add; Softmax; MatMul", "attention with a mask");
	check_nodes(
		"q I 2,5,16\nm B 5,5\ny t 2,5,16\nscaled_dot_product_attention.default query=q key=q "
		"value=q attn_mask=m -> y\n",
		"MatMul transB=1; Where; Softmax; MatMul", "and one of truth values");
	check_nodes("q I 2,5,16\ny t 2,5,16\nscaled_dot_product_attention.default query=q key=q "
		    "value=q is_causal=true -> y\n",
		    "MatMul transB=1; Add; Softmax; MatMul", "and one that is causal");
}

#define OPEN(sizes, made)                                                                          \
	"x I " sizes "\nw P 4,16\ny t " made "\nlinear.default input=x weight=w -> y\n"

static void test_sizes(void)
{
	static const char *const dim = "s1=9", *const shape = "x:5,6,16";
	const struct infer_words batch = {.batch = 3}, one = {.batch = -1, .dim = &dim, .ndim = 1},
				 given = {.batch = -1, .shape = &shape, .nshape = 1};
	static const char open[] = OPEN("s0,s1,16", "s0,s1,4");

	check(open, "7x16:16x4", "a batch of 1, and the size that the export had");
	check_with(&batch, open, "21x16:16x4", "--batch");
	check_with(&one, open, "9x16:16x4", "--dim");
	check_with(&given, open, "30x16:16x4", "--shape");
	check(OPEN("s0,Symbol('s1'\x2c positive=True),16", "s0,s1,4"), "",
	      "a size in two parts is none");
	check("x I s0,s1\nv t s0,2*s1\nw P 14,4\ny t s0,4\n"
	      "cat.default tensors=[x,x] dim=1 -> v\nmm.default self=v mat2=w -> y\n",
	      "1x14:14x4", "an expression");
	check("x I s0,s1\nv t s0,2*s9\nw P 14,4\ny t s0,4\n"
	      "mine:f.default a=x -> v\nmm.default self=v mat2=w -> y\n",
	      "", "a symbol that no input has");
	ok(was_said("unknown shape"), "is said");
}

/* The model is called as the archive's folder is. */
static void test_name(void)
{
	char keep[sizeof path], at[2][40];

	memcpy(keep, path, sizeof keep);
	snprintf(at[0], sizeof at[0], "%.22s/net7", folder);
	snprintf(at[1], sizeof at[1], "%.22s/net7/models", folder);
	snprintf(path, sizeof path, "%.22s/net7/models/model.json", folder);
	if (mkdir(at[0], 0700) || mkdir(at[1], 0700))
		bail_out("no folder");
	check("x I 5,16\nw P 16,4\ny t 5,4\nmm.default self=x mat2=w -> y\n", "5x16:16x4",
	      "a model in its folders");
	ok(was_said("net7: 1 operator extracted"), "has the name of the outer one");
	unlink(path);
	rmdir(at[1]);
	rmdir(at[0]);
	memcpy(path, keep, sizeof keep);
}

static const char program[] = IMAGE
	"y t 1,8,16,16\nz t 1,8,256\nv t 8,1,256\nq t 8,1,20\nhn t 1,1,20\ncn t 1,1,20\nh I 1,1,20\n"
	"a P 80,256\nb P 80,20\nw2 P 4,20\nr t 8,1,4\n"
	"conv2d.default input=x weight=w bias=c stride=[1,1] padding=[1,1] dilation=[1,1] groups=1 -> y\n"
	"view.default self=y size=[1,8,256] -> z\ntranspose.int self=z dim0=0 dim1=1 -> v\n"
	"lstm.input input=v hx=[h,h] params=[a,b] has_biases=false num_layers=1 -> q,hn,cn\n"
	"linear.default input=q weight=w2 -> r\n";

/* 1 if it was refused; adds to silent if nothing was said. */
static int is_refused(const char *s, size_t n, size_t *silent)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	int r;

	read_bytes(&x, &format_torch, s, n);
	*silent += !said.n;
	r = x.failed == 1;
	extract_free(&x);
	return r;
}

/* Cut off, with bits flipped, and with numbers and marks in other places. */
static void test_hostile(void)
{
	static const char *const other[] = {
		"-1", "0", "99999999999999999999", "1e300", "null", "[]", "{}", "\"x\""};
	struct buf b = BUF_INIT, c = BUF_INIT;
	size_t refused, silent = 0, changed = 0;

	write_program(&b, program);
	refused = attack(&format_torch, &b, b.n, 3000, &silent);
	ok(refused == b.n, "cut off anywhere it is refused (%zu of %zu)", refused, b.n);
	for (size_t i = 0; i < b.n; i++)
		for (size_t k = 0; b.s[i] == ':' && k < sizeof other / sizeof *other; k++) {
			size_t n = strcspn(b.s + i, ",}]");

			buf_clear(&c);
			buf_add(&c, b.s, i + 1);
			buf_str(&c, other[k]);
			buf_add(&c, b.s + i + n, b.n - i - n);
			is_refused(c.s, c.n, &silent);
			changed++;
		}
	ok(!silent && changed > 500, "with bits flipped, or other values, never silently");
	buf_free(&b);
	buf_free(&c);
}

/* A program with one part replaced. */
static void refuse(const char *text, const char *words, const char *what)
{
	size_t silent = 0;
	int refused = is_refused(text, strlen(text), &silent);

	ok(refused && was_said(words), "%s", what);
}

static void test_absurd(void)
{
	struct buf b = BUF_INIT, p = BUF_INIT;
	size_t silent = 0;

	refuse("{}", "no program of torch.export", "an empty object");
	write_program(&b, "x I 5,16\nw P 4503599627370496,4503599627370496\ny t 5,16\n"
			  "mm.default self=x mat2=w -> y\n");
	refuse(b.s, "the constant 'w' is of absurd size", "a parameter of absurd size");
	refuse("[\"graph_module\"]", "no program of torch.export", "a list");
	refuse("{\"graph_module\":{\"graph\":{\"nodes\":[{}],\"tensor_values\":{}}}}",
	       "a node without a target", "a node without a target");
	check("x I 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\nw P 4,1\ny t 1,4\nlinear.default input=x weight=w -> y\n",
	      "", "more dimensions than any tensor has");
	check("x I 9000000000000000000,16\nw P 4,16\ny t 9000000000000000000,4\nlinear.default input=x weight=w -> y\n",
	      "", "an absurd size");
	write_program(&b, "x I 5,16\nw P 16,16\ny t 5,16\nmm.default self=y mat2=w -> y\n");
	refuse(b.s, "a cycle", "a product of itself");
	buf_clear(&b);
	buf_str(&b, IMAGE "y t 1,8,16,16\nconv2d.default input=x weight=w padding=[1,1] -> y\n");
	for (int i = 0; i < 50000; i++)
		buf_fmt(&b, "u%d I 1,2\n", i);
	check(b.s, "mb1_" CONV, "a program of fifty thousand inputs");
	buf_clear(&b);
	buf_str(&b, "{\"graph_module\":");
	for (int i = 0; i < 1000000; i++)
		buf_str(&b, "[");
	ok(is_refused(b.s, b.n, &silent), "a million brackets");
	buf_clear(&b);
	buf_str(&b, "x I 1,1\ny t 1,1\ncat.default tensors=[x");
	for (int i = 0; i < 1 << 19; i++)
		buf_str(&b, ",x");
	buf_str(&b, "] -> y\n");
	write_program(&p, b.s);
	ok(!is_refused(p.s, p.n, &silent) && !silent, "a call with half a million tensors");
	buf_free(&p);
	buf_free(&b);
}

static void test_rows(void)
{
	static const struct call_row rows[] = {{"relu relu6", "Relu"}, {"relu7", "Clip"}};

	ok(call_find(rows, 2, "relu") == rows && call_find(rows, 2, "relu6") == rows &&
		   call_find(rows, 2, "relu7") == rows + 1,
	   "a row is found by each of its names");
	ok(!call_find(rows, 2, "rel") && !call_find(rows, 2, "relu relu6") &&
		   !call_find(rows, 2, ""),
	   "and by nothing else");
}

int main(void)
{
	begin();
	test_rows();
	test_calls(&spelling);
	test_convolutions();
	test_products();
	test_norm();
	test_quantized();
	test_recurrent();
	test_nodes();
	test_sizes();
	test_name();
	test_hostile();
	test_absurd();
	return end();
}
