/* Minimal filtering: m outputs of a filter with r taps from n = m + r - 1 products instead of m r.
 *
 *     y = A^T ((G g) * (B^T d)),  d: n inputs, g: r taps, *: value by value
 *
 * (Winograd, "Arithmetic complexity of computations", 1980, chapter 5; Lavin and Gray, "Fast
 * algorithms for convolutional neural networks", CVPR 2016.) The matrices are those of Toom and
 * Cook's interpolation in n - 1 points and infinity, transposed. Points come as 0 and pairs of p
 * and -p, so that rows 2i + 1 and 2i + 2 of B^T, and the same columns of A^T, differ in the signs
 * of every other value alone.
 */
#ifndef TL_TILE_TOOM_H
#define TL_TILE_TOOM_H

#include <stdint.h>

enum { TOOM_MAX = 10 };

struct toom_matrix {
	int rows, cols;
	double m[TOOM_MAX][TOOM_MAX];
};

struct toom {
	int m, r, n;
	struct toom_matrix at, g, bt;
};

/* For n 1 (m = r = 1: all matrices are 1), 4, 6, 8 and 10. The points are those with the least
 * error in single precision among small fractions: 0, +-3/4, +-3/2 in two directions err a quarter
 * of what 0, +-1, +-2 do. With n = 8 the error of 192 channels is 2e-6 in one direction, with n =
 * 10 5e-6; in two directions both are beyond 1e-5. */
void toom_make(struct toom *t, int m, int r);
/* Is there such a filter with m 2, 4, 6 or 8, that errs less than 1e-5? one: in one direction only.
 */
int toom_has(int64_t m, int64_t r, int one);

#endif
