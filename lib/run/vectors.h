/* Loops of the steps in plain C that take most, written by vectors and compiled for each
 * instruction set: `lanes` says for which, as struct limits has them. All numbers are in single
 * precision.
 */
#ifndef TL_RUN_VECTORS_H
#define TL_RUN_VECTORS_H

#include <stdint.h>

/* Columns of a matrix that stand together: panels x rows x VECTORS_PANEL. */
enum { VECTORS_PANEL = 32 };

/* Adds the products of `n` rows of `rows` numbers with the columns of so many panels to n rows of
 * sums; x and to are the distances between rows. */
struct vectors_product {
	int64_t panels, rows;
	const float *panel;
	int64_t n;
	const float *row;
	int64_t x;
	float *sum;
	int64_t to;
};
void vectors_product(int lanes, const struct vectors_product *p);
/* to[j] = the product of x and row j of y, of n numbers each. */
void vectors_dots(int lanes, const float *x, const float *y, int64_t rows, int64_t n, float *to);
/* to[i] += sum of x[j] * y[j][i] over the rows j whose x is not 0. */
void vectors_weigh(int lanes, const float *x, const float *y, int64_t rows, int64_t n, float *to);
/* Returns the greatest of n numbers; those that are NaN do not count; -INFINITY where there is
 * none. */
float vectors_most(int lanes, const float *x, int64_t n);
/* x[i] *= by. */
void vectors_scale(int lanes, float *x, float by, int64_t n);
/* x[i] = e to the power x[i] - most, which is 0 at most, or NaN; 0 below 1e-38. Returns the sum. */
float vectors_exps(int lanes, float *x, float most, int64_t n);
/* Replace n numbers by the function's values, within 4 units of the last place. NaN stays. */
void vectors_sigmoid(int lanes, float *x, int64_t n);
void vectors_tanh(int lanes, float *x, int64_t n);

#endif
