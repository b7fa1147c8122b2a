/* A run that measures lets other runs have their turns on the machine (lib/host/lock.h).
 *
 * Quiet. Kernels are built while input is read, and timed when it has ended, so nothing of the
 * pipeline runs beside a timing. There is one lock for each machine (lib/host/lock.h). Runs that
 * wait stand in a line, and who has had the machine for ten seconds lets the others go first. A
 * place in the line is a lock on one byte of the lock's file, at the time of coming: the kernel
 * takes it back when a waiting run dies, and a file that other users may only read is enough for
 * it. While a program waits, its clock stands (lib/io/clock.h), so that limits, costs and
 * remaining times leave the wait out without knowing of it. tl-prune --part-of shifts the end of
 * the run by what its parts waited.
 */
#ifndef TL_MEASURE_PAUSE_H
#define TL_MEASURE_PAUSE_H

#include "lib/measure/run.h"

/* Between two races, when nothing is timed or built: if the turn is over and another run waits,
 * that one goes first. What its work costs, in time and energy, does not count here. Returns 0; 1:
 * stopped meanwhile; -1: the lock is lost. */
int pause_for_others(struct measure *m, struct err *e);

#endif
