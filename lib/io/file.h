/* Whole files. */
#ifndef TL_IO_FILE_H
#define TL_IO_FILE_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Appends what the file holds. */
int file_read(const char *path, struct buf *out, struct err *e);
/* Writes n bytes; after a failure the file is gone. */
int file_write(const char *path, const char *text, size_t n, struct err *e);

#endif
