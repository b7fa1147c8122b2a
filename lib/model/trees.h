/* These gradient-boosted trees predict.
 *
 * Trees are kept level by level, the children of a node side by side, so that a node need not say
 * where its children are, and none can be its own ancestor. The sums are XGBoost's, bit by bit: the
 * trees are added in their order, in single precision.
 *
 * The file is text with a hash of everything in it. If it is damaged, was cut off, has no trees,
 * or was trained on features of another version, the program says so before it uses the file. A
 * hash may be right for trees that do harm. So all of them are checked. They are kept
 * level by level, 6 bytes a node, so no node can lead to one that is not there, or to itself.
 * Programs predict with them alone, and get XGBoost's sums to the last bit.
 */
#ifndef TL_MODEL_TREES_H
#define TL_MODEL_TREES_H

#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct trees;

/* A leaf adds its value to the sum. Of a split, rows whose feature lies below the value go left. */
struct trees_node {
	float value;
	int feature; /* -1: a leaf */
	int missing; /* 1: rows that lack the feature go right */
};

/* Rows will have `columns` floats. The trees that are added are summed up from base on. */
struct trees *trees_new(size_t columns, float base);
/* Adds a tree: n nodes, level by level, the children of the splits in their order. NULL; or what is
 * wrong with it, as the end of a sentence about the tree. */
const char *trees_add(struct trees *t, const struct trees_node *node, int n);
/* Appends the trees as bytes: the base, then each node in 6 bytes, its value (IEEE 754) and the
 * feature with the missing ones' way in the highest bit; 65535 is a leaf. All little-endian. */
void trees_save(const struct trees *t, struct buf *out);
/* Reads such bytes, which need not be believed. NULL with e filled: they are no such trees. */
struct trees *trees_read(const void *bytes, size_t n, size_t columns, struct err *e);
/* Sets out to the trees' sum for each row. NAN is missing. */
void trees_predict(const struct trees *t, const float *x, size_t rows, float *out);
void trees_free(struct trees *t);

#endif
