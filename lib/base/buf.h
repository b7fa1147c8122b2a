/* Growing byte buffers, in which all output text is built.
 *
 * Invariants: s is NULL or NUL-terminated at s[n]; cap counts the bytes allocated. A zeroed struct
 * is an empty buffer. buf_free() gives the memory back; buf_clear() keeps it for the next line.
 * Numbers never depend on the locale (no program of the toolkit calls setlocale).
 */
#ifndef TL_BASE_BUF_H
#define TL_BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *s;
	size_t n, cap;
};

#define BUF_INIT                                                                                   \
	{                                                                                          \
		NULL, 0, 0                                                                         \
	}

void buf_reserve(struct buf *b, size_t extra); /* room for extra bytes and a NUL */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_ch(struct buf *b, char c);
void buf_str(struct buf *b, const char *s);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vfmt(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_int(struct buf *b, int64_t v); /* decimal, several times faster than buf_fmt */
void buf_num(struct buf *b, double v);	/* 9 significant digits; null if not finite */
double buf_rounded(double v);		/* what a reader of the number gets */
void buf_count(struct buf *b, int64_t n, const char *what); /* "1 operator", "2 operators" */
void buf_json(struct buf *b, const char *s, size_t n);	    /* a quoted and escaped JSON string */
void buf_clear(struct buf *b);
void buf_free(struct buf *b);

#endif
