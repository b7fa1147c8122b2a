/* The trees of a model file, checked. XGBoost believes what it loads: a child that is not there, a
 * feature that no row has, or a node that is its own ancestor, and it reads or writes any memory,
 * or never ends. So it is given only what is written here.
 */
#ifndef TL_MODEL_TREES_H
#define TL_MODEL_TREES_H

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

/* Reads trees that split on `columns` features, as XGBoost saves them in universal binary JSON, and
 * appends them to out in the form of its version 1.7, which later ones read. Objectives are
 * reg:squarederror and binary:logistic; there are no classes and no categories. -1: they are
 * damaged, or others. */
int trees_write_anew(const void *bytes, size_t n, size_t columns, struct buf *out, struct err *e);

#endif
