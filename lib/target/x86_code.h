/* What the parts of the x86 printer share: x86.c (integers and control flow), x86_block.c (straight
 * runs of vector code and the loops around them), x86_run.c and x86_pixels.c (copies).
 *
 * Integer variables and buffers' addresses live in the frame, one slot each; %rax, %rcx and %rdx
 * are scratch everywhere. A block keeps its addresses and masks in registers of its own, so that
 * nothing but the frame and the register arrays that several blocks use (the tile) outlives it.
 */
#ifndef TL_TARGET_X86_CODE_H
#define TL_TARGET_X86_CODE_H

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/nest/nest.h"
#include "lib/space/isa.h"

enum { LINEAR_TERMS = 16, CONSTANTS = 64, SPREADS = 16 };

/* An affine form with what is known here put in: c + sum of coef * var. */
struct linear {
	int64_t c;
	int n;
	struct {
		int64_t coef;
		int var;
	} t[LINEAR_TERMS];
};

/* A pixel has so many bytes in memory, and in a copy that has more channels. */
struct x86_pixels {
	int from, to;
};

struct x86 {
	const struct nest *n;
	struct buf *out;
	struct arena arena;
	int looking;	 /* first pass: nothing is kept of the text, see kept */
	const char *why; /* the first that came up that is not written here; NULL: nothing */
	int lanes;	 /* of the nest's vectors: 16 or 8 */
	const struct isa *isa;
	unsigned dots; /* of the machine: limits.h */
	int nlabels;
	int known[NEST_VARS]; /* the variable is a constant here */
	int64_t value[NEST_VARS];
	/* Register arrays: those that are read in a block that has not written them are kept in
	 * registers [home, home + size) all the time. */
	int kept[NEST_BUFFERS], home[NEST_BUFFERS];
	const struct node *scope[NEST_BUFFERS]; /* where each lives; elsewhere its home is free */
	int alive[NEST_BUFFERS];
	int nkept; /* x86_homes() of what is written */
	/* Stores that stream do so in this copy of the function, as far as their addresses are
	 * multiples of a vector; of a buffer they may be if it is aligned. */
	int streams, aligned[NEST_BUFFERS];
	int nconstants;
	struct {
		double value;
		int label;
	} constant[CONSTANTS];
	int mask_table;	 /* label, or 0 */
	int turn_table;	 /* the same */
	int tile_shapes; /* the same */
	int pixel_table; /* the same; for such pixels */
	struct x86_pixels pixels;
	int nspreads;
	struct {
		const struct expr *expr; /* that has the lanes, by this index */
		int64_t index;
		int label;
	} spread[SPREADS];
};

/* This nest cannot be written. */
void x86_fail(struct x86 *x, const char *why);
/* A line of assembly. */
void x86_line(struct x86 *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void x86_label(struct x86 *x, int label);
struct linear x86_linear(const struct x86 *x, const struct affine *a);
struct linear x86_plus(struct linear a, int64_t times, const struct linear *b);
/* Is it a multiple of this, whatever its variables are? */
int x86_is_multiple(const struct linear *l, int64_t of);
/* Its value in a register other than %rdx, which it may change. */
void x86_evaluate(struct x86 *x, const struct linear *l, const char *reg);
int x86_elem_bytes(const struct x86 *x, int buffer);
int x86_buffer_slot(int buffer); /* offsets in the frame */
int x86_var_slot(int var);
int x86_vector_slot(void);

/* Does this register array have its home here? */
int x86_is_home(const struct x86 *x, int buffer);
/* Registers below this are homes here. */
int x86_homes(const struct x86 *x);

/* Is it made of stores and unrolled loops of stores alone? */
int x86_is_straight(const struct node *t);
/* Straight nodes from t up to (not with) end, outside a loop or (loop not NULL) as its body. */
void x86_block(struct x86 *x, const struct node *t, const struct node *end,
	       const struct node *loop);
/* An operation on tiles; and a loop that has nothing but a product of tiles. */
void x86_tmul(struct x86 *x, const struct node *t);
int x86_is_tmul_loop(const struct node *loop);
void x86_tmul_loop(struct x86 *x, const struct node *loop);
/* Where a nest has tiles: code at the function's beginning and end, and data behind it. */
void x86_tmul_enter(struct x86 *x);
void x86_tmul_leave(struct x86 *x);
void x86_tmul_shapes(struct x86 *x);
/* Tables of loads of groups (x86_whole.c), if there are any. */
void x86_turn_table(struct x86 *x);
/* Is it a loop that copies pixels, and gives them more channels, by whole vectors? The others write
 * such a loop, and behind the code the table that it needs. */
int x86_is_pixels(const struct x86 *x, const struct node *loop, struct x86_pixels *p);
void x86_copy_pixels(struct x86 *x, const struct node *loop, const struct x86_pixels *p);
void x86_pixel_table(struct x86 *x);
/* A loop that nest_is_run() takes. */
void x86_run(struct x86 *x, const struct node *t);

#endif
