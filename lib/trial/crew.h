/* A crew: threads of the zygote that prepare operands together. They have ended when it returns, so
 * that a fork copies a process of one thread, in which OpenMP can still start a team.
 */
#ifndef TL_TRIAL_CREW_H
#define TL_TRIAL_CREW_H

#include <stdint.h>

#include "lib/target/runner.h"

/* Works on the pieces first to end - 1. */
typedef void crew_work(void *arg, int64_t first, int64_t end);

/* Returns how many of these threads are worth their start for so many floats. */
int crew_size(int threads, int64_t floats);
/* Works on n pieces, a stretch a thread. Where no thread starts, the caller's does its part.
 * runner: NULL, or where the team's processors are, which the threads take. */
void crew_run(const struct runner *runner, int threads, int64_t n, crew_work *work, void *arg);

#endif
