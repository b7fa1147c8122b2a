/* Convolutions and products as one implicit matrix product, for targets with blocks of threads. The
 * left side is read in place: a row is a pixel of the output, and a column is an input channel
 * under one tap of the kernel (Chetlur et al., "cuDNN: Efficient primitives for deep learning",
 * arXiv:1410.0759, 3.2).
 *
 * Chunks of the sum have consecutive numbers: all taps of the first bk channels, then of the next.
 * The right side is packed in panels of bn columns. A panel has chunks of bk x bn, one behind the
 * other, padded with zeros. A right side that is not constant is read in place.
 *
 * A chunk goes through registers into the memory of a block, or is copied there asynchronously.
 */
#ifndef TL_SCHEDULE_IMPLICIT_H
#define TL_SCHEDULE_IMPLICIT_H

#include "lib/schedule/conv.h"

struct implicit {
	int64_t b, m, n, k; /* groups or batches, rows, columns, channels of a tap */
	int64_t taps;
	int64_t bm, bn, bk; /* a block's rows and columns, values in a chunk */
	int is_conv, nchw;
	int packed;	/* the right side is a constant */
	int by_columns; /* it is packed column by column: each column of a chunk has its bk values
			 * side by side */
	enum elem elem, right, result; /* of the left side, and so on, in memory */
	struct conv c;
	/* How many values may be read and written as one vector: 4, where all stand at multiples,
	 * or 1. */
	int src_lanes, weights_lanes, dst_lanes;
	int src, weights; /* buffers */
	struct brgemm_out out;
};

/* 1: p is filled but for the block's sizes and buffers; 0: the workload is no such product. */
int implicit_of(const struct workload *w, struct implicit *p);
/* The tensors, once the block's sizes are set. */
void implicit_declare(struct nest *n, const struct workload *w, struct implicit *p);

/* Chunks of the sum in all. */
int64_t implicit_chunks(const struct implicit *p);
int64_t implicit_panels(const struct implicit *p);

/* Opens the loops over blocks, and over `parts` parts of the sum; returns the variable of the part.
 * *batch is a variable, too. */
int implicit_blocks(struct nest *n, const struct implicit *p, int64_t parts, int by_rows,
		    int *batch, struct affine *row, struct affine *panel);
/* The chunks of a part of the sum. */
void implicit_part(struct nest *n, const struct implicit *p, int64_t parts, int part,
		   struct affine *first, struct affine *end);
/* The open chunk: variables, and its first channel. */
struct implicit_chunk {
	int q;
	struct affine row, column; /* of the kernel */
	struct affine channel;
};
struct implicit_chunk implicit_chunk(struct nest *n, const struct implicit *p, int q);
/* Reads src_lanes channels of a row into a register, or zeros where there are none. row: of the
 * output, maybe beyond its end; channel: counted from the chunk's first; batch: a variable. */
void implicit_source(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		     int batch, struct affine row, struct affine channel, int reg,
		     struct affine reg_at);
/* Reads weights_lanes columns of the chunk's row k into a register: those of panel `panel` from
 * column `column` on. */
void implicit_right(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		    int batch, struct affine panel, struct affine k, struct affine column, int reg,
		    struct affine reg_at);
/* The same, copied to element to_at of a block's memory: so many channels of a row; or, of the
 * right side, so many values of a column (by_columns) or columns of a row (otherwise). What is less
 * than four bytes is read and written. */
void implicit_copy_source(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
			  int batch, struct affine row, struct affine channel, int lanes, int to,
			  struct affine to_at);
void implicit_copy_right(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
			 int batch, struct affine panel, struct affine k, struct affine column,
			 int lanes, int to, struct affine to_at);
/* All of the chunk of a packed right side, in bulk. */
void implicit_copy_chunk(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
			 int batch, struct affine panel, int to, struct affine to_at);
/* The left side of a block as boxes (lib/nest/box.h): NULL, or why there are none of bm rows and bk
 * values; their number, once the source is declared; the copy of one, from row `row` on. */
const char *implicit_box_refusal(const struct implicit *p);
int implicit_box(struct nest *n, const struct implicit *p);
void implicit_copy_box(struct nest *n, const struct implicit *p, const struct implicit_chunk *c,
		       int batch, struct affine row, int box, int to, struct affine to_at);
/* How many elements one copy can take: as many as fill 16 bytes, or a part of them. */
int implicit_source_lanes(const struct implicit *p);
int implicit_right_lanes(const struct implicit *p);
/* Four columns of a row, a vector, through the post-ops to the result; beyond its ends nothing is
 * written. */
void implicit_store(struct nest *n, const struct implicit *p, int batch, struct affine row,
		    struct affine column, const struct expr *x);

#endif
