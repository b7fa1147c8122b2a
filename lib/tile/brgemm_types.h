/* What brgemm (brgemm.h) reads and writes: a product's operands and registers, and its result. */
#ifndef TL_TILE_BRGEMM_TYPES_H
#define TL_TILE_BRGEMM_TYPES_H

#include "lib/nest/nest.h"
#include "lib/space/types.h"

enum { BRGEMM_TAPS = 2, BRGEMM_STRAIGHT = 64, BRGEMM_PARTS = 7 };
/* Groups of four bytes in a line. Tiles whose elements are narrower, and stand alone, have several
 * of these steps in a line, and prefetch it as often. */
enum { BRGEMM_LINE = 16 };

struct tile;

struct brgemm {
	const struct tile *tile; /* how it multiplies (tile.h); NULL: in single precision */
	int lanes, nv;		 /* vectors a row; a tile is nv * lanes columns */
	int unroll;		 /* of the loop over k, asked of the compiler */
	int acc, areg, breg;	 /* registers: rows x nv, rows x 1, 1 x nv */
	int holds_left; /* brgemm's own: a step has all of areg and one of breg at a time */
	int64_t depth;	/* values of k in a step; 0: the tile's group */
	/* Where the tile has tile registers: these. acc is then near memory, where the sums are put
	 * down, vector by vector in the same order. */
	int tiles;
	/* Where k is cut into chunks: memory in which partial sums wait, as they do in acc. */
	int kept;
	struct affine kept_at;
	/* The tile has the rows of so many lines, 0 or 1: one. a_line: from one line's to the
	 * next's; line: the rows of the lines before the one that is
	 * stored. */
	int lines;
	int run; /* of several lines: rows from one to the next, as one run; 0: they are apart */
	struct affine a_line, line;
	/* Where the tile runs over the ends of lines (pitch 0: it does not): its rows are positions
	 * from `begin` on of lines that follow each other by `pitch`, the first `width` positions
	 * of which have results. Those of positions [from, end) are stored. */
	struct brgemm_over {
		int pitch, width;
		struct affine begin, from, end;
	} over;
	/* Where the tile takes halves: elements from the first half of a side to the second. */
	int64_t a_half, b_half;
	int b_ahead; /* B is prefetched so many elements ahead, into tile registers */
	/* Lines of B that each step prefetches, where a step's begin, and how many elements further
	 * on those of the next step, and of the next turn of a loop around k, begin. */
	int next_lines, next_from; /* next_from: brgemm's own */
	struct affine next;
	int64_t next_step, next_tap[BRGEMM_TAPS];

	/* Below, k counts the tile's steps. */
	int a; /* buffer, element A[row, k] at a_at + row * a_row + k * depth */
	struct affine a_at, a_row;
	int b; /* buffer, vector v of B[k] at b_at + k * b_k + v * b_vector */
	struct affine b_at, b_k;
	int64_t b_vector;	      /* lanes * group, where brgemm_registers() leaves it */
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
	/* Where some rows lack some taps, the tile is multiplied in parts: rows [from, to) by taps
	 * [lo, hi) of the innermost loop around k, or, if is_of_k, by such values of k. nparts 0:
	 * all rows have all taps. The tile is one of multiply-adds in single precision. */
	int nparts, is_of_k;
	struct brgemm_part {
		int from, to;
		int64_t lo, hi;
	} part[BRGEMM_PARTS];
	int first_row; /* brgemm's own, of a part */
	struct affine first_k;
};

/* Where a tile's result goes and comes from; columns beyond valid are neither read nor written. */
struct brgemm_out {
	int c;				   /* buffer, element at c_at + row * c_row + column */
	struct affine c_at, c_row, c_line; /* c_line: of a tile of several lines */
	const struct affine *valid;	   /* columns from c_at on, or NULL: all */
	int bias; /* buffer at bias_at + column (padded to whole tiles), or -1 */
	struct affine bias_at;
	int scale; /* buffer of what sums are multiplied by, laid out as the bias, or -1 */
	int shift; /* the same of what is added to them, or -1 */
	struct affine scale_at, shift_at; /* brgemm's own */
	int is_whole;	 /* the sum is of whole numbers: it begins with the bias at most */
	int makes_whole; /* the result has whole numbers */
	int adds;	 /* c holds a tensor that is added: the sum takes its place */
	int mul; /* buffer of what multiplies, laid out as c; looked at where a post-op is mul */
	int npost;
	const struct post_op *post; /* applied in order when the tile is finished */
};

#endif
