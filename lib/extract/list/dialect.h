/* Dialects of logs and lists of lines: each knows its lines, and what they say of operators.
 *
 * A dialect is a file here that defines `const struct dialect dialect_NAME` and stands in the table
 * of log.c, whose order says which dialect is asked first. All of them take and leave operators by
 * listing.h, which counts, and says by name what is left out.
 */
#ifndef TL_EXTRACT_LIST_DIALECT_H
#define TL_EXTRACT_LIST_DIALECT_H

#include "lib/extract/list/listing.h"

struct dialect {
	/* Where in the line, which holds no NUL, that begins which the dialect reads; NULL: the
	 * line is none of its own. */
	char *(*find)(char *line);
	/* Reads the line from there on, and may change it. state: `size` bytes, at first zero. */
	void (*read)(struct listing *l, void *state, char *at);
	/* After the last line; NULL: nothing is left to do. */
	void (*end)(struct listing *l, void *state);
	size_t size;
	int is_common; /* other texts have such lines, too */
	/* Lines may end with a backslash and go on in the next one: these come as one line, with a
	 * newline where the backslash was. */
	int goes_on;
};

extern const struct dialect dialect_verbose, dialect_benchdnn, dialect_benchdnn_command,
	dialect_calls, dialect_cublaslt, dialect_miopen, dialect_rocblas, dialect_autotvm,
	dialect_lorien;

#endif
