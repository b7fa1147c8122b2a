/* Completion of a program's options in bash, zsh and fish. Each shell gets a small script a
 * program, made from the option table (option.h), on standard output.
 *
 * Names of files are left to the shell, which knows how to quote them. The ids of envs are asked
 * for when they are wanted: `tl-query --env-ids`, with the database of the command line.
 */
#ifndef TL_IO_COMPLETE_H
#define TL_IO_COMPLETE_H

#include "lib/io/option.h"

/* shell: "bash", "zsh" or "fish"; -1 for another one. */
int complete_print(const struct program *p, const char *shell);

#endif
