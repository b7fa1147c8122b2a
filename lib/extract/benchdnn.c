#include "lib/extract/benchdnn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/onednn.h"

enum { COUNT_MAX = 100000, COMBINATIONS_MAX = 1000 };

int benchdnn_is_problem(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz");

	if (n == 0)
		return isdigit((unsigned char)s[0]) && s[strspn(s, "0123456789")] == 'x' &&
		       strchr(s, ':');
	return n <= 2 && isdigit((unsigned char)s[n]) && strstr(s, "ic") && strstr(s, "oc");
}

static int is_word(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

/* The driver that an option names, BENCHDNN_NONE if it is another option. */
static enum benchdnn_driver driver_of(const char *s, size_t n)
{
	static const char *const others[] = {
		"--deconv", "--bnorm",	   "--lnorm",	   "--pool",  "--softmax", "--eltwise",
		"--binary", "--rnn",	   "--reorder",	   "--sum",   "--concat",  "--shuffle",
		"--lrn",    "--reduction", "--resampling", "--prelu", "--brgemm",  "--gnorm"};

	if (is_word(s, n, "--conv"))
		return BENCHDNN_CONV;
	if (is_word(s, n, "--matmul"))
		return BENCHDNN_MATMUL;
	if (is_word(s, n, "--ip"))
		return BENCHDNN_IP;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (is_word(s, n, others[i]))
			return BENCHDNN_OTHER;
	return BENCHDNN_NONE;
}

static void read_option(struct benchdnn *b, const char *s, size_t n)
{
	static const struct {
		const char *name;
		enum benchdnn_option what;
	} options[] = {{"--dir=", BENCHDNN_DIR},
		       {"--dt=", BENCHDNN_DT},
		       {"--cfg=", BENCHDNN_DT},
		       {"--stag=", BENCHDNN_STAG},
		       {"--wtag=", BENCHDNN_WTAG},
		       {"--bia_dt=", BENCHDNN_BIA_DT},
		       {"--bia-dt=", BENCHDNN_BIA_DT},
		       {"--bia_mask=", BENCHDNN_BIA_MASK},
		       {"--bia-mask=", BENCHDNN_BIA_MASK},
		       {"--mb=", BENCHDNN_MB},
		       {"--attr-post-ops=", BENCHDNN_POSTS}};
	enum benchdnn_driver driver = driver_of(s, n);

	if (driver)
		b->driver = driver;
	for (int i = 0; i < BENCHDNN_OPTIONS && is_word(s, n, "--reset"); i++)
		buf_clear(&b->value[i]);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		size_t k = strlen(options[i].name);
		struct buf *value = &b->value[options[i].what];

		if (n < k || memcmp(s, options[i].name, k) != 0)
			continue;
		buf_clear(value);
		buf_add(value, s + k, n - k);
	}
	if (n > 8 && !memcmp(s, "--batch=", 8))
		b->leave(b->arg, "files named by --batch");
}

/* One value of each option. */
struct combination {
	int at[BENCHDNN_OPTIONS];
	struct buf value[BENCHDNN_OPTIONS];
};

static int count_values(const struct buf *list)
{
	int n = 1;

	for (size_t i = 0; i < list->n; i++)
		n += list->s[i] == ',';
	return n;
}

static void pick(const struct benchdnn *b, struct combination *c)
{
	for (int i = 0; i < BENCHDNN_OPTIONS; i++) {
		const char *s = b->value[i].n ? b->value[i].s : "";

		for (int k = 0; k < c->at[i]; k++)
			s = strchr(s, ',') + 1;
		buf_clear(&c->value[i]);
		buf_add(&c->value[i], s, strcspn(s, ","));
	}
}

/* The next combination; 0: there is none. */
static int count_on(const struct benchdnn *b, struct combination *c)
{
	for (int i = BENCHDNN_OPTIONS; i-- > 0;) {
		if (++c->at[i] < count_values(&b->value[i]))
			return 1;
		c->at[i] = 0;
	}
	return 0;
}

static int says(const struct combination *c, enum benchdnn_option o, const char *word)
{
	return c->value[o].n == strlen(word) && !strcmp(c->value[o].s, word);
}

/* "f32" or "f32:f32:f32", or nothing. */
static int is_f32(const struct combination *c)
{
	const char *s = c->value[BENCHDNN_DT].s;

	if (says(c, BENCHDNN_DT, "f32_wino"))
		return 1;
	while (!strncmp(s, "f32:", 4))
		s += 4;
	return !*s || !strcmp(s, "f32");
}

static int is_layout(const struct combination *c, const char *a, const char *b, const char *d)
{
	return says(c, BENCHDNN_STAG, a) || says(c, BENCHDNN_STAG, b) || says(c, BENCHDNN_STAG, d);
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

		if (count >= 1 && count <= COUNT_MAX) {
			l.n = digits - 1;
			l.count = count;
		}
	}
	return l;
}

/* Bias, layout, batch and post-ops of one combination. NULL, or why it is none of ours. */
static const char *complete(const struct benchdnn *b, const struct combination *c,
			    struct onednn_shape shape, struct workload *w)
{
	int conv = w->op == &op_conv2d, with_dir = b->driver != BENCHDNN_MATMUL;
	long mask = strtol(c->value[BENCHDNN_BIA_MASK].s, NULL, 10);
	const char *dt = c->value[BENCHDNN_BIA_DT].s;

	if (with_dir && !strncmp(c->value[BENCHDNN_DIR].s, "BWD", 3))
		return "backward problems";
	if (!is_f32(c))
		return "problems that are not f32";
	if (with_dir && says(c, BENCHDNN_DIR, "FWD_B"))
		w->post[w->npost++].kind = POST_BIAS;
	if (!with_dir && *dt && strcmp(dt, "undef") != 0) {
		if (strcmp(dt, "f32") != 0 || (mask && !onednn_is_row(mask, &shape)))
			return "products with another bias";
		w->post[w->npost++].kind = POST_BIAS;
	}
	if (conv && is_layout(c, "axb", "acdb", "nhwc"))
		w->layout = LAYOUT_NHWC;
	else if (conv && is_layout(c, "abx", "abcd", "nchw"))
		w->layout = LAYOUT_NCHW;
	if (conv && strtoll(c->value[BENCHDNN_MB].s, NULL, 10) > 0)
		w->dim[CONV_MB] = strtoll(c->value[BENCHDNN_MB].s, NULL, 10);
	if (b->driver == BENCHDNN_MATMUL && c->value[BENCHDNN_WTAG].n)
		w->rhs_const = says(c, BENCHDNN_WTAG, "any");
	if (conv)
		shape = onednn_conv_shape(w);
	onednn_posts_read(c->value[BENCHDNN_POSTS].s, &shape, w);
	return NULL;
}

/* All combinations of the options of one workload. */
static int take_all(struct benchdnn *b, const struct workload *from,
		    const struct onednn_shape *shape, const struct label *l, struct err *e)
{
	struct combination c = {{0}, {BUF_INIT}};
	int r = 0, n = 0;

	do {
		struct workload w = *from;
		const char *why;

		pick(b, &c);
		why = complete(b, &c, *shape, &w);
		if (why)
			b->leave(b->arg, why);
		else if (!(r = workload_finish(&w, e)))
			b->take(b->arg, &w, l->name, l->n, l->count);
	} while (!r && count_on(b, &c) && ++n < COMBINATIONS_MAX);
	if (n == COMBINATIONS_MAX)
		b->leave(b->arg, "further combinations of options");
	for (int i = 0; i < BENCHDNN_OPTIONS; i++)
		buf_free(&c.value[i]);
	return r;
}

/* A problem, perhaps with n"name" at its end. */
static int read_problem(struct benchdnn *b, const char *s, size_t n, struct err *e)
{
	struct buf text = BUF_INIT, prob = BUF_INIT;
	int product = b->driver == BENCHDNN_MATMUL || b->driver == BENCHDNN_IP ||
		      (b->driver == BENCHDNN_NONE && isdigit((unsigned char)*s));
	struct label l = {"", 0, 1};
	struct onednn_shape shape = {0, {0}};
	struct workload w;
	char *name;
	int r;

	buf_add(&text, s, n);
	name = strstr(text.s, "n\"");
	if (name) {
		*name = 0;
		l = read_label(name + 2);
	}
	if (b->driver == BENCHDNN_OTHER) {
		b->leave(b->arg, "problems of other drivers");
		r = 0;
	} else if (b->driver == BENCHDNN_IP ? onednn_inner_product(text.s, &prob, &shape)
		   : product		    ? onednn_matmul(text.s, &prob, &shape)
					    : (buf_str(&prob, text.s), 0)) {
		r = err_set(e, "\"%.80s\" is not %s", text.s,
			    b->driver == BENCHDNN_IP ? "mb1ic2ih3iw3oc4"
						     : "MxK:KxN or BxMxK:BxKxN");
	} else {
		r = workload_from_text(&w, product ? "matmul" : "conv2d", prob.s,
				       product ? NULL : layout_name(b->layout), NULL, e);
		if (!r)
			r = take_all(b, &w, &shape, &l, e);
	}
	buf_free(&text);
	buf_free(&prob);
	return r;
}

int benchdnn_line(struct benchdnn *b, const char *s, struct err *e)
{
	while (*(s += strspn(s, " \t"))) {
		size_t n = strcspn(s, " \t");

		if (*s == '#')
			return 0;
		if (s[0] == '-')
			read_option(b, s, n);
		else if (read_problem(b, s, n, e))
			return -1;
		s += n;
	}
	return 0;
}

void benchdnn_free(struct benchdnn *b)
{
	for (int i = 0; i < BENCHDNN_OPTIONS; i++)
		buf_free(&b->value[i]);
}

void benchdnn_print(const struct workload *w, const char *name, int64_t count, struct buf *out)
{
	int bias = workload_has_post(w, POST_BIAS);
	struct buf posts = BUF_INIT;

	if (w->op == &op_conv2d) {
		const char *tag = w->layout == LAYOUT_NHWC ? "axb" : "abx";

		buf_fmt(out, "--conv --reset --dir=%s --stag=%s --dtag=%s",
			bias ? "FWD_B" : "FWD_I", tag, tag);
	} else {
		buf_fmt(out, "--matmul --reset --wtag=%s", w->rhs_const ? "any" : "abx");
		if (bias)
			buf_fmt(out, " --bia_dt=f32 --bia_mask=%d", w->dim[MATMUL_B] > 1 ? 4 : 2);
	}
	onednn_posts_print(w, &posts);
	if (posts.n)
		buf_fmt(out, " --attr-post-ops=%s", posts.s);
	buf_fmt(out, " %sn\"%s", w->prob, name);
	if (count > 1)
		buf_fmt(out, "*%lld", (long long)count);
	buf_ch(out, '"');
	buf_free(&posts);
}
