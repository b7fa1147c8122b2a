/* What is known of a terminal: how wide it is, and whether it may have colours. */
#ifndef TL_IO_TERMINAL_H
#define TL_IO_TERMINAL_H

enum { TERMINAL_WIDTH = 80 }; /* of what is no terminal, or does not tell */

/* Columns of the terminal behind a file descriptor, as it is now: a window may change. */
int terminal_width(int fd);
/* May colours be used on it? Not if NO_COLOR is set. */
int terminal_color(int fd);

#endif
