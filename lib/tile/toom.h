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

enum { TOOM_MAX = 8 };

struct toom_matrix {
	int rows, cols;
	double m[TOOM_MAX][TOOM_MAX];
};

struct toom {
	int m, r, n;
	struct toom_matrix at, g, bt;
};

/* For m 2 or 4 and r 3. Points 0, +-1; and 0, +-3/4, +-3/2, with which F(4 x 4) in single precision
 * errs a quarter of what it does with 0, +-1, +-2. */
void toom_make(struct toom *t, int m, int r);

#endif
