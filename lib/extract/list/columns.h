/* Columns of a list that name dimensions, as benchmarks such as DeepBench have them: m, n, k of a
 * product; n, c, h, w, k, r, s, stride, pad and the like of a convolution. */
#ifndef TL_EXTRACT_LIST_COLUMNS_H
#define TL_EXTRACT_LIST_COLUMNS_H

#include "lib/base/buf.h"
#include "lib/base/err.h"

enum columns {
	COLUMNS_M,
	COLUMNS_N, /* of a product, or the batch of a convolution */
	COLUMNS_K, /* of a product, or the output channels of a convolution */
	COLUMNS_BATCH,
	COLUMNS_GROUPS,
	COLUMNS_IC,
	COLUMNS_IH,
	COLUMNS_IW,
	COLUMNS_OC,
	COLUMNS_KH,
	COLUMNS_KW,
	COLUMNS_KERNEL, /* of both sides, and so on */
	COLUMNS_SH,
	COLUMNS_SW,
	COLUMNS_STRIDE,
	COLUMNS_PH,
	COLUMNS_PW,
	COLUMNS_PAD,
	COLUMNS_DH,
	COLUMNS_DW,
	COLUMNS_DILATION,
	COLUMNS_COUNT,
};

/* Which column a name of n letters means, in capitals or not; -1: none. */
int columns_find(const char *name, size_t n);
/* The operator whose dimensions the columns name, each with how often it is there; NULL: none. */
const char *columns_op(const int seen[COLUMNS_COUNT]);
/* Appends the problem of a row. An empty value is as if the column were not there. */
int columns_prob(const char *op, const struct buf value[COLUMNS_COUNT], struct buf *prob,
		 struct err *e);

#endif
