/* Prints a nest as C-like source text: the common part of the printers of C (c.c) and of GPU
 * languages (simt.c).
 *
 * Constant parts of indices are folded, unrolled loops are written out, and registers are named
 * scalars. The printer's dialect has the differences between languages.
 */
#ifndef TL_TARGET_TEXT_H
#define TL_TARGET_TEXT_H

#include "lib/base/buf.h"
#include "lib/nest/nest.h"

struct text;

struct dialect {
	const char *integer; /* the type of integer variables */
	/* What stands before the type of a pointer into this buffer: "" or a word and a space. */
	const char *(*space)(const struct nest *n, int buffer);
	/* 1: vectors in memory are read and written by load_vN(pointer) and store_vN(pointer, x);
	 * 0: through pointers to vN. */
	int calls;
	int constants; /* symbols passed at run time are constants, too */
	void (*parallel)(struct text *p, const struct node *t);
	void (*thread)(struct text *p, const struct node *t);
	void (*serial)(struct text *p, const struct node *t);
	void (*prefetch)(struct text *p, const struct node *t);
	void (*sync)(struct text *p);
	/* Copies, waits for them, and operations on tiles. */
	void (*tile)(struct text *p, const struct node *t);
};

struct text {
	const struct nest *n;
	struct buf *out;
	const struct dialect *d;
	void *own; /* the printer's */
	int depth;
	int known[NEST_VARS]; /* the variable is a constant here */
	int64_t value[NEST_VARS];
};

void text_indent(struct text *p);
/* NAME3: a variable; NAME3_1_0: a register; NAME3: a buffer; NAME3[INDEX]: an element. */
void text_var(struct text *p, int var);
void text_register(struct text *p, int buffer, int64_t i);
void text_buffer(struct text *p, int buffer);
void text_element(struct text *p, int buffer, const struct affine *index);
/* The same, whatever the order of the buffer's elements: a place, not an index. */
void text_place(struct text *p, int buffer, const struct affine *at);
/* Folds what is constant here and prints the rest; a bare number if nothing is left. */
void text_affine(struct text *p, const struct affine *a);
/* The value of one that must be constant here: the index of a register, a bound of an unrolled
 * loop. */
int64_t text_constant(const struct text *p, const struct affine *a);
const char *text_elem(enum elem e);
/* "const float ": the type behind a pointer into the buffer. */
void text_pointee(struct text *p, int buffer);
/* "\tfloat a0_0_0, a0_0_1;\n" for an array of registers. */
void text_declare_registers(struct text *p, int buffer);
/* "for (long i = 0; i < 9; i++) { .. }", or its beginning, "{" included, and its end. */
void text_loop(struct text *p, const struct node *t);
void text_loop_open(struct text *p, const struct node *t);
void text_loop_close(struct text *p);
/* These nodes and those behind them. */
void text_nodes(struct text *p, const struct node *t);

#endif
