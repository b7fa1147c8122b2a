#include "lib/extract/list/onednn.h"

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
		if (size[at - names] < 1 || size[at - names] > INT32_MAX)
			return -1;
		s = end;
	}
	if (!size[1] || !size[2] || !size[3])
		return -1;
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
	if (*text == ':') /* 2.x tells the result's shape, too */
		text += 1 + strspn(text + 1, "0123456789x");
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
	if (a[na - 1] != b[nb - 2] || *text)
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

/* Is the name of n letters this one, all of it? */
static int is_name(const char *text, size_t n, const char *name)
{
	return strlen(name) == n && !memcmp(text, name, n);
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
		if (is_name(text, n, "mb"))
			mb = v;
		else if (is_name(text, n, "oc"))
			oc = v;
		else if (n != 2 || text[0] != 'i' || !strchr("cdhw", text[1]) ||
			 __builtin_mul_overflow(k, v, &k))
			return -1;
		text = end;
	}
	if (!oc)
		return -1;
	*shape = (struct onednn_shape){2, {mb, oc}};
	put_matmul(out, 1, mb, k, oc);
	return 0;
}

/* The number behind a name in "mb1_ic3ih224oc64..", or other if the name is not there. */
static int64_t number_of(const char *text, const char *name, int64_t other)
{
	while (*text) {
		size_t n;

		text += strspn(text, "_");
		n = strcspn(text, "0123456789_");
		if (is_name(text, n, name))
			return strtoll(text + n, NULL, 10);
		text += n + strspn(text + n, "0123456789");
		if (!n && !isdigit((unsigned char)*text) && *text != '_')
			break;
	}
	return other;
}

const char *onednn_conv(const char *text, struct buf *out)
{
	buf_str(out, text);
	if (number_of(text, "id", 0) > 0)
		return "conv3d";
	if (number_of(text, "ih", 0) < 1 && number_of(text, "iw", 0) > 0)
		buf_str(out, "_ih1oh1kh1sh1dh0ph0");
	return "conv2d";
}

int64_t onednn_conv_macs(const char *text, int is_transposed)
{
	const char *const names[] = {"mb",
				     "ic",
				     "oc",
				     "kd",
				     "kh",
				     "kw",
				     is_transposed ? "id" : "od",
				     is_transposed ? "ih" : "oh",
				     is_transposed ? "iw" : "ow"};
	int64_t n = 1, groups = number_of(text, "g", 1);

	if (number_of(text, "ic", 0) < 1 || number_of(text, "oc", 0) < 1 || groups < 1)
		return -1;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		int64_t v = number_of(text, names[i], 1);

		if (v < 1 || __builtin_mul_overflow(n, v, &n))
			return -1;
	}
	return n / groups;
}

struct onednn_shape onednn_conv_shape(const struct workload *w)
{
	const int64_t *d = w->dim;

	if (w->op == &op_conv3d)
		return (struct onednn_shape){
			5, {d[CONV3D_MB], d[CONV3D_OC], d[CONV3D_OD], d[CONV3D_OH], d[CONV3D_OW]}};
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

/* One post-op, NAME or NAME:NUMBER:.. 0: it is not ours. */
static int read_post(const char *s, const struct onednn_shape *shape, struct post_op *p)
{
	const char *name = !strncmp(s, "eltwise_", 8)  ? s + 8
			   : !strncmp(s, "binary_", 7) ? s + 7
						       : s;
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
