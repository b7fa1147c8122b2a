#include "lib/nest/interp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/nest/check.h"
#include "lib/nest/interp_access.h"
#include "lib/nest/interp_block.h"
#include "lib/nest/interp_tmul.h"
#include "lib/nest/operands.h"

enum { LANES = 16 };

struct value {
	double v[LANES];
};

/* ---- expressions and stores ---- */

/* Groups of memory's elements. */
static int load_groups(struct interp *s, const struct expr *x, struct value *out)
{
	const int size = elem_group(x->elem), elements = x->lanes * size;
	struct place p;

	if (access_locate(s, x->buffer, access_eval(s, &x->index), elements, &p) < 0 ||
	    access_read(s, &p, elements) < 0)
		return -1;
	for (int i = 0; i < x->lanes; i++)
		out->v[i] = elem_read_group(x->elem, p.buffer->elem,
					    (const char *)p.memory +
						    i * size * elem_size(p.buffer->elem));
	return 0;
}

/* Groups whose members lie apart. */
static int load_members(struct interp *s, const struct expr *x, struct value *out)
{
	const int count = access_valid(s, x->valid, x->lanes);
	uint32_t group[LANES] = {0};

	for (int m = x->members->from; m < x->members->to; m++) {
		const struct affine at = ex_member_at(x, m);
		struct place p;

		if (access_locate(s, x->buffer, access_eval(s, &at), count, &p) < 0 ||
		    access_read(s, &p, count) < 0)
			return -1;
		access_get(&p, count, out->v);
		for (int i = 0; i < count; i++)
			group[i] |= elem_group_of(x->elem, m, out->v[i]);
	}
	for (int i = 0; i < x->lanes; i++)
		out->v[i] = group[i];
	return 0;
}

static int load(struct interp *s, const struct expr *x, struct value *out)
{
	int count = access_valid(s, x->valid, x->lanes);
	struct place p;

	if (access_locate(s, x->buffer, access_eval(s, &x->index), count, &p) < 0 ||
	    access_aligned(s, &p, count ? x->lanes : 1) < 0 || access_read(s, &p, count) < 0)
		return -1;
	access_get(&p, count, out->v);
	for (int i = count; i < x->lanes; i++)
		out->v[i] = 0;
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
	case EXPR_NAN:
		return isnan(a) ? a : b;
	case EXPR_FMA:
		return a * b + c;
	case EXPR_LOW4:
		return (uint32_t)(int64_t)a & 0x0f0f0f0f;
	case EXPR_HIGH4:
		return (uint32_t)(int64_t)a >> 4 & 0x0f0f0f0f;
	case EXPR_DIV:
		return a / b;
	case EXPR_SQRT:
		return sqrt(a);
	case EXPR_POWER:
		return isnan(a) ? 1 : ldexp(1, (int)(a - 12583039)); /* 1.5 * 2^23 + 127 */
	case EXPR_EXP:
		return exp(a);
	case EXPR_ERFC:
		return erfc(a);
	case EXPR_ROUND:
		return nearbyint(a);
	default:
		return a;
	}
}

/* The lane of the first operand that lane i of the value comes from; behind these, of the second.
 */
static int lane_of(struct interp *s, const struct expr *x, int i)
{
	if (x->kind == EXPR_SPREAD)
		return ex_spread_from(x, access_eval(s, &x->index), i);
	if (x->kind == EXPR_EXCHANGE)
		return ex_exchange_from(x, i);
	if (x->kind == EXPR_BCAST)
		return i % x->a->lanes;
	return (int)access_eval(s, &x->index);
}

static int moves_lanes(const struct expr *x)
{
	return x->kind == EXPR_BCAST || x->kind == EXPR_SPREAD || x->kind == EXPR_EXCHANGE ||
	       x->kind == EXPR_PICK;
}

static int move_lanes(struct interp *s, const struct expr *x, const double *a, const double *b,
		      double *out)
{
	int lanes = x->a->lanes;

	for (int i = 0; i < x->lanes; i++) {
		int from = lane_of(s, x, i);

		if (from < 0 || from >= lanes + (x->kind == EXPR_EXCHANGE ? x->lanes : 0))
			return err_set(s->e, "lane %d of a vector of %d is taken", from, lanes);
		out[i] = from < lanes ? a[from] : b[from - x->lanes];
	}
	return 0;
}

static int expr(struct interp *s, const struct expr *x, struct value *out);

/* Most of the interpreter's time is spent here: no value is written but those of operands. */
static int operation(struct interp *s, const struct expr *x, struct value *out)
{
	static const struct value none;
	struct value values[3];
	const double *a = values[0].v, *b = x->b ? values[1].v : none.v,
		     *c = x->c ? values[2].v : none.v;

	if (expr(s, x->a, &values[0]) < 0 || (x->b && expr(s, x->b, &values[1]) < 0) ||
	    (x->c && expr(s, x->c, &values[2]) < 0))
		return -1;
	if (moves_lanes(x)) {
		if (move_lanes(s, x, a, b, out->v) < 0)
			return -1;
	} else if (x->kind == EXPR_DOT) {
		const enum elem types[] = {x->a->elem, x->b->elem};

		for (int i = 0; i < x->lanes && x->low; i++)
			if ((uint32_t)a[i] & 0xf0f0f0f0)
				return err_set(s->e, "a product of 4 bits has a value of more");
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = elem_dot(types, a[i], b[i], c[i]);
	} else if (x->kind == EXPR_TIMES) {
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = elem_times(x->elem, a[i], x->value);
	} else if (x->kind == EXPR_HALVES) {
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = ldexp(a[i], -(int)x->value);
	} else if (x->elem == ELEM_S16X2) {
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = elem_add_pairs(a[i], b[i], x->kind == EXPR_SUB);
	} else {
		for (int i = 0; i < x->lanes; i++)
			out->v[i] = apply(x->kind, a[i], b[i], c[i]);
	}
	for (int i = 0; i < x->lanes && x->elem == ELEM_S32; i++)
		out->v[i] = elem_wrap(out->v[i]);
	for (int i = 0; i < x->lanes && x->elem == ELEM_F32; i++)
		out->v[i] = (double)(float)out->v[i];
	return 0;
}

static int expr(struct interp *s, const struct expr *x, struct value *out)
{
	if (x->kind == EXPR_LOAD && elem_group(x->elem) > 1 &&
	    s->n->buffer[x->buffer].kind != BUFFER_REG)
		return x->members ? load_members(s, x, out) : load_groups(s, x, out);
	if (x->kind == EXPR_LOAD)
		return load(s, x, out);
	if (x->kind != EXPR_CONST)
		return operation(s, x, out);
	for (int i = 0; i < x->lanes; i++)
		out->v[i] = x->value;
	return 0;
}

/* Groups become their members. */
static int store_groups(struct interp *s, const struct node *t, const struct value *v)
{
	const int size = elem_group(t->value->elem), elements = t->value->lanes * size;
	struct place p;

	if (access_locate(s, t->buffer, access_eval(s, &t->a), elements, &p) < 0 ||
	    access_write(s, &p, elements) < 0)
		return -1;
	for (int i = 0; i < t->value->lanes; i++) {
		const uint32_t bits = (uint32_t)v->v[i];

		memcpy((char *)p.memory + i * sizeof bits, &bits, sizeof bits);
	}
	return 0;
}

static int store(struct interp *s, const struct node *t)
{
	int lanes = t->value->lanes, count = access_valid(s, t->valid, lanes);
	struct value v;
	struct place p;

	if (expr(s, t->value, &v) < 0)
		return -1;
	if (elem_group(t->value->elem) > 1 && s->n->buffer[t->buffer].kind != BUFFER_REG)
		return store_groups(s, t, &v);
	if (access_locate(s, t->buffer, access_eval(s, &t->a), count, &p) < 0 ||
	    access_aligned(s, &p, count ? lanes : 1) < 0 || access_write(s, &p, count) < 0)
		return -1;
	access_set(&p, count, v.v);
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
	copies_forget(s);
}

/* How many registers live in the body of this loop or branch. */
static int registers_of(const struct interp *s, const struct node *t)
{
	int count = 0;

	for (int i = 0; i < s->n->nbuffers; i++)
		count += s->reg[i] && s->team->scope[i] == t;
	return count;
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
	const int registers = registers_of(s, t);

	for (int64_t i = from; i < to; i++) {
		s->var[t->var] = i;
		if ((registers ? run_body(s, t, t->body) : run(s, t->body)) < 0)
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
		int64_t hi = access_eval(s, &t->b);

		loop[n] = t;
		lo[n] = access_eval(s, &t->a);
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
		if (rc == 0)
			rc = mma_end(s);
	}
	s->in_threads = 0;
	s->inner = 0;
	s->step++;
	return rc < 0 ? rc : copies_end_group(s, t);
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
	s->var[t->var] = nest_let_value(t->let, a, b);
	return 0;
}

static void view(struct interp *s, const struct node *t)
{
	int base = s->n->buffer[t->buffer].base;

	s->offset[t->buffer] = access_eval(s, &t->a);
	if (s->n->buffer[base].kind == BUFFER_VIEW)
		s->offset[t->buffer] += s->offset[base];
}

/* Up to a barrier or the end. */
static int run(struct interp *s, const struct node *t)
{
	for (; t && t->kind != NODE_SYNC; t = t->next) {
		int64_t a = access_eval(s, &t->a), b = access_eval(s, &t->b);
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
		case NODE_COPY:
			rc = copies_start(s, t);
			break;
		case NODE_WAIT:
			copies_wait(s, a);
			break;
		case NODE_MMA:
			rc = mma_run(s, t);
			break;
		case NODE_TMUL:
			rc = tmul_run(s, t);
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

static int run_phases(struct team *team, struct interp *thread)
{
	const struct node *t = team->n->body;

	for (team->phase = 0; t; t = nest_next_phase(t), team->phase++)
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
	for (int i = 0; i < n->nvars; i++)
		s->var[i] = n->var[i].value;
	copies_open(s);
	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];
		size_t size = (size_t)b->size * (b->kind == BUFFER_REG ? (size_t)owners(n) : 1);

		if (b->kind != BUFFER_REG && b->kind != BUFFER_BLOCK)
			continue;
		s->written[i] = xcalloc(size, 1);
		if (b->kind == BUFFER_REG) {
			s->reg[i] = xcalloc(size * (size_t)b->lanes, sizeof(double));
		} else {
			s->block[i] = xcalloc(size, (size_t)elem_size(b->elem));
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
	copies_close(s);
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
