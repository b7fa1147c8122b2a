/* Matrix products as libraries of BLAS tell them. These have their matrices column by column, and
 * programs that have them row by row call them with the sides exchanged: the product m x n of
 * m x k and k x n is our n x k:k x m. */
#ifndef TL_EXTRACT_LIST_BLAS_H
#define TL_EXTRACT_LIST_BLAS_H

#include "lib/extract/list/listing.h"

struct blas_product {
	const char *name;	/* of the function */
	int64_t batch, m, n, k; /* as the library has them */
	struct dtypes dtype;	/* of our left side, right side and result */
	int is_other;		/* they are of other types */
	int is_shared;		/* of a batch: the left side of the library is one matrix */
	int is_added;		/* the result is added to what is there */
	const char *epilogue;	/* such as RELU_BIAS; NULL: none */
};

/* Sets the types of the library's left side, right side and result; -1: none of ours. */
void blas_types(struct blas_product *p, int a, int b, int d);
/* Takes or leaves it. */
void blas_take(struct listing *l, const struct blas_product *p, int64_t count);

#endif
