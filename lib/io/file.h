/* Whole files. */
#ifndef TL_IO_FILE_H
#define TL_IO_FILE_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Refuses what is there but no file to read: a folder, a device, or a pipe with a name, at which
 * open() would wait for a writer that may never come. A pipe without a name (/dev/stdin, a shell's
 * <(...)) may be read. What cannot be looked at is left to open(). what: "the model", for the
 * sentence. */
int file_check(const char *what, const char *path, struct err *e);
/* Opens such a file for reading. Returns its descriptor, or -1. */
int file_open(const char *what, const char *path, struct err *e);
/* Appends what such a file holds. */
int file_read(const char *what, const char *path, struct buf *out, struct err *e);
/* Reads n bytes from a place on. 1; 0: the file ends before; -1. */
int file_read_at(int fd, void *to, size_t n, int64_t offset, const char *path, struct err *e);
/* Writes n bytes; after a failure the file is gone. */
int file_write(const char *path, const char *text, size_t n, struct err *e);
/* Opens a file for flock(), which this process or another one makes if it is not there, readable
 * for all users. It follows no link, waits for no pipe, and changes nothing of a file that was
 * there: in a folder such as /tmp others may have put one. -1: it cannot be opened, or is no
 * regular file.
 */
int file_open_lock(const char *path, struct err *e);
/* flock(), which goes on after a signal: for locks that are got or refused soon. */
int file_lock(int fd, int how);

#endif
