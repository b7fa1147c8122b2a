/* Extraction from bytes that a test made: what was found, as text, and what was said. */
#ifndef TL_TESTS_EXTRACTING_H
#define TL_TESTS_EXTRACTING_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/extract/extract.h"
#include "tests/tap.h"

static struct buf said;
static char path[64]; /* of the file that the bytes are written to */

static inline void say(void *ctx, int is_error, const char *sentence)
{
	(void)ctx;
	buf_str(&said, is_error ? "E: " : "");
	buf_str(&said, sentence);
	buf_ch(&said, '\n');
}

/* Before an extraction: nothing was said yet. */
static inline void listen(struct extract *x)
{
	buf_clear(&said);
	buf_str(&said, "");
	x->say = say;
}

static inline int was_said(const char *text)
{
	if (said.s && strstr(said.s, text))
		return 1;
	diag("said %s", said.s ? said.s : "nothing");
	return 0;
}

static inline void write_file(const char *name, const void *p, size_t n)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd))
		bail_out("%s cannot be written", name);
}

static inline void extract_bytes(struct extract *x, const void *p, size_t n)
{
	listen(x);
	write_file(path, p, n);
	extract_input(x, path);
}

/* Is the problem alone enough to know it by? */
static inline int is_short(const struct op *op)
{
	return op == &op_conv2d || op == &op_conv3d || op == &op_matmul;
}

/* "mb1_.. bias,relu x3; " for each workload, "mb1_.. (s8)" where it is not in single precision. */
static inline void describe(const struct extract *x, struct buf *out)
{
	buf_clear(out);
	buf_str(out, "");
	for (size_t i = 0; i < x->found.by_id.n; i++) {
		const struct work *k = x->found.by_id.item[i].value;

		buf_fmt(out, "%s%s%s%s", i ? "; " : "", is_short(k->w.op) ? "" : k->w.op->name,
			is_short(k->w.op) ? "" : " ", k->w.prob);
		if (!dtypes_are_f32(&k->w.dtype))
			buf_fmt(out, " (%s)", k->w.dtype_text);
		if (k->w.npost)
			buf_ch(out, ' ');
		workload_posts(&k->w, out);
		if (k->w.op == &op_matmul && !k->w.rhs_const)
			buf_str(out, " computed");
		if (k->source.n != 1)
			buf_fmt(out, " x%zu", k->source.n);
	}
}

/* A source of bytes in blocks of `step`, which counts the bytes that it is asked to pass over. */
struct drip {
	const unsigned char *s;
	size_t n, step, skipped;
};

static inline int drip_next(void *ctx, const unsigned char **block, size_t *n, struct err *e)
{
	struct drip *d = ctx;

	(void)e;
	*block = d->s;
	*n = d->n < d->step ? d->n : d->step;
	d->s += *n;
	d->n -= *n;
	return *n > 0;
}

static inline int drip_skip(void *ctx, uint64_t n, struct err *e)
{
	struct drip *d = ctx;

	if (n > d->n)
		return err_set(e, "it is cut off");
	d->s += n;
	d->n -= n;
	d->skipped += n;
	return 0;
}

/* The same without a file: the reader alone, which is faster. */
static inline void read_bytes(struct extract *x, const struct format *f, const void *p, size_t n)
{
	struct drip d = {p, n, 1 << 16, 0};
	struct member m = {.name = "model", .around = "", .label = "model", .alone = 1};
	struct err e = ERR_INIT;

	m.bytes = (struct pull){.next = drip_next, .ctx = &d};
	listen(x);
	if (f->read(x, &m, &e)) {
		x->failed++;
		buf_str(&said, e.msg);
	}
}

/* Reads the bytes cut off at so many places, and with so many sets of bits flipped. Returns how
 * often it was refused when it was cut off, and adds to silent when nothing was said. */
static inline size_t attack(const struct format *f, const struct buf *model, size_t cuts, int flips,
			    size_t *silent)
{
	size_t refused = 0, step = model->n / cuts + !!(model->n % cuts);
	char *s = xmalloc(model->n);
	struct rng r;

	for (size_t n = 0; n < model->n; n += step) {
		struct extract cut = {.layout = LAYOUT_NHWC};
		char *part = xmalloc(n + 1); /* so that a sanitizer sees what is read behind it */

		memcpy(part, model->s, n);
		read_bytes(&cut, f, part, n);
		refused += cut.failed == 1;
		*silent += !cut.failed && !said.n;
		extract_free(&cut);
		free(part);
	}
	rng_seed(&r, 1, "flip");
	for (int i = 0; i < flips; i++) {
		struct extract flip = {.layout = LAYOUT_NHWC, .all = i % 2};

		memcpy(s, model->s, model->n);
		for (uint64_t k = rng_below(&r, 4) + 1; k--;) {
			/* Half of them near the ends, where the tables are. */
			uint64_t span = rng_below(&r, 2) || model->n < 4096 ? model->n : 4096;
			uint64_t at = rng_below(&r, span);

			s[rng_below(&r, 2) ? at : model->n - 1 - at] ^=
				(char)(1 << rng_below(&r, 8));
		}
		read_bytes(&flip, f, s, model->n);
		*silent += !flip.failed && !said.n;
		extract_free(&flip);
	}
	free(s);
	return refused;
}

/* A whole model: it is known by its first bytes, refused where it is cut off, and never silent. */
static inline void attack_whole(const struct format *f, const struct buf *model, int flips)
{
	struct extract x = {.layout = LAYOUT_NHWC};
	size_t silent = 0, refused = attack(f, model, model->n, flips, &silent);

	ok(refused == model->n, "cut off anywhere it is refused (%zu of %zu)", refused, model->n);
	ok(!silent, "with bits flipped it is read or refused, and never silently");
	extract_bytes(&x, model->s, model->n);
	ok(!x.failed && x.found.by_id.n > 0, "it is known by its first bytes");
	extract_free(&x);
}

/* A folder for the file that is extracted, and its end. */
static char folder[] = "/tmp/tl-extract-XXXXXX";

static inline void begin(void)
{
	if (!mkdtemp(folder))
		bail_out("no folder for temporary files");
	snprintf(path, sizeof path, "%s/net", folder);
}

static inline int end(void)
{
	unlink(path);
	rmdir(folder);
	buf_free(&said);
	return done_testing();
}

#endif
