/* A contest: the rules by which a group's candidates race, and one of them gets to the final.
 *
 * Candidates race in the order in which they came, each against the incumbent. The first incumbent
 * is the incumbent of earlier rounds, or else the first candidate that ends well. A candidate that
 * wins its duel, and is also ahead in a second process, becomes the incumbent; there is no other
 * way. When whole spaces are recorded the first incumbent stays, so that all ratios have the same
 * reference.
 *
 * The functions are pure, so that a replay follows the same rules as a measurement.
 *
 * Racing and early stopping. A candidate duels with the incumbent, and nothing else replaces an
 * incumbent. So the best is not a minimum over noisy times, which would be mostly luck. The duel
 * stops after a pair or two if the candidate is far behind, early if the interval shows that it is
 * slower, and otherwise as soon as it cannot be better by much. A win is confirmed by as many new
 * pairs, which alone tell its ratio, unless it is clear (by more than 10%; of two runs' 39 clear
 * wins all were ahead again). Another winner becomes the incumbent only if it is ahead in a second
 * process, too: the addresses of its memory make up to 8%, and among hundreds of candidates some
 * are lucky once. As it was chosen for its luck in both, the database and the policies take the
 * lower end of the second duel's interval for its gain. --audit shows how often the better one
 * lost. tests/duel.c simulates all this with pairs that were recorded beside neighbours; use it to
 * try another rule. If the process dies, the incumbent duels with itself. It loses its place if it
 * dies there, too; otherwise it stays, and the candidate runs alone.
 */
#ifndef TL_MEASURE_CONTEST_H
#define TL_MEASURE_CONTEST_H

#include <stdint.h>

#include "lib/base/hash.h"
#include "lib/record/status.h"

/* What became of a group's candidates; its end record has these counts. */
struct counts {
	int64_t measured, preempted, failed, built, audited, false_kills, known;
};

/* A candidate. The caller owns it. */
struct contestant {
	void *owner;
	const char *at; /* when it became the incumbent in an earlier run; NULL: in this one */
};

/* How a race ended. */
struct contest_end {
	enum status status; /* of the result */
	int won;	    /* it won its duel, or there was no incumbent */
	double ratio;	    /* of the incumbent's time over its own; 0: not known */
};

struct contest {
	struct contestant *incumbent, *best; /* NULL: none yet */
	int is_fixed;			     /* the first incumbent stays */
	double best_ratio;		     /* of best, then */
	struct counts n;
};

/* incumbent: of earlier rounds; NULL: none. */
void contest_begin(struct contest *c, struct contestant *incumbent, int is_fixed);
/* Enters the end of a race. 1: `in` is the best of all now; it must stay in memory. */
int contest_raced(struct contest *c, struct contestant *in, const struct contest_end *end);
/* The same for a candidate that has a known result of an earlier run. became_incumbent: it became
 * the incumbent then. */
int contest_known(struct contest *c, struct contestant *in, int became_incumbent);
/* Enters the second duel of a candidate that had lost. */
void contest_audited(struct contest *c, int won);

/* Does a candidate that has lost get a second duel? A share of them do, and every run of a seed
 * picks the same ones. */
int contest_audits(double share, uint64_t seed, const struct id *candidate);

#endif
