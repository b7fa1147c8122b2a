/* The properties of a terminal: its width, and whether it may have colours; and what may reach it.
 */
#ifndef TL_IO_TERMINAL_H
#define TL_IO_TERMINAL_H

#include "lib/base/buf.h"

enum { TERMINAL_WIDTH = 80 }; /* if it is no terminal, or its width is not known */

/* Columns of the terminal behind a file descriptor, as it is now: a window may change. */
int terminal_width(int fd);
/* May colours be used on it? Not if NO_COLOR is set. */
int terminal_color(int fd);
/* Appends a text from outside (a name, a path) so that it can neither steer a terminal nor pretend
 * to be another line: control characters, those that turn the direction of writing, and bytes that
 * are no UTF-8 are written as \x1b, \n or \u202e. out->s is a text then, if an empty one. */
void terminal_text(const char *s, size_t n, struct buf *out);
/* A sentence on standard error, as terminal_text() makes it, but for a newline at its end. */
void terminal_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
