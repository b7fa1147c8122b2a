/* TAP (Test Anything Protocol) for tests in C: ok(), skip(), and a plan at the end. */
#ifndef TL_TESTS_TAP_H
#define TL_TESTS_TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed;

static inline void tap_line(FILE *f, const char *head, const char *fmt, va_list ap)
{
	fputs(head, f);
	vfprintf(f, fmt, ap);
	fputc('\n', f);
	fflush(f);
}

__attribute__((format(printf, 2, 3))) static inline int ok(int cond, const char *fmt, ...)
{
	char head[40];
	va_list ap;

	snprintf(head, sizeof head, "%sok %d - ", cond ? "" : "not ", ++tap_count);
	tap_failed += !cond;
	va_start(ap, fmt);
	tap_line(stdout, head, fmt, ap);
	va_end(ap);
	return cond;
}

/* A test that needs what the machine lacks: passes by name. */
__attribute__((format(printf, 1, 2))) static inline void skip(const char *fmt, ...)
{
	char head[40];
	va_list ap;

	snprintf(head, sizeof head, "ok %d # SKIP ", ++tap_count);
	va_start(ap, fmt);
	tap_line(stdout, head, fmt, ap);
	va_end(ap);
}

__attribute__((format(printf, 1, 2))) static inline void diag(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_line(stderr, "# ", fmt, ap);
	va_end(ap);
}

/* The test itself cannot go on. */
__attribute__((format(printf, 1, 2), noreturn)) static inline void bail_out(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tap_line(stdout, "Bail out! ", fmt, ap);
	va_end(ap);
	exit(255);
}

static inline int done_testing(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
