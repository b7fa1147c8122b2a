/* This file copies pixels that get more channels, as three of an image become four, by vectors.
 *
 * Each 16 bytes of the copy come from a run of whole words of 32 bits, which one permutation brings
 * there. Another one puts their bytes in place, and zeros between them.
 */
#include "lib/target/x86_code.h"

#include "lib/target/x86_block.h"

enum { VECTOR = 64, LANE = 16, LANES = VECTOR / LANE, WORD = 4 };

/* Returns how many pixels a vector of the copy has. */
static int pixels_of(const struct x86_pixels *p)
{
	return VECTOR / p->to;
}

/* Returns what a turn of the loop adds to an index. */
static int64_t step_of(const struct x86 *x, const struct affine *index, int var)
{
	const struct linear l = x86_linear(x, index);
	int64_t step = 0;

	for (int i = 0; i < l.n; i++)
		if (l.t[i].var == var)
			step = l.t[i].coef;
	return step;
}

static int64_t constant_of(const struct x86 *x, const struct affine *a)
{
	const struct linear l = a ? x86_linear(x, a) : (struct linear){.n = 1};

	return l.n ? 0 : l.c;
}

/* Returns the bytes of a pixel that the loop reads or writes, if its pixels lie side by side; 0:
 * they do not. */
static int bytes_of(const struct x86 *x, int buffer, const struct affine *index,
		    const struct affine *valid, int var)
{
	const int64_t elements = constant_of(x, valid);

	if (elements < 1 || elements > LANE || step_of(x, index, var) != elements)
		return 0;
	return (int)elements * x86_elem_bytes(x, buffer);
}

static int is_possible(const struct x86_pixels *p)
{
	return p->from > 0 && p->from < p->to && LANE % p->to == 0 &&
	       LANE / p->to * p->from % WORD == 0;
}

int x86_is_pixels(const struct x86 *x, const struct node *loop, struct x86_pixels *p)
{
	const struct node *s = loop->body;
	const struct expr *v = s ? s->value : NULL;

	if (x->lanes != 16 || !s || s->next || s->kind != NODE_STORE || v->kind != EXPR_LOAD ||
	    v->members || v->lanes != 16 || constant_of(x, &loop->a) || x86_linear(x, &loop->a).n)
		return 0;
	if (x->n->buffer[s->buffer].kind == BUFFER_REG ||
	    x->n->buffer[v->buffer].kind == BUFFER_REG ||
	    x->n->buffer[nest_base(x->n, s->buffer)].elem !=
		    x->n->buffer[nest_base(x->n, v->buffer)].elem)
		return 0;
	p->from = bytes_of(x, v->buffer, &v->index, v->valid, loop->var);
	p->to = bytes_of(x, s->buffer, &s->a, s->valid, loop->var);
	return is_possible(p) &&
	       (!x->pixel_table || (x->pixels.from == p->from && x->pixels.to == p->to));
}

/* reg = where the loop begins in the buffer. */
static void begin_at(struct x86 *x, int buffer, const struct affine *index, const char *reg)
{
	const struct linear l = x86_linear(x, index);

	x86_evaluate(x, &l, "%rax");
	x86_line(x, "movq %d(%%rsp), %%rcx", x86_buffer_slot(buffer));
	x86_line(x, "leaq (%%rcx,%%rax,%d), %s", x86_elem_bytes(x, buffer), reg);
}

/* %k<number> = as many bytes of %rbp pixels. */
static void make_byte_mask(struct x86 *x, int bytes, int number)
{
	x86_line(x, "imulq $%d, %%rbp, %%rax", bytes);
	x86_line(x, "movq $-1, %%rdx");
	x86_line(x, "bzhiq %%rax, %%rdx, %%rdx");
	x86_line(x, "kmovq %%rdx, %%k%d", number);
}

static void move_pixels(struct x86 *x, const char *mask)
{
	const struct operand words = x86_vector(16, x->nkept), bytes = x86_vector(16, x->nkept + 1),
			     v = x86_vector(16, x->nkept + 2);

	x86_line(x, "vmovdqu8 (%%rsi), %s{%%k1}{z}", v.text);
	x86_line(x, "vpermd %s, %s, %s", v.text, words.text, v.text);
	x86_line(x, "vpshufb %s, %s, %s", bytes.text, v.text, v.text);
	x86_line(x, "vmovdqu8 %s, (%%rbx)%s", v.text, mask);
}

void x86_copy_pixels(struct x86 *x, const struct node *loop, const struct x86_pixels *p)
{
	const struct node *s = loop->body;
	const int top = ++x->nlabels, tail = ++x->nlabels, end = ++x->nlabels;
	const struct linear turns = x86_linear(x, &loop->b);

	if (!x->pixel_table)
		x->pixel_table = ++x->nlabels;
	x->pixels = *p;
	x->nkept = x86_homes(x);
	if (x->nkept + 3 > x->isa->vregs && !x->looking)
		x86_fail(x, "a copy needs more vector registers than are free");
	x->known[loop->var] = 1;
	x->value[loop->var] = 0;
	begin_at(x, s->buffer, &s->a, "%rbx");
	begin_at(x, s->value->buffer, &s->value->index, "%rsi");
	x->known[loop->var] = 0;
	x86_line(x, "vmovups %df(%%rip), %s", x->pixel_table, x86_vector(16, x->nkept).text);
	x86_line(x, "vmovups %d+%df(%%rip), %s", VECTOR, x->pixel_table,
		 x86_vector(16, x->nkept + 1).text);
	x86_line(x, "movl $%d, %%ebp", pixels_of(p));
	make_byte_mask(x, p->from, 1);
	x86_evaluate(x, &turns, "%rbp");
	x86_label(x, top);
	x86_line(x, "subq $%d, %%rbp", pixels_of(p));
	x86_line(x, "jl %df", tail);
	move_pixels(x, "");
	x86_line(x, "addq $%d, %%rbx", VECTOR);
	x86_line(x, "addq $%d, %%rsi", pixels_of(p) * p->from);
	x86_line(x, "jmp %db", top);
	x86_label(x, tail);
	x86_line(x, "addq $%d, %%rbp", pixels_of(p));
	x86_line(x, "jle %df", end);
	make_byte_mask(x, p->from, 1);
	make_byte_mask(x, p->to, 2);
	move_pixels(x, "{%k2}");
	x86_label(x, end);
}

void x86_pixel_table(struct x86 *x)
{
	const struct x86_pixels *p = &x->pixels;

	if (!x->pixel_table)
		return;
	x86_line(x, ".p2align 6");
	x86_label(x, x->pixel_table);
	for (int lane = 0; lane < LANES; lane++)
		for (int i = 0; i < LANE / WORD; i++)
			x86_line(x, ".long %d",
				 (lane * (LANE / p->to * p->from / WORD) + i) % (VECTOR / WORD));
	for (int i = 0; i < VECTOR; i++) {
		const int at = i % p->to, pixel = i % LANE / p->to;

		x86_line(x, ".byte %d", at < p->from ? pixel * p->from + at : 0x80);
	}
}
