/* Reads the trees that XGBoost has trained from what it says of them. */
#ifndef TL_MODEL_TRAINED_H
#define TL_MODEL_TRAINED_H

#include "lib/model/trees.h"

/* Reads a model of `columns` features from XGBoost's JSON. Objectives are reg:squarederror and
 * binary:logistic; sums are those before the objective's transformation. NULL with e filled: it is
 * of another kind, or a later version writes it in another way. */
struct trees *trained_read(const char *json, size_t n, size_t columns, struct err *e);

#endif
