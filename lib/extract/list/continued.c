#include "lib/extract/list/continued.h"

#include <string.h>

enum { LONGEST_TEXT = 1 << 20 }; /* of lines that go on; what is longer is cut */

int continued_is_silent(const char *line)
{
	line += strspn(line, " \t\r");
	return !*line || *line == '#';
}

int continued_add(struct buf *text, const char *line, size_t n, int (*may)(char *text))
{
	const int is_first = !text->n;

	if (!is_first && continued_is_silent(line))
		return *(line + strspn(line, " \t\r")) == '#'; /* a comment within a list */
	buf_add(text, line, n);
	while (n && strchr(" \t\r", line[n - 1]))
		n--;
	if (!n || line[n - 1] != '\\' || text->n > LONGEST_TEXT || memchr(text->s, 0, text->n))
		return 0;
	if (may && !may(text->s))
		return 0;
	*strrchr(text->s, '\\') = '\n';
	return 1;
}
