/* Training: from a dataset to a model with its report card.
 *
 * The card's figures are of nested cross-validation: for each of the outer folds everything is
 * chosen and trained without the groups held out, and they are scored once. The model itself is
 * then chosen and trained on all. It is a bag: each booster sees four of five families, and what
 * they disagree about is what it does not know; the scale makes a standard deviation of that, by
 * the outer folds.
 */
#ifndef TL_MODEL_TRAIN_H
#define TL_MODEL_TRAIN_H

#include "lib/model/card.h"
#include "lib/model/model.h"

struct train_rules {
	double time_s;	/* to choose in, the outer folds' included; 0: no limit */
	int64_t trials; /* configurations to try in each choice; 0: as time allows, or one */
	uint64_t seed;
	enum automl_unit unit;
	int bag; /* boosters */
};

/* Groups that are held out for good have use[i] == 0. The trees become m's last stage: they learn
 * what the stages that it has already lack. card: from card_count(); what the folds found goes into
 * it. Shows its progress. */
int train_model(const struct dataset *d, const char *use, const struct train_rules *r,
		struct model *m, struct card *card, struct err *e);

/* The priors of all rows: what the older model says of them. Trees then learn what it lacks. */
int train_set_priors(const struct dataset *d, const struct model *older, struct err *e);

#endif
