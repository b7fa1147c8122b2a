/* Lists of words, with blanks between them: "add sub mul". */
#ifndef TL_BASE_WORDS_H
#define TL_BASE_WORDS_H

#include <stddef.h>

/* Is s, of n letters, one of the words? */
int words_have(const char *list, const char *s, size_t n);
/* The same, where capitals count as small letters. */
int words_have_like(const char *list, const char *s, size_t n);
/* The same of a text that ends with a NUL. */
int words_are(const char *list, const char *s);
/* Does s begin with one of them? */
int words_begin(const char *list, const char *s);
/* Where in s the first of the words stands that is in it at all; NULL: none is. */
const char *words_in(const char *list, const char *s);

#endif
