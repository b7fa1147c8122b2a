/* A run that measures lets other runs have their turns on the machine (lib/host/lock.h). */
#ifndef TL_MEASURE_PAUSE_H
#define TL_MEASURE_PAUSE_H

#include "lib/measure/run.h"

/* Between two races, when nothing is timed or built: if the turn is over and another run waits,
 * that one goes first. What its work costs, in time and energy, does not count here. -1: stopped,
 * or the lock is lost. */
int pause_for_others(struct measure *m, struct err *e);

#endif
