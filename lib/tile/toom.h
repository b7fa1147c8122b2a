/* Minimal filtering: m outputs of a filter with r taps from n products instead of m r.
 *
 *     y = A^T ((G g) * (B^T d)),  d: inputs, g: r taps, *: value by value
 *
 * Unit stride: n = m + r - 1 (Winograd, "Arithmetic complexity of computations", 1980, chapter 5;
 * Lavin and Gray, "Fast algorithms for convolutional neural networks", CVPR 2016). The matrices are
 * those of Toom and Cook's interpolation in n - 1 points and infinity, transposed. Points come as 0
 * and pairs of p and -p, so that the rows of B^T, and the columns of A^T, that belong to a pair
 * differ in the signs of every other value alone.
 *
 * Stride 2 and 3 taps: even inputs meet taps 0 and 2, a filter of unit stride with 2 taps; odd ones
 * meet tap 1. The products of both are put in one list: n = 2 m + 1.
 */
#ifndef TL_TILE_TOOM_H
#define TL_TILE_TOOM_H

#include <stdint.h>

enum { TOOM_MAX = 12 };

struct toom_matrix {
	int rows, cols;
	double m[TOOM_MAX][TOOM_MAX];
};

struct toom {
	int m, r, stride;
	int times;     /* what comes out is so many times too large: 1, but of whole numbers */
	int n, inputs; /* products; values of d */
	struct toom_matrix at, g, bt;
};

/* m outputs of r taps: 1 of 1; at unit stride n = 4, 6, 8 or 10, so that m is even where r is odd;
 * at stride 2 of 3 taps 3 and 5. The points are those with the least error in single precision
 * among small fractions: 0, +-3/4, +-3/2 in two directions err a quarter of what 0, +-1, +-2 do. */
void toom_make(struct toom *t, int m, int r, int stride);
/* The same at unit stride for n = 4 or 6, of whole numbers: all factors are whole. The weights get
 * 3 or 12 times as large at most, and what is transformed back is 2 or 24 times too large. */
void toom_make_whole(struct toom *t, int m, int r);
/* The most products at unit stride that err less than 1e-5. In one direction the error of 192
 * channels is 2e-6 with 8 and 5e-6 with 10. In two directions, that of 12 channels is 3e-6 with 8,
 * and that of 192 beyond 1e-5. Up to TOOM_FEW are few channels. */
enum { TOOM_ONE_WAY = 10, TOOM_FEW_CHANNELS = 8, TOOM_TWO_WAYS = 6, TOOM_FEW = 32 };
/* Is there such a filter, of at most so many products at unit stride? */
int toom_has(int64_t m, int64_t r, int64_t stride, int most);

#endif
