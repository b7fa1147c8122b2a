#include "lib/space/types.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dtypes[DTYPES] = {"f32"};
static const char *const layouts[LAYOUTS] = {"nhwc", "nchw", "ab"};
static const char *const posts[POSTS] = {"bias", "add",	       "mul",	    "relu",    "relu6",
					 "clip", "leaky_relu", "hardswish", "sigmoid", "tanh",
					 "silu", "gelu",       "gelu_tanh"};

static int find(const char *const *names, int count, const char *s, unsigned long n)
{
	for (int i = 0; i < count; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], s, n))
			return i;
	return -1;
}

const char *dtype_name(enum dtype d)
{
	assert(d < DTYPES);
	return dtypes[d];
}

const char *layout_name(enum layout l)
{
	assert(l < LAYOUTS);
	return layouts[l];
}

const char *post_name(enum post p)
{
	assert(p < POSTS);
	return posts[p];
}

int dtype_find(const char *s, unsigned long n)
{
	return find(dtypes, DTYPES, s, n);
}

int layout_find(const char *s, unsigned long n)
{
	return find(layouts, LAYOUTS, s, n);
}

int dtype_size(enum dtype d)
{
	assert(d == DTYPE_F32);
	return 4;
}

static int numbers_of(enum post kind)
{
	return kind == POST_CLIP ? 2 : kind == POST_LEAKY_RELU;
}

/* The shortest text that is read as the same float; without the plus sign of an exponent, which
 * joins post-ops in lists. */
static char *print_number(char *to, double value)
{
	char text[24];

	for (int digits = 1; digits <= 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtof(text, NULL) == (float)value)
			break;
	}
	for (const char *s = text; *s; s++)
		if (*s != '+')
			*to++ = *s;
	*to = 0;
	return to;
}

void post_print(const struct post_op *p, char text[POST_TEXT])
{
	char *to = stpcpy(text, post_name(p->kind));

	if (!numbers_of(p->kind))
		return;
	*to++ = '(';
	to = print_number(to, p->a);
	if (numbers_of(p->kind) == 2) {
		*to++ = ',';
		to = print_number(to, p->b);
	}
	*to++ = ')';
	*to = 0;
}

/* A number of n bytes; decimal, and finite as a float. */
static int read_number(const char *s, unsigned long n, double *value)
{
	char text[32], *end;

	if (!n || n >= sizeof text)
		return -1;
	memcpy(text, s, n);
	text[n] = 0;
	if (strspn(text, "+-.0123456789eE") != n)
		return -1;
	*value = (double)strtof(text, &end) + 0.0; /* -0 is 0 */
	return *end || !isfinite(*value) ? -1 : 0;
}

/* The numbers in the parentheses that the n bytes at s end with. */
static const char *read_numbers(struct post_op *p, const char *s, unsigned long n)
{
	int count = numbers_of(p->kind);
	const char *comma = count == 2 ? memchr(s, ',', n) : NULL;
	unsigned long first = comma ? (unsigned long)(comma - s) : n;

	if (count == 2 && !comma)
		return "needs two finite numbers, as in clip(-1,1)";
	if (read_number(s, first, &p->a))
		return count == 2 ? "needs two finite numbers, as in clip(-1,1)"
				  : "needs a finite number, as in leaky_relu(0.1)";
	if (count == 2 && read_number(comma + 1, n - first - 1, &p->b))
		return "needs two finite numbers, as in clip(-1,1)";
	if (p->kind == POST_CLIP && p->a > p->b)
		return "has a lower bound above the upper one";
	return NULL;
}

static struct post_op shortest(struct post_op p)
{
	if (p.kind == POST_CLIP && p.a == 0 && p.b == 6)
		return (struct post_op){.kind = POST_RELU6};
	if (p.kind == POST_LEAKY_RELU && p.a == 0)
		return (struct post_op){.kind = POST_RELU};
	return p;
}

const char *post_parse(struct post_op *p, const char *s, unsigned long n)
{
	const char *open = n ? memchr(s, '(', n) : NULL, *why;
	unsigned long name = open ? (unsigned long)(open - s) : n;
	int kind = find(posts, POSTS, s, name);

	if (kind < 0)
		return "is none; there are bias, add, mul, relu, relu6, clip(a,b), leaky_relu(a), "
		       "hardswish, sigmoid, tanh, silu, gelu and gelu_tanh";
	*p = (struct post_op){.kind = (enum post)kind};
	if (!numbers_of(p->kind))
		return open ? "has no numbers" : NULL;
	if (open && s[n - 1] != ')')
		return "has no closing parenthesis at its end";
	why = read_numbers(p, open ? open + 1 : s, open ? n - name - 2 : 0);
	*p = shortest(*p);
	return why;
}

unsigned long post_span(const char *list)
{
	unsigned long n = 0;
	int inside = 0;

	for (; list[n] && (inside || list[n] != ','); n++)
		inside = list[n] == '(' || (inside && list[n] != ')');
	return n;
}
