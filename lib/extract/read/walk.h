/* The files of a folder and of the folders in it, in an order that is always the same: by name,
 * folder by folder. Hidden files and folders are left out (".git"), and so is what is no file.
 * Symbolic links are followed, as model hubs keep the files themselves elsewhere, but never into a
 * folder that the walk is in already.
 */
#ifndef TL_EXTRACT_READ_WALK_H
#define TL_EXTRACT_READ_WALK_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct walk;

/* NULL: the folder cannot be read. */
struct walk *walk_open(const char *path, struct err *e);
/* 1: the path of the next file; 0: no more; -1: a folder, or a file's kind, cannot be told. The
 * walk goes on behind it. */
int walk_next(struct walk *w, struct buf *path, struct err *e);
void walk_close(struct walk *w);

#endif
