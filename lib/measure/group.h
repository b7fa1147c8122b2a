/* Taking groups in: one workload and the candidates to measure for it, from the records that came.
 * While groups are read their kernels build (cache.h).
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
int group_incumbent(struct group *g, const struct target *target, const struct json_doc *d,
		    const struct json *incumbent, struct err *e);
void group_opponent(struct group *g, const struct json_doc *d, const struct json *opponent);
/* How the incumbent stands against the library, as far as the workload record tells both times. */
void group_standing(struct measure *m, struct group *g, const struct json_doc *d);
/* Has the kernel of an item built that was not known to be needed. */
int group_kernel(struct measure *m, struct group *g, struct item *it, struct err *e);

#endif
