/* Reads groups from records: one workload and the candidates to measure for it. Their kernels are
 * built meanwhile (cache.h).
 */
#ifndef TL_MEASURE_GROUP_H
#define TL_MEASURE_GROUP_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

void group_init(struct group *g, const struct workload *w);
void group_free(struct group *g);
/* Adds a candidate: checks it, and starts its build. The line is copied. -1 only for faults of the
 * machine. */
int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e);
/* Take fields of the workload record, as tl-prune writes them. "incumbent" is the one before the
 * first race; one without algorithm and knobs is ignored. "opponent" (or NULL) is the library's
 * best variant; it is ignored if it was found on another system. */
int group_incumbent(struct group *g, const struct target *target, const struct json_doc *d,
		    const struct json *incumbent, struct err *e);
void group_baseline(struct group *g, const struct json_doc *d, const struct json *baseline);
/* Takes what the workload record tells of the time: the count, the incumbent's latency, and how the
 * incumbent compares with the baseline. */
void group_standing(struct measure *m, struct group *g, const struct json_doc *d);
/* The line of the candidate that "incumbent" is, by this id. line is cleared first. */
void group_incumbent_line(const struct workload *w, const struct target *target,
			  const struct json_doc *d, const struct json *incumbent, const char *id,
			  struct buf *line);
/* Builds the kernel of an item that seemed not to be needed when it was added. */
int group_kernel(struct measure *m, struct group *g, struct item *it, struct err *e);

#endif
