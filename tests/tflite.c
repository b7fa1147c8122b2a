/* TFLite models: what their operators become, and hostile files.
 *
 * Models are written here from a few lines of text, so that each test shows the graph it is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/extract/tflite/rewrite.h"
#include "lib/extract/tflite/tflite.h"
#include "tests/calls.h"

/* Writing FlatBuffers, from the front: what is referred to comes behind what refers to it. */

static void put32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, 4);
}

static void set32(struct buf *b, size_t at, uint32_t v)
{
	memcpy(b->s + at, &v, 4);
}

static void align(struct buf *b)
{
	while (b->n % 4)
		buf_ch(b, 0);
}

/* A table of n fields of four bytes, all of which are absent. Where it is. */
static size_t table(struct buf *b, int n)
{
	uint16_t head[2] = {(uint16_t)(4 + 2 * n), (uint16_t)(4 + 4 * n)}, none = 0;
	size_t list, at;

	align(b);
	list = b->n;
	buf_add(b, head, sizeof head);
	for (int i = 0; i < n; i++)
		buf_add(b, &none, sizeof none);
	align(b);
	at = b->n;
	put32(b, (uint32_t)(at - list));
	for (int i = 0; i < n; i++)
		put32(b, 0);
	return at;
}

static void set(struct buf *b, size_t t, int i, uint32_t v)
{
	uint32_t back;
	uint16_t place = (uint16_t)(4 + 4 * i);

	memcpy(&back, b->s + t, 4);
	memcpy(b->s + (t - back) + 4 + 2 * i, &place, 2);
	set32(b, t + place, v);
}

/* The field refers to what is at that place. */
static void refer(struct buf *b, size_t t, int i, size_t to)
{
	set(b, t, i, (uint32_t)(to - (t + 4 + 4 * (size_t)i)));
}

static size_t list(struct buf *b, const int *v, int n)
{
	size_t at;

	align(b);
	at = b->n;
	put32(b, (uint32_t)n);
	for (int i = 0; i < n; i++)
		put32(b, (uint32_t)v[i]);
	return at;
}

static size_t bytes(struct buf *b, const void *p, size_t n)
{
	size_t at;

	align(b);
	at = b->n;
	put32(b, (uint32_t)n);
	buf_add(b, p, n);
	buf_ch(b, 0);
	return at;
}

/* Writing models */

enum { MOST = 64, GRAPHS = 5 };

struct writer {
	struct buf b;
	char name[MOST][24];
	char text[MOST][120]; /* the line of each tensor */
	char op[MOST][160];
	int ntensor, nop;
	/* Graph g has the tensors from tensor_at[g] to tensor_at[g + 1], likewise operators; its
	 * ends by their names, if it is not the first. */
	int tensor_at[GRAPHS + 1], op_at[GRAPHS + 1], ngraph, at; /* the graph at hand */
	char ends[GRAPHS][80];
};

static int numbers(const char *s, int *v)
{
	int n = 0;

	for (char *end; *s && strchr("-0123456789", *s) && n < MOST;
	     s = *end == ',' ? end + 1 : end)
		v[n++] = (int)strtol(s, &end, 10);
	return n;
}

static int tensor_of(const struct writer *w, const char *name, size_t n)
{
	for (int i = w->tensor_at[w->at]; i < w->tensor_at[w->at + 1]; i++)
		if (strlen(w->name[i]) == n && !memcmp(w->name[i], name, n))
			return i - w->tensor_at[w->at];
	return -1;
}

/* Names up to "->", or to a number, as tensors; "_" is one left out. */
static const char *tensors(const struct writer *w, const char *s, int *v, int *n)
{
	for (*n = 0; *s; s += *s == ' ') {
		size_t k = strcspn(s, " ");

		if (!strncmp(s, "->", 2) || strchr("0123456789", *s))
			break;
		v[(*n)++] = tensor_of(w, s, k);
		s += k;
	}
	return s;
}

static void write_tensor(struct writer *w, size_t t, int i, int buffer)
{
	static const struct {
		char kind;
		int type;
	} types[] = {{'f', 0},	{'h', 1}, {'i', 2}, {'q', 9}, {'n', 17},
		     {'N', 17}, {'I', 2}, {'S', 2}, {'j', 2}, {'W', 0}};
	char kind = w->text[i][0];
	int dim[MOST], now[MOST], n = numbers(w->text[i] + 2, dim), open = 0;

	for (size_t k = 0; k < sizeof types / sizeof *types; k++)
		if (types[k].kind == kind && types[k].type)
			set(&w->b, t, 1, (uint32_t)types[k].type);
	set(&w->b, t, 2, (uint32_t)buffer);
	if (kind == 'S') {
		n = 0;
	} else if (kind == 'i' || kind == 'N') { /* a list: its numbers are its elements */
		now[0] = n;
		n = 1;
	} else if (kind == 'I') { /* pairs */
		now[0] = n / 2;
		now[1] = 2;
		n = 2;
	} else {
		for (int k = 0; k < n; k++) {
			now[k] = dim[k] < 0 ? 1 : dim[k];
			open |= dim[k] < 0;
		}
	}
	refer(&w->b, t, 0, list(&w->b, now, n));
	if (open)
		refer(&w->b, t, 7, list(&w->b, dim, n));
	refer(&w->b, t, 3, bytes(&w->b, w->name[i], strlen(w->name[i])));
	if (kind == 'q') {
		size_t q = table(&w->b, 3);
		int one = 0x3f800000;

		refer(&w->b, t, 4, q);
		refer(&w->b, q, 2, list(&w->b, &one, 1));
	}
}

static void write_operator(struct writer *w, size_t t, int i)
{
	int in[MOST], out[MOST], nin, nout;
	const char *s = strchr(w->op[i], ' ') + 1;
	size_t options;

	s = tensors(w, s, in, &nin);
	s = tensors(w, s + 3, out, &nout);
	set(&w->b, t, 0, (uint32_t)i);
	refer(&w->b, t, 1, list(&w->b, in, nin));
	refer(&w->b, t, 2, list(&w->b, out, nout));
	if (!*s)
		return;
	options = table(&w->b, 9);
	refer(&w->b, t, strncmp(w->op[i], "STABLEHLO", 9) ? 4 : 12, options);
	for (char *end; *s; s = *end ? end + 1 : end) { /* "3=1", or "0=5,6" for a list */
		int field = (int)strtol(s, &end, 10), v[MOST], n = numbers(end + 1, v);

		end += 1 + strcspn(end + 1, " ");
		if (n > 1)
			refer(&w->b, options, field, list(&w->b, v, n));
		else
			set(&w->b, options, field, (uint32_t)v[0]);
		s = end;
	}
}

/* n tables, and the list of them in a field. */
static void tables(struct writer *w, size_t parent, int field, int n, int fields, size_t *at)
{
	int none[MOST] = {0};
	size_t l = list(&w->b, none, n);

	refer(&w->b, parent, field, l);
	for (int i = 0; i < n; i++) {
		at[i] = table(&w->b, fields);
		set32(&w->b, l + 4 + 4 * (size_t)i, (uint32_t)(at[i] - (l + 4 + 4 * (size_t)i)));
	}
}

static const char zeros[4 * 600 * 600];

static int code_of(const char *op)
{
	size_t n = strcspn(op, " ");
	struct arena a = ARENA_INIT;
	int code = -1;

	for (int i = 0; i < 210 && code < 0; i++) {
		const char *name = operator_name(i, &a);

		code = strlen(name) == n && !memcmp(op, name, n) ? i : -1;
	}
	arena_free(&a);
	if (code >= 0)
		return code;
	if (op[1] >= 'A' && op[1] <= 'Z')
		bail_out("there is no operator of TFLite's in '%s'", op);
	return 32; /* one that is told by its name, "Like" this */
}

/* A graph in its table. */
static void write_graph(struct writer *w, size_t graph, int g)
{
	const int tensors_before = w->tensor_at[g], ops_before = w->op_at[g];
	const int ntensor = w->tensor_at[g + 1] - tensors_before;
	const int nop = w->op_at[g + 1] - ops_before;
	int in[MOST] = {0}, out[MOST], nin = 1, nout = 0;
	size_t at[MOST];
	const char *s = w->ends[g];

	w->at = g;
	tables(w, graph, 0, ntensor, 8, at);
	for (int i = 0; i < ntensor; i++)
		write_tensor(w, at[i], tensors_before + i, tensors_before + i + 1);
	if (*s)
		tensors(w, tensors(w, s, in, &nin) + 3, out, &nout);
	refer(&w->b, graph, 1, list(&w->b, in, nin));
	tables(w, graph, 3, nop, 13, at);
	for (int i = 0; i < nop; i++)
		write_operator(w, at[i], ops_before + i);
	if (!*s && nop) {
		const char *arrow = strstr(w->op[ops_before + nop - 1], "-> ") + 3;

		out[nout++] = tensor_of(w, arrow, strcspn(arrow, " "));
	}
	if (nout)
		refer(&w->b, graph, 2, list(&w->b, out, nout));
}

/* "x f 1,14,14,8" is a tensor (i: integers, by their values; I: pairs of them; S: one; j: integers
 * that are computed; h: half precision; q: 8-bit with a scale; n: 4-bit with a buffer that is
 * empty; N: two numbers of 4 bits; W: 600 x 600 with elements), "CONV_2D x w b -> y 3=1" an
 * operator with its options. The first tensor goes in, the last operator's output comes out. "more"
 * begins another graph, whose ends "ends a b -> c d" tells. */
static void write_model(struct writer *w, const char *text)
{
	size_t model, at[MOST], buffer[MOST];

	*w = (struct writer){0};
	for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		size_t n = strcspn(s, "\n");
		const char *arrow = strstr(s, "->");

		if (!strncmp(s, "more\n", 5)) {
			w->ngraph++;
			w->tensor_at[w->ngraph] = w->ntensor;
			w->op_at[w->ngraph] = w->nop;
		} else if (!strncmp(s, "ends ", 5)) {
			snprintf(w->ends[w->ngraph], sizeof *w->ends, "%.*s", (int)n - 5, s + 5);
		} else if (arrow && arrow < s + n) {
			snprintf(w->op[w->nop++], sizeof *w->op, "%.*s", (int)n, s);
		} else {
			size_t k = strcspn(s, " ");

			snprintf(w->name[w->ntensor], sizeof *w->name, "%.*s", (int)k, s);
			snprintf(w->text[w->ntensor++], sizeof *w->text, "%.*s", (int)(n - k - 1),
				 s + k + 1);
		}
	}
	w->ngraph++;
	w->tensor_at[w->ngraph] = w->ntensor;
	w->op_at[w->ngraph] = w->nop;
	put32(&w->b, 0);
	buf_str(&w->b, "TFL3");
	model = table(&w->b, 5);
	set32(&w->b, 0, (uint32_t)model);
	set(&w->b, model, 0, 3);
	tables(w, model, 1, w->nop, 4, at);
	for (int i = 0; i < w->nop; i++) {
		int code = code_of(w->op[i]);

		set(&w->b, at[i], 0, (uint32_t)(code < 127 ? code : 127));
		if (code >= 127 || i % 2) /* as old files and new ones have it */
			set(&w->b, at[i], 3, (uint32_t)code);
		if (code == 32)
			refer(&w->b, at[i], 1, bytes(&w->b, w->op[i], strcspn(w->op[i], " ")));
	}
	tables(w, model, 2, w->ngraph, 5, at);
	for (int i = 0; i < w->ngraph; i++)
		write_graph(w, at[i], i);
	tables(w, model, 4, w->ntensor + 1, 1, buffer);
	for (int i = 0; i < w->ntensor; i++) {
		int v[MOST], n = numbers(w->text[i] + 2, v);

		if (w->text[i][0] == 'W')
			refer(&w->b, buffer[i + 1], 0, bytes(&w->b, zeros, sizeof zeros));
		if (w->text[i][0] == 'n')
			refer(&w->b, buffer[i + 1], 0, bytes(&w->b, v, 0));
		if (w->text[i][0] == 'N')
			refer(&w->b, buffer[i + 1], 0,
			      bytes(&w->b, &(char){(char)(v[0] | v[1] << 4)}, 1));
		if (strchr("iIS", w->text[i][0]))
			refer(&w->b, buffer[i + 1], 0, bytes(&w->b, v, 4 * (size_t)n));
	}
	align(&w->b);
}

/* Running the extraction */

/* The workloads, or what was said if the model could not be read. */
static void expect_with(const char *text, const struct infer_options *o, const char *want,
			const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf got = BUF_INIT;
	struct writer w;

	if (o)
		x.infer = *o;
	write_model(&w, text);
	extract_bytes(&x, w.b.s, w.b.n);
	describe(&x, &got);
	if (x.failed)
		buf_str(&got, said.s);
	if (!ok(!strcmp(got.s, want), "%s", what))
		diag("got  %s\nwant %s\nsaid %s", got.s, want, said.s);
	extract_free(&x);
	buf_free(&got);
	buf_free(&w.b);
}

static void refuse(const char *text, const char *sentence, const char *what)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct writer w;

	write_model(&w, text);
	extract_bytes(&x, w.b.s, w.b.n);
	ok(x.failed == 1 && was_said(sentence), "%s", what);
	extract_free(&x);
	buf_free(&w.b);
}

static void expect(const char *text, const char *want, const char *what)
{
	expect_with(text, NULL, want, what);
}

#define MADE "$y f $Y\n"
#define OF_ONE(type) MADE type " $0 -> $y\n"
#define OF_TWO(type) MADE type " $0 $1 -> $y\n"
#define STEP " -> $y 0=$PAD 1=$stride 2=$stride"
#define POOL(type) MADE type " $0" STEP " 3=$size 4=$size\n"

static const struct spelling_row own_words[] = {
	{"image", "$y f $Y\n"},
	{"data", "$y f $Y\n"},
	{"filter", "$y f $Y\n"},
	{"each", "$y f 1,$b,$c,$a\n"},
	{"grouped", "$y f $a,$b,$c,$d\n"},
	{"volume", "$y f $b,$c,$d,$e,$a\n"},
	{"turned", "$y f $Y\n"},
	{"vector", "$y f $a\n"},
	{"channel", "$y f $a\n"},
	{"row", "$y f $a\n"},
	{"matrix", "$y f $Y\n"},
	{"conv", MADE "CONV_2D $0 $1" STEP " 4=$dilation 5=$dilation\n"},
	{"conv_bias", MADE "CONV_2D $0 $1 $2" STEP "\n"},
	{"depthwise", MADE "DEPTHWISE_CONV_2D $0 $1" STEP " 3=$1e\n"},
	{"groups", MADE "CONV_2D $0 $1" STEP "\n"},
	{"conv3d", MADE "CONV_3D $0 $1" STEP " 3=$stride\n"},
	{"transposed", MADE "s$y i $Y\nTRANSPOSE_CONV s$y $1 $0" STEP "\n"},
	{"zeros", MADE "p$y I 0,0,1,1,1,1,0,0\nPAD $0 p$y -> $y\n"},
	{"relu", OF_ONE("RELU")},
	{"sigmoid", OF_ONE("LOGISTIC")},
	{"relu6", OF_ONE("RELU6")},
	{"hardswish", OF_ONE("HARD_SWISH")},
	{"gelu", OF_ONE("GELU")},
	{"tanh", OF_ONE("TANH")},
	{"abs", OF_ONE("ABS")},
	{"add", OF_TWO("ADD")},
	{"mul", OF_TWO("MUL")},
	{"concat", MADE "CONCATENATION $0 $1 -> $y 0=3\n"},
	{"max_pool", POOL("MAX_POOL_2D")},
	{"avg_pool", POOL("AVERAGE_POOL_2D")},
	{"resize", MADE "s$y i $b,$c\nRESIZE_NEAREST_NEIGHBOR $0 s$y -> $y\n"},
	{"linear", MADE "FULLY_CONNECTED $0 $1 _ -> $y\n"},
	{"linear_bias", MADE "FULLY_CONNECTED $0 $1 $2 -> $y 2=1\n"},
	{"flat", MADE "s$y i $Y\nRESHAPE $0 s$y -> $y\n"},
	{"reshape", MADE "s$y i $Y\nRESHAPE $0 s$y -> $y\n"},
	{"transpose", MADE "p$y i 1,0\nTRANSPOSE $0 p$y -> $y\n"},
	{"mean", MADE "k$y i 1\nMEAN $0 k$y -> $y\n"},
	{"product", OF_TWO("BATCH_MATMUL")},
	{"product_of_turned", MADE "BATCH_MATMUL $0 $1 -> $y 1=1\n"},
	{"lstm", MADE "w$y f $c,$0c\nr$y f $c,$c\nUNIDIRECTIONAL_SEQUENCE_LSTM $0 w$y w$y w$y w$y "
		      "r$y r$y r$y r$y -> $y\n"},
};
static const struct spelling spelling = {SPELLING(own_words), .cases = 28, .between = ',',
					 .pad = {"1", "0"}, .expect = expect};

#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"
#define CONV8(type) "mb1_ic8ih14_oc8oh14_kh3ph1 (" type ")"
#define IMAGE "x f 1,14,14,8\nw f 8,3,3,8\nv f 8,3,3,8\nc f 8\n"
#define A "a f 1,14,14,8\n"
#define B "b f 1,14,14,8\n"
#define D "d f 1,14,14,8\n"

static void test_convolutions(void)
{
	expect(IMAGE A "CONV_2D x w c -> a 1=1 2=1 3=1\n", CONV " bias,relu",
	       "a convolution with bias and relu");
	expect(IMAGE A "CONV_2D x w c -> a 1=1 2=1 3=3\n", CONV " bias,relu6", "with relu6");
	expect(IMAGE A "CONV_2D x w c -> a 1=1 2=1 3=2\n", CONV " bias,clip(-1,1)",
	       "with a relu from -1 to 1");
	expect(IMAGE A "CONV_2D x w -> a\n", CONV, "without options all have their defaults");
	expect("x f 1,14,14,8\nw f 4,3,3,8\na f 1,7,7,4\nCONV_2D x w -> a 1=2 2=2\n",
	       "mb1_ic8ih14_oc4oh7_kh3sh2", "what is padded is odd, and more of it comes behind");
	expect("x f 1,14,14,8\nw f 1,3,3,8\na f 1,14,14,8\n"
	       "DEPTHWISE_CONV_2D x w -> a 1=1 2=1 3=1 4=1\n",
	       "mb1g8_ic8ih14_oc8oh14_kh3ph1 relu", "depthwise, with relu");
	expect("x f 1,7,7,4\nw f 2,2,2,4\nc f 2\na f 1,14,14,2\n"
	       "Convolution2DTransposeBias x w c -> a\n",
	       "49x4:4x8 bias", "MediaPipe's own transposed convolution");
}

static void test_fusion(void)
{
	expect(IMAGE A B D "CONV_2D x w c -> a 1=1 2=1\nCONV_2D a v c -> b 1=1 2=1\n"
			   "ADD a b -> d 0=1\n",
	       CONV " bias; " CONV " bias,add,relu", "a residual goes to the later producer");
}

static void test_products(void)
{
	expect("x f 1,2,3,8\nw f 5,48\nc f 5\ny f 1,5\nFULLY_CONNECTED x w c -> y 0=1\n",
	       "1x48:48x5 bias,relu", "fully connected, of all that there is");
}

static void test_types(void)
{
	expect("x q 1,14,14,8\nw q 8,3,3,8\na q 1,14,14,8\nCONV_2D x w -> a 1=1 2=1\n", CONV8("s8"),
	       "an 8-bit model has workloads of 8 bits");
	expect("x f 1,14,14,8\nw q 8,3,3,8\n" A "CONV_2D x w -> a 1=1 2=1\n", CONV8("f32:s8:f32"),
	       "and one with 8-bit weights says so");
	expect("x f 1,14,14,8\nh h 8,3,3,8\nw f 8,3,3,8\n" A
	       "DEQUANTIZE h -> w\nCONV_2D x w -> a 1=1 2=1\n",
	       CONV, "weights in half precision are widened: f32");
}

/* Sizes that the file leaves open. */
static void test_open(void)
{
	static const char open[] =
		"x f -1,14,14,8\nw f 8,3,3,8\na f -1,14,14,8\n"
		"b f -1,1568\nr i -1,1568\nk f 5,1568\ny f -1,5\n"
		"CONV_2D x w -> a 1=1 2=1\nRESHAPE a r -> b\nFULLY_CONNECTED b k _ -> y\n";
	struct infer_options o = {0};
	const char *shape = "x:3,6,6,8";
	struct err e = ERR_INIT;

	expect(open, CONV "; 1x1568:1568x5", "a batch that is open is 1");
	o.batch = 4;
	expect_with(open, &o, "mb4_ic8ih14_oc8oh14_kh3ph1; 4x1568:1568x5", "or what --batch says");
	infer_options_read(&o, &(struct infer_words){.batch = -1, .shape = &shape, .nshape = 1},
			   &e);
	expect_with("x f -1,-1,-1,8\nw f 8,3,3,8\na f -1,-1,-1,8\nCONV_2D x w -> a 1=1 2=1\n", &o,
		    "mb3_ic8ih6_oc8oh6_kh3ph1", "--shape says all of them");
	infer_options_free(&o);
	expect("x f -1,-1,14,8\nw f 8,3,3,8\na f -1,-1,14,8\nCONV_2D x w -> a 1=1 2=1\n", "",
	       "what stays open is no workload");
	ok(was_said("sizes not known: a dimension of 'x' (--shape gives them)"), "and is told");
	expect("x f -1,14,14,8\nh j\nsh j 4\nk1 S 1568\nm j 2\n"
	       "r f -1,1568\nk f 5,1568\ny f -1,5\nz i 0\no i 1\n"
	       "SHAPE x -> sh\nSTRIDED_SLICE sh z o o -> h 4=1\nPACK h k1 -> m 0=2\n"
	       "RESHAPE x m -> r\nFULLY_CONNECTED r k _ -> y\n",
	       "1x1568:1568x5", "a shape that is computed");
}

/* Two elements of 4 bits share a byte. Those that a file does not have are not zeros. */
static void test_half_bytes(void)
{
	expect("x f 2,8\nw n 5,8\ny f 2,5\nFULLY_CONNECTED x w _ -> y\n", "2x8:8x5 (f32:s4:f32)",
	       "weights of 4 bits that were left out of the file");
	expect("x f 2,3\ns n 2\nr f 1,6\nw f 5,6\ny f 1,5\nRESHAPE x s -> r\n"
	       "FULLY_CONNECTED r w _ -> y\n",
	       "1x6:6x5", "a shape of such");
	expect("x f 3,2\ns N 2,3\nr f -1,3\nw f 5,3\ny f -1,5\nRESHAPE x s -> r\n"
	       "FULLY_CONNECTED r w _ -> y\n",
	       "2x3:3x5", "a shape that has its elements of 4 bits");
	expect("x f 1,14,14,8\nw f 8,3,3,8\np n 4,2\nq f 1,16,16,8\na f 1,14,14,8\nPAD x p -> q\n"
	       "CONV_2D q w _ -> a 0=1 1=1 2=1\n",
	       "mb1_ic8ih16_oc8oh14_kh3", "padding of such");
}

static void test_lists(void)
{
	refuse("y f 1,8\nSQUEEZE -> y\n", "the node y (Squeeze) lacks an input",
	       "a SQUEEZE without an input is refused");
	refuse("y f 1,8\nRESHAPE -> y 0=1,8\n", "the node y (Reshape) lacks an input",
	       "and a RESHAPE");
	expect("x f 2,3\nr f 6\ny f 2,5\nw f 5,3\n"
	       "RESHAPE x -> r 0=1,1,1,1,1,1,1,1,1,1,1,1,6\nFULLY_CONNECTED x w -> y\n",
	       "2x3:3x5", "a shape of more dimensions than a tensor can have");
	ok(was_said("unknown operators: RESHAPE"), "is no operator that is known");
}

static void test_unknown(void)
{
	expect(IMAGE A B "UNIQUE x -> a\nCONV_2D a w -> b 1=1 2=1\n", CONV,
	       "behind an operator without a rule the file tells the shape");
	ok(was_said("unknown operators: UNIQUE"), "and the operator is named");
	expect("x f -1,14,12,8\nw f 8,3,3,8\nk i 2,2\np I 2,2,2,2\nq I 0,0,0,0\n"
	       "a f -1,9,8,8\nb f -1,7,6,8\nd f -1,14,12,8\ne f -1,14,12,8\n"
	       "SPACE_TO_BATCH_ND x k p -> a\nCONV_2D a w -> b 0=1 1=1 2=1\n"
	       "BATCH_TO_SPACE_ND b k q -> d\nCONV_2D d w -> e 1=1 2=1\n",
	       "mb4_ic8ih9iw8_oc8oh7ow6_kh3kw3; mb1_ic8ih14iw12_oc8oh14ow12_kh3kw3ph1pw1",
	       "a dilation by blocks of the image in the batch");
	expect(IMAGE A "CONV_2D x w -> a 1=1 2=1\nmore\n", CONV, "the first of two graphs");
	ok(was_said("of its 2 graphs the first was read"), "and it is said that there are more");
}

/* Layers in one direction: operands of an LSTM are data, weights of the input and of the state. */
#define STATES "x f 3,5,8\nw f 16,8\nr f 16,16\np f 10,16\na f 3,5,16\n"
#define SEQUENCE_LSTM "UNIDIRECTIONAL_SEQUENCE_LSTM x w w w w r r r r "

static void test_recurrent(void)
{
	expect(STATES SEQUENCE_LSTM "-> a 3=1\n", "15x8:8x64; 5x16:16x64 x3",
	       "an LSTM whose steps come first");
	expect(STATES "UNIDIRECTIONAL_SEQUENCE_RNN x w r -> a\n", "15x8:8x16; 3x16:16x16 x5",
	       "a simple recurrent layer");
	expect(STATES SEQUENCE_LSTM "_ _ _ _ _ _ _ p -> a\n", "", "a projection");
	ok(was_said("0.0 % of the model's 25440 multiply-adds"), "counts by its weights");
	expect(STATES "UNIDIRECTIONAL_SEQUENCE_LSTM x _ w w w _ r r r -> a\n", "",
	       "gates that are coupled");
}

#define LOOP                                                                                       \
	"x f 2,8\nz S 0\nh f 2,8\nc j\nv f 5,8\ny f 2,5\n"                                         \
	"WHILE z x -> c h 0=1 1=2\nFULLY_CONNECTED h v _ -> y\n"                                   \
	"more\ni j\ns f 2,8\nk S 3\nt j\nends i s -> t\nLESS i k -> t\n"                           \
	"more\ni j\ns f 2,8\none S 1\nn j\nw f 8,8\nr f 2,8\n"
#define BODY "ADD i one -> n\nFULLY_CONNECTED s w _ -> r\n"

/* A branch multiplies by a matrix of 8 columns, which the graph around it has, the other by one of
 * 16 rows of its own. */
#define BRANCHES(condition)                                                                        \
	"x f 2,8\nw f 8,8\nv f 5,8\nh f 2,8\ny f 2,5\n" condition                                  \
	"IF c x w -> h 0=1 1=2\nFULLY_CONNECTED h v _ -> y\n"                                      \
	"more\ns f 2,8\nt f 8,8\nr f 2,8\nends s t -> r\nFULLY_CONNECTED s t _ -> r\n"
#define OTHER                                                                                      \
	"more\ns f 2,8\nt f 8,8\na f 16,8\nb f 8,16\nq f 2,16\nr f 2,8\nends s t -> r\n"           \
	"FULLY_CONNECTED s a _ -> q\nFULLY_CONNECTED q b _ -> r\n"

static void test_branches(void)
{
	expect(BRANCHES("c S 1\n") OTHER, "2x8:8x5; 2x8:8x8", "the branch that is taken");
	expect(BRANCHES("c S 0\n") OTHER, "2x8:8x5; 2x8:8x16; 2x16:16x8", "or the other one");
	ok(!strstr(said.s, "was read"), "all graphs were read");
	expect(BRANCHES("z S 0\nc j\nLESS x z -> c\n") OTHER, "2x8:8x5; 2x8:8x16; 2x16:16x8",
	       "the larger one, where the condition is computed");
	ok(was_said("the larger branch counts of: h"), "which is said");
	expect("x f 2,8\nc S 1\nv f 5,8\ny f 2,5\nIF c x -> 0=1 1=2\nFULLY_CONNECTED x v _ -> y\n"
	       "more\ns f 2,8\nw f 3,8\nr f 2,3\nends s -> \nFULLY_CONNECTED s w _ -> r\n"
	       "more\ns f 2,8\nends s -> \n",
	       "2x8:8x5; 2x8:8x3", "branches that make nothing may change something");
	expect("x f 2,8\nc S 1\nh f 2,8\nk f 5,8\ny f 2,5\n"
	       "IF c x -> h 0=1 1=2\nFULLY_CONNECTED h k _ -> y\n"
	       "more\ns f 2,8\nq j\nv f 2,4\nw f 8,4\nr f 2,8\nends s -> r\n"
	       "VAR_HANDLE -> q\nREAD_VARIABLE q -> v\nFULLY_CONNECTED v w _ -> r\n"
	       "ASSIGN_VARIABLE q v -> _\n"
	       "more\ns f 2,8\nr f 2,8\nends s -> r\nABS s -> r\n",
	       "2x8:8x5; 2x4:4x8", "a variable that a branch reads and changes");
	expect(IMAGE A B "t S 1\nVAR_HANDLE -> a\nREAD_VARIABLE a -> w\nCONV_2D x w -> b 1=1 2=1\n"
			 "IF t a x -> 0=1 1=1\nmore\na j\ns f 8,3,3,8\nends a s -> \n"
			 "ASSIGN_VARIABLE a s -> _\n",
	       "", "one that only a branch changes is no constant around it");
	refuse(BRANCHES("c S 1\n") "more\ns f 2,8\nr f 2,8\nends s -> r\nABS s -> r\n",
	       "a branch does not read and make what its IF does", "a branch with less to read");
	refuse("x f 1,8\na f 1,8\nIF x -> a 0=1 1=2\n", "it has no graph 1",
	       "a branch without a graph");
	refuse("x f 1,8\na f 1,8\nIF x -> a 0=0 1=0\n", "its graphs are more than 8 deep",
	       "branches within themselves");
}

/* A loop of three turns, each of which multiplies if its number is above `least`. */
#define CHOOSING_LOOP(least)                                                                       \
	LOOP "m S " least "\nb j\nends i s -> n r\nADD i one -> n\nLESS m i -> b\n"                \
	     "IF b s -> r 0=3 1=4\n"                                                               \
	     "more\ns f 2,8\nw f 8,8\nr f 2,8\nends s -> r\nFULLY_CONNECTED s w _ -> r\n"          \
	     "more\ns f 2,8\nr f 2,8\nends s -> r\nABS s -> r\n"

static void test_choosing_loops(void)
{
	expect(CHOOSING_LOOP("-1"), "2x8:8x5; 2x8:8x8 x3", "a loop that multiplies in each turn");
	ok(!was_said("the larger branch counts"), "which is known");
	expect(CHOOSING_LOOP("1"), "2x8:8x5; 2x8:8x8 x3", "or in its last turn alone");
	ok(was_said("the larger branch counts of: r"), "counts its larger branch, and says so");
	expect(CHOOSING_LOOP("5"), "2x8:8x5", "or in none");
}

/* A graph that runs once where it is called. */
#define CALLED(call)                                                                               \
	"x f 2,8\nw f 8,8\nv f 5,8\nh f -1,-1\ny f 2,5\n" call "FULLY_CONNECTED h v _ -> y\n"      \
	"more\ns f 2,8\nt f 8,8\nr f 2,8\nends s t -> r\nFULLY_CONNECTED s t _ -> r\n"

static void test_calls_of_graphs(void)
{
	expect(CALLED("STABLEHLO_COMPOSITE x w -> h 1=1\n"), "2x8:8x5; 2x8:8x8",
	       "a composite operator is what it is made of");
	expect(CALLED("CALL x w -> h 0=1\n"), "2x8:8x5; 2x8:8x8", "so is a call of a graph");
	refuse(CALLED("CALL x -> h 0=1\n"), "a graph does not read and make what its call does",
	       "a call with less to read");
	refuse("x f 1,8\na f 1,8\nCALL x -> a 0=0\n", "its graphs are more than 8 deep",
	       "a graph that calls itself");
}

static void test_loops(void)
{
	expect(LOOP "ends i s -> n r\n" BODY, "2x8:8x5; 2x8:8x8 x3", "a loop of three turns");
	ok(!strstr(said.s, "was read"), "all of whose graphs were read");
	refuse(LOOP "ends i s -> r\n" BODY, "does not hand on what it begins with",
	       "a body that loses a state");
	refuse("x f 1,8\na f 1,8\nWHILE x -> a 0=1 1=2\n", "it has no graph 1",
	       "a loop without a graph");
	refuse("x f 1,8\na f 1,8\nWHILE x -> a 0=0 1=0\n", "its graphs are more than 8 deep",
	       "a loop within itself");
	expect(IMAGE A B "VAR_HANDLE -> a\nREAD_VARIABLE a -> w\nCONV_2D x w -> b 1=1 2=1\n", CONV,
	       "weights in a variable");
	expect(IMAGE A B "VAR_HANDLE -> a\nREAD_VARIABLE a -> w\nASSIGN_VARIABLE a v -> _\n"
			 "CONV_2D x w -> b 1=1 2=1\n",
	       "", "a variable that the graph changes");
	ok(was_said("Conv (computed weights) 1"), "has no weights");
}

/* Whatever happens to the bytes, the answer is a list of workloads or a sentence. */
static void attack_text(const char *text, const char *want)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	struct buf whole = BUF_INIT;
	struct writer w;
	size_t refused, silent = 0;

	write_model(&w, text);
	extract_bytes(&x, w.b.s, w.b.n);
	describe(&x, &whole);
	extract_free(&x);
	ok(!strcmp(whole.s, want), "the model as it is: %s", whole.s);
	refused = attack(&format_tflite, &w.b, w.b.n, 5000, &silent);
	/* The last four bytes only fill up. */
	ok(refused + 4 >= w.b.n, "cut off anywhere it is refused (%zu of %zu)", refused, w.b.n);
	ok(!silent, "with bits flipped it is read or refused, and never silently");
	buf_free(&w.b);
	buf_free(&whole);
}

static void test_hostile(void)
{
	attack_text(IMAGE "p I 0,0,1,1,1,1,0,0\nq f 1,16,16,8\n" A B D
			  "s i -1,1568\nr f 1,1568\nk f 10,1568\ny f 1,10\n"
			  "PAD x p -> q\nCONV_2D q w c -> a 0=1 1=1 2=1 3=1\n"
			  "CONV_2D a v c -> b 1=1 2=1\nADD b a -> d 0=1\nRESHAPE d s -> r\n"
			  "FULLY_CONNECTED r k _ -> y\n",
		    CONV " bias,relu; " CONV " bias,add,relu; 1x1568:1568x10");
	attack_text(LOOP "ends i s -> n r\n" BODY, "2x8:8x5; 2x8:8x8 x3");
	attack_text(BRANCHES("c S 0\n") OTHER, "2x8:8x5; 2x8:8x16; 2x16:16x8");
}

static void test_stream(void)
{
	static const size_t steps[] = {1, 999, 1 << 24, 4096};
	struct id hash[4];
	size_t skipped = 0;
	int nodes = 0;
	struct writer w;

	write_model(&w, "x f 4,600\nw W 600,600\nv W 600,600\na f 4,600\nb f 4,600\n"
			"FULLY_CONNECTED x w -> a\nFULLY_CONNECTED a v -> b\n");
	for (int i = 0; i < 4; i++) {
		struct drip d = {(unsigned char *)w.b.s, w.b.n, steps[i], 0};
		struct pull p = {.next = drip_next, .skip = i == 3 ? drip_skip : NULL, .ctx = &d};
		struct arena a = ARENA_INIT;
		struct tflite_model m;
		struct err e = ERR_INIT;
		const unsigned char *head;
		size_t n;

		if (pull_head(&p, &head, &n, &e) || tflite_read(&m, &p, &a, &e))
			diag("%s", e.msg);
		hash[i] = m.hash;
		nodes += m.graph.nnode;
		skipped += d.skipped;
		tflite_free(&m);
		arena_free(&a);
	}
	ok(nodes == 8, "a model can come in blocks of any size");
	ok(hash[0].s[0] && !strcmp(hash[0].s, hash[1].s) && !strcmp(hash[0].s, hash[2].s) &&
		   !strcmp(hash[0].s, hash[3].s),
	   "and has the same hash");
	ok(skipped > 2 * (sizeof zeros - 1000) - (1 << 17), "weights are passed over: %zu bytes",
	   skipped);
	buf_free(&w.b);
}

/* A file with one buffer, which is empty, and one graph: the graph's table. */
static size_t one_graph(struct buf *b)
{
	static const int none[1];
	size_t model, l, graph;

	put32(b, 0);
	buf_str(b, "TFL3");
	model = table(b, 5);
	set32(b, 0, (uint32_t)model);
	refer(b, model, 4, list(b, none, 0));
	l = list(b, none, 1);
	refer(b, model, 2, l);
	graph = table(b, 5);
	set32(b, l + 4, (uint32_t)(graph - l - 4));
	return graph;
}

/* Its only operator: the table. */
static size_t one_operator(struct buf *b, size_t graph)
{
	static const int none[1];
	size_t l = list(b, none, 1), op;

	refer(b, graph, 3, l);
	op = table(b, 5);
	set32(b, l + 4, (uint32_t)(op - l - 4));
	return op;
}

/* A list of 50000 tensors, all of which are the same table: its bytes are few, its shape long. */
static void test_overlap(void)
{
	enum { TENSORS = 50000, DIMS = 4000 };
	struct extract x = {.layout = LAYOUT_NHWC};
	int *none = xcalloc(TENSORS, sizeof *none);
	struct buf b = BUF_INIT;
	size_t graph = one_graph(&b), l, t;

	one_operator(&b, graph);
	l = list(&b, none, TENSORS);
	refer(&b, graph, 0, l);
	t = table(&b, 8);
	for (size_t i = 0; i < TENSORS; i++)
		set32(&b, l + 4 + 4 * i, (uint32_t)(t - (l + 4 + 4 * i)));
	refer(&b, t, 0, list(&b, none, DIMS));
	extract_bytes(&x, b.s, b.n);
	ok(x.failed == 1 && was_said("parts that overlap"), "parts that overlap are refused");
	extract_free(&x);
	buf_free(&b);
	free(none);
}

/* One operator that joins 300000 tensors. */
static void test_links(void)
{
	enum { INPUTS = 300000 };
	struct extract x = {.layout = LAYOUT_NHWC};
	int *none = xcalloc(INPUTS, sizeof *none);
	struct buf b = BUF_INIT;
	size_t op = one_operator(&b, one_graph(&b));

	refer(&b, op, 1, list(&b, none, INPUTS));
	extract_bytes(&x, b.s, b.n);
	ok(x.failed == 1 && was_said("more than 200000 inputs and outputs"),
	   "more inputs than any model has are refused");
	extract_free(&x);
	buf_free(&b);
	free(none);
}

int main(void)
{
	begin();
	test_calls(&spelling);
	test_convolutions();
	test_fusion();
	test_products();
	test_types();
	test_open();
	test_half_bytes();
	test_lists();
	test_unknown();
	test_recurrent();
	test_loops();
	test_calls_of_graphs();
	test_choosing_loops();
	test_branches();
	test_stream();
	test_hostile();
	test_overlap();
	test_links();
	return end();
}
