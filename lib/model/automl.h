/* AutoML: hyper-parameters, objective, feature groups and ensemble chosen by cross-validation.
 *
 * Configurations are drawn at random and go through successive halving (Jamieson and Talwalkar,
 * "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016): nine get
 * few rows, few trees and one fold, the best three of them get more, and the best of those gets
 * everything. The default configuration gets everything at the start. Such brackets are repeated
 * until the limit of configurations or of time. The best configuration that got everything in time
 * is the first member of the ensemble. Others join one at a time, as long as the mean of the
 * members' predictions ranks the held-out groups better (Caruana et al., "Ensemble selection from
 * libraries of models", ICML 2004). Folds hold out whole families, networks, operators or envs,
 * never single rows.
 *
 * The default first, and all of it. A fold with a third of the trees cannot tell a good
 * configuration from one that is a hundredth worse. So the default is tried on everything before
 * others are drawn, and the winner of successive halving must then be better than the default.
 * Each configuration keeps its predictions for the held-out rows, so that the score of a mean of
 * several costs no training. Others join as long as this score rises.
 */
#ifndef TL_MODEL_AUTOML_H
#define TL_MODEL_AUTOML_H

#include "lib/io/progress.h"
#include "lib/model/fit.h"

enum automl_unit { AUTOML_FAMILY, AUTOML_NETWORK, AUTOML_OPERATOR, AUTOML_ENV, AUTOML_UNITS };
extern const char *const automl_unit_name[AUTOML_UNITS];

enum { AUTOML_FOLDS = 4, AUTOML_MEMBERS = 5 };

struct automl_rules {
	double time_s;	/* limit; 0: none */
	int64_t trials; /* most configurations to try; 0: the time alone decides */
	uint64_t seed;
	enum automl_unit unit;
	struct progress shown; /* of the whole training */
};

struct automl {
	/* The ensemble, the best first. A member may be in it more than once. */
	struct fit_params member[AUTOML_MEMBERS];
	int members;
	/* On held-out groups: the mean of (best time / best time of the first k) for k of 1, 5 and
	 * 8. 0: it was not assessed. */
	double score;
	int64_t tried; /* configurations */
};

/* A good configuration. It is tried first, and used if there is no time to choose. */
void automl_default(struct fit_params *p, uint64_t seed);
/* The fold, of n, that holds a group out. Groups of one unit are always in one fold. */
int automl_fold(const struct dataset *d, const struct data_group *g, enum automl_unit unit,
		uint64_t seed, int n);
/* Chooses by cross-validation on the groups with use[i] != 0. */
int automl_choose(const struct dataset *d, const char *use, const struct automl_rules *r,
		  struct automl *a, struct err *e);

#endif
