/* ONNX models with functions of their own: calls are what the functions hold. */
#include "tests/onnx.h"

/* own:dense x w c -> y: a product with a bias and relu; own:two of two of them. */
static void dense(void)
{
	struct buf b = BUF_INIT;

	node(&b, "Gemm x w c -> p", "transB=@turn");
	node(&b, "Relu p -> y", "");
	as_body(&b);
	function("dense x w c -> y", "turn=1", &b);
}

static void two(void)
{
	struct buf b = BUF_INIT;

	node(&b, "own:dense x w c -> p", "");
	node(&b, "own:dense p v c -> y", "turn=0");
	as_body(&b);
	function("two x w v c -> y", "", &b);
}

static struct buf begun(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "5,7");
	weights(&g, "w", "9,7");
	weights(&g, "v", "9,9");
	weights(&g, "c", "9");
	return g;
}

static void test_calls(void)
{
	struct buf g = begun();

	dense();
	node(&g, "own:dense x w c -> y", "");
	output(&g, "y");
	expect(&g, 13, "5x7:7x9 bias,relu", "a call is the nodes of the function");

	g = begun();
	dense();
	two();
	node(&g, "own:two x w v c -> y", "");
	node(&g, "own:two x w v c -> z", "");
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, "5x7:7x9 bias,relu x2; 5x9:9x9 bias,relu x2", "functions call functions");

	g = begun();
	dense();
	node(&g, "own:dense x w -> y", "");
	node(&g, "own:other y -> z", "");
	output(&g, "z");
	expect(&g, 13, "5x7:7x9 relu", "an input is left out");
	ok(was_said("unknown operators: other"), "and a function that is not there is told");
}

/* A body with an If, whose branches read what the function does. */
static struct buf choosing(void)
{
	struct buf g = begun(), b = BUF_INIT, yes = BUF_INIT, no = BUF_INIT;

	node(&yes, "MatMul q w -> t", "");
	output(&yes, "t");
	node(&no, "MatMul q v -> t", "");
	output(&no, "t");
	node(&b, "Relu x -> q", "");
	node_around(&b, "If c -> y", "", "then_branch", &yes, "else_branch", &no);
	as_body(&b);
	function("choose c x w v -> y", "", &b);
	weights(&g, "a", "7,3");
	weights(&g, "b", "7,4");
	ints(&g, "one", "1");
	ints(&g, "none", "0");
	node(&g, "Cast one -> yes", "to=9");
	node(&g, "Cast none -> no", "to=9");
	node(&g, "own:choose yes x a b -> y", "");
	node(&g, "own:choose no x a b -> z", "");
	output(&g, "y");
	output(&g, "z");
	return g;
}

static void test_inside(void)
{
	struct buf g = choosing();

	expect(&g, 13, "5x7:7x3; 5x7:7x4", "each call has graphs of its own inside");
	g = choosing();
	dense();
	two();
	node(&g, "own:two x w v c -> u", "");
	output(&g, "u");
	attack_model(&g, 13, "functions");
}

/* own:both c d -> y z: If on c and on d, both branches of which are the graph "g" of the call, or
 * one that multiplies by v. */
static void both(void)
{
	struct buf b = BUF_INIT, a = BUF_INIT, g = BUF_INIT;

	node(&b, "If c -> y", "then_branch=@g else_branch=@g");
	node(&b, "If d -> z", "then_branch=@g else_branch=@g");
	as_body(&b);
	node(&g, "MatMul x v -> t", "");
	output(&g, "t");
	put_str(&a, 1, "g");
	put_buf(&a, 6, &g);
	put_buf(&b, 11, &a);
	function("both c d -> y z", "", &b);
}

static void test_given(void)
{
	struct buf g = begun(), sub = BUF_INIT;

	both();
	input(&g, "i", "");
	input(&g, "j", "");
	node(&sub, "Gemm x w c -> p", "transB=1");
	node(&sub, "Relu p -> t", "");
	output(&sub, "t");
	node_around(&g, "own:both i j -> y z", "", "g", &sub, NULL, NULL);
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, "5x7:7x9 bias,relu x2",
	       "each node has a copy of the graph that a call gives");

	memset(&g, 0, sizeof g);
	input(&g, "x", "5,9");
	weights(&g, "v", "9,9");
	input(&g, "i", "");
	both();
	node(&g, "own:both i i -> y z", "");
	output(&g, "y");
	output(&g, "z");
	expect(&g, 13, "5x9:9x9 x2", "or of the function's own, if it gives none");

	g = begun();
	both();
	input(&g, "i", "");
	node(&sub, "MatMul x v -> t", "");
	output(&sub, "t");
	node_around(&g, "own:both i i -> y z", "", "g", &sub, NULL, NULL);
	output(&g, "y");
	attack_model(&g, 13, "graphs of calls");
}

static void test_false(void)
{
	struct buf g = begun(), b = BUF_INIT, yes = BUF_INIT, no = BUF_INIT;

	node(&b, "own:self x -> y", "");
	as_body(&b);
	function("self x -> y", "", &b);
	node(&g, "own:self x -> y", "");
	output(&g, "y");
	refuse(&g, "call each other more than 16 deep", "a function that calls itself");

	g = begun();
	node(&yes, "own:self x -> t", "");
	output(&yes, "t");
	node(&no, "Relu x -> t", "");
	output(&no, "t");
	node_around(&b, "If c -> y", "", "then_branch", &yes, "else_branch", &no);
	as_body(&b);
	function("self c x -> y", "", &b);
	node(&g, "own:self c x -> y", "");
	output(&g, "y");
	refuse(&g, "nested more than 64 deep", "a function that calls itself in a branch");

	for (int i = 0; i < 6; i++) {
		char call[32], name[32];

		for (int k = 0; k < 40; k++) {
			snprintf(call, sizeof call, i ? "own:f%d x -> y%d" : "Relu x -> y%d",
				 i ? i - 1 : k, k);
			node(&b, call, "");
		}
		as_body(&b);
		snprintf(name, sizeof name, "f%d x -> y39", i);
		function(name, "", &b);
	}
	g = begun();
	node(&g, "own:f5 x -> y", "");
	output(&g, "y");
	refuse(&g, "its functions and loops make more than", "functions that multiply each other");
}

int main(void)
{
	begin();
	test_calls();
	test_inside();
	test_given();
	test_false();
	return end();
}
