/* The settings of the thread team in which workers run kernels. */
#ifndef TL_HOST_TEAM_H
#define TL_HOST_TEAM_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Refuses variables of OpenMP with which there is no team of so many threads, or with which its
 * threads cannot be started. EXIT_USAGE. */
int team_variables(int threads, struct err *e);

enum { TEAM_ANYWHERE = 64, TEAM_EACH_CPU = 4 };

/* Refuses teams of more than TEAM_EACH_CPU threads for each CPU that this process may use, and of
 * more than TEAM_ANYWHERE: their threads wait for each other by turns, so that a kernel of
 * microseconds takes seconds. asked_by: "OMP_NUM_THREADS" or the option, for the sentence.
 * EXIT_USAGE. */
int team_check(int threads, const char *asked_by, struct err *e);
/* Sets the environment variables of this process for its workers: their OpenMP teams have so many
 * threads, which are bound to cores from the first kernel on, for candidate and baseline alike. */
void team_environment(int threads);
/* Asks a worker (its path) for what an option tells: a line, which is appended to out. What
 * libraries in it print is none. threads: of its team. -1: errno is ENOEXEC where the worker cannot
 * start, as without a library. */
int team_ask(const char *worker, const char *option, int threads, struct buf *out, struct err *e);

#endif
