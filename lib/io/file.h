/* Whole files. */
#ifndef TL_IO_FILE_H
#define TL_IO_FILE_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Appends what the file holds. */
int file_read(const char *path, struct buf *out, struct err *e);
/* Writes n bytes; after a failure the file is gone. */
int file_write(const char *path, const char *text, size_t n, struct err *e);
/* Opens a file for flock(), which this process or another one makes if it is not there, readable
 * for all users. It follows no link, waits for no pipe, and changes nothing of a file that was
 * there: in a folder such as /tmp others may have put one. -1: it cannot be opened, or is no
 * regular file.
 */
int file_open_lock(const char *path, struct err *e);

#endif
