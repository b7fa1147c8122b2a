/* Tile registers of a processor, which multiply matrices (Intel, "64 and IA-32 Architectures
 * Software Developer's Manual", volume 1, "Programming with Intel AMX").
 *
 * A tile is a register of up to 16 rows by 16 columns of sums. An array of tiles, `down` by
 * `across`, is a larger one of one or more lines of `height` rows each. In a line tile i begins at
 * row i * rows, but the last one ends with the last row, so that it may begin earlier. Rows that
 * two tiles have are the same in both.
 * All tiles of a nest have the same number of rows, and its products the same depth, because these
 * are a state of the thread that takes as long to change as several products.
 *
 * An operation begins the sums, with zero, with a vector that all rows are, or with what was stored
 * before; or it adds products; or it stores the sums. The left side's values of k lie side by side.
 * The right side's lie as its columns in a vector of groups (elem.h).
 *
 * The left side may be split in halves, as packings split the right side (PACKING_HALVES,
 * lib/space/layout.h): then the products of both first halves, and of each first half with the
 * other side's second one, are added. That is a product in single precision by three products of
 * bf16.
 *
 * The products of bf16 treat numbers below the smallest normal one as zero, and sum in single
 * precision, in an order of their own. Those of whole numbers are exact, and keep 32 bits of a sum.
 */
#ifndef TL_NEST_TMUL_H
#define TL_NEST_TMUL_H

#include "lib/nest/nest.h"

enum {
	TMUL_REGISTERS = 8, /* tiles of a thread: sums, and both sides of a product */
	TMUL_ROWS = 16,
	TMUL_COLUMNS = 16,
	TMUL_ROW_BYTES = 64,
};

enum tmul_op {
	TMUL_ZERO,
	TMUL_REPEAT, /* each row is the vector in memory, as wide as the array */
	TMUL_LOAD,   /* from memory */
	TMUL_ADD,    /* += left side * right side */
	TMUL_STORE,  /* to memory */
};

struct tmul {
	enum tmul_op op;
	int down, across, lines, height;
	int depth;	 /* ADD: values of k */
	enum elem right; /* ADD: the type of the right side's groups */
	/* ADD: buffer of the left side: row r of line l begins at left_at + l * left_line + r *
	 * left_row. */
	int left;
	struct affine left_at, left_line, left_row;
	int64_t left_half; /* ADD: elements from its first half to its second; 0: it is whole */
	/* ADD: buffer of the right side, group k of columns 16 * v .. at `at` + k * row + v *
	 * vector, in elements. REPEAT: the vectors at `at` + v * vector. LOAD, STORE: row r of line
	 * l and of columns 16 * v .. lies at `at` + (l * height + r) * row + v * vector. */
	int memory;
	struct affine at;
	int64_t row, vector;
	int64_t half; /* ADD: the same of the right side */
	/* ADD, without meaning but speed: prefetch the right side so many elements further on, and
	 * so many lines of buffer next_from, from `next` on, to the second-level cache. */
	int ahead, next_lines, next_from;
	struct affine next;
};

/* An array of tiles of so many rows each. Its register i * across + j is tile (i, j). */
int nest_tiles(struct nest *n, const char *name, enum elem sum, int rows, int down, int across);
void nest_tmul(struct nest *n, int tiles, const struct tmul *op);
/* Is the buffer an array of tiles? */
static inline int nest_is_tiles(const struct nest *n, int buffer)
{
	return n->buffer[buffer].tile_rows > 0;
}
/* The line that tile i of an operation is of, and the row of the line that it begins at. */
int tmul_line(const struct node *t, int i);
int tmul_begin(const struct nest *n, const struct node *t, int i);
/* Where its left side begins. */
struct affine tmul_left(const struct nest *n, const struct node *t, int i);
/* How many products an operation adds for each of its tiles, and how many elements further on the
 * sides of product `i` begin. */
int tmul_products(const struct tmul *m);
int64_t tmul_left_half(const struct tmul *m, int i);
int64_t tmul_right_half(const struct tmul *m, int i);
/* The first product of a nest; NULL: there is none. */
const struct node *tmul_first(const struct nest *n);
/* Can products have this depth with such groups on their right side? */
int tmul_has_depth(enum elem right, int depth);

#endif
