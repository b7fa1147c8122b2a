/* Runs of floats, copied or zeroed: whole vectors, and what is left under a mask. */
#include "lib/target/x86_block.h"

/* A vector from here to there, or zeroes, whole or (masked) the lanes of %k1 or of the table at
 * %rdi. */
static void move_vector(struct x86 *x, int copies, int masked)
{
	struct operand v = x86_vector(x->lanes, x->nkept), m = x86_vector(x->lanes, x->nkept + 1);

	if (masked && x->lanes == 16) {
		if (copies)
			x86_line(x, "vmovups (%%rsi), %s{%%k1}{z}", v.text);
		x86_line(x, "vmovups %s, (%%rbx){%%k1}", v.text);
	} else if (masked) {
		x86_line(x, "vmovups (%%rdi), %s", m.text);
		if (copies)
			x86_line(x, "vmaskmovps (%%rsi), %s, %s", m.text, v.text);
		x86_line(x, "vmaskmovps %s, %s, (%%rbx)", v.text, m.text);
	} else {
		if (copies)
			x86_line(x, "vmovups (%%rsi), %s", v.text);
		x86_line(x, "vmovups %s, (%%rbx)", v.text);
	}
}

/* reg = where the run begins in the buffer. */
static void run_address(struct x86 *x, int buffer, const struct affine *index, const char *reg)
{
	struct linear l = x86_linear(x, index);

	x86_evaluate(x, &l, "%rax");
	x86_line(x, "movq %d(%%rsp), %%rcx", x86_buffer_slot(buffer));
	x86_line(x, "leaq (%%rcx,%%rax,%d), %s", x86_elem_bytes(x, buffer), reg);
}

void x86_run(struct x86 *x, const struct node *t)
{
	const struct node *s = t->body;
	int copies = s->value->kind == EXPR_LOAD, top = ++x->nlabels, tail = ++x->nlabels,
	    end = ++x->nlabels;
	struct linear n, most = x86_linear(x, &t->b);
	struct operand v;

	x->nkept = x86_homes(x);
	v = x86_vector(x->lanes, x->nkept);
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
	x86_label(x, top);
	x86_line(x, "subq $%d, %%rbp", x->lanes);
	x86_line(x, "jl %df", tail);
	move_vector(x, copies, 0);
	x86_line(x, "addq $%d, %%rbx", x86_elem_bytes(x, s->buffer) * x->lanes);
	if (copies)
		x86_line(x, "addq $%d, %%rsi", x86_elem_bytes(x, s->value->buffer) * x->lanes);
	x86_line(x, "jmp %db", top);
	x86_label(x, tail);
	x86_line(x, "addq $%d, %%rbp", x->lanes);
	x86_line(x, "jle %df", end);
	x86_line(x, "movq %%rbp, %%rax");
	x86_make_mask(x, x->lanes, 1, "%rdi");
	move_vector(x, copies, 1);
	x86_label(x, end);
}
