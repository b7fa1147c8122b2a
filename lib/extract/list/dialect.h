/* Dialects of logs and lists of lines: each knows its lines, and what they say of operators.
 *
 * A dialect is a file here that defines `const struct dialect dialect_NAME` and stands in the table
 * of log.c, whose order says which dialect is asked first.
 *
 * fate.h records what became of each node. A table (contents.h) and a drawing (drawing.h) show it.
 * A format of graphs calls extract_show() for both; lists, logs and records add what they read to
 * the table. Readers of lists and logs stand in lib/extract/list/, a file a dialect (dialect.h),
 * over one mechanism that keeps counts, and by name what is left out (listing.h). oneDNN's
 * notation is in one place (onednn.h). Its log (verbose.c) and benchdnn's command lines
 * (benchdnn.h) share it, and the latter are both read and written, so what is written is read back
 * as the same workload. What benchdnn's notation leaves out is filled in by its own rules
 * (onednn_conv.c), which are not those of records: there a width is as the height where the text
 * does not say it. The mask of a post-op's operand is compared with the shape that oneDNN
 * computes, before batch dimensions become rows.
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
