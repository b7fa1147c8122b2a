#include "lib/extract/list/benchdnn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/list/dialect.h"
#include "lib/extract/list/onednn.h"
#include "lib/extract/list/told.h"

enum {
	COMBINATIONS_MAX = 1000,
	VALUE_MAX_BYTES = 1000, /* of an option */
};

enum driver { NONE, CONV, MATMUL, IP, OTHER };
enum option { DIR, DT, STAG, WTAG, BIA_DT, BIA_MASK, MB, POST_OPS, OPTIONS };

struct batch_file {
	enum driver driver;
	char other[24];		   /* another driver's name */
	struct buf value[OPTIONS]; /* as last said */
};

/* Does a line begin with an option, "--conv" or "--mb=2"? */
static int is_option(const char *s)
{
	return s[0] == '-' && s[1] == '-' && s[2] >= 'a' && s[2] <= 'z';
}

/* Does it begin like a problem: "mb1_..", "ic3ih..", "g32ic..", "128x768:.."? */
static int is_problem(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");

	if (n == 0)
		return isdigit((unsigned char)s[0]) && s[strspn(s, "0123456789")] == 'x' &&
		       strchr(s, ':');
	return n <= 2 && isdigit((unsigned char)s[n]) && strstr(s, "ic") && strstr(s, "oc");
}

static char *find(char *line)
{
	return is_option(line) || is_problem(line) ? line : NULL;
}

static int is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

/* The driver that an option names, NONE if it is another option. */
static enum driver driver_of(const char *s, size_t n)
{
	static const char *const others[] = {
		"--deconv", "--bnorm",	   "--lnorm",	   "--pool",  "--softmax", "--eltwise",
		"--binary", "--rnn",	   "--reorder",	   "--sum",   "--concat",  "--shuffle",
		"--lrn",    "--reduction", "--resampling", "--prelu", "--brgemm",  "--gnorm"};

	if (is_word(s, n, "--conv"))
		return CONV;
	if (is_word(s, n, "--matmul"))
		return MATMUL;
	if (is_word(s, n, "--ip"))
		return IP;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (is_word(s, n, others[i]))
			return OTHER;
	return NONE;
}

static void read_option(struct listing *l, struct batch_file *b, const char *s, size_t n)
{
	static const struct {
		const char *name;
		enum option what;
	} options[] = {{"--dir=", DIR},
		       {"--dt=", DT},
		       {"--cfg=", DT},
		       {"--stag=", STAG},
		       {"--wtag=", WTAG},
		       {"--bia_dt=", BIA_DT},
		       {"--bia-dt=", BIA_DT},
		       {"--bia_mask=", BIA_MASK},
		       {"--bia-mask=", BIA_MASK},
		       {"--mb=", MB},
		       {"--attr-post-ops=", POST_OPS}};
	enum driver driver = driver_of(s, n);

	if (driver)
		b->driver = driver;
	if (driver == OTHER) {
		memcpy(b->other, s + 2, n - 2); /* a driver's name is short */
		b->other[n - 2] = 0;
	}
	for (int i = 0; i < OPTIONS && is_word(s, n, "--reset"); i++)
		buf_clear(&b->value[i]);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		size_t k = strlen(options[i].name);
		struct buf *value = &b->value[options[i].what];

		if (n < k || memcmp(s, options[i].name, k) != 0)
			continue;
		buf_clear(value);
		if (n - k > VALUE_MAX_BYTES)
			listing_leave(l, options[i].name, "a value that is too long", 1, 0);
		else
			buf_add(value, s + k, n - k);
	}
	if (n > 8 && !memcmp(s, "--batch=", 8))
		listing_leave(l, "--batch", "names another file", 1, 0);
}

/* One value of each option. */
struct combination {
	int at[OPTIONS];
	struct buf value[OPTIONS];
};

static int count_values(const struct buf *list)
{
	int n = 1;

	for (size_t i = 0; i < list->n; i++)
		n += list->s[i] == ',';
	return n;
}

static void pick(const struct batch_file *b, struct combination *c)
{
	for (int i = 0; i < OPTIONS; i++) {
		const char *s = b->value[i].n ? b->value[i].s : "";

		for (int k = 0; k < c->at[i]; k++)
			s = strchr(s, ',') + 1;
		buf_clear(&c->value[i]);
		buf_add(&c->value[i], s, strcspn(s, ","));
	}
}

/* The next combination; 0: there is none. */
static int count_on(const struct batch_file *b, struct combination *c)
{
	for (int i = OPTIONS; i-- > 0;) {
		if (++c->at[i] < count_values(&b->value[i]))
			return 1;
		c->at[i] = 0;
	}
	return 0;
}

static int says(const struct combination *c, enum option o, const char *word)
{
	return c->value[o].n == strlen(word) && !strcmp(c->value[o].s, word);
}

/* "f16", "u8:s8:f32" or, as --cfg has it, "u8s8u8"; nothing is f32. -1: something else. */
static int read_types(const struct combination *c, struct dtypes *to)
{
	const char *s = c->value[DT].s;
	int type[3], n = 0;

	*to = (struct dtypes){DTYPE_F32, DTYPE_F32, DTYPE_F32};
	if (!*s || says(c, DT, "f32_wino"))
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
	*to = (struct dtypes){(enum dtype)type[0], (enum dtype)type[1], (enum dtype)type[2]};
	return dtypes_check(to) ? -1 : 0;
}

/* 1: channels last, 0: first, -1: it does not say. */
static int is_last(const struct combination *c)
{
	static const char *const names[][2] = {{"abx", "axb"},
					       {"abcd", "acdb"},
					       {"nchw", "nhwc"},
					       {"abcde", "acdeb"},
					       {"ncdhw", "ndhwc"}};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (int k = 0; k < 2; k++)
			if (says(c, STAG, names[i][k]))
				return k;
	return -1;
}

/* The name at the end of a problem, n"name*3". */
struct label {
	const char *name;
	size_t n;
	int64_t count;
};

static struct label read_label(const char *s)
{
	struct label l = {s, strcspn(s, "\""), 1};
	size_t digits = l.n;

	while (digits && isdigit((unsigned char)s[digits - 1]))
		digits--;
	if (digits && digits < l.n && s[digits - 1] == '*') {
		int64_t count = strtoll(s + digits, NULL, 10);

		if (count >= 1 && count <= LISTING_COUNT_MAX) {
			l.n = digits - 1;
			l.count = count;
		}
	}
	return l;
}

/* The batch that --mb says, or 0. */
static int64_t batch_of(const struct combination *c)
{
	int64_t mb = strtoll(c->value[MB].s, NULL, 10);

	return mb > 0 && mb <= INT32_MAX ? mb : 0;
}

/* Bias, layout, batch and post-ops of one combination. NULL, or why it is none of ours. */
static const char *complete(const struct batch_file *b, const struct combination *c,
			    struct onednn_shape shape, struct workload *w)
{
	int conv = w->op != &op_matmul, space = w->op == &op_conv3d ? 3 : 2,
	    with_dir = conv || b->driver == IP;
	long mask = strtol(c->value[BIA_MASK].s, NULL, 10);
	const char *dt = c->value[BIA_DT].s;

	if (with_dir && !strncmp(c->value[DIR].s, "BWD", 3))
		return "backward";
	if (read_types(c, &w->dtype))
		return "of other types";
	if (with_dir && says(c, DIR, "FWD_B"))
		w->post[w->npost++].kind = POST_BIAS;
	if (!with_dir && *dt && strcmp(dt, "undef") != 0) {
		if (strcmp(dt, "f32") != 0 || (mask && !onednn_is_row(mask, &shape)))
			return "with another bias";
		w->post[w->npost++].kind = POST_BIAS;
	}
	if (conv && is_last(c) >= 0)
		w->layout = told_layout(space, is_last(c));
	if (conv && batch_of(c))
		w->dim[CONV_MB] = batch_of(c);
	if (b->driver == IP && batch_of(c))
		w->dim[MATMUL_M] = shape.dim[0] = batch_of(c);
	if (!with_dir && c->value[WTAG].n)
		w->rhs_const = says(c, WTAG, "any");
	if (conv)
		shape = onednn_conv_shape(w);
	onednn_posts_read(c->value[POST_OPS].s, &shape, w);
	return NULL;
}

static const char *driver_name(const struct batch_file *b, const struct workload *w)
{
	return b->driver == IP ? "ip" : w->op == &op_matmul ? "matmul" : "conv";
}

/* All combinations of the options of one workload. */
static int take_all(struct listing *l, const struct batch_file *b, const struct workload *from,
		    const struct onednn_shape *shape, const struct label *name, struct err *e)
{
	struct combination c = {{0}, {BUF_INIT}};
	int r = 0, n = 0;

	do {
		struct workload w = *from;
		const char *why;

		pick(b, &c);
		why = complete(b, &c, *shape, &w);
		if (why)
			listing_leave(l, driver_name(b, &w), why, name->count, from->flops / 2);
		else if (!(r = workload_finish(&w, e)))
			listing_take(l, &w, name->name, name->n, name->count);
	} while (!r && count_on(b, &c) && ++n < COMBINATIONS_MAX);
	if (n == COMBINATIONS_MAX)
		listing_leave(l, "further combinations of options", "", 1, 0);
	for (int i = 0; i < OPTIONS; i++)
		buf_free(&c.value[i]);
	return r;
}

static void leave_other(struct listing *l, const struct batch_file *b, const struct label *name)
{
	static const char *const multiply[] = {"deconv", "rnn", "brgemm"};
	int64_t macs = 0;

	for (size_t i = 0; i < sizeof multiply / sizeof *multiply; i++)
		if (!strcmp(b->other, multiply[i]))
			macs = -1;
	listing_leave(l, b->other, "", name->count, macs);
}

/* A problem, without its name. */
static int take_problem(struct listing *l, const struct batch_file *b, const char *s,
			const struct label *name, struct err *e)
{
	int product = b->driver == MATMUL || b->driver == IP ||
		      (b->driver == NONE && isdigit((unsigned char)*s));
	struct onednn_shape shape = {0, {0}};
	struct buf prob = BUF_INIT;
	const char *op = "matmul";
	struct workload w;
	int r = 0;

	if (b->driver == IP)
		r = onednn_inner_product(s, &prob, &shape);
	else if (product)
		r = onednn_matmul(s, &prob, &shape);
	else
		op = onednn_conv(s, &prob);
	if (r)
		r = err_set(e, "\"%.80s\" is not %s", s,
			    b->driver == IP ? "mb1ic2ih3iw3oc4" : "MxK:KxN or BxMxK:BxKxN");
	else
		r = workload_from_text(&w, op, prob.s, NULL, NULL, e);
	if (!r && !product)
		w.layout = told_layout(w.op == &op_conv3d ? 3 : 2, l->x->layout == LAYOUT_NHWC);
	if (!r)
		r = take_all(l, b, &w, &shape, name, e);
	buf_free(&prob);
	return r;
}

/* A problem of n bytes, perhaps with n"name" at its end. */
static int read_problem(struct listing *l, const struct batch_file *b, const char *s, size_t n,
			struct err *e)
{
	struct buf text = BUF_INIT;
	struct label label = {"", 0, 1};
	char *name;
	int r = 0;

	buf_add(&text, s, n);
	name = strstr(text.s, "n\"");
	if (name) {
		*name = 0;
		label = read_label(name + 2);
	}
	if (b->driver == OTHER)
		leave_other(l, b, &label);
	else
		r = take_problem(l, b, text.s, &label, e);
	buf_free(&text);
	return r;
}

static void read(struct listing *l, void *state, char *s)
{
	struct batch_file *b = state;
	struct err e = ERR_INIT;

	while (*(s += strspn(s, " \t"))) {
		size_t n = strcspn(s, " \t");

		if (*s == '#')
			return;
		if (is_option(s)) {
			read_option(l, b, s, n);
		} else if (read_problem(l, b, s, n, &e)) {
			listing_bad(l, &e);
			return;
		}
		s += n;
	}
}

static void end(struct listing *l, void *state)
{
	struct batch_file *b = state;

	(void)l;
	for (int i = 0; i < OPTIONS; i++)
		buf_free(&b->value[i]);
}

const struct dialect dialect_benchdnn = {find, read, end, sizeof(struct batch_file), 1};

int benchdnn_print(const struct workload *w, const char *name, int64_t count, struct buf *out)
{
	int bias = workload_has_post(w, POST_BIAS);
	struct buf posts = BUF_INIT;

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
