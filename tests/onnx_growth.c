/* ONNX models that are small, but would become large when they are read: they take memory like
 * their size, or are refused. */
#include <malloc.h>

#include "lib/extract/onnx/onnx.h"
#include "tests/onnx.h"

enum { MB = 1 << 20 };

/* The model (which is consumed) is read, and takes no more than so many bytes. */
static void takes(struct buf *g, int most, const char *what)
{
	struct buf m = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct onnx_model mo = {0};
	struct err e = ERR_INIT;
	struct mallinfo2 before, after;
	struct drip d;
	struct pull p;
	size_t n;
	int r;

	model(&m, g, 13);
	d = (struct drip){(unsigned char *)m.s, m.n, 1 << 16, 0};
	p = (struct pull){.next = drip_next, .ctx = &d};
	before = mallinfo2();
	r = onnx_read(&mo, &p, &a, &e);
	after = mallinfo2();
	n = after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
	if (!ok(!r && n < (size_t)most, "%s takes no more than %d MB", what, most / MB))
		diag("%zu bytes %s", n, r ? e.msg : "");
	onnx_free(&mo);
	arena_free(&a);
	buf_free(&m);
}

static struct buf begun(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "5,7");
	input(&g, "c", "");
	return g;
}

/* n calls "own:f c x -> yI", with that name. */
static struct buf calls(int n, const char *name)
{
	struct buf g = begun();

	for (int i = 0; i < n; i++) {
		struct buf one = BUF_INIT, inner = BUF_INIT;
		char text[40];
		size_t at = 1;

		snprintf(text, sizeof text, "own:f c x -> y%d", i);
		node(&one, text, "");
		while (one.s[at++] & 128) /* its length */
			;
		buf_add(&inner, one.s + at, one.n - at);
		put_str(&inner, 3, name);
		put_buf(&g, 1, &inner);
		buf_free(&one);
	}
	output(&g, "y0");
	return g;
}

/* own:f c x -> y with such a body, which is consumed. */
static void f(struct buf *body)
{
	as_body(body);
	function("f c x -> y", "", body);
}

/* "before cc..c after", with n letters. */
static char *long_text(const char *before, size_t n, const char *after)
{
	struct buf b = BUF_INIT;

	buf_str(&b, before);
	for (size_t i = 0; i < n; i++)
		buf_ch(&b, 'c');
	buf_str(&b, after);
	return b.s;
}

static void test_tensors(void)
{
	struct buf g = begun();

	for (int i = 0; i < 1000; i++) {
		struct buf t = BUF_INIT;
		char name[16];

		snprintf(name, sizeof name, "w%d", i);
		tensor(&t, name, "4096", VALUE_I64);
		put_bytes(&t, 9, "", 1);
		put_buf(&g, 5, &t);
	}
	node(&g, "Relu x -> y", "");
	output(&g, "y");
	takes(&g, 4 * MB, "a thousand tensors without their elements");
}

static void test_functions(void)
{
	struct buf b = BUF_INIT, g;
	char *name;

	for (int i = 0; i < 400; i++) {
		node(&b, "Relu x -> y", "");
		f(&b);
	}
	g = calls(1, "A");
	takes(&g, 4 * MB, "400 functions of one name");

	name = long_text("f", 300, " x -> y");
	node(&b, "Relu x -> y", "");
	as_body(&b);
	function(name, "", &b);
	free(name);
	g = calls(1, "A");
	refuse(&g, "a function whose name has more than 300 bytes", "a function with a long name");
}

static void test_names(void)
{
	struct buf b = BUF_INIT, g;
	char *name;

	node(&b, "Relu x -> p", "");
	node(&b, "Relu p -> y", "");
	f(&b);
	g = calls(2000, "A");
	takes(&g, 8 * MB, "2000 calls of one name");

	name = long_text("Relu x -> ", 300000, "");
	node(&b, name, "");
	free(name);
	node(&b, "Relu x -> y", "");
	f(&b);
	g = calls(200, "A");
	takes(&g, 8 * MB, "200 values of a long name");

	name = long_text("", 300000, " x -> y");
	node(&b, name, "");
	free(name);
	f(&b);
	g = calls(200, "A");
	takes(&g, 8 * MB, "200 nodes of a long type");

	for (int i = 0; i < 200; i++) {
		char text[40];

		snprintf(text, sizeof text, i ? "Relu x -> p%d" : "Relu x -> y", i);
		node(&b, text, "");
	}
	f(&b);
	name = long_text("", 300000, "");
	g = calls(1, name);
	takes(&g, 8 * MB, "200 values in a call of a long name");
	free(name);
}

/* A node with 2000 graphs inside, each of which reads 5 values. */
static void test_captures(void)
{
	struct buf g = begun(), n = BUF_INIT;

	for (int i = 0; i < 2000; i++) {
		struct buf a = BUF_INIT, sub = BUF_INIT;
		char text[16];

		snprintf(text, sizeof text, "g%d", i);
		put_str(&a, 1, text);
		node(&sub, "Sum v1 v2 v3 v4 v5 -> t", "");
		put_buf(&a, 6, &sub);
		put_buf(&n, 5, &a);
	}
	put_str(&n, 2, "y");
	put_str(&n, 4, "Strange");
	put_buf(&g, 1, &n);
	for (int i = 1; i < 6; i++) {
		char text[16];

		snprintf(text, sizeof text, "v%d", i);
		input(&g, text, "5,7");
	}
	output(&g, "y");
	takes(&g, 24 * MB, "a node with 2000 graphs inside");
}

/* What functions make is counted with what the nodes read, make and hold. */
static void test_counts(void)
{
	struct buf b = BUF_INIT, sub = BUF_INIT, g;
	char *name;

	for (int is_inside = 0; is_inside < 2; is_inside++) {
		struct buf text = BUF_INIT;

		buf_str(&text, "Sum x");
		for (int i = 0; i < 2000; i++)
			buf_str(&text, " x");
		buf_str(&text, " -> y");
		node(is_inside ? &sub : &b, text.s, "");
		buf_free(&text);
		if (is_inside) {
			output(&sub, "y");
			node_around(&b, "If c -> y", "", "then_branch", &sub, NULL, NULL);
		}
		f(&b);
		g = calls(2200, "A");
		refuse(&g, "its functions and loops make more than 4194304 nodes and values",
		       is_inside ? "many inputs inside" : "many inputs");
	}

	for (int i = 0; i < 2000; i++)
		put_str(&b, 4, "x");
	function("f c x -> y", "", &b);
	g = calls(2200, "A");
	refuse(&g, "its functions and loops make more than", "functions of inputs alone");

	name = long_text("Relu x -> ", 300000, "");
	node(&sub, name, "");
	free(name);
	node(&sub, "Relu x -> y", "");
	output(&sub, "y");
	node_around(&b, "If c -> y", "", "then_branch", &sub, NULL, NULL);
	f(&b);
	g = calls(1000, "A");
	refuse(&g, "its functions and loops make more than", "long names inside");
}

/* Graphs that a call gives to the nodes of its function. */
static void test_given(void)
{
	struct buf b = BUF_INIT, sub = BUF_INIT, g = begun();
	char text[40];

	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "If c -> y%d", i);
		node(&b, text, "then_branch=@g else_branch=@g");
		snprintf(text, sizeof text, "Relu x -> t%d", i);
		node(&sub, text, "");
	}
	output(&sub, "t0");
	f(&b);
	node_around(&g, "own:f c x -> y", "", "g", &sub, NULL, NULL);
	output(&g, "y");
	refuse(&g, "its functions and loops make more than", "a graph that many nodes take");

	for (int i = 0; i < 3000; i++) {
		struct buf a = BUF_INIT;

		snprintf(text, sizeof text, "a%d", i);
		put_str(&a, 1, text);
		put_str(&a, 21, "none");
		put_buf(&sub, 5, &a);
	}
	put_str(&sub, 2, "y");
	put_str(&sub, 4, "Strange");
	put_buf(&b, 1, &sub);
	as_body(&b);
	for (int i = 0; i < 3000; i++) {
		struct buf a = BUF_INIT;

		snprintf(text, sizeof text, "a%d", i);
		put_str(&a, 1, text);
		put_buf(&b, 11, &a);
	}
	function("f c x -> y", "", &b);
	g = calls(20, "A");
	refuse(&g, "its functions and loops make more than", "many attributes that are looked for");
}

int main(void)
{
	begin();
	test_tensors();
	test_functions();
	test_names();
	test_captures();
	test_counts();
	test_given();
	return end();
}
