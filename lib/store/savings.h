/* Estimates what the runs of cost.h saved, from their own records.
 *
 * - A race that was stopped early would have taken as long as the others of its workload took that
 *   went to their end. What counts is what a candidate cost beside its build. Races that were won
 *   are left out: they end when they are decided, or have a second duel. Where no race of a
 *   workload went to its end, nothing is estimated.
 * - A kernel that was in the build cache would have taken as much as half of those took that were
 *   built (the median: the reference of a workload is built, too, and takes longer).
 * - What the filter passed over is counted, and not estimated: nobody would have built all of it.
 *
 * What is saved is an estimate, and says by what. Each figure goes by the run's own records: a
 * race that was stopped early would have taken as long as the others of its operator, a kernel
 * from the cache as long as the median of those that were built. What the filter passed over is
 * counted only, because nobody would build all of it. tl-tune stores why its rounds ended in its
 * run record (tl-prune --why), so that tl-query --cost can say all of it later.
 */
#ifndef TL_STORE_SAVINGS_H
#define TL_STORE_SAVINGS_H

#include "lib/base/map.h"
#include "lib/store/store.h"

/* Holds what was saved, in core-seconds. */
struct savings {
	int64_t races, stopped;	     /* timed, and of these stopped early */
	int64_t estimated;	     /* of the stopped ones those that an estimate is known for */
	double stopped_s;	     /* what these would have taken more */
	int64_t proposed, passed_on; /* candidates that a filter saw, and those that it let pass */
	int64_t kernels, built;	     /* needed, and of these compiled; the cache had the others */
	double cached_s;	     /* what these others would have taken */
};

/* What gathers it, inside of lib/store. A zeroed struct is an empty one. */
struct saver {
	struct savings sum;
	struct {
		int64_t whole, stopped;
		double whole_s, stopped_s; /* core-seconds */
	} place;			   /* of one workload in one env */
	struct map kernels;		   /* hashes of their sources */
	double *build_s;		   /* core-seconds of the builds */
	size_t nbuild_s, cap;
};

/* Takes a result of the runs, whose record d holds. own_s: its core-seconds, but for what the
 * candidates of a workload share. */
void saver_take(struct saver *x, const struct store_result *r, double own_s,
		const struct json_doc *d);
/* The results of a place were taken. */
void saver_end_place(struct saver *x);
/* The results of all places were taken. runs: the runs' ids, as an array of JSON. */
int saver_finish(struct saver *x, struct store *s, const char *runs, struct err *e);
void saver_free(struct saver *x);

#endif
