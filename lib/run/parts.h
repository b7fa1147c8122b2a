/* A team of threads runs a plan: they take parts of its steps.
 *
 * Each thread has a core of its own, which it may have to share with other programs. So no thread
 * waits for another that has not begun: a step is cut into a few parts for each thread, and who is
 * done with its own takes those that another has not begun yet (work stealing, Blumofe and
 * Leiserson, "Scheduling Multithreaded Computations by Work Stealing", JACM 46(5), 1999). The
 * thread that ends the last part of a step begins the next step for all; it does the steps of one
 * thread that follow itself before that, which costs no turn of the team. If a thread has begun a
 * part, and another program has its core, then one that has nothing left to do gives it its own
 * core, and sleeps.
 *
 * A kernel of several phases is not cut: each thread runs its part, and they meet in between.
 *
 * The team (parts.h) is started once for a run. If the process has as many CPUs as there are
 * threads, each is on one of its own; of more, the system chooses, because other programs would
 * take the same first ones. A fork and join for each step would cost as much as the smallest
 * operators take. Other programs use the same cores, so no thread waits for one that has not
 * begun: a step is cut into four parts for each thread, and who has done its own takes those that
 * others have not begun. A kernel's function takes (thread, threads), so a part is a call with
 * more threads than there are; where it has workspace, the part's is moved to that of the thread
 * which runs it. The thread that ends the last part begins the next step. A thread that has begun
 * a part and lost its core to another program (its CPU time stands) gets the core of one that has
 * nothing left to do, which sleeps meanwhile; it goes back to its own core before it takes another
 * part. Waiting threads spin for 2 ms, or for 20 us where another program was seen, and then
 * sleep. Kernels of several phases are not cut: their threads meet between phases.
 */
#ifndef TL_RUN_PARTS_H
#define TL_RUN_PARTS_H

#include <sched.h>

#include "lib/base/err.h"
#include "lib/run/plan.h"

struct parts;

/* Starts the threads, of which the caller is one. If the process has as many CPUs as there are
 * threads, each is put on one of them, until parts_end(); of more CPUs the system chooses. The plan
 * must be prepared, and outlive the team. NULL: a thread does not start. */
struct parts *parts_start(const struct plan *p, const cpu_set_t *cpus, struct err *e);
/* Runs all live steps. ended[i + 1] becomes the time at which step i ended, by clock_now(); NULL:
 * nobody wants it. Returns NULL, or a step that could not be computed (struct plain). */
const struct step *parts_run(struct parts *t, double *ended);
/* Waits until no thread looks at a step any more, which may go on for a moment behind a run. Then
 * the plan's steps may be changed. */
void parts_rest(struct parts *t);
/* t may be NULL. */
void parts_end(struct parts *t);

#endif
