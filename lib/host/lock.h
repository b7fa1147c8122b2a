/* One lock for each device: two runs that time on one machine would disturb each other. */
#ifndef TL_HOST_LOCK_H
#define TL_HOST_LOCK_H

#include "lib/base/err.h"

/* Takes the machine-wide lock of a device ("cpu"). It is a file in /tmp, or in $TL_LOCKS, which
 * tests set because their timings do not matter. Waits until the lock is free, or until clock_now()
 * is `until` (INFINITY: for as long as it takes; 0: not at all), and then fails with EXIT_BUSY. The
 * message names the process that has the lock, and since when, if the kernel shows it. A program
 * that waits prints it at once, by lock_say(). Returns a descriptor, which holds the lock until it
 * is closed or the process ends; or -1. */
int lock_device(const char *device, double until, struct err *e);
/* "tl-measure: waiting: SENTENCE" on stderr, unless -q was given (lib/io/progress.h). */
void lock_say(const char *sentence);

#endif
