/* Logs of oneDNN (ONEDNN_VERBOSE=1), each line of which tells of one execution:
 *
 *   mkldnn_verbose,exec,convolution,IMPL,PROP,fsrc:nchw ...,AUX,PROBLEM,TIME
 *     is 0.x, which tells no engine, no types and no attributes;
 *   dnnl_verbose,exec,cpu,convolution,IMPL,PROP,src_f32::blocked:acdb:f0 ...,ATTRS,AUX,PROBLEM,TIME
 *     is 1.x, and mkldnn_verbose in 1.0;
 *   onednn_verbose,exec,cpu,...
 *     is 2.x and early 3.x, with "primitive," before "exec" in later ones;
 *   onednn_verbose,v1,primitive,exec,cpu,convolution,IMPL,PROP,src:f32:a:blocked:acdb::f0 ...
 *     is 3.5 and later, with a time stamp before "primitive" where one is asked for.
 *
 * What stands before the mark is other programs' output. TIME is in milliseconds.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"
#include "lib/extract/list/dialect.h"
#include "lib/extract/list/onednn.h"
#include "lib/extract/list/told.h"

enum { PARTS_MAX = 24 };

static char *find(char *line)
{
	return (char *)words_in("onednn_verbose, dnnl_verbose, mkldnn_verbose,", line);
}

/* What a line tells. */
struct execution {
	const char *kind, *impl, *prop, *tensors, *attrs, *problem, *time;
	int is_old; /* 0.x */
};

/* Type of tensor "src" in the descriptors: "src_f32::..", "src:f32:..", "src_f32:..". NULL if it is
 * not there. */
static const char *tensor_type(const struct execution *x, const char *tensor)
{
	size_t n = strlen(tensor);

	for (const char *s = strstr(x->tensors, tensor); s; s = strstr(s + 1, tensor))
		if ((s == x->tensors || s[-1] == ' ' || (x->is_old && s[-1] == 'f')) &&
		    (s[n] == '_' || s[n] == ':'))
			return s + n + 1;
	return NULL;
}

/* Likewise, as a value of enum dtype, or -1. */
static int tensor_dtype(const struct execution *x, const char *tensor)
{
	const char *s = tensor_type(x, tensor);

	return s ? dtype_find(s, strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789")) : -1;
}

/* In 0.x the name of the implementation is all that tells of other types. -1: of types that we have
 * no names for. */
static int read_types(const struct execution *x, struct dtypes *to)
{
	if (x->is_old && words_in("int8 x8s8 u8s8 s8s8 bf16 s16s16", x->impl))
		return -1;
	if (x->is_old)
		return 0;
	return told_types(tensor_dtype(x, "src"), tensor_dtype(x, "wei"), tensor_dtype(x, "dst"),
			  to);
}

static void read_layout(const struct execution *x, struct workload *w)
{
	const char *src = tensor_type(x, "src");
	int space = w->op == &op_conv3d ? 3 : 2;
	struct buf text = BUF_INIT;

	buf_add(&text, src ? src : "", src ? strcspn(src, " ") : 0);
	if (strstr(text.s, ":acdb:") || strstr(text.s, ":acdeb:") || !strcmp(text.s, "nhwc"))
		w->layout = told_layout(space, 1);
	else if (strstr(text.s, ":abcd:") || strstr(text.s, ":abcde:") || !strcmp(text.s, "nchw"))
		w->layout = told_layout(space, 0);
	buf_free(&text);
}

/* shape: of the result. Returns the operator's name, or NULL. */
static const char *read_problem(const struct execution *x, struct buf *out,
				struct onednn_shape *shape, struct err *e)
{
	if (!strcmp(x->kind, "convolution"))
		return onednn_conv(x->problem, 1, out, shape, e);
	if (!strcmp(x->kind, "inner_product"))
		return onednn_inner_product(x->problem, 1, out, shape, e) ? NULL : "matmul";
	return onednn_matmul(x->problem, out, shape, e) ? NULL : "matmul";
}

static int has_bias(const struct execution *x)
{
	const char *bias = tensor_type(x, "bia");

	return bias && strncmp(bias, "undef", 5) != 0;
}

/* Has the product a bias, "bia_f32::blocked:ab:f0_mask2", that is not one value a column? */
static int has_other_bias(const struct execution *x, const struct onednn_shape *shape)
{
	const char *bias = tensor_type(x, "bia"), *mask = bias ? strstr(bias, "_mask") : NULL;

	return mask && mask < bias + strcspn(bias, " ") &&
	       !onednn_is_row(strtol(mask + 5, NULL, 10), shape);
}

/* The list of post-ops in a field of attributes. */
static const char *post_list(const char *attrs)
{
	const char *at = words_in("post-ops: post_ops:", attrs);

	return at ? at + strlen("post-ops:") : "";
}

/* What the execution is beyond its problem. NULL, or why it is no workload. *rest becomes the
 * post-ops that are not ours. */
static const char *complete(const struct listing *l, const struct execution *x,
			    const struct onednn_shape *shape, struct workload *w, const char **rest)
{
	if (!strncmp(x->prop, "backward", 8))
		return "backward";
	if (read_types(x, &w->dtype))
		return "of other types";
	if (has_bias(x) && has_other_bias(x, shape))
		return "with another bias";
	if (w->op != &op_matmul) {
		w->layout = told_layout(w->op == &op_conv3d ? 3 : 2, l->x->layout == LAYOUT_NHWC);
		read_layout(x, w);
	}
	if (has_bias(x))
		w->post[w->npost++].kind = POST_BIAS;
	*rest = onednn_posts_read(post_list(x->attrs), shape, w);
	return NULL;
}

static void take_problem(struct listing *l, const struct execution *x)
{
	struct onednn_shape shape = {0, {0}};
	struct buf prob = BUF_INIT;
	struct err e = ERR_INIT;
	struct workload w;
	const char *why, *rest, *op = read_problem(x, &prob, &shape, &e);

	if (!op) {
		listing_leave(l, x->kind, "not a problem we know", 1, -1);
	} else if (workload_from_text(&w, op, prob.s, NULL, NULL, &e)) {
		listing_leave(l, x->kind, e.msg, 1,
			      strcmp(op, "matmul") ? onednn_conv_macs(prob.s, 0) : -1);
	} else {
		int64_t macs = w.flops / 2;

		why = complete(l, x, &shape, &w, &rest);
		if (!why && workload_finish(&w, &e))
			why = e.msg;
		if (why) {
			listing_leave(l, x->kind, why, 1, macs);
		} else {
			onednn_posts_leave(l, rest, &shape, 1);
			listing_take(l, &w, "", 0, 1); /* the last, for the time is its own */
		}
	}
	buf_free(&prob);
}

/* gemm_api is a call of the library's own BLAS, a matrix product. */
static void take(struct listing *l, const struct execution *x)
{
	if (words_are("convolution matmul inner_product gemm_api", x->kind))
		take_problem(l, x);
	else if (!strcmp(x->kind, "deconvolution"))
		listing_leave(l, x->kind, "", 1, onednn_conv_macs(x->problem, 1));
	else
		listing_leave(l, x->kind, "", 1,
			      words_are("rnn gemm brgemm sdpa", x->kind) ? -1 : 0);
	listing_time(l, strtod(x->time, NULL) / 1000);
}

/* The parts behind "exec". 0: they are too few. Lines of gemm_api tell no algorithm, and some have
 * no place for it. */
static int understand(char **part, int n, struct execution *x)
{
	int old = n && strcmp(part[0], "cpu") != 0 && strncmp(part[0], "gpu", 3) != 0;
	int brief = !old && n == 8 && !strcmp(part[1], "gemm_api");

	if (n < (old ? 7 : brief ? 8 : 9))
		return 0;
	if (old)
		*x = (struct execution){part[0], part[1], part[2], part[3],
					"",	 part[5], part[6], 1};
	else
		*x = (struct execution){part[1], part[2],	  part[3],	   part[4],
					part[5], part[7 - brief], part[8 - brief], 0};
	return 1;
}

/* Cuts the line at its commas. Lines that create, or describe the machine, have no "exec". */
static void read(struct listing *l, void *state, char *s)
{
	char *part[PARTS_MAX];
	struct execution x;
	int n = 0, exec = -1;

	(void)state;
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
		listing_leave(l, part[exec - 1], "", 1, 0);
	else if (exec >= 0 && understand(part + exec + 1, n - exec - 1, &x))
		take(l, &x);
	else if (exec >= 0)
		listing_leave(l, "lines that are cut off", "", 1, -1);
}

const struct dialect dialect_verbose = {find, read, NULL, 0, 0};
