/* Another machine: what a model that was trained elsewhere is worth here, and what it lacks.
 *
 * Asked once 64 times from here are known, or bounds of times, in whatever workloads. How well the
 * model ranks them (a rank correlation within workloads, of pairs that differ by more than 10%, in
 * time and in the model's eyes) says whether it is to be asked at all: where that is below 0.5, and
 * below the draft's, the draft is the better judge. Else a few small trees are fitted to what the
 * model lacks, and stay, as one stage more, if they rank better in workloads that were held out.
 */
#ifndef TL_MODEL_ADAPT_H
#define TL_MODEL_ADAPT_H

#include "lib/model/dataset.h"
#include "lib/model/model.h"

enum { ADAPT_TIMES = 64 };

enum adapted {
	ADAPTED_TOO_LITTLE, /* is known: the model stays as it is, on trial */
	ADAPTED_AS_IS,	    /* it fits */
	ADAPTED_CORRECTED,  /* it has a stage more */
	ADAPTED_USELESS,    /* it should not be asked */
};

struct adaption {
	enum adapted what;
	int64_t times; /* that are known */
	double rank;   /* the model's correlation; NAN: unknown */
};

/* d: results of this machine alone. Sets the priors of its rows. -1: the trees could not be asked
 * or trained. */
int adapt_model(struct model *m, const struct dataset *d, struct adaption *a, struct err *e);

#endif
