/* Whole numbers of 8 and 32 bits in vector code: loads that widen, products, stores that round. */
#include <stdio.h>
#include <string.h>

#include "lib/target/x86_block.h"

static int is_s16(const struct block *b, int buffer)
{
	return block_elem(b, buffer) == ELEM_S16;
}

/* "z" or "s": how elements of 8 or 16 bits are widened. */
static char sign_of(const struct block *b, int buffer)
{
	return block_elem(b, buffer) == ELEM_S8 || is_s16(b, buffer) ? 's' : 'z';
}

/* "{%k1}{z}" where lanes are left out that masks are for. */
static void mask_text(struct block *b, const struct affine *valid, int lanes, const char *zeros,
		      char text[16])
{
	text[0] = 0;
	if (lanes == 16 && block_needed(b, valid, lanes))
		snprintf(text, 16, "{%%k%d}%s", block_mask(b, valid, lanes)->number, zeros);
}

/* Are lanes left out that no mask is for? */
static int is_short(const struct block *b, const struct affine *valid, int lanes)
{
	return lanes == 8 && block_needed(b, valid, lanes) != NULL;
}

/* Loads the mask of a vector of words into a register of its own. */
static struct held word_mask(struct block *b, const struct affine *valid)
{
	const struct held t = block_take(b);

	x86_line(b->x, "vmovups (%s), %s", block_mask(b, valid, 8)->reg,
		 x86_vector(8, t.number).text);
	return t;
}

/* Pairs of 16 bits: of a broadcast, one pair. */
static void load_pairs(struct block *b, const struct expr *of, int broadcasts, int lanes, int to)
{
	const struct operand v = x86_vector(lanes, to), half = x86_vector(lanes / 2, to),
			     from = block_memory(b, of->buffer, &of->index);

	if (broadcasts)
		x86_line(b->x, "vpbroadcastw %s, %s", from.text, half.text);
	x86_line(b->x, "vpmov%cxbw %s, %s", sign_of(b, of->buffer),
		 broadcasts ? half.text : from.text, v.text);
}

/* Elements of 8 or 16 bits as 32 bits. */
static void load_short(struct block *b, const struct expr *of, int broadcasts, int lanes, int to)
{
	const struct operand v = x86_vector(lanes, to), part = x86_vector(4, to),
			     from = block_memory(b, of->buffer, &of->index);
	const char sign = sign_of(b, of->buffer), size = is_s16(b, of->buffer) ? 'w' : 'b';
	char mask[16];

	if (broadcasts || lanes == 1) {
		x86_line(b->x, "vpbroadcast%c %s, %s", size, from.text, part.text);
		x86_line(b->x, "vpmov%cx%cd %s, %s", sign, size, part.text, v.text);
		return;
	}
	mask_text(b, of->valid, lanes, "{z}", mask);
	if (is_short(b, of->valid, lanes))
		short_load(b, of->valid, from, size == 'w' ? 2 : 1, to);
	x86_line(b->x, "vpmov%cx%cd %s, %s%s", sign, size,
		 is_short(b, of->valid, lanes) ? part.text : from.text, v.text, mask);
}

static double lower_half(void)
{
	return block_of_bits(0xffff);
}

/* Member m of groups. Behind one with a sign the others are not 0, but what the sign makes them. */
static void load_member(struct block *b, const struct expr *e, int m, const char *mask, int to)
{
	const struct affine at = ex_member_at(e, m);
	const struct operand v = x86_vector(e->lanes, to), low = x86_vector(4, to),
			     from = block_memory(b, e->buffer, &at);
	const int shortly = is_short(b, e->valid, e->lanes);

	if (shortly)
		short_load(b, e->valid, from, 1, to);
	x86_line(b->x, "vpmov%cxbd %s, %s%s", sign_of(b, e->buffer), shortly ? low.text : from.text,
		 v.text, mask);
	if (m)
		x86_line(b->x, "vpslld $%d, %s, %s", m * 32 / elem_group(e->elem), v.text, v.text);
}

/* The tables by which lines are turned: of words of 32 bits, and of the bytes in each line. */
static struct operand turns(struct x86 *x, int bytes)
{
	struct operand o;

	if (!x->turn_table)
		x->turn_table = ++x->nlabels;
	snprintf(o.text, sizeof o.text, "%s%df(%%rip)", bytes ? "64+" : "", x->turn_table);
	return o;
}

void x86_turn_table(struct x86 *x)
{
	enum { FOUR = 4 };

	if (!x->turn_table)
		return;
	x86_line(x, ".p2align 6");
	x86_label(x, x->turn_table);
	for (int line = 0; line < FOUR; line++)
		for (int m = 0; m < FOUR; m++)
			x86_line(x, ".long %d", FOUR * m + line);
	for (int line = 0; line < FOUR; line++)
		for (int i = 0; i < FOUR; i++)
			for (int m = 0; m < FOUR; m++)
				x86_line(x, ".byte %d", FOUR * m + i);
}

/* Fours that lie apart, as lines of 16 bytes that are turned by 32 bits, and then by bytes. */
static void turn_members(struct block *b, const struct expr *e, int to)
{
	const struct operand v = x86_vector(16, to), low = x86_vector(4, to);
	const struct held t = block_take(b);
	const struct operand line = x86_vector(4, t.number), order = x86_vector(16, t.number);
	const int first = e->members->from;
	char mask[16];

	mask_text(b, e->valid, 16, "{z}", mask);
	for (int m = first; m < e->members->to; m++) {
		const struct affine at = ex_member_at(e, m);
		const struct operand from = block_memory(b, e->buffer, &at);
		const char *move = mask[0] ? "vmovdqu8" : "vmovups";

		if (m == first)
			x86_line(b->x, "%s %s, %s%s", move, from.text, low.text, mask);
		else if (mask[0])
			x86_line(b->x, "%s %s, %s%s", move, from.text, line.text, mask);
		if (m > first)
			x86_line(b->x, "vinserti32x4 $%d, %s, %s, %s", m - first,
				 mask[0] ? line.text : from.text, v.text, v.text);
	}
	x86_line(b->x, "vmovups %s, %s", turns(b->x, 0).text, order.text);
	x86_line(b->x, "vpermd %s, %s, %s", v.text, order.text, v.text);
	x86_line(b->x, "vpshufb %s, %s, %s", turns(b->x, 1).text, v.text, v.text);
	if (first)
		x86_line(b->x, "vpslld $%d, %s, %s", 8 * first, v.text, v.text);
	block_drop(b, t);
}

/* Are members turned? One of u8 is as well loaded by itself. */
static int is_turned(const struct expr *e)
{
	return e->lanes == 16 &&
	       (e->elem == ELEM_S8X4 || (e->elem == ELEM_U8X4 && ex_loads(e) > 1));
}

/* Does the first member's sign reach others that are 0? */
static int has_sign_alone(const struct block *b, const struct expr *e)
{
	return sign_of(b, e->buffer) == 's' && e->members->from == 0 && e->members->to == 1;
}

/* Pairs of bytes that lie apart: they are put side by side, and then get wider. */
static void weave_pairs(struct block *b, const struct expr *e, int to)
{
	const struct affine first = ex_member_at(e, 0), second = ex_member_at(e, 1);
	const struct held t = block_take(b);
	const struct operand low = x86_vector(4, to), other = x86_vector(4, t.number);

	x86_line(b->x, "vmovq %s, %s", block_memory(b, e->buffer, &first).text, low.text);
	x86_line(b->x, "vmovq %s, %s", block_memory(b, e->buffer, &second).text, other.text);
	x86_line(b->x, "vpunpcklbw %s, %s, %s", other.text, low.text, low.text);
	x86_line(b->x, "vpmov%cxbw %s, %s", sign_of(b, e->buffer), low.text,
		 x86_vector(8, to).text);
	block_drop(b, t);
}

static int is_woven(const struct block *b, const struct expr *e)
{
	return e->elem == ELEM_S16X2 && e->lanes == 8 && ex_loads(e) == 2 &&
	       elem_size(block_elem(b, e->buffer)) == 1 && !block_needed(b, e->valid, e->lanes);
}

/* Groups whose members lie apart. The second of two goes where the first one's sign is. */
static void load_members(struct block *b, const struct expr *e, int to)
{
	const struct operand v = x86_vector(e->lanes, to);
	struct held t = {0};
	char mask[16];

	if (is_turned(e)) {
		turn_members(b, e, to);
		return;
	}
	if (is_woven(b, e)) {
		weave_pairs(b, e, to);
		return;
	}
	if (e->elem == ELEM_S8X4)
		block_fail(b, "it loads groups of s8 that lie apart, of other than 16 lanes");
	mask_text(b, e->valid, e->lanes, "{z}", mask);
	load_member(b, e, e->members->from, mask, to);
	if (has_sign_alone(b, e))
		x86_line(b->x, "%s %s, %s, %s", b->x->isa->vregs > 16 ? "vpandd" : "vpand",
			 block_constant_operand(b, lower_half(), e->lanes).text, v.text, v.text);
	if (ex_loads(e) > 1)
		t = block_take(b);
	for (int m = e->members->from + 1; m < e->members->to; m++) {
		const struct operand other = x86_vector(e->lanes, t.number);

		load_member(b, e, m, mask, t.number);
		if (sign_of(b, e->buffer) == 'z')
			x86_line(b->x, "%s %s, %s, %s", b->x->isa->vregs > 16 ? "vpord" : "vpor",
				 other.text, v.text, v.text);
		else if (e->lanes == 16)
			x86_line(b->x, "vpternlogd $0xe4, %s, %s, %s", /* the mask's bits of v */
				 block_constant_operand(b, lower_half(), 16).text, other.text,
				 v.text);
		else
			x86_line(b->x, "vpblendw $0xaa, %s, %s, %s", other.text, v.text, v.text);
	}
	block_drop(b, t);
}

/* Loads numbers of 32 bits as they are. */
static void load_words(struct block *b, const struct expr *of, int broadcasts, int lanes, int to)
{
	const struct operand v = x86_vector(lanes, to),
			     from = block_memory(b, of->buffer, &of->index);
	char mask[16];

	if (is_short(b, of->valid, lanes)) {
		const struct held t = word_mask(b, of->valid);

		x86_line(b->x, "vmaskmovps %s, %s, %s", from.text, x86_vector(8, t.number).text,
			 v.text);
		block_drop(b, t);
		return;
	}
	mask_text(b, of->valid, lanes, "{z}", mask);
	x86_line(b->x, "%s %s, %s%s",
		 broadcasts   ? "vbroadcastss"
		 : lanes == 1 ? "vmovss"
			      : "vmovups",
		 from.text, v.text, mask);
}

void whole_load(struct block *b, const struct expr *e, int to)
{
	const int broadcasts = e->kind == EXPR_BCAST;
	const struct expr *of = broadcasts ? e->a : e;
	const struct operand v = x86_vector(e->lanes, to);

	if (e->members) {
		load_members(b, e, to);
		return;
	}
	if (e->elem == ELEM_S16X2) {
		load_pairs(b, of, broadcasts, e->lanes, to);
		return;
	}
	if (block_elem(b, of->buffer) == ELEM_S32)
		load_words(b, of, broadcasts, e->lanes, to);
	else
		load_short(b, of, broadcasts, e->lanes, to);
	if (e->elem == ELEM_F32)
		x86_line(b->x, "vcvtdq2ps %s, %s", v.text, v.text);
}

double whole_half_bytes(void)
{
	return block_of_bits(0x0f0f0f0f);
}

void whole_halve(struct block *b, const struct expr *e, int to)
{
	const struct held h = block_value(b, e->a);
	const struct operand v = x86_vector(e->lanes, to);
	const char *and = b->x->isa->vregs > 16 ? "vpandd" : "vpand";
	struct operand from = x86_vector(e->lanes, h.number);

	if (e->kind == EXPR_HIGH4) {
		x86_line(b->x, "vpsrld $4, %s, %s", from.text, v.text);
		from = v;
	}
	x86_line(b->x, "%s %s, %s, %s", and,
		 block_constant_operand(b, whole_half_bytes(), e->lanes).text, from.text, v.text);
	block_drop(b, h);
}

void whole_look_at_load(struct block *b, const struct expr *e)
{
	if (!e->members || sign_of(b, e->buffer) != 's' || is_turned(e))
		return;
	if (has_sign_alone(b, e) || (ex_loads(e) > 1 && e->lanes == 16))
		b->uses[block_constant(b, lower_half())]++;
}

static int has_dot(const struct block *b, int lanes)
{
	return lanes == 16 && b->x->dots >> DTYPE_U8 & 1;
}

/* Pairs of 1, by which an instruction multiplies pairs to sum them. */
static double ones(void)
{
	return block_of_bits(0x10001);
}

/* sum += a * b of groups, by sums of two products that have 16 bits. */
static void dot_low(struct block *b, const struct expr *e, struct operand a, struct operand other,
		    struct operand sum)
{
	const struct held t = block_take(b);
	const struct operand pairs = x86_vector(e->lanes, t.number);

	x86_line(b->x, "vpmaddubsw %s, %s, %s", other.text, a.text, pairs.text);
	x86_line(b->x, "vpmaddwd %s, %s, %s", block_constant_operand(b, ones(), e->lanes).text,
		 pairs.text, pairs.text);
	x86_line(b->x, "vpaddd %s, %s, %s", pairs.text, sum.text, sum.text);
	block_drop(b, t);
}

/* Returns by how many bits a number is shifted that is multiplied by the factor of e; -1: it is no
 * power of two. */
static int shift_of(const struct expr *e)
{
	const int64_t factor = (int64_t)e->value;

	return factor > 0 && !(factor & (factor - 1)) ? __builtin_ctzll((uint64_t)factor) : -1;
}

static double factor_of(const struct expr *e)
{
	const uint32_t factor = (uint32_t)(int64_t)e->value;

	return block_of_bits(e->elem == ELEM_S16X2 ? (factor & 0xffff) * 0x10001 : factor);
}

void whole_by(struct block *b, const struct expr *e, struct operand from, struct operand to)
{
	const char size = e->elem == ELEM_S16X2 ? 'w' : 'd';
	const int shift = shift_of(e);
	struct held factor;

	if (e->kind == EXPR_HALVES)
		x86_line(b->x, "vpsra%c $%d, %s, %s", size, (int)e->value, from.text, to.text);
	else if (shift >= 0)
		x86_line(b->x, "vpsll%c $%d, %s, %s", size, shift, from.text, to.text);
	if (e->kind == EXPR_HALVES || shift >= 0)
		return;
	/* No instruction of words takes one from memory again and again. */
	factor = block_first_constant(
		b, &(struct expr){.kind = EXPR_CONST, .lanes = e->lanes, .value = factor_of(e)});
	x86_line(b->x, "vpmull%c %s, %s, %s", size, x86_vector(e->lanes, factor.number).text,
		 from.text, to.text);
	block_drop(b, factor);
}

void whole_look_at_dot(struct block *b, const struct expr *e)
{
	if (e->kind == EXPR_TIMES && shift_of(e) < 0)
		b->uses[block_constant(b, factor_of(e))]++;
	if (e->kind == EXPR_DOT && e->low && e->lanes == 8)
		b->uses[block_constant(b, ones())]++;
}

void whole_multiply_add(struct block *b, const struct expr *e, int to)
{
	const struct operand sum = x86_vector(e->lanes, to);
	struct held a = block_value(b, e->a), g, t;
	struct operand other = block_second(b, e->b, &g), first = x86_vector(e->lanes, a.number);

	if (e->kind == EXPR_DOT && e->low && e->lanes == 8) {
		dot_low(b, e, first, other, sum);
	} else if (e->kind == EXPR_DOT && e->a->elem == ELEM_U8X4 && !has_dot(b, e->lanes)) {
		block_fail(b, "it multiplies groups of u8, for which there is no instruction");
	} else if (e->kind == EXPR_DOT && has_dot(b, e->lanes)) {
		x86_line(b->x, "%s %s, %s, %s", e->a->elem == ELEM_U8X4 ? "vpdpbusd" : "vpdpwssd",
			 other.text, first.text, sum.text);
	} else {
		t = block_take(b);
		x86_line(b->x, "%s %s, %s, %s", e->kind == EXPR_DOT ? "vpmaddwd" : "vpmulld",
			 other.text, first.text, x86_vector(e->lanes, t.number).text);
		x86_line(b->x, "vpaddd %s, %s, %s", x86_vector(e->lanes, t.number).text, sum.text,
			 sum.text);
		block_drop(b, t);
	}
	block_drop(b, a);
	block_drop(b, g);
}

/* Whole numbers as elements of 8 bits, of which none is too large or too small: for s8 the
 * instructions look to both ends themselves, for u8 to both where there are fewer than 16 lanes,
 * and else (`ends`) to the upper one of numbers without a sign. */
static void store_bytes(struct block *b, const struct node *s, int from, int t, int ends,
			const char *mask, struct operand to)
{
	const int lanes = s->value->lanes, is_s8 = block_elem(b, s->buffer) == ELEM_S8;
	const struct operand v = x86_vector(lanes, from), low = x86_vector(4, t);
	struct held upper;

	if (lanes == 16) {
		x86_line(b->x, "vpmov%sdb %s, %s",
			 is_s8	? "s"
			 : ends ? "us"
				: "",
			 v.text, low.text);
		x86_line(b->x, "%s %s, %s%s", mask[0] ? "vmovdqu8" : "vmovups", low.text, to.text,
			 mask);
		return;
	}
	if (lanes == 8) {
		upper = block_take(b);
		x86_line(b->x, "vextracti128 $1, %s, %s", v.text, x86_vector(4, upper.number).text);
		x86_line(b->x, "vpackssdw %s, %s, %s", x86_vector(4, upper.number).text,
			 x86_vector(4, from).text, low.text);
		block_drop(b, upper);
	} else {
		x86_line(b->x, "vpackssdw %s, %s, %s", v.text, v.text, low.text);
	}
	x86_line(b->x, "vpack%cswb %s, %s, %s", is_s8 ? 's' : 'u', low.text, low.text, low.text);
	if (is_short(b, s->valid, lanes))
		short_store(b, s->valid, 1, t, to);
	else
		x86_line(b->x, lanes == 8 ? "vmovq %s, %s" : "vpextrb $0, %s, %s", low.text,
			 to.text);
}

/* Whole numbers as elements of 16 bits: the instructions look to both ends themselves. */
static void store_shorts(struct block *b, const struct node *s, int from, int t, const char *mask,
			 struct operand to)
{
	const int lanes = s->value->lanes;
	const struct operand v = x86_vector(lanes, from), low = x86_vector(lanes / 2, t);
	struct held upper;

	if (lanes == 16) {
		x86_line(b->x, "vpmovsdw %s, %s", v.text, low.text);
		x86_line(b->x, "%s %s, %s%s", mask[0] ? "vmovdqu16" : "vmovups", low.text, to.text,
			 mask);
	} else if (lanes == 8) {
		upper = block_take(b);
		x86_line(b->x, "vextracti128 $1, %s, %s", v.text, x86_vector(4, upper.number).text);
		x86_line(b->x, "vpackssdw %s, %s, %s", x86_vector(4, upper.number).text,
			 x86_vector(4, from).text, low.text);
		if (is_short(b, s->valid, lanes))
			short_store(b, s->valid, 2, t, to);
		else
			x86_line(b->x, "vmovups %s, %s", low.text, to.text);
		block_drop(b, upper);
	} else {
		x86_line(b->x, "vpackssdw %s, %s, %s", v.text, v.text, low.text);
		x86_line(b->x, "vpextrw $0, %s, %s", low.text, to.text);
	}
}

/* Is it no less than 0, or none? */
static int is_positive(const struct expr *e)
{
	if ((e->kind != EXPR_MAX && e->kind != EXPR_MIN) || e->a->kind != EXPR_CONST ||
	    e->a->value < 0)
		return 0;
	return e->kind == EXPR_MAX || is_positive(e->b);
}

/* Is it no more than this, or none? */
static int is_at_most(const struct expr *e, double most)
{
	if ((e->kind != EXPR_MAX && e->kind != EXPR_MIN) || e->a->kind != EXPR_CONST ||
	    e->a->value > most)
		return 0;
	return e->kind == EXPR_MIN || is_at_most(e->b, most);
}

/* Stores elements of 8 bits, which stay what they are or get 16. */
static void store_same(struct block *b, const struct node *s, struct held h, struct operand to)
{
	const struct held t = block_take(b);
	char mask[16];

	if (s->value->kind != EXPR_LOAD || block_is_register(b, s->value->buffer) ||
	    (block_elem(b, s->value->buffer) != block_elem(b, s->buffer) &&
	     (!is_s16(b, s->buffer) || block_elem(b, s->value->buffer) == ELEM_S32)))
		block_fail(b, "it stores whole numbers in fewer bits");
	mask_text(b, s->valid, s->value->lanes, "", mask);
	if (is_s16(b, s->buffer))
		store_shorts(b, s, h.number, t.number, mask, to);
	else
		store_bytes(b, s, h.number, t.number, 0, mask, to);
	block_drop(b, t);
}

/* No single-precision number is 2^31 - 1: the largest below it is the end. */
static double most_of(enum elem elem)
{
	double least, most;

	elem_range(elem, &least, &most);
	return elem == ELEM_S32 ? 2147483520 : most;
}

/* The instruction that stores 16 elements of u8 has their upper end, of numbers without a sign. */
static int has_end(const struct block *b, const struct node *s)
{
	return block_elem(b, s->buffer) == ELEM_U8 && s->value->lanes == 16 &&
	       s->value->elem == ELEM_F32;
}

const struct expr *whole_stored(const struct block *b, const struct node *s)
{
	const struct expr *e = s->value;

	return has_end(b, s) && e->kind == EXPR_MAX && e->a->kind == EXPR_CONST && e->a->value == 0
		       ? e->b
		       : e;
}

/* Is a maximum with 0 what is left to do, and is a minimum? */
static int needs_least(const struct block *b, const struct node *s)
{
	return has_end(b, s) && !is_positive(whole_stored(b, s));
}

static int needs_most(const struct block *b, const struct node *s)
{
	return !needs_least(b, s) && !is_at_most(s->value, most_of(block_elem(b, s->buffer)));
}

void whole_look_at(struct block *b, const struct node *s)
{
	const enum elem elem = block_elem(b, s->buffer);

	if (s->value->elem != ELEM_F32 || !elem_is_whole(elem))
		return;
	if (needs_most(b, s))
		b->uses[block_constant(b, most_of(elem))]++;
	if (needs_least(b, s))
		b->uses[block_constant(b, 0)]++;
}

/* Ends a number at both ends of the elements, as far as it may lie beyond and what follows does
 * not see to it. Of NaN and a number the second operand comes out: at the lower end the number, at
 * the upper one NaN. Conversion makes the least number of 32 bits of NaN, and of all that is too
 * large. That is the least s8 and s32, 0 as u8, and without a sign it is beyond the upper end. */
static void put_ends(struct block *b, const struct node *s, int from, struct operand v)
{
	const int lanes = s->value->lanes;
	const char *suffix = lanes == 1 ? "ss" : "ps";
	const struct operand x = x86_vector(lanes, from);
	struct held end;

	if (needs_least(b, s))
		x86_line(b->x, "vmax%s %s, %s, %s", suffix,
			 block_constant_operand(b, 0, lanes).text, x.text, v.text);
	if (!needs_most(b, s))
		return;
	end = block_first_constant(b, &(struct expr){.kind = EXPR_CONST,
						     .lanes = lanes,
						     .value = most_of(block_elem(b, s->buffer))});
	x86_line(b->x, "vmin%s %s, %s, %s", suffix, x.text, x86_vector(lanes, end.number).text,
		 v.text);
	block_drop(b, end);
}

void whole_store(struct block *b, const struct node *s, struct held h, struct operand to)
{
	const int lanes = s->value->lanes;
	const struct held t = h.temporary ? h : block_take(b);
	const struct operand v = x86_vector(lanes, t.number);
	int from = h.number;
	char mask[16];

	if (s->value->elem != ELEM_F32) {
		store_same(b, s, h, to);
		return;
	}
	mask_text(b, s->valid, lanes, "", mask);
	if (needs_least(b, s) || needs_most(b, s)) {
		put_ends(b, s, from, v);
		from = t.number;
	}
	x86_line(b->x, "vcvtps2dq %s, %s", x86_vector(lanes, from).text, v.text);
	if (block_elem(b, s->buffer) == ELEM_S32 && is_short(b, s->valid, lanes)) {
		const struct held m = word_mask(b, s->valid);

		x86_line(b->x, "vmaskmovps %s, %s, %s", v.text, x86_vector(8, m.number).text,
			 to.text);
		block_drop(b, m);
	} else if (block_elem(b, s->buffer) == ELEM_S32)
		x86_line(b->x, "%s %s, %s%s", lanes == 1 ? "vmovss" : "vmovups", v.text, to.text,
			 mask);
	else if (is_s16(b, s->buffer))
		store_shorts(b, s, t.number, t.number, mask, to);
	else
		store_bytes(b, s, t.number, t.number, needs_least(b, s), mask, to);
	if (t.number != h.number)
		block_drop(b, t);
}

/* Whole vectors, then what is left: under a mask, or 8 bytes and one at a time. */
static void run_steps(struct x86 *x, int copies, int bytes, const char *v)
{
	const int top = ++x->nlabels, end = ++x->nlabels;
	const char *move = bytes == 1 ? "movb" : bytes == 8 ? "movq" : "vmovups";

	x86_label(x, top);
	x86_line(x, "subq $%d, %%rbp", bytes);
	x86_line(x, "jl %df", end);
	if (copies) {
		x86_line(x, "%s (%%rsi), %s", move, v);
		x86_line(x, "addq $%d, %%rsi", bytes);
	}
	x86_line(x, "%s %s, (%%rbx)", move, v);
	x86_line(x, "addq $%d, %%rbx", bytes);
	x86_line(x, "jmp %db", top);
	x86_label(x, end);
	x86_line(x, "addq $%d, %%rbp", bytes);
}

/* Copies elements of 8 bits as 16: `at_once` of them while there are so many, by this instruction
 * and move. */
static void widen_steps(struct x86 *x, int at_once, const char *load, const char *to,
			const char *store, const char *from)
{
	const int top = ++x->nlabels, end = ++x->nlabels;

	x86_label(x, top);
	x86_line(x, "subq $%d, %%rbp", at_once);
	x86_line(x, "jl %df", end);
	x86_line(x, "%s (%%rsi), %s", load, to);
	x86_line(x, "%s %s, (%%rbx)", store, from);
	x86_line(x, "addq $%d, %%rsi", at_once);
	x86_line(x, "addq $%d, %%rbx", 2 * at_once);
	x86_line(x, "jmp %db", top);
	x86_label(x, end);
	x86_line(x, "addq $%d, %%rbp", at_once);
}

void whole_widen_run(struct x86 *x, int has_sign)
{
	const struct operand v = x86_vector(x->lanes, x->nkept), low = x86_vector(4, x->nkept);
	const char *load = has_sign ? "vpmovsxbw" : "vpmovzxbw";

	widen_steps(x, 2 * x->lanes, load, v.text, "vmovups", v.text);
	widen_steps(x, 8, load, low.text, "vmovups", low.text);
	widen_steps(x, 1, has_sign ? "movsbl" : "movzbl", "%eax", "movw", "%ax");
}

void whole_run(struct x86 *x, int copies)
{
	const struct operand v = x86_vector(x->lanes, x->nkept);
	const int end = ++x->nlabels;

	run_steps(x, copies, x->lanes * 4, v.text);
	if (x->lanes != 16) {
		if (!copies)
			x86_line(x, "xorl %%eax, %%eax");
		run_steps(x, copies, 8, "%rax");
		run_steps(x, copies, 1, "%al");
		return;
	}
	x86_line(x, "testq %%rbp, %%rbp"); /* a count below zero has bits of a mask, too */
	x86_line(x, "jle %df", end);
	x86_line(x, "movq $-1, %%rdx");
	x86_line(x, "bzhiq %%rbp, %%rdx, %%rdx");
	x86_line(x, "kmovq %%rdx, %%k1");
	if (copies)
		x86_line(x, "vmovdqu8 (%%rsi), %s{%%k1}{z}", v.text);
	x86_line(x, "vmovdqu8 %s, (%%rbx){%%k1}", v.text);
	x86_label(x, end);
}
