/* The files that --batch=FILE of benchdnn names, which may name others: what is open now, and how
 * much may be opened for one list.
 *
 * A FILE lies where the file that names it lies, or else where one of those around that lies, as
 * benchdnn looks for it.
 */
#ifndef TL_EXTRACT_LIST_BENCHDNN_BATCH_H
#define TL_EXTRACT_LIST_BENCHDNN_BATCH_H

#include <sys/types.h>

#include "lib/extract/read/archive.h"

enum { BENCHDNN_BATCH_DEPTH = 16 };

struct benchdnn_batch {
	struct benchdnn_file {
		char *path; /* as it was opened */
		dev_t device;
		ino_t number;
		int64_t line; /* that is read; the caller counts. 0: of the list itself */
	} file[BENCHDNN_BATCH_DEPTH];
	int depth; /* files that are open; 0: the list is no file, and nothing can be followed */
	int files;
	int64_t bytes;
};

/* The list itself. */
void benchdnn_batch_begin(struct benchdnn_batch *b, const struct member *m);
/* Opens the file of that name, of n bytes, and appends what it holds to text. -1: it is not there,
 * is open already, so that it leads back to itself, or is too much. */
int benchdnn_batch_enter(struct benchdnn_batch *b, const char *name, size_t n, struct buf *text,
			 struct err *e);
/* The innermost file ends. */
void benchdnn_batch_leave(struct benchdnn_batch *b);
/* The innermost file; NULL: it is the list itself, or nothing is open. */
struct benchdnn_file *benchdnn_batch_inner(struct benchdnn_batch *b);

#endif
