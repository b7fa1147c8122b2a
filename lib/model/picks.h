/* Picks: of the candidates of a workload that stream by, the k most worth building.
 *
 * Each has a rank, the least is the best; equal ranks are ordered by id. At most a share of the k
 * has the same register tile, as long as there are others: what ranks them errs alike about
 * neighbours. Some places are for the draft's best of those that are left, should ranks err about a
 * whole workload. For k from 8 on the last place is for one drawn from the refused with equal
 * chance, so that it stays known what refusing costs; and a share of the refused may come along for
 * an audit.
 *
 * Memory: at most k lines a register tile, and those of the hedge and one more; and all refused
 * ones, where those are wanted.
 */
#ifndef TL_MODEL_PICKS_H
#define TL_MODEL_PICKS_H

#include "lib/algo/candidate.h"
#include "lib/base/map.h"
#include "lib/base/rng.h"

struct pool;

struct pick {
	double rank;
	double draft_s, value, deviation; /* of the draft; of the model, -INFINITY: not asked */
	struct id id;
	char *line; /* the record; owned by whoever holds the pick */
	size_t n;
	struct pool *pool;
	int taken;
};

struct picks_rules {
	int64_t k;
	double diverse; /* share of k with the same register tile, at most */
	int64_t hedge;	/* places of k for the draft's best of those left; one stays */
	int given;	/* that one, too, is theirs: the model's best is measured anyhow */
	/* The model may be wrong altogether: the hedge takes even what it puts far behind, and the
	 * chosen come in the draft's order, for what is timed first is the others' limit. */
	int on_trial;
	double audit;	  /* share of the refused that comes along */
	int keep_refused; /* tell them all in the end */
	/* Chosen ones end where the next is expected to make the best faster by less than this
	 * share; 0: never. Wants values and deviations. */
	double worth;
};

struct pick_list {
	struct pick *pick;
	int64_t n, cap;
};

struct picks {
	struct picks_rules rules;
	struct map pools; /* by register tile */
	struct rng rng;
	struct pick spare; /* the one drawn from the refused so far */
	int64_t spares;	   /* of how many */
	struct pick_list hedge;
	/* After picks_close(): the chosen, best first, then the random one, if there is one; those
	 * to be audited; and the others, if wanted. */
	struct pick_list chosen, audited, refused;
	int has_random;
};

void picks_open(struct picks *p, const struct picks_rules *r, uint64_t seed, const char *name);
/* Where candidates of the same register tile go. */
struct pool *picks_pool(struct picks *p, const struct candidate *c);
/* Takes the pick, line and all. */
void picks_offer(struct picks *p, struct pool *pool, struct pick *c);
/* No more come: fills the lists. */
void picks_close(struct picks *p);
void picks_free(struct picks *p);

#endif
