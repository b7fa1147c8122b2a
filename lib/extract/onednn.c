#include "lib/extract/onednn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One side of a matrix product, "1x12x128x64". -1: malformed. */
static int read_dims(const char **s, int64_t *dim, int *n)
{
	for (*n = 0; isdigit((unsigned char)**s); (*n)++) {
		char *end;

		if (*n == ONEDNN_RANK)
			return -1;
		dim[*n] = strtoll(*s, &end, 10);
		if (dim[*n] > INT32_MAX)
			return -1;
		*s = end + (*end == 'x');
	}
	return *n < 2 ? -1 : 0;
}

static void put_matmul(struct buf *out, int64_t b, int64_t m, int64_t k, int64_t n)
{
	if (b == 1)
		buf_fmt(out, "%lldx%lld:%lldx%lld", (long long)m, (long long)k, (long long)k,
			(long long)n);
	else
		buf_fmt(out, "%lldx%lldx%lld:%lldx%lldx%lld", (long long)b, (long long)m,
			(long long)k, (long long)b, (long long)k, (long long)n);
}

/* The letters of 1.x, each with its number. */
static int letters(const char *s, struct buf *out, struct onednn_shape *shape)
{
	static const char names[] = "bmnk";
	int64_t size[4] = {0};

	while (*s) {
		const char *at = strchr(names, *s++);
		char *end;

		if (!at || size[at - names] || !isdigit((unsigned char)*s))
			return -1;
		size[at - names] = strtoll(s, &end, 10);
		s = end;
	}
	if (size[0])
		shape->dim[shape->rank++] = size[0];
	shape->dim[shape->rank++] = size[1];
	shape->dim[shape->rank++] = size[2];
	put_matmul(out, size[0] ? size[0] : 1, size[1], size[3], size[2]);
	return 0;
}

int onednn_matmul(const char *text, struct buf *out, struct onednn_shape *shape)
{
	int64_t a[ONEDNN_RANK], b[ONEDNN_RANK], rows = 1, batch = 1;
	int na, nb;

	shape->rank = 0;
	if (*text == 'b' || *text == 'm')
		return letters(text, out, shape);
	if (read_dims(&text, a, &na) || *text++ != ':' || read_dims(&text, b, &nb) || na != nb)
		return -1;
	shape->rank = na;
	shape->dim[na - 2] = a[na - 2];
	shape->dim[na - 1] = b[nb - 1];
	for (int i = 0; i + 2 < na; i++) {
		int64_t d = a[i] > b[i] ? a[i] : b[i];

		shape->dim[i] = d;
		if ((a[i] != d && a[i] != 1) || __builtin_mul_overflow(rows, d, &rows) ||
		    (b[i] != d && b[i] != 1) || __builtin_mul_overflow(batch, b[i], &batch))
			return -1;
	}
	if (a[na - 1] != b[nb - 2])
		return -1;
	if (batch > 1) {
		put_matmul(out, rows, a[na - 2], a[na - 1], b[nb - 1]);
		return 0;
	}
	if (__builtin_mul_overflow(rows, a[na - 2], &rows)) /* one matrix for all rows */
		return -1;
	put_matmul(out, 1, rows, a[na - 1], b[nb - 1]);
	return 0;
}

int onednn_inner_product(const char *text, struct buf *out, struct onednn_shape *shape)
{
	int64_t mb = 1, k = 1, oc = 0;

	while (*text) {
		size_t n;
		char *end;
		int64_t v;

		text += strspn(text, "_");
		n = strcspn(text, "0123456789");
		v = strtoll(text + n, &end, 10);
		if (end == text + n || v < 1)
			return -1;
		if (!strncmp(text, "mb", n))
			mb = v;
		else if (!strncmp(text, "oc", n))
			oc = v;
		else if (n != 2 || text[0] != 'i' || __builtin_mul_overflow(k, v, &k))
			return -1;
		text = end;
	}
	if (!oc)
		return -1;
	*shape = (struct onednn_shape){2, {mb, oc}};
	put_matmul(out, 1, mb, k, oc);
	return 0;
}

struct onednn_shape onednn_conv_shape(const struct workload *w)
{
	const int64_t *d = w->dim;

	return (struct onednn_shape){4, {d[CONV_MB], d[CONV_OC], d[CONV_OH], d[CONV_OW]}};
}

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

/* One post-op, NAME or NAME:NUMBER:.. 0: it is not ours. */
static int read_post(const char *s, const struct onednn_shape *shape, struct post_op *p)
{
	const char *name = !strncmp(s, "eltwise_", 8)  ? s + 8
			   : !strncmp(s, "binary_", 7) ? s + 7
						       : s;
	size_t n = strcspn(name, ":+; '");
	const struct library_post *is = library_post(name, n);
	const char *numbers = name[n] == ':' ? name + n + 1 : "";
	char text[POST_TEXT], *end;
	double a = strtod(numbers, &end), b = *end == ':' ? strtod(end + 1, NULL) : 0;

	if (!is || (is_binary(is) && !is_whole(numbers, shape)) ||
	    (is->kind == POST_SILU && *numbers && a != 1) ||
	    (!strcmp(is->name, "sum") && *numbers && a != 1))
		return 0;
	*p = (struct post_op){.kind = is->kind};
	if (is->numbers == 2)
		*p = (struct post_op){is->kind, a, b};
	else if (is->numbers == 1)
		*p = is->kind == POST_CLIP ? (struct post_op){POST_CLIP, 0, a}
					   : (struct post_op){is->kind, a, 0};
	post_print(p, text); /* as we write it: a slope of 0 is relu */
	return !post_parse(p, text, strlen(text));
}

void onednn_posts_read(const char *list, const struct onednn_shape *shape, struct workload *w)
{
	for (const char *s = list; *s && *s != ' ';) {
		struct post_op p;

		s += strspn(s, "'+;");
		if (!*s || *s == ' ' || !read_post(s, shape, &p) || workload_has_post(w, p.kind) ||
		    w->npost == OP_MAX_POSTS)
			return;
		w->post[w->npost++] = p;
		s += strcspn(s, "+; '");
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
