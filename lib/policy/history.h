/* The tuning history of a list of workloads in one env, in the form that policy.h needs. It comes
 * from the database and from result and end records.
 *
 * A result that comes from both counts once. Of different results with the same key (store.h) the
 * later by "at" counts. A candidate that was found wrong has no latency and is never the best. The
 * tries of a workload are its distinct candidates in the order of their first results. Each run is
 * a round; rounds are in the order of the runs' first results.
 */
#ifndef TL_POLICY_HISTORY_H
#define TL_POLICY_HISTORY_H

#include "lib/base/map.h"
#include "lib/policy/policy.h"
#include "lib/store/store.h"

struct history_item {
	struct id id;
	/* From the database and from records; history_finish() sorts them. */
	struct store_result *result;
	int64_t n, cap;
	int exhausted;
	/* Set by history_finish() */
	struct policy_try *tries;
	int64_t ntries;
	struct store_result *best;  /* NULL: no candidate is ok and was never found wrong */
	struct store_result *final; /* the last that was ok; NULL: none */
	double baseline_s;
};

struct history {
	struct arena arena;
	struct map items; /* workload id to struct history_item */
	const char *env;  /* the env that counts; NULL until one is known */
	int rounds;	  /* in all */
	/* Since the time that history_finish() was given, and until now */
	int rounds_since;
	int64_t candidates_since; /* one that was measured again, but in a final, counts again */
	double core_s_since;
	const char *first_at; /* of the first result since; NULL if there is none */
	const char *last_at;  /* and of the last */
};

/* Adds a workload, with its results in the database (may be NULL). Set h->env before, unless the
 * database has no results. */
int history_add_workload(struct history *h, struct store *s, const char *id, struct err *e);
/* Adds a result or end record. Records of other workloads and envs are ignored. If h->env is NULL,
 * the first result sets it. */
int history_add_record(struct history *h, const struct rec *r, const struct json_doc *d,
		       struct err *e);
/* Sorts and counts. since: a time as in "at", or NULL for all, whatever their dates. */
void history_finish(struct history *h, const char *since);
/* NULL if the workload was not added. */
const struct history_item *history_get(const struct history *h, const char *id);
void history_free(struct history *h);

#endif
