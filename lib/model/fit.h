/* Fitting: what trees learn from a dataset.
 *
 * The label of a candidate is log2(group's best time / its time), 0 for the best. Candidates
 * that take more than 64 times as long have equal labels. Only candidates of one group are ever
 * compared. There are three objectives:
 *
 *  - contrast: least squares of the differences to the group's mean;
 *  - list: cross entropy between the shares exp(beta x label) and exp(sum of trees) of a group
 *    (Cao et al., "Learning to rank: from pairwise approach to listwise approach", ICML 2007);
 *  - roofline: least squares of log2(roofline time / time), which depends on the group, too.
 *
 * Candidates near the best weigh more: speed over the best's, to a power.
 */
#ifndef TL_MODEL_FIT_H
#define TL_MODEL_FIT_H

#include "lib/model/boost.h"
#include "lib/model/dataset.h"
#include "lib/model/score.h"

enum fit_objective { FIT_CONTRAST, FIT_LIST, FIT_ROOFLINE, FIT_OBJECTIVES };
extern const char *const fit_objective_name[FIT_OBJECTIVES];

struct fit_params {
	enum fit_objective objective;
	double emphasis;    /* the power */
	double beta;	    /* of list */
	int64_t rows;	    /* of a group, at most, drawn at random */
	unsigned leave_out; /* feature groups, a bit each in the order of fit_group() */
	struct boost_params trees;
};

/* Name of a list's feature group number k; NULL: it has no more. */
const char *fit_group(const struct feature_list *l, int k);

/* Trains on the groups whose bit in `use` is not 0 (an array of dataset's groups). */
struct trees *fit_train(const struct dataset *d, const char *use, const struct fit_params *p,
			struct err *e);
/* Predictions for a group's rows, in their order; room for n of them. */
void fit_predict(const struct trees *t, const struct data_group *g, double *value);

#endif
