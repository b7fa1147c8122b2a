#include "lib/extract/list/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/words.h"

static const char blanks[] = " \t\r\n\"'\\";

/* Which option a word is; -1: none of ours. */
static int find(const struct command *c, const char *s, size_t n)
{
	int full = n > 2 && s[0] == '-' && s[1] == '-';

	for (int i = 0; n > 1 && s[0] == '-' && i < c->n; i++)
		if (full ? c->name[i].full && words_have(c->name[i].full, s + 2, n - 2)
			 : c->name[i].brief && words_have(c->name[i].brief, s + 1, n - 1))
			return i;
	return -1;
}

/* An option's value does not begin like an option, but for negative numbers. */
static int is_value(const char *s)
{
	return *s && (*s != '-' || isdigit((unsigned char)s[1]) || s[1] == '.');
}

void command_read(struct command *c, const struct command_name *name, int n, const char *line)
{
	int last = -1;

	*c = (struct command){.name = name, .n = n};
	for (const char *s = line; *(s += strspn(s, blanks));) {
		size_t length = strcspn(s, blanks), equals = strcspn(s, "= \t\r\n\"'\\");
		int at = find(c, s, equals);

		if (at >= 0) {
			c->value[at] = s + equals + (s[equals] == '=');
			c->length[at] = s[equals] == '=' ? length - equals - 1 : 0;
			last = s[equals] == '=' ? -1 : at;
		} else if (last >= 0 && is_value(s)) {
			c->value[last] = s;
			c->length[last] = length;
			last = -1;
		} else {
			last = -1;
		}
		s += length;
	}
}

int64_t command_int(const struct command *c, int i, int64_t other)
{
	int64_t v = 0;

	if (!c->value[i])
		return other;
	for (size_t k = 0; k < c->length[i]; k++) {
		if (!isdigit((unsigned char)c->value[i][k]) || v > INT32_MAX)
			return -1;
		v = 10 * v + (c->value[i][k] - '0');
	}
	return c->length[i] ? v : -1;
}

int command_is(const struct command *c, int i, const char *word)
{
	return c->value[i] && words_have(word, c->value[i], c->length[i]);
}
