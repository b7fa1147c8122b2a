#include "lib/answer/differ.h"

#include <string.h>

/* What says on what hardware a result was measured. */
static int is_hardware(const char *key)
{
	static const char *const field[] = {"features", "isa", "l1d", "l2", "l3", "threads"};

	for (size_t i = 0; i < sizeof field / sizeof *field; i++)
		if (!strcmp(key, field[i]))
			return 1;
	return 0;
}

static int is_same(const struct json *a, const struct json *b)
{
	return a && b && a->n == b->n && !memcmp(a->s, b->s, a->n);
}

/* Fields that follow from the others, and figures and lists. */
static int is_detail(const char *key, const struct json *v)
{
	const char *end = strrchr(key, '_');

	return v->type == JSON_OBJ || v->type == JSON_ARR || v->type == JSON_NULL ||
	       !strcmp(key, "hw_id") || (end && !strcmp(end, "_why"));
}

static void begin(struct buf *out)
{
	if (out->n)
		buf_str(out, ", ");
}

/* Is the word among those of a list with commas? */
static int has_word(const struct json *list, const char *word, size_t n)
{
	const char *end = list ? list->s + list->n : NULL;

	for (const char *s = list ? list->s : NULL; s && s < end;) {
		size_t k = 0;

		while (s + k < end && s[k] != ',')
			k++;
		if (k == n && !memcmp(s, word, n))
			return 1;
		s += k + 1;
	}
	return 0;
}

/* "avx512f, fma only there" */
static void add_words(struct buf *out, const struct json *list, const struct json *other,
		      const char *where)
{
	const char *end = list ? list->s + list->n : NULL;
	int any = 0;

	for (const char *s = list ? list->s : NULL; s && s < end;) {
		size_t k = 0;

		while (s + k < end && s[k] != ',')
			k++;
		if (k && !has_word(other, s, k)) {
			begin(out);
			buf_add(out, s, k);
			any = 1;
		}
		s += k + 1;
	}
	if (any)
		buf_fmt(out, " only %s", where);
}

static void add_value(struct buf *out, const char *key, const struct json *v)
{
	int64_t bytes;

	if (!v)
		buf_str(out, "unknown");
	else if (key[0] == 'l' && key[1] >= '1' && key[1] <= '3' && !json_int(v, &bytes))
		buf_fmt(out, "%lld KB", (long long)bytes / 1024);
	else
		buf_add(out, v->s, v->n);
}

static void add_difference(struct buf *out, const char *key, const struct json *there,
			   const struct json *here)
{
	int64_t n;

	if (!strcmp(key, "features")) {
		add_words(out, there, here, "there");
		add_words(out, here, there, "here");
		return;
	}
	begin(out);
	if (!strcmp(key, "threads") && !json_int(there, &n)) {
		buf_fmt(out, "%lld thread%s there and ", (long long)n, n == 1 ? "" : "s");
	} else {
		buf_fmt(out, "%s is ", key);
		add_value(out, key, there);
		buf_str(out, " there and ");
	}
	add_value(out, key, here);
	buf_str(out, " here");
}

void differ_envs(struct differ *d, const struct json_doc *there, const struct json_doc *here)
{
	struct buf software = BUF_INIT;

	*d = (struct differ){.n = 0};
	for (const struct json *k = json_first(there, there->tok); k;
	     k = json_next(there, there->tok, k)) {
		const struct json *v = k + 1, *w;
		char key[64];

		if (k->n >= sizeof key)
			continue;
		memcpy(key, k->s, k->n);
		key[k->n] = 0;
		w = json_get(here, here->tok, key);
		if (is_detail(key, v) || is_same(v, w))
			continue;
		d->n++;
		d->hardware |= is_hardware(key);
		if (is_hardware(key))
			add_difference(&d->what, key, v, w);
		else if (!strcmp(key, "cc") || !strcmp(key, "libs"))
			add_difference(&software, key, v, w);
	}
	if (!d->hardware && software.n)
		buf_add(&d->what, software.s, software.n);
	buf_free(&software);
}

void differ_free(struct differ *d)
{
	buf_free(&d->what);
}
