/* Straight runs of stores: every unrolled loop written out, registers assigned by hand.
 *
 * A block is a list of stores, each with the values of the unrolled loops around it. Memory is
 * addressed by a register for each (buffer, variable part of the index) and a constant offset, so
 * that a loop around the block only adds to those registers. A register array that a block writes
 * before it reads lives in registers from the first write to the last read; the others (the tile)
 * have a home.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/target/x86_code.h"

enum { OPS = 2048, VREGS = 256, ADDRESSES = 11, MASKS = 7, DEPTH = 4, OPERAND = 48 };

static const char *const address_reg[ADDRESSES] = {"%rbx", "%rsi", "%rdi", "%r8",  "%r9", "%r10",
						   "%r11", "%r12", "%r13", "%r14", "%r15"};

struct op {
	const struct node *store;
	int64_t at[DEPTH]; /* of the unrolled loops around it, outermost first */
	int var[DEPTH], depth;
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
	int nops, depth, naddresses, nmasks, nregs;
	struct op *op;
	int var[DEPTH];
	struct address address[ADDRESSES];
	struct mask mask[MASKS];
	int64_t turn; /* of the loop's unrolled copies, the one written now */
	int now;      /* op */
	/* Register arrays of this block, one after the other. */
	int base[NEST_BUFFERS], last_read[VREGS], written[VREGS];
	int phys[VREGS];		 /* -1: nowhere */
	char folded[VREGS][OPERAND + 8]; /* not empty: read where it is used, as this operand */
	int reads[VREGS];
	unsigned busy; /* registers */
};

static void fail(struct block *b)
{
	b->x->failed = 1;
}

/* ---- gathering ---- */

static void gather(struct block *b, const struct node *t, const struct node *end)
{
	struct x86 *x = b->x;

	for (; t != end; t = t->next) {
		if (t->kind == NODE_STORE) {
			struct op *o = &b->op[b->nops];

			if (b->nops == OPS) {
				fail(b);
				return;
			}
			b->nops++;
			o->store = t;
			o->depth = b->depth;
			for (int i = 0; i < b->depth; i++) {
				o->var[i] = b->var[i];
				o->at[i] = x->value[b->var[i]];
			}
			continue;
		}
		if (b->depth == DEPTH) {
			fail(b);
			return;
		}
		b->var[b->depth++] = t->var;
		x->known[t->var] = 1;
		for (int64_t i = x86_linear(x, &t->a).c; i < x86_linear(x, &t->b).c; i++) {
			x->value[t->var] = i;
			gather(b, t->body, NULL);
		}
		x->known[t->var] = 0;
		b->depth--;
	}
}

/* The op's unrolled loops stand where it does. */
static void stand_at(struct block *b, const struct op *o)
{
	for (int i = 0; i < o->depth; i++) {
		b->x->known[o->var[i]] = 1;
		b->x->value[o->var[i]] = o->at[i];
	}
}

static void stand_nowhere(struct block *b, const struct op *o)
{
	for (int i = 0; i < o->depth; i++)
		b->x->known[o->var[i]] = 0;
}

static int is_register(const struct block *b, int buffer)
{
	return b->x->n->buffer[buffer].kind == BUFFER_REG;
}

static int vreg(const struct block *b, int buffer, const struct affine *index)
{
	return b->base[buffer] + (int)x86_linear(b->x, index).c;
}

/* ---- addresses and masks ---- */

static int same_part(const struct linear *a, const struct linear *b)
{
	if (a->n != b->n)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (a->t[i].coef != b->t[i].coef || a->t[i].var != b->t[i].var)
			return 0;
	return 1;
}

/* Takes the loop's variable out: the elements that the index goes on by a turn. */
static int64_t take_step(const struct block *b, struct linear *l)
{
	for (int i = 0; b->loop && i < l->n; i++) {
		int64_t step = l->t[i].coef;

		if (l->t[i].var != b->loop->var)
			continue;
		l->c += step * x86_linear(b->x, &b->loop->a).c;
		l->n--;
		memmove(&l->t[i], &l->t[i + 1], sizeof l->t[0] * (size_t)(l->n - i));
		return step;
	}
	return 0;
}

static const char *new_register(struct block *b)
{
	if (b->nregs == ADDRESSES) {
		fail(b);
		return "%rax";
	}
	return address_reg[b->nregs++];
}

/* The register of an access, taken if there is none yet; *offset: bytes from it. */
static const struct address *find_address(struct block *b, int buffer, const struct affine *index,
					  int64_t *offset)
{
	struct linear l = x86_linear(b->x, index);
	int64_t step = take_step(b, &l);
	struct address *a = b->address;

	while (a < b->address + b->naddresses &&
	       (a->buffer != buffer || a->step != step || !same_part(&a->part, &l)))
		a++;
	*offset = 4 * (l.c + b->turn * step);
	if (*offset != (int32_t)*offset)
		fail(b);
	if (a < b->address + b->naddresses)
		return a;
	if (b->naddresses == ADDRESSES) {
		fail(b);
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

static const struct mask *find_mask(struct block *b, const struct affine *valid, int lanes)
{
	struct linear l = x86_linear(b->x, valid);
	struct mask *m = b->mask;

	while (m < b->mask + b->nmasks &&
	       (m->lanes != lanes || m->valid.c != l.c || !same_part(&m->valid, &l)))
		m++;
	if (m < b->mask + b->nmasks)
		return m;
	if (b->nmasks == MASKS || lanes != b->x->lanes) {
		fail(b);
		return b->mask;
	}
	for (int i = 0; i < l.n; i++)
		if (b->loop && l.t[i].var == b->loop->var)
			fail(b);
	b->nmasks++;
	m->lanes = lanes;
	m->valid = l;
	m->number = b->nmasks;
	m->reg = lanes == 16 ? NULL : new_register(b);
	return m;
}

/* Where all lanes are valid, no mask is needed. */
static const struct affine *needed(const struct block *b, const struct affine *valid, int lanes)
{
	struct linear l;

	if (!valid)
		return NULL;
	l = x86_linear(b->x, valid);
	return !l.n && l.c >= lanes ? NULL : valid;
}

/* The mask whose number of valid lanes, clamped to [0, lanes], is in %rax. */
static void make_mask(struct x86 *x, int lanes, int number, const char *reg)
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

static void set_addresses(struct block *b)
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
		x86_line(x, "leaq (%%rcx,%%rax,4), %s", a->reg);
	}
	for (int i = 0; i < b->nmasks; i++) {
		x86_evaluate(x, &b->mask[i].valid, "%rax");
		make_mask(x, b->mask[i].lanes, b->mask[i].number, b->mask[i].reg);
	}
}

/* ---- looking over a block ---- */

static void look_at_memory(struct block *b, int buffer, const struct affine *index,
			   const struct affine *valid, int lanes)
{
	int64_t offset;

	find_address(b, buffer, index, &offset);
	if (needed(b, valid, lanes))
		find_mask(b, valid, lanes);
}

static void look_at(struct block *b, const struct expr *e)
{
	if (!e)
		return;
	if (e->elem != ELEM_F32 || (e->lanes != 1 && e->lanes != b->x->lanes))
		fail(b);
	look_at(b, e->a);
	look_at(b, e->b);
	look_at(b, e->c);
	if (e->kind != EXPR_LOAD)
		return;
	if (is_register(b, e->buffer)) {
		int v = vreg(b, e->buffer, &e->index);

		b->last_read[v] = b->now;
		b->reads[v]++;
		if (!b->written[v])
			b->x->kept[e->buffer] = 1;
		return;
	}
	look_at_memory(b, e->buffer, &e->index, e->valid, e->lanes);
}

static void look_over(struct block *b)
{
	for (b->now = 0; b->now < b->nops && !b->x->failed; b->now++) {
		const struct op *o = &b->op[b->now];
		const struct node *s = o->store;

		stand_at(b, o);
		look_at(b, s->value);
		if (is_register(b, s->buffer))
			b->written[vreg(b, s->buffer, &s->a)] = 1;
		else
			look_at_memory(b, s->buffer, &s->a, s->valid, s->value->lanes);
		stand_nowhere(b, o);
	}
}

/* ---- operands ---- */

struct operand {
	char text[OPERAND];
};

static struct operand operand(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static struct operand operand(const char *fmt, ...)
{
	struct operand o;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(o.text, sizeof o.text, fmt, ap);
	va_end(ap);
	return o;
}

static struct operand vector(int lanes, int number)
{
	return operand("%%%cmm%d", lanes == 16 ? 'z' : lanes == 8 ? 'y' : 'x', number);
}

static struct operand memory(struct block *b, int buffer, const struct affine *index)
{
	int64_t offset;
	const struct address *a = find_address(b, buffer, index, &offset);

	return offset ? operand("%lld(%s)", (long long)offset, a->reg) : operand("(%s)", a->reg);
}

static struct operand constant(struct block *b, double value, int lanes)
{
	struct x86 *x = b->x;
	int i = 0;

	while (i < x->nconstants && x->constant[i].value != value)
		i++;
	if (i == CONSTANTS) {
		fail(b);
		i = 0;
	} else if (i == x->nconstants) {
		x->nconstants++;
		x->constant[i].value = value;
		x->constant[i].label = ++x->nlabels;
	}
	return operand("%df(%%rip)%s", x->constant[i].label, lanes == 16 ? "{1to16}" : "");
}

/* ---- registers ---- */

static int take(struct block *b)
{
	int most = b->x->lanes == 16 ? 32 : 16;

	for (int i = b->x->nkept; i < most; i++) {
		if (b->busy >> i & 1)
			continue;
		b->busy |= 1u << i;
		return i;
	}
	return -1;
}

static int take_or_fail(struct block *b)
{
	int r = take(b);

	if (r < 0)
		fail(b);
	return r < 0 ? 0 : r;
}

/* A register that holds a value; temporary: nobody else's. */
struct held {
	int number, temporary;
};

static void drop(struct block *b, struct held h)
{
	if (h.temporary)
		b->busy &= ~(1u << h.number);
}

/* ---- instructions ---- */

static const char *suffix(int lanes)
{
	return lanes == 1 ? "ss" : "ps";
}

static void load_masked(struct block *b, const struct expr *e, int to)
{
	const struct mask *m = find_mask(b, e->valid, e->lanes);
	struct operand from = memory(b, e->buffer, &e->index), v = vector(e->lanes, to);

	if (e->lanes == 16) {
		x86_line(b->x, "vmovups %s, %s{%%k%d}{z}", from.text, v.text, m->number);
		return;
	}
	x86_line(b->x, "vmovups (%s), %s", m->reg, v.text);
	x86_line(b->x, "vmaskmovps %s, %s, %s", from.text, v.text, v.text);
}

/* to = the value of a load, a constant or a broadcast. */
static void load(struct block *b, const struct expr *e, int to)
{
	struct operand v = vector(e->lanes, to);

	if (e->kind == EXPR_CONST && e->value == 0 && e->lanes == 16) {
		x86_line(b->x, "vpxord %s, %s, %s", v.text, v.text, v.text);
	} else if (e->kind == EXPR_CONST && e->value == 0) {
		x86_line(b->x, "vxorps %s, %s, %s", v.text, v.text, v.text);
	} else if (e->kind == EXPR_CONST) {
		struct operand c = constant(b, e->value, 1);

		x86_line(b->x, "%s %s, %s", e->lanes == 1 ? "vmovss" : "vbroadcastss", c.text,
			 v.text);
	} else if (e->kind == EXPR_BCAST) {
		if (e->a->kind != EXPR_LOAD || is_register(b, e->a->buffer) || e->a->valid) {
			fail(b);
			return;
		}
		x86_line(b->x, "vbroadcastss %s, %s", memory(b, e->a->buffer, &e->a->index).text,
			 v.text);
	} else if (needed(b, e->valid, e->lanes)) {
		load_masked(b, e, to);
	} else {
		x86_line(b->x, "%s %s, %s", e->lanes == 1 ? "vmovss" : "vmovups",
			 memory(b, e->buffer, &e->index).text, v.text);
	}
}

static struct held value(struct block *b, const struct expr *e);

/* The second operand of an instruction: a register, or memory where it can be. */
static struct operand second(struct block *b, const struct expr *e, struct held *h)
{
	*h = (struct held){0, 0};
	if (e->kind == EXPR_CONST)
		return constant(b, e->value, e->lanes);
	if (e->kind == EXPR_LOAD && !is_register(b, e->buffer) && !needed(b, e->valid, e->lanes))
		return memory(b, e->buffer, &e->index);
	if (e->kind == EXPR_LOAD && is_register(b, e->buffer) &&
	    b->folded[vreg(b, e->buffer, &e->index)][0])
		return operand("%s", b->folded[vreg(b, e->buffer, &e->index)]);
	*h = value(b, e);
	return vector(e->lanes, h->number);
}

static const char *mnemonic(enum expr_kind kind)
{
	switch (kind) {
	case EXPR_ADD:
		return "vadd";
	case EXPR_MUL:
		return "vmul";
	case EXPR_MAX:
		return "vmax";
	case EXPR_MIN:
		return "vmin";
	default:
		return NULL;
	}
}

static struct held arithmetic(struct block *b, const struct expr *e)
{
	struct held a = value(b, e->a), c, to = a;
	struct operand o = second(b, e->b, &c);

	if (!a.temporary)
		to = c.temporary ? c : (struct held){take_or_fail(b), 1};
	x86_line(b->x, "%s%s %s, %s, %s", mnemonic(e->kind), suffix(e->lanes), o.text,
		 vector(e->lanes, a.number).text, vector(e->lanes, to.number).text);
	if (c.temporary && c.number != to.number)
		drop(b, c);
	return to;
}

/* to = a * b + to */
static void multiply_add(struct block *b, const struct expr *e, int to)
{
	const struct expr *first = e->a, *other = e->b;
	struct held h, g;
	struct operand o;

	if (first->kind == EXPR_LOAD && is_register(b, first->buffer) &&
	    b->folded[vreg(b, first->buffer, &first->index)][0]) {
		first = e->b;
		other = e->a;
	}
	h = value(b, first);
	o = second(b, other, &g);
	x86_line(b->x, "vfmadd231%s %s, %s, %s", suffix(e->lanes), o.text,
		 vector(e->lanes, h.number).text, vector(e->lanes, to).text);
	drop(b, h);
	drop(b, g);
}

static struct held value(struct block *b, const struct expr *e)
{
	struct held to;

	if (e->kind == EXPR_LOAD && is_register(b, e->buffer)) {
		int v = vreg(b, e->buffer, &e->index);

		if (b->phys[v] < 0) /* a folded broadcast is an operand, and no more */
			fail(b);
		return (struct held){b->phys[v] < 0 ? 0 : b->phys[v], 0};
	}
	if (e->kind == EXPR_LOAD || e->kind == EXPR_CONST || e->kind == EXPR_BCAST) {
		to = (struct held){take_or_fail(b), 1};
		load(b, e, to.number);
		return to;
	}
	if (mnemonic(e->kind))
		return arithmetic(b, e);
	fail(b);
	return (struct held){0, 0};
}

/* ---- stores ---- */

static void store_memory(struct block *b, const struct node *s)
{
	int lanes = s->value->lanes;
	struct held h = value(b, s->value);
	struct operand to = memory(b, s->buffer, &s->a), v = vector(lanes, h.number);
	const struct mask *m;

	if (!needed(b, s->valid, lanes)) {
		x86_line(b->x, "%s %s, %s", lanes == 1 ? "vmovss" : "vmovups", v.text, to.text);
	} else if (lanes == 16) {
		m = find_mask(b, s->valid, lanes);
		x86_line(b->x, "vmovups %s, %s{%%k%d}", v.text, to.text, m->number);
	} else {
		int t = take_or_fail(b);

		m = find_mask(b, s->valid, lanes);
		x86_line(b->x, "vmovups (%s), %s", m->reg, vector(lanes, t).text);
		x86_line(b->x, "vmaskmovps %s, %s, %s", v.text, vector(lanes, t).text, to.text);
		drop(b, (struct held){t, 1});
	}
	drop(b, h);
}

/* A broadcast from memory can be an operand of AVX-512's arithmetic, which costs a read each time:
 * so it is where the value is used once, or no register is left. */
static int folds(struct block *b, const struct expr *e, int v)
{
	if (e->kind != EXPR_BCAST || b->x->lanes != 16 || e->a->kind != EXPR_LOAD || e->a->valid ||
	    is_register(b, e->a->buffer))
		return 0;
	if (b->reads[v] > 1) {
		int r = take(b);

		if (r >= 0) {
			drop(b, (struct held){r, 1});
			return 0;
		}
	}
	snprintf(b->folded[v], sizeof b->folded[v], "%s{1to16}",
		 memory(b, e->a->buffer, &e->a->index).text);
	return 1;
}

static void store_register(struct block *b, const struct node *s)
{
	const struct expr *e = s->value;
	int v = vreg(b, s->buffer, &s->a), to;
	struct held h;

	b->folded[v][0] = 0;
	if (b->phys[v] < 0 && folds(b, e, v))
		return;
	if (e->kind == EXPR_FMA && e->c->kind == EXPR_LOAD && e->c->buffer == s->buffer &&
	    vreg(b, e->c->buffer, &e->c->index) == v && b->phys[v] >= 0) {
		multiply_add(b, e, b->phys[v]);
		return;
	}
	if (b->phys[v] < 0)
		b->phys[v] = take_or_fail(b);
	to = b->phys[v];
	if ((e->kind == EXPR_LOAD && !is_register(b, e->buffer)) || e->kind == EXPR_CONST ||
	    e->kind == EXPR_BCAST) {
		load(b, e, to);
		return;
	}
	h = value(b, e);
	x86_line(b->x, "vmovaps %s, %s", vector(e->lanes, h.number).text,
		 vector(e->lanes, to).text);
	drop(b, h);
}

/* Registers of this block's own arrays that nobody reads any more. */
static void release(struct block *b)
{
	for (int i = 0; i < b->x->n->nbuffers; i++) {
		if (!is_register(b, i) || b->x->kept[i])
			continue;
		for (int v = b->base[i]; v < b->base[i] + (int)b->x->n->buffer[i].size; v++) {
			if (b->phys[v] < 0 || b->last_read[v] > b->now)
				continue;
			drop(b, (struct held){b->phys[v], 1});
			b->phys[v] = -1;
		}
	}
}

static void write_ops(struct block *b)
{
	b->busy = 0;
	for (b->now = 0; b->now < b->nops && !b->x->failed; b->now++) {
		const struct op *o = &b->op[b->now];

		stand_at(b, o);
		if (is_register(b, o->store->buffer))
			store_register(b, o->store);
		else
			store_memory(b, o->store);
		stand_nowhere(b, o);
		release(b);
	}
}

/* ---- the loop around a block ---- */

static void step_addresses(struct block *b, int64_t turns)
{
	for (int i = 0; i < b->naddresses; i++)
		if (b->address[i].step)
			x86_line(b->x, "addq $%lld, %s",
				 (long long)(4 * turns * b->address[i].step), b->address[i].reg);
}

/* turns copies of the block, as long as %rbp has as many turns left. */
static void write_turns(struct block *b, int turns)
{
	int top = ++b->x->nlabels, end = ++b->x->nlabels;

	x86_line(b->x, "cmpq $%d, %%rbp", turns);
	x86_line(b->x, "jl %df", end);
	x86_line(b->x, ".p2align 5");
	x86_label(b->x, top);
	for (b->turn = 0; b->turn < turns; b->turn++)
		write_ops(b);
	b->turn = 0;
	step_addresses(b, turns);
	x86_line(b->x, "subq $%d, %%rbp", turns);
	x86_line(b->x, "cmpq $%d, %%rbp", turns);
	x86_line(b->x, "jge %db", top);
	x86_label(b->x, end);
}

static void write_loop(struct block *b)
{
	struct linear n = x86_linear(b->x, &b->loop->b);
	int turns = b->loop->unroll > 1 ? b->loop->unroll : 1;

	n.c -= x86_linear(b->x, &b->loop->a).c;
	x86_evaluate(b->x, &n, "%rbp");
	if (turns > 1 && (n.n || n.c >= turns))
		write_turns(b, turns);
	if (turns == 1 || n.n || n.c % turns)
		write_turns(b, 1);
}

static void number_registers(struct block *b)
{
	int n = 0;

	for (int i = 0; i < b->x->n->nbuffers; i++) {
		const struct buffer *f = &b->x->n->buffer[i];

		if (f->kind != BUFFER_REG)
			continue;
		b->base[i] = n;
		n += (int)f->size;
		if (n > VREGS) {
			fail(b);
			return;
		}
		for (int j = 0; j < f->size; j++) {
			b->phys[b->base[i] + j] = b->x->kept[i] ? b->x->home[i] + j : -1;
			b->last_read[b->base[i] + j] = -1;
		}
	}
	if (b->x->nkept > (b->x->lanes == 16 ? 32 : 16))
		fail(b);
}

void x86_block(struct x86 *x, const struct node *t, const struct node *end, const struct node *loop)
{
	struct block *b = arena_new(&x->arena, struct block);

	memset(b, 0, sizeof *b);
	b->x = x;
	b->loop = loop;
	b->op = arena_array(&x->arena, struct op, OPS);
	number_registers(b);
	if (!x->failed)
		gather(b, t, end);
	if (!x->failed)
		look_over(b);
	if (!x->failed && !x->looking) {
		set_addresses(b);
		if (loop)
			write_loop(b);
		else
			write_ops(b);
	}
	arena_reset(&x->arena);
}

/* ---- runs ---- */

/* A vector from here to there, or zeroes, whole or (masked) the lanes of %k1 or of the table at
 * %rdi. */
static void move_vector(struct x86 *x, int copies, int masked)
{
	struct operand v = vector(x->lanes, x->nkept), m = vector(x->lanes, x->nkept + 1);

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
	x86_line(x, "leaq (%%rcx,%%rax,4), %s", reg);
}

void x86_run(struct x86 *x, const struct node *t)
{
	const struct node *s = t->body;
	int copies = s->value->kind == EXPR_LOAD, top = ++x->nlabels, tail = ++x->nlabels,
	    end = ++x->nlabels;
	struct linear n, most = x86_linear(x, &t->b);
	struct operand v = vector(x->lanes, x->nkept);

	if (s->value->lanes != x->lanes || x->nkept + 2 > (x->lanes == 16 ? 32 : 16)) {
		x->failed |= !x->looking;
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
	x86_line(x, "addq $%d, %%rbx", 4 * x->lanes);
	if (copies)
		x86_line(x, "addq $%d, %%rsi", 4 * x->lanes);
	x86_line(x, "jmp %db", top);
	x86_label(x, tail);
	x86_line(x, "addq $%d, %%rbp", x->lanes);
	x86_line(x, "jle %df", end);
	x86_line(x, "movq %%rbp, %%rax");
	make_mask(x, x->lanes, 1, "%rdi");
	move_vector(x, copies, 1);
	x86_label(x, end);
}
