/* Picks the k candidates of a workload that are most worth building.
 *
 * Each candidate has a rank; the lowest is the best, and the id decides between equal ranks.
 * - At most a third of the k has the same register tile, as long as there are others, because a
 *   model makes similar errors for similar candidates.
 * - Some places (the hedge) go to the draft's best of the others, in case the model is wrong about
 *   the whole workload.
 * - If k is 8 or more, the last place goes to a candidate drawn at random from the refused, so that
 *   the loss by refusing stays known.
 * - A share of the refused may be picked in addition, for an audit.
 *
 * Memory: at most k lines for each register tile, the lines of the hedge, and one more; all refused
 * lines, if the caller wants them.
 *
 * Three stages. tl-filter gives the model only candidates that the draft predicts to be at most
 * four times as slow as the best so far. The first booster of the bag predicts all of these. The
 * others predict only those that the first puts at less than 1.41 times the time of the best so
 * far (EXPERIMENTS.md shows that this loses nothing). The draft then chooses a quarter of the
 * places from the candidates that are left, because a model may be wrong about a whole workload
 * (--hedge). It does not choose a candidate that the model predicts to be twice as slow as the
 * model's best, or likely to fail.
 */
#ifndef TL_POLICY_PICKS_H
#define TL_POLICY_PICKS_H

#include "lib/algo/candidate.h"
#include "lib/base/map.h"
#include "lib/base/rng.h"

struct pool;

struct pick {
	double rank;
	double draft_s, value, deviation; /* value -INFINITY: the model was not asked */
	struct id id;
	char *line; /* the record; whatever has the pick owns it */
	size_t n;
	struct pool *pool;
	int taken;
};

struct picks_rules {
	int64_t k;
	int64_t hedge; /* places for the draft's best; one place stays the model's */
	int given;     /* the hedge gets that one, too: the model's best is measured anyhow */
	/* The model may be wrong altogether. What it would choose if it had one choice then gets a
	 * place (model_cautious()), so does each algorithm that it does not put far behind, the
	 * hedge takes even candidates that it puts far behind, and the chosen come in the draft's
	 * order, because the time of the first limits that of the others. */
	int on_trial;
	double audit;	  /* share of the refused that comes along */
	int keep_refused; /* picks_close() lists all of them */
};

struct pick_list {
	struct pick *pick;
	int64_t n, cap;
};

struct picks {
	struct picks_rules rules;
	struct map pools; /* by register tile */
	struct rng rng;
	struct pick spare; /* drawn at random from the refused so far */
	int64_t spares;	   /* how many were refused so far */
	struct pick_list hedge;
	/* After picks_close(): the chosen, best first, then the random one, if there is one; those
	 * to be audited; and the others, if wanted. */
	struct pick_list chosen, audited, refused;
	int has_random;
};

void picks_open(struct picks *p, const struct picks_rules *r, uint64_t seed, const char *name);
/* Where candidates of the same register tile go. */
struct pool *picks_pool(struct picks *p, const struct candidate *c);
/* Offers a pick. The line now belongs to the picks. */
void picks_offer(struct picks *p, struct pool *pool, struct pick *c);
/* Fills the lists, after the last offer. */
void picks_close(struct picks *p);
void picks_free(struct picks *p);

#endif
