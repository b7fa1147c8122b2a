#include "lib/io/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/io/clock.h"

static const double INTERVAL_s = 0.1;

/* The one line of the terminal that this process may own. */
static struct {
	int shown;
	double last;
} line;

void progress_set(const char *fmt, ...)
{
	struct winsize size;
	char text[512];
	double now;
	size_t width = 80, n;
	va_list ap;

	if (!isatty(STDERR_FILENO) || (now = clock_now()) - line.last < INTERVAL_s)
		return;
	line.last = now;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		width = size.ws_col;
	n = strlen(text);
	if (n >= width) /* a line that wraps cannot be rewritten in place */
		n = width - 1;
	while (n && text[n] && ((unsigned char)text[n] & 0xc0) == 0x80) /* nor half a character */
		n--;
	fprintf(stderr, "\r%.*s\033[K", (int)n, text);
	fflush(stderr);
	line.shown = 1;
}

void progress_clear(void)
{
	if (!line.shown)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	line.shown = 0;
	line.last = 0;
}

int progress_color(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}
