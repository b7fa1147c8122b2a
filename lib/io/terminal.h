/* The properties of a terminal: its width, and whether it may have colours. */
#ifndef TL_IO_TERMINAL_H
#define TL_IO_TERMINAL_H

enum { TERMINAL_WIDTH = 80 }; /* if it is no terminal, or its width is not known */

/* Columns of the terminal behind a file descriptor, as it is now: a window may change. */
int terminal_width(int fd);
/* May colours be used on it? Not if NO_COLOR is set. */
int terminal_color(int fd);

#endif
