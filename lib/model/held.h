/* Scores a model on groups that were held out of its training. It counts how well the model and the
 * draft rank them, and how far the model's errors go beyond the deviations of its bag. */
#ifndef TL_MODEL_HELD_H
#define TL_MODEL_HELD_H

#include "lib/model/dataset.h"
#include "lib/model/model.h"
#include "lib/model/score.h"

struct held {
	struct score model, draft;
	int64_t n, cap;
	double *z;	/* errors over the bag's deviations */
	int64_t within; /* of them, within 2 deviations, once scaled */
};

/* Adds a group. m: a model with a scale of 1. Where the rows have priors, it learned their errors.
 */
void held_add(struct held *h, const struct dataset *d, const struct data_group *g,
	      const struct model *m);
/* Returns the scale that puts 68% of the errors within one deviation, and counts those within 2. */
double held_scale(struct held *h);
void held_free(struct held *h);

#endif
