#include "lib/base/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/err.h"

#define NUMBER "%.9g"

void buf_reserve(struct buf *b, size_t extra)
{
	size_t need = b->n + extra + 1;

	if (need <= b->cap)
		return;
	b->cap = b->cap * 2 > need ? b->cap * 2 : need;
	b->s = xrealloc(b->s, b->cap);
	b->s[b->n] = 0;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	buf_reserve(b, n);
	memcpy(b->s + b->n, p, n);
	b->n += n;
	b->s[b->n] = 0;
}

void buf_ch(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	buf_reserve(b, 100);
	n = vsnprintf(b->s + b->n, b->cap - b->n, fmt, ap);
	if (b->n + (size_t)n >= b->cap) {
		buf_reserve(b, (size_t)n);
		vsnprintf(b->s + b->n, b->cap - b->n, fmt, again);
	}
	va_end(again);
	b->n += (size_t)n;
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

void buf_int(struct buf *b, int64_t v)
{
	char t[24], *p = t + sizeof t;
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--p = (char)('0' + u % 10);
	while (u /= 10);
	if (v < 0)
		*--p = '-';
	buf_add(b, p, (size_t)(t + sizeof t - p));
}

void buf_num(struct buf *b, double v)
{
	if (!isfinite(v))
		buf_str(b, "null");
	else
		buf_fmt(b, NUMBER, v);
}

double buf_rounded(double v)
{
	char t[32];

	snprintf(t, sizeof t, NUMBER, v);
	return strtod(t, NULL);
}

void buf_count(struct buf *b, int64_t n, const char *what)
{
	buf_int(b, n);
	buf_fmt(b, " %s%s", what, n == 1 ? "" : "s");
}

void buf_json(struct buf *b, const char *s, size_t n)
{
	size_t done = 0;

	buf_ch(b, '"');
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)s[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(b, s + done, i - done);
		done = i + 1;
		if (c < 0x20)
			buf_fmt(b, "\\u%04x", c);
		else
			buf_add(b, (const char[]){'\\', (char)c}, 2);
	}
	buf_add(b, s + done, n - done);
	buf_ch(b, '"');
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	if (b->s)
		b->s[0] = 0;
}

void buf_free(struct buf *b)
{
	free(b->s);
	*b = (struct buf)BUF_INIT;
}
