/* A block of warps computes a block of a product by tensor cores. For each chunk of the sum its
 * threads copy parts of both sides into the block's memory, asynchronously, so that several chunks
 * are on their way while one is multiplied. Each warp multiplies its part of the block (Kerr et
 * al., "CUTLASS: Fast linear algebra in CUDA C++", NVIDIA, 2017).
 *
 * The eight rows of a matrix must lie in different banks. Rows in the block's memory are 16 bytes
 * longer than what they hold, and so are the rows of core matrices. Or rows are swizzled.
 */
#ifndef TL_SCHEDULE_WARP_PRODUCT_H
#define TL_SCHEDULE_WARP_PRODUCT_H

#include "lib/nest/mma.h"
#include "lib/schedule/implicit.h"

/* How a side's chunk lies in the block's memory: the values of the sum side by side, or the rows
 * (columns of the right side), or in core matrices (mma.h). */
enum warp_layout { WARP_BY_VALUES, WARP_BY_ROWS, WARP_IN_CORES };

struct warp_side {
	enum warp_layout layout;
	int64_t pitch, stage; /* elements from one row to the next, and of a stage */
	int buffer;
};

struct warp_product {
	const struct implicit *p;
	/* Set before everything: how the products are computed, whether by groups of four warps,
	 * the block's warps by rows and columns, and how many chunks lie in the block's memory at a
	 * time. */
	enum mma_kind kind;
	int group, down, across, stages;
	int swizzle; /* rows are swizzled: a chunk's values of a row fill 32, 64 or 128 bytes */
	int bulk;    /* a chunk's packed right side is copied in bulk: with swizzled rows */
	int box;     /* a chunk's left side is copied as a box: likewise */
	int late;    /* a group's product goes on while the next begins (mma.h) */
	/* Set by warp_declare(): */
	int threads;
	int tiles_down, tiles_across; /* of a warp */
	struct warp_side left, right;
	int out; /* memory of the block */
	int boxes;
	int acc, part, row_of_out; /* registers */
	/* Set before the steps below: the variable of the batch, the block's first row, its panel.
	 */
	int batch;
	struct affine row, panel;
};

/* Threads of a block; bytes of its memory; registers of sums that a thread has; copies of a chunk
 * that a thread starts, at most. */
int64_t warp_threads(const struct warp_product *s);
int64_t warp_bytes(const struct warp_product *s);
int64_t warp_sums(const struct warp_product *s);
int64_t warp_copies(const struct warp_product *s);
void warp_declare(struct nest *n, struct warp_product *s);

/* Steps of a thread, in a loop over threads: the sums begin with 0; a chunk begins to come into a
 * stage; the chunk of a stage is multiplied; what is late ends. */
void warp_clear(struct nest *n, const struct warp_product *s);
void warp_copy(struct nest *n, const struct warp_product *s, int thread,
	       const struct implicit_chunk *c, struct affine stage);
void warp_multiply(struct nest *n, const struct warp_product *s, int thread, struct affine stage);
void warp_end(struct nest *n, const struct warp_product *s);

/* Goes through the warps' sums, 16 rows of each warp at a time, by way of the block's memory, so
 * that neighbouring threads have neighbouring columns (or, in nchw, rows): x holds for the body
 * behind warp_each(), four columns at a time, whose loops the caller closes. It opens loops over
 * threads itself. */
struct warp_part {
	struct affine row, column; /* of the result */
	const struct expr *x;
};
void warp_each(struct nest *n, const struct warp_product *s, struct warp_part *x);

#endif
