#include "lib/io/field.h"

#include <stdarg.h>
#include <string.h>

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
	buf_int(out, v);
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
