/* Adapts a cost model to this machine, if it was trained on results of other machines.
 *
 * This needs 64 times, or bounds of times, that were measured here, in any workloads. First the
 * model ranks them. The measure is a rank correlation within workloads, over pairs that differ by
 * more than 10% both in time and in the model's values. If it is below 0.5 and below that of the
 * analytic draft, but above 0, the draft gets half of the value. If the correlation is no better
 * then, or was not above 0, the draft ranks instead of the model. Otherwise a few small trees are
 * fitted to the errors of the model. They become one more stage of it if they rank better in
 * workloads that were held out.
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
