/* The batch-reduce matrix product: the inner kernel of gemm and direct convolution.
 *
 *     acc[rows x nv*lanes] += sum over taps t, k:  A[t, row, k] * B[t, k, column]
 *
 * (Georganas et al., "Harnessing deep learning via a single building block", IPDPS 2020.) A is read
 * one value at a time and broadcast; B one vector at a time; acc stays in registers for all taps
 * and k. rows, nv and lanes are compile-time choices, every extent and stride is a symbol. The
 * caller declares the registers once and may build several tiles over them (full and remainder
 * rows).
 */
#ifndef TL_TILE_BRGEMM_H
#define TL_TILE_BRGEMM_H

#include "lib/nest/nest.h"
#include "lib/space/limits.h"
#include "lib/space/types.h"

enum { BRGEMM_TAPS = 2, BRGEMM_STRAIGHT = 64 };

struct brgemm {
	int lanes, nv;	     /* vectors a row; a tile is nv * lanes columns */
	int unroll;	     /* of the loop over k, asked of the compiler */
	int acc, areg, breg; /* registers: rows x nv, rows x 1, 1 x nv */

	int a; /* buffer, element A[row, k] at a_at + row * a_row + k */
	struct affine a_at, a_row;
	int b; /* buffer, vector v of B[k] at b_at + k * b_k + v * b_vector */
	struct affine b_at, b_k;
	int64_t b_vector;	      /* lanes, where brgemm_registers() leaves it */
	const struct affine *b_valid; /* columns of B from b_at on, or NULL: all are there */
	struct affine k;	      /* values of k: [0, k) */
	/* Prefetched while this tile is computed: the next tile's rows of A and of c lie so many
	 * elements further on; 0: they are not prefetched. */
	struct affine a_next, c_next;
	/* Where the tile is one straight run: how many taps the one loop around k has, or 1 if
	 * there is none, and how many values k has; at most BRGEMM_STRAIGHT in all. taps 0: loops.
	 */
	struct brgemm_straight {
		int taps, k;
	} straight;
	int ntaps; /* loops around k, outermost first; 0 to BRGEMM_TAPS */
	struct {
		struct affine lo, n, a_step, b_step; /* taps [lo, n) */
	} tap[BRGEMM_TAPS];
};

/* Where a tile's result goes and comes from; columns beyond valid are neither read nor written. */
struct brgemm_out {
	int c; /* buffer, element at c_at + row * c_row + column */
	struct affine c_at, c_row;
	const struct affine *valid; /* columns from c_at on, or NULL: all */
	int bias;		    /* buffer at bias_at + column (padded to whole tiles), or -1 */
	struct affine bias_at;
	int adds; /* c holds a tensor that is added: the sum takes its place */
	int mul;  /* buffer of what multiplies, laid out as c; looked at where a post-op is mul */
	int npost;
	const struct post_op *post; /* applied in order when the tile is finished */
};

/* Takes the bias out of the post-ops, for a sum that begins with it, where it is the first of them
 * and the sum does not begin with a tensor that is added. Returns its buffer, or -1. */
int brgemm_out_take_bias(struct brgemm_out *o);
/* Moves the origin of c and mul to `at` (nest_view()). */
void brgemm_out_view(struct nest *n, struct brgemm_out *o, struct affine at);

void brgemm_registers(struct nest *n, struct brgemm *g, int lanes, int max_rows, int nv);
/* One tile. Where k is cut into chunks, chunk is the variable of the loop over them and chunks
 * their number: partial sums wait in c until the last one. Without chunks: chunk -1. */
void brgemm_tile(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *o,
		 int chunk, struct affine chunks);
/* The steps of a tile, for algorithms that make one of several products. The sum begins with zero
 * or another tile, products and tiles are added to it, and it is kept for later as it is, or
 * finished: post-ops, a tensor that is added (it waits in c until then), and the store. Of a tile
 * that waits, only c, c_at, c_row and valid are looked at. */
void brgemm_zero(struct nest *n, const struct brgemm *g, int rows);
void brgemm_load(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from);
void brgemm_add(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *from);
void brgemm_multiply(struct nest *n, const struct brgemm *g, int rows);
void brgemm_keep(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to);
void brgemm_finish(struct nest *n, const struct brgemm *g, int rows, const struct brgemm_out *to);
/* Activations of so many elements do not stay in the second-level cache from one operator to the
 * next: then it may pay to prefetch them. */
int brgemm_may_look_ahead(int64_t elements, const struct limits *m);
/* Can k be cut into chunks? Not where partial sums in c would take the place of a tensor that is
 * added later than first. If not, the reason. */
int brgemm_chunks(int npost, const struct post_op *post);
extern const char brgemm_cannot_chunk[];

/* Rows in near-equal parts: `tiles` tiles, the first `rest` of them rows + 1 high, the others rows.
 * Tile t begins at row t * rows + min(t, rest). So 49 rows by at most 6 are 4 x 6 and 5 x 5: two
 * bodies and no masks. */
struct row_split {
	int64_t tiles, rest;
	int rows;
};
struct row_split row_split(int64_t extent, int64_t max_rows);

/* Is the tile one that can be: lanes that vectors have, and no more registers than there are (in
 * AVX-512 a broadcast can be an operand of the multiply-add; elsewhere it takes a register)? 1, or
 * 0 with the reason. */
int brgemm_fits(int64_t lanes, int64_t nv, int64_t rows, const char **why);

#endif
