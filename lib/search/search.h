/* Search strategies: who decides which candidates to propose next, each a file lib/search/NAME.c
 * that defines `const struct search search_NAME`. What a strategy proposes is a function of
 * history, workload, seed and round alone.
 */
#ifndef TL_SEARCH_SEARCH_H
#define TL_SEARCH_SEARCH_H

#include <stdint.h>

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"

/* The spaces of all algorithms that apply to a workload, laid end to end. */
enum { SEARCH_MAX_ALGOS = 16 };
struct search_space {
	const struct workload *w;
	int nalgos;
	const struct algo *algo[SEARCH_MAX_ALGOS];
	struct knob_space space[SEARCH_MAX_ALGOS];
	uint64_t start[SEARCH_MAX_ALGOS + 1]; /* first point of each; the last entry is the total */
};
/* Asks every algorithm. only (may be NULL): the one algorithm wanted. */
void search_space_init(struct search_space *s, const struct workload *w, const struct limits *m,
		       const char *only);
/* The candidate at a point (without its id): 1, or 0 if the algorithm's predicate refuses it. */
int search_space_at(const struct search_space *s, uint64_t point, struct candidate *c);

struct search {
	const char *name;
	const char *summary;
	/* State for one workload, from arena a. */
	void *(*start)(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a);
	/* The next point to try; 0 when there is none left. May propose points that the predicate
	 * refuses or that are known already: the caller skips those. It never proposes a point
	 * twice. */
	int (*propose)(void *state, uint64_t *point);
	/* Told of an earlier result, best first is not assumed. May be NULL. */
	void (*observe)(void *state, const struct candidate *c, double latency_s);
};

extern const struct search *const search_list[]; /* NULL at the end; made from the file list */
const struct search *search_find(const char *name);

#endif
