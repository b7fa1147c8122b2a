/* Adapts a cost model to this machine, if it was trained on results of other machines.
 *
 * This needs 64 times, or bounds of times, that were measured here, in any workloads. First the
 * model ranks them. The measure is a rank correlation within workloads, over pairs that differ by
 * more than 10% both in time and in the model's values. If it is below 0.5 and below that of the
 * analytic draft, but above 0, the draft gets half of the value. If the correlation is no better
 * then, or was not above 0, the draft ranks instead of the model. Otherwise a few small trees are
 * fitted to the errors of the model. They become one more stage of it if they rank better in
 * workloads that were held out.
 *
 * Another machine (lib/model/model.h). A model's card says of which instruction
 * sets and cache sizes the CPUs were that it learned from. On any other CPU the draft has a
 * quarter of each value, because that ranked better on each CPU of the recordings that was left
 * out (EXPERIMENTS.md, "A CPU left out"). Until the database has 64 times of this machine, a model
 * is on trial. The draft then chooses a third of the places, whatever the model predicts for them,
 * each algorithm that the model does not put at half the speed of its best has a place
 * (EXPERIMENTS.md, "The first candidates on a CPU left out"), and tl-prune gives a first round no
 * more than those 64. With them tl-filter -d, tl-gen -d and tl-query --predict first check how
 * well the model ranks those times. If its rank correlation is below 0.5, and below the draft's,
 * but above 0, the value becomes half the draft's. If that ranks as badly, or the correlation was
 * not above 0, the draft decides, in the search too, and the program says so. Otherwise small
 * trees learn what the model gets wrong here, and are kept if they rank better in families that
 * were held out. Only pairs that differ by more than 10% count, including the bounds of preempted
 * candidates. The reason is that candidates of a tuning run had passed a filter, so the remaining
 * times differ by noise (a model at 0.02 by Spearman's correlation of the times was at 0.70 by
 * this measure, and the draft at 0.31). Pairs that the judged model itself predicts to be equally
 * fast do not count either: candidates of a search by the model look alike to the model, by
 * choice, but not to the draft. The best candidates of other envs are fitted to this env and
 * proposed first (tl-gen -d), but they are never an answer. So are the best of the nearest
 * workloads of this env, two of three in a round: from the second round on a run has some of its
 * own.
 */
#ifndef TL_MODEL_ADAPT_H
#define TL_MODEL_ADAPT_H

#include "lib/model/dataset.h"
#include "lib/model/model.h"

enum { ADAPT_TIMES = 64 };

enum adapted {
	ADAPTED_TOO_LITTLE, /* too few times are known: the model stays as it is, on trial */
	ADAPTED_AS_IS,	    /* it fits */
	ADAPTED_CORRECTED,  /* it has one more stage */
	ADAPTED_USELESS,    /* it should not be used */
};

struct adaption {
	enum adapted what;
	int64_t times; /* that are known */
	double rank;   /* the model's correlation; NAN: unknown */
};

/* d: results of this machine alone. Sets the priors of its rows. -1: predicting or training
 * failed. */
int adapt_model(struct model *m, const struct dataset *d, struct adaption *a, struct err *e);

/* Makes a model of these results alone, as Ansor's tuner does in each round (Zheng et al., OSDI
 * 2020, section 5.2): the trees learn the speeds of all workloads, each against its workload's
 * best. *m NULL: fewer than ADAPT_TIMES / 2 times are known. */
int adapt_learn(const struct dataset *d, struct model **m, struct err *e);

#endif
