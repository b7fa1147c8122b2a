#include "lib/io/complaints.h"

#include <ctype.h>
#include <string.h>

const char *complaints_name(const char *file)
{
	return strcmp(file, "-") ? file : "(standard input)";
}

/* The sentence without its numbers, and without what stands in quotes. */
static void kind_of(const char *why, char text[COMPLAINTS_TEXT])
{
	size_t n = 0;
	int quoted = 0;

	for (; *why && n < COMPLAINTS_TEXT - 1; why++) {
		quoted ^= *why == '"';
		if (!isdigit((unsigned char)*why) && (!quoted || *why == '"'))
			text[n++] = *why;
	}
	text[n] = 0;
}

int complaints_add(struct complaints *c, const char *file, uint64_t line, const char *why,
		   struct buf *sentence)
{
	char text[COMPLAINTS_TEXT];
	int i = 0;

	kind_of(why, text);
	while (i < c->nkinds && i < COMPLAINTS_KINDS - 1 && strcmp(c->kind[i].text, text) != 0)
		i++;
	if (i == c->nkinds) {
		c->nkinds++;
		memcpy(c->kind[i].text, text, sizeof text);
		c->kind[i].line = line;
		c->kind[i].n = 0;
	}
	if (++c->kind[i].n > COMPLAINTS_EACH)
		return 0;
	buf_clear(sentence);
	buf_fmt(sentence, "%s:%llu: %s", complaints_name(file), (unsigned long long)line, why);
	return 1;
}

int complaints_rest(struct complaints *c, const char *file, struct buf *sentence)
{
	for (int i = 0; i < c->nkinds; i++) {
		uint64_t more = c->kind[i].n > COMPLAINTS_EACH ? c->kind[i].n - COMPLAINTS_EACH : 0;

		c->kind[i].n = 0;
		if (!more)
			continue;
		buf_clear(sentence);
		buf_fmt(sentence, "%s: and %llu more error%s like that of line %llu",
			complaints_name(file), (unsigned long long)more, more > 1 ? "s" : "",
			(unsigned long long)c->kind[i].line);
		return 1;
	}
	c->nkinds = 0;
	return 0;
}
