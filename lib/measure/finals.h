/* The finals of several groups (final.h).
 *
 * The groups take turns (turns.h). When the run's time is over, no process begins, and a final ends
 * with the processes that it has; one that has none has no result.
 */
#ifndef TL_MEASURE_FINALS_H
#define TL_MEASURE_FINALS_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

/* Runs the finals of the groups from `first` to before `end` (NULL: all) that have a finalist.
 * Their races must have been run. Returns as races_run() does. */
int finals_run(struct measure *m, struct group *first, const struct group *end, struct err *e);

#endif
