/* Logs of oneDNN (ONEDNN_VERBOSE=1) and lists of benchdnn problems (benchdnn.h).
 *
 * A verbose line tells of one execution:
 *   dnnl_verbose,exec,cpu,convolution,IMPL,PROP,src_f32::blocked:acdb:f0
 * ...,ATTRS,AUX,PROBLEM,TIME     (1.x; mkldnn_verbose in 1.0)
 *   onednn_verbose,exec,cpu,convolution,IMPL,...     (2.x and early 3.x, with "primitive," in
 * later) onednn_verbose,v1,primitive,exec,cpu,convolution,IMPL,PROP,src:f32:a:blocked:acdb::f0
 * ...,... (3.5 and later; a time stamp may stand before "exec"), and what stands before the mark
 * (other programs' output) is passed over.
 *
 * Each line is an instance: log one run of the model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/benchdnn.h"
#include "lib/extract/extract.h"
#include "lib/extract/onednn.h"
#include "lib/extract/tally.h"

enum { PARTS_MAX = 24 };

struct reader {
	struct extract *x;
	struct collected found;
	struct tally left;
	struct benchdnn list;
	int64_t line, taken;
};

static const char *const marks[] = {"onednn_verbose,", "dnnl_verbose,", "mkldnn_verbose,"};

/* Where the mark of a verbose line stands, or NULL. */
static char *verbose_mark(const char *s)
{
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		char *at = strstr(s, marks[i]);

		if (at)
			return at;
	}
	return NULL;
}

static int claims(const char *name, const unsigned char *head, size_t n)
{
	char text[PULL_HEAD + 1];

	(void)name;
	for (size_t i = 0; i < n; i++)
		if (head[i] < ' ' && !strchr("\t\r\n\033", head[i]))
			return 0;
	memcpy(text, head, n);
	text[n] = 0;
	return n && (verbose_mark(text) || benchdnn_is_problem(text) || !strncmp(text, "--", 2));
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

/* shape: of a product's result. */
static int problem(const char *kind, const char *text, const char **op, struct buf *out,
		   struct onednn_shape *shape)
{
	*op = "matmul";
	if (!strcmp(kind, "matmul"))
		return onednn_matmul(text, out, shape);
	if (!strcmp(kind, "inner_product"))
		return onednn_inner_product(text, out, shape);
	*op = "conv2d";
	buf_str(out, text);
	return 0;
}

/* Has the product a bias, "bia_f32::blocked:ab:f0_mask2", that is not one value a column? */
static int is_other_bias(const char *bias, const struct onednn_shape *shape)
{
	char text[200], *mask;

	snprintf(text, sizeof text, "%.*s", (int)strcspn(bias, " "), bias);
	mask = strstr(text, "_mask");
	return mask && !onednn_is_row(strtol(mask + 5, NULL, 10), shape);
}

/* The list of post-ops in a field of attributes. */
static const char *post_list(const char *attrs)
{
	static const char *const names[] = {"post-ops:", "post_ops:"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *at = strstr(attrs, names[i]);

		if (at)
			return at + strlen(names[i]);
	}
	return "";
}

static void execution(struct reader *r, char **part)
{
	const char *kind = part[KIND], *mds = part[MDS], *op, *bias = tensor_type(mds, "bia");
	struct buf prob = BUF_INIT;
	struct err e = ERR_INIT;
	struct workload w;
	struct onednn_shape shape = {0, {0}};

	if (strcmp(kind, "convolution") != 0 && strcmp(kind, "matmul") != 0 &&
	    strcmp(kind, "inner_product") != 0)
		tally_add(&r->left, kind);
	else if (!strncmp(part[PROP], "backward", 8))
		leave(r, kind, "backward");
	else if (!is_f32(mds, "src") || !is_f32(mds, "wei") || !is_f32(mds, "dst"))
		leave(r, kind, "not f32");
	else if (problem(kind, part[PROB], &op, &prob, &shape) ||
		 workload_from_text(&w, op, prob.s, NULL, NULL, &e))
		leave(r, kind, e.status ? e.msg : "not a problem we know");
	else if (bias && strncmp(bias, "undef", 5) != 0 && is_other_bias(bias, &shape))
		leave(r, kind, "with another bias");
	else {
		if (w.op == &op_conv2d)
			w.layout = r->x->layout;
		read_layout(mds, &w);
		if (bias && strncmp(bias, "undef", 5) != 0)
			w.post[w.npost++].kind = POST_BIAS;
		if (w.op == &op_conv2d)
			shape = onednn_conv_shape(&w);
		onednn_posts_read(post_list(part[ATTRS]), &shape, &w);
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
	/* What a part of a graph runs inside is logged, too, if at all. */
	if (exec > 0 && (!strcmp(part[exec - 1], "graph") || !strcmp(part[exec - 1], "ukernel")))
		tally_add(&r->left, part[exec - 1]);
	else if (exec >= 0 && exec + TIME < n)
		execution(r, part + exec);
}

static void list_take(void *arg, const struct workload *w, const char *name, size_t n,
		      int64_t count)
{
	char label[160];

	for (int64_t i = 1; i <= count; i++) {
		int k = snprintf(label, sizeof label, "%.*s", n < 100 ? (int)n : 100, name);

		if (count > 1)
			snprintf(label + k, sizeof label - (size_t)k, "*%lld", (long long)i);
		take(arg, w, label, strlen(label));
	}
}

static void list_leave(void *arg, const char *what)
{
	struct reader *r = arg;

	tally_add(&r->left, what);
}

static void one_line(struct reader *r, struct member *m, struct buf *line)
{
	struct err e = ERR_INIT;
	char *mark;

	if (memchr(line->s, 0, line->n)) {
		tally_add(&r->left, "other lines");
	} else if ((mark = verbose_mark(line->s))) {
		verbose_line(r, mark);
	} else if (!strncmp(line->s, "--", 2) || benchdnn_is_problem(line->s)) {
		if (benchdnn_line(&r->list, line->s, &e))
			extract_bad_line(r->x, m, r->line, &e);
	} else if (line->n && line->s[0] != '#') {
		tally_add(&r->left, "other lines");
	}
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct reader r = {.x = x,
			   .list = {.layout = x->layout, .take = list_take, .leave = list_leave}};
	struct buf line = BUF_INIT, stem = BUF_INIT, left = BUF_INIT;
	int s;

	r.list.arg = &r;
	while ((s = pull_line(&m->bytes, &line, e)) > 0) {
		buf_reserve(&line, 0);
		collect_bytes(&r.found, line.s, line.n);
		collect_bytes(&r.found, "\n", 1);
		r.line++;
		one_line(&r, m, &line);
	}
	extract_stem(m, &stem);
	tally_print(&r.left, &left);
	extract_report(x, "%s: %lld instances extracted%s%s", stem.s, (long long)r.taken,
		       left.n ? "; not extracted: " : "", left.n ? left.s : "");
	for (size_t i = 0; x->contents && i < r.left.m.n; i++)
		contents_add_left(x->contents, stem.s, r.left.m.item[i].key,
				  *(int64_t *)r.left.m.item[i].value);
	collect_finish(x, &r.found, m);
	benchdnn_free(&r.list);
	tally_free(&r.left);
	buf_free(&line);
	buf_free(&stem);
	buf_free(&left);
	return s;
}

const struct format format_log = {"log", {".log"}, claims, read};
