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

enum { TOOM_MAX = 8 };

struct toom_matrix {
	int rows, cols;
	double m[TOOM_MAX][TOOM_MAX];
};

struct toom {
	int m, r, n;
	struct toom_matrix at, g, bt;
};

/* For n 1 (m = r = 1: all matrices are 1), 4, 6 and 8. Points 0, +-1; 0, +-3/4, +-3/2, with which
 * F(4 x 4, 3 x 3) in single precision errs a quarter of what it does with 0, +-1, +-2; and 0,
 * +-5/8,
 * +-1, +-7/4, which errs about 2e-6 in one direction, and beyond 1e-5 in two. */
void toom_make(struct toom *t, int m, int r);
/* Is there such a filter with m 2, 4 or 6, that errs less than 1e-5? one: in one direction only. */
int toom_has(int64_t m, int64_t r, int one);

#endif
