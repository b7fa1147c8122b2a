#include "lib/extract/extract.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/extract/drawing.h"
#include "lib/extract/onnx/onnx.h"
#include "lib/extract/tflite/tflite.h"
#include "lib/io/foreign.h"

const struct format *const format_list[] = {&format_records, &format_onnx, &format_tflite,
					    &format_csv,     &format_log,  NULL};

int extract_name_ends(const char *name, const char *suffix)
{
	size_t n = strlen(name), k = strlen(suffix);

	return n > k && !strcasecmp(name + n - k, suffix);
}

/* Length of the UTF-8 sequence at s, 0 if it is none (overlong forms and surrogates are none). */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (s[0] >= 0x80 && (s[0] < 0xc2 || s[0] > 0xf4))
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

void extract_utf8(struct buf *out, const char *s)
{
	while (*s) {
		size_t n = utf8_length((const unsigned char *)s);

		if (n)
			buf_add(out, s, n);
		else
			buf_ch(out, '?');
		s += n ? n : 1;
	}
}

void extract_stem(const char *name, struct buf *out)
{
	static const char *const endings[] = {".gz",   ".zst",	  ".xz",  ".bz2", ".lz4", ".lzma",
					      ".onnx", ".tflite", ".csv", ".log", ".txt", ".wl"};
	const char *slash = strrchr(name, '/');
	size_t start = out->n;

	extract_utf8(out, !strcmp(name, "-") ? "stdin" : slash && slash[1] ? slash + 1 : name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (extract_name_ends(out->s + start, endings[i])) {
			out->n -= strlen(endings[i]);
			out->s[out->n] = 0;
		}
	for (size_t i = start; i < out->n; i++)
		if (out->s[i] == ':')
			out->s[i] = '_';
}

void extract_report(struct extract *x, const char *fmt, ...)
{
	struct buf b = BUF_INIT;
	char text[2000];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	extract_utf8(&b, text);
	if (n >= (int)sizeof text)
		buf_str(&b, "...");
	x->say(x->ctx, 0, b.s);
	buf_free(&b);
}

static void say_error(struct extract *x, const char *sentence)
{
	struct buf b = BUF_INIT;

	extract_utf8(&b, sentence);
	x->say(x->ctx, 1, b.s);
	buf_free(&b);
}

static void failed(struct extract *x, const struct err *e)
{
	x->failed++;
	say_error(x, e->msg);
}

void extract_bad_line(struct extract *x, const struct member *m, int64_t line, const struct err *e)
{
	struct buf sentence = BUF_INIT;

	x->failed++;
	if (complaints_add(&x->complaints, m->label, (uint64_t)line, e->msg, &sentence))
		say_error(x, sentence.s);
	buf_free(&sentence);
}

/* The lines of a member have been read. */
static void say_rest(struct extract *x, const struct member *m)
{
	struct buf sentence = BUF_INIT;

	while (complaints_rest(&x->complaints, m->label, &sentence))
		say_error(x, sentence.s);
	buf_free(&sentence);
}

/* The format for a member, NULL if none claims it. One that is asked for by name need not be
 * claimed. */
static const struct format *choose(const struct extract *x, const struct member *m,
				   const unsigned char *head, size_t n)
{
	const char *slash = strrchr(m->name, '/');

	if (!m->alone && !strncmp(slash ? slash + 1 : m->name, "._", 2))
		return NULL; /* what macOS puts beside each file of an archive */
	for (const struct format *const *f = format_list; *f; f++) {
		if (x->format && strcmp(x->format, (*f)->name) != 0)
			continue;
		if ((x->format && m->alone) || (*f)->claims(m->name, head, n))
			return *f;
	}
	return NULL;
}

/* 1 if the member was for us. What is something else, though its name or its place on the command
 * line promised a model or a list, is said to be that. */
static int read_member(struct extract *x, struct member *m)
{
	struct err e = ERR_INIT;
	const struct format *f;
	const unsigned char *head;
	const char *hint;
	size_t n;

	if (pull_head(&m->bytes, &head, &n, &e)) {
		err_in(&e, "%s", m->label);
		failed(x, &e);
		return 1;
	}
	f = choose(x, m, head, n);
	hint = f || m->alone ? foreign_hint((const char *)head, n) : NULL;
	if (!f && !hint)
		return 0;
	if (hint ? err_set(&e, "%s", hint) : f->read(x, m, &e)) {
		err_in(&e, "%s", m->label);
		failed(x, &e);
	}
	say_rest(x, m);
	return 1;
}

/* Is it certainly no archive? */
static int is_model(const unsigned char *head, size_t n)
{
	return onnx_claims(head, n) || tflite_claims(head, n);
}

void extract_input(struct extract *x, const char *path)
{
	struct err e = ERR_INIT;
	struct input *in = input_open(path, is_model, &e);
	const char *hint = NULL;
	struct member *m;
	int r = -1, read = 0;

	while (in && (r = input_next(in, &m, &e)) > 0) {
		read += read_member(x, m);
		if (!hint)
			hint = foreign_member(m->name);
	}
	if (!r && !read)
		r = err_set(
			&e, "%s: %s", path,
			hint ? hint
			     : "it holds no ONNX or TFLite model, workload record, list or log");
	if (r < 0)
		failed(x, &e);
	input_close(in);
}

void extract_show(struct extract *x, const char *model, const struct graph *g, const struct task *t,
		  int n, const unsigned char *absorbed)
{
	struct arena a = ARENA_INIT;
	struct fates f;

	fates_find(&f, g, t, n, absorbed, &a);
	if (x->contents)
		contents_add_graph(x->contents, model, &f);
	if (x->drawing)
		drawing_add(model, &f, x->drawing);
	arena_free(&a);
}

void extract_free(struct extract *x)
{
	worklist_free(&x->found);
}

void collect(struct collected *c, const struct workload *w, const char *label)
{
	work_add_source(worklist_put(&c->list, w, NULL, 0), label);
}

enum { CHUNK = 64 * 1024 };

void collect_bytes(struct collected *c, const char *s, size_t n)
{
	buf_add(&c->all, s, n);
	if (c->all.n < CHUNK)
		return;
	hash_id(&c->hash, c->all.s, c->all.n);
	buf_clear(&c->all);
	buf_str(&c->all, c->hash.s);
}

void collect_finish(struct extract *x, struct collected *c, const struct member *m)
{
	struct buf source = BUF_INIT;
	size_t n;

	buf_reserve(&c->all, 0);
	hash_id(&c->hash, c->all.s, c->all.n);
	extract_stem(m->name, &source);
	for (size_t i = 0; x->contents && i < c->list.by_id.n; i++) {
		const struct work *k = c->list.by_id.item[i].value;

		contents_add_work(x->contents, source.s, &k->w, (int64_t)k->source.n);
	}
	buf_fmt(&source, ":%.12s:", c->hash.s);
	n = source.n;
	for (size_t i = 0; i < c->list.by_id.n; i++) {
		const struct work *k = c->list.by_id.item[i].value;
		struct work *to = worklist_put(&x->found, &k->w, NULL, 0);

		for (size_t s = 0; s < k->source.n; s++) {
			source.n = n;
			extract_utf8(&source, k->source.item[s].value);
			work_add_source(to, source.s);
		}
	}
	buf_free(&source);
	buf_free(&c->all);
	worklist_free(&c->list);
}
