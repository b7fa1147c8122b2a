/* Straight runs of stores: every unrolled loop written out, registers assigned by hand.
 *
 * A block is a list of stores, each with the values of the unrolled loops around it. Memory is
 * addressed by a register for each (buffer, variable part of the index) and a constant offset, so
 * that a loop around the block only adds to those registers. A register array that a block writes
 * before it reads lives in registers from the first write to the last read; the others (the tile)
 * have a home.
 */
#include <string.h>

#include "lib/target/x86_block.h"

void block_fail(struct block *b, const char *why)
{
	x86_fail(b->x, why);
}

int block_is_register(const struct block *b, int buffer)
{
	return b->x->n->buffer[buffer].kind == BUFFER_REG;
}

int block_vreg(const struct block *b, int buffer, const struct affine *index)
{
	return b->base[buffer] + (int)x86_linear(b->x, index).c;
}

/* ---- gathering ---- */

static void gather(struct block *b, const struct node *t, const struct node *end);

static void gather_op(struct block *b, const struct node *t)
{
	struct op *o = &b->op[b->nops];

	if (b->nops == OPS) {
		block_fail(b, "a straight run has too many stores");
		return;
	}
	b->nops++;
	o->node = t;
	o->last_read = -1;
	o->reads = o->in_register = 0;
	o->depth = b->depth;
	for (int i = 0; i < b->depth; i++) {
		o->var[i] = b->var[i];
		o->at[i] = b->x->value[b->var[i]];
	}
}

/* The loop that is jammed with t and all that t has inside, or NULL. */
static const struct node *jammed_in(const struct node *t)
{
	const struct node *in = t->body;

	return t->jam && in->kind == NODE_FOR && in->jam && !in->next ? in : NULL;
}

/* The nodes from `from` to `end` in all turns of a loop: of its own body, or of that of the loops
 * inside which are jammed with it. */
static void gather_turns(struct block *b, const struct node *t, const struct node *from,
			 const struct node *end)
{
	struct x86 *x = b->x;

	if (b->depth == DEPTH) {
		block_fail(b, "unrolled loops are nested too deeply");
		return;
	}
	b->var[b->depth++] = t->var;
	x->known[t->var] = 1;
	for (int64_t i = x86_linear(x, &t->a).c; i < x86_linear(x, &t->b).c; i++) {
		x->value[t->var] = i;
		if (jammed_in(t))
			gather_turns(b, jammed_in(t), from, end);
		else
			gather(b, from, end);
	}
	x->known[t->var] = 0;
	b->depth--;
}

/* Statement by statement (nest_jam()). */
static void gather_jammed(struct block *b, const struct node *t)
{
	const struct node *inner = t;

	while (jammed_in(inner))
		inner = jammed_in(inner);
	for (const struct node *s = inner->body; s; s = s->next)
		gather_turns(b, t, s, s->next);
}

static void gather(struct block *b, const struct node *t, const struct node *end)
{
	for (; t != end; t = t->next)
		if (t->kind != NODE_FOR)
			gather_op(b, t);
		else if (t->jam)
			gather_jammed(b, t);
		else
			gather_turns(b, t, t->body, NULL);
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

/* ---- looking over a block ---- */

static void look_at_memory(struct block *b, int buffer, const struct affine *index,
			   const struct affine *valid, int lanes)
{
	int64_t offset;

	block_address(b, buffer, index, &offset);
	if (block_needed(b, valid, lanes))
		block_mask(b, valid, lanes);
}

/* Does the instruction for e take this operand from memory, too? */
static int may_be_memory(const struct expr *e, const struct expr *operand)
{
	if (e->kind == EXPR_DOT && e->a->elem == ELEM_U8X4)
		return operand == e->b; /* the one with a sign */
	if (e->kind == EXPR_FMA || e->kind == EXPR_DOT)
		return operand != e->c;
	return block_is_arithmetic(e->kind) && operand == e->b && operand != e->a;
}

int block_is_group(const struct expr *e)
{
	return elem_group(e->elem) > 1;
}

static void look_at_register(struct block *b, const struct expr *e, int in_register)
{
	int writer = b->writer[block_vreg(b, e->buffer, &e->index)];

	if (writer < 0) {
		b->x->kept[e->buffer] = 1;
		return;
	}
	b->op[writer].last_read = b->now;
	b->op[writer].reads++;
	b->op[writer].in_register |= in_register;
}

static void look_at_load(struct block *b, const struct expr *e)
{
	whole_look_at_load(b, e);
	if (!e->members)
		look_at_memory(b, e->buffer, &e->index, e->valid, e->lanes);
	for (int m = 0; m < ex_loads(e) && e->members; m++) {
		const struct affine at = ex_member_at(e, e->members->from + m);

		look_at_memory(b, e->buffer, &at, e->valid, e->lanes);
	}
}

/* in_register: where e is used, an operand in memory cannot be. */
static void look_at(struct block *b, const struct expr *e, int in_register)
{
	if (!e)
		return;
	if ((e->elem != ELEM_F32 && e->elem != ELEM_S32 && !block_is_group(e)) ||
	    (e->lanes != 1 && e->lanes != b->x->lanes))
		block_fail(b, "an expression has another element type or number of lanes than the "
			      "nest's vectors");
	if (e->kind == EXPR_BCAST && e->a->lanes > 1)
		look_at_load(b, e->a);
	else
		look_at(b, e->a, !may_be_memory(e, e->a));
	look_at(b, e->b, !may_be_memory(e, e->b));
	look_at(b, e->c, 1);
	if (e->kind == EXPR_CONST)
		b->uses[block_constant(b, e->value)]++;
	whole_look_at_dot(b, e);
	if (e->kind == EXPR_LOW4 || e->kind == EXPR_HIGH4)
		b->uses[block_constant(b, whole_half_bytes())]++;
	if (e->kind == EXPR_EXCHANGE && e->lanes == 16)
		b->exchanges |= e->apart;
	if (e->kind != EXPR_LOAD)
		return;
	if (block_is_register(b, e->buffer))
		look_at_register(b, e, in_register);
	else
		look_at_load(b, e);
}

static void look_at_store(struct block *b, const struct node *s)
{
	look_at_memory(b, s->buffer, &s->a, s->valid, s->value->lanes);
	whole_look_at(b, s);
}

static void look_over(struct block *b)
{
	for (b->now = 0; b->now < b->nops && !b->x->why; b->now++) {
		const struct op *o = &b->op[b->now];
		const struct node *s = o->node;

		stand_at(b, o);
		look_at(b, s->value, 1);
		if (s->kind == NODE_PREFETCH)
			look_at_memory(b, s->buffer, &s->a, NULL, 1);
		else if (block_is_register(b, s->buffer))
			b->writer[block_vreg(b, s->buffer, &s->a)] = b->now;
		else
			look_at_store(b, s);
		stand_nowhere(b, o);
	}
}

/* ---- writing ---- */

/* Does the value load elements of this buffer from elsewhere? */
static int reads_elsewhere(struct block *b, const struct expr *e, int buffer,
			   const struct linear *at)
{
	struct linear l, by;

	if (!e)
		return 0;
	if (e->kind == EXPR_LOAD && nest_base(b->x->n, e->buffer) == nest_base(b->x->n, buffer)) {
		l = x86_linear(b->x, &e->index);
		by = x86_plus(l, -1, at);
		if (e->buffer != buffer || by.n || by.c)
			return 1;
	}
	return reads_elsewhere(b, e->a, buffer, at) || reads_elsewhere(b, e->b, buffer, at) ||
	       reads_elsewhere(b, e->c, buffer, at);
}

/* Is the op a store of a whole vector that an instruction rounds to bf16? */
static int rounds_whole(const struct block *b, const struct node *s)
{
	return s->kind == NODE_STORE && s->value->lanes == 16 && s->value->elem == ELEM_F32 &&
	       !block_is_register(b, s->buffer) && block_elem(b, s->buffer) == ELEM_BF16 &&
	       b->x->dots >> DTYPE_BF16 & 1 && !block_needed(b, s->valid, 16);
}

/* Does the next op store the 16 elements behind those that this one stores, and may both wait? The
 * instruction that rounds two vectors takes as long as that for one. */
static int is_pair(struct block *b)
{
	enum { SPARE = 8 }; /* registers for the second one's value */
	const struct op *first = &b->op[b->now], *second = first + 1;
	struct linear at, next, by;
	int holds;

	if (b->now + 1 == b->nops || !rounds_whole(b, first->node) ||
	    !rounds_whole(b, second->node) || first->node->buffer != second->node->buffer ||
	    __builtin_popcount(b->busy) + SPARE > b->x->isa->vregs)
		return 0;
	stand_at(b, first);
	at = x86_linear(b->x, &first->node->a);
	stand_nowhere(b, first);
	stand_at(b, second);
	next = x86_linear(b->x, &second->node->a);
	by = x86_plus(next, -1, &at);
	holds = !by.n && by.c == 16 && first->node->streams == second->node->streams &&
		!reads_elsewhere(b, second->node->value, second->node->buffer, &next);
	stand_nowhere(b, second);
	return holds;
}

/* Writes this op and the next one. */
static void write_pair(struct block *b)
{
	const struct op *first = &b->op[b->now], *second = &b->op[++b->now];
	struct held low, high;

	stand_at(b, first);
	low = block_value(b, first->node->value);
	stand_nowhere(b, first);
	stand_at(b, second);
	high = block_value(b, second->node->value);
	stand_nowhere(b, second);
	stand_at(b, first);
	block_store_pair(b, first->node, low, high);
	stand_nowhere(b, first);
	block_release(b);
}

static void write_ops(struct block *b)
{
	b->busy = 0;
	block_forget_constants(b);
	for (b->now = 0; b->now < b->nops && !b->x->why; b->now++) {
		const struct op *o = &b->op[b->now];

		if (is_pair(b)) {
			write_pair(b);
			continue;
		}
		stand_at(b, o);
		if (o->node->kind == NODE_PREFETCH)
			block_prefetch(b, o->node);
		else if (block_is_register(b, o->node->buffer))
			block_store_register(b, o->node);
		else
			block_store_memory(b, o->node);
		stand_nowhere(b, o);
		block_release(b);
	}
}

/* ---- the loop around a block ---- */

static void step_addresses(struct block *b, int64_t turns)
{
	for (int i = 0; i < b->naddresses; i++) {
		const struct address *a = &b->address[i];
		long long bytes = x86_elem_bytes(b->x, a->buffer);

		if (a->step)
			x86_line(b->x, "addq $%lld, %s", bytes * turns * a->step, a->reg);
	}
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
	struct linear lo = x86_linear(b->x, &b->loop->a);
	struct linear n = x86_plus(x86_linear(b->x, &b->loop->b), -1, &lo);
	int turns = b->loop->unroll > 1 ? b->loop->unroll : 1;

	x86_evaluate(b->x, &n, "%rbp");
	if (turns > 1 && (n.n || n.c >= turns))
		write_turns(b, turns);
	if (turns == 1 || n.n || n.c % turns)
		write_turns(b, 1);
}

static void number_registers(struct block *b)
{
	struct x86 *x = b->x;
	int n = 0;

	x->nkept = x86_homes(x);
	for (int i = 0; i < x->n->nbuffers; i++) {
		const struct buffer *f = &x->n->buffer[i];
		int home = x86_is_home(x, i);

		if (f->kind != BUFFER_REG || f->tile_rows)
			continue;
		b->base[i] = n;
		n += (int)f->size;
		if (n > VREGS) {
			block_fail(b, "its registers are more than there are");
			return;
		}
		for (int j = 0; j < f->size; j++) {
			b->phys[b->base[i] + j] = home ? x->home[i] + j : -1;
			b->writer[b->base[i] + j] = -1;
		}
	}
	if (x->nkept > x->isa->vregs)
		block_fail(b, "its registers are more than there are");
}

void x86_block(struct x86 *x, const struct node *t, const struct node *end, const struct node *loop)
{
	struct block *b = arena_new(&x->arena, struct block);

	memset(b, 0, sizeof *b);
	b->x = x;
	b->loop = loop;
	b->op = arena_array(&x->arena, struct op, OPS);
	number_registers(b);
	if (!x->why)
		gather(b, t, end);
	if (!x->why)
		look_over(b);
	if (!x->why && !x->looking) {
		block_set_addresses(b);
		block_set_exchange_masks(b);
		if (loop)
			write_loop(b);
		else
			write_ops(b);
	}
	arena_reset(&x->arena);
}
