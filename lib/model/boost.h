/* Trains gradient-boosted trees: XGBoost stands behind one function. Only this module includes its
 * header.
 *
 * Parameters are checked here, because XGBoost ignores unknown ones silently. Training takes one
 * thread, and several may train at a time. The same data, parameters and seed give the same trees,
 * whatever the number of cores.
 */
#ifndef TL_MODEL_BOOST_H
#define TL_MODEL_BOOST_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/model/trees.h"

/* First and second derivative of what is minimised, for each row's sum of trees so far. */
typedef void boost_gradient(void *arg, const float *sum, float *grad, float *hess, size_t rows);

struct boost_params {
	const char *objective;	  /* "reg:squarederror", "binary:logistic" */
	boost_gradient *gradient; /* takes the objective's place; NULL: none */
	void *arg;
	int rounds, depth;
	double eta, min_child, subsample, colsample, lambda;
	uint64_t seed;
};

/* The rows have `columns` floats each, of which NaN is missing. The arrays are the caller's. */
struct boost_data {
	const float *x;
	size_t rows, columns;
	const float *label, *weight; /* weight NULL: all 1 */
	const float *margin;	     /* what the trees are added to; NULL: 0 */
};

/* NULL with e filled. */
struct trees *boost_train(const struct boost_params *p, const struct boost_data *d, struct err *e);

#endif
