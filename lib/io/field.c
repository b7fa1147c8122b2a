#include "lib/io/field.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"

void field_name(struct buf *out, const char *key)
{
	if (out->n && !strchr("{[,:", out->s[out->n - 1]))
		buf_ch(out, ',');
	if (!key)
		return;
	buf_ch(out, '"');
	buf_str(out, key);
	buf_add(out, "\":", 2);
}

void field_record(struct buf *out, const char *type)
{
	buf_ch(out, '{');
	field_integer(out, "tl", TL_FORMAT);
	field_text(out, "type", type);
}

void field_object(struct buf *out, const char *key)
{
	field_name(out, key);
	buf_ch(out, '{');
}

void field_list(struct buf *out, const char *key)
{
	field_name(out, key);
	buf_ch(out, '[');
}

void field_text(struct buf *out, const char *key, const char *text)
{
	if (!text)
		return;
	field_name(out, key);
	buf_json(out, text, strlen(text));
}

void field_copy(struct buf *out, const char *key, const struct json *value)
{
	size_t quotes;

	if (!value)
		return;
	quotes = value->type == JSON_STR;
	field_name(out, key);
	buf_add(out, value->s - quotes, value->n + 2 * quotes);
}

void field_json(struct buf *out, const char *key, const char *json)
{
	if (!json)
		return;
	field_name(out, key);
	buf_str(out, json);
}

void field_number(struct buf *out, const char *key, double v)
{
	field_name(out, key);
	buf_num(out, v);
}

void field_integer(struct buf *out, const char *key, int64_t v)
{
	field_name(out, key);
	buf_int(out, v > JSON_MOST_INT ? JSON_MOST_INT : v < -JSON_MOST_INT ? -JSON_MOST_INT : v);
}

void field_flag(struct buf *out, const char *key, int v)
{
	field_json(out, key, v ? "true" : "false");
}

void field_fmt(struct buf *out, const char *key, const char *fmt, ...)
{
	va_list ap;

	field_name(out, key);
	va_start(ap, fmt);
	buf_vfmt(out, fmt, ap);
	va_end(ap);
}

/* The name without its unit, if that is a letter. */
static size_t stem(const char *key)
{
	const size_t n = strlen(key);

	return n > 2 && key[n - 2] == '_' ? n - 2 : n;
}

void field_null(struct buf *out, const char *key, const char *why)
{
	field_json(out, key, "null");
	buf_fmt(out, ",\"%.*s_why\":", (int)stem(key), key);
	buf_json(out, why, strlen(why));
}

void field_interval(struct buf *out, const char *key, double lo, double hi)
{
	field_numbers(out, key, (const double[]){lo, hi}, 2);
}

void field_numbers(struct buf *out, const char *key, const double *v, int n)
{
	field_list(out, key);
	for (int i = 0; i < n; i++)
		field_number(out, NULL, v[i]);
	buf_ch(out, ']');
}

/* The fields of an object as json_rewrite() takes them, with those that are to go behind them. */
static struct json_field *list_fields(const struct json_doc *set, const char *const *owned,
				      struct arena *a, int *n)
{
	const struct json *k;
	struct json_field *f;
	int most = 0;

	for (k = json_first(set, set->tok); k; k = json_next(set, set->tok, k))
		most++;
	for (int i = 0; owned && owned[i]; i++)
		most++;
	f = xcalloc((size_t)most + 1, sizeof *f);
	*n = 0;
	for (k = json_first(set, set->tok); k; k = json_next(set, set->tok, k)) {
		const struct json *v = k + 1;
		const int quotes = v->type == JSON_STR;

		f[*n].key = arena_strndup(a, k->s, k->n);
		f[(*n)++].value = arena_strndup(a, v->s - quotes, v->n + 2 * (size_t)quotes);
	}
	for (int i = 0; owned && owned[i]; i++)
		if (!json_get(set, set->tok, owned[i]))
			f[(*n)++].key = owned[i];
	return f;
}

void field_rewrite(const struct json_doc *d, const struct buf *set, const char *const *owned,
		   struct buf *out)
{
	struct json_doc s = JSON_DOC_INIT;
	struct arena a = ARENA_INIT;
	struct buf text = BUF_INIT;
	struct json_field *f;
	int n, rc;

	buf_fmt(&text, "%s}", set->s);
	rc = json_parse(&s, text.s, text.n, NULL);
	assert(rc == 0); /* it was written here */
	(void)rc;
	f = list_fields(&s, owned, &a, &n);
	json_rewrite(d, f, n, out);
	free(f);
	json_free(&s);
	buf_free(&text);
	arena_free(&a);
}
