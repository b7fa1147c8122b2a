#include "lib/io/mdoc.h"

#include <ctype.h>
#include <string.h>

/* The length of a reference such as tl-check(1) at the start of the text; 0: there is none. */
static size_t reference(const char *s)
{
	size_t n = strncmp(s, "tl-", 3) ? 0 : 3;

	while (n && (islower((unsigned char)s[n]) || s[n] == '-'))
		n++;
	return n && s[n] == '(' && isdigit((unsigned char)s[n + 1]) && s[n + 2] == ')' ? n + 3 : 0;
}

/* The reference, with the punctuation behind it, on a line of its own. What was read of the text.
 */
static size_t put_reference(const char *s, size_t n, struct buf *out)
{
	size_t read = n;

	if (out->n && out->s[out->n - 1] == ' ')
		out->n--;
	buf_fmt(out, "%s.Xr %.*s %c", out->n && out->s[out->n - 1] != '\n' ? "\n" : "",
		(int)(n - 3), s, s[n - 2]);
	for (; s[read] && strchr(".,;:)", s[read]); read++)
		buf_fmt(out, " %c", s[read]);
	read += strspn(s + read, " ");
	if (s[read])
		buf_ch(out, '\n');
	return read;
}

static void put_char(const char *s, int *quoted, struct buf *out)
{
	int at_start = !out->n || out->s[out->n - 1] == '\n';

	if (*s == '`') {
		buf_str(out, *quoted ? "\\(cq" : "\\(oq");
		*quoted = !*quoted;
	} else if (*s == '\\') {
		buf_str(out, "\\e");
	} else if (at_start && (*s == '.' || *s == '\'')) {
		buf_fmt(out, "\\&%c", *s);
	} else {
		buf_ch(out, *s);
	}
}

/* Both as they are typed, not as hyphens. */
static int put_dashes(struct buf *out)
{
	buf_str(out, "\\-\\-");
	return 1;
}

void mdoc_text(const char *text, struct buf *out)
{
	int quoted = 0;

	for (const char *s = text; *s; s++) {
		size_t n = s == text || s[-1] == ' ' || s[-1] == '(' ? reference(s) : 0;

		if (n)
			s += put_reference(s, n, out) - 1;
		else if (*s == ' ' && s > text && s[-1] == '.' && isupper((unsigned char)s[1]))
			buf_ch(out, '\n'); /* a sentence begins on its own line */
		else if (*s == '-' && s[1] == '-')
			s += put_dashes(out);
		else
			put_char(s, &quoted, out);
	}
	buf_ch(out, '\n');
}
