#include "lib/extract/extract.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/words.h"
#include "lib/extract/drawing.h"
#include "lib/io/foreign.h"

const struct format *const format_list[] = {&format_records,  &format_tensorflow, &format_onnx,
					    &format_tflite,   &format_torch,	  &format_keras,
					    &format_openvino, &format_gguf,	  &format_csv,
					    &format_trace,    &format_log,	  NULL};

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

static void cut_ending(struct buf *b, size_t start, const char *ending)
{
	if (!extract_name_ends(b->s + start, ending))
		return;
	b->n -= strlen(ending);
	b->s[b->n] = 0;
}

/* The last part of a path of n bytes, without endings of archives and formats. */
static void stem_of(const char *path, size_t n, struct buf *out)
{
	static const char *const around[] = {".gz",   ".zst", ".xz",  ".bz2", ".lz4",
					     ".lzma", ".tgz", ".tar", ".zip", ".json"};
	const size_t start = out->n;
	struct buf part = BUF_INIT;
	size_t from = n;

	while (from && path[from - 1] != '/')
		from--;
	buf_add(&part, path + from, n - from);
	extract_utf8(out, part.s);
	for (size_t i = 0; i < sizeof around / sizeof *around; i++)
		cut_ending(out, start, around[i]);
	for (const struct format *const *f = format_list; *f; f++)
		for (int i = 0; i < FORMAT_ENDINGS && (*f)->ending[i]; i++)
			cut_ending(out, start, (*f)->ending[i]);
	buf_free(&part);
}

/* Names that programs give to all of their models, and to folders that these lie in. The last three
 * are of torch.export's archives. */
static int says_nothing(const char *stem)
{
	static const char names[] =
		"1 model models config saved_model openvino_model openvino onnx "
		"archive serialized_exported_program";

	return !stem[strspn(stem, ".")] || words_have_like(names, stem, strlen(stem));
}

/* The last part of a path that says something; 0: none does, and out is as it was. */
static int find_stem(const char *path, struct buf *out)
{
	const size_t start = out->n;
	size_t n = strlen(path);

	while (n) {
		stem_of(path, n, out);
		if (!says_nothing(out->s + start))
			return 1;
		out->n = start;
		out->s[start] = 0;
		while (n && path[n - 1] != '/')
			n--;
		while (n && path[n - 1] == '/')
			n--;
	}
	return 0;
}

void extract_stem(const struct member *m, struct buf *out)
{
	const size_t start = out->n;

	buf_str(out, "");
	if (!strcmp(m->name, "-"))
		buf_str(out, "stdin");
	else if (!find_stem(m->name, out) && !find_stem(m->around, out))
		stem_of(m->name, strlen(m->name), out);
	for (size_t i = start; i < out->n; i++)
		if (out->s[i] == ':')
			out->s[i] = '_';
}

/* A file chooses the names in it: nothing of them is a command to a terminal, or ends the line. */
static void say_plain(struct extract *x, int is_error, const char *sentence)
{
	struct buf b = BUF_INIT;

	extract_utf8(&b, sentence);
	for (char *c = b.s; c && *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
		if ((unsigned char)c[0] == 0xc2 && (unsigned char)c[1] < 0xa0) /* of 8 bits */
			c[0] = c[1] = '?';
	}
	x->say(x->ctx, is_error, b.s);
	buf_free(&b);
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
	buf_str(&b, text);
	if (n >= (int)sizeof text)
		buf_str(&b, "...");
	say_plain(x, 0, b.s);
	buf_free(&b);
}

static void failed(struct extract *x, const struct err *e)
{
	x->failed++;
	say_plain(x, 1, e->msg);
}

void extract_bad_line(struct extract *x, const struct member *m, int64_t line, const struct err *e)
{
	struct buf sentence = BUF_INIT;

	x->failed++;
	if (complaints_add(&x->complaints, m->label, (uint64_t)line, e->msg, &sentence))
		say_plain(x, 1, sentence.s);
	buf_free(&sentence);
}

/* The lines of a member have been read. */
static void say_rest(struct extract *x, const struct member *m)
{
	struct buf sentence = BUF_INIT;

	while (complaints_rest(&x->complaints, m->label, &sentence))
		say_plain(x, 1, sentence.s);
	buf_free(&sentence);
}

/* Does the name, but for a compression, end in one of the format's endings? */
static int has_ending(const struct format *f, const char *name)
{
	static const char *const compressed[] = {"", ".gz", ".zst", ".xz", ".bz2"};
	char ending[32];

	for (int i = 0; i < FORMAT_ENDINGS && f->ending[i]; i++)
		for (size_t k = 0; k < sizeof compressed / sizeof *compressed; k++) {
			snprintf(ending, sizeof ending, "%s%s", f->ending[i], compressed[k]);
			if (extract_name_ends(name, ending))
				return 1;
		}
	return 0;
}

/* Does a member look like one of the format's? */
static int claims(const struct format *f, const char *name, const unsigned char *head, size_t n)
{
	return (!f->by_content && has_ending(f, name)) ||
	       (f->claims ? f->claims(name, head, n) : f->is_plain && f->is_plain(head, n));
}

const struct format *extract_recognise(const char *name, const unsigned char *head, size_t n)
{
	for (const struct format *const *f = format_list; *f; f++)
		if (claims(*f, name, head, n))
			return *f;
	return NULL;
}

/* The format for a member, NULL if none claims it. One that is asked for by name need not be
 * claimed. */
static const struct format *choose(const struct extract *x, const struct member *m,
				   const unsigned char *head, size_t n)
{
	const char *slash = strrchr(m->name, '/');

	if (!m->alone && !strncmp(slash ? slash + 1 : m->name, "._", 2))
		return NULL; /* what macOS puts beside each file of an archive */
	if (!x->format)
		return extract_recognise(m->name, head, n);
	for (const struct format *const *f = format_list; *f; f++)
		if (!strcmp(x->format, (*f)->name))
			return m->alone || claims(*f, m->name, head, n) ? *f : NULL;
	return NULL;
}

/* What a member was. */
enum { PASSED_OVER, READ, ENTERED };

static int refuse(struct extract *x, const struct member *m, struct err *e)
{
	err_in(e, "%s", m->label);
	failed(x, e);
	return READ;
}

/* What is something else, though its name or its place on the command line promised a model or a
 * list, is said to be that. */
static int read_member(struct extract *x, struct input *in, struct member *m)
{
	struct err e = ERR_INIT;
	const struct format *f;
	const unsigned char *head;
	const char *hint;
	size_t n;
	int r;

	if (pull_head(&m->bytes, &head, &n, &e))
		return refuse(x, m, &e);
	r = input_enter(in, head, n, &e);
	if (r < 0)
		failed(x, &e);
	if (r)
		return r < 0 ? READ : ENTERED;
	f = choose(x, m, head, n);
	hint = f || m->alone ? foreign_hint((const char *)head, n) : NULL;
	if (!f && !hint)
		return PASSED_OVER;
	if (hint ? err_set(&e, "%s", hint) : f->read(x, m, &e))
		refuse(x, m, &e);
	say_rest(x, m);
	return READ;
}

/* Is it certainly no archive? */
static int is_model(const unsigned char *head, size_t n)
{
	for (const struct format *const *f = format_list; *f; f++)
		if ((*f)->is_plain && (*f)->is_plain(head, n))
			return 1;
	return 0;
}

void extract_input(struct extract *x, const char *path)
{
	const struct input_how how = {.is_plain = is_model,
				      .folders = 1,
				      .max_bytes = x->max_bytes,
				      .is_silent = x->is_silent};
	struct err e = ERR_INIT;
	struct input *in = input_open_as(path, &how, &e);
	const char *hint = NULL;
	struct member *m;
	int r, read = 0, members = 0;

	if (!in)
		failed(x, &e);
	while (in && (r = input_next(in, &m, &e)) != 0) {
		if (r < 0) {
			read = 1;
			failed(x, &e);
			continue;
		}
		members++;
		hint = foreign_member(m->name, hint);
		read += read_member(x, in, m) == READ;
	}
	if (in && !read) {
		err_set(&e, "%s: %s", path,
			hint	   ? hint
			: !members ? "it is empty"
				   : "it holds no model of a known format, workload record, list "
				     "or log");
		failed(x, &e);
	}
	input_close(in);
}

void extract_show(struct extract *x, const char *model, const struct fates *f)
{
	if (x->contents)
		contents_add_graph(x->contents, model, f);
	if (x->drawing && !f->is_inside)
		drawing_add(model, f, x->drawing);
}

void extract_free(struct extract *x)
{
	worklist_free(&x->found);
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
	extract_stem(m, &source);
	buf_fmt(&source, ":%.12s:", c->hash.s);
	n = source.n;
	for (size_t i = 0; i < c->list.by_id.n; i++) {
		struct work *k = c->list.by_id.item[i].value;
		struct work *to = worklist_put(&x->found, &k->w, NULL, 0);

		for (size_t s = 0; s < k->source.n; s++) {
			source.n = n;
			extract_utf8(&source, (const char *)k->source.item[s].value + 1);
			work_add_source(to, source.s);
		}
		work_drop_sources(k); /* there may be many */
	}
	x->found.source_bytes = c->list.source_bytes;
	buf_free(&source);
	buf_free(&c->all);
	worklist_free(&c->list);
}
