/* Training: makes a model with its report card from a dataset.
 *
 * The card's figures come from nested cross-validation. For each of the outer folds everything is
 * chosen and trained without the groups of the fold, which are then scored once. The model itself
 * is chosen and trained on all groups. It is a bag of boosters, each trained on four of five
 * families. The boosters differ most where the model knows least; the outer folds give the scale
 * that makes a standard deviation of their differences.
 *
 * Held out means held out. Folds divide families (workloads that are equal except for spatial
 * size, batch and post-ops stay together), networks, operators or envs, never rows. Everything,
 * hyper-parameters included, is chosen anew inside each outer fold. The model's first line has the
 * figures, so they travel with the model.
 *
 * A bag of eight boosters. Each is trained without a fifth of the families, and in one thread,
 * because XGBoost's own threads save nothing here. The boosters are divided among the members of
 * the ensemble. The difference between their predictions is the model's uncertainty. The scale
 * that makes a standard deviation of it comes from the outer folds.
 *
 * A CPU left out. With results of three CPUs or more, each CPU is left out in turn, and a fold's
 * families with it. The card says what the model is worth there (cpus_left_out), and deviations
 * have a scale of their own on a CPU that the model has not learned from. The confidence of
 * tl-query --predict follows from it.
 */
#ifndef TL_MODEL_TRAIN_H
#define TL_MODEL_TRAIN_H

#include "lib/model/card.h"
#include "lib/model/model.h"

struct train_rules {
	double time_s;	/* limit of choosing, outer folds included; 0: none */
	int64_t trials; /* configurations to try in each choice; 0: as time_s allows, or 1 */
	uint64_t seed;
	enum automl_unit unit;
	int bag; /* boosters */
};

/* Groups with use[i] == 0 are never trained on. The trees become m's last stage: they learn the
 * errors of its earlier stages. card: from card_count(); gets the figures of the folds. Shows its
 * progress. */
int train_model(const struct dataset *d, const char *use, const struct train_rules *r,
		struct model *m, struct card *card, struct err *e);

/* Trains a bag of n boosters on the groups with use[i] != 0, as a stage; the ensemble's members
 * take turns. The caller owns the boosters. -1: the stage is empty. */
int train_bag(const struct dataset *d, const char *use, const struct automl *a, int n,
	      struct model_stage *s, struct err *e);

/* Sets the priors of all rows to the values of the older model. Trees then learn its errors. */
void train_set_priors(const struct dataset *d, const struct model *older);
/* Adds what is learned from the groups with use[i] != 0 to what the model has seen. */
void train_note_seen(const struct dataset *d, const char *use, struct model *m);

#endif
