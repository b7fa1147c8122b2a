#include "lib/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static int fill(struct err *e, int status, const char *fmt, va_list ap)
{
	if (!e)
		return -1;
	e->status = status;
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	return -1;
}

int err_set(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, EXIT_INPUT, fmt, ap);
	va_end(ap);
	return -1;
}

int err_status(struct err *e, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, status, fmt, ap);
	va_end(ap);
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, fmt);
	fill(e, EXIT_INPUT, fmt, ap);
	va_end(ap);
	if (e) {
		size_t n = strlen(e->msg);

		snprintf(e->msg + n, sizeof e->msg - n, ": %s", strerror(saved));
	}
	return -1;
}

int err_in(struct err *e, const char *fmt, ...)
{
	char old[sizeof e->msg];
	va_list ap;
	size_t n;

	if (!e)
		return -1;
	memcpy(old, e->msg, sizeof old);
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof e->msg, fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	snprintf(e->msg + n, sizeof e->msg - n, ": %s", old);
	return -1;
}

void die_no_memory(void)
{
	static const char why[] = ": out of memory\n";
	struct iovec text[] = {
		{program_invocation_short_name, strlen(program_invocation_short_name)},
		{(char *)why, sizeof why - 1},
	};

	if (writev(STDERR_FILENO, text, 2) < 0) /* stderr cannot be written; the status says it */
		errno = 0;
	exit(EXIT_INPUT);
}

void *xmalloc(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		die_no_memory();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		die_no_memory();
	return p;
}

void *xrealloc(void *p, size_t n)
{
	p = realloc(p, n ? n : 1);
	if (!p)
		die_no_memory();
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die_no_memory();
	return p;
}
