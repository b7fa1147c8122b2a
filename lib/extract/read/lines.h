/* The lines of a name on the command line: a file, plain or compressed, or each member of an
 * archive of such files. For programs that read records beside their stream. */
#ifndef TL_EXTRACT_READ_LINES_H
#define TL_EXTRACT_READ_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct lines {
	/* Takes a line without its newline; empty ones are left out. -1: it makes no sense. */
	int (*take)(void *arg, const char *line, size_t n, struct err *why);
	/* Is told what is wrong: "FILE:LINE: WHY", of a kind a few times (lib/io/complaints.h). */
	void (*say)(void *arg, const char *sentence);
	void *arg;
	int64_t *bad; /* counts the lines that make no sense */
};

/* 0; -1 if the input cannot be read. Ends early, with 0, when a signal has come
 * (rec_stop_on_signals()). */
int lines_each(const char *path, const struct lines *l, struct err *e);
/* Is it an SQLite database? Then its lines are elsewhere. */
int lines_is_database(const char *path);

#endif
