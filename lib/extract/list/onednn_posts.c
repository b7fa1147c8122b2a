/* Post-ops of oneDNN, in the words of its verbose lines and of benchdnn. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/list/listing.h"
#include "lib/extract/list/onednn.h"
#include "lib/extract/list/told.h"

/* A mask has a bit for each dimension in which there is more than one value, and perhaps for
 * others.
 */
int onednn_is_row(long mask, const struct onednn_shape *s)
{
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] > 1 && (mask >> i & 1) != (i == s->rank - 1))
			return 0;
	return 1;
}

/* The library's names of our post-ops, with how many of the numbers behind a name are ours; and how
 * benchdnn is told of one. */
static const struct library_post {
	const char *name, *tell;
	enum post kind;
	int numbers;
} library_posts[] = {{"sum", "sum", POST_ADD, 0},
		     {"add", NULL, POST_ADD, 0},
		     {"mul", "mul:f32:per_tensor", POST_MUL, 0},
		     {"relu", "relu", POST_LEAKY_RELU, 1},
		     {"bounded_relu", NULL, POST_CLIP, 1}, /* from 0 */
		     {"clip", "clip", POST_CLIP, 2},
		     {"hardswish", "hardswish:0.16666667:0.5", POST_HARDSWISH, 0},
		     {"logistic", "logistic", POST_SIGMOID, 0},
		     {"tanh", "tanh", POST_TANH, 0},
		     {"swish", "swish:1", POST_SILU, 0},
		     {"gelu_erf", "gelu_erf", POST_GELU, 0},
		     {"gelu_tanh", "gelu_tanh", POST_GELU_TANH, 0}};
enum { LIBRARY_POSTS = sizeof library_posts / sizeof *library_posts };

static int is_binary(const struct library_post *is)
{
	return !strcmp(is->name, "add") || !strcmp(is->name, "mul");
}

static const struct library_post *library_post(const char *name, size_t n)
{
	for (int i = 0; i < LIBRARY_POSTS; i++)
		if (strlen(library_posts[i].name) == n && !memcmp(library_posts[i].name, name, n))
			return &library_posts[i];
	return NULL;
}

/* Does the operand in "f32:15:.." or "f32:per_tensor" have an element for each of the output's? */
static int is_whole(const char *operand, const struct onednn_shape *s)
{
	const char *text = operand + strcspn(operand, ":+; '");
	long mask;

	if (!strncmp(text, ":per_tensor", 11))
		return 1;
	if (*text != ':' || !isdigit((unsigned char)text[1]))
		return 0;
	mask = strtol(text + 1, NULL, 10);
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] > 1 && !(mask >> i & 1))
			return 0;
	return 1;
}

enum { NUMBERS = 3 };

/* The numbers of "NAME:1:2.5:..", which the rest of the post-op may end; absent ones as they are.
 * Where the next text begins that is no number, or "". */
static const char *read_numbers(const char *s, double number[NUMBERS])
{
	for (int i = 0; i < NUMBERS && *s == ':'; i++) {
		char *end;
		double v = strtod(s + 1, &end);

		if (end == s + 1)
			return s + 1;
		number[i] = v;
		s = end;
	}
	return *s == ':' ? s + 1 : "";
}

static int is_near(double a, double b)
{
	return a - b < 1e-4 && b - a < 1e-4;
}

/* Do the numbers behind a name leave what we mean by it? */
static int numbers_fit(const struct library_post *is, const char *numbers)
{
	int has = *numbers == ':', fits = 1;
	double v[NUMBERS] = {0, 0, 1};
	const char *rest = read_numbers(numbers, v);

	if (!strcmp(is->name, "sum")) /* a factor, a zero point, a type */
		return !has ||
		       (is_near(v[0], 1) && v[1] == 0 && (!*rest || !strncmp(rest, "f32", 3)));
	if (is->kind == POST_SILU)
		fits = !has || is_near(v[0], 1);
	if (is->kind == POST_HARDSWISH)
		fits = !has || (is_near(v[0], 1.0 / 6) && is_near(v[1], 0.5));
	return fits && v[2] == 1; /* and no scale */
}

/* "eltwise_relu" and "binary_add" are "relu" and "add" in other places. */
static const char *without_kind(const char *s)
{
	return !strncmp(s, "eltwise_", 8) ? s + 8 : !strncmp(s, "binary_", 7) ? s + 7 : s;
}

/* One post-op, NAME or NAME:NUMBER:.. 0: it is not ours. */
static int read_post(const char *s, const struct onednn_shape *shape, struct post_op *p)
{
	const char *name = without_kind(s);
	size_t n = strcspn(name, ":+; '");
	const struct library_post *is = library_post(name, n);
	double v[NUMBERS] = {0, 0, 1};
	char text[POST_TEXT];

	if (!is || !(is_binary(is) ? is_whole(name + n + (name[n] == ':'), shape)
				   : numbers_fit(is, name + n)))
		return 0;
	read_numbers(name + n, v);
	*p = (struct post_op){.kind = is->kind};
	if (is->numbers == 2)
		*p = (struct post_op){is->kind, v[0], v[1]};
	else if (is->numbers == 1)
		*p = is->kind == POST_CLIP ? (struct post_op){POST_CLIP, 0, v[0]}
					   : (struct post_op){is->kind, v[0], 0};
	post_print(p, text); /* as we write it: a slope of 0 is relu */
	return !post_parse(p, text, strlen(text));
}

/* Where the next post-op of a list begins, or its end. */
static const char *next_post(const char *s)
{
	return s + strspn(s, "'+;");
}

const char *onednn_posts_read(const char *list, const struct onednn_shape *shape,
			      struct workload *w)
{
	const char *s = next_post(list);
	struct post_op p;

	while (*s && *s != ' ' && read_post(s, shape, &p) && !workload_has_post(w, p.kind) &&
	       w->npost < OP_MAX_POSTS) {
		w->post[w->npost++] = p;
		s = next_post(s + strcspn(s, "+; '"));
	}
	return s;
}

/* The multiply-adds of the depthwise convolution "dw:k3s2p1" of a convolution's result; -1: it is
 * none that we know. */
static int64_t depthwise_macs(const char *s, const struct onednn_shape *shape)
{
	const char *k = s + strcspn(s, "k+; '");
	int kernel, stride, pad;
	int64_t n = 1;

	if (sscanf(k, "k%4ds%4dp%4d", &kernel, &stride, &pad) != 3 || kernel < 1 || stride < 1 ||
	    pad < 0)
		return -1;
	for (int i = 0; i < shape->rank; i++) {
		int64_t size = shape->dim[i];

		if (i >= 2) {
			size = (size + 2 * pad - kernel) / stride + 1;
			size = size > 0 ? size * kernel : 1;
		}
		n = told_times(n, size);
	}
	return n;
}

void onednn_posts_leave(struct listing *l, const char *list, const struct onednn_shape *shape,
			int64_t count)
{
	for (const char *s = next_post(list); *s && *s != ' ';
	     s = next_post(s + strcspn(s, "+; '"))) {
		const char *name = without_kind(s);
		struct buf type = BUF_INIT;

		buf_add(&type, name, strcspn(name, ":+; '"));
		if (!strncmp(type.s, "dw", 2))
			listing_leave(l, "depthwise convolution", "fused behind another", count,
				      depthwise_macs(s, shape));
		else
			listing_leave(l, type.s, "a post-op", count, 0);
		buf_free(&type);
	}
}

static void print_post(const struct post_op *p, struct buf *out)
{
	char text[POST_TEXT];
	enum post kind = p->kind == POST_RELU	 ? POST_LEAKY_RELU
			 : p->kind == POST_RELU6 ? POST_CLIP
						 : p->kind;

	for (int i = 0; i < LIBRARY_POSTS; i++)
		if (library_posts[i].kind == kind && library_posts[i].tell) {
			buf_str(out, library_posts[i].tell);
			break;
		}
	if (p->kind == POST_RELU6)
		buf_str(out, ":0:6");
	post_print(p, text);
	for (const char *c = strchr(text, '('); c && *c != ')'; c++) /* its numbers */
		buf_ch(out, strchr("(,", *c) ? ':' : *c);
}

void onednn_posts_print(const struct workload *w, struct buf *out)
{
	const char *between = "";

	for (int i = 0; i < w->npost; i++) {
		if (w->post[i].kind == POST_BIAS)
			continue;
		buf_str(out, between);
		print_post(&w->post[i], out);
		between = "+";
	}
}
