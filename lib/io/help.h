/* Prints the options of a program: --help, and the OPTIONS section of its manual page. Both are
 * made from the option table (option.h) and go to standard output.
 */
#ifndef TL_IO_HELP_H
#define TL_IO_HELP_H

#include "lib/io/option.h"

/* 80 columns wide. */
void help_text(const struct program *p);
/* In mdoc, the macros of manual pages. */
void help_man(const struct program *p);

#endif
