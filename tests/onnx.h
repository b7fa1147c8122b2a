/* ONNX models that tests write field by field, so that each test shows the graph it is about. */
#ifndef TL_TESTS_ONNX_H
#define TL_TESTS_ONNX_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "tests/extracting.h"

/* Writing protobuf */

static inline void put_varint(struct buf *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		buf_ch(b, (char)(v | 128));
	buf_ch(b, (char)v);
}

static inline void put_int(struct buf *b, int field, int64_t v)
{
	put_varint(b, (uint64_t)field << 3);
	put_varint(b, (uint64_t)v);
}

static inline void put_bytes(struct buf *b, int field, const void *p, size_t n)
{
	put_varint(b, (uint64_t)field << 3 | 2);
	put_varint(b, n);
	buf_add(b, p, n);
}

static inline void put_str(struct buf *b, int field, const char *s)
{
	put_bytes(b, field, s, strlen(s));
}

static inline void put_buf(struct buf *b, int field, struct buf *m)
{
	put_bytes(b, field, m->s ? m->s : "", m->n);
	buf_free(m);
}

/* Writing ONNX */

/* Numbers of "1,3,224,224" as repeated field, one by one. */
static inline void put_dims(struct buf *b, int field, const char *dims)
{
	for (char *end; *dims; dims = *end ? end + 1 : end)
		put_int(b, field, strtoll(dims, &end, 10));
}

/* An attribute "axis=1", "pads=0,0,1,1", "alpha=0.5", "mode=edge", or in a function "axis=@axis".
 */
static inline void put_attr(struct buf *node, const char *text)
{
	struct buf a = BUF_INIT;
	const char *v = strchr(text, '=') + 1;
	float f = strtof(v, NULL);

	put_bytes(&a, 1, text, (size_t)(v - 1 - text));
	if (*v == '@') {
		put_str(&a, 21, v + 1);
		put_buf(node, 5, &a);
		return;
	}
	if (strspn(v, "-0123456789,") < strlen(v) && strspn(v, "-0123456789.") == strlen(v)) {
		put_varint(&a, 2 << 3 | 5);
		buf_add(&a, &f, sizeof f);
	} else if (strspn(v, "-0123456789,") < strlen(v)) {
		put_str(&a, 4, v);
	} else if (strchr(v, ',')) {
		put_dims(&a, 8, v);
	} else {
		put_int(&a, 3, strtoll(v, NULL, 10));
	}
	put_buf(node, 5, &a);
}

/* Names in "a b c"; "_" is one left out. */
static inline void put_names(struct buf *b, int field, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, " ");

		put_bytes(b, field, names, n == 1 && *names == '_' ? 0 : n);
		names += n + (names[n] == ' ');
	}
}

/* "Conv x w -> y" (or "com.microsoft:FusedConv x w -> y"), with attributes in "group=8
 * pads=1,1,1,1", and with graphs inside (NULL: none), which are consumed. */
static inline void node_around(struct buf *g, const char *text, const char *attrs, const char *name,
			       struct buf *sub, const char *other, struct buf *sub2)
{
	struct buf n = BUF_INIT, in = BUF_INIT, a = BUF_INIT, b = BUF_INIT;
	const char *arrow = strstr(text, " -> "), *space = strchr(text, ' ');
	const char *colon = strchr(text, ':');

	if (space < arrow)
		buf_add(&in, space + 1, (size_t)(arrow - space - 1));
	buf_str(&in, "");
	put_names(&n, 1, in.s);
	put_names(&n, 2, arrow + 4);
	if (colon && colon < space)
		put_bytes(&n, 7, text, (size_t)(colon - text));
	else
		colon = text - 1;
	put_bytes(&n, 4, colon + 1, (size_t)(space - colon - 1));
	while (*attrs) {
		size_t k = strcspn(attrs, " ");
		char one[80];

		snprintf(one, sizeof one, "%.*s", (int)k, attrs);
		put_attr(&n, one);
		attrs += k + (attrs[k] == ' ');
	}
	if (name) {
		put_str(&a, 1, name);
		put_buf(&a, 6, sub);
		put_buf(&n, 5, &a);
	}
	if (other) {
		put_str(&b, 1, other);
		put_buf(&b, 6, sub2);
		put_buf(&n, 5, &b);
	}
	buf_free(&in);
	put_buf(g, 1, &n);
}

static inline void node(struct buf *g, const char *text, const char *attrs)
{
	node_around(g, text, attrs, NULL, NULL, NULL, NULL);
}

static inline void tensor(struct buf *t, const char *name, const char *dims, int elem)
{
	put_dims(t, 1, dims);
	put_int(t, 2, elem);
	put_str(t, 8, name);
}

/* Weights: no data, as if they lay outside. */
static inline void weights(struct buf *g, const char *name, const char *dims)
{
	struct buf t = BUF_INIT;

	tensor(&t, name, dims, VALUE_F32);
	put_buf(g, 5, &t);
}

/* The same of another type. */
static inline void quantized(struct buf *g, const char *name, const char *dims, int elem)
{
	struct buf t = BUF_INIT;

	tensor(&t, name, dims, elem);
	put_buf(g, 5, &t);
}

static inline void ints(struct buf *g, const char *name, const char *values)
{
	struct buf t = BUF_INIT;
	char dims[24];
	int n = 1;

	for (const char *s = values; *s; s++)
		n += *s == ',';
	snprintf(dims, sizeof dims, "%d", *values ? n : 0);
	tensor(&t, name, dims, VALUE_I64);
	put_dims(&t, 7, values);
	put_buf(g, 5, &t);
}

static inline void real(struct buf *g, const char *name, float v)
{
	struct buf t = BUF_INIT;

	tensor(&t, name, "", VALUE_F32);
	put_bytes(&t, 9, &v, sizeof v);
	put_buf(g, 5, &t);
}

/* Field 11: input, 12: output, 13: value_info. Dimensions that are no numbers are symbols. */
static inline void info(struct buf *g, int field, const char *name, const char *dims, int elem)
{
	struct buf v = BUF_INIT, type = BUF_INIT, tt = BUF_INIT, shape = BUF_INIT;

	put_int(&tt, 1, elem);
	while (*dims) {
		struct buf d = BUF_INIT;
		size_t n = strcspn(dims, ",");

		if (strchr("-0123456789", dims[0]))
			put_int(&d, 1, strtoll(dims, NULL, 10));
		else
			put_bytes(&d, 2, dims, n);
		put_buf(&shape, 1, &d);
		dims += n + (dims[n] == ',');
	}
	put_buf(&tt, 2, &shape);
	put_buf(&type, 1, &tt);
	put_str(&v, 1, name);
	put_buf(&v, 2, &type);
	put_buf(g, field, &v);
}

static inline void input(struct buf *g, const char *name, const char *dims)
{
	info(g, 11, name, dims, VALUE_F32);
}

static inline void output(struct buf *g, const char *name)
{
	info(g, 12, name, "", VALUE_F32);
}

/* Functions that the next model brings along. */
static struct buf functions;

/* Nodes have field 7 in the body of a function, not 1 as in a graph. */
static inline void as_body(struct buf *b)
{
	size_t at = 0;

	while (at < b->n) {
		uint64_t len = 0;
		unsigned shift = 0;

		b->s[at++] = (char)(7 << 3 | 2);
		do
			len |= (uint64_t)(b->s[at] & 127) << shift;
		while (shift += 7, b->s[at++] & 128);
		at += len;
	}
}

/* "name in in -> out" in the domain "own", with nodes in body, which is consumed; attrs: what an
 * attribute is where a call does not give it. */
static inline void function(const char *text, const char *attrs, struct buf *body)
{
	struct buf f = BUF_INIT, n = BUF_INIT;
	const char *arrow = strstr(text, " -> "), *space = strchr(text, ' ');

	put_bytes(&f, 1, text, (size_t)(space - text));
	buf_add(&n, space + 1, (size_t)(arrow - space - 1));
	buf_str(&n, "");
	put_names(&f, 4, n.s);
	put_names(&f, 5, arrow + 4);
	buf_free(&n);
	if (*attrs) {
		put_attr(&n, attrs);
		/* That put a field 5, of a node; here it is 11. */
		n.s[0] = (char)(11 << 3 | 2);
		buf_add(&f, n.s, n.n);
		buf_free(&n);
	}
	buf_add(&f, body->s, body->n);
	buf_free(body);
	put_str(&f, 10, "own");
	put_buf(&functions, 25, &f);
}

static inline void model(struct buf *m, struct buf *g, int opset)
{
	struct buf o = BUF_INIT;

	put_int(m, 1, 7);
	put_str(m, 2, "test");
	put_buf(m, 7, g);
	put_int(&o, 2, opset);
	put_buf(m, 8, &o);
	if (functions.n)
		buf_add(m, functions.s, functions.n);
	buf_free(&functions);
}

/* Running the extraction */

static int want_all; /* operators that multiply and add nothing, too */

/* The workloads of a graph, or what was said if it could not be read. The graph is consumed. */
static inline void workloads(struct buf *g, int opset, struct infer_options *o, struct buf *out)
{
	struct extract x = {.layout = LAYOUT_NHWC, .all = want_all};
	struct buf m = BUF_INIT;

	if (o)
		x.infer = *o;
	model(&m, g, opset);
	extract_bytes(&x, m.s, m.n);
	describe(&x, out);
	if (x.failed)
		buf_str(out, said.s);
	extract_free(&x);
	buf_free(&m);
}

static inline void expect(struct buf *g, int opset, const char *want, const char *what)
{
	struct buf got = BUF_INIT;

	workloads(g, opset, NULL, &got);
	if (!ok(!strcmp(got.s, want), "%s", what))
		diag("got  %s\nwant %s", got.s, want);
	buf_free(&got);
}

/* The graph is refused with a sentence that holds text. */
static inline void refuse(struct buf *g, const char *text, const char *what)
{
	struct buf got = BUF_INIT;

	workloads(g, 13, NULL, &got);
	ok(said.s && !strncmp(said.s, "E: ", 3) && was_said(text), "refused: %s", what);
	buf_free(&got);
}

/* An image x of 8 channels, filters w and v, and c, a number for each channel. */
static inline struct buf image(void)
{
	struct buf g = BUF_INIT;

	input(&g, "x", "1,8,14,14");
	weights(&g, "w", "8,8,3,3");
	weights(&g, "v", "8,8,3,3");
	weights(&g, "c", "8");
	return g;
}

#define CONV "mb1_ic8ih14_oc8oh14_kh3ph1"

static inline void conv(struct buf *g, const char *text)
{
	node(g, text, "kernel_shape=3,3 pads=1,1,1,1");
}

static inline void a_model(struct buf *m)
{
	struct buf g = image(), t = BUF_INIT;
	char data[1500] = {0};

	tensor(&t, "big", "375", VALUE_F32);
	put_bytes(&t, 9, data, sizeof data);
	put_buf(&g, 5, &t);
	conv(&g, "Conv x w c -> a");
	node(&g, "Relu a -> b", "");
	node(&g, "Flatten b -> f", "");
	weights(&g, "fc", "1568,10");
	node(&g, "MatMul f fc -> y", "");
	output(&g, "y");
	model(m, &g, 13);
}

/* The graph (which is consumed) as a model, cut off at each byte, and with bits flipped: it is read
 * or refused, and never silently. */
static inline void attack_model(struct buf *g, int opset, const char *what)
{
	size_t refused = 0, silent = 0;
	struct buf m = BUF_INIT;
	struct rng r;

	model(&m, g, opset);
	for (size_t n = 0; n < m.n; n++) {
		struct extract cut = {.layout = LAYOUT_NHWC, .all = want_all};

		extract_bytes(&cut, m.s, n);
		refused += cut.failed == 1;
		extract_free(&cut);
	}
	ok(refused + 200 > m.n, "%s: cut off it is refused (%zu of %zu)", what, refused, m.n);
	rng_seed(&r, 1, what);
	for (int i = 0; i < 3000; i++) {
		struct extract flip = {.layout = LAYOUT_NHWC, .all = want_all};
		char *s = xmalloc(m.n);

		memcpy(s, m.s, m.n);
		for (uint64_t k = rng_below(&r, 4) + 1; k--;)
			s[rng_below(&r, m.n)] ^= (char)(1 << rng_below(&r, 8));
		extract_bytes(&flip, s, m.n);
		silent += !flip.failed && !said.n;
		extract_free(&flip);
		free(s);
	}
	ok(!silent, "%s: with bits flipped it is read or refused, and never silently", what);
	buf_free(&m);
}

#endif
