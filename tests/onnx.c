/* ONNX models: figures of real ones, and files that are cut off, false or hostile. */
#include "lib/base/rng.h"
#include "lib/extract/onnx/onnx.h"
#include "tests/onnx.h"

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
	ok(!strstr(said.s, "batch of 1"), "whose size is given");

	memset(&g, 0, sizeof g);
	input(&g, "x", "frames,4,14");
	weights(&g, "w", "8,4,3");
	node(&g, "Transpose x -> a", "perm=2,1,0");
	node(&g, "Conv a w -> y", "");
	output(&g, "y");
	refuse(&g,
	       "a window of 3 over 1 padded inputs; 'frames' was taken for a batch of 1, and --dim "
	       "frames=SIZE gives another size",
	       "a window larger than what was taken for a batch of 1");

	memset(&g, 0, sizeof g);
	input(&g, "x", "-1,4,14");
	weights(&g, "w", "8,4,3");
	node(&g, "Transpose x -> a", "perm=2,1,0");
	node(&g, "Conv a w -> y", "");
	output(&g, "y");
	refuse(&g,
	       "a dimension of 'x' was taken for a batch of 1, and --batch or --shape give another "
	       "size",
	       "which has no name");

	memset(&g, 0, sizeof g);
	input(&g, "x", "1,4,14,14");
	weights(&g, "w", "8,4,0,3");
	node(&g, "Conv x w -> y", "");
	output(&g, "y");
	refuse(&g, "the node y (Conv) has a kernel of size 0", "a kernel without elements");

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
	input(&g, "x", "N,4");
	node(&g, "ai.onnx.ml:Scaler x -> a", "");
	node(&g, "ai.onnx.ml:TreeEnsembleClassifier a -> y p", "");
	node(&g, "Cast y -> z", "to=7");
	output(&g, "z");
	refuse(&g, "a model of classical machine learning (Scaler of ai.onnx.ml)", "a forest");

	memset(&g, 0, sizeof g);
	input(&g, "x", "5,6");
	weights(&g, "w", "7,8");
	node(&g, "MatMul x w -> y", "");
	output(&g, "y");
	refuse(&g, "inner dimensions 6 and 7", "inner dimensions that differ");
}

/* Elements of a tensor that are written as something else than their field's are no weights that
 * are passed over. */
static void test_wire_types(void)
{
	static const struct {
		int field, type;
		const char *says;
	} wrong[] = {{4, 0, "field 4 of a message is a varint instead of 32 bits"},
		     {5, 5, "field 5 of a message is 32 bits instead of a varint"},
		     {6, 0, "field 6 of a message is a varint instead of bytes"},
		     {7, 1, "field 7 of a message is 64 bits instead of a varint"},
		     {9, 0, "field 9 of a message is a varint instead of bytes"},
		     {9, 5, "field 9 of a message is 32 bits instead of bytes"},
		     {10, 5, "field 10 of a message is 32 bits instead of 64 bits"}};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct buf g = BUF_INIT, t = BUF_INIT;

		input(&g, "x", "1,8");
		tensor(&t, "w", "8,4", VALUE_F32);
		put_varint(&t, (uint64_t)(wrong[i].field << 3 | wrong[i].type));
		buf_add(&t, "\0\0\0\0\0\0\0\0", wrong[i].type == 5 ? 4 : wrong[i].type ? 8 : 1);
		put_buf(&g, 5, &t);
		node(&g, "MatMul x w -> y", "");
		output(&g, "y");
		refuse(&g, wrong[i].says, wrong[i].says);
	}
}

/* The same model byte by byte and in one block gives the same graph and the same hash. */

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

static void test_catalogue(void)
{
	int found = 0;

	for (int i = OP_NONE + 1; i < OPERATORS; i++)
		found += operator_find(operator_rows[i].name) == (enum node_op)i;
	ok(found == OPERATORS - 1 && operator_find("Con") == OP_NONE &&
		   operator_find("") == OP_NONE,
	   "the rows of operators.def are in order (%d are found)", found);
}

int main(void)
{
	begin();
	test_catalogue();
	test_figures();
	test_refusals();
	test_wire_types();
	test_stream();
	test_hostile();
	return end();
}
