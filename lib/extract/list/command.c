#include "lib/extract/list/command.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/words.h"

static const char blanks[] = " \t\r\n\"'\\";

/* A value may begin with a hyphen where it is a negative number. */
static int is_option(const char *s)
{
	return s[0] == '-' && !isdigit((unsigned char)s[1]) && s[1] != '.';
}

int command_read(struct command *c, const char *line)
{
	struct command_option *last = NULL;

	c->n = 0;
	for (const char *s = line; *(s += strspn(s, blanks));) {
		const size_t length = strcspn(s, blanks), letters = strcspn(s, "= \t\r\n\"'\\");
		const int has_value = s[letters] == '=';

		if (is_option(s) && c->n == COMMAND_OPTIONS)
			return -1;
		if (is_option(s)) {
			last = &c->option[c->n++];
			*last = (struct command_option){s, s + letters + has_value, letters,
							has_value ? length - letters - 1 : 0};
			last = has_value ? NULL : last;
		} else if (last) {
			last->value = s;
			last->length = length;
			last = NULL;
		}
		s += length;
	}
	return 0;
}

const struct command_option *command_get(const struct command *c, const char *names)
{
	for (int i = c->n; i-- > 0;)
		if (words_have(names, c->option[i].name, c->option[i].letters))
			return &c->option[i];
	return NULL;
}

int64_t command_int(const struct command *c, const char *names, int64_t other)
{
	const struct command_option *o = command_get(c, names);
	int64_t v = 0;

	if (!o)
		return other;
	for (size_t k = 0; k < o->length; k++) {
		if (!isdigit((unsigned char)o->value[k]) || v > INT32_MAX)
			return -1;
		v = 10 * v + (o->value[k] - '0');
	}
	return o->length ? v : -1;
}

int command_is(const struct command *c, const char *names, const char *word)
{
	const struct command_option *o = command_get(c, names);

	return o && words_have(word, o->value, o->length);
}
