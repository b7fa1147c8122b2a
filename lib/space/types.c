#include "lib/space/types.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const dtypes[DTYPES] = {"f32", "f16", "bf16", "tf32", "s32",
					   "s8",  "u8",	 "s4",	 "u4"};
static const char *const layouts[LAYOUTS] = {"nhwc", "nchw", "ab", "ndhwc", "ncdhw"};
static const char *const posts[POSTS] = {
	"bias", "add",	"mul",	"relu",	     "relu6", "clip",  "leaky_relu", "hardswish", "sigmoid",
	"tanh", "silu", "gelu", "gelu_tanh", "scale", "shift", "pad",	     "groups",	  "zeros"};

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

int dtype_bits(enum dtype d)
{
	static const int bits[DTYPES] = {32, 16, 16, 32, 32, 8, 8, 4, 4};

	assert(d < DTYPES);
	return bits[d];
}

int dtype_is_int(enum dtype d)
{
	return d >= DTYPE_S32;
}

int64_t dtype_most(enum dtype d)
{
	const int is_positive = d == DTYPE_U8 || d == DTYPE_U4;

	return is_positive ? ((int64_t)1 << dtype_bits(d)) - 1 : (int64_t)1 << (dtype_bits(d) - 1);
}

int64_t dtype_middle(enum dtype d)
{
	return d == DTYPE_U8 || d == DTYPE_U4 ? (int64_t)1 << (dtype_bits(d) - 1) : 0;
}

int dtypes_equal(const struct dtypes *a, const struct dtypes *b)
{
	return a->src == b->src && a->wei == b->wei && a->dst == b->dst;
}

int dtypes_are_f32(const struct dtypes *d)
{
	return d->src == DTYPE_F32 && d->wei == DTYPE_F32 && d->dst == DTYPE_F32;
}

int dtypes_are_one_real(const struct dtypes *d)
{
	return d->src == d->wei && d->wei == d->dst && !dtype_is_int(d->src);
}

int dtypes_widen(const struct dtypes *d)
{
	return d->src == d->wei && !dtype_is_int(d->src) && d->dst == DTYPE_F32;
}

static int is_byte(enum dtype d)
{
	return d == DTYPE_S8 || d == DTYPE_U8;
}

int dtypes_are_whole(const struct dtypes *d)
{
	return is_byte(d->src) && is_byte(d->wei) && (d->dst == DTYPE_F32 || d->dst == DTYPE_S32);
}

int dtypes_are_bytes(const struct dtypes *d)
{
	return is_byte(d->src) && d->wei == DTYPE_S8 &&
	       (d->dst == DTYPE_F32 || d->dst == DTYPE_S32 || is_byte(d->dst));
}

double dtype_error(enum dtype d, double single)
{
	switch (d) {
	case DTYPE_TF32: /* Both sides are rounded to 11 bits. */
	case DTYPE_F16:	 /* Results are rounded to 11 bits. */
		return fmax(single, 0x1p-9);
	case DTYPE_BF16: /* Results are rounded to 8 bits. */
		return fmax(single, 0x1p-7);
	case DTYPE_S32: /* A result may be off by 1, where the largest ones are some thousands. */
		return fmax(single, 0x1p-13);
	case DTYPE_S8: /* The same, where they end at 127. */
	case DTYPE_U8:
		return fmax(single, 0x1p-6);
	default:
		return single;
	}
}

void dtypes_print(const struct dtypes *d, char text[DTYPES_TEXT])
{
	if (d->src == d->wei && d->wei == d->dst)
		snprintf(text, DTYPES_TEXT, "%s", dtype_name(d->src));
	else
		snprintf(text, DTYPES_TEXT, "%s:%s:%s", dtype_name(d->src), dtype_name(d->wei),
			 dtype_name(d->dst));
}

const char *dtypes_check(const struct dtypes *d)
{
	if (d->src == DTYPE_S32 || d->src == DTYPE_S4 || d->src == DTYPE_U4 || d->wei == DTYPE_S32)
		return "has a type that only results (s32) or only weights (s4 and u4) have";
	if (d->dst == DTYPE_S4 || d->dst == DTYPE_U4)
		return "makes elements of 4 bits, which only weights are";
	if (dtype_is_int(d->src) && !dtype_is_int(d->wei))
		return "has activations of whole numbers, but weights of others";
	if ((d->src == DTYPE_TF32 || d->wei == DTYPE_TF32 || d->dst == DTYPE_TF32) &&
	    !dtypes_are_one_real(d))
		return "has tf32 beside other types, but it says of all how products are computed";
	if (!dtype_is_int(d->src) && dtype_is_int(d->dst))
		return "makes whole numbers of others";
	return NULL;
}

const char *dtypes_parse(struct dtypes *d, const char *s, unsigned long n)
{
	int type[3], count = 0;

	for (unsigned long at = 0; at <= n && count < 3; count++) {
		const char *colon = memchr(s + at, ':', n - at);
		unsigned long length = colon ? (unsigned long)(colon - s) - at : n - at;

		type[count] = dtype_find(s + at, length);
		if (type[count] < 0)
			return "is none; there are f32, f16, bf16, tf32, s32, s8, u8, s4 and "
			       "u4, and "
			       "three of them such as u8:s8:f32, for source, weights and result";
		at += length + 1;
		if (at > n && count == 0)
			type[1] = type[2] = type[0];
		else if (at > n && count == 1)
			return "names two types, not one or three";
		else if (at <= n && count == 2)
			return "names more than three types";
	}
	*d = (struct dtypes){(enum dtype)type[0], (enum dtype)type[1], (enum dtype)type[2]};
	return dtypes_check(d);
}

static int numbers_of(enum post kind)
{
	return kind == POST_CLIP ? 2 : kind == POST_LEAKY_RELU || kind == POST_GROUPS;
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
		return count == 2		? "needs two finite numbers, as in clip(-1,1)"
		       : p->kind == POST_GROUPS ? "needs a number, as in groups(32)"
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
		       "hardswish, sigmoid, tanh, silu, gelu, gelu_tanh, scale, shift, pad, "
		       "groups(a) and zeros";
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
