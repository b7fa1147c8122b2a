/* A file is written beside the one that it is to replace, and renamed when it is whole:
 * PATH.N.tl.tmp, where N is a process id, or another number if that name is taken.
 *
 * A process that is killed by SIGKILL leaves it. So the next one that writes the same file removes
 * those that nobody holds a lock on (flock), which their process does until it ends: another
 * process may have got its number. Where the file system has no locks they stay. Locks that count
 * on one machine alone, as some mounts have them, do not keep those of another machine.
 */
#ifndef TL_IO_BESIDE_H
#define TL_IO_BESIDE_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Removes what dead processes left beside path, makes a locked file there, and appends its name.
 * Returns its descriptor, which keeps the lock: it must be open until the file has its own name.
 * -1: it cannot be made. */
int beside_open(const char *path, struct buf *name, struct err *e);

#endif
