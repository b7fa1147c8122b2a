/* Keeping the build cache's folder small and clean.
 *
 * Every run holds the folder's lock, shared with others, as long as it uses objects. A run that
 * finds no other run removes files: at that moment no object is in use, and what was begun was left
 * by runs that died. Only files whose names nothing else has are removed, and only from a folder
 * that carries our mark (mark.h): HASH.so and HASH.truth, and work folders. A work folder belongs
 * to one run, whose compilers have all their files there. Objects made by one compiler call are
 * links to one file. They are counted once, and are kept or removed together. True answers
 * (lib/trial/kept.h) lie in the same folder and are removed in the same way.
 */
#ifndef TL_BUILD_SWEEP_H
#define TL_BUILD_SWEEP_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* The bound from TL_CACHE_SIZE (bytes, or with K, M or G; default 1G); 0: none. */
int sweep_bound(int64_t *bytes, struct err *e);
/* Returns the descriptor that holds the lock; -1: the file system has none, and nothing will be
 * cleared up. */
int sweep_lock(const char *dir);
/* Makes a work folder of this run, and puts its path into out. */
int sweep_work_make(const char *dir, struct buf *out, struct err *e);
void sweep_work_remove(const char *work);
/* Is this the name of a file that the cache makes? */
int sweep_is_ours(const char *name);
/* Marks an object as used now. */
void sweep_touch(const char *object);
/* If no other run uses the folder, and it is ours, removes what dead runs left there, and then the
 * objects that were not used for longest, until the rest takes no more than bytes. Closes the lock.
 */
void sweep(const char *dir, int lock, int64_t bytes);

#endif
