/* Products of tiles by a warp of 32 threads, as tensor cores compute them.
 *
 * A step multiplies a tile of 16 rows by k columns with one of k by 8, and adds the 16 by 8
 * products to registers of four lanes. Both sides lie in the memory of the block. k and the types
 * are the kind's. Thread l of the warp has rows l / 4 and l / 4 + 8 of the result, and columns
 * 2 (l % 4) and the next one, as lanes 0 to 3 of its register (NVIDIA, "Parallel Thread Execution
 * ISA", "Matrix fragments for mma.m16n8k8", "m16n8k16" and "m16n8k32"). So a node means the same
 * for each thread by itself, whatever the hardware does: the thread adds to its four sums. Sums of
 * whole numbers are whole numbers of 32 bits (ELEM_S32), and exact; a sum may not go beyond these.
 *
 * All threads of a warp must reach the node with the same places. It may stand in no branch inside
 * of the loop over threads.
 *
 * Or a group of four warps multiplies together. A tile has 64 rows then, of which each warp has 16,
 * and both sides lie in core matrices of 8 rows or columns by 16 bytes, side by side or in swizzled
 * rows (the same, "Asynchronous warpgroup-level matrix instructions"). Such a product goes on while
 * the threads do. Its sums are there, and its sides may be overwritten, behind the loop over
 * threads in which it stands; if it is late, behind the next such loop that has a product. A
 * product of no steps multiplies nothing: it ends what is late. A loop over threads has one product
 * at most.
 *
 * A product of tiles is computed by a warp, or by a group of four. It means the same for each
 * thread by itself: the thread adds to the four sums per tile that the hardware keeps in its
 * registers. So neither the interpreter nor OpenCL needs warps. A group's product goes on while
 * its threads do. It ends with the loop over threads in which it stands; a late one ends with the
 * next such loop that has a product. The interpreter computes it at that end, and refuses sums
 * that are read and sides that are overwritten before. Which threads load which elements is the
 * business of the CUDA prelude (lib/target/prelude/cuda_tiles.cu).
 */
#ifndef TL_NEST_MMA_H
#define TL_NEST_MMA_H

#include "lib/nest/nest.h"

enum {
	MMA_WARP = 32,
	MMA_ROWS = 16,
	MMA_COLUMNS = 8,
	MMA_GROUP = 4, /* warps */
	MMA_CORE = 8,  /* rows of a core matrix */
	MMA_CORE_BYTES = 16,
};

enum mma_kind {
	/* Single precision by three products of TF32: each side is split into two parts, and the
	 * product of the small ones is left out (Ootomo and Yokota, "Recovering single precision
	 * accuracy from tensor cores while surpassing the FP32 theoretical peak performance", Int.
	 * J. High Perform. Comput. Appl. 36(4), 2022). */
	MMA_TF32X3,
	MMA_TF32,
	MMA_BF16,
	MMA_F16,
	MMA_S8,
	MMA_U8, /* the left side's; the right side has a sign */
	MMA_KINDS,
	/* Further bits of struct limits' mma: */
	MMA_GROUPS = MMA_KINDS, /* groups of warps multiply, too */
	MMA_BULK,		/* copies in bulk */
};

/* One side: element (i, k), of row or column i, is at `at` + i * step + k / pair * k_step +
 * k % pair, where pair elements fill 32 bits. In core matrices, whose rows have `core` elements, it
 * is at `at` + i / 8 * step + i % 8 * row + k / core * k_step + k % core.
 *
 * In a swizzled buffer the values of a row lie side by side, and its rows are the swizzle's. The
 * terms of `at` that are whole multiples of eight rows say from which row on, and the others which
 * value of the row (mma_split()). */
struct mma_side {
	int buffer;
	struct affine at;
	int64_t step, k_step;
	int64_t row; /* in core matrices */
};

struct mma {
	enum mma_kind kind;
	int group;	  /* by four warps */
	int late;	  /* by groups: see above; 0 or 1 */
	int steps;	  /* one after the other, along k */
	int down, across; /* tiles; the sums of tile (i, j) are register i * across + j of the
			   * array, counted from the node's index a on */
	struct mma_side a, b;
};

const char *mma_name(enum mma_kind k);		   /* "tf32x3": as the printers' preludes have it */
int mma_depth(enum mma_kind k);			   /* k: values of the sum in a step */
int mma_pair(enum mma_kind k);			   /* elements in 32 bits */
enum elem mma_elem(enum mma_kind k, int is_right); /* of a side, in memory */
enum elem mma_sum(enum mma_kind k);		   /* of the registers */
/* Of this step by thread `lane` of its warp, register `sum`: the row or column of the tile. */
int mma_row(int lane, int sum);
int mma_column(int lane, int sum);
/* The product of two elements, as it is computed: inputs rounded (groups of warps cut tf32 off),
 * the product exact. */
double mma_product(const struct mma *m, double a, double b);

/* What a machine must have (struct limits' mma): a bit for each kind, and those behind them. */
unsigned mma_needs(const struct nest *n);

/* Adds the products of `m`'s tiles to registers acc[first ..] of four lanes. */
void nest_mma(struct nest *n, int acc, struct affine first, const struct mma *m);
/* Index of element (i, k) of a side, for constants i and k; and how far it is from `at`. */
struct affine mma_at(const struct mma *m, const struct mma_side *s, int64_t i, int64_t k);
int64_t mma_offset(const struct mma *m, const struct mma_side *s, int64_t i, int64_t k);
/* The two parts of a place in a swizzled buffer. */
void mma_split(const struct nest *n, int buffer, const struct affine *at, struct affine *rows,
	       struct affine *rest);
int mma_core(enum mma_kind k);		/* elements of a core matrix's row */
int mma_tile_rows(const struct mma *m); /* of a tile of the left side: 16 or 64 */

#endif
