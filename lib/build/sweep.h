/* Keeping the build cache's folder small and clean.
 *
 * Every run holds the folder's lock, shared with others, as long as it uses objects. A run that
 * finds no other run removes files: at that moment no object is in use, and all files but objects
 * were left by runs that died. Objects made by one compiler call are links to one file. They are
 * counted once, and are kept or removed together. True answers (lib/trial/kept.h) lie in the same
 * folder and are removed in the same way.
 */
#ifndef TL_BUILD_SWEEP_H
#define TL_BUILD_SWEEP_H

#include <stdint.h>

#include "lib/base/err.h"

/* The bound from TL_CACHE_SIZE (bytes, or with K, M or G; default 1G); 0: none. */
int sweep_bound(int64_t *bytes, struct err *e);
/* Returns the descriptor that holds the lock; -1: the file system has none, and nothing will be
 * cleared up. */
int sweep_lock(const char *dir);
/* Marks an object as used now. */
void sweep_touch(const char *object);
/* If no other run uses the folder, removes what dead runs left there, and then the objects that
 * were not used for longest, until the rest takes no more than bytes. Closes the lock. */
void sweep(const char *dir, int lock, int64_t bytes);

#endif
