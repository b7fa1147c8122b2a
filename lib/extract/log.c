/* Logs of oneDNN (ONEDNN_VERBOSE=1) and lists of benchdnn problems.
 *
 * A verbose line tells of one execution:
 *   onednn_verbose,exec,cpu,convolution,IMPL,PROP,src_f32::blocked:acdb:f0
 * ...,ATTRS,AUX,PROBLEM,TIME     (2.x)
 *   onednn_verbose,v1,primitive,exec,cpu,convolution,IMPL,PROP,src:f32:a:blocked:acdb::f0 ...,...
 * (3.x) and what stands before the mark (other programs' output) is passed over. A list has a
 * problem a line, perhaps behind options: `--conv --dt=f32 mb1_ic3ih224oc64oh112kh7sh2ph3n"conv1"`.
 * The driver holds for the lines that follow, as in benchdnn; of the other options only --dt is
 * looked at.
 *
 * Each line is an instance: log one run of the model.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/extract.h"
#include "lib/extract/tally.h"

enum driver { DRIVER_NONE, DRIVER_CONV, DRIVER_MATMUL, DRIVER_OTHER };
enum { PARTS_MAX = 24, DIMS_MAX = 12 };

struct reader {
	struct extract *x;
	struct collected found;
	struct tally left;
	enum driver driver; /* of a list, as last named */
	int not_f32;
	int64_t line, taken;
};

static int is_verbose(const char *s)
{
	return strstr(s, "onednn_verbose,") || strstr(s, "dnnl_verbose,");
}

/* Begins like a problem: "mb1_..", "ic3ih..", "g32ic..", "128x768:.." */
static int is_problem(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");

	if (n == 0)
		return isdigit((unsigned char)s[0]) && s[strspn(s, "0123456789")] == 'x' &&
		       strchr(s, ':');
	return n <= 2 && isdigit((unsigned char)s[n]) && strstr(s, "ic") && strstr(s, "oc");
}

static int claims(const char *name, const unsigned char *head, size_t n)
{
	char text[PULL_HEAD + 1];

	for (size_t i = 0; i < n; i++)
		if (head[i] < ' ' && !strchr("\t\r\n\033", head[i]))
			return 0;
	memcpy(text, head, n);
	text[n] = 0;
	return n && (extract_name_ends(name, ".log") || is_verbose(text) || is_problem(text) ||
		     !strncmp(text, "--", 2));
}

static void leave(struct reader *r, const char *what, const char *why)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%.40s (%s)", what, why);
	tally_add(&r->left, b.s);
	buf_free(&b);
}

static void take(struct reader *r, const struct workload *w, const char *name, size_t n)
{
	char label[160];

	snprintf(label, sizeof label, "%lld%s%.*s", (long long)r->line, n ? ":" : "",
		 n < 100 ? (int)n : 100, name);
	collect(&r->found, w, label);
	r->taken++;
}

/* One side of a matrix product, "1x12x128x64". -1: malformed. */
static int read_dims(const char **s, int64_t *dim, int *n)
{
	for (*n = 0; isdigit((unsigned char)**s); (*n)++) {
		char *end;

		if (*n == DIMS_MAX)
			return -1;
		dim[*n] = strtoll(*s, &end, 10);
		if (dim[*n] > INT32_MAX)
			return -1;
		*s = end + (*end == 'x');
	}
	return *n < 2 ? -1 : 0;
}

/* oneDNN writes MxK:KxN:MxN with any number of batch dimensions; ours is MxK:KxN or BxMxK:BxKxN. */
static int matmul_prob(const char *text, struct buf *out)
{
	int64_t a[DIMS_MAX], b[DIMS_MAX], rows = 1, batch = 1;
	int na, nb;

	if (read_dims(&text, a, &na) || *text++ != ':' || read_dims(&text, b, &nb) || na != nb)
		return -1;
	for (int i = 0; i + 2 < na; i++) {
		int64_t d = a[i] > b[i] ? a[i] : b[i];

		if ((a[i] != d && a[i] != 1) || __builtin_mul_overflow(rows, d, &rows) ||
		    (b[i] != d && b[i] != 1) || __builtin_mul_overflow(batch, b[i], &batch))
			return -1;
	}
	if (batch == 1) /* one matrix for all rows */
		buf_fmt(out, "%lldx%lld:", (long long)(rows * a[na - 2]), (long long)a[na - 1]);
	else
		buf_fmt(out, "%lldx%lldx%lld:%lldx", (long long)rows, (long long)a[na - 2],
			(long long)a[na - 1], (long long)rows);
	buf_fmt(out, "%lldx%lld", (long long)b[nb - 2], (long long)b[nb - 1]);
	return 0;
}

/* mb1ic512ih7iw7oc4096 is a product of 1x25088 and 25088x4096. */
static int inner_product_prob(const char *text, struct buf *out)
{
	int64_t mb = 1, k = 1, oc = 0;

	while (*text) {
		size_t n = strcspn(text, "0123456789");
		char *end;
		int64_t v = strtoll(text + n, &end, 10);

		if (end == text + n || v < 1)
			return -1;
		while (*text == '_') {
			text++;
			n--;
		}
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
	buf_fmt(out, "%lldx%lld:%lldx%lld", (long long)mb, (long long)k, (long long)k,
		(long long)oc);
	return 0;
}

/* The library's names of our post-ops, and how many of the numbers behind the name are ours. */
static const struct library_post {
	const char *name;
	enum post kind;
	int numbers;
} library_posts[] = {{"sum", POST_ADD, 0},
		     {"binary_add", POST_ADD, 0},
		     {"binary_mul", POST_MUL, 0},
		     {"eltwise_relu", POST_LEAKY_RELU, 1},
		     {"eltwise_bounded_relu", POST_CLIP, 1}, /* from 0 */
		     {"eltwise_clip", POST_CLIP, 2},
		     {"eltwise_hardswish", POST_HARDSWISH, 0},
		     {"eltwise_logistic", POST_SIGMOID, 0},
		     {"eltwise_tanh", POST_TANH, 0},
		     {"eltwise_swish", POST_SILU, 0},
		     {"eltwise_gelu_erf", POST_GELU, 0},
		     {"eltwise_gelu_tanh", POST_GELU_TANH, 0}};

static const struct library_post *library_post(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof library_posts / sizeof *library_posts; i++)
		if (strlen(library_posts[i].name) == n && !memcmp(library_posts[i].name, name, n))
			return &library_posts[i];
	return NULL;
}

/* Does the operand in "f32:15:.." have an element for each of the output's? Its mask has all
 * dimensions then. */
static int is_whole(const char *operand, const struct workload *w)
{
	const char *mask = operand + strcspn(operand, ":+; '");
	long dims = *mask == ':' ? strtol(mask + 1, NULL, 10) : 0;

	return !dims || (w->op == &op_conv2d ? dims == 15 : dims == 3 || dims == 7);
}

/* One post-op, NAME or NAME:NUMBER:.. 0: it is not ours. */
static int read_post(const char *s, const struct workload *w, struct post_op *p)
{
	size_t n = strcspn(s, ":+; '");
	const struct library_post *is = library_post(s, n);
	const char *numbers = s[n] == ':' ? s + n + 1 : "";
	char text[POST_TEXT], *end;
	double a = strtod(numbers, &end), b = *end == ':' ? strtod(end + 1, NULL) : 0;

	if (!is || (!strncmp(s, "binary", 6) && !is_whole(numbers, w)) ||
	    (is->kind == POST_SILU && *numbers && a != 1))
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

/* Post-ops of an attribute field, as far as they are ours; what follows another one stays out. */
static void read_posts(const char *attrs, struct workload *w)
{
	const char *s = strstr(attrs, "post-ops:");

	for (s = s ? s + strlen("post-ops:") : ""; *s && *s != ' ';) {
		struct post_op p;

		s += strspn(s, "'+;");
		if (!read_post(s, w, &p) || workload_has_post(w, p.kind) ||
		    w->npost == OP_MAX_POSTS)
			return;
		w->post[w->npost++] = p;
		s += strcspn(s, "+; '");
	}
}

/* Type of tensor "src" in the descriptors: "src_f32::..", "src:f32:..", "src_f32:..". NULL if it is
 * not there. */
static const char *tensor_type(const char *mds, const char *tensor)
{
	size_t n = strlen(tensor);

	for (const char *s = strstr(mds, tensor); s; s = strstr(s + 1, tensor))
		if ((s == mds || s[-1] == ' ') && (s[n] == '_' || s[n] == ':'))
			return s + n + 1;
	return NULL;
}

static int is_f32(const char *mds, const char *tensor)
{
	const char *s = tensor_type(mds, tensor);

	return s && !strncmp(s, "f32", 3);
}

static void read_layout(const char *mds, struct workload *w)
{
	const char *src = tensor_type(mds, "src");
	char text[200];

	if (w->op != &op_conv2d || !src)
		return;
	snprintf(text, sizeof text, "%.*s", (int)strcspn(src, " "), src);
	if (strstr(text, ":acdb:"))
		w->layout = LAYOUT_NHWC;
	else if (strstr(text, ":abcd:"))
		w->layout = LAYOUT_NCHW;
}

enum part { KIND = 2, PROP = 4, MDS, ATTRS, AUX, PROB, TIME }; /* counted from "exec" */

static int problem(const char *kind, const char *text, const char **op, struct buf *out)
{
	*op = "matmul";
	if (!strcmp(kind, "matmul"))
		return matmul_prob(text, out);
	if (!strcmp(kind, "inner_product"))
		return inner_product_prob(text, out);
	*op = "conv2d";
	buf_str(out, text);
	return 0;
}

static void execution(struct reader *r, char **part)
{
	const char *kind = part[KIND], *mds = part[MDS], *op, *bias = tensor_type(mds, "bia");
	struct buf prob = BUF_INIT;
	struct err e = ERR_INIT;
	struct workload w;

	if (strcmp(kind, "convolution") != 0 && strcmp(kind, "matmul") != 0 &&
	    strcmp(kind, "inner_product") != 0)
		tally_add(&r->left, kind);
	else if (!strncmp(part[PROP], "backward", 8))
		leave(r, kind, "backward");
	else if (!is_f32(mds, "src") || !is_f32(mds, "wei") || !is_f32(mds, "dst"))
		leave(r, kind, "not f32");
	else if (problem(kind, part[PROB], &op, &prob) ||
		 workload_from_text(&w, op, prob.s, NULL, NULL, &e))
		leave(r, kind, e.status ? e.msg : "not a problem we know");
	else {
		if (w.op == &op_conv2d)
			w.layout = r->x->layout;
		read_layout(mds, &w);
		if (bias && strncmp(bias, "undef", 5) != 0)
			w.post[w.npost++].kind = POST_BIAS;
		read_posts(part[ATTRS], &w);
		if (workload_finish(&w, &e))
			leave(r, kind, e.msg);
		else
			take(r, &w, "", 0);
	}
	buf_free(&prob);
}

/* Cuts the line at its commas. Lines that create, or describe the machine, have no "exec". */
static void verbose_line(struct reader *r, char *s)
{
	char *part[PARTS_MAX];
	int n = 0, exec = -1;

	while (s && n < PARTS_MAX) {
		part[n++] = s;
		s = strchr(s, ',');
		if (s)
			*s++ = 0;
	}
	for (int i = 0; i < n && exec < 0; i++)
		if (!strcmp(part[i], "exec"))
			exec = i;
	if (exec >= 0 && exec + TIME < n)
		execution(r, part + exec);
}

static void option(struct reader *r, const char *s, size_t n)
{
	static const char *const others[] = {
		"--deconv",	"--ip",	     "--bnorm",	  "--lnorm", "--pool",
		"--softmax",	"--eltwise", "--binary",  "--rnn",   "--reorder",
		"--sum",	"--concat",  "--shuffle", "--lrn",   "--reduction",
		"--resampling", "--prelu",   "--brgemm",  "--gnorm"};

	if (n == 6 && !memcmp(s, "--conv", n))
		r->driver = DRIVER_CONV;
	else if (n == 8 && !memcmp(s, "--matmul", n))
		r->driver = DRIVER_MATMUL;
	else if (n > 5 && !memcmp(s, "--dt=", 5))
		r->not_f32 = strncmp(s + 5, "f32", 3) != 0 || memchr(s + 8, 'f', n - 8) != NULL;
	else if (n == 7 && !memcmp(s, "--reset", n))
		r->not_f32 = 0;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (n == strlen(others[i]) && !memcmp(s, others[i], n))
			r->driver = DRIVER_OTHER;
}

/* A problem of a list, "...n"name"" at its end. */
static int list_problem(struct reader *r, const char *s, size_t n, struct err *e)
{
	struct buf text = BUF_INIT, prob = BUF_INIT;
	const char *name, *quote;
	int matmul = r->driver == DRIVER_MATMUL ||
		     (r->driver == DRIVER_NONE && isdigit((unsigned char)*s));
	int bad = 0;
	struct workload w;

	buf_add(&text, s, n);
	name = strstr(text.s, "n\"");
	if (name)
		text.s[name++ - text.s] = 0;
	quote = name ? strchr(++name, '"') : NULL;
	if (matmul ? matmul_prob(text.s, &prob) : (buf_str(&prob, text.s), 0))
		bad = err_set(e, "\"%.80s\" is not MxK:KxN or BxMxK:BxKxN", text.s);
	else if (r->driver == DRIVER_OTHER)
		tally_add(&r->left, "problems of other drivers");
	else if (r->not_f32)
		tally_add(&r->left, "problems that are not f32");
	else if (!(bad = workload_from_text(&w, matmul ? "matmul" : "conv2d", prob.s,
					    matmul ? NULL : layout_name(r->x->layout), NULL, e)))
		take(r, &w, name ? name : "",
		     quote  ? (size_t)(quote - name)
		     : name ? strlen(name)
			    : 0);
	buf_free(&text);
	buf_free(&prob);
	return bad;
}

static int list_line(struct reader *r, const char *s, struct err *e)
{
	while (*(s += strspn(s, " \t"))) {
		size_t n = strcspn(s, " \t");

		if (*s == '#')
			return 0;
		if (s[0] == '-' && s[1] == '-')
			option(r, s, n);
		else if (list_problem(r, s, n, e))
			return -1;
		s += n;
	}
	return 0;
}

static void one_line(struct reader *r, struct member *m, struct buf *line)
{
	struct err e = ERR_INIT;
	char *mark;

	if (memchr(line->s, 0, line->n)) {
		tally_add(&r->left, "other lines");
	} else if ((mark = strstr(line->s, "onednn_verbose,")) ||
		   (mark = strstr(line->s, "dnnl_verbose,"))) {
		verbose_line(r, mark);
	} else if (!strncmp(line->s, "--", 2) || is_problem(line->s)) {
		if (list_line(r, line->s, &e))
			extract_bad_line(r->x, m, r->line, &e);
	} else if (line->n && line->s[0] != '#') {
		tally_add(&r->left, "other lines");
	}
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct reader r = {.x = x};
	struct buf line = BUF_INIT, stem = BUF_INIT, left = BUF_INIT;
	int s;

	while ((s = pull_line(&m->bytes, &line, e)) > 0) {
		buf_reserve(&line, 0);
		collect_bytes(&r.found, line.s, line.n);
		collect_bytes(&r.found, "\n", 1);
		r.line++;
		one_line(&r, m, &line);
	}
	extract_stem(m->name, &stem);
	tally_print(&r.left, &left);
	extract_report(x, "%s: %lld instances extracted%s%s", stem.s, (long long)r.taken,
		       left.n ? "; not extracted: " : "", left.n ? left.s : "");
	collect_finish(x, &r.found, m);
	tally_free(&r.left);
	buf_free(&line);
	buf_free(&stem);
	buf_free(&left);
	return s;
}

const struct format format_log = {"log", "logs of oneDNN and lists of benchdnn problems", claims,
				  read};
