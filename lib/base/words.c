#include "lib/base/words.h"

#include <string.h>
#include <strings.h>

/* Returns the next word of a list, of *n letters; NULL: there is none. */
static const char *next(const char **list, size_t *n)
{
	const char *word = *list, *end;

	/* Words are short: a call of strcspn() takes longer than to look at them. */
	while (*word == ' ')
		word++;
	for (end = word; *end && *end != ' ';)
		end++;
	*n = (size_t)(end - word);
	*list = end;
	return *n ? word : NULL;
}

static int has(const char *list, const char *s, size_t n,
	       int (*compare)(const char *a, const char *b, size_t n))
{
	const char *word;
	size_t length;

	while ((word = next(&list, &length)))
		if (length == n && !compare(word, s, n))
			return 1;
	return 0;
}

int words_have(const char *list, const char *s, size_t n)
{
	return has(list, s, n, strncmp);
}

int words_have_like(const char *list, const char *s, size_t n)
{
	return has(list, s, n, strncasecmp);
}

int words_are(const char *list, const char *s)
{
	return words_have(list, s, strlen(s));
}

int words_begin(const char *list, const char *s)
{
	const char *word;
	size_t n;

	while ((word = next(&list, &n)))
		if (!strncmp(word, s, n))
			return 1;
	return 0;
}

const char *words_in(const char *list, const char *s)
{
	const size_t length = strlen(s);
	const char *word, *at;
	size_t n;

	while ((word = next(&list, &n)))
		if ((at = memmem(s, length, word, n)))
			return at;
	return NULL;
}
