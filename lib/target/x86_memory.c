/* Addresses and masks of a block, each in a register of its own. */
#include <string.h>

#include "lib/target/x86_block.h"

static const char *const address_reg[ADDRESSES] = {"%rbx", "%rsi", "%rdi", "%r8",  "%r9", "%r10",
						   "%r11", "%r12", "%r13", "%r14", "%r15"};

static int same_part(const struct linear *a, const struct linear *b)
{
	if (a->n != b->n)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (a->t[i].coef != b->t[i].coef || a->t[i].var != b->t[i].var)
			return 0;
	return 1;
}

/* Puts the loop's first turn in its variable's place: returns the elements that the index goes on
 * by a turn. */
static int64_t take_step(const struct block *b, struct linear *l)
{
	for (int i = 0; b->loop && i < l->n; i++) {
		struct linear first = x86_linear(b->x, &b->loop->a);
		int64_t step = l->t[i].coef;

		if (l->t[i].var != b->loop->var)
			continue;
		l->n--;
		memmove(&l->t[i], &l->t[i + 1], sizeof l->t[0] * (size_t)(l->n - i));
		*l = x86_plus(*l, step, &first);
		return step;
	}
	return 0;
}

static const char *new_register(struct block *b)
{
	if (b->ngprs == ADDRESSES) {
		block_fail(b, "a block needs more addresses and masks than there are registers");
		return "%rax";
	}
	return address_reg[b->ngprs++];
}

/* The register of an access, taken if there is none yet; *offset: bytes from it. */
const struct address *block_address(struct block *b, int buffer, const struct affine *index,
				    int64_t *offset)
{
	struct linear l = x86_linear(b->x, index);
	int64_t step = take_step(b, &l);
	struct address *a = b->address;

	while (a < b->address + b->naddresses &&
	       (a->buffer != buffer || a->step != step || !same_part(&a->part, &l)))
		a++;
	*offset = x86_elem_bytes(b->x, buffer) * (l.c + b->turn * step);
	if (*offset != (int32_t)*offset)
		block_fail(b, "an offset is beyond 2 GiB");
	if (a < b->address + b->naddresses)
		return a;
	if (b->naddresses == ADDRESSES) {
		block_fail(b, "a block has too many addresses");
		return b->address;
	}
	b->naddresses++;
	a->buffer = buffer;
	a->step = step;
	a->part = l;
	a->part.c = 0;
	a->reg = new_register(b);
	return a;
}

const struct mask *block_mask(struct block *b, const struct affine *valid, int lanes)
{
	struct linear l = x86_linear(b->x, valid);
	struct mask *m = b->mask;

	while (m < b->mask + b->nmasks &&
	       (m->lanes != lanes || m->valid.c != l.c || !same_part(&m->valid, &l)))
		m++;
	if (m < b->mask + b->nmasks)
		return m;
	if (b->nmasks == MASKS || lanes != b->x->lanes) {
		block_fail(b, "a block has too many masks, or of other lanes");
		return b->mask;
	}
	for (int i = 0; i < l.n; i++)
		if (b->loop && l.t[i].var == b->loop->var)
			block_fail(b, "a mask changes within the loop around a block");
	b->nmasks++;
	m->lanes = lanes;
	m->valid = l;
	m->number = b->nmasks;
	m->reg = lanes == 16 ? NULL : new_register(b);
	return m;
}

/* Where all lanes are valid, no mask is needed. */
const struct affine *block_needed(const struct block *b, const struct affine *valid, int lanes)
{
	struct linear l;

	if (!valid)
		return NULL;
	l = x86_linear(b->x, valid);
	return !l.n && l.c >= lanes ? NULL : valid;
}

/* The mask whose number of valid lanes, clamped to [0, lanes], is in %rax. */
void x86_make_mask(struct x86 *x, int lanes, int number, const char *reg)
{
	x86_line(x, "xorl %%edx, %%edx");
	x86_line(x, "testq %%rax, %%rax");
	x86_line(x, "cmovsq %%rdx, %%rax");
	x86_line(x, "movl $%d, %%edx", lanes);
	x86_line(x, "cmpq %%rdx, %%rax");
	x86_line(x, "cmovgq %%rdx, %%rax");
	if (lanes == 16) {
		x86_line(x, "movl $-1, %%edx");
		x86_line(x, "bzhil %%eax, %%edx, %%edx");
		x86_line(x, "kmovw %%edx, %%k%d", number);
		return;
	}
	if (!x->mask_table)
		x->mask_table = ++x->nlabels;
	x86_line(x, "leaq 32+%df(%%rip), %%rdx", x->mask_table);
	x86_line(x, "negq %%rax");
	x86_line(x, "leaq (%%rdx,%%rax,4), %s", reg);
}

void block_set_addresses(struct block *b)
{
	struct x86 *x = b->x;

	for (int i = 0; i < b->naddresses; i++) {
		struct address *a = &b->address[i];
		int slot = x86_buffer_slot(a->buffer);

		if (!a->part.n) {
			x86_line(x, "movq %d(%%rsp), %s", slot, a->reg);
			continue;
		}
		x86_evaluate(x, &a->part, "%rax");
		x86_line(x, "movq %d(%%rsp), %%rcx", slot);
		x86_line(x, "leaq (%%rcx,%%rax,%d), %s", x86_elem_bytes(x, a->buffer), a->reg);
	}
	for (int i = 0; i < b->nmasks; i++) {
		x86_evaluate(x, &b->mask[i].valid, "%rax");
		x86_make_mask(x, b->mask[i].lanes, b->mask[i].number, b->mask[i].reg);
	}
}
