/* One lock a device for timing: two timed runs on one machine would measure each other. */
#ifndef TL_HOST_LOCK_H
#define TL_HOST_LOCK_H

#include "lib/base/err.h"

/* Takes the machine-wide lock of a device ("cpu"): a file in /tmp, or in $TL_LOCKS for those who do
 * not care for their timings (tests). Waits unless nowait, then EXIT_BUSY, with a sentence that
 * tells which process has the lock, and since when, as far as the kernel tells. A program that
 * waits says so at once, by lock_say(). Returns the descriptor that holds the lock until it is
 * closed or the process ends, or -1. */
int lock_device(const char *device, int nowait, struct err *e);
/* "tl-measure: waiting: SENTENCE" on stderr, unless -q was given (lib/io/progress.h). */
void lock_say(const char *sentence);

#endif
