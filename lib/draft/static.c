#include "lib/draft/static.h"

#include <assert.h>
#include <string.h>

#include "lib/draft/occupancy.h"
#include "lib/nest/mma.h"

static const int64_t WORK_MAX = (int64_t)1 << 30; /* bytes of scratch memory, all threads */
enum { WORK_TIMES = 8 };			  /* of the operands, on top of a cache a thread */

/* Where a register array lives: within one step of an unrolled loop, or everywhere. */
struct use {
	const struct node *scope; /* the loop in which it was written last */
	int depth;		  /* of that loop */
	int everywhere;
	int64_t steps; /* of the unrolled loops that its index follows there */
};

struct walk {
	const struct nest *n;
	int depth, sites; /* loads and stores of memory, but for near buffers */
	const struct node *path[NEST_DEPTH];
	struct use use[NEST_BUFFERS];
	int64_t first[NEST_VARS]; /* of the unrolled loops around it, the first turn */
};

static int follows(const struct affine *index, int var)
{
	for (int i = 0; i < index->n; i++)
		if (index->t[i].var == var)
			return 1;
	return 0;
}

static void written(struct walk *w, const struct node *store)
{
	struct use *u = &w->use[store->buffer];

	u->scope = NULL;
	u->steps = 1;
	for (int d = 0; d < w->depth; d++) {
		const struct node *s = w->path[d];

		if (s->kind != NODE_FOR || s->loop != LOOP_UNROLL || !follows(&store->a, s->var))
			continue;
		u->steps *= af_eval(w->n, &s->b, w->first) - w->first[s->var];
		if (!u->scope) {
			u->scope = s;
			u->depth = d;
		}
	}
}

static void read_in(struct walk *w, const struct expr *x)
{
	if (!x)
		return;
	if (x->kind == EXPR_LOAD && w->n->buffer[x->buffer].kind == BUFFER_REG) {
		struct use *u = &w->use[x->buffer];

		u->everywhere |= !u->scope || w->depth <= u->depth || w->path[u->depth] != u->scope;
	} else {
		w->sites += x->kind == EXPR_LOAD && !w->n->buffer[x->buffer].near ? ex_loads(x) : 0;
	}
	read_in(w, x->a);
	read_in(w, x->b);
	read_in(w, x->c);
}

static void walk_body(struct walk *w, const struct node *s)
{
	for (; s; s = s->next) {
		if (s->kind == NODE_STORE) {
			read_in(w, s->value);
			if (w->n->buffer[s->buffer].kind == BUFFER_REG)
				written(w, s);
			else
				w->sites += !w->n->buffer[s->buffer].near;
		}
		if (s->kind != NODE_FOR && s->kind != NODE_IF)
			continue;
		assert(w->depth < NEST_DEPTH);
		w->path[w->depth++] = s;
		if (s->kind == NODE_FOR && s->loop == LOOP_UNROLL)
			w->first[s->var] = af_eval(w->n, &s->a, w->first);
		walk_body(w, s->body);
		walk_body(w, s->orelse);
		w->depth--;
	}
}

/* Counts the arrays that live everywhere in their scopes, as many as live at the same time. */
static int64_t most_alive(const struct walk *w)
{
	const struct node *scope[NEST_BUFFERS];
	int64_t most = 0;

	nest_register_scopes(w->n, scope);
	for (int i = 0; i < w->n->nbuffers; i++) {
		int64_t sum = 0;

		if (!w->use[i].everywhere)
			continue;
		for (int j = 0; j < w->n->nbuffers; j++)
			if (w->use[j].everywhere && w->n->buffer[j].lanes > 1 &&
			    nest_holds(scope[j], scope[i]))
				sum += w->n->buffer[j].size;
		most = sum > most ? sum : most;
	}
	return most;
}

static void look_over(struct walk *w, const struct nest *n)
{
	w->n = n;
	w->depth = w->sites = 0;
	memset(w->use, 0, sizeof w->use[0] * (size_t)n->nbuffers);
	walk_body(w, n->body);
}

static int64_t registers_of(const struct walk *w, const struct limits *m)
{
	const struct nest *n = w->n;
	int local = 0;

	for (int i = 0; i < n->nbuffers; i++) {
		const struct use *u = &w->use[i];

		if (n->buffer[i].kind != BUFFER_REG || n->buffer[i].lanes == 1 ||
		    n->buffer[i].tile_rows || !u->steps)
			continue;
		if (!u->everywhere && n->buffer[i].size / u->steps > local)
			local = (int)(n->buffer[i].size / u->steps);
	}
	return most_alive(w) + (m->folds ? 0 : local);
}

static int check_lanes(const struct nest *n, const struct limits *m, struct err *why)
{
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_REG && !n->buffer[i].tile_rows &&
		    n->buffer[i].lanes > m->lanes)
			return err_set(why, "vectors of %d lanes are unsupported: %s has %d",
				       n->buffer[i].lanes, m->isa, m->lanes);
	return 0;
}

static int check_work(const struct nest *n, const struct limits *m, struct err *why)
{
	int64_t operands = 0, work = 0, threads = m->threads > 0 ? m->threads : 1, allowed;

	for (int i = 0; i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];

		if (b->kind == BUFFER_ARG || b->kind == BUFFER_PACKED)
			operands += buffer_bytes(b);
		else if (b->kind == BUFFER_WORK)
			work += buffer_bytes(b) * threads;
		else if (b->kind == BUFFER_TEAM)
			work += buffer_bytes(b);
	}
	allowed = operands * WORK_TIMES + m->l2 * threads;
	if (allowed > WORK_MAX)
		allowed = WORK_MAX;
	if (work > allowed)
		return err_set(why, "the workspace of %lld bytes is out of proportion",
			       (long long)work);
	return 0;
}

/* Registers of a processor, for the threads of its blocks (NVIDIA, "CUDA C++ Programming Guide",
 * "Compute capabilities"). */
static const int64_t PROCESSOR_REGISTERS = 65536;

static int check_block(const struct nest *n, const struct limits *m, struct err *why)
{
	int64_t bytes = nest_block_bytes(n), registers = occupancy_registers(n);
	int64_t blocks = n->resident ? n->resident : 1;

	if (mma_needs(n) & ~m->mma)
		return err_set(why, "%s has no such tensor cores", m->isa);
	if (bytes > m->l1d)
		return err_set(why, "a block needs %lld bytes of memory, of %lld", (long long)bytes,
			       (long long)m->l1d);
	if (registers > m->vregs)
		return err_set(why, "a thread needs about %lld registers, of %d: spills",
			       (long long)registers, m->vregs);
	if (registers * n->block_threads * blocks > PROCESSOR_REGISTERS)
		return err_set(why, "%lld blocks need about %lld registers, of %lld",
			       (long long)blocks,
			       (long long)(registers * n->block_threads * blocks),
			       (long long)PROCESSOR_REGISTERS);
	return 0;
}

int static_check(const struct nest *n, const struct limits *m, int64_t *registers, struct err *why)
{
	struct walk w;

	*registers = 0;
	if (check_lanes(n, m, why) || check_work(n, m, why))
		return -1;
	look_over(&w, n);
	if (w.sites > NEST_SITES)
		return err_set(
			why,
			"it has %d loads and stores of memory, more than the %d that are modelled",
			w.sites, NEST_SITES);
	if (n->block_threads)
		return check_block(n, m, why);
	*registers = registers_of(&w, m);
	if (*registers > m->vregs)
		return err_set(why, "the innermost loop needs %lld vector registers of %d: spills",
			       (long long)*registers, m->vregs);
	return 0;
}
