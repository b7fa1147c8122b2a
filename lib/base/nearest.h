/* The name that was meant: of many, the one that differs least from a word, by insertions,
 * deletions, replacements and swaps of neighbours (Damerau, "A technique for computer detection and
 * correction of spelling errors", Commun. ACM 7(3), 1964). */
#ifndef TL_BASE_NEAREST_H
#define TL_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *word;
	size_t n;      /* its length */
	char name[64]; /* the nearest so far; "": none */
	int distance;
};

/* Starts with a word of n bytes. A name or word of more than 63 bytes is never near. */
void nearest_begin(struct nearest *s, const char *word, size_t n);
void nearest_try(struct nearest *s, const char *name);
/* "; did you mean NAME?", or "" if none is near: a text that lives until the next call. */
const char *nearest_hint(const struct nearest *s);

#endif
