/* Runs a plan: by its team of threads (parts.h), or by a library. */
#ifndef TL_RUN_EXEC_H
#define TL_RUN_EXEC_H

#include "lib/base/err.h"
#include "lib/run/plan.h"

/* Starts the team, and puts its threads on cores (parts.h). -1: a thread does not start. exec_end()
 * in any case. */
int exec_team(struct plan *p, struct err *e);
void exec_end(struct plan *p);
/* Runs one step that is live, and is no step of the library. -1 as below. */
int exec_step(struct plan *p, const struct step *s, struct err *e);
/* Waits until no thread looks at the plan's steps (parts_rest()). */
void exec_rest(struct plan *p);
/* Runs all steps. ended: NULL; or room for one more time than there are steps: the start, and when
 * each step ended, in seconds of clock_now(). -1: an index lay outside (gather.h). */
int exec_run(struct plan *p, double *ended, struct err *e);

#endif
