#include "lib/nest/check.h"

#include "lib/nest/box.h"
#include "lib/nest/mma.h"
#include "lib/nest/tmul.h"

struct check {
	const struct nest *n;
	struct err *e;
	int sites;
	int region;	/* of parallel loops, in this phase */
	int parallel;	/* parallel loops around */
	int thread;	/* a loop over a block's threads is around */
	int branch;	/* in that loop a branch is */
	int nconstants; /* unrolled loops around, by their variables */
	int constant[NEST_LOOP_DEPTH];
};

/* Is it a number once all loops around are unrolled? */
static int is_constant(const struct check *c, int var)
{
	const struct var *v = &c->n->var[var];

	if (v->kind == VAR_SYMBOL)
		return !v->runtime;
	for (int i = 0; i < c->nconstants; i++)
		if (c->constant[i] == var)
			return 1;
	return 0;
}

/* name: of what needs the constant. */
static int check_constant(const struct check *c, const struct affine *a, const char *name)
{
	for (int i = 0; i < a->n; i++) {
		int var[] = {a->t[i].sym, a->t[i].var};

		for (int k = 0; k < 2 && a->t[i].coef; k++)
			if (var[k] >= 0 && !is_constant(c, var[k]))
				return err_set(
					c->e,
					"%s needs a constant, which %s is not where it stands",
					name, c->n->var[var[k]].name);
	}
	return 0;
}

static int is_register(const struct check *c, int buffer)
{
	return c->n->buffer[buffer].kind == BUFFER_REG;
}

static int check_access(struct check *c, int buffer, const struct affine *index, int lanes,
			const struct affine *valid)
{
	const struct buffer *b = &c->n->buffer[buffer];

	if (!is_register(c, buffer) && !b->near && ++c->sites > NEST_SITES)
		return err_set(c->e, "the nest has more than %d loads and stores of memory",
			       NEST_SITES);
	if (!is_register(c, buffer))
		return 0;
	if (valid || lanes != b->lanes)
		return err_set(c->e, "the register %s is read or written in part", b->name);
	return check_constant(c, index, b->name);
}

/* Each member is a load of its own. */
static int check_load(struct check *c, const struct expr *x)
{
	if (!x->members)
		return check_access(c, x->buffer, &x->index, x->lanes, x->valid);
	if (is_register(c, x->buffer) || elem_group(x->elem) == 1)
		return err_set(c->e, "groups that lie apart are loaded from %s, which has none",
			       c->n->buffer[x->buffer].name);
	for (int m = x->members->from; m < x->members->to; m++)
		if (check_access(c, x->buffer, &x->index, x->lanes, x->valid) < 0)
			return -1;
	return 0;
}

static int is_half_bytes(const struct expr *x)
{
	return x->kind == EXPR_LOW4 || x->kind == EXPR_HIGH4;
}

static int is_addition(const struct expr *x)
{
	return x->kind == EXPR_ADD || x->kind == EXPR_SUB;
}

/* May an operand of x be groups? */
static int takes_groups(const struct expr *x, int is_third)
{
	return x->kind == EXPR_BCAST || x->kind == EXPR_SPREAD ||
	       (x->kind == EXPR_DOT && !is_third) || (is_half_bytes(x) && x->elem == ELEM_U8X4) ||
	       (is_addition(x) && x->elem == ELEM_S16X2 && x->a->elem == x->b->elem) ||
	       (x->kind == EXPR_TIMES && x->elem == ELEM_S16X2);
}

/* Groups are loaded from elements of their type, broadcast and multiplied, and nothing else; those
 * of u8 are halved, those of s16 added and multiplied by a factor. */
static int check_groups(const struct check *c, const struct expr *x)
{
	const struct expr *const from[] = {x->a, x->b, x->c};
	const struct buffer *b =
		x->kind == EXPR_LOAD ? &c->n->buffer[nest_base(c->n, x->buffer)] : NULL;

	if (b && b->kind != BUFFER_REG && elem_group(x->elem) > 1 &&
	    ((x->valid && !x->members) || !elem_makes_group(x->elem, b->elem) || b->swizzle.row))
		return err_set(c->e, "groups are loaded from %s, which has other elements",
			       b->name);
	for (int i = 0; i < 3; i++)
		if (from[i] && elem_group(from[i]->elem) > 1 && !takes_groups(x, i == 2))
			return err_set(c->e, "groups are computed with as if they were numbers");
	return 0;
}

/* Several values that are broadcast lie in memory as they are. */
static int check_broadcast(const struct check *c, const struct expr *x)
{
	const struct expr *a = x->a;

	if (x->kind != EXPR_BCAST || a->lanes == 1)
		return 0;
	if (a->kind == EXPR_LOAD && !a->valid && !is_register(c, a->buffer) &&
	    c->n->buffer[nest_base(c->n, a->buffer)].elem == ELEM_F32)
		return 0;
	return err_set(c->e, "several values are broadcast that are no load of single precision");
}

/* Is it an operation of whole numbers alone? */
static int is_by(const struct expr *x)
{
	return x->kind == EXPR_TIMES || x->kind == EXPR_HALVES;
}

static int is_sum(const struct expr *x)
{
	return x && x->elem == ELEM_S32;
}

/* Whole numbers are loaded as such from elements that are some, added, multiplied and broadcast. */
static int check_wholes(const struct check *c, const struct expr *x)
{
	const enum elem from =
		x->kind == EXPR_LOAD ? c->n->buffer[nest_base(c->n, x->buffer)].elem : ELEM_S32;

	if (is_sum(x) && !elem_is_whole(from))
		return err_set(c->e, "whole numbers are loaded from %s, which has others",
			       c->n->buffer[nest_base(c->n, x->buffer)].name);
	if (x->kind == EXPR_LOAD || x->kind == EXPR_CONST || x->kind == EXPR_BCAST ||
	    (x->kind == EXPR_FMA && is_sum(x->a) && is_sum(x->b) && is_sum(x->c)) ||
	    (x->kind == EXPR_DOT && is_sum(x->c) == is_sum(x)) ||
	    (is_addition(x) && is_sum(x->a) && is_sum(x->b)) ||
	    (is_by(x) && (is_sum(x->a) || x->elem == ELEM_S16X2)) ||
	    (is_half_bytes(x) && (is_sum(x) || x->elem == ELEM_U8X4)))
		return 0;
	if (x->kind == EXPR_DOT || is_by(x) || is_sum(x->a) || is_sum(x->b) || is_sum(x->c))
		return err_set(c->e, "whole numbers are computed with as if they were others");
	return 0;
}

static int check_expr(struct check *c, const struct expr *x)
{
	if (!x)
		return 0;
	if (check_groups(c, x) < 0 || check_wholes(c, x) < 0 || check_broadcast(c, x) < 0)
		return -1;
	if (x->kind == EXPR_LOAD)
		return check_load(c, x);
	if ((x->kind == EXPR_PICK || x->kind == EXPR_SPREAD) &&
	    check_constant(c, &x->index, "a lane") < 0)
		return -1;
	return check_expr(c, x->a) < 0 || check_expr(c, x->b) < 0 || check_expr(c, x->c) < 0 ? -1
											     : 0;
}

static int check_store(struct check *c, const struct node *t)
{
	const struct buffer *b = &c->n->buffer[nest_base(c->n, t->buffer)];

	if (b->kind == BUFFER_PACKED || (b->kind == BUFFER_ARG && !b->written))
		return err_set(c->e, "it stores to %s, which is an input", b->name);
	if (c->n->block_threads && !c->thread)
		return err_set(c->e,
			       "all threads of a block store the same to %s: no loop over them is "
			       "around it",
			       b->name);
	if ((b->kind == BUFFER_ARG || b->kind == BUFFER_TEAM) && !c->parallel)
		return err_set(c->e,
			       "all threads store the same to %s: no parallel loop is around it",
			       b->name);
	if (elem_group(t->value->elem) > 1 && b->elem != t->value->elem &&
	    (t->valid || !elem_makes_group(t->value->elem, b->elem)))
		return err_set(c->e, "groups are stored to %s, which has none", b->name);
	if (is_sum(t->value) && !elem_is_whole(b->elem))
		return err_set(c->e, "whole numbers are stored to %s, which has others", b->name);
	if (check_expr(c, t->value) < 0)
		return -1;
	return check_access(c, t->buffer, &t->a, t->value->lanes, t->valid);
}

static int check_sync(struct check *c, const struct node *t)
{
	if (t->outer)
		return err_set(c->e,
			       "a barrier stands in a loop or branch, but phases are parts of "
			       "the whole nest");
	c->region = 0;
	return 0;
}

static int is_parallel(const struct node *t)
{
	return t->kind == NODE_FOR && t->loop == LOOP_PARALLEL;
}

static int check_parallel(struct check *c, const struct node *t)
{
	const char *name = c->n->var[t->var].name;

	if (t->outer && (!is_parallel(t->outer) || t->outer->body != t || t->next))
		return err_set(c->e,
			       "the parallel loop %s stands neither at the top level nor alone in "
			       "another parallel loop",
			       name);
	if (!t->outer && c->region++)
		return err_set(c->e,
			       "the parallel loop %s is the second one of its phase: no barrier is "
			       "before it",
			       name);
	return 0;
}

static int check_thread(struct check *c, const struct node *t)
{
	const char *name = c->n->var[t->var].name;

	if (!c->parallel)
		return err_set(c->e, "the loop %s over threads is in no parallel loop", name);
	if (c->thread)
		return err_set(c->e, "the loop %s over threads is in another one", name);
	if (t->a.n || t->a.c || t->b.n || t->b.c != c->n->block_threads || t->b.c < 1 ||
	    t->b.c > NEST_BLOCK_THREADS)
		return err_set(c->e,
			       "the loop %s has another number of threads than the block's %d, or "
			       "more than %d",
			       name, c->n->block_threads, NEST_BLOCK_THREADS);
	return 0;
}

static int check_let(struct check *c, const struct node *t)
{
	if ((t->let == LET_DIV || t->let == LET_MOD) && (t->b.n || t->b.c < 1))
		return err_set(c->e, "%s is a division by no positive constant",
			       c->n->var[t->var].name);
	return 0;
}

static int check_box(const struct check *c, const struct node *t)
{
	const struct buffer *to = &c->n->buffer[t->buffer];
	const struct box *b = &c->n->box[t->box];
	const char *why = box_refusal(b, elem_size(to->elem));

	if (!why && (to->swizzle.row != b->values || b->positions % SWIZZLE_ROWS))
		why = "the values of a position do not fill a swizzled row, or there are no eight positions";
	return why ? err_set(c->e, "%s gets no box: %s", to->name, why) : 0;
}

static int check_bulk(const struct check *c, const struct node *t)
{
	const struct buffer *to = &c->n->buffer[t->buffer], *from = &c->n->buffer[t->from];
	const int rows = SWIZZLE_ROWS * to->swizzle.row;

	if (t->place)
		return check_box(c, t);
	if (t->valid || to->kind != BUFFER_BLOCK || from->kind != BUFFER_PACKED ||
	    t->lanes * elem_size(to->elem) % SWIZZLE_UNIT != 0 ||
	    to->swizzle.row != from->swizzle.row || (rows && t->lanes % rows))
		return err_set(
			c->e,
			"a bulk copy of %d elements from %s to %s is none of whole units, or "
			"eight rows, between weights and memory of a block in the same order",
			t->lanes, from->name, to->name);
	return 0;
}

static int check_wait(const struct check *c, const struct node *t)
{
	if (t->a.c > NEST_BULK_GROUPS - 2 && nest_has_bulk(c->n))
		return err_set(c->e, "more than %d groups of bulk copies are under way",
			       NEST_BULK_GROUPS - 1);
	return 0;
}

/* Copies go from operands to memory of a block, 4, 8 or 16 bytes at a time, or in bulk. */
static int check_copy(struct check *c, const struct node *t)
{
	const struct buffer *to = &c->n->buffer[nest_base(c->n, t->buffer)];
	const struct buffer *from = &c->n->buffer[nest_base(c->n, t->from)];
	const int bytes = t->lanes * elem_size(to->elem);

	if (!c->thread || to->kind != BUFFER_BLOCK ||
	    (from->kind != BUFFER_ARG && from->kind != BUFFER_PACKED) || from->written ||
	    from->elem != to->elem ||
	    (bytes != 4 && bytes != 8 && bytes != NEST_COPY_BYTES && !nest_is_bulk(c->n, t)))
		return err_set(c->e,
			       "a copy of %d elements from %s to %s is none from an input to the "
			       "memory of a block",
			       t->lanes, from->name, to->name);
	c->sites += 2;
	return nest_is_bulk(c->n, t) ? check_bulk(c, t) : 0;
}

static int check_side(struct check *c, const struct mma *m, int is_right)
{
	const struct mma_side *s = is_right ? &m->b : &m->a;
	const struct buffer *b = &c->n->buffer[nest_base(c->n, s->buffer)];
	const int64_t unit = m->group ? mma_core(m->kind) : mma_pair(m->kind);
	const int64_t row = b->swizzle.row; /* 0: in order */
	const int64_t step = row && m->group ? SWIZZLE_ROWS * row : row;

	if (b->kind == BUFFER_BLOCK && b->elem == mma_elem(m->kind, is_right) &&
	    s->step % unit == 0 && s->k_step % unit == 0 && s->row % unit == 0 &&
	    (!row || (s->step == step && s->k_step == unit && (!m->group || s->row == row))))
		return 0;
	return err_set(c->e, "%s is no memory of a block that tiles of %s lie in", b->name,
		       mma_name(m->kind));
}

static int check_mma(struct check *c, const struct node *t)
{
	const struct buffer *acc = &c->n->buffer[t->buffer];
	const struct mma *m = t->mma;

	const int together = m->group ? MMA_GROUP * MMA_WARP : MMA_WARP;

	if (!c->thread || c->branch || c->n->block_threads % together)
		return err_set(c->e, "a warp does not multiply as a whole: the product stands in a "
				     "branch, or the block has no whole warps");
	if (m->late && !m->group)
		return err_set(c->e, "products of single warps are never late");
	if (acc->kind != BUFFER_REG || acc->lanes != 4 || acc->elem != mma_sum(m->kind))
		return err_set(c->e,
			       "the sums of products are in %s, which is no register of 4 "
			       "lanes of their type",
			       acc->name);
	if (check_side(c, m, 0) < 0 || check_side(c, m, 1) < 0)
		return -1;
	return check_constant(c, &t->a, acc->name);
}

/* Checks the memory of a product's side, or of sums. */
static int check_tmul_memory(struct check *c, int buffer, enum elem elem, int is_stored)
{
	const struct buffer *b = &c->n->buffer[nest_base(c->n, buffer)];

	if (!b->near && ++c->sites > NEST_SITES)
		return err_set(c->e, "the nest has more than %d loads and stores of memory",
			       NEST_SITES);
	if (b->kind == BUFFER_REG || b->swizzle.row || b->elem != elem)
		return err_set(c->e, "%s is no memory that tiles are made of", b->name);
	if (is_stored && b->kind != BUFFER_WORK)
		return err_set(c->e, "tiles are stored to %s, which is no thread's own", b->name);
	return 0;
}

static int check_product(struct check *c, const struct node *t)
{
	const struct tmul *m = t->tmul;
	const struct node *of = tmul_first(c->n);
	const enum elem left = c->n->buffer[nest_base(c->n, m->left)].elem;
	const enum elem right = c->n->buffer[nest_base(c->n, m->memory)].elem;
	const int is_whole = elem_sum(m->right) == ELEM_S32;

	if (!tmul_has_depth(m->right, m->depth) || m->depth != of->tmul->depth ||
	    m->right != of->tmul->right ||
	    c->n->buffer[t->buffer].tile_rows != c->n->buffer[of->buffer].tile_rows)
		return err_set(c->e, "products of tiles have no depth or rows in common");
	if (c->n->buffer[t->buffer].elem != elem_sum(m->right) ||
	    (is_whole ? left != ELEM_U8 && left != ELEM_S8 : left != ELEM_BF16) ||
	    !elem_makes_group(m->right, right))
		return err_set(c->e, "tiles multiply no such types");
	if (!m->left_half != !m->half || (m->half && left != ELEM_BF16))
		return err_set(c->e,
			       "both sides of a product, in bf16, are split in halves, or none");
	return check_tmul_memory(c, m->left, left, 0);
}

static int check_tmul(struct check *c, const struct node *t)
{
	const struct buffer *b = &c->n->buffer[t->buffer];
	const struct tmul *m = t->tmul;
	const int sides = m->across + 1;

	if (!b->tile_rows || b->tile_rows > TMUL_ROWS || m->down < 1 || m->across < 1 ||
	    m->down * m->across > b->size || b->size + sides > TMUL_REGISTERS || m->lines < 1 ||
	    m->down % m->lines || m->height < b->tile_rows ||
	    m->height > m->down / m->lines * b->tile_rows)
		return err_set(c->e, "%s is no array of tiles of so many rows", b->name);
	if (m->op == TMUL_ZERO)
		return 0;
	if (m->op == TMUL_ADD && check_product(c, t) < 0)
		return -1;
	return check_tmul_memory(c, m->memory,
				 m->op == TMUL_ADD ? c->n->buffer[nest_base(c->n, m->memory)].elem
						   : b->elem,
				 m->op == TMUL_STORE);
}

static int check_body(struct check *c, const struct node *t);

static int check_for(struct check *c, const struct node *t)
{
	int rc, nconstants = c->nconstants;

	if (c->thread && t->loop == LOOP_PARALLEL)
		return err_set(c->e, "the parallel loop %s is in a loop over threads",
			       c->n->var[t->var].name);
	if (t->loop == LOOP_PARALLEL && check_parallel(c, t) < 0)
		return -1;
	if (t->loop == LOOP_THREAD && check_thread(c, t) < 0)
		return -1;
	if (t->loop == LOOP_UNROLL) {
		const char *name = c->n->var[t->var].name;

		if (check_constant(c, &t->a, name) < 0 || check_constant(c, &t->b, name) < 0)
			return -1;
		c->constant[c->nconstants++] = t->var;
	}
	c->parallel += t->loop == LOOP_PARALLEL;
	c->thread += t->loop == LOOP_THREAD;
	rc = check_body(c, t->body);
	c->parallel -= t->loop == LOOP_PARALLEL;
	c->thread -= t->loop == LOOP_THREAD;
	c->nconstants = nconstants;
	return rc;
}

static int check_if(struct check *c, const struct node *t)
{
	int rc;

	c->branch += c->thread;
	rc = check_body(c, t->body) < 0 || check_body(c, t->orelse) < 0 ? -1 : 0;
	c->branch -= c->thread;
	return rc;
}

static int check_node(struct check *c, const struct node *t)
{
	switch (t->kind) {
	case NODE_FOR:
		return check_for(c, t);
	case NODE_IF:
		return check_if(c, t);
	case NODE_STORE:
		return check_store(c, t);
	case NODE_VIEW:
		if (is_register(c, nest_base(c->n, t->buffer)))
			return err_set(c->e, "%s is a view of registers",
				       c->n->buffer[t->buffer].name);
		if (c->n->buffer[nest_base(c->n, t->buffer)].swizzle.row)
			return err_set(c->e, "%s is a view of swizzled rows",
				       c->n->buffer[t->buffer].name);
		return 0;
	case NODE_SYNC:
		return check_sync(c, t);
	case NODE_LET:
		return check_let(c, t);
	case NODE_COPY:
		return check_copy(c, t);
	case NODE_MMA:
		return check_mma(c, t);
	case NODE_TMUL:
		return check_tmul(c, t);
	case NODE_WAIT:
		return check_wait(c, t);
	case NODE_PREFETCH:
		return 0;
	}
	return 0;
}

static int check_body(struct check *c, const struct node *t)
{
	for (; t; t = t->next)
		if (check_node(c, t) < 0)
			return -1;
	return 0;
}

int check_room(const struct nest *n, struct err *e)
{
	if (n->full.what)
		return err_set(e, "the nest has more than %d %s", n->full.most, n->full.what);
	if (n->depth)
		return err_set(e, "a loop or branch of the nest is not closed");
	return 0;
}

static int check_buffer(const struct nest *n, const struct buffer *b, struct err *e)
{
	const int64_t row = b->swizzle.row;

	if ((b->kind == BUFFER_BLOCK && !n->block_threads) ||
	    (b->kind == BUFFER_WORK && n->block_threads))
		return err_set(e, "%s is memory of %s, of which the nest has none", b->name,
			       b->kind == BUFFER_BLOCK ? "a block" : "a team's thread");
	if (!row)
		return 0;
	if ((b->kind != BUFFER_BLOCK && b->kind != BUFFER_PACKED) || !n->block_threads ||
	    !swizzle_has_row(row * elem_size(b->elem)) ||
	    b->swizzle.unit * elem_size(b->elem) != SWIZZLE_UNIT ||
	    b->size % (SWIZZLE_ROWS * row) != 0)
		return err_set(e, "%s has no eight rows of 32, 64 or 128 bytes to swizzle",
			       b->name);
	return 0;
}

int check_nest(const struct nest *n, struct err *e)
{
	struct check c = {.n = n, .e = e};

	for (int i = 0; i < n->nbuffers; i++)
		if (check_buffer(n, &n->buffer[i], e) < 0)
			return -1;
	return check_room(n, e) < 0 ? -1 : check_body(&c, n->body);
}
