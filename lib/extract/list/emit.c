#include "lib/extract/list/emit.h"

#include <ctype.h>
#include <string.h>

#include "lib/extract/list/miopen.h"
#include "lib/extract/list/onednn.h"
#include "lib/io/table.h"

/* Post-ops as lists have them: bias+relu. */
static void put_posts(const struct workload *w, struct buf *out)
{
	char text[POST_TEXT];

	buf_clear(out);
	buf_str(out, "");
	for (int i = 0; i < w->npost; i++) {
		post_print(&w->post[i], text);
		buf_fmt(out, "%s%s", i ? "+" : "", text);
	}
}

static int64_t emit_csv(struct work *const *w, int64_t n, struct buf *out)
{
	static const char *const head[] = {"op", "prob", "layout", "post", "rhs", "count", "dtype"};
	struct buf posts = BUF_INIT;
	struct table t;

	table_init(&t, head, sizeof head / sizeof *head);
	for (int64_t i = 0; i < n; i++) {
		const struct workload *k = &w[i]->w;
		int col = 0;

		put_posts(k, &posts);
		table_row(&t);
		table_cell(&t, col++, "%s", k->op->name);
		table_cell(&t, col++, "%s", k->prob);
		table_cell(&t, col++, "%s", layout_name(k->layout));
		table_cell(&t, col++, "%s", posts.s);
		table_cell(&t, col++, "%s", k->rhs_const ? "" : "computed");
		table_cell(&t, col++, "%zu", w[i]->source.n);
		table_cell(&t, col++, "%s", k->dtype_text);
	}
	table_csv(&t, out);
	table_free(&t);
	buf_free(&posts);
	return 0;
}

/* The model and node of the first source, in letters that need no quotes anywhere. */
static void put_name(const struct work *k, struct buf *out)
{
	const char *s = k->source.n ? k->source.item[0].value : "", *colon = strchr(s, ':');
	const char *node = colon ? strchr(colon + 1, ':') : NULL;

	buf_clear(out);
	buf_add(out, s, colon ? (size_t)(colon - s) : strlen(s));
	if (node)
		buf_str(out, node);
	for (size_t i = 0; i < out->n; i++)
		if (!isalnum((unsigned char)out->s[i]) && !strchr("_.:/-", out->s[i]))
			out->s[i] = '_';
}

/* Appends a command line of benchdnn, without its newline. name: letters that need no quotes in C.
 * -1: there are no words for it, and nothing was written. */
static int benchdnn_print(const struct workload *w, const char *name, int64_t count,
			  struct buf *out)
{
	int bias = workload_has_post(w, POST_BIAS);
	struct buf posts = BUF_INIT;

	/* It takes one number for all channels, or a file. */
	if (workload_has_post(w, POST_SCALE) || workload_has_post(w, POST_SHIFT) ||
	    workload_has_post(w, POST_PAD) || workload_group(w))
		return -1;
	if (w->op == &op_conv2d || w->op == &op_conv3d) {
		int last = w->layout == LAYOUT_NHWC || w->layout == LAYOUT_NDHWC;
		const char *tag = last ? "axb" : "abx";

		buf_fmt(out, "--conv --reset --dir=%s --stag=%s --dtag=%s",
			bias ? "FWD_B" : "FWD_I", tag, tag);
	} else if (w->op == &op_matmul) {
		buf_fmt(out, "--matmul --reset --wtag=%s", w->rhs_const ? "any" : "abx");
		if (bias)
			buf_fmt(out, " --bia_dt=f32 --bia_mask=%d", w->dim[MATMUL_B] > 1 ? 4 : 2);
	} else {
		return -1;
	}
	if (!dtypes_are_f32(&w->dtype))
		buf_fmt(out, " --dt=%s", w->dtype_text);
	onednn_posts_print(w, &posts);
	if (posts.n)
		buf_fmt(out, " --attr-post-ops=%s", posts.s);
	buf_fmt(out, " %sn\"%s", w->prob, name);
	if (count > 1)
		buf_fmt(out, "*%lld", (long long)count);
	buf_ch(out, '"');
	buf_free(&posts);
	return 0;
}

static int64_t emit_benchdnn(struct work *const *w, int64_t n, struct buf *out)
{
	struct buf name = BUF_INIT;
	int64_t left = 0;

	for (int64_t i = 0; i < n; i++) {
		put_name(w[i], &name);
		if (benchdnn_print(&w[i]->w, name.s, (int64_t)w[i]->source.n, out))
			left++;
		else
			buf_ch(out, '\n');
	}
	buf_free(&name);
	return left;
}

/* A line stands for one operator. */
static int64_t emit_miopen(struct work *const *w, int64_t n, struct buf *out)
{
	struct buf line = BUF_INIT;
	int64_t left = 0;

	for (int64_t i = 0; i < n; i++) {
		buf_clear(&line);
		if (miopen_print(&w[i]->w, &line)) {
			left++;
			continue;
		}
		buf_ch(&line, '\n');
		for (size_t k = 0; k < w[i]->source.n; k++)
			buf_add(out, line.s, line.n);
	}
	buf_free(&line);
	return left;
}

int64_t emit(const char *form, struct work *const *w, int64_t n, struct buf *out)
{
	if (!strcmp(form, "csv"))
		return emit_csv(w, n, out);
	return !strcmp(form, "miopen") ? emit_miopen(w, n, out) : emit_benchdnn(w, n, out);
}
