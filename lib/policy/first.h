/* The first candidates of a workload: what is known to be good elsewhere, before a search proposes
 * any. They are candidates like any other, of which it is not known whether they are good here.
 *
 * Where nothing was measured of the workload here, a model's prediction comes first
 * (lib/answer/zero_shot.h): no one who measures shall end with less than a prediction gives. Then
 * come the best that a database knows of in other envs, and the best of the nearest workloads here,
 * which the run itself may have found in an earlier round. Of a new workload, the one of the
 * model's portfolio follows that the analytic draft expects to be the fastest, fitted to what can
 * be had here (vectors of another length, say), and then what the draft would choose of all,
 * because the draft is right where a model is new to the machine.
 */
#ifndef TL_POLICY_FIRST_H
#define TL_POLICY_FIRST_H

#include "lib/answer/match.h"
#include "lib/search/search.h"
#include "lib/store/store.h"

struct first {
	const struct search_space *space; /* with the model, and how many are wanted */
	struct store *db;		  /* NULL: there is none */
	const char *env_id;		  /* the database's for this machine; NULL: it has none */
	struct matcher *matcher;	  /* of that database and env; NULL: there is none */
	int is_new;			  /* nothing was measured of the workload here */
	uint64_t seed;			  /* for the prediction and the draft's choice */
	/* Takes a candidate, which has its id, and by what it is known: "model", "env", "nearest",
	 * "portfolio" or "draft". 1; 0: it is known here already, and does not count; -1. */
	int (*take)(void *to, const struct candidate *c, const char *match, struct err *e);
	void *to;
};

/* Hands out the first candidates, and adds to *n how many were taken. 0 or -1. */
int first_candidates(const struct first *f, struct arena *a, int64_t *n, struct err *e);

#endif
