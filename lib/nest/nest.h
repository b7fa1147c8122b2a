/* The loop-nest IR: what algorithms build and targets print.
 *
 * A nest is a tree of nodes over integer variables, buffers and expressions. It has one meaning,
 * that of the interpreter (interp.h); the source that a target prints must have the same.
 * Everything lives in the nest's arena and goes with it.
 *
 *  - Integer variables are symbols (an extent or stride with its value, passed at run time or
 * printed as a constant), loop variables, and lets. Index expressions are affine in them, with a
 * symbol allowed as a factor: no division.
 *  - Vectors are types, not loops: a load, store or register has a number of lanes; 1 is a scalar.
 * A count of valid lanes makes an access masked: lanes beyond it load as zero and are not stored.
 *  - Registers are arrays indexed by constants once the loops marked LOOP_UNROLL are unrolled,
 * which is done by the printer and the interpreter, never in the tree.
 *  - Loops marked LOOP_PARALLEL, nested directly in each other, are one iteration space that the
 * threads of the team share in contiguous stretches. Workspace buffers exist once a thread, team
 * buffers once.
 *  - A kernel is a list of phases, and the team meets at a barrier between two of them (NODE_SYNC):
 * what any thread has written in a phase, all may read in the next one. Within a phase no thread
 * reads or writes what another one writes. Registers hold nothing when a phase begins.
 *  - Where a target has blocks of threads (a GPU), an iteration of the parallel loops is a block.
 * Its body is uniform: all threads of the block go through its loops and branches together, and
 * compute in loops marked LOOP_THREAD alone, one turn a thread. Behind each such loop the threads
 * wait for each other: what a thread wrote in one, all threads of the block may read in the next.
 * Within one, no thread reads or writes what another one writes. Registers belong to a thread, and
 * keep their values from one loop to the next; block buffers exist once a block, and hold nothing
 * when it begins. A vector in memory stands at a multiple of its lanes there.
 *  - Threads of a block copy asynchronously (NODE_COPY): what they copy is there once the thread
 * has waited for it (NODE_WAIT), for all threads of the block behind the loop over threads in which
 * it waited. A copy of more than 16 bytes is a bulk copy: the block's first thread alone starts it,
 * and the hardware does the rest. A warp multiplies tiles that lie in the block's memory (NODE_MMA,
 * mma.h).
 *  - A processor's tiles (NODE_TMUL, tmul.h) are registers, too, but vectors of none: they begin
 * with zero or a vector, add products of what lies in memory, and are stored.
 *
 * Buffers are tensors of the workload, packed constants, workspace of a thread or of the team, and
 * registers. A packed buffer has a layout, an ordered list of (dimension, factor), such as N/64 K
 * 64n. Its index map, its size and the packing itself follow from the layout. Before a dimension
 * is put in order it may be mapped linearly, in double precision (Winograd's weights). This map is
 * also plain data. So what is prepared off the clock needs no code of its own, and the cache keeps
 * it under its text.
 *
 * A kernel is a list of phases, with a barrier of the team between them (nest_sync()). After the
 * barrier all threads may read what one thread wrote in the phase before. A phase shares the items
 * of one region of parallel loops. check_nest() checks this, and the limits of everything that a
 * nest may have. interp_team() runs a team's threads phase by phase, and finds races and reads of
 * memory that was never written.
 *
 * Symbols. An extent is a symbol with a value. The printer decides whether to pass the value at
 * run time or to print it as a constant. GNU C passes sizes, strides, cache tiles and thread
 * counts, so that an object serves all candidates that differ only in these. Assembly costs only a
 * few milliseconds, so its printer makes constants of them.
 *
 * Registers are indexed by constants once loops are unrolled, and are printed as named scalars
 * (acc_2_3). The printer and the interpreter unroll; the tree itself stays as it is, because a
 * prediction may take only microseconds for each candidate.
 *
 * Results may be written past the caches (stream, nest_stream()). The x86 printer writes such a
 * kernel twice, for results that begin at a line of the cache and for others, and the kernel
 * chooses at each call. GNU C ignores it. The knob is offered only where the result is larger than
 * a quarter of the third cache: smaller results are faster in a loop, but slower with the operator
 * that reads them (EXPERIMENTS.md).
 *
 * The team is started only where there is work to share (nest_threads()): one thread calls a nest
 * whose phases have one item each. So the size of blocks also chooses how many threads run, and no
 * other knob is needed for that. A product of 1x64 by 64x64 takes 0.1 us; the start and end of a
 * team of two made it 0.7.
 *
 * the interpreter needs no threads of its own. It takes the turns of such a loop one after the
 * other and keeps a set of registers for each. It finds races (within a loop and between blocks),
 * reads of memory that was never written, and vectors whose address is not a multiple of their
 * lanes;
 *
 * nobody writes a barrier, and nobody can forget one. The printer (lib/target/simt.c) puts a
 * barrier before a loop that touches what an earlier one wrote, or writes what an earlier one
 * touched. It also looks once around enclosing loops, and leaves out all other barriers;
 *
 * A copy (nest_copy()) brings 4, 8 or 16 bytes from an operand to the block's memory while the
 * thread goes on. All copies that a thread starts in a loop over threads are a group, and
 * nest_wait() waits until at most so many groups are under way. The interpreter refuses reads of
 * what a copy has not brought. LET_IN says whether something lies inside an image; a copy writes
 * zeros where it does not.
 */
#ifndef TL_NEST_NEST_H
#define TL_NEST_NEST_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/nest/elem.h"
#include "lib/space/layout.h"

/* Limits of a nest. check_nest() (check.h) refuses a larger one. */
enum {
	NEST_VARS = 640,
	NEST_PARAMS = 80,
	NEST_BUFFERS = 60,
	NEST_DEPTH = 32,  /* loops and branches in each other */
	NEST_LOOPS = 384, /* for a model to walk, as the rest is; at most NEST_LOOP_DEPTH in each
			     other */
	NEST_LOOP_DEPTH = 20,
	NEST_PARALLEL = 8, /* parallel loops in each other */
	NEST_SITES = 384,  /* loads and stores of memory in the text, but for near buffers */
	NEST_PHASES = 8,
	NEST_BLOCK_THREADS = 1024,
	NEST_COPY_BYTES = 16,			/* of a NODE_COPY that is no bulk copy, at most */
	NEST_BULK_GROUPS = 8,			/* of bulk copies that are under way, at most */
	NEST_BULK_BYTES = NEST_BULK_GROUPS * 8, /* of a block's memory, for those who wait */
	NEST_BOXES = 2,
	AFFINE_TERMS = 8,
};

/* ---- integer variables and affine forms ---- */

enum var_kind { VAR_SYMBOL, VAR_LOOP, VAR_LET };

struct var {
	const char *name;
	enum var_kind kind;
	int runtime;   /* symbols: passed in params[], otherwise a constant in the source */
	int param;     /* symbols: index in params[], -1 if not passed */
	int64_t value; /* symbols */
};

/* c + sum of coef * sym * var; sym and var are variable numbers or -1 (factor left out). */
struct affine {
	int64_t c;
	int n;
	struct {
		int64_t coef;
		int16_t sym, var;
	} t[AFFINE_TERMS];
};

/* ---- buffers ---- */

enum buffer_kind {
	BUFFER_ARG,    /* a dense tensor of the workload, as it is */
	BUFFER_PACKED, /* a constant tensor of the workload, packed off the clock */
	BUFFER_WORK,   /* scratch memory, one a thread */
	BUFFER_TEAM,   /* scratch memory, one for all threads; it begins with any values */
	BUFFER_BLOCK,  /* scratch memory, one for the threads of a block */
	BUFFER_REG,    /* named registers */
	BUFFER_VIEW,   /* another buffer from a place on; made by NODE_VIEW */
};

struct buffer {
	const char *name;
	enum buffer_kind kind;
	enum elem elem;
	int role;	  /* ARG, PACKED: enum tensor_role of the workload's tensor */
	int lanes;	  /* REG: lanes of each register */
	int cols;	  /* REG: register i is printed as name_row_col, row = i / cols */
	int tile_rows;	  /* REG: rows of each tile (tmul.h), of 16 lanes; 0: vectors */
	int64_t size;	  /* elements (REG: registers; WORK: a thread, multiple of 16) */
	int written;	  /* ARG: the kernel writes it */
	int near;	  /* WORK: a few cache lines, which never leave the first-level cache */
	int slot;	  /* ARG, PACKED, WORK, TEAM: index in buffers[] of the kernel */
	int stride_param; /* WORK: index in params[] of size */
	int base;	  /* VIEW: the buffer seen through */
	struct swizzle swizzle;	 /* PACKED, BLOCK: the order of its elements in memory, which no
				  * index knows of */
	struct packing *packing; /* PACKED: it lies in the arena; others have none: NULL */
};

/* Of what lies in memory: no registers. */
static inline int64_t buffer_bytes(const struct buffer *b)
{
	return b->size * elem_size(b->elem);
}

/* ---- boxes ---- */

/* Parts of an argument [image][row][column][channel], dense. Positions are counted over all images,
 * and in an image row by row: position i of an image is the pixel in row first_row + i / across *
 * step_down and column first_column + i % across * step_across. A box has `values` channels of each
 * of `positions` positions, one after the other. Pixels and channels that the tensor lacks are
 * zero. */
struct box {
	int from;
	int64_t images, height, width, channels;
	int64_t down, across; /* positions of an image */
	int first_row, first_column, step_down, step_across;
	int positions, values;
};

/* ---- expressions ---- */

enum expr_kind {
	EXPR_CONST,
	EXPR_LOAD,
	EXPR_BCAST,    /* a scalar, or a few adjacent values of memory, again and again */
	EXPR_SPREAD,   /* lane l is lane l / per * step + l % per * within + index of a, or the last
			* where that is beyond */
	EXPR_EXCHANGE, /* lanes of a and of b: ex_exchange() */
	EXPR_PICK,     /* lane `index` of a, as a scalar */
	EXPR_ADD,
	EXPR_SUB,
	EXPR_MUL,
	EXPR_MAX,   /* a > b ? a : b: of NaN, b */
	EXPR_MIN,   /* a < b ? a : b */
	EXPR_NAN,   /* NaN where a is NaN, else b; single precision */
	EXPR_FMA,   /* a * b + c */
	EXPR_DOT,   /* c + the products of the groups a and b (elem.h), element by element; both are
		       of one type, or a is u8's and b s8's */
	EXPR_LOW4,  /* the lower 4 bits of each byte of a, a group of u8 (elem.h) or a whole number
		       that was loaded from one */
	EXPR_HIGH4, /* the upper 4 bits of each such byte */
	EXPR_TIMES, /* a * value, a whole factor: of a whole number, or of both of a pair of
		       s16; it wraps */
	EXPR_HALVES, /* of a whole number the half, `value` times over; nothing is left over */
	EXPR_DIV,
	EXPR_SQRT,
	EXPR_POWER,  /* single precision: 2^n, a normal number, where a is 1.5 * 2^23 + 127 + n for
			a whole n; any number where a is none */
	EXPR_EXP,    /* definitions alone: scalars of double precision */
	EXPR_ERFC,   /* the same */
	EXPR_ROUND,  /* to the nearest whole number, ties to even */
	EXPR_WIDEN,  /* f32 to f64 */
	EXPR_NARROW, /* f64 to f32 */
};

/* The members of groups whose elements lie apart: member m of lane l is element index + l + m *
 * `apart`, for m from `from` to `to` - 1. The others are 0. */
struct members {
	struct affine apart;
	int from, to;
};

struct expr {
	enum expr_kind kind;
	enum elem elem;
	int lanes;
	double value;		      /* CONST, TIMES, HALVES */
	const struct expr *a, *b, *c; /* operands */
	int buffer;		      /* LOAD */
	struct affine index; /* LOAD, in elements (REG: in registers); SPREAD, PICK: a constant once
				unrolled */
	int per, step, within;	       /* SPREAD */
	int apart, upper;	       /* EXCHANGE */
	const struct affine *valid;    /* LOAD: count of valid lanes, NULL: all */
	const struct members *members; /* LOAD of groups; NULL: all, side by side */
	int low;		       /* DOT of u8: ex_dot_low() */
};

/* ---- nodes ---- */

enum loop_kind {
	LOOP_SERIAL,
	LOOP_UNROLL,
	LOOP_PARALLEL, /* shared by the team; or by blocks, where there are any */
	LOOP_THREAD,   /* a turn for each thread of a block */
};

enum let_kind {
	LET_IS,	 /* a */
	LET_MIN, /* min(a, b) */
	LET_DIV, /* a / b, rounded down, for a >= 0 and a constant b > 0 */
	LET_MOD, /* what is left of a then */
	LET_IN,	 /* 1 if 0 <= a < b, else 0 */
};

enum node_kind {
	NODE_FOR,      /* for var in [lo, hi) body */
	NODE_IF,       /* if a < b then body else orelse */
	NODE_LET,      /* var = a, or of a and b: enum let_kind */
	NODE_VIEW,     /* view buffer = base from index a on */
	NODE_STORE,    /* buffer[index] = value, lanes as the value has */
	NODE_PREFETCH, /* the cache line of buffer[a] will be needed soon; no meaning but speed */
	NODE_SYNC,     /* the team's barrier, at the top level: a phase ends, the next begins */
	NODE_COPY,     /* block buffer[a ..] = `lanes` elements of `from`[b ..], or zeros beyond the
			* valid ones, at some time before a wait; or a box (box.h) */
	NODE_WAIT,     /* until all of the thread's groups of copies but the last a.c are there */
	NODE_MMA,      /* registers += products of tiles: mma.h */
	NODE_TMUL,     /* an operation on a processor's tiles: tmul.h */
};

struct mma;
struct tmul;
struct box_place;

struct node {
	enum node_kind kind;
	struct node *next;
	struct node *outer; /* in whose body it is; NULL: the nest's own */
	struct node *body, *orelse;
	enum loop_kind loop;
	int unroll; /* FOR, serial: how often the compiler is asked to unroll; 0: as it likes */
	int jam;    /* FOR, unrolled: see nest_jam() */
	int var;    /* FOR, LET */
	int buffer; /* STORE, VIEW, PREFETCH, COPY; MMA, TMUL: the registers */
	struct affine a; /* FOR: lo; IF, LET, VIEW, WAIT: see above; otherwise index */
	struct affine b; /* FOR: hi; IF, LET; COPY: index in `from` */
	int from, lanes; /* COPY */
	int box;	 /* COPY, of a box: its number, and where it begins (box.h) */
	const struct box_place *place;
	const struct mma *mma;
	const struct tmul *tmul;
	enum let_kind let;
	int streams; /* STORE: see nest_stream() */
	int far;     /* PREFETCH: see nest_prefetch_far() */
	const struct affine *valid;
	const struct expr *value;
};

struct nest {
	struct arena *arena;
	const char *name;
	int nvars, nbuffers, nparams, nslots, nboxes;
	struct var var[NEST_VARS];
	struct buffer buffer[NEST_BUFFERS];
	struct box box[NEST_BOXES];
	struct node *body;
	struct node **tail;    /* where the builder appends */
	struct node *open;     /* whose body that is; NULL: the nest's own */
	int depth, loop_depth; /* bodies that are open, and loops among them */
	int nloops, nphases;   /* in all */
	int streams;	       /* nest_stream() was called */
	int block_threads;     /* of a block; 0: the nest has no blocks */
	/* Elements from a pixel of the result, or a row of its matrix, to the next; 0: nothing lies
	 * between them. Who builds a nest sets it behind nest_init(). */
	int64_t pitch;
	int resident; /* nest_resident() */
	struct {
		const char *what; /* there was no room for more of these; NULL: for all */
		int most;
	} full;
};

void nest_init(struct nest *n, struct arena *a, const char *name);

/* Symbols: a run-time parameter, or a constant in the source. */
int nest_param(struct nest *n, const char *name, int64_t value);
int nest_const(struct nest *n, const char *name, int64_t value);

int nest_arg(struct nest *n, const char *name, int role, int64_t size, int written);
int nest_packed(struct nest *n, const char *name, int role, const struct packing *p);
int nest_work(struct nest *n, const char *name, int64_t size);
int nest_team(struct nest *n, const char *name, int64_t size);
/* A little of the thread's workspace, which never leaves the first-level cache. The same name, the
 * pointer, gives the same buffer, of the first one's size. */
int nest_near(struct nest *n, const char *name, int64_t size);
/* Memory of a block. */
int nest_block(struct nest *n, const char *name, int64_t size);
/* The elements of a buffer in memory are of this type, single precision otherwise. */
void nest_elem(struct nest *n, int buffer, enum elem elem);
/* The values of a packed buffer of floats are rounded to bf16. */
void nest_round(struct nest *n, int buffer);
/* Rows of so many elements lie swizzled (swizzle.h) in a block's memory, or packed. Indices mean
 * the same elements as without it. The type of the elements must be set, and no access may go
 * beyond a unit of 16 bytes. */
void nest_swizzle(struct nest *n, int buffer, int64_t row);
int nest_reg(struct nest *n, const char *name, enum elem elem, int lanes, int rows, int cols);

/* Affine forms, by value. These two are made so often that they leave the terms that a form does
 * not have as they are: to clear them took a tenth of a nest's time. */

/* A constant. */
static inline struct affine af(int64_t c)
{
	struct affine a;

	a.c = c;
	a.n = 0;
	return a;
}

/* A variable or symbol. */
static inline struct affine af_var(int var)
{
	struct affine a;

	a.c = 0;
	a.n = 1;
	a.t[0].coef = 1;
	a.t[0].sym = -1;
	a.t[0].var = (int16_t)var;
	return a;
}

struct affine af_add(struct affine a, struct affine b);
struct affine af_sub(struct affine a, struct affine b);
struct affine af_mul(struct affine a, int64_t k);
struct affine af_times(struct affine a, int sym); /* no term of a may have a symbol factor yet */
/* a * stride, for a stride that is a constant or one symbol. */
struct affine af_scale(struct affine a, struct affine stride);
#define af_sum(...)                                                                                \
	af_sum_((struct affine[]){__VA_ARGS__},                                                    \
		sizeof((struct affine[]){__VA_ARGS__}) / sizeof(struct affine))
struct affine af_sum_(const struct affine *a, unsigned long n);

/* Expressions. valid may be NULL. */
const struct expr *ex_const(struct nest *n, enum elem elem, int lanes, double v);
const struct expr *ex_load(struct nest *n, int buffer, int lanes, struct affine index,
			   const struct affine *valid);
const struct expr *ex_reg(struct nest *n, int buffer, struct affine index);
/* Whole numbers as such, of 32 bits (ELEM_S32), from memory of whole numbers or from a register
 * of their sums; those loads that make single precision of them are ex_load() and ex_reg(). They
 * are added, multiplied (EXPR_FMA), broadcast, and stored: sums are of all that EXPR_DOT makes of
 * groups but of bf16. */
const struct expr *ex_load_whole(struct nest *n, int buffer, int lanes, struct affine index,
				 const struct affine *valid);
/* Loads what is computed with in type `sum`, ELEM_F32 or ELEM_S32: ex_load_whole() or ex_load(). */
const struct expr *ex_load_as(struct nest *n, enum elem sum, int buffer, int lanes,
			      struct affine index, const struct affine *valid);
/* A register as it is, whole numbers, too. */
const struct expr *ex_reg_as_is(struct nest *n, int buffer, struct affine index);
/* So many groups (elem.h) from element `index` of memory on, all valid. */
const struct expr *ex_load_groups(struct nest *n, int buffer, enum elem group, int lanes,
				  struct affine index);
/* So many groups from elements that lie apart, of which those of lanes that are not valid are 0.
 * valid may be NULL. */
const struct expr *ex_load_apart(struct nest *n, int buffer, enum elem group, int lanes,
				 struct affine index, const struct members *members,
				 const struct affine *valid);
/* How many loads of memory a load is. */
int ex_loads(const struct expr *load);
/* Where member m of a load's first lane is. */
struct affine ex_member_at(const struct expr *load, int m);
/* Lane l is lane l % a->lanes of a. If a has several lanes, it is a load of single precision from
 * memory, all of whose lanes are valid. */
const struct expr *ex_bcast(struct nest *n, int lanes, const struct expr *a);
/* Values that `per` lanes share each, `step` lanes apart, from lane index on. */
const struct expr *ex_spread(struct nest *n, const struct expr *a, int per, int step,
			     struct affine index);
/* The lanes of a as a matrix of so many rows, one after the other, transposed: column after column.
 * Lanes behind the whole matrix are any. */
const struct expr *ex_turn(struct nest *n, const struct expr *a, int rows, int columns);
/* Lane `lane` of a. */
const struct expr *ex_pick(struct nest *n, const struct expr *a, struct affine lane);
/* The lane of a that lane `lane` is, where the index has this value. */
int ex_spread_from(const struct expr *x, int64_t index, int lane);
/* Vectors a and b change lanes: those of a whose number has the bit `apart` (a power of two) for
 * those of b whose number lacks it. The value is what becomes of a, or (upper) of b. A matrix of
 * vectors is transposed by one exchange for each power of two (Eklundh, "A fast computer method for
 * matrix transposing", IEEE Trans. Comput. C-21(7), 1972). */
const struct expr *ex_exchange(struct nest *n, const struct expr *a, const struct expr *b,
			       int apart, int upper);
/* Where its lane `lane` comes from: the lane's number in a, or, plus `lanes`, in b. */
int ex_exchange_from(const struct expr *x, int lane);
/* EXPR_MAX or EXPR_MIN of a and b, or NaN if one of them is NaN. a is evaluated twice; if it is a
 * constant that is no NaN, this costs no more than EXPR_MAX. */
const struct expr *ex_limit(struct nest *n, enum expr_kind kind, const struct expr *a,
			    const struct expr *b);
/* An operation that has a value beside its operand. */
const struct expr *ex_by(struct nest *n, enum expr_kind kind, const struct expr *a, double value);
const struct expr *ex_op(struct nest *n, enum expr_kind kind, const struct expr *a,
			 const struct expr *b, const struct expr *c);
/* EXPR_DOT of a group a of u8 whose elements have 4 bits. Sums of two products then have 16, for
 * which processors of AVX2 have an instruction. */
const struct expr *ex_dot_low(struct nest *n, const struct expr *a, const struct expr *b,
			      const struct expr *c);

/* Statements, appended where the builder stands. for, if and else open a body that nest_close()
 * ends. */
int nest_for(struct nest *n, enum loop_kind kind, const char *name, struct affine lo,
	     struct affine hi); /* returns the loop variable */
/* A processor is to have registers for so many blocks at a time. A compiler that knows this uses
 * the registers that are left to load early, and waits for memory less often (NVIDIA, "CUDA C++
 * Programming Guide", "Launch bounds"). 0: the compiler takes few registers. */
void nest_resident(struct nest *n, int blocks);
/* A turn for each of a block's threads, as many in all such loops of a nest. */
int nest_for_threads(struct nest *n, const char *name, int threads);
void nest_unroll_hint(struct nest *n, int times); /* for the loop just opened */
/* Of the loop just opened, which is unrolled: no turn needs what another one stores. So a printer
 * may write each statement for all turns, of all such loops around it, before the next statement:
 * chains of operations that wait for each other then run side by side ("unroll and jam"). */
void nest_jam(struct nest *n);
/* Number of the turn that the open loops of this kind are in, and how many turns there are. */
struct affine nest_turn(const struct nest *n, int64_t *turns);
void nest_if_less(struct nest *n, struct affine a, struct affine b);
void nest_else(struct nest *n); /* closes the if's body, opens its other one */
void nest_close(struct nest *n);
void nest_close_to(struct nest *n, int depth); /* all that were opened since n->depth was that */
int nest_let(struct nest *n, const char *name, struct affine a);
int nest_let_min(struct nest *n, const char *name, struct affine a, struct affine b);
/* a / by and a % by, for a >= 0 and by > 0. */
int nest_let_div(struct nest *n, const char *name, struct affine a, int64_t by);
int nest_let_mod(struct nest *n, const char *name, struct affine a, int64_t by);
/* 1 if 0 <= a < end, else 0. */
int nest_let_in(struct nest *n, const char *name, struct affine a, struct affine end);
int nest_view(struct nest *n, const char *name, int base, struct affine from);
void nest_store(struct nest *n, int buffer, struct affine index, const struct affine *valid,
		const struct expr *value);
/* The index may lie outside the buffer: nothing is read. */
void nest_prefetch(struct nest *n, int buffer, struct affine index);
/* The same for what is needed later: the line goes to the second cache, and the first keeps what it
 * has. */
void nest_prefetch_far(struct nest *n, int buffer, struct affine index);
/* The vectors that have been stored to arguments until now are not needed soon: a target may write
 * them past the caches, which then read nothing for them and lose nothing to them. */
void nest_stream(struct nest *n);
/* Starts to copy so many elements, 4, 8 or 16 bytes, which stand at multiples of that in both
 * places, from an argument or packed buffer to memory of a block. Zeros take the place of those
 * beyond the valid ones (valid may be NULL). The copies of a loop over threads are a group.
 *
 * More elements, whole units of 16 bytes, are copied in bulk, all of them. Both buffers must have
 * the same swizzle then, and whole multiples of its eight rows are copied. */
void nest_copy(struct nest *n, int to, struct affine at, int from, struct affine from_at, int lanes,
	       const struct affine *valid);
/* The thread waits until at most so many of its last groups are not there yet. */
void nest_wait(struct nest *n, int groups);
/* For builders of nodes (mma.c): one more node where the nest is being built. */
struct node *nest_append(struct nest *n, enum node_kind kind);
/* Ends a phase: at the top level of the nest. */
void nest_sync(struct nest *n);
const struct affine *nest_keep(struct nest *n, struct affine a); /* a copy in the arena */

/* Is the loop a copy of a run of floats, vector by vector, for v: to[.. + lanes * v] =
 * from[.. + lanes * v], or zero, as many lanes as are valid? */
int nest_is_run(const struct nest *n, const struct node *loop);
/* Where each register array lives: in the smallest loop or branch whose body has all its uses, NULL
 * for the nest itself. It holds nothing when that body begins. Of other buffers: NULL. */
void nest_register_scopes(const struct nest *n, const struct node *scope[NEST_BUFFERS]);
/* Does the body of one loop or branch (NULL: the nest) have the other in it, or is it the same? */
int nest_holds(const struct node *outer, const struct node *inner);
/* Of a team of so many threads, those that run the nest: all, or 1 where no phase has items to
 * share. So blocks that are as large as the problem spare a small one the team's start and end. */
int nest_threads(const struct nest *n, int threads);
/* The first node of the phase behind this one; NULL: there is none. */
const struct node *nest_next_phase(const struct node *t);
/* Is there a node of this kind among these, or in their bodies? */
int nest_has(const struct node *t, enum node_kind kind);
/* The buffer's own, through views. */
int nest_base(const struct nest *n, int buffer);
int nest_is_bulk(const struct nest *n, const struct node *copy);
int nest_has_bulk(const struct nest *n);
/* Bytes of the memory of a block, and where a buffer begins in it: at a multiple of 16, or of
 * SWIZZLE_ALIGN. */
int64_t nest_block_bytes(const struct nest *n);
int64_t nest_block_place(const struct nest *n, int buffer);
/* What a let makes of its operands. */
int64_t nest_let_value(enum let_kind let, int64_t a, int64_t b);
/* Value with every symbol at its value and every other variable from value[] (by variable number).
 */
int64_t af_eval(const struct nest *n, const struct affine *a, const int64_t *value);

#endif
