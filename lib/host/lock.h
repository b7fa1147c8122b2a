/* One lock for each device: two runs that time on one machine would disturb each other.
 *
 * It is a file in /tmp, or in $TL_LOCKS: runs of all users share it, and those of all containers
 * that share this folder. Runs that wait for the lock stand in a line, in the order in which they
 * came. A run that has had it for LOCK_TURN_S lets the first of them go on, and goes to the end of
 * the line. So each of n runs has the machine for 1/n of the time, and none waits longer than n
 * turns. The clock of a program stands while it waits (lib/io/clock.h).
 */
#ifndef TL_HOST_LOCK_H
#define TL_HOST_LOCK_H

#include "lib/base/err.h"

enum { LOCK_TURN_S = 10 };

enum lock_how {
	LOCK_WAIT,
	LOCK_WAIT_TURNS, /* tells only of a wait that is longer than a turn */
	LOCK_TRY,
};

struct lock {
	const char *device;
	int fd;	      /* holds the lock until it is closed or the process ends; -1: not held */
	double since; /* clock_now() of when this turn began */
	int told;     /* the user knows that it waits */
	enum lock_how how;
};

/* Takes the lock of a device ("cpu"). LOCK_TRY: fails with EXIT_BUSY if another run has it. The
 * message names the process that has the lock, and since when, if the kernel shows it. A program
 * that waits prints it at once, by lock_say(). */
int lock_take(struct lock *l, const char *device, enum lock_how how, struct err *e);
/* Whether this turn has lasted long enough, and another run waits. */
int lock_is_wanted(const struct lock *l);
/* Lets those who wait go first, and waits for the next turn. -1: there is none. */
int lock_yield(struct lock *l, struct err *e);
void lock_drop(struct lock *l);
/* "tl-measure: waiting: SENTENCE" on stderr, unless -q was given (lib/io/progress.h). */
void lock_say(const char *sentence);

#endif
