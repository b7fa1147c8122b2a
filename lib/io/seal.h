/* Seals: a checksum at the end of a file that programs keep for themselves. A file that was damaged
 * or cut off is found out when it is read. A seal does not tell who made the file: that is what
 * lib/io/trust.h is for.
 *
 * A seal is the line "\ntl-seal HASH\n" behind the content, with the hash of the content. Loaders
 * of shared objects pass over it.
 *
 * A checksum in each object. It stands behind the object's bytes in the same file, so that both
 * get their name by one rename, and all links of a batch share it. dlopen() passes over it, and
 * runners of devices take it away. The runner looks at it before each load, in the process that
 * loads. So a flipped bit makes an object that "does not load". It costs one hash of some tens of
 * KB for a load. While candidates come in, only the object's end is looked at: what has no seal is
 * built with the others. The probe's file has a seal, too; true answers have a head with a hash.
 */
#ifndef TL_IO_SEAL_H
#define TL_IO_SEAL_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Appends the seal of all that is in text. */
void seal_put(struct buf *text);
/* Appends the seal to a file, and writes both to the disk. */
int seal_file(const char *path, struct err *e);
/* Appends the content of a file, without its seal: 1. 0: there is no such file, or it is not what
 * was sealed, or it is no regular file, or it belongs to another user. -1: it cannot be told. */
int seal_read(const char *path, struct buf *out, struct err *e);
/* Does the file end like a sealed one? This reads only its end. 1; 0, as of seal_read(), also where
 * it cannot be told. */
int seal_seems_whole(const char *path);

#endif
