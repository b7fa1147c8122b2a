/* AutoML: hyper-parameters, objective, feature groups and ensemble chosen by cross-validation.
 *
 * Configurations are drawn at random and go through successive halving (Jamieson and Talwalkar,
 * "Non-stochastic best arm identification and hyperparameter optimization", AISTATS 2016): nine get
 * few rows, few trees and one fold, the better three get more, and the best of those everything, as
 * the default does to begin with. Such brackets are repeated for as many configurations or as much
 * time as there is; of those that got everything in that time the best wins. Others of them join
 * it, one at a time, as long as the mean of what they say of the held-out is better for it (Caruana
 * et al., "Ensemble selection from libraries of models", ICML 2004). Folds hold out whole families,
 * networks, operators or envs, never single rows.
 */
#ifndef TL_MODEL_AUTOML_H
#define TL_MODEL_AUTOML_H

#include "lib/io/progress.h"
#include "lib/model/fit.h"

enum automl_unit { AUTOML_FAMILY, AUTOML_NETWORK, AUTOML_OPERATOR, AUTOML_ENV, AUTOML_UNITS };
extern const char *const automl_unit_name[AUTOML_UNITS];

enum { AUTOML_FOLDS = 4, AUTOML_MEMBERS = 5 };

struct automl_rules {
	double time_s;	/* to choose in; 0: no limit */
	int64_t trials; /* configurations to try, at most; 0: the time alone decides */
	uint64_t seed;
	enum automl_unit unit;
	struct progress shown; /* of the whole, whose part this is */
};

struct automl {
	/* The ensemble, the winner first; one that is in it more than once counts as often. */
	struct fit_params member[AUTOML_MEMBERS];
	int members;
	/* Its: mean of best / best of the first 1, 5, 8, held out. 0: it was not assessed. */
	double score;
	int64_t tried; /* configurations */
};

/* A good configuration to begin with; also what is used where there is no time to choose. */
void automl_default(struct fit_params *p, uint64_t seed);
/* Which of n folds a group is held out in. Groups of one family are always together. */
int automl_fold(const struct dataset *d, const struct data_group *g, enum automl_unit unit,
		uint64_t seed, int n);
/* Chooses by what the groups with use[i] != 0 say. */
int automl_choose(const struct dataset *d, const char *use, const struct automl_rules *r,
		  struct automl *a, struct err *e);

#endif
