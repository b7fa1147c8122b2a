#include "lib/nest/interp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nest/check.h"
#include "lib/nest/operands.h"

enum { LANES = 16 };

struct value {
	double v[LANES];
};

/* The last accesses to an element, by turn_of(); 0: none. */
struct touch {
	int64_t writer, reader;
	int64_t other_reader; /* before that, another thread */
};

/* What the threads have in common. */
struct team {
	const struct nest *n;
	void *const *buffers;
	int threads, phase; /* phases from 0 */
	struct err *e;
	const struct node *scope[NEST_BUFFERS];
	struct touch *touch[NEST_BUFFERS];    /* ARG, TEAM: if there is more than one thread */
	unsigned char *written[NEST_BUFFERS]; /* WORK (all threads'), TEAM */
};

/* A thread of the team; or, of a nest with blocks, what executes some of the blocks, one after the
 * other, and in each of them its threads. */
struct interp {
	struct team *team;
	const struct nest *n;
	int thread;
	int inner;		   /* of a block's threads, the one at work, from 0 */
	int in_threads;		   /* a loop over them is open */
	int64_t step;		   /* how many such loops have ended */
	int64_t first_step;	   /* of this block */
	double *reg[NEST_BUFFERS]; /* register arrays, lanes apart; of a block's threads in turn */
	unsigned char *written[NEST_BUFFERS]; /* registers, and memory of a block */
	float *block[NEST_BUFFERS];	      /* memory of a block */
	struct touch *touch[NEST_BUFFERS];    /* of it */
	int64_t offset[NEST_BUFFERS];	      /* of views */
	int64_t var[NEST_VARS];
	struct err *e;
};

/* Where an access goes. */
struct place {
	const struct buffer *buffer;
	int64_t index;
	float *f;  /* memory */
	double *r; /* a register */
	unsigned char *written;
	struct touch *touch;
};

static int64_t eval(const struct interp *s, const struct affine *a)
{
	return af_eval(s->n, a, s->var);
}

static int valid_lanes(const struct interp *s, const struct affine *valid, int lanes)
{
	int64_t v = valid ? eval(s, valid) : lanes;

	return v > lanes ? lanes : v < 0 ? 0 : (int)v;
}

/* Finds the memory of buffer[index .. index + lanes), or the register. */
static int locate(struct interp *s, int buffer, int64_t index, int lanes, struct place *p)
{
	const struct buffer *b = &s->n->buffer[buffer];
	int64_t before = 0; /* elements of the threads before this one */

	if (b->kind == BUFFER_VIEW) {
		index += s->offset[buffer];
		buffer = nest_base(s->n, buffer);
		b = &s->n->buffer[buffer];
	}
	*p = (struct place){.buffer = b, .index = index};
	if (b->kind == BUFFER_REG) {
		if (index < 0 || index >= b->size || lanes != b->lanes)
			return err_set(s->e, "register %s[%lld] with %d lanes is outside %lld x %d",
				       b->name, (long long)index, lanes, (long long)b->size,
				       b->lanes);
		index += s->inner * b->size;
		p->r = s->reg[buffer] + index * b->lanes;
		p->written = s->written[buffer] + index;
		return 0;
	}
	if (lanes && (index < 0 || index + lanes > b->size))
		return err_set(s->e, "access %s[%lld .. %lld] is outside its %lld elements",
			       b->name, (long long)index, (long long)index + lanes - 1,
			       (long long)b->size);
	if (b->kind == BUFFER_BLOCK) {
		p->f = s->block[buffer] + index;
		p->written = s->written[buffer] + index;
		p->touch = s->touch[buffer] + index;
		return 0;
	}
	if (b->kind == BUFFER_WORK)
		before = b->size * s->thread;
	p->f = (float *)s->team->buffers[b->slot] + before + index;
	if (s->team->written[buffer])
		p->written = s->team->written[buffer] + before + index;
	if (s->team->touch[buffer])
		p->touch = s->team->touch[buffer] + index;
	return 0;
}

/* ---- accesses by threads ---- */

/* A number of this thread at this point: its phase and place in the team, the step of its block
 * (how many loops over threads have ended), and the thread of the block. */
enum { STEP_BITS = 32, INNER_BITS = 10 };
_Static_assert(NEST_BLOCK_THREADS <= 1 << INNER_BITS, "room for a block's threads");

static int64_t turn_of(const struct interp *s)
{
	int64_t of_team = s->team->phase * s->team->threads + s->thread;

	return ((of_team << STEP_BITS | s->step) << INNER_BITS | s->inner) + 1;
}

static int64_t step_of(int64_t turn)
{
	return (turn - 1) >> INNER_BITS;
}

static int64_t of_team(int64_t turn)
{
	return step_of(turn) >> STEP_BITS;
}

static int is_of_other_block(const struct interp *s, int64_t turn)
{
	return (step_of(turn) & (((int64_t)1 << STEP_BITS) - 1)) < s->first_step;
}

/* Was the turn in this phase, but in another block or of another thread of the team? Then nothing
 * orders it before or behind this thread. */
static int is_far(const struct interp *s, int64_t turn)
{
	if (!turn || of_team(turn) < s->team->phase * s->team->threads)
		return 0;
	return of_team(turn) != of_team(turn_of(s)) || is_of_other_block(s, turn);
}

/* The turn is one of this phase, but not this thread's; nor is it an earlier step of this block. */
static int is_other(const struct interp *s, int64_t turn)
{
	int64_t own = turn_of(s);

	if (is_far(s, turn))
		return 1;
	return turn && step_of(turn) == step_of(own) && turn != own;
}

/* "thread 1", or "thread 1 of this block", of the one that had this turn. */
static void name_turn(const struct interp *s, int64_t turn, char *out, size_t size)
{
	int inner = (int)((turn - 1) & ((1 << INNER_BITS) - 1));

	if (!s->n->block_threads)
		snprintf(out, size, "thread %d", (int)(of_team(turn) % s->team->threads));
	else if (of_team(turn) != of_team(turn_of(s)) || is_of_other_block(s, turn))
		snprintf(out, size, "another block");
	else
		snprintf(out, size, "thread %d of this block", inner);
}

static int race(struct interp *s, const struct place *p, int lane, int64_t other, const char *what)
{
	char us[40], them[40];

	name_turn(s, turn_of(s), us, sizeof us);
	name_turn(s, other, them, sizeof them);
	return err_set(s->e, "a race in phase %d: %s %s %s[%lld], which %s %s", s->team->phase + 1,
		       us, what, p->buffer->name, (long long)p->index + lane, them,
		       other == p->touch[lane].writer ? "writes" : "reads");
}

static int note_read(struct interp *s, const struct place *p, int lanes)
{
	for (int i = 0; i < lanes && p->written; i++)
		if (!p->written[p->r ? 0 : i])
			return err_set(s->e, "%s[%lld] is read unwritten", p->buffer->name,
				       (long long)p->index + (p->r ? 0 : i));
	for (int i = 0; i < lanes && p->touch; i++) {
		struct touch *t = &p->touch[i];

		if (is_other(s, t->writer))
			return race(s, p, i, t->writer, "reads");
		/* A reader of another block conflicts until the phase ends: remember that one. */
		if (is_other(s, t->reader) && (is_far(s, t->reader) || !is_far(s, t->other_reader)))
			t->other_reader = t->reader;
		t->reader = turn_of(s);
	}
	return 0;
}

static int note_write(struct interp *s, const struct place *p, int lanes)
{
	for (int i = 0; i < lanes && p->written; i++)
		p->written[p->r ? 0 : i] = 1;
	for (int i = 0; i < lanes && p->touch; i++) {
		struct touch *t = &p->touch[i];

		if (is_other(s, t->writer))
			return race(s, p, i, t->writer, "writes");
		if (is_other(s, t->reader))
			return race(s, p, i, t->reader, "writes");
		if (is_other(s, t->other_reader))
			return race(s, p, i, t->other_reader, "writes");
		t->writer = turn_of(s);
	}
	return 0;
}

/* ---- expressions and stores ---- */

/* Blocks read and write whole vectors at multiples of their lanes alone. */
static int check_aligned(const struct interp *s, const struct place *p, int lanes)
{
	if (!s->n->block_threads || p->r || lanes == 1 || p->index % lanes == 0)
		return 0;
	return err_set(s->e, "a vector of %d lanes stands at %s[%lld], which is no multiple", lanes,
		       p->buffer->name, (long long)p->index);
}

static int load(struct interp *s, const struct expr *x, struct value *out)
{
	int count = valid_lanes(s, x->valid, x->lanes);
	struct place p;

	if (locate(s, x->buffer, eval(s, &x->index), count, &p) < 0 ||
	    check_aligned(s, &p, count ? x->lanes : 1) < 0 || note_read(s, &p, count) < 0)
		return -1;
	for (int i = 0; i < x->lanes; i++)
		out->v[i] = i >= count ? 0 : p.r ? p.r[i] : (double)p.f[i];
	return 0;
}

static double apply(enum expr_kind kind, double a, double b, double c)
{
	switch (kind) {
	case EXPR_ADD:
		return a + b;
	case EXPR_SUB:
		return a - b;
	case EXPR_MUL:
		return a * b;
	case EXPR_MAX:
		return a > b ? a : b;
	case EXPR_MIN:
		return a < b ? a : b;
	case EXPR_FMA:
		return a * b + c;
	case EXPR_DIV:
		return a / b;
	case EXPR_SQRT:
		return sqrt(a);
	case EXPR_SCALE:
		return ldexp(a, (int)(b - 12582912)); /* 1.5 * 2^23 */
	case EXPR_EXP:
		return exp(a);
	case EXPR_ERFC:
		return erfc(a);
	default:
		return a;
	}
}

/* The lane of the first operand that lane i of the value comes from; behind these, of the second.
 */
static int lane_of(struct interp *s, const struct expr *x, int i)
{
	if (x->kind == EXPR_SPREAD)
		return ex_spread_from(x, eval(s, &x->index), i);
	if (x->kind == EXPR_EXCHANGE)
		return ex_exchange_from(x, i);
	if (x->kind == EXPR_PICK)
		return (int)eval(s, &x->index);
	return x->kind == EXPR_BCAST ? 0 : i;
}

static int expr(struct interp *s, const struct expr *x, struct value *out)
{
	struct value a, b = {{0}}, c = {{0}};

	if (x->kind == EXPR_LOAD)
		return load(s, x, out);
	if (x->kind == EXPR_CONST) {
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = x->value;
		return 0;
	}
	if (expr(s, x->a, &a) < 0 || (x->b && expr(s, x->b, &b) < 0) ||
	    (x->c && expr(s, x->c, &c) < 0))
		return -1;
	for (int i = 0; i < x->lanes; i++) {
		int from = lane_of(s, x, i);
		double v;

		if (from < 0 || from >= x->a->lanes + (x->kind == EXPR_EXCHANGE ? x->lanes : 0))
			return err_set(s->e, "lane %d of a vector of %d is taken", from,
				       x->a->lanes);
		v = from < x->a->lanes ? apply(x->kind, a.v[from], b.v[i], c.v[i])
				       : b.v[from - x->lanes];

		out->v[i] = x->elem == ELEM_F32 ? (double)(float)v : v;
	}
	return 0;
}

static int store(struct interp *s, const struct node *t)
{
	int lanes = t->value->lanes, count = valid_lanes(s, t->valid, lanes);
	struct value v;
	struct place p;

	if (expr(s, t->value, &v) < 0)
		return -1;
	if (locate(s, t->buffer, eval(s, &t->a), count, &p) < 0 ||
	    check_aligned(s, &p, count ? lanes : 1) < 0 || note_write(s, &p, count) < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		if (p.r)
			p.r[i] = v.v[i];
		else
			p.f[i] = (float)v.v[i];
	}
	return 0;
}

/* ---- nodes ---- */

static int run(struct interp *s, const struct node *t);

/* How many threads have registers of their own here. */
static int owners(const struct nest *n)
{
	return n->block_threads ? n->block_threads : 1;
}

/* The registers of the thread at work; or, outside of loops over threads, of all. */
static void forget(struct interp *s, int reg)
{
	const struct buffer *b = &s->n->buffer[reg];
	int64_t first = s->in_threads ? s->inner * b->size : 0;
	int64_t size = s->in_threads ? b->size : b->size * owners(s->n);

	memset(s->written[reg] + first, 0, (size_t)size);
	for (int64_t i = first * b->lanes; i < (first + size) * b->lanes; i++)
		s->reg[reg][i] = NAN;
}

/* The memory of a block holds nothing. */
static void forget_block(struct interp *s)
{
	for (int i = 0; i < s->n->nbuffers; i++) {
		size_t size = (size_t)s->n->buffer[i].size;

		if (!s->block[i])
			continue;
		memset(s->written[i], 0, size);
		memset(s->touch[i], 0, size * sizeof *s->touch[i]);
	}
}

/* The body of a loop or branch begins: registers that live in it hold nothing. */
static int run_body(struct interp *s, const struct node *t, const struct node *body)
{
	for (int i = 0; i < s->n->nbuffers; i++)
		if (s->reg[i] && s->team->scope[i] == t)
			forget(s, i);
	return run(s, body);
}

static int run_loop(struct interp *s, const struct node *t, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++) {
		s->var[t->var] = i;
		if (run_body(s, t, t->body) < 0)
			return -1;
	}
	return 0;
}

/* Parallel loops, nested directly in each other: the thread's stretch of their iterations. */
static int run_parallel(struct interp *s, const struct node *t)
{
	const struct node *loop[NEST_PARALLEL];
	int64_t lo[NEST_PARALLEL], turns[NEST_PARALLEL], work = 1;
	int n = 0;

	for (; t && t->kind == NODE_FOR && t->loop == LOOP_PARALLEL; t = t->body) {
		int64_t hi = eval(s, &t->b);

		loop[n] = t;
		lo[n] = eval(s, &t->a);
		turns[n] = hi > lo[n] ? hi - lo[n] : 0;
		work *= turns[n++];
	}
	for (int64_t i = work * s->thread / s->team->threads;
	     i < work * (s->thread + 1) / s->team->threads; i++) {
		int64_t rest = i;

		for (int k = n - 1; k >= 0; k--) {
			s->var[loop[k]->var] = lo[k] + rest % turns[k];
			rest /= turns[k];
		}
		forget_block(s);
		s->first_step = s->step;
		if (run_body(s, loop[n - 1], loop[n - 1]->body) < 0)
			return -1;
	}
	return 0;
}

/* A turn for each thread of a block; then they have waited for each other. */
static int run_threads(struct interp *s, const struct node *t)
{
	int rc = 0;

	s->in_threads = 1;
	for (s->inner = 0; rc == 0 && s->inner < s->n->block_threads; s->inner++) {
		s->var[t->var] = s->inner;
		rc = run_body(s, t, t->body);
	}
	s->in_threads = 0;
	s->inner = 0;
	s->step++;
	return rc;
}

static int run_for(struct interp *s, const struct node *t, int64_t from, int64_t to)
{
	if (t->loop == LOOP_PARALLEL)
		return run_parallel(s, t);
	return t->loop == LOOP_THREAD ? run_threads(s, t) : run_loop(s, t, from, to);
}

static int let(struct interp *s, const struct node *t, int64_t a, int64_t b)
{
	int divides = t->let == LET_DIV || t->let == LET_MOD;

	if (divides && a < 0)
		return err_set(s->e, "%s divides %lld, which is below 0", s->n->var[t->var].name,
			       (long long)a);
	s->var[t->var] = divides		      ? (t->let == LET_DIV ? a / b : a % b)
			 : t->let == LET_MIN && b < a ? b
						      : a;
	return 0;
}

static void view(struct interp *s, const struct node *t)
{
	int base = s->n->buffer[t->buffer].base;

	s->offset[t->buffer] = eval(s, &t->a);
	if (s->n->buffer[base].kind == BUFFER_VIEW)
		s->offset[t->buffer] += s->offset[base];
}

/* Up to a barrier or the end. */
static int run(struct interp *s, const struct node *t)
{
	for (; t && t->kind != NODE_SYNC; t = t->next) {
		int64_t a = eval(s, &t->a), b = eval(s, &t->b);
		int rc = 0;

		switch (t->kind) {
		case NODE_FOR:
			rc = run_for(s, t, a, b);
			break;
		case NODE_IF:
			rc = run_body(s, t, a < b ? t->body : t->orelse);
			break;
		case NODE_LET:
			rc = let(s, t, a, b);
			break;
		case NODE_VIEW:
			view(s, t);
			break;
		case NODE_STORE:
			rc = store(s, t);
			break;
		case NODE_PREFETCH:
		case NODE_SYNC:
			break;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- the team ---- */

static int run_phase(struct interp *s, const struct node *t)
{
	for (int i = 0; i < s->n->nbuffers; i++)
		if (s->reg[i])
			forget(s, i);
	return run(s, t);
}

static const struct node *next_phase(const struct node *t)
{
	while (t && t->kind != NODE_SYNC)
		t = t->next;
	return t ? t->next : NULL;
}

static int run_phases(struct team *team, struct interp *thread)
{
	const struct node *t = team->n->body;

	for (team->phase = 0; t; t = next_phase(t), team->phase++)
		for (int i = 0; i < team->threads; i++)
			if (run_phase(&thread[i], t) < 0)
				return -1;
	return 0;
}

static void open_team(struct team *team)
{
	const struct nest *n = team->n;

	nest_register_scopes(n, team->scope);
	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];
		int shared = b->kind == BUFFER_TEAM || (b->kind == BUFFER_ARG && b->written);

		if (b->kind == BUFFER_WORK || b->kind == BUFFER_TEAM)
			team->written[i] =
				xcalloc((size_t)operand_size(n, b->slot, team->threads), 1);
		if (shared && (team->threads > 1 || n->block_threads))
			team->touch[i] = xcalloc((size_t)b->size, sizeof(struct touch));
	}
}

static void close_team(struct team *team)
{
	for (int i = 0; i < team->n->nbuffers; i++) {
		free(team->written[i]);
		free(team->touch[i]);
	}
}

static void open_thread(struct interp *s, struct team *team, int thread)
{
	const struct nest *n = team->n;

	*s = (struct interp){.team = team, .n = n, .thread = thread, .e = team->e};
	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];
		size_t size = (size_t)b->size * (b->kind == BUFFER_REG ? (size_t)owners(n) : 1);

		if (b->kind != BUFFER_REG && b->kind != BUFFER_BLOCK)
			continue;
		s->written[i] = xcalloc(size, 1);
		if (b->kind == BUFFER_REG) {
			s->reg[i] = xcalloc(size * (size_t)b->lanes, sizeof(double));
		} else {
			s->block[i] = xcalloc(size, sizeof(float));
			s->touch[i] = xcalloc(size, sizeof(struct touch));
		}
	}
}

static void close_thread(struct interp *s)
{
	for (int i = 0; i < s->n->nbuffers; i++) {
		free(s->reg[i]);
		free(s->written[i]);
		free(s->block[i]);
		free(s->touch[i]);
	}
}

int interp_team(const struct nest *n, int threads, void *const *buffers, struct err *e)
{
	struct team team = {.n = n, .buffers = buffers, .threads = threads, .e = e};
	struct interp *thread;
	int rc;

	if (check_nest(n, e) < 0)
		return -1;
	thread = xcalloc((size_t)threads, sizeof *thread);
	open_team(&team);
	for (int i = 0; i < threads; i++)
		open_thread(&thread[i], &team, i);
	rc = run_phases(&team, thread);
	for (int i = 0; i < threads; i++)
		close_thread(&thread[i]);
	close_team(&team);
	free(thread);
	return rc;
}

int interp_run(const struct nest *n, void *const *buffers, struct err *e)
{
	return interp_team(n, 1, buffers, e);
}
