/* The option table: from one table come parsing (getopt_long), --help, the OPTIONS section of the
 * man page and what completions/ makes the completions of shells from, so that they cannot
 * disagree.
 *
 * Every program has --help (-h) and --version without listing them. A malformed table (no help
 * text, a name or letter twice, a default that does not parse or that help does not name) is a bug
 * that ends any start of the program with an assertion.
 */
#ifndef TL_IO_OPT_H
#define TL_IO_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/io/option.h"

/* Opens standard streams that are closed (descriptors.h), ignores SIGPIPE and SIGXFSZ, parses argv,
 * stores the values, and returns the index of the first operand.
 * Prints and exits by itself for --help, --version, --help-man (the OPTIONS section in mdoc) and
 * --help-options (the table for completions, see complete.h) with status 0, and for usage errors
 * (status 2, one line on stderr that names --help). */
int opt_parse(const struct program *p, int argc, char **argv);

/* "tl-gen: sentence" on stderr, if there is one; returns e->status, for `return opt_fail(p, &e);`
 * in main. */
int opt_fail(const struct program *p, const struct err *e);
/* The exit status of a program that printed by stdio: a full disk shows in it, and is told. */
int opt_printed(const struct program *p);
/* "tl-gen: sentence" on stderr, for what is no warning; nothing under -q (OPT_QUIET). */
void opt_say(const struct program *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* "tl-gen: warning: ..." on stderr, likewise. */
void opt_warn(const struct program *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For programs that read by libarchive, which ends the process with status 1 where it has no
 * memory: that becomes a sentence and EXIT_INPUT. Before anything else that sets an exit handler;
 * the program itself must not end with 1. */
void opt_foreign_exit(const struct program *p);
/* Ends the process by the signal that stopped the reader (status 128 + n), after clean-up. */
void opt_die_by_signal(int sig) __attribute__((noreturn));

#endif
