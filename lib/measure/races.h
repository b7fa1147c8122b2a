/* The races of a group: each candidate against the incumbent (contest.h). */
#ifndef TL_MEASURE_RACES_H
#define TL_MEASURE_RACES_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

/* Writes the group's workload record, the results of its races and its end record, and chooses
 * the finalist. Builds must have ended. Returns 0; 1 if a signal stopped it (what was finished
 * has been written); -1 for faults of the machine or of the output. */
int races_run(struct measure *m, struct group *g, struct err *e);

#endif
