/* What the completions of shells are made from: the option table (option.h), for
 * completions/fill.awk.
 *
 * The first line is "program", the program's name and "files" where its operands are files. Then
 * comes a line for each option that help shows: its traits, its letter, its name, what help calls
 * its argument, the words it may be given, and the first sentence of its help. Tabs are between
 * them, and spaces between traits and between words. The traits are flag or value, letter, many
 * (it may be given again), words, file, dir, and env (the id of one).
 */
#ifndef TL_IO_COMPLETE_H
#define TL_IO_COMPLETE_H

#include "lib/io/option.h"

/* Prints the table on standard output. */
void complete_print(const struct program *p);

#endif
