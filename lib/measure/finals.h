/* The finals of several groups (final.h).
 *
 * A burst of other work on the machine may last for seconds, as long as several processes of one
 * final. So the groups take turns: each has its first process, then each its second, and so on.
 */
#ifndef TL_MEASURE_FINALS_H
#define TL_MEASURE_FINALS_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

/* Runs the finals of the groups from `first` to before `end` (NULL: all) that have a finalist.
 * Their races must have been run. Returns as races_run() does. */
int finals_run(struct measure *m, struct group *first, const struct group *end, struct err *e);

#endif
