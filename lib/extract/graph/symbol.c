#include "lib/extract/graph/symbol.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NESTED_MOST = 32 };

struct reader {
	const char *at;
	const struct map *bound;
	int depth, bad; /* bad: it is no expression, or a name in it has no size */
	void (*name)(void *ctx, const char *name, size_t len);
	void *ctx;
};

static int is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || (c & 0x80);
}

int symbol_is_batch(const char *text)
{
	const char *rest;

	if (!strcmp(text, "N") || !strcmp(text, "bs"))
		return 1;
	if (strncasecmp(text, "batch", 5) != 0)
		return 0;
	rest = text + 5;
	rest += *rest == '_' || *rest == '-' || *rest == ' ';
	return !*rest || !strcasecmp(rest, "size") || !strcasecmp(rest, "dim");
}

static double sum(struct reader *r);

static void space(struct reader *r)
{
	while (*r->at == ' ')
		r->at++;
}

static int next_is(struct reader *r, const char *text)
{
	space(r);
	if (strncmp(r->at, text, strlen(text)) != 0)
		return 0;
	r->at += strlen(text);
	return 1;
}

static int called(const char *s, size_t n, const char *name)
{
	return n == strlen(name) && !strncasecmp(s, name, n);
}

/* What a function makes of one argument, or of what it made so far and the next one. */
static double apply(struct reader *r, const char *s, size_t n, int is_first, double a, double b)
{
	if (is_first && called(s, n, "floor"))
		return floor(a);
	if (is_first && (called(s, n, "ceil") || called(s, n, "ceiling")))
		return ceil(a);
	if (is_first && called(s, n, "integer"))
		return a;
	if (called(s, n, "floordiv") || called(s, n, "cleandiv"))
		return is_first ? a : floor(a / b);
	if (called(s, n, "mod"))
		return is_first ? a : a - b * floor(a / b);
	if (called(s, n, "min"))
		return is_first ? a : fmin(a, b);
	if (called(s, n, "max"))
		return is_first ? a : fmax(a, b);
	if (called(s, n, "add"))
		return is_first ? a : a + b;
	if (called(s, n, "mul"))
		return is_first ? a : a * b;
	if (called(s, n, "pow") || called(s, n, "powbynatural"))
		return is_first ? a : pow(a, b);
	r->bad = 1;
	return 0;
}

static double bound_size(struct reader *r, const char *s, size_t n)
{
	const int64_t *size = r->bound ? map_get(r->bound, s, n) : NULL;

	if (r->name)
		r->name(r->ctx, s, n);
	if (!n || !size)
		r->bad = 1;
	return size ? (double)*size : 1;
}

/* Symbol('s77', positive=True, integer=True), behind its parenthesis: as SymPy tells a name. */
static double quoted(struct reader *r)
{
	const char *s = r->at + 1, *end = *r->at == '\'' ? strchr(s, '\'') : NULL;
	const char *close = end ? strchr(end, ')') : NULL;

	if (!close) {
		r->bad = 1;
		return 0;
	}
	r->at = close + 1;
	return bound_size(r, s, (size_t)(end - s));
}

static double call(struct reader *r, const char *s, size_t n)
{
	double v;

	if (called(s, n, "symbol"))
		return quoted(r);
	v = apply(r, s, n, 1, sum(r), 0);
	while (!r->bad && next_is(r, ","))
		v = apply(r, s, n, 0, v, sum(r));
	if (!next_is(r, ")"))
		r->bad = 1;
	return v;
}

static double name(struct reader *r)
{
	const char *s = r->at;
	size_t n = 0;

	while (is_letter(s[n]))
		n++;
	r->at += n;
	if (next_is(r, "("))
		return call(r, s, n);
	return bound_size(r, s, n);
}

static double factor(struct reader *r)
{
	double v;
	char *end;

	space(r);
	if (next_is(r, "(")) {
		v = sum(r);
		r->bad |= !next_is(r, ")");
	} else if (isdigit((unsigned char)*r->at)) {
		v = (double)strtoll(r->at, &end, 10);
		r->at = end;
	} else {
		v = name(r);
	}
	return v;
}

/* As in Python: -a**2 is -(a**2), and a**b**c is a**(b**c). All nesting comes through here. */
static double power(struct reader *r)
{
	double v;

	if (r->depth == NESTED_MOST) {
		r->bad = 1;
		return 0;
	}
	r->depth++;
	if (next_is(r, "-")) {
		v = -power(r);
	} else {
		v = factor(r);
		if (next_is(r, "**"))
			v = pow(v, power(r));
	}
	r->depth--;
	return v;
}

static double product(struct reader *r)
{
	double v = power(r), b;

	for (;;) {
		if (next_is(r, "//")) {
			v = floor(v / power(r));
		} else if (next_is(r, "/")) {
			v /= power(r);
		} else if (next_is(r, "*")) {
			v *= power(r);
		} else if (next_is(r, "%")) {
			b = power(r);
			v -= b * floor(v / b);
		} else {
			return v;
		}
	}
}

static double sum(struct reader *r)
{
	double v = product(r);

	for (;;) {
		if (next_is(r, "+"))
			v += product(r);
		else if (next_is(r, "-"))
			v -= product(r);
		else
			return v;
	}
}

int symbol_size(const char *text, const struct map *bound, int64_t *size)
{
	const int64_t *whole = map_get(bound, text, strlen(text));
	struct reader r = {.at = text, .bound = bound};
	double v;

	if (whole) { /* whatever the name is made of */
		*size = *whole;
		return 0;
	}
	v = sum(&r);
	space(&r);
	if (r.bad || *r.at || !(v >= 0 && v <= 0x1p40) || fabs(v - nearbyint(v)) > 1e-6)
		return -1;
	*size = (int64_t)nearbyint(v);
	return 0;
}

void symbol_names(const char *text, void (*f)(void *ctx, const char *name, size_t len), void *ctx)
{
	struct reader r = {.at = text, .name = f, .ctx = ctx};

	sum(&r);
}
