/* Runs of floats, copied or zeroed: whole vectors, and what is left under a mask. */
#include "lib/target/x86_block.h"

/* Elements of 16 bits lie in vectors of half the size. */
static int is_half(const struct x86 *x, int buffer)
{
	return x86_elem_bytes(x, buffer) == 2;
}

/* Masked lanes are those of %k1, or of the table at %rdi, which holds masks of 32 bits. */
static void load_vector(struct x86 *x, const struct node *s, struct operand v, struct operand m,
			int masked)
{
	const int widens = is_half(x, s->value->buffer) && !is_half(x, s->buffer);
	const int half = is_half(x, s->value->buffer) && !widens;

	if (masked && x->lanes != 16)
		x86_line(x, "vmaskmovps (%%rsi), %s, %s", m.text, v.text);
	else
		x86_line(x, "%s (%%rsi), %s%s",
			 widens		  ? "vpmovzxwd"
			 : half && masked ? "vmovdqu16"
					  : "vmovups",
			 v.text, masked && x->lanes == 16 ? "{%k1}{z}" : "");
	if (widens)
		x86_line(x, "vpslld $16, %s, %s", v.text, v.text);
}

/* A vector from here to there, or zeroes, whole or masked. */
static void move_vector(struct x86 *x, const struct node *s, int copies, int masked)
{
	const int half = is_half(x, s->buffer);
	struct operand v = x86_vector(half ? x->lanes / 2 : x->lanes, x->nkept);
	struct operand m = x86_vector(x->lanes, x->nkept + 1);

	if (masked && x->lanes != 16)
		x86_line(x, "vmovups (%%rdi), %s", m.text);
	if (copies)
		load_vector(x, s, v, m, masked);
	if (masked && x->lanes != 16)
		x86_line(x, "vmaskmovps %s, %s, (%%rbx)", v.text, m.text);
	else
		x86_line(x, "%s %s, (%%rbx)%s", half && masked ? "vmovdqu16" : "vmovups", v.text,
			 masked ? "{%k1}" : "");
}

/* The elements that are left, %rbp of them, one after the other. */
static void move_rest(struct x86 *x, const struct node *s, int copies)
{
	const int widens = copies && !is_half(x, s->buffer), top = ++x->nlabels;

	if (!copies)
		x86_line(x, "xorl %%eax, %%eax");
	x86_label(x, top);
	if (copies) {
		x86_line(x, "movzwl (%%rsi), %%eax");
		x86_line(x, "addq $2, %%rsi");
	}
	if (widens)
		x86_line(x, "shll $16, %%eax");
	x86_line(x, widens ? "movl %%eax, (%%rbx)" : "movw %%ax, (%%rbx)");
	x86_line(x, "addq $%d, %%rbx", widens ? 4 : 2);
	x86_line(x, "decq %%rbp");
	x86_line(x, "jnz %db", top);
}

/* reg = where the run begins in the buffer. */
static void run_address(struct x86 *x, int buffer, const struct affine *index, const char *reg)
{
	struct linear l = x86_linear(x, index);

	x86_evaluate(x, &l, "%rax");
	x86_line(x, "movq %d(%%rsp), %%rcx", x86_buffer_slot(buffer));
	x86_line(x, "leaq (%%rcx,%%rax,%d), %s", x86_elem_bytes(x, buffer), reg);
}

static enum elem elem_in(const struct x86 *x, int buffer)
{
	return x->n->buffer[nest_base(x->n, buffer)].elem;
}

/* Do bytes become whole numbers of 16 bits? */
static int widens_bytes(const struct x86 *x, const struct node *s)
{
	return s->value->kind == EXPR_LOAD && elem_in(x, s->buffer) == ELEM_S16 &&
	       x86_elem_bytes(x, s->value->buffer) == 1;
}

/* Is it a copy as it is, one of bf16 as floats, or one of bytes as 16 bits? */
static int can_copy(const struct x86 *x, const struct node *s)
{
	const enum elem from = elem_in(x, s->value->buffer), to = elem_in(x, s->buffer);

	return from == to || (from == ELEM_BF16 && !is_half(x, s->buffer)) || widens_bytes(x, s);
}

void x86_run(struct x86 *x, const struct node *t)
{
	const struct node *s = t->body;
	int copies = s->value->kind == EXPR_LOAD, top = ++x->nlabels, tail = ++x->nlabels,
	    end = ++x->nlabels;
	const int from_half = copies && is_half(x, s->value->buffer);
	const int has_halves = from_half || is_half(x, s->buffer);
	struct linear n, most = x86_linear(x, &t->b);
	struct operand v;

	x->nkept = x86_homes(x);
	v = x86_vector(x->lanes, x->nkept);
	if (copies && !can_copy(x, s)) {
		x86_fail(x, "a copy rounds, or converts whole numbers");
		return;
	}
	if (s->value->lanes != x->lanes || x->nkept + 2 > x->isa->vregs) {
		if (!x->looking)
			x86_fail(x, "a copy needs more vector registers than are free");
		return;
	}
	x->known[t->var] = 1;
	x->value[t->var] = 0;
	run_address(x, s->buffer, &s->a, "%rbx");
	if (copies)
		run_address(x, s->value->buffer, &s->value->index, "%rsi");
	n = x86_linear(x, s->valid);
	x->known[t->var] = 0;
	/* No more than the loop's vectors hold. */
	x86_evaluate(x, &n, "%rbp");
	x86_evaluate(x, &most, "%rcx");
	x86_line(x, "imulq $%d, %%rcx", x->lanes);
	x86_line(x, "cmpq %%rcx, %%rbp");
	x86_line(x, "cmovgq %%rcx, %%rbp");
	if (!copies)
		x86_line(x, x->lanes == 16 ? "vpxord %s, %s, %s" : "vxorps %s, %s, %s", v.text,
			 v.text, v.text);
	if (widens_bytes(x, s)) {
		whole_widen_run(x, elem_in(x, s->value->buffer) == ELEM_S8);
		return;
	}
	if (x86_elem_bytes(x, s->buffer) == 1) {
		whole_run(x, copies);
		return;
	}
	x86_label(x, top);
	x86_line(x, "subq $%d, %%rbp", x->lanes);
	x86_line(x, "jl %df", tail);
	move_vector(x, s, copies, 0);
	x86_line(x, "addq $%d, %%rbx", x86_elem_bytes(x, s->buffer) * x->lanes);
	if (copies)
		x86_line(x, "addq $%d, %%rsi", x86_elem_bytes(x, s->value->buffer) * x->lanes);
	x86_line(x, "jmp %db", top);
	x86_label(x, tail);
	x86_line(x, "addq $%d, %%rbp", x->lanes);
	x86_line(x, "jle %df", end);
	if (has_halves && x->lanes != 16) {
		move_rest(x, s, copies);
	} else {
		x86_line(x, "movq %%rbp, %%rax");
		x86_make_mask(x, x->lanes, 1, "%rdi");
		move_vector(x, s, copies, 1);
	}
	x86_label(x, end);
}
