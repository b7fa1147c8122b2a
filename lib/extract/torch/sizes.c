#include "lib/extract/torch/sizes.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 40 };

struct cursor {
	const struct sizes *s;
	const char *p;
	int depth, bad;
};

static int64_t sum(struct cursor *c);

static void skip_space(struct cursor *c)
{
	while (*c->p == ' ')
		c->p++;
}

static int take(struct cursor *c, const char *text)
{
	size_t n = strlen(text);

	skip_space(c);
	if (strncmp(c->p, text, n) != 0)
		return 0;
	c->p += n;
	return 1;
}

static int64_t fail(struct cursor *c)
{
	c->bad = 1;
	return 0;
}

static int64_t floor_divide(struct cursor *c, int64_t a, int64_t b)
{
	if (b <= 0)
		return fail(c);
	return a >= 0 ? a / b : -((-a + b - 1) / b);
}

static int64_t add(struct cursor *c, int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_add_overflow(a, b, &r) ? fail(c) : r;
}

static int64_t multiply(struct cursor *c, int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_mul_overflow(a, b, &r) ? fail(c) : r;
}

static int64_t power(struct cursor *c, int64_t a, int64_t b)
{
	int64_t r = 1;

	if (b < 0 || b > 16)
		return fail(c);
	while (b-- > 0)
		r = multiply(c, r, a);
	return r;
}

static int64_t find(struct cursor *c, const char *name, size_t n)
{
	const int64_t *v = map_get(&c->s->symbol, name, n);

	return v && *v > 0 ? *v : fail(c);
}

/* Symbol('s77', positive=True, integer=True), behind the parenthesis. */
static int64_t symbol(struct cursor *c)
{
	const char *name = c->p + 1, *quote = *c->p == '\'' ? strchr(name, '\'') : NULL;
	const char *close = quote ? strchr(quote, ')') : NULL;

	if (!close)
		return fail(c);
	c->p = close + 1;
	return find(c, name, (size_t)(quote - name));
}

/* What a function makes of its result so far and the next argument. */
static int64_t apply(struct cursor *c, const char *f, size_t n, int64_t a, int64_t b)
{
	static const struct {
		const char *name;
		int64_t (*of)(struct cursor *c, int64_t a, int64_t b);
	} functions[] = {
		{"Add", add},	{"Mul", multiply},	 {"FloorDiv", floor_divide},
		{"Pow", power}, {"PowByNatural", power}, {"CleanDiv", floor_divide},
	};

	if (n == 3 && !memcmp(f, "Min", 3))
		return a < b ? a : b;
	if (n == 3 && !memcmp(f, "Max", 3))
		return a > b ? a : b;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strlen(functions[i].name) == n && !memcmp(f, functions[i].name, n))
			return functions[i].of(c, a, b);
	return fail(c);
}

static int64_t call(struct cursor *c, const char *f, size_t n)
{
	int64_t r;

	if (n == 6 && !memcmp(f, "Symbol", 6))
		return symbol(c);
	r = sum(c);
	while (!c->bad && take(c, ","))
		r = apply(c, f, n, r, sum(c));
	return take(c, ")") ? r : fail(c);
}

static int64_t factor(struct cursor *c)
{
	const char *start;
	int64_t r;

	skip_space(c);
	start = c->p;
	if (take(c, "(")) {
		r = sum(c);
		return take(c, ")") ? r : fail(c);
	}
	if (take(c, "-"))
		return -factor(c);
	if (isdigit((unsigned char)*start)) {
		char *end;

		r = strtoll(start, &end, 10);
		c->p = end;
		return r > (int64_t)1 << 50 ? fail(c) : r;
	}
	while (isalnum((unsigned char)*c->p) || *c->p == '_')
		c->p++;
	if (c->p == start)
		return fail(c);
	r = c->p - start;
	return take(c, "(") ? call(c, start, (size_t)r) : find(c, start, (size_t)r);
}

static int64_t product(struct cursor *c)
{
	int64_t r = factor(c);

	while (!c->bad)
		if (take(c, "**"))
			r = power(c, r, factor(c));
		else if (take(c, "*"))
			r = multiply(c, r, factor(c));
		else if (take(c, "//"))
			r = floor_divide(c, r, factor(c));
		else
			break;
	return r;
}

static int64_t sum(struct cursor *c)
{
	int64_t r = 0;

	if (++c->depth > DEEPEST)
		return fail(c);
	r = product(c);
	while (!c->bad)
		if (take(c, "+"))
			r = add(c, r, product(c));
		else if (take(c, "-"))
			r = add(c, r, -product(c));
		else
			break;
	c->depth--;
	return r;
}

int64_t sizes_evaluate(const struct sizes *s, const char *expression)
{
	struct cursor c = {.s = s, .p = expression};
	int64_t r = sum(&c);

	skip_space(&c);
	return c.bad || *c.p || r < 0 ? 0 : r;
}

int sizes_symbol(const char *expression, char *name, size_t room)
{
	const char *start = expression, *end;

	if (!strncmp(start, "Symbol('", 8)) {
		start += 8;
		end = strchr(start, '\'');
		if (!end || strcspn(end, ")") + 1 != strlen(end))
			return 0;
	} else {
		for (end = start; isalnum((unsigned char)*end) || *end == '_'; end++)
			;
		if (*end || !isalpha((unsigned char)*start))
			return 0;
	}
	if ((size_t)(end - start) >= room)
		return 0;
	memcpy(name, start, (size_t)(end - start));
	name[end - start] = 0;
	return 1;
}
