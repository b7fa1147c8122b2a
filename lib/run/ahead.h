/* Sizes, branches and turns that follow from data are found by running ahead.
 *
 * A plan has sizes that are known before it runs. Where some follow from what the model computes
 * (the boxes that NonMaxSuppression leaves, the k of a TopK, the condition of an If), the part of
 * the graph that they are computed from is lowered and run alone, with the inputs at hand, and what
 * it tells is a fact to inference from then on. Shapes are inferred anew, branches and turns are
 * unfolded, and so on, until all sizes are known. At any time there is one plan. The whole one is
 * as any other, and each run of it computes all that it can: an operator of which the items were
 * counted makes them anew, and checks that they are as many (counted.h). A size, or another number
 * of at most one dimension, is a constant.
 *
 * Sums may be rounded otherwise where a graph is cut, and a number just beside a threshold come to
 * lie on its other side. So the whole plan is tried once; where it counts otherwise, that is the
 * fact, and what later rounds told is forgotten. In a trial, of a part too, a step makes as many
 * items as it was told, whatever it finds: a part does not correct what the whole plan counted.
 */
#ifndef TL_RUN_AHEAD_H
#define TL_RUN_AHEAD_H

#include "lib/extract/graph/graph.h"
#include "lib/run/lower.h"
#include "lib/run/plan.h"

struct ahead_fact {
	const char *name; /* of the value */
	int round;	  /* the run ahead that told it, from 1 on */
	struct told_value told;
};

/* A model has so many rounds at most: each computes again what those before it did. */
enum { AHEAD_ROUNDS = 256 };

/* Zeros before the first round. */
struct ahead_facts {
	struct arena a;
	struct ahead_fact *fact;
	int nfact;
	int rounds;  /* runs ahead so far */
	int changed; /* trials of the whole plan that counted otherwise */
};

void ahead_free(struct ahead_facts *h);
/* Gives the values of a graph what round `round` told. Names of values inside branches and turns
 * follow from what was told before, so that rounds are told one by one, and what they decide is
 * unfolded in between. */
void ahead_tell(const struct ahead_facts *h, const struct graph *g, int round);
/* Looks for values that a run ahead can tell, in a graph whose shapes are inferred. 1: the graph is
 * cut down to what they are computed from, and they are its outputs; 0: there are none, and it is
 * as it was; -1. is_random: inputs are random, and none of at most one dimension tells anything. */
int ahead_cut(struct graph *g, int is_random, struct err *e);
/* Takes the facts from a run of the plan of a graph that was cut. -1: the run tells nothing new, or
 * there were too many. */
int ahead_read(struct ahead_facts *h, const struct graph *g, const struct plan *p,
	       const struct graph_io *io, struct err *e);
/* Did a trial of the whole plan count otherwise than it was told? Then that is a fact, and what
 * later rounds told is forgotten. -1: that happens again and again. */
int ahead_mend(struct ahead_facts *h, const struct plan *p, struct err *e);

#endif
