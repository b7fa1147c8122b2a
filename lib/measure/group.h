/* A group: one workload and the candidates to measure for it, from the records that came in to
 * those that go out.
 *
 * While groups are read their kernels build (cache.h); group_run() then verifies, races and
 * re-times them in a worker and writes the results. Each runs in a process of its own, whose death
 * costs that candidate alone. After some failures in a row something known to be good has to run
 * before any of them is written: if it fails, too, the machine is at fault and no candidate.
 */
#ifndef TL_MEASURE_GROUP_H
#define TL_MEASURE_GROUP_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

void group_init(struct group *g, const struct workload *w);
void group_free(struct group *g);
/* Takes a candidate in: checks it, and starts its build. The line is copied. -1 only for faults of
 * the machine. */
int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e);
/* From the workload record: who holds the place before the first race ("incumbent", as tl-prune
 * writes it; one without algorithm and knobs is passed over), and which of the library's variants
 * was found to be its best ("opponent"; passed over if another system found it, or NULL). */
int group_incumbent(struct group *g, const struct json_doc *d, const struct json *incumbent,
		    struct err *e);
void group_opponent(struct group *g, const struct json_doc *d, const struct json *opponent);
/* Measures the group and writes workload, results and end. Builds must have ended. Returns 0; 1 if
 * a signal stopped it (what was finished has been written, the end has not); -1 for faults of the
 * machine or of the output. */
int group_run(struct measure *m, struct group *g, struct err *e);

#endif
