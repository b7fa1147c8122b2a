/* The vector code of a block: operands, registers, one instruction after the other. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/target/x86_block.h"

/* ---- operands ---- */

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

struct operand x86_vector(int lanes, int number)
{
	return operand("%%%cmm%d", lanes == 16 ? 'z' : lanes == 8 ? 'y' : 'x', number);
}

struct operand block_memory(struct block *b, int buffer, const struct affine *index)
{
	int64_t offset;
	const struct address *a = block_address(b, buffer, index, &offset);

	return offset ? operand("%lld(%s)", (long long)offset, a->reg) : operand("(%s)", a->reg);
}

/* Are all its bits 0? Those of -0 are not. */
static int is_clear(double value)
{
	return value == 0 && !signbit(value);
}

double block_of_bits(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof x);
	return (double)x;
}

int block_constant(struct block *b, double value)
{
	struct x86 *x = b->x;
	int i = 0;

	while (i < x->nconstants && memcmp(&x->constant[i].value, &value, sizeof value))
		i++;
	if (i == CONSTANTS) {
		block_fail(b, "it has too many constants");
		return 0;
	}
	if (i == x->nconstants) {
		x->nconstants++;
		x->constant[i].value = value;
		x->constant[i].label = ++x->nlabels;
	}
	return i;
}

static struct operand constant_in_memory(struct block *b, int i, int lanes)
{
	return operand("%df(%%rip)%s", b->x->constant[i].label, lanes == 16 ? "{1to16}" : "");
}

/* ---- registers ---- */

/* A register that is not taken: one in which a constant waits, or (not `waits`) one in which none
 * does. */
static int find(const struct block *b, int waits)
{
	unsigned waiting = 0;

	for (int i = 0; i < b->x->nconstants; i++)
		if (b->at[i] >= 0)
			waiting |= 1u << b->at[i];
	for (int i = b->x->nkept; i < b->x->isa->vregs; i++)
		if (!(b->busy >> i & 1) && (int)(waiting >> i & 1) == waits)
			return i;
	return -1;
}

static int take(struct block *b)
{
	int r = find(b, 0);

	if (r < 0)
		r = find(b, 1);
	if (r < 0)
		return -1;
	for (int i = 0; i < b->x->nconstants; i++)
		if (b->at[i] == r)
			b->at[i] = -1;
	b->busy |= 1u << r;
	return r;
}

static int take_or_fail(struct block *b)
{
	int r = take(b);

	if (r < 0)
		block_fail(b, "a block needs more vector registers than are free");
	return r < 0 ? 0 : r;
}

struct held block_take(struct block *b)
{
	return (struct held){take_or_fail(b), 1};
}

void block_drop(struct block *b, struct held h)
{
	if (h.temporary)
		b->busy &= ~(1u << h.number);
}

/* ---- instructions ---- */

static const char *suffix(int lanes)
{
	return lanes == 1 ? "ss" : "ps";
}

/* A constant as an operand: in the register where it waits, or in memory. */
struct operand block_constant_operand(struct block *b, double value, int lanes)
{
	enum { WORTH_IT = 3 };
	int i = block_constant(b, value), r;

	if (lanes == 1)
		return constant_in_memory(b, i, 1);
	if (b->at[i] < 0 && b->uses[i] >= WORTH_IT && (r = find(b, 0)) >= 0) {
		struct operand v = x86_vector(lanes, r);

		if (is_clear(value))
			x86_line(b->x, "%s %s, %s, %s", lanes == 16 ? "vpxord" : "vxorps", v.text,
				 v.text, v.text);
		else
			x86_line(b->x, "vbroadcastss %s, %s", constant_in_memory(b, i, 1).text,
				 v.text);
		b->at[i] = r;
	}
	return b->at[i] < 0 ? constant_in_memory(b, i, lanes) : x86_vector(lanes, b->at[i]);
}

void block_forget_constants(struct block *b)
{
	for (int i = 0; i < CONSTANTS; i++)
		b->at[i] = -1;
}

enum elem block_elem(const struct block *b, int buffer)
{
	return b->x->n->buffer[nest_base(b->x->n, buffer)].elem;
}

/* Are elements of memory converted when they are loaded? */
static int is_widened(const struct block *b, const struct expr *e)
{
	if (e->kind != EXPR_LOAD || block_is_register(b, e->buffer))
		return 0;
	if (block_is_group(e))
		return e->members ||
		       (e->elem == ELEM_S16X2 && block_elem(b, e->buffer) != ELEM_S16);
	return block_elem(b, e->buffer) != e->elem;
}

static int is_bf16(const struct block *b, const struct expr *load)
{
	return block_elem(b, load->buffer) == ELEM_BF16;
}

/* bf16 is the upper half of a float. */
static void load_bf16(struct block *b, const struct expr *e, int to)
{
	const struct operand from = block_memory(b, e->buffer, &e->index),
			     v = x86_vector(e->lanes, to), low = x86_vector(4, to);

	if (e->lanes == 1)
		x86_line(b->x, "vpbroadcastw %s, %s", from.text, v.text);
	else if (!block_needed(b, e->valid, e->lanes))
		x86_line(b->x, "vpmovzxwd %s, %s", from.text, v.text);
	else if (e->lanes == 16)
		x86_line(b->x, "vpmovzxwd %s, %s{%%k%d}{z}", from.text, v.text,
			 block_mask(b, e->valid, e->lanes)->number);
	else {
		short_load(b, e->valid, from, 2, to);
		x86_line(b->x, "vpmovzxwd %s, %s", low.text, v.text);
	}
	x86_line(b->x, "vpslld $16, %s, %s", v.text, v.text);
}

/* Loads pairs of bf16 that lie apart. */
static void load_bf16_apart(struct block *b, const struct expr *e, int to)
{
	const char *const or = e->lanes == 16 ? "vpord" : "vpor";
	const struct held t = block_take(b);
	char mask[20] = "";

	const int is_short = block_needed(b, e->valid, e->lanes) && e->lanes != 16;

	if (block_needed(b, e->valid, e->lanes) && !is_short)
		snprintf(mask, sizeof mask, "{%%k%d}{z}", block_mask(b, e->valid, 16)->number);
	for (int m = e->members->from; m < e->members->to; m++) {
		const int at = m == e->members->from ? to : t.number;
		const struct operand v = x86_vector(e->lanes, at), all = x86_vector(e->lanes, to);
		const struct affine place = ex_member_at(e, m);
		const struct operand from = block_memory(b, e->buffer, &place);

		if (is_short)
			short_load(b, e->valid, from, 2, at);
		x86_line(b->x, "vpmovzxwd %s, %s%s", is_short ? x86_vector(4, at).text : from.text,
			 v.text, mask);
		if (m)
			x86_line(b->x, "vpslld $16, %s, %s", v.text, v.text);
		if (at != to)
			x86_line(b->x, "%s %s, %s, %s", or, v.text, all.text, all.text);
	}
	block_drop(b, t);
}

/* The instruction that loads so many values again and again. */
static const char *broadcast_of(const struct block *b, const struct expr *e)
{
	const int several = e->a->lanes;

	if (several == e->lanes)
		return "vmovups";
	if (several == 2)
		return "vbroadcastsd";
	if (several == 4)
		return b->x->isa->vregs > 16 ? "vbroadcastf32x4" : "vbroadcastf128";
	return several == 8 ? "vbroadcastf64x4" : "vbroadcastss";
}

/* A broadcast of memory. */
static void load_broadcast(struct block *b, const struct expr *e, int to)
{
	const struct operand v = x86_vector(e->lanes, to);
	const struct expr *of = e->a;

	if (of->kind != EXPR_LOAD || block_is_register(b, of->buffer) || of->valid) {
		block_fail(b, "a broadcast is of something else than a plain load");
		return;
	}
	if (is_widened(b, of) && !is_bf16(b, of)) {
		whole_load(b, e, to);
		return;
	}
	x86_line(b->x, "%s %s, %s", is_widened(b, of) ? "vpbroadcastw" : broadcast_of(b, e),
		 block_memory(b, of->buffer, &of->index).text, v.text);
	if (is_widened(b, of))
		x86_line(b->x, "vpslld $16, %s, %s", v.text, v.text);
}

static void load_masked(struct block *b, const struct expr *e, int to)
{
	const struct mask *m = block_mask(b, e->valid, e->lanes);
	struct operand from = block_memory(b, e->buffer, &e->index), v = x86_vector(e->lanes, to);

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
	struct operand v = x86_vector(e->lanes, to);

	if (e->kind == EXPR_CONST && is_clear(e->value) && e->lanes == 16) {
		x86_line(b->x, "vpxord %s, %s, %s", v.text, v.text, v.text);
	} else if (e->kind == EXPR_CONST && is_clear(e->value)) {
		x86_line(b->x, "vxorps %s, %s, %s", v.text, v.text, v.text);
	} else if (e->kind == EXPR_CONST) {
		struct operand c = constant_in_memory(b, block_constant(b, e->value), 1);

		x86_line(b->x, "%s %s, %s", e->lanes == 1 ? "vmovss" : "vbroadcastss", c.text,
			 v.text);
	} else if (e->kind == EXPR_BCAST) {
		load_broadcast(b, e, to);
	} else if (is_widened(b, e) && is_bf16(b, e) && e->members) {
		load_bf16_apart(b, e, to);
	} else if (is_widened(b, e) && is_bf16(b, e)) {
		load_bf16(b, e, to);
	} else if (is_widened(b, e)) {
		whole_load(b, e, to);
	} else if (block_needed(b, e->valid, e->lanes)) {
		load_masked(b, e, to);
	} else {
		x86_line(b->x, "%s %s, %s", e->lanes == 1 ? "vmovss" : "vmovups",
			 block_memory(b, e->buffer, &e->index).text, v.text);
	}
}

/* The second operand of an instruction: a register, or memory where it can be. */
struct operand block_second(struct block *b, const struct expr *e, struct held *h)
{
	*h = (struct held){0, 0};
	if (e->kind == EXPR_CONST)
		return block_constant_operand(b, e->value, e->lanes);
	if (e->kind == EXPR_LOAD && !block_is_register(b, e->buffer) &&
	    !block_needed(b, e->valid, e->lanes) && !is_widened(b, e))
		return block_memory(b, e->buffer, &e->index);
	if (e->kind == EXPR_LOAD && block_is_register(b, e->buffer) &&
	    b->folded[block_vreg(b, e->buffer, &e->index)][0])
		return operand("%s", b->folded[block_vreg(b, e->buffer, &e->index)]);
	*h = block_value(b, e);
	return x86_vector(e->lanes, h->number);
}

static const char *mnemonic(enum expr_kind kind)
{
	switch (kind) {
	case EXPR_ADD:
		return "vadd";
	case EXPR_SUB:
		return "vsub";
	case EXPR_MUL:
		return "vmul";
	case EXPR_DIV:
		return "vdiv";
	case EXPR_MAX:
		return "vmax";
	case EXPR_MIN:
		return "vmin";
	default:
		return NULL;
	}
}

int block_is_arithmetic(enum expr_kind kind)
{
	return mnemonic(kind) != NULL;
}

struct held block_first_constant(struct block *b, const struct expr *e)
{
	const int i = block_constant(b, e->value);

	(void)block_constant_operand(b, e->value, e->lanes);
	return e->lanes > 1 && b->at[i] >= 0 ? (struct held){b->at[i], 0} : block_value(b, e);
}

/* A value that must give up its register. */
static struct operand put_away(struct block *b, struct held *h, int lanes)
{
	const struct operand slot = operand("%d(%%rsp)", x86_vector_slot());

	x86_line(b->x, "%s %s, %s", lanes == 1 ? "vmovss" : "vmovups",
		 x86_vector(lanes, h->number).text, slot.text);
	block_drop(b, *h);
	h->temporary = 0;
	return slot;
}

/* The operands of arithmetic. A constant on the left needs a register only once the right side is
 * known, which goes to memory where there is but one. */
static struct operand operands(struct block *b, const struct expr *e, struct held *a,
			       struct held *c)
{
	struct operand o;

	if (e->a->kind != EXPR_CONST) {
		*a = block_value(b, e->a);
		return block_second(b, e->b, c);
	}
	o = block_second(b, e->b, c);
	if (c->temporary && find(b, 0) < 0 && find(b, 1) < 0)
		o = put_away(b, c, e->lanes);
	*a = block_first_constant(b, e->a);
	return o;
}

/* "vaddps", or, of whole numbers and pairs of 16 bits, "vpaddd" and "vpaddw". */
static struct operand instruction(const struct expr *e)
{
	if (elem_is_float(e->elem))
		return operand("%s%s", mnemonic(e->kind), suffix(e->lanes));
	return operand("%s%c", e->kind == EXPR_ADD ? "vpadd" : "vpsub",
		       e->elem == ELEM_S32 ? 'd' : 'w');
}

static struct held arithmetic(struct block *b, const struct expr *e)
{
	struct held a, c, to;
	struct operand o = operands(b, e, &a, &c);

	to = a;
	if (!a.temporary)
		to = c.temporary ? c : (struct held){take_or_fail(b), 1};
	x86_line(b->x, "%s %s, %s, %s", instruction(e).text, o.text,
		 x86_vector(e->lanes, a.number).text, x86_vector(e->lanes, to.number).text);
	if (c.temporary && c.number != to.number)
		block_drop(b, c);
	return to;
}

/* to = a * b + to, of numbers or of groups */
static void multiply_add(struct block *b, const struct expr *e, int to)
{
	const struct expr *first = e->a, *other = e->b;
	struct held h, g;
	struct operand o;

	if (e->elem == ELEM_S32) {
		whole_multiply_add(b, e, to);
		return;
	}
	if (e->kind == EXPR_DOT && (e->lanes != 16 || !(b->x->dots >> DTYPE_BF16 & 1))) {
		block_fail(b, "it multiplies groups of bf16, for which there is no instruction");
		return;
	}
	if (first->kind == EXPR_LOAD && block_is_register(b, first->buffer) &&
	    b->folded[block_vreg(b, first->buffer, &first->index)][0]) {
		first = e->b;
		other = e->a;
	}
	h = block_value(b, first);
	o = block_second(b, other, &g);
	if (e->kind == EXPR_DOT)
		x86_line(b->x, "vdpbf16ps %s, %s, %s", o.text, x86_vector(e->lanes, h.number).text,
			 x86_vector(e->lanes, to).text);
	else
		x86_line(b->x, "vfmadd231%s %s, %s, %s", suffix(e->lanes), o.text,
			 x86_vector(e->lanes, h.number).text, x86_vector(e->lanes, to).text);
	block_drop(b, h);
	block_drop(b, g);
}

static int adds_constant(const struct expr *e)
{
	return e->kind == EXPR_FMA && e->c->kind == EXPR_CONST;
}

/* to = to * x + a constant */
static void horner_step(struct block *b, const struct expr *e, int x, int to)
{
	x86_line(b->x, "vfmadd213%s %s, %s, %s", suffix(e->lanes),
		 block_constant_operand(b, e->c->value, e->lanes).text,
		 x86_vector(e->lanes, x).text, x86_vector(e->lanes, to).text);
}

/* Is it a polynomial in Horner's form, of two steps or more? */
static int is_polynomial(const struct expr *e)
{
	const struct expr *in = e->a;

	while (adds_constant(in) && in->b == e->b)
		in = in->a;
	return in != e->a && in->kind == EXPR_CONST;
}

/* Computes the same at x, which is there. */
static struct held polynomial(struct block *b, const struct expr *e, int x)
{
	const struct held to = adds_constant(e->a) ? polynomial(b, e->a, x) : block_value(b, e->a);

	horner_step(b, e, x, to.number);
	return to;
}

/* a * b + a constant: the place of a takes it, so that a polynomial in Horner's form needs no
 * register for its coefficients. */
static struct held multiply_add_constant(struct block *b, const struct expr *e)
{
	struct held h, g, to;

	if (is_polynomial(e)) {
		g = block_value(b, e->b);
		to = polynomial(b, e, g.number);
		block_drop(b, g);
		return to;
	}
	to = h = block_value(b, e->a);
	if (!h.temporary) {
		to = (struct held){take_or_fail(b), 1};
		x86_line(b->x, "vmovaps %s, %s", x86_vector(e->lanes, h.number).text,
			 x86_vector(e->lanes, to.number).text);
	}
	g = block_value(b, e->b);
	horner_step(b, e, g.number, to.number);
	block_drop(b, g);
	return to;
}

/* 2^n: its exponent is in the low bits of a. */
static struct held power(struct block *b, const struct expr *e)
{
	const struct held a = block_value(b, e->a);
	const struct held to = a.temporary ? a : (struct held){take_or_fail(b), 1};

	x86_line(b->x, "vpslld $23, %s, %s", x86_vector(e->lanes, a.number).text,
		 x86_vector(e->lanes, to.number).text);
	return to;
}

/* NaN where a is NaN, else b: a comparison has all bits set there. AVX-512's would go to a mask, of
 * which none may be free: a table says what to take for each kind of number instead. */
static struct held not_a_number(struct block *b, const struct expr *e)
{
	const double table = 0x22 * 0x1p-149; /* of a NaN: NaN; of all others: what was there */
	struct held a = block_value(b, e->a), c = block_value(b, e->b);
	struct held to = c.temporary ? c : (struct held){take_or_fail(b), 1};
	struct operand from = x86_vector(e->lanes, a.number), v = x86_vector(e->lanes, to.number);

	if (b->x->isa->folds) {
		if (!c.temporary)
			x86_line(b->x, "vmovaps %s, %s", x86_vector(e->lanes, c.number).text,
				 v.text);
		x86_line(b->x, "vfixupimm%s $0, %s, %s, %s", suffix(e->lanes),
			 block_constant_operand(b, table, e->lanes).text, from.text, v.text);
		block_drop(b, a);
	} else {
		struct held t = a.temporary ? a : (struct held){take_or_fail(b), 1};

		x86_line(b->x, "vcmpunord%s %s, %s, %s", suffix(e->lanes), from.text, from.text,
			 x86_vector(e->lanes, t.number).text);
		x86_line(b->x, "vorps %s, %s, %s", x86_vector(e->lanes, t.number).text,
			 x86_vector(e->lanes, c.number).text, v.text);
		block_drop(b, t);
	}
	return to;
}

/* To the nearest whole number, ties to even, without a word about it (8). */
static struct held rounded(struct block *b, const struct expr *e)
{
	const struct held a = block_value(b, e->a);
	const struct held to = a.temporary ? a : (struct held){take_or_fail(b), 1};
	const struct operand from = x86_vector(e->lanes, a.number);

	x86_line(b->x, "%s%s $8, %s%s%s, %s", b->x->isa->folds ? "vrndscale" : "vround",
		 suffix(e->lanes), from.text, e->lanes == 1 ? ", " : "",
		 e->lanes == 1 ? from.text : "", x86_vector(e->lanes, to.number).text);
	return to;
}

/* The same as multiply_add() in a register of its own. */
static struct held fresh_multiply_add(struct block *b, const struct expr *e)
{
	struct held c = block_value(b, e->c), to = c;

	if (!c.temporary) {
		to = (struct held){take_or_fail(b), 1};
		x86_line(b->x, "vmovaps %s, %s", x86_vector(e->lanes, c.number).text,
			 x86_vector(e->lanes, to.number).text);
	}
	multiply_add(b, e, to.number);
	return to;
}

/* The lanes of a spread, as the operand of a permutation. */
static struct operand spread_lanes(struct block *b, const struct expr *e)
{
	struct x86 *x = b->x;
	struct linear index = x86_linear(x, &e->index);
	int i = 0;

	while (i < x->nspreads &&
	       (x->spread[i].expr->per != e->per || x->spread[i].expr->step != e->step ||
		x->spread[i].expr->within != e->within || x->spread[i].index != index.c))
		i++;
	if (index.n || i == SPREADS) {
		block_fail(b, "it spreads lanes in too many ways");
		i = 0;
	} else if (i == x->nspreads) {
		x->nspreads++;
		x->spread[i].expr = e;
		x->spread[i].index = index.c;
		x->spread[i].label = ++x->nlabels;
	}
	return operand("%df(%%rip)", x->spread[i].label);
}

/* Whole numbers, or pairs of them, by the value of e. */
static struct held by_value(struct block *b, const struct expr *e)
{
	const struct held a = block_value(b, e->a);
	const struct held to = a.temporary ? a : (struct held){take_or_fail(b), 1};

	whole_by(b, e, x86_vector(e->lanes, a.number), x86_vector(e->lanes, to.number));
	return to;
}

static struct held spread(struct block *b, const struct expr *e)
{
	struct held to = {take_or_fail(b), 1}, h;
	struct operand v = x86_vector(e->lanes, to.number), o = block_second(b, e->a, &h);

	x86_line(b->x, "vmovups %s, %s", spread_lanes(b, e).text, v.text);
	x86_line(b->x, "vpermps %s, %s, %s", o.text, v.text, v.text);
	block_drop(b, h);
	return to;
}

/* Lanes of a vector of 16 that come from b (or, upper, from a) where lanes are exchanged at this
 * distance, one or four. */
static unsigned exchanged_lanes(int apart, int upper)
{
	return (apart == 1 ? 0xaaaau : 0xf0f0u) >> (upper ? apart : 0);
}

/* The mask registers of exchanges, behind those of accesses: two for each distance that takes them.
 */
static int exchange_mask(const struct block *b, int apart, int upper)
{
	return b->nmasks + 1 + (apart == 4) * 2 + upper;
}

static int has_exchange_masks(const struct block *b, int apart)
{
	return exchange_mask(b, apart, 1) <= MASKS;
}

void block_set_exchange_masks(struct block *b)
{
	for (int apart = 1; apart <= 4; apart += 3)
		for (int upper = 0; upper < 2; upper++) {
			if (!(b->exchanges & apart) || !has_exchange_masks(b, apart))
				continue;
			x86_line(b->x, "movl $%u, %%eax", exchanged_lanes(apart, upper));
			x86_line(b->x, "kmovw %%eax, %%k%d", exchange_mask(b, apart, upper));
		}
}

/* to = e, for 16 lanes and a distance of one or four: a copy of one operand, into which the other's
 * lanes are merged. */
static void merge_exchange(struct block *b, const struct expr *e, struct operand stays,
			   struct operand moves, struct operand v)
{
	int k = exchange_mask(b, e->apart, e->upper);

	x86_line(b->x, "vmovaps %s, %s", stays.text, v.text);
	if (e->apart == 1)
		x86_line(b->x, "vmovs%cdup %s, %s{%%k%d}", e->upper ? 'h' : 'l', moves.text, v.text,
			 k);
	else
		x86_line(b->x, "vshuff32x4 $%d, %s, %s, %s{%%k%d}", e->upper ? 0xf5 : 0xa0,
			 moves.text, moves.text, v.text, k);
}

/* to = e. One shuffle does it, with a merge where lanes change their places in the vector: the
 * processors of one manufacturer have one port for shuffles. */
static void exchange(struct block *b, const struct expr *e, int to)
{
	const int in_order = 0xd8; /* 0, 2, 1, 3 */
	struct held h = block_value(b, e->a), g = block_value(b, e->b);
	struct operand x = x86_vector(e->lanes, h.number), y = x86_vector(e->lanes, g.number);
	struct operand v = x86_vector(e->lanes, to);
	int quarters = e->upper ? 0xdd : 0x88, halves = e->upper ? 0xee : 0x44;

	if (e->lanes == 16 && (e->apart == 1 || e->apart == 4) && has_exchange_masks(b, e->apart)) {
		merge_exchange(b, e, e->upper ? y : x, e->upper ? x : y, v);
	} else if (e->apart == 1 && e->lanes == 8) {
		x86_line(b->x, "vmovs%cdup %s, %s", e->upper ? 'h' : 'l',
			 e->upper ? x.text : y.text, v.text);
		x86_line(b->x, "vblendps $%u, %s, %s, %s", exchanged_lanes(1, e->upper) & 0xff,
			 v.text, e->upper ? y.text : x.text, v.text);
	} else if (e->apart == 1) {
		x86_line(b->x, "vshufps $%d, %s, %s, %s", quarters, y.text, x.text, v.text);
		x86_line(b->x, "vpermilps $%d, %s, %s", in_order, v.text, v.text);
	} else if (e->apart == 2) {
		x86_line(b->x, "vunpck%cpd %s, %s, %s", e->upper ? 'h' : 'l', y.text, x.text,
			 v.text);
	} else if (e->apart == 4 && e->lanes == 8) {
		x86_line(b->x, "vperm2f128 $%d, %s, %s, %s", e->upper ? 0x31 : 0x20, y.text, x.text,
			 v.text);
	} else if (e->apart == 4) {
		x86_line(b->x, "vshuff32x4 $%d, %s, %s, %s", quarters, y.text, x.text, v.text);
		x86_line(b->x, "vshuff32x4 $%d, %s, %s, %s", in_order, v.text, v.text, v.text);
	} else {
		x86_line(b->x, "vshuff32x4 $%d, %s, %s, %s", halves, y.text, x.text, v.text);
	}
	block_drop(b, h);
	block_drop(b, g);
}

struct held block_value(struct block *b, const struct expr *e)
{
	struct held to;

	if (e->kind == EXPR_LOAD && block_is_register(b, e->buffer)) {
		int v = block_vreg(b, e->buffer, &e->index);

		if (b->phys[v] < 0) /* a folded broadcast is an operand, and no more */
			block_fail(b, "a folded broadcast is read as a vector");
		if (e->elem != b->x->n->buffer[e->buffer].elem) {
			to = block_take(b);
			x86_line(b->x, "vcvtdq2ps %s, %s", x86_vector(e->lanes, b->phys[v]).text,
				 x86_vector(e->lanes, to.number).text);
			return to;
		}
		return (struct held){b->phys[v] < 0 ? 0 : b->phys[v], 0};
	}
	if (e->kind == EXPR_LOAD || e->kind == EXPR_CONST || e->kind == EXPR_BCAST) {
		to = (struct held){take_or_fail(b), 1};
		load(b, e, to.number);
		return to;
	}
	if (e->kind == EXPR_SPREAD)
		return spread(b, e);
	if (e->kind == EXPR_EXCHANGE) {
		to = (struct held){take_or_fail(b), 1};
		exchange(b, e, to.number);
		return to;
	}
	if (e->kind == EXPR_LOW4 || e->kind == EXPR_HIGH4) {
		to = (struct held){take_or_fail(b), 1};
		whole_halve(b, e, to.number);
		return to;
	}
	if (e->kind == EXPR_FMA && e->c->kind == EXPR_CONST)
		return multiply_add_constant(b, e);
	if (e->kind == EXPR_POWER)
		return power(b, e);
	if (e->kind == EXPR_TIMES || e->kind == EXPR_HALVES)
		return by_value(b, e);
	if (e->kind == EXPR_NAN)
		return not_a_number(b, e);
	if (e->kind == EXPR_ROUND)
		return rounded(b, e);
	if (e->kind == EXPR_FMA || e->kind == EXPR_DOT)
		return fresh_multiply_add(b, e);
	if (mnemonic(e->kind))
		return arithmetic(b, e);
	block_fail(b, "it has an expression that is not written as assembly");
	return (struct held){0, 0};
}

/* ---- stores ---- */

/* Only whole vectors at a multiple of their size can pass the caches. */
static int streams(const struct block *b, const struct node *s, int elements)
{
	struct linear l = x86_linear(b->x, &s->a);

	return b->x->streams && s->streams && b->x->aligned[s->buffer] &&
	       x86_is_multiple(&l, elements);
}

/* The lower half of each lane of `to` = v, rounded to the nearest, ties to even, as the processor
 * has no instruction for it: half of the last place is added, which is carried. The last bit of a
 * tie is added, too. A NaN whose upper half is one stays a NaN: none of other kinds comes up, as
 * all come from elements of 16 bits and from arithmetic. */
static void round_by_hand(struct block *b, int lanes, struct operand v, struct operand to)
{
	const char *and = b->x->isa->vregs > 16 ? "vpandd" : "vpand";

	x86_line(b->x, "vpsrld $16, %s, %s", v.text, to.text);
	x86_line(b->x, "%s %s, %s, %s", and,
		 block_constant_operand(b, block_of_bits(1), lanes).text, to.text, to.text);
	x86_line(b->x, "vpaddd %s, %s, %s", v.text, to.text, to.text);
	x86_line(b->x, "vpaddd %s, %s, %s",
		 block_constant_operand(b, block_of_bits(0x7fff), lanes).text, to.text, to.text);
	x86_line(b->x, "vpsrld $16, %s, %s", to.text, to.text);
}

/* What round_by_hand() has left, to memory; mask: of 16 lanes. */
static void store_halves(struct block *b, const struct node *s, int t, const char *mask,
			 struct operand to)
{
	const int lanes = s->value->lanes;
	struct operand v = x86_vector(lanes, t), low = x86_vector(4, t);
	int upper;

	if (lanes == 1) {
		x86_line(b->x, "vpextrw $0, %s, %s", v.text, to.text);
	} else if (lanes == 16) {
		x86_line(b->x, "vpmovdw %s, %s%s", v.text, to.text, mask);
	} else {
		upper = take_or_fail(b);
		x86_line(b->x, "vextracti128 $1, %s, %s", v.text, x86_vector(4, upper).text);
		x86_line(b->x, "vpackusdw %s, %s, %s", x86_vector(4, upper).text, low.text,
			 low.text);
		if (block_needed(b, s->valid, lanes))
			short_store(b, s->valid, 2, t, to);
		else
			x86_line(b->x, "vmovups %s, %s", low.text, to.text);
		block_drop(b, (struct held){upper, 1});
	}
}

/* A vector, or one value, as bf16. */
static void store_bf16(struct block *b, const struct node *s, struct held h, struct operand to)
{
	const int lanes = s->value->lanes, masked = block_needed(b, s->valid, lanes) != NULL;
	const int by_hand = lanes != 16 || !(b->x->dots >> DTYPE_BF16 & 1);
	const int t = h.temporary && !by_hand ? h.number : take_or_fail(b);
	char mask[16] = "";

	if (masked && lanes == 16)
		snprintf(mask, sizeof mask, "{%%k%d}", block_mask(b, s->valid, lanes)->number);
	if (by_hand) {
		round_by_hand(b, lanes, x86_vector(lanes, h.number), x86_vector(lanes, t));
		store_halves(b, s, t, mask, to);
	} else {
		x86_line(b->x, "vcvtneps2bf16 %s, %s", x86_vector(lanes, h.number).text,
			 x86_vector(lanes / 2, t).text);
		x86_line(b->x, "%s %s, %s%s",
			 masked			? "vmovdqu16"
			 : streams(b, s, lanes) ? "vmovntps"
						: "vmovups",
			 x86_vector(lanes / 2, t).text, to.text, mask);
	}
	if (t != h.number)
		block_drop(b, (struct held){t, 1});
}

void block_store_pair(struct block *b, const struct node *s, struct held low, struct held high)
{
	const struct held t = low.temporary ? low : block_take(b);
	const struct operand to = block_memory(b, s->buffer, &s->a), v = x86_vector(16, t.number);

	x86_line(b->x, "vcvtne2ps2bf16 %s, %s, %s", x86_vector(16, low.number).text,
		 x86_vector(16, high.number).text, v.text);
	x86_line(b->x, "%s %s, %s", streams(b, s, 32) ? "vmovntps" : "vmovups", v.text, to.text);
	block_drop(b, t);
	block_drop(b, high);
}

void block_store_memory(struct block *b, const struct node *s)
{
	int lanes = s->value->lanes;
	struct held h = block_value(b, whole_stored(b, s));
	struct operand to = block_memory(b, s->buffer, &s->a), v = x86_vector(lanes, h.number);
	const struct mask *m;

	if (block_elem(b, s->buffer) != s->value->elem && !block_is_group(s->value)) {
		if (block_elem(b, s->buffer) == ELEM_BF16)
			store_bf16(b, s, h, to);
		else
			whole_store(b, s, h, to);
		block_drop(b, h);
		return;
	}
	if (!block_needed(b, s->valid, lanes)) {
		x86_line(b->x, "%s %s, %s",
			 lanes == 1		? "vmovss"
			 : streams(b, s, lanes) ? "vmovntps"
						: "vmovups",
			 v.text, to.text);
	} else if (lanes == 16) {
		m = block_mask(b, s->valid, lanes);
		x86_line(b->x, "vmovups %s, %s{%%k%d}", v.text, to.text, m->number);
	} else {
		int t = take_or_fail(b);

		m = block_mask(b, s->valid, lanes);
		x86_line(b->x, "vmovups (%s), %s", m->reg, x86_vector(lanes, t).text);
		x86_line(b->x, "vmaskmovps %s, %s, %s", v.text, x86_vector(lanes, t).text, to.text);
		block_drop(b, (struct held){t, 1});
	}
	block_drop(b, h);
}

void block_prefetch(struct block *b, const struct node *s)
{
	x86_line(b->x, "prefetcht%d %s", s->far, block_memory(b, s->buffer, &s->a).text);
}

/* Is memory written between this op and the last one that reads its value? */
static int is_overtaken(const struct block *b)
{
	for (int i = b->now + 1; i < b->op[b->now].last_read; i++)
		if (b->op[i].node->kind == NODE_STORE &&
		    !block_is_register(b, b->op[i].node->buffer))
			return 1;
	return 0;
}

/* Are groups of this type the first operand of their product, which is a register? */
static int is_first(enum elem elem)
{
	return elem == ELEM_U8X4 || elem == ELEM_S16X2;
}

/* A broadcast from memory can be an operand of AVX-512's arithmetic, which costs a read each time:
 * so it is where the value is used once, or no register is left. */
static int folds(struct block *b, const struct expr *e, int v)
{
	if (e->kind != EXPR_BCAST || !b->x->isa->folds || e->a->kind != EXPR_LOAD || e->a->valid ||
	    e->a->lanes > 1 || is_widened(b, e->a) || is_first(e->elem) ||
	    block_is_register(b, e->a->buffer) || b->op[b->now].in_register || is_overtaken(b))
		return 0;
	if (b->op[b->now].reads > 1) {
		int r = take(b);

		if (r >= 0) {
			block_drop(b, (struct held){r, 1});
			return 0;
		}
	}
	snprintf(b->folded[v], sizeof b->folded[v], "%s{1to16}",
		 block_memory(b, e->a->buffer, &e->a->index).text);
	return 1;
}

void block_store_register(struct block *b, const struct node *s)
{
	const struct expr *e = s->value;
	int v = block_vreg(b, s->buffer, &s->a), to;
	struct held h;

	b->folded[v][0] = 0;
	b->writer[v] = b->now;
	if (b->phys[v] < 0 && folds(b, e, v))
		return;
	if ((e->kind == EXPR_FMA || e->kind == EXPR_DOT) && e->c->kind == EXPR_LOAD &&
	    e->c->buffer == s->buffer && block_vreg(b, e->c->buffer, &e->c->index) == v &&
	    b->phys[v] >= 0) {
		multiply_add(b, e, b->phys[v]);
		return;
	}
	if (b->phys[v] < 0)
		b->phys[v] = take_or_fail(b);
	to = b->phys[v];
	if ((e->kind == EXPR_LOAD && !block_is_register(b, e->buffer)) || e->kind == EXPR_CONST ||
	    e->kind == EXPR_BCAST) {
		load(b, e, to);
		return;
	}
	if (e->kind == EXPR_EXCHANGE) {
		exchange(b, e, to);
		return;
	}
	if (e->kind == EXPR_LOW4 || e->kind == EXPR_HIGH4) {
		whole_halve(b, e, to);
		return;
	}
	h = block_value(b, e);
	x86_line(b->x, "vmovaps %s, %s", x86_vector(e->lanes, h.number).text,
		 x86_vector(e->lanes, to).text);
	block_drop(b, h);
}

void block_release(struct block *b)
{
	for (int i = 0; i < b->x->n->nbuffers; i++) {
		if (!block_is_register(b, i) || b->x->kept[i])
			continue;
		for (int v = b->base[i]; v < b->base[i] + (int)b->x->n->buffer[i].size; v++) {
			if (b->phys[v] < 0 || b->op[b->writer[v]].last_read > b->now)
				continue;
			block_drop(b, (struct held){b->phys[v], 1});
			b->phys[v] = -1;
		}
	}
}
