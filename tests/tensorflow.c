/* TensorFlow's graphs: what their operators become, functions, signatures, and hostile files.
 *
 * Graphs are written here from a few lines of text, so that each test shows the graph it is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/tensorflow/tensorflow.h"
#include "tests/calls.h"

/* ---- writing protocol buffers ---- */

static void varint(struct buf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_ch(b, (char)((v & 127) | 128));
	buf_ch(b, (char)v);
}

static void number(struct buf *b, int field, int64_t v)
{
	varint(b, (uint64_t)field << 3);
	varint(b, (uint64_t)v);
}

static void bytes(struct buf *b, int field, const void *p, size_t n)
{
	varint(b, (uint64_t)field << 3 | 2);
	varint(b, n);
	buf_add(b, p, n);
}

static void text(struct buf *b, int field, const char *s, size_t n)
{
	bytes(b, field, s, n);
}

/* Ends a message: it becomes a field of another one. */
static void put(struct buf *b, int field, struct buf *message)
{
	bytes(b, field, message->n ? message->s : "", message->n);
	buf_free(message);
}

/* ---- writing graphs ---- */

enum { MOST = 16 };

static int numbers(const char *s, int64_t *v)
{
	int n = 0;

	for (char *end; n < MOST && strchr("-0123456789", *s) && *s;
	     s = *end == ',' ? end + 1 : end)
		v[n++] = strtoll(s, &end, 10);
	return n;
}

static struct buf shape_of(const int64_t *v, int n)
{
	struct buf shape = BUF_INIT;

	for (int i = 0; i < n; i++) {
		struct buf dim = BUF_INIT;

		number(&dim, 1, v[i]);
		put(&shape, 2, &dim);
	}
	return shape;
}

/* A tensor: n of int32 in a list, p of pairs, m of one int32, w of a shape with one 0.0 for all
 * elements. Of a wrong wire type: c, the bytes, and r, the floats, as one varint. */
static struct buf tensor_of(char kind, const int64_t *v, int n)
{
	const int64_t list[] = {kind == 'p' ? n / 2 : n, 2};
	struct buf tensor = BUF_INIT, raw = BUF_INIT, shape;
	int32_t one;

	if (kind == 'w')
		shape = shape_of(v, n);
	else
		shape = shape_of(list, kind == 'm' ? 0 : kind == 'p' ? 2 : 1);
	number(&tensor, 1, kind == 'w' ? 1 : 3);
	put(&tensor, 2, &shape);
	if (kind == 'w') {
		bytes(&tensor, 5, "\0\0\0", 4);
	} else if (kind == 'm' || kind == 'c' || kind == 'r') {
		number(&tensor, kind == 'm' ? 7 : kind == 'c' ? 4 : 5, *v);
	} else {
		for (int i = 0; i < n; i++) {
			one = (int32_t)v[i];
			buf_add(&raw, &one, sizeof one);
		}
		put(&tensor, 4, &raw);
	}
	return tensor;
}

/* l: a list of integers, L: of texts, s: a text, t: a type, h: a shape, i: an integer, f: a
 * function, b: a truth; n, m, w, c, r: tensors. */
static struct buf value_of(const char *s, size_t size)
{
	struct buf value = BUF_INIT, part = BUF_INIT;
	int64_t v[MOST];
	int n = numbers(s + 2, v);

	switch (*s) {
	case 'l':
		for (int i = 0; i < n; i++)
			number(&part, 3, v[i]);
		put(&value, 1, &part);
		break;
	case 'L':
		for (const char *at = s + 2; at < s + size;) {
			size_t k = strcspn(at, ", \n");

			text(&part, 2, at, k);
			at += k + 1;
		}
		put(&value, 1, &part);
		break;
	case 's':
		text(&value, 2, s + 2, size - 2);
		break;
	case 'i':
		number(&value, 3, *v);
		break;
	case 'b':
		number(&value, 5, *v);
		break;
	case 't':
		number(&value, 6, *v);
		break;
	case 'h':
		part = shape_of(v, n);
		put(&value, 7, &part);
		break;
	case 'f':
		text(&part, 1, s + 2, size - 2);
		put(&value, 10, &part);
		break;
	default:
		part = tensor_of(*s, v, n);
		put(&value, 8, &part);
	}
	return value;
}

/* "name Type input input attr=K:VALUE .." */
static struct buf node_of(const char *s)
{
	struct buf node = BUF_INIT;

	for (int i = 0; *s && *s != '\n'; i++, s += *s == ' ') {
		size_t n = strcspn(s, " \n"), k = strcspn(s, "= \n");

		if (k < n) {
			struct buf attr = BUF_INIT, value = value_of(s + k + 1, n - k - 1);

			text(&attr, 1, s, k);
			put(&attr, 2, &value);
			put(&node, 5, &attr);
		} else {
			text(&node, i < 3 ? i + 1 : 3, s, n);
		}
		s += n;
	}
	return node;
}

static const char *next_line(const char *s)
{
	s += strcspn(s, "\n");
	return s + (*s == '\n');
}

/* "function NAME argument .. -> result=node:output:0 ..", nodes, "end". Returns what is behind. */
static const char *write_function(struct buf *library, const char *s)
{
	struct buf function = BUF_INIT, head = BUF_INIT;
	int is_result = 0, i = 0;

	for (s += strlen("function "); *s != '\n'; s += *s == ' ') {
		size_t n = strcspn(s, " \n"), k = strcspn(s, "= \n");
		struct buf arg = BUF_INIT, pair = BUF_INIT;

		if (n == 2 && !memcmp(s, "->", 2)) {
			is_result = 1;
		} else if (!i++) {
			text(&head, 1, s, n);
		} else {
			text(&arg, 1, s, k);
			put(&head, is_result ? 3 : 2, &arg);
			if (is_result) {
				text(&pair, 1, s, k);
				text(&pair, 2, s + k + 1, n - k - 1);
				put(&function, 4, &pair);
			}
		}
		s += n;
	}
	put(&function, 1, &head);
	for (s = next_line(s); strncmp(s, "end", 3) != 0; s = next_line(s)) {
		struct buf node = node_of(s);

		put(&function, 3, &node);
	}
	put(library, 1, &function);
	return next_line(s);
}

/* A line "out NAME:0" is of the signature of a SavedModel; without one it is a GraphDef. */
static void write_model(struct buf *b, const char *s)
{
	struct buf graph = BUF_INIT, library = BUF_INIT, signature = BUF_INIT;

	while (*s) {
		if (!strncmp(s, "function ", 9)) {
			s = write_function(&library, s);
			continue;
		}
		if (!strncmp(s, "out ", 4)) {
			struct buf info = BUF_INIT, entry = BUF_INIT;

			text(&info, 1, s + 4, strcspn(s + 4, "\n"));
			text(&entry, 1, "result", 6);
			put(&entry, 2, &info);
			put(&signature, 2, &entry);
		} else {
			struct buf node = node_of(s);

			put(&graph, 1, &node);
		}
		s = next_line(s);
	}
	if (library.n)
		put(&graph, 2, &library);
	buf_clear(b);
	if (signature.n) {
		struct buf meta = BUF_INIT, entry = BUF_INIT, info = BUF_INIT;

		text(&info, 4, "serve", 5);
		text(&info, 5, "2.21.0", 6);
		put(&meta, 1, &info);
		put(&meta, 2, &graph);
		text(&entry, 1, "serving_default", 15);
		put(&entry, 2, &signature);
		put(&meta, 5, &entry);
		number(b, 1, 1);
		put(b, 2, &meta);
	} else {
		buf_add(b, graph.s, graph.n);
		buf_free(&graph);
	}
	buf_free(&library);
}

/* ---- running the extraction ---- */

static void expect_with(const char *model, const struct infer_options *o, const char *want,
			const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf got = BUF_INIT, b = BUF_INIT;

	if (o)
		x.infer = *o;
	write_model(&b, model);
	extract_bytes(&x, b.s, b.n);
	describe(&x, &got);
	if (x.failed)
		buf_str(&got, said.s);
	if (!ok(!strcmp(got.s, want), "%s", what))
		diag("got  %s\nwant %s\nsaid %s", got.s, want, said.s);
	extract_free(&x);
	buf_free(&got);
	buf_free(&b);
}

static void expect(const char *model, const char *want, const char *what)
{
	expect_with(model, NULL, want, what);
}

static void refuse(const char *model, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf b = BUF_INIT;

	write_model(&b, model);
	extract_bytes(&x, b.s, b.n);
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
	buf_free(&b);
}

#define REALS "$y Const dtype=t:1 value=w:"
#define INTEGERS(name, value) name "$y Const dtype=t:3 value=" value "\n"
#define CONVOLVE(type)                                                                             \
	" " type " $0 $1 strides=l:1,$stride,$stride,1 padding=s:$PAD "                            \
	"dilations=l:1,$dilation,$dilation,1\n"
#define POOL(type)                                                                                 \
	"$y " type " $0 ksize=l:1,$size,$size,1 strides=l:1,$stride,$stride,1 padding=s:$PAD\n"

static const struct spelling_row own_words[] = {
	{"image", "$y Placeholder dtype=t:1 shape=h:$Y\n"},
	{"data", "$y Placeholder dtype=t:1 shape=h:$Y\n"},
	{"filter", REALS "$b,$c,$d,$a\n"},
	{"each", REALS "$b,$c,$d,$e\n"},
	{"grouped", REALS "$b,$c,$d,$a\n"},
	{"volume", REALS "$b,$c,$d,$e,$a\n"},
	{"turned", REALS "$b,$c,$a,$d\n"},
	{"vector", REALS "$a\n"},
	{"channel", REALS "$a\n"},
	{"row", REALS "$a\n"},
	{"matrix", REALS "$b,$a\n"},
	{"conv", "$y" CONVOLVE("Conv2D")},
	{"conv_bias", "t$y" CONVOLVE("Conv2D") "$y BiasAdd t$y $2\n"},
	{"depthwise", "$y" CONVOLVE("DepthwiseConv2dNative")},
	{"groups", "$y" CONVOLVE("Conv2D")},
	{"conv3d", "$y Conv3D $0 $1 strides=l:1,1,1,1,1 padding=s:$PAD\n"},
	{"transposed", INTEGERS("s", "n:$Y") "$y Conv2DBackpropInput s$y $1 $0 "
					     "strides=l:1,$stride,$stride,1 padding=s:SAME\n"},
	{"zeros", INTEGERS("p", "p:0,0,1,1,1,1,0,0") "$y Pad $0 p$y\n"},
	{"batch_norm", "$y FusedBatchNormV3 $0 $1 $1 $1 $1\n"},
	{"relu", "$y Relu $0\n"},
	{"sigmoid", "$y Sigmoid $0\n"},
	{"relu6", "$y Relu6 $0\n"},
	{"silu", "$y _MklSwish $0\n"},
	{"gelu", "$y GeluExact $0\n"},
	{"tanh", "$y Tanh $0\n"},
	{"abs", "$y Abs $0\n"},
	{"add", "$y AddV2 $0 $1\n"},
	{"mul", "$y Mul $0 $1\n"},
	{"concat", INTEGERS("k", "m:3") "$y ConcatV2 $0 $1 k$y\n"},
	{"max_pool", POOL("MaxPool")},
	{"avg_pool", POOL("AvgPool")},
	{"resize", INTEGERS("s", "n:$b,$c") "$y ResizeNearestNeighbor $0 s$y\n"},
	{"linear", "$y MatMul $0 $1\n"},
	{"linear_bias", "t$y BatchMatMulV2 $0 $1\n$y BiasAdd t$y $2\n"},
	{"flat", INTEGERS("s", "n:$Y") "$y Reshape $0 s$y\n"},
	{"reshape", INTEGERS("s", "n:$Y") "$y Reshape $0 s$y\n"},
	{"transpose", INTEGERS("p", "n:1,0") "$y Transpose $0 p$y\n"},
	{"mean", INTEGERS("k", "m:1") "$y Mean $0 k$y\n"},
	{"product", "$y BatchMatMulV2 $0 $1\n"},
	{"product_of_turned", "$y BatchMatMulV2 $0 $1 adj_y=b:1\n"},
	{"einsum", "$y Einsum $0 $1 equation=s:bij,bkj->bik\n"},
};
static const struct spelling spelling = {SPELLING(own_words), .cases = 29, .between = ',',
					 .pad = {"VALID", "SAME"}, .expect = expect};

#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"
#define X "x Placeholder dtype=t:1 shape=h:1,14,14,8\n"
#define W "w Const dtype=t:1 value=w:3,3,8,8\n"
#define V "v Const dtype=t:1 value=w:3,3,8,8\n"
#define C "c Const dtype=t:1 value=w:8\n"
#define SAME "strides=l:1,1,1,1 padding=s:SAME"

static void test_convolutions(void)
{
	expect("x Placeholder dtype=t:1 shape=h:1,8,14,14\n" W C "a Conv2D x w " SAME
	       " data_format=s:NCHW\nb BiasAdd a c data_format=s:NCHW\ny Relu6 b\n",
	       CONV " bias,relu6", "channels first");
	expect(X W "y Conv2D x w strides=l:1,1,1,1 padding=s:EXPLICIT "
		   "explicit_paddings=l:0,0,1,2,3,0,0,0\n",
	       "mb1_ic8ih14iw14_oc8oh15ow15_kh3kw3ph1pw3", "paddings of its own");
}

/* Operators that TensorFlow's optimizer joins. */
static void test_fused(void)
{
	expect(X W C "y _FusedConv2D x w c " SAME " num_args=i:1 fused_ops=L:BiasAdd,Relu\n",
	       CONV " bias,relu", "_FusedConv2D, with bias and relu");
	expect(X W C "a Conv2D x w " SAME "\ny _FusedConv2D x w c a " SAME
		     " num_args=i:2 fused_ops=L:BiasAdd,Add,Relu\n",
	       CONV "; " CONV " bias,add,relu", "with a residual");
	expect(X W C "y _FusedConv2D x w c c c c " SAME
		     " num_args=i:4 fused_ops=L:FusedBatchNorm,Relu\n",
	       CONV " bias,relu", "with a normalization");
	expect(X "w Const dtype=t:1 value=w:3,3,8,1\n" C "y _FusedDepthwiseConv2dNative x w c " SAME
		 " num_args=i:1 fused_ops=L:BiasAdd,Relu6\n",
	       "mb1g8_ic8ih14_oc8oh14_kh3ph1 bias,relu6", "_FusedDepthwiseConv2dNative");
	expect("x Placeholder dtype=t:1 shape=h:4,8\nw Const dtype=t:1 value=w:16,8\n"
	       "c Const dtype=t:1 value=w:16\n"
	       "y _FusedMatMul x w c transpose_b=b:1 num_args=i:1 fused_ops=L:BiasAdd,Tanh\n",
	       "4x8:8x16 bias,tanh", "_FusedMatMul");
	expect(X W "a FakeQuantWithMinMaxArgs x\nl Const dtype=t:1 value=w:1\n"
		   "b FakeQuantWithMinMaxVars a l l\ny Conv2D b w " SAME "\n",
	       CONV, "behind nodes that only round");
	expect(X W V "y _FusedConv2D x w fused_ops=L:_FusedConv2D\nz Conv2D x v " SAME "\n",
	       "mb1_ic8ih14_oc8oh12_kh3; " CONV,
	       "a joined operator that names itself is not followed");
}

static void test_products(void)
{
	expect("x Placeholder dtype=t:1 shape=h:8,4\nw Const dtype=t:1 value=w:16,8\n"
	       "y MatMul x w transpose_a=b:1 transpose_b=b:1\n",
	       "4x8:8x16", "a product of transposed sides");
	expect("x Placeholder dtype=t:1 shape=h:2,6,8\nw Const dtype=t:1 value=w:8,4,5\n"
	       "y Einsum x w equation=s:abc,cde->abde\n",
	       "12x8:8x20", "a product that is written as Einsum");
}

/* Sizes that are computed of a shape. */
static void test_computed(void)
{
	static const char open[] =
		"x Placeholder dtype=t:1 shape=h:-1,14,14,8\n" W "a Conv2D x w " SAME
		"\nh Shape a\nz Const dtype=t:3 value=n:0\n"
		"o Const dtype=t:3 value=n:1\nb StridedSlice h z o o shrink_axis_mask=i:1\n"
		"k Const dtype=t:3 value=m:1568\nm Pack b k axis=i:0\nr Reshape a m\n"
		"v Const dtype=t:1 value=w:1568,5\ny MatMul r v\n";
	struct infer_options o = {.batch = 4};

	expect(open, CONV "; 1x1568:1568x5", "a batch that is open is 1");
	expect_with(open, &o, "mb4_ic8ih14_oc8oh14_kh3ph1; 4x1568:1568x5", "or what --batch says");
	expect("x Placeholder dtype=t:1 shape=h:1,20,8\nz Const dtype=t:3 value=n:1\n"
	       "e ExpandDims x z\nw Const dtype=t:1 value=w:1,3,8,6\na Conv2D e w " SAME
	       "\ns Squeeze a squeeze_dims=l:1\nk Const dtype=t:1 value=w:6\nb BiasAdd s k\n"
	       "y Relu b\n",
	       "mb1_ic8ih1iw20_oc6oh1ow20_kh1kw3ph0pw1 bias,relu",
	       "a bias behind a convolution along one dimension");
	expect("x Placeholder dtype=t:1 shape=h:1,14,14,8\nz Const dtype=t:3 value=n:-3135\n"
	       "o Const dtype=t:3 value=n:2\nf FloorDiv z o\nk Neg f\nb Const dtype=t:3 "
	       "value=n:1\nm Pack b k axis=i:0\nr Reshape x m\n"
	       "v Const dtype=t:1 value=w:1568,5\ny MatMul r v\n",
	       "1x1568:1568x5", "a division that rounds down");
	expect("x Placeholder dtype=t:1 shape=h:1,8,12\nk Const dtype=t:3 value=m:2\n"
	       "s Split k x num_split=i:3\nb Reciprocal s:1\nc Log1p s:2\n"
	       "y BatchMatMulV2 b c adj_x=b:1\n",
	       "4x8:8x4 computed", "parts of a split");
	expect("x Placeholder dtype=t:1 shape=h:1,8,12\nz Const dtype=t:3 value=m:0\n"
	       "i Const dtype=t:3 value=n:1,2,3\nk Const dtype=t:3 value=m:2\n"
	       "g GatherV2 x i k\nl ConcatV2 g g k\nw Const dtype=t:1 value=w:6,5\n"
	       "e ExpandDims w z\ny BatchMatMulV2 l e\n",
	       "8x6:6x5", "gathered, joined, with a dimension more");
}

/* An operator makes such a shape of an image, as a convolution by one tap shows. */
static void made(const char *lines, const char *want, const char *what)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b,
		"x Placeholder dtype=t:1 shape=h:1,14,14,8\n%s\n"
		"w Const dtype=t:1 value=w:1,1,8,4\nz Conv2D y w " SAME "\n",
		lines);
	expect(b.s, want, what);
	buf_free(&b);
}

static void test_made(void)
{
	made("s Const dtype=t:3 value=n:3,3\na Const dtype=t:3 value=n:1,2\ny Roll x s a",
	     "mb1_ic8ih14_oc4oh14_kh1", "pixels that are rolled");
	made("b Const dtype=t:1 value=w:5,4\ni Const dtype=t:3 value=n:0,0,0,0,0\n"
	     "s Const dtype=t:3 value=n:7,9\ny CropAndResize x b i s",
	     "mb5_ic8ih7iw9_oc4oh7ow9_kh1kw1", "boxes of an image, resized");
	made("s Const dtype=t:3 value=n:20,30\nt Const dtype=t:1 value=w:2\n"
	     "y ScaleAndTranslate x s t t",
	     "mb1_ic8ih20iw30_oc4oh20ow30_kh1kw1", "an image that is resized as JAX does it");
	made("i Placeholder dtype=t:3 shape=h:6,1\nu Placeholder dtype=t:1 shape=h:6,7,7,8\n"
	     "s Const dtype=t:3 value=n:2,7,7,8\na ScatterNd i u s\nb TensorScatterAdd a i u\n"
	     "y TensorScatterUpdate b i u",
	     "mb2_ic8ih7_oc4oh7_kh1", "what is scattered");
	made("h Shape x\nr RandomStandardNormal h\nb Const dtype=t:3 value=m:-1\n"
	     "t MatrixBandPart r b b\ny Add x t",
	     "mb1_ic8ih14_oc4oh14_kh1", "noise of a shape");
	expect("x Placeholder dtype=t:1 shape=h:3,5\ny Where x\nw Const dtype=t:1 value=w:2,4\n"
	       "n Neg y\nz MatMul n w\n",
	       "", "places of what is not zero, whose number is open");
	ok(was_said("unknown shape because of NonZero"), "which is said");
}

/* A product of x[...] and its transpose; the lists have so many entries. */
static void sliced(const char *masks, const char *zeros, const char *ones, const char *want,
		   const char *what)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b,
		"x Placeholder dtype=t:1 shape=h:8,12\nz Const dtype=t:3 value=%s\n"
		"o Const dtype=t:3 value=%s\ns StridedSlice x z o o %s\n"
		"y BatchMatMulV2 s s adj_y=b:1\n",
		zeros, ones, masks);
	expect(b.s, want, what);
	buf_free(&b);
}

static void test_strided(void)
{
	sliced("new_axis_mask=i:2 begin_mask=i:5 end_mask=i:5", "n:0,0,0", "n:1,1,1",
	       "8x1x12:8x12x1 computed", "x[:, newaxis, :]");
	sliced("new_axis_mask=i:1", "m:0", "m:1", "8x12:12x8 computed", "x[newaxis]");
	sliced("new_axis_mask=i:2 ellipsis_mask=i:1", "n:0,0", "n:1,1", "8x12x1:8x1x12 computed",
	       "x[..., newaxis]");
	sliced("new_axis_mask=i:2 ellipsis_mask=i:1 shrink_axis_mask=i:4", "n:0,0,0", "n:1,1,1",
	       "8x1:1x8 computed", "x[..., newaxis, 0]");
	sliced("new_axis_mask=i:4 shrink_axis_mask=i:1 end_mask=i:2", "n:0,0,0", "n:1,1,1",
	       "12x1:1x12 computed", "x[0, 0:, newaxis]");
}

static void test_functions(void)
{
	static const char calls[] =
		"x Placeholder dtype=t:1 shape=h:1,14,14,8\n"
		"w VarHandleOp dtype=t:1 shape=h:3,3,8,8\n"
		"y StatefulPartitionedCall x w f=f:inner\nz Neg x\nout y:0\n"
		"function inner in filter -> o=twice:output:0 p=relu:activations:0\n"
		"read ReadVariableOp filter dtype=t:1\n"
		"conv Conv2D in read:value:0 " SAME "\n"
		"relu Relu conv:output:0\n"
		"twice PartitionedCall relu:activations:0 read:value:0 f=f:twice\nend\n"
		"function twice in filter -> o=conv:output:0\n"
		"conv Conv2D in filter " SAME "\nend\n";

	expect(calls, CONV " relu; " CONV, "functions that call functions, with variables");
	expect("x Placeholder dtype=t:1 shape=h:1,14,14,8\ny Conv2D x x " SAME
	       "\nz Neg x\nout z:0\n",
	       "", "only what the signature's results need is read");
	expect(X W
	       "b Const dtype=t:10 value=m:0\ny StatelessIf b x w then_branch=f:none else_branch=f:one\n"
	       "function one in filter -> o=conv:output:0\nconv Conv2D in filter " SAME
	       "\nend\nfunction none in filter -> o=in\nend\n",
	       CONV, "a branch whose condition is known");
	refuse(X "y PartitionedCall x f=f:self\nfunction self in -> o=again:output:0\n"
		 "again PartitionedCall in f=f:self\nend\n",
	       "call each other more than 40 deep", "a function that calls itself");
	refuse(X "y PartitionedCall f=f:one\nfunction one in -> o=in\nend\n",
	       "with 0 of its 1 arguments", "a call without arguments");
	refuse("y Neg x\n", "it reads 'x', which nothing makes", "a value that nothing makes");
	refuse("x Neg y\ny Neg x\nz Neg y\n", "cycle", "a cycle");
	refuse("x Const dtype=t:3 value=c:1\ny Neg x\n",
	       "field 4 of a message is a varint instead of bytes", "contents that are no bytes");
	refuse("x Const dtype=t:3 value=r:1\ny Neg x\n",
	       "field 5 of a message is a varint instead of 32 bits", "floats that are none");
}

static void test_loops(void)
{
	/* The body counts by `step`, the condition up to `most`. */
#define COUNT(begin, step, most)                                                                   \
	X W "n Const dtype=t:3 value=m:" begin                                                     \
	    "\ny StatelessWhile n x w cond=f:more body=f:one\nz Neg y:1\nout z:0\n"                \
	    "function one i in filter -> j=next:z:0 o=conv:output:0 p=filter\n"                    \
	    "k Const dtype=t:3 value=m:" step                                                      \
	    "\nnext AddV2 i k:output:0\nconv Conv2D in filter " SAME "\nend\n"                     \
	    "function more i in filter -> o=less:z:0\nk Const dtype=t:3 value=m:" most             \
	    "\nless Less i k:output:0\nend\n"

	expect(COUNT("0", "1", "5"), CONV " x5",
	       "a loop whose turns follow from what it begins with");
	expect(COUNT("2", "3", "9"), CONV " x3", "by another step");
	expect(COUNT("7", "1", "5"), "", "a loop that does not run");
	expect(COUNT("0", "0", "5"), CONV, "a loop that never ends counts once");
	ok(was_said("counted as one turn: y"), "which is told");
	expect(X W "y While x w cond=f:more body=f:one\n"
		   "function one in filter -> o=conv:output:0 p=filter\nconv Conv2D in filter " SAME
		   "\nend\nfunction more in filter -> o=in\nend\n",
	       CONV, "a loop whose condition is not known");
	ok(was_said("counted as one turn: y"), "which is told, too");
	expect("x Placeholder dtype=t:1 shape=h:6,3,8\nw Const dtype=t:1 value=w:8,4\n"
	       "n Const dtype=t:3 value=m:0\nsix Const dtype=t:3 value=m:6\n"
	       "shape Const dtype=t:3 value=n:-1,4\n"
	       "in TensorListFromTensor x shape\nempty TensorListReserve shape six\n"
	       "y While n in empty w cond=f:more body=f:one\n"
	       "all TensorListStack y:2 shape\nz BatchMatMulV2 all all adj_x=b:1\nout z:0\n"
	       "function one i in out filter -> j=next:z:0 a=in b=set:output_handle:0 c=filter\n"
	       "k Const dtype=t:3 value=m:1\nnext AddV2 i k:output:0\n"
	       "item TensorListGetItem in i\nmul MatMul item:item:0 filter\n"
	       "set TensorListSetItem out i mul:product:0\nend\n"
	       "function more i in out filter -> o=less:z:0\nk Const dtype=t:3 value=m:6\n"
	       "less Less i k:output:0\nend\n",
	       "6x4x3:6x3x4 computed; 3x8:8x4 x6", "lists of what each turn reads and makes");
	/* So are loops frozen: what sets the items is in a circle. */
	expect("w Const dtype=t:1 value=w:8,4\nsix Const dtype=t:3 value=m:6\n"
	       "shape Const dtype=t:3 value=n:-1,8\nempty TensorListReserve shape six\n"
	       "in Enter empty\nagain Merge in next\ngo Switch again go\nnext NextIteration go:1\n"
	       "left Exit go\nall TensorListStack left shape\nperm Const dtype=t:3 value=n:1,0,2\n"
	       "turned Transpose all perm\nn Const dtype=t:3 value=n:3,8\nflat Reshape turned n\n"
	       "z MatMul flat w\nout z:0\n",
	       "3x8:8x4", "a list whose items are set in a circle has the shape that is told");
	expect("x Placeholder dtype=t:1 shape=h:2,3\na Const dtype=t:3 value=m:1\n"
	       "b Const dtype=t:3 value=m:4\nw Const dtype=t:1 value=w:3,3\n"
	       "y While a b x w cond=f:more body=f:swap\nz Neg y:2\nout z:0\n"
	       "function swap a b x w -> c=b d=a y=mul:product:0 v=w\nmul MatMul x w\nend\n"
	       "function more a b x w -> o=less:z:0\nless Less a b\nend\n",
	       "2x3:3x3", "a turn that swaps what it hands on is one turn");
	refuse(X W "y While x w cond=f:more body=f:one\n"
		   "function one in filter -> o=in\nend\nfunction more in filter -> o=in\nend\n",
	       "does not hand on what it begins with", "a body with fewer results than arguments");
	refuse(X
	       "y While x cond=f:more body=f:self\n"
	       "function self in -> o=again:output:0\nagain While in cond=f:more body=f:self\nend\n"
	       "function more in -> o=in\nend\n",
	       "call each other more than 40 deep", "a loop inside of itself");
}

/* Functions whose calls double at every step: 2^30 nodes in a few hundred bytes. */
static void test_bomb(void)
{
	struct buf b = BUF_INIT;

	buf_str(&b, X "y PartitionedCall x f=f:f30\n");
	for (int i = 1; i <= 30; i++)
		buf_fmt(&b,
			"function f%d in -> o=b:output:0\na PartitionedCall in f=f:f%d\n"
			"b PartitionedCall a:output:0 f=f:f%d\nend\n",
			i, i - 1, i - 1);
	buf_str(&b, "function f0 in -> o=n:y:0\nn Neg in\nend\n");
	refuse(b.s, "more than", "functions that are called a billion times");
	buf_free(&b);
}

/* Small files that ask for much more memory than they are large. */
static void test_multiplied(void)
{
	struct buf b = BUF_INIT;

	buf_str(&b, X);
	for (int i = 0; i < 300; i++)
		buf_fmt(&b, "a%d Neg x\nb%d Neg a%d:4095\n", i, i, i);
	refuse(b.s, "more than 1048576 results", "nodes of 4096 results each");
	buf_clear(&b);
	buf_str(&b, X);
	for (int i = 0; i < 1000; i++)
		buf_fmt(&b, "y%d PartitionedCall x f=f:f\n", i);
	buf_str(&b, "function f in -> o=in\n");
	for (int i = 0; i < 5000; i++)
		buf_fmt(&b, "n%d Neg in\n", i);
	buf_str(&b, "end\n");
	refuse(b.s, "more than 4194304", "calls of a function of many nodes that nothing needs");
	buf_clear(&b);
	buf_str(&b, X);
	for (int i = 0; i < 2000; i++)
		buf_fmt(&b, "y%d PartitionedCall x f=f:f\n", i);
	buf_str(&b, "function f in -> o=n:y:0\nn AddN");
	for (int i = 0; i < 3000; i++)
		buf_str(&b, " in");
	buf_str(&b, "\nend\n");
	refuse(b.s, "more than 4194304", "calls of a function whose node has many inputs");
	buf_free(&b);
}

/* As many arguments as a large model has variables: a reference does not go through all. */
static void test_arguments(void)
{
	enum { MANY = 20000 };
	struct buf b = BUF_INIT;

	buf_str(&b, X W "y PartitionedCall x");
	for (int i = 1; i < MANY; i++)
		buf_str(&b, " x");
	buf_str(&b, " w f=f:wide\nfunction wide");
	for (int i = 0; i < MANY; i++)
		buf_fmt(&b, " in%d", i);
	buf_fmt(&b, " filter -> o=conv:output:0\nn0 Neg in0\n");
	for (int i = 1; i < MANY; i++)
		buf_fmt(&b, "n%d AddV2 n%d:y:0 in%d\n", i, i - 1, i);
	buf_fmt(&b, "conv Conv2D n%d:z:0 filter " SAME "\nend\n", MANY - 1);
	expect(b.s, CONV, "a function of twenty thousand arguments");
	expect(X W "y PartitionedCall x w f=f:one\n"
		   "function one in in -> o=conv:output:0\nin Const dtype=t:1 value=w:3,3,8,8\n"
		   "w Const dtype=t:1 value=w:3,3,8,8\nconv Conv2D in w:output:0 " SAME "\nend\n",
	       CONV, "a name is that of the first argument, not of a node");
	buf_free(&b);
}

/* Of a split, only the parts that are read take memory. */
static void test_parts(void)
{
	static const char text[] =
		"x Placeholder dtype=t:1 shape=h:1,8,12000\nk Const dtype=t:3 value=m:2\n"
		"s Split k x num_split=i:12000\nu Unpack s num=i:8 axis=i:1\ny Neg u\n";
	struct arena a = ARENA_INIT;
	struct message_graph m;
	struct err e = ERR_INIT;
	struct buf b = BUF_INIT;
	struct pull in = {.next = drip_next};
	struct drip d;
	struct graph g;
	struct id hash;
	int64_t loops = 0;

	write_model(&b, text);
	d = (struct drip){(unsigned char *)b.s, b.n, 1 << 16, 0};
	in.ctx = &d;
	graph_init(&g, &a);
	if (message_read(&m, &in, 0, &a, &hash, &e) || tensorflow_build(&g, &m, &loops, &e))
		diag("%s", e.msg);
	ok(g.nvalue > 4 && g.nvalue < 8, "parts that nothing reads have no values (%d values)",
	   g.nvalue);
	graph_free(&g);
	arena_free(&a);
	buf_free(&b);
	expect("x Placeholder dtype=t:1 shape=h:1,8,12\nk Const dtype=t:3 value=m:2\n"
	       "s Split k x num_split=i:3\nz Neg s\nw Const dtype=t:1 value=w:4,5\n"
	       "e ExpandDims w o\no Const dtype=t:3 value=m:0\ny BatchMatMulV2 z e\n",
	       "8x4:4x5", "the first of three parts, of which no other is read");
	expect("x Placeholder dtype=t:1 shape=h:3,8,12\nu Unpack x num=i:3\n"
	       "w Const dtype=t:1 value=w:12,5\ny MatMul u w\n",
	       "8x12:12x5", "unpacked, too");
	expect("x Placeholder dtype=t:1 shape=h:8,12\nk Const dtype=t:3 value=m:1\n"
	       "z Const dtype=t:3 value=n:5,3,4\ns SplitV x z k num_split=i:3\n"
	       "w Const dtype=t:1 value=w:3,2\ny MatMul s:1 w\n",
	       "8x3:3x2", "parts of sizes that are told");
}

/* 2^80 elements, whose number no integer has. */
#define HUGE "w Const dtype=t:1 value=w:1099511627776,1099511627776\n"

static void test_huge(void)
{
	refuse("x Placeholder dtype=t:1 shape=h:4,8\n" HUGE "y MatMul x w\n",
	       "the constant 'w' is of absurd size", "a constant of absurd size");
	refuse(X "v VarHandleOp dtype=t:1 shape=h:1099511627776,1099511627776\n"
		 "r ReadVariableOp v\ny Conv2D x r " SAME "\n",
	       "the constant 'v' is of absurd size", "a variable, too");
	refuse(X "y While x cond=f:more body=f:one\n"
		 "function one in -> o=mul:z:0\n" HUGE "mul Mul in w:output:0\nend\n"
		 "function more in -> o=in\nend\n",
	       "the constant 'w' is of absurd size", "in a loop, too");
}

/* Operators that lack inputs and attributes, or have absurd ones. */
static void test_absurd(void)
{
	static const char *const types[] = {
		"Conv2D",
		"DepthwiseConv2dNative",
		"Conv2DBackpropInput",
		"MatMul",
		"Einsum",
		"BiasAdd",
		"FusedBatchNormV3",
		"MaxPool",
		"Pad",
		"MirrorPad",
		"ResizeBilinear",
		"Mean",
		"ArgMax",
		"Reshape",
		"Squeeze",
		"ExpandDims",
		"Transpose",
		"ConcatV2",
		"Concat",
		"Pack",
		"Unpack",
		"Split",
		"SplitV",
		"Slice",
		"StridedSlice",
		"GatherV2",
		"Fill",
		"Range",
		"Shape",
		"Rank",
		"Tile",
		"TensorListGetItem",
		"TensorListStack",
		"TensorListReserve",
		"TensorListSetItem",
		"TensorListFromTensor",
		"Switch",
		"Merge",
		"SpaceToBatchND",
		"DepthToSpace",
		"Square",
		"Rsqrt",
		"Relu6",
		"Erfc",
		"_FusedConv2D",
		"_FusedMatMul",
		"While",
		"If",
		"CudnnRNN",
		"Cast",
		"OneHot",
		"ClipByValue",
		"Log1p",
		"Expm1",
		"ZerosLike",
		"IdentityN",
		"AddN",
		"SelectV2",
	};
	static const char *const rest[] = {
		"",
		" x",
		" x x",
		" x x x",
		" x x x x x x",
		" n n n n",
		" x n n n",
		" n x x",
		" x strides=l:1 padding=s:EXPLICIT explicit_paddings=l:1,1,1,1,1,1,1,1,1",
		" x x strides=l:0,0,0,0 dilations=l:-1,-1,-1,-1 ksize=l:0,0,0,0",
		" x n axis=i:99 num=i:-5 num_split=i:1000000000 N=i:9 block_size=i:0",
		" n x squeeze_dims=l:9,-9 begin_mask=i:-1 ellipsis_mask=i:-1 new_axis_mask=i:255",
	};
	size_t silent = 0;

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		for (size_t k = 0; k < sizeof rest / sizeof *rest; k++) {
			struct extract x = {.layout = LAYOUT_NHWC};
			struct buf b = BUF_INIT, s = BUF_INIT;

			buf_fmt(&s,
				X
				"n Const dtype=t:3 value=n:-1,5,2147483647,0\ny %s%s\nz Neg y:3\n",
				types[i], rest[k]);
			write_model(&b, s.s);
			read_bytes(&x, &format_tensorflow, b.s, b.n);
			silent += x.failed && !said.n;
			extract_free(&x);
			buf_free(&b);
			buf_free(&s);
		}
	ok(!silent, "operators without inputs and attributes are read, or refused with a sentence");
}

/* Whatever happens to the bytes, the answer is a list of workloads or a sentence. */
static void test_hostile(void)
{
	static const char graph[] = X W V C
		"p Const dtype=t:3 value=p:0,0,1,1,1,1,0,0\nq Pad x p\n"
		"a Conv2D q w strides=l:1,1,1,1 padding=s:VALID\nb BiasAdd a c\nd Relu b\n"
		"e Conv2D d v " SAME "\ns AddV2 e d\nt Relu s\nn Const dtype=t:3 value=n:-1,1568\n"
		"r Reshape t n\nk Const dtype=t:1 value=w:1568,10\ny MatMul r k\n";
	static const char saved[] =
		"x Placeholder dtype=t:1 shape=h:1,14,14,8\n"
		"w VarHandleOp dtype=t:1 shape=h:3,3,8,8\n"
		"y StatefulPartitionedCall x w f=f:inner\nout y:0\n"
		"function inner in filter -> o=conv:output:0\n"
		"read ReadVariableOp filter dtype=t:1\nconv Conv2D in read:value:0 " SAME "\nend\n";
	struct buf b = BUF_INIT;
	size_t refused, silent = 0;

	expect(graph, CONV " bias,relu; " CONV " add,relu; 1x1568:1568x10", "the graph as it is");
	write_model(&b, graph);
	refused = attack(&format_tensorflow, &b, b.n, 5000, &silent);
	/* Cut off between two of its 17 nodes it is a graph, too. */
	ok(refused + 17 >= b.n, "cut off anywhere it is refused (%zu of %zu)", refused, b.n);
	write_model(&b, saved);
	refused = attack(&format_tensorflow, &b, b.n, 5000, &silent);
	ok(refused == b.n, "a SavedModel, too (%zu of %zu)", refused, b.n);
	ok(!silent, "with bits flipped they are read or refused, and never silently");
	buf_free(&b);
}

/* The first bytes of a file, as many as there are. */
static void test_claims(void)
{
	struct buf b = BUF_INIT;
	size_t wrong = 0;

	write_model(&b, X W "y Conv2D x w " SAME "\n");
	ok(tensorflow_claims((unsigned char *)b.s, b.n) == TENSORFLOW_GRAPH, "a GraphDef is known");
	write_model(&b, X "y Neg x\nout y:0\n");
	ok(tensorflow_claims((unsigned char *)b.s, b.n) == TENSORFLOW_SAVED_MODEL,
	   "a SavedModel is known");
	for (size_t n = 0; n < 16; n++) {
		unsigned char *tight =
			xmalloc(n ? n : 1); /* a sanitizer sees what is read behind it */

		memset(tight, 0xff, n);
		memcpy(tight, "\x08\x01\x12", n < 3 ? n : 3);
		wrong += tensorflow_claims(tight, n) != TENSORFLOW_NONE;
		free(tight);
	}
	ok(!wrong, "what begins like one is not");
	buf_free(&b);
}

int main(void)
{
	begin();
	test_claims();
	test_calls(&spelling);
	test_convolutions();
	test_fused();
	test_products();
	test_computed();
	test_made();
	test_strided();
	test_functions();
	test_loops();
	test_bomb();
	test_multiplied();
	test_arguments();
	test_parts();
	test_huge();
	test_absurd();
	test_hostile();
	return end();
}
