#include "lib/extract/list/benchdnn_problem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/extract/list/benchdnn_match.h"
#include "lib/extract/list/onednn.h"
#include "lib/extract/list/told.h"

enum { COMBINATIONS_MAX = 1000, DEFAULT_BATCH = 1 };

/* A problem; its text does not have its name, n"name*3". */
struct problem {
	int driver;
	const char *text;
	const char *name;
	size_t length;
	int64_t count;
	struct onednn_shape shape; /* of the result */
};

/* How often a part of a name of n bytes says that the operator occurs, "block*3". *length becomes
 * that of the part without it. */
static int64_t count_of(const char *s, size_t n, size_t *length)
{
	size_t digits = n;
	int64_t count;

	*length = n;
	while (digits && isdigit((unsigned char)s[digits - 1]))
		digits--;
	if (!digits || digits == n || s[digits - 1] != '*')
		return 1;
	count = strtoll(s + digits, NULL, 10);
	if (count < 1 || count > LISTING_COUNT_MAX)
		return 1;
	*length = digits - 1;
	return count;
}

/* "block*3", or "a*3&b*4", which stands for seven operators. */
static void read_name(struct problem *p, const char *s)
{
	size_t n, length, counted = 0;
	int64_t count = 0;

	s += strspn(s, "\\\"");
	n = strcspn(s, "\\\"");
	for (size_t at = 0, part; at <= n; at += part + 1) {
		part = strcspn(s + at, "&\\\"");
		count += count_of(s + at, part, &length);
		counted += length < part;
		p->length = at ? n : length;
	}
	p->name = s;
	p->count = counted ? count : 1;
	if (p->count > LISTING_COUNT_MAX)
		p->count = LISTING_COUNT_MAX;
}

/* "f16", "u8:s8:f32" or, as --cfg has it, "u8s8u8"; nothing is f32. -1: something else. */
static int read_types(const struct benchdnn_choice *c, struct dtypes *to)
{
	const char *s = c->value[BENCHDNN_DT].s;
	int type[3] = {0}, n = 0;

	*to = (struct dtypes){DTYPE_F32, DTYPE_F32, DTYPE_F32};
	if (!*s || benchdnn_says(c, BENCHDNN_DT, "f32_wino"))
		return 0;
	while (*s && n < 3) {
		size_t letters = strspn(s, "abcdefghijklmnopqrstuvwxyz");
		size_t length = letters + strspn(s + letters, "0123456789");

		type[n] = dtype_find(s, length);
		if (type[n++] < 0)
			return -1;
		s += length + (s[length] == ':');
	}
	if (*s || n == 2)
		return -1;
	if (n == 1)
		type[1] = type[2] = type[0];
	return told_types(type[0], type[1], type[2], to);
}

/* 1: channels last, 0: first, -1: it does not say. */
static int is_last(const struct benchdnn_choice *c)
{
	static const char *const names[][2] = {
		{"abx", "axb"},	  {"abc", "acb"},     {"ncw", "nwc"},	 {"abcd", "acdb"},
		{"nchw", "nhwc"}, {"abcde", "acdeb"}, {"ncdhw", "ndhwc"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (int k = 0; k < 2; k++)
			if (benchdnn_says(c, BENCHDNN_STAG, names[i][k]))
				return k;
	return -1;
}

/* The batch that --mb says, or 0. */
static int64_t batch_of(const struct benchdnn_choice *c)
{
	int64_t mb = strtoll(c->value[BENCHDNN_MB].s, NULL, 10);

	return mb > 0 && mb <= INT32_MAX ? mb : 0;
}

/* Does the choice differ from an earlier one in nothing that the driver has? */
static int is_again(const struct benchdnn_choice *c, int d)
{
	const char *bias = c->value[BENCHDNN_BIA_DT].s;

	if (d != BENCHDNN_MATMUL)
		return c->at[BENCHDNN_BIA_MASK] > 0;
	return c->at[BENCHDNN_DIR] > 0 || c->at[BENCHDNN_MB] > 0 ||
	       (c->at[BENCHDNN_BIA_MASK] > 0 && (!*bias || !strcmp(bias, "undef")));
}

/* The bias of one choice. NULL, or why it is none of ours. */
static const char *add_bias(const struct benchdnn_choice *c, const struct problem *p,
			    struct workload *w)
{
	const char *type = c->value[BENCHDNN_BIA_DT].s, *mask = c->value[BENCHDNN_BIA_MASK].s;
	int has_type = *type && strcasecmp(type, "undef") != 0, of;

	if (p->driver != BENCHDNN_MATMUL && benchdnn_says(c, BENCHDNN_DIR, "FWD_B"))
		type = "f32";
	else if (!has_type)
		return NULL;
	if (p->driver == BENCHDNN_MATMUL &&
	    !onednn_is_row(*mask ? strtol(mask, NULL, 10) : 2, &p->shape))
		return "with another bias";
	w->post[w->npost++].kind = POST_BIAS;
	of = dtype_find(type, strlen(type));
	return of == DTYPE_F32 || of == DTYPE_S32 || of == (int)w->dtype.dst ? NULL
									     : "with another bias";
}

/* Types, bias, layout, batch and post-ops of one choice. NULL, or why it is none of ours. *rest
 * becomes the post-ops that are not ours. */
static const char *complete(const struct benchdnn_choice *c, struct problem *p, struct workload *w,
			    const char **rest)
{
	int space = w->op == &op_conv3d ? 3 : 2;
	const char *why;

	if (p->driver != BENCHDNN_MATMUL && !strncasecmp(c->value[BENCHDNN_DIR].s, "BWD", 3))
		return "backward";
	if (read_types(c, &w->dtype))
		return "of other types";
	why = add_bias(c, p, w);
	if (why)
		return why;
	if (p->driver == BENCHDNN_CONV && is_last(c) >= 0)
		w->layout = told_layout(space, is_last(c));
	if (p->driver != BENCHDNN_MATMUL && batch_of(c))
		w->dim[p->driver == BENCHDNN_CONV ? CONV_MB : MATMUL_M] = p->shape.dim[0] =
			batch_of(c);
	if (p->driver == BENCHDNN_MATMUL && c->value[BENCHDNN_WTAG].n)
		w->rhs_const = benchdnn_says(c, BENCHDNN_WTAG, "any");
	*rest = onednn_posts_read(c->value[BENCHDNN_POST_OPS].s, &p->shape, w);
	return NULL;
}

/* All combinations of the options of one workload. */
static int take_all(struct listing *l, const struct benchdnn_options *o,
		    const struct workload *from, const struct problem *p, struct err *e)
{
	struct benchdnn_choice c = {{0}, {BUF_INIT}};
	int r = 0, n = 0, more = 1;

	for (; !r && more && n < COMBINATIONS_MAX; n++) {
		struct workload w = *from;
		struct problem chosen = *p;
		const char *why, *rest = "";

		benchdnn_choose(o, &c);
		why = is_again(&c, p->driver) ? "" : complete(&c, &chosen, &w, &rest);
		if (why && *why)
			listing_leave(l, benchdnn_driver_name(p->driver), why, p->count,
				      from->flops / 2);
		if (!why)
			r = workload_finish(&w, e);
		if (!why && !r) {
			onednn_posts_leave(l, rest, &chosen.shape, p->count);
			listing_take(l, &w, p->name, p->length, p->count);
		}
		more = benchdnn_next(o, &c);
	}
	if (!r && more)
		listing_leave(l, "further combinations of options", "", 1, 0);
	benchdnn_choice_free(&c);
	return r;
}

/* Why a problem is no workload; NULL: it may be one. */
static const char *why_left(const struct benchdnn_options *o, const struct problem *p, int matches)
{
	if (matches < 0)
		return "chosen by a pattern that is not understood";
	if (p->driver >= BENCHDNN_OTHER)
		return "";
	if (p->driver == BENCHDNN_MATMUL && *benchdnn_value(o, BENCHDNN_GROUPED))
		return "of groups";
	if (p->driver == BENCHDNN_MATMUL && *benchdnn_value(o, BENCHDNN_ENCODING))
		return "sparse";
	return NULL;
}

/* A problem without its name. */
static int take_problem(struct listing *l, const struct benchdnn_options *o, struct problem *p,
			struct err *e)
{
	struct buf prob = BUF_INIT;
	const char *op = "matmul";
	struct workload w;
	int r = 0;

	if (p->driver == BENCHDNN_CONV)
		op = onednn_conv(p->text, DEFAULT_BATCH, &prob, &p->shape, e);
	else if (p->driver == BENCHDNN_IP)
		r = onednn_inner_product(p->text, DEFAULT_BATCH, &prob, &p->shape, e);
	else
		r = onednn_matmul(p->text, &prob, &p->shape, e);
	if (!op || r)
		r = -1;
	else
		r = workload_from_text(&w, op, prob.s, NULL, NULL, e);
	if (!r && p->driver == BENCHDNN_CONV)
		w.layout = told_layout(w.op == &op_conv3d ? 3 : 2, l->x->layout == LAYOUT_NHWC);
	if (!r)
		r = take_all(l, o, &w, p, e);
	buf_free(&prob);
	return r;
}

/* Cuts the name off, which stands there and remains. */
static void cut_name(char *text, size_t at)
{
	while (at && text[at - 1] == '_')
		at--;
	text[at] = 0;
}

int benchdnn_problem(struct listing *l, const struct benchdnn_options *o, int driver, const char *s,
		     size_t n, struct err *e)
{
	const char *pattern = benchdnn_value(o, BENCHDNN_MATCH), *name, *why;
	struct problem p = {.name = "", .count = 1, .driver = driver};
	struct buf text = BUF_INIT;
	int matches, r = 0;

	while (n && s[n - 1] == ',') /* of a list with commas */
		n--;
	buf_add(&text, s, n);
	name = onednn_name(text.s);
	if (name)
		read_name(&p, name + 1);
	matches = *pattern ? benchdnn_match(pattern, text.s) : 1;
	why = why_left(o, &p, matches);
	if (why) {
		listing_leave(l, benchdnn_driver_name(driver), why, p.count,
			      benchdnn_driver_multiplies(driver) ? -1 : 0);
	} else if (matches) {
		if (name)
			cut_name(text.s, (size_t)(name - text.s));
		p.text = text.s;
		r = take_problem(l, o, &p, e);
	}
	buf_free(&text);
	return r;
}
