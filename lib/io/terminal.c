#include "lib/io/terminal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(int fd)
{
	struct winsize size;

	if (isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return TERMINAL_WIDTH;
}

int terminal_color(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* The bytes of the character at s, of which n are left, and its number; 0: it is no UTF-8. */
static size_t character(const char *s, size_t n, uint32_t *code)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *u = (const unsigned char *)s;
	const size_t size = *u < 0x80	      ? 1
			    : *u >> 5 == 0x6  ? 2
			    : *u >> 4 == 0xe  ? 3
			    : *u >> 3 == 0x1e ? 4
					      : 0;

	if (!size || size > n)
		return 0;
	*code = size == 1 ? *u : *u & (0x7fU >> size);
	for (size_t i = 1; i < size; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (u[i] & 0x3f);
	}
	return *code >= least[size] ? size : 0;
}

/* Does it do something else than to show itself? */
static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void terminal_text(const char *s, size_t n, struct buf *out)
{
	buf_str(out, "");
	for (size_t i = 0, size; i < n; i += size ? size : 1) {
		uint32_t code = 0;

		size = character(s + i, n - i, &code);
		if (size && !is_control(code))
			buf_add(out, s + i, size);
		else if (!size)
			buf_fmt(out, "\\x%02x", (unsigned char)s[i]);
		else if (code == '\n' || code == '\t')
			buf_str(out, code == '\n' ? "\\n" : "\\t");
		else
			buf_fmt(out, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
	}
}

void terminal_say(const char *fmt, ...)
{
	struct buf raw = BUF_INIT, text = BUF_INIT;
	va_list ap;
	int newline;

	va_start(ap, fmt);
	buf_vfmt(&raw, fmt, ap);
	va_end(ap);
	newline = raw.n && raw.s[raw.n - 1] == '\n';
	terminal_text(raw.s, raw.n - (size_t)newline, &text);
	if (newline)
		buf_ch(&text, '\n');
	if (text.n)
		fwrite(text.s, 1, text.n, stderr);
	buf_free(&raw);
	buf_free(&text);
}
