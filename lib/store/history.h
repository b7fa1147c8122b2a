/* What happened so far to a list of workloads in one env, from the database and from result and end
 * records, in the form that preempt.h decides on.
 *
 * A result that comes from both counts once, and of different ones with the same key (store.h) the
 * later by "at". A candidate that was found wrong has no latency and is never the best. A
 * workload's tries are its distinct candidates in the order of their first result; a round is a
 * run, in the order of the runs' first results.
 */
#ifndef TL_STORE_HISTORY_H
#define TL_STORE_HISTORY_H

#include "lib/base/map.h"
#include "lib/store/preempt.h"
#include "lib/store/store.h"

struct history_item {
	struct id id;
	/* Of the database and of records; sorted by history_finish(). */
	struct store_result *result;
	int64_t n, cap;
	int exhausted;
	/* Made by history_finish() */
	struct preempt_try *tries;
	int64_t ntries;
	struct store_result *best;  /* NULL: none is ok and was never wrong */
	struct store_result *final; /* the last that was ok; NULL: none */
	double baseline_s;
};

struct history {
	struct arena arena;
	struct map items; /* workload id to struct history_item */
	const char *env;  /* the env that counts; NULL until one is known */
	int rounds;	  /* in all */
	/* Since the time that history_finish() was given */
	int rounds_since;
	int64_t candidates_since;
	double core_s_since;
	const char *first_at; /* of the first result since; NULL if there is none */
	const char *last_at;  /* and of the last */
};

/* Begins the history of a workload, with what the database (may be NULL) knows. h->env is set by
 * then, or the database knows nothing. */
int history_add_workload(struct history *h, struct store *s, const char *id, struct err *e);
/* A result or end record; those of other workloads and envs are left out. The first result's env is
 * taken if none is known. */
int history_add_record(struct history *h, const struct rec *r, const struct json_doc *d,
		       struct err *e);
/* Sorts and counts. since: a time as in "at", or NULL for all. */
void history_finish(struct history *h, const char *since);
/* NULL if the workload was not added. */
const struct history_item *history_get(const struct history *h, const char *id);
void history_free(struct history *h);

#endif
