/* The finals of several groups (final.h).
 *
 * A neighbour's burst of work lasts for up to some seconds, as long as several processes of one
 * final. So the processes take turns: each group has its first, then each its second, and so on.
 */
#ifndef TL_MEASURE_FINALS_H
#define TL_MEASURE_FINALS_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

/* For the groups from `first` on, until `end` (NULL: all), whose races have been run: the
 * finals of those that have a finalist. Returns as races_run() does. */
int finals_run(struct measure *m, struct group *first, const struct group *end, struct err *e);

#endif
