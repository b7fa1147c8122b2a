/* A folder that is never incomplete: its files are written into a temporary folder beside it, which
 * is renamed at the end, and removed where the process ends before. */
#ifndef TL_EXPORT_FOLDER_H
#define TL_EXPORT_FOLDER_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct folder;

/* path must be no file, and no folder that has files. */
struct folder *folder_begin(const char *path, struct err *e);
int folder_make(struct folder *f, const char *name, struct err *e); /* a folder inside */
int folder_write(struct folder *f, const char *name, const struct buf *text, struct err *e);
/* Writes "checksums", the output of cksum over all files, and renames the temporary folder: the
 * folder is there now. */
int folder_commit(struct folder *f, struct err *e);
/* Without a commit before it, all that was written is removed. */
void folder_end(struct folder *f);

#endif
