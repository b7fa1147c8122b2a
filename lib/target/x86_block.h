/* A block while it is written: what x86_block.c (the stores in order, the loop around them),
 * x86_memory.c (addresses and masks) and x86_vector.c (registers and instructions) share.
 */
#ifndef TL_TARGET_X86_BLOCK_H
#define TL_TARGET_X86_BLOCK_H

#include "lib/target/x86_code.h"

enum { OPS = 4096, VREGS = 256, ADDRESSES = 11, MASKS = 7, DEPTH = 5, OPERAND = 48 };

struct op {
	const struct node *node; /* a store or a prefetch */
	int64_t at[DEPTH];	 /* of the unrolled loops around it, outermost first */
	int var[DEPTH], depth;
	/* Of the value that it writes to a register: the last op that reads it, -1 if none does;
	 * how many reads there are; and whether one of them takes it where memory cannot be. */
	int last_read, reads, in_register;
};

struct address {
	int buffer;
	struct linear part; /* of the index, without its constant */
	int64_t step;	    /* elements a turn of the loop */
	const char *reg;
};

struct mask {
	struct linear valid;
	int lanes;
	int number;	 /* AVX-512: %k1 to %k7 */
	const char *reg; /* AVX2: the address of the mask's lanes */
};

struct block {
	struct x86 *x;
	const struct node *loop;
	int nops, depth, naddresses, nmasks, ngprs;
	int exchanges; /* distances at which vectors change lanes, or-ed */
	struct op *op;
	int var[DEPTH];
	struct address address[ADDRESSES];
	struct mask mask[MASKS];
	int64_t turn; /* of the loop's unrolled copies, the one written now */
	int now;      /* op */
	/* Register arrays of this block, one after the other. writer: the op whose value is in
	 * there, -1: none of this block. */
	int base[NEST_BUFFERS], writer[VREGS];
	int phys[VREGS];		 /* -1: nowhere */
	char folded[VREGS][OPERAND + 8]; /* not empty: read where it is used, as this operand */
	unsigned busy;			 /* registers */
	/* Constants of the nest (struct x86) that are operands of several stores wait in registers
	 * that nothing else needs: how often each is used, and where it is; -1: in memory alone. */
	int uses[CONSTANTS], at[CONSTANTS];
};

struct operand {
	char text[OPERAND];
};

/* This nest cannot be written. */
void block_fail(struct block *b, const char *why);
int block_is_register(const struct block *b, int buffer);
/* Is its value made of groups (elem.h)? */
int block_is_group(const struct expr *e);
/* Number of a register of an array among all of the block's. */
int block_vreg(const struct block *b, int buffer, const struct affine *index);

/* The register of an access, taken if there is none yet; *offset: bytes from it. */
const struct address *block_address(struct block *b, int buffer, const struct affine *index,
				    int64_t *offset);
/* The mask of so many valid lanes, taken if there is none yet. */
const struct mask *block_mask(struct block *b, const struct affine *valid, int lanes);
/* valid, or NULL where all lanes are, so that no mask is needed. */
const struct affine *block_needed(const struct block *b, const struct affine *valid, int lanes);
/* Loads the masks of exchanges, which are known when the block has been looked over. */
void block_set_exchange_masks(struct block *b);
/* Loads the registers of all addresses and masks. */
void block_set_addresses(struct block *b);
/* The mask whose number of valid lanes is in %rax: %k<number>, or its place in the table in reg. */
void x86_make_mask(struct x86 *x, int lanes, int number, const char *reg);

/* The number whose bits these are. */
double block_of_bits(uint32_t bits);
/* The nest's number of a constant, which it has from now on. */
int block_constant(struct block *b, double value);
/* No constant waits in a register. */
void block_forget_constants(struct block *b);
/* Is it one instruction of two operands, of which the second may be memory? */
int block_is_arithmetic(enum expr_kind kind);
/* The name of a vector register. */
struct operand x86_vector(int lanes, int number);
void block_store_memory(struct block *b, const struct node *s);
void block_store_register(struct block *b, const struct node *s);
void block_prefetch(struct block *b, const struct node *s);
/* A register that holds a value; temporary: no other value uses it. */
struct held {
	int number, temporary;
};
struct held block_take(struct block *b);
void block_drop(struct block *b, struct held h);
/* Stores two vectors as bf16, s's and the one behind it, and drops both. */
void block_store_pair(struct block *b, const struct node *s, struct held low, struct held high);
/* The value of an expression in a register. */
struct held block_value(struct block *b, const struct expr *e);
/* The second operand of an instruction: a register (h), or memory where it can be. */
struct operand block_second(struct block *b, const struct expr *e, struct held *h);
struct operand block_memory(struct block *b, int buffer, const struct affine *index);
/* A constant as an operand: in the register where it waits, or in memory. */
struct operand block_constant_operand(struct block *b, double value, int lanes);
/* A constant as the first operand of an instruction, which must be a register. */
struct held block_first_constant(struct block *b, const struct expr *e);
/* The type of a buffer's elements. */
enum elem block_elem(const struct block *b, int buffer);
/* Elements of 8 and 16 bits are left out by masks of AVX-512 alone. For other processors,
 * x86_short.c moves those of 8 elements of one or two bytes each that are valid: to a vector that
 * has zeros behind them, and from a vector that is spent. Both take %rax, %rcx and %rdx. */
void short_load(struct block *b, const struct affine *valid, struct operand from, int bytes,
		int to);
void short_store(struct block *b, const struct affine *valid, int bytes, int from,
		 struct operand to);

/* x86_whole.c prints these for whole numbers (elem.h) of 8 and 32 bits and for their groups. */
/* to = the value of a load, or of a broadcast of one, that converts them. */
void whole_load(struct block *b, const struct expr *e, int to);
/* Counts the constants that a product needs. */
void whole_look_at_dot(struct block *b, const struct expr *e);
/* to += a * b, of whole numbers or their groups. */
void whole_multiply_add(struct block *b, const struct expr *e, int to);
/* to = the lower or upper 4 bits of each byte (EXPR_LOW4, EXPR_HIGH4), and the constant for it. */
void whole_halve(struct block *b, const struct expr *e, int to);
/* to = from by the value of e, of EXPR_TIMES or EXPR_HALVES. */
void whole_by(struct block *b, const struct expr *e, struct operand from, struct operand to);
double whole_half_bytes(void);
/* Notes the constants that whole_load() and whole_store() will need. */
void whole_look_at_load(struct block *b, const struct expr *e);
void whole_look_at(struct block *b, const struct node *s);
/* The value that whole_store() is to get: what it does by itself is left out. */
const struct expr *whole_stored(const struct block *b, const struct node *s);
/* Stores h, single precision or elements of the same type, as whole numbers. */
void whole_store(struct block *b, const struct node *s, struct held h, struct operand to);
/* A copy of %rbp bytes from (%rsi) to (%rbx), or (not `copies`) so many zeros. */
void whole_run(struct x86 *x, int copies);
/* Copies bytes as elements of 16 bits, in the same registers. */
void whole_widen_run(struct x86 *x, int has_sign);

/* Gives back registers of the block's own arrays whose values are not read any more. */
void block_release(struct block *b);

#endif
