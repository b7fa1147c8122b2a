/* These functions read lists of words, which have blanks between them: "add sub mul". */
#ifndef TL_BASE_WORDS_H
#define TL_BASE_WORDS_H

#include <stddef.h>

/* Is s, of n letters, one of the words? */
int words_have(const char *list, const char *s, size_t n);
/* Asks the same, but takes capitals for small letters. */
int words_have_like(const char *list, const char *s, size_t n);
/* Asks the same of a text that ends with a NUL. */
int words_are(const char *list, const char *s);
/* Does s begin with one of them? */
int words_begin(const char *list, const char *s);
/* Finds the first of the words that is in s at all, and returns where it stands there; NULL: none
 * is. */
const char *words_in(const char *list, const char *s);

#endif
