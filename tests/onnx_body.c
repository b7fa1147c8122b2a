/* ONNX models with graphs inside nodes, and recurrent networks: how often their products count. */
#include "tests/onnx.h"

/* A product by w in a graph of its own. */
static struct buf branch(const char *w, const char *out)
{
	struct buf b = BUF_INIT;
	char text[64];

	snprintf(text, sizeof text, "MatMul x %s -> %s", w, out);
	node(&b, text, "");
	output(&b, out);
	return b;
}

/* condition: how c is made of n, the size of x along its first dimension, which is 4. */
static void branches(const char *condition, const char *want, const char *told, const char *what)
{
	struct buf g = BUF_INIT, yes = branch("w", "t"), no = branch("v", "f");

	input(&g, "x", "4,8");
	info(&g, 11, "n", "", VALUE_BOOL);
	weights(&g, "w", "8,9");
	weights(&g, "v", "8,30");
	weights(&g, "u", "9,5");
	ints(&g, "zero", "0");
	ints(&g, "four", "4");
	node(&g, "Shape x -> s", "");
	node(&g, "Gather s zero -> d", "");
	node(&g, condition, "");
	node_around(&g, "If c -> y", "", "then_branch", &yes, "else_branch", &no);
	node(&g, "MatMul y u -> z", "");
	output(&g, "z");
	if (want)
		expect(&g, 13, want, what);
	else
		refuse(&g, told, what);
	ok(told ? was_said(told) : !strstr(said.s, "not extracted"), "and what is told");
}

static void test_if(void)
{
	branches("Equal d four -> c", "4x9:9x5; 4x8:8x9", NULL, "a condition that holds");
	branches("Identity n -> c", "4x8:8x30", "the larger branch counts of: y",
		 "of branches that nobody chooses the larger one counts");
	branches("Greater d four -> c", NULL, "has inner dimensions 30 and 9",
		 "one that does not hold takes the other branch");
}

static void test_capture(void)
{
	struct buf g = image(), yes = BUF_INIT, no = BUF_INIT;

	info(&g, 11, "n", "", VALUE_BOOL);
	conv(&g, "Conv x w -> a");
	node(&g, "Relu a -> y", "");
	node(&yes, "Sigmoid a -> s", "");
	output(&yes, "s");
	node(&no, "Tanh a -> t", "");
	output(&no, "t");
	node_around(&g, "If n -> z", "", "then_branch", &yes, "else_branch", &no);
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, CONV, "what a graph inside reads is not fused away");

	g = image();
	node_around(&g, "If x -> z", "", "then_branch", &yes, NULL, NULL);
	output(&g, "z");
	refuse(&g, "lacks a branch", "an If with one branch");
}

/* A body whose state is multiplied by w; turns: its number, go: whether it goes on. */
static struct buf looping(const char *turns, const char *go)
{
	struct buf g = BUF_INIT, body = BUF_INIT;

	info(&body, 11, "i", "", VALUE_I64);
	info(&body, 11, "c", "", VALUE_BOOL);
	info(&body, 11, "h", "2,8", VALUE_F32);
	node(&body, go, "");
	node(&body, "MatMul h w -> h2", "");
	node(&body, "Tanh h2 -> h3", "");
	info(&body, 12, "c2", "", VALUE_BOOL);
	output(&body, "h3");
	output(&body, "h2");
	input(&g, "x", "2,8");
	info(&g, 11, "any", "", VALUE_I64);
	weights(&g, "w", "8,8");
	weights(&g, "v", "8,5");
	ints(&g, "three", "3");
	ints(&g, "none", "0");
	ints(&g, "two", "2");
	ints(&g, "many", "9223372036854775807");
	node(&g, "Cast three -> true", "to=9");
	node_around(&g, turns, "", "body", &body, NULL, NULL);
	node(&g, "MatMul last v -> y", "");
	node(&g, "MatMul all v -> z", "");
	output(&g, "y");
	output(&g, "z");
	return g;
}

static void loop(const char *turns, const char *go, const char *want, const char *told)
{
	struct buf g = looping(turns, go);

	expect(&g, 13, want, turns);
	ok(!told || was_said(told), "and what is told");
}

static void test_loop(void)
{
	loop("Loop three true x -> last all", "Identity c -> c2", "2x8:8x5; 6x8:8x5; 2x8:8x8 x3",
	     NULL);
	loop("Loop three _ x -> last all", "Identity c -> c2", "2x8:8x5; 6x8:8x5; 2x8:8x8 x3",
	     NULL);
	loop("Loop three _ x -> last all", "Less i none -> c2", "2x8:8x5; 6x8:8x5; 2x8:8x8 x3",
	     NULL);
	loop("Loop any true x -> last all", "Identity c -> c2", "2x8:8x5; 2x8:8x8",
	     "counted as one turn: last");
	loop("Loop none true x -> last all", "Identity c -> c2", "2x8:8x5", NULL);
	loop("Loop three true x -> last all", "Less i three -> c2", "2x8:8x5; 6x8:8x5; 2x8:8x8 x3",
	     NULL);
	loop("Loop three true x -> last all", "Less i none -> c2", "2x8:8x5 x2; 2x8:8x8", NULL);
	loop("Loop many true x -> last all", "Less i two -> c2", "2x8:8x5; 6x8:8x5; 2x8:8x8 x3",
	     NULL);
	loop("Loop _ true x -> last all", "Less i two -> c2", "2x8:8x5; 6x8:8x5; 2x8:8x8 x3", NULL);
	loop("Loop many true x -> last all", "Identity c -> c2", "2x8:8x5; 2x8:8x8",
	     "counted as one turn: last");
}

/* The same in one model as a Loop, which a recurrent network follows. */
static void test_hostile(void)
{
	struct buf g = looping("Loop three true x -> last all", "Less i three -> c2");

	weights(&g, "r", "1,32,8");
	weights(&g, "i", "1,32,8");
	node(&g, "SplitToSequence all -> s", "axis=1");
	node(&g, "SequenceAt s none -> part", "");
	node(&g, "SequenceInsert s part -> more", "");
	node(&g, "ConcatFromSequence more -> joined", "axis=1");
	node(&g, "LSTM joined i r -> l", "hidden_size=8");
	output(&g, "l");
	attack_model(&g, 13, "bodies");
}

static void test_scan(void)
{
	struct buf g = BUF_INIT, body = BUF_INIT;

	info(&body, 11, "h", "3,8", VALUE_F32);
	info(&body, 11, "e", "3,6", VALUE_F32);
	node(&body, "Concat h e -> he", "axis=1");
	node(&body, "MatMul he w -> h2", "");
	node(&body, "Identity h2 -> h3", "");
	output(&body, "h2");
	output(&body, "h3");
	input(&g, "x", "3,7,6");
	input(&g, "h0", "3,8");
	weights(&g, "w", "14,8");
	weights(&g, "v", "8,5");
	node_around(&g, "Scan h0 x -> last all",
		    "num_scan_inputs=1 scan_input_axes=1, scan_output_axes=1,", "body", &body, NULL,
		    NULL);
	node(&g, "MatMul all v -> y", "");
	output(&g, "y");
	output(&g, "last");
	expect(&g, 13, "21x8:8x5; 3x14:14x8 x7", "a body for each step of a sequence");
}

static void recurrent(const char *type, int gates, int directions, const char *attrs,
		      const char *want)
{
	struct buf g = BUF_INIT;
	char dims[32], text[64];

	input(&g, "x", "7,3,6");
	snprintf(dims, sizeof dims, "%d,%d,6", directions, gates * 8);
	weights(&g, "w", dims);
	snprintf(dims, sizeof dims, "%d,%d,8", directions, gates * 8);
	weights(&g, "r", dims);
	snprintf(text, sizeof text, "%s x w r -> y", type);
	node(&g, text, attrs);
	output(&g, "y");
	expect(&g, 14, want, type);
}

static void test_recurrent(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "7,3,6");
	weights(&g, "w", "1,32,6");
	weights(&g, "r", "1,32,8");
	node(&g, "LSTM x w r -> _ y", "hidden_size=8");
	output(&g, "y");
	expect(&g, 14, "21x6:6x32; 3x8:8x32 x7", "an LSTM that makes its last state alone");
	recurrent("LSTM", 4, 1, "hidden_size=8", "21x6:6x32; 3x8:8x32 x7");
	ok(was_said("100.0 %"), "with all of its multiply-adds");
	recurrent("GRU", 3, 2, "hidden_size=8 direction=bidirectional",
		  "21x6:6x24 x2; 3x8:8x24 x14");
	recurrent("RNN", 1, 1, "hidden_size=8 layout=1", "21x6:6x8; 7x8:8x8 x3");
}

int main(void)
{
	begin();
	test_if();
	test_capture();
	test_loop();
	test_scan();
	test_hostile();
	test_recurrent();
	return end();
}
