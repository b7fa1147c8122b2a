/* Lines that end with a backslash and go on in the next one: they are read as one text, with a
 * newline where the backslash was. */
#ifndef TL_EXTRACT_LIST_CONTINUED_H
#define TL_EXTRACT_LIST_CONTINUED_H

#include "lib/base/buf.h"

/* Is a line, whose end may be CR and LF, empty or a comment? */
int continued_is_silent(const char *line);
/* Adds a line, which ends with NUL behind its n bytes, to those that go on in it, of which it is
 * the first if there are none. may: may this text go on? NULL: any may. 1: it goes on, too. */
int continued_add(struct buf *text, const char *line, size_t n, int (*may)(char *text));

#endif
