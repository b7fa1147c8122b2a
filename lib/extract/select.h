/* Which of the workloads found are written, and in which order.
 *
 * A condition (lib/base/condition.h) may use the names of the operators' dimensions; flops, bytes
 * (of all tensors, each once), count, and total (flops times count); and the texts op, layout and
 * dtype. An operator lacks the dimensions of the others.
 */
#ifndef TL_EXTRACT_SELECT_H
#define TL_EXTRACT_SELECT_H

#include "lib/base/condition.h"
#include "lib/extract/worklist.h"

/* What came of a selection, for a sentence. */
struct selected {
	int64_t out;	   /* workloads that were left out */
	int64_t unknown;   /* those among them that lack a name on which the condition depends */
	const char *lacks; /* the first such name, which is the arena's, */
	const char *op;	   /* and the operator that lacks it */
};

/* All works of a list, in order: an array of l->by_id.n, which is the caller's to free. */
struct work **select_all(const struct worklist *l);
/* Keeps those for which the condition holds; how many. -1 with EXIT_USAGE if it is none. */
int64_t select_where(struct work **w, int64_t n, const char *condition, struct arena *a,
		     struct selected *told, struct err *e);
/* Sorts by "flops", "bytes", "count" or "total", the largest first, or the smallest. Equal ones
 * keep their order. */
void select_sort(struct work **w, int64_t n, const char *key, int smallest_first);

#endif
