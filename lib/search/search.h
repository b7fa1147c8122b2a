/* Search strategies. A strategy decides which candidates to propose next. Each one is a file
 * lib/search/NAME.c that defines `const struct search search_NAME`. Its proposals depend on the
 * history, workload, seed and round alone.
 */
#ifndef TL_SEARCH_SEARCH_H
#define TL_SEARCH_SEARCH_H

#include <stdint.h>

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/base/rng.h"
#include "lib/features/candidate_features.h"
#include "lib/model/model.h"

/* The spaces of all algorithms that apply to a workload, laid end to end. */
enum { SEARCH_MAX_ALGOS = 16 };
struct search_space {
	const struct workload *w;
	const struct data_env *env; /* for strategies that predict */
	const struct model *model;  /* NULL: none; likewise */
	const char *command;	    /* for exec */
	int64_t wanted;		    /* candidates; 0: all */
	int one_thread;		    /* others search beside it: it starts no threads of its own */
	int nalgos;
	const struct algo *algo[SEARCH_MAX_ALGOS];
	struct knob_space space[SEARCH_MAX_ALGOS];
	uint64_t start[SEARCH_MAX_ALGOS + 1]; /* first point of each; the last entry is the total */
};
/* Makes the space of all algorithms that apply, or (only not NULL) of that one. */
void search_space_init(struct search_space *s, const struct workload *w, const struct data_env *env,
		       const char *only);
/* Makes the space of all algorithms that apply and treat all channels alike (struct algo). */
void search_space_init_even(struct search_space *s, const struct workload *w,
			    const struct data_env *env);
/* The random numbers of a strategy in a round. */
void search_space_rng(const struct search_space *s, uint64_t seed, int64_t round, struct rng *r);
/* The candidate at a point (without its id): 1, or 0 if the algorithm's predicate refuses it. */
int search_space_at(const struct search_space *s, uint64_t point, struct candidate *c);
/* The point of a candidate: 1, or 0 if its knobs are none of the values listed. */
int search_space_point(const struct search_space *s, const struct candidate *c, uint64_t *point);

/* Explains why a candidate has no point: -1 with the sentence. */
int search_space_lacks(const struct search_space *s, const struct candidate *c, struct err *e);

/* The time that the analytic draft expects of a point, in seconds, and its features (f NULL: none).
 * 0; -1: the point makes no program. */
int search_space_draft(const struct search_space *s, uint64_t point, struct arena *scratch,
		       double *draft_s, float *f);
/* The same for many points, by all threads or by the caller's (one_thread). Keeps those that make a
 * program, in their order, with their times, and with FEATURES each in x (NULL: none). Returns how
 * many these are. */
int search_space_drafts(const struct search_space *s, uint64_t *point, int n, double *draft_s,
			float *x);
/* The best n that "guided" finds by the draft alone, in c. Returns how many there are: 0 if no
 * point makes a program. */
int search_guided_drafted(const struct search_space *s, uint64_t seed, struct candidate *c, int n);

/* Counts of proposals by another program, and of those that are no new points. */
struct search_passed {
	int64_t proposed;	   /* in all */
	int64_t outside, repeated; /* not in the space; proposed before */
	struct err first_outside;  /* why, of the first */
};

struct search {
	const char *name;
	const char *summary;
	int predicts; /* does it want a model? */
	int learns;   /* does it want one that was trained on the results of this machine alone? */
	/* State for one workload, from arena a. */
	void *(*start)(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a);
	/* The next point to try; 0 when there is none left; -1: it failed, see error. May propose
	 * points that the predicate refuses or that are known already: the caller skips those. It
	 * never proposes a point twice. */
	int (*propose)(void *state, uint64_t *point);
	/* Takes an earlier result; results come in any order. May be NULL. */
	void (*observe)(void *state, const struct candidate *c, double latency_s);
	/* Frees memory outside of the arena. May be NULL. */
	void (*stop)(void *state);
	/* Why propose failed. NULL: it never does. */
	const struct err *(*error)(const void *state);
	/* For a strategy that skips proposals: their counts. NULL: it skips none, and proposes the
	 * whole space before it ends. */
	const struct search_passed *(*passed)(const void *state);
	/* Was the whole space proposed? Asked where there is `passed`. */
	int (*exhausted)(const void *state);
};

extern const struct search *const search_list[]; /* NULL at the end; made from the file list */
/* Appends "exec:|grid|...": what a user may name; behind exec: stands a command. */
void search_names(struct buf *out);
const struct search *search_find(const char *name);
/* Strategies that other code names. */
extern const struct search search_exec, search_guided, search_random;

#endif
