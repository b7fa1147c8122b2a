#include "lib/draft/occupancy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"
#include "lib/draft/branch.h"
#include "lib/draft/reach.h"
#include "lib/nest/mma.h"

/* A processor of today's GPUs has these rates, near enough to rank (NVIDIA, "CUDA C++ Programming
 * Guide", "Compute capabilities", and "Hopper architecture in depth"). */
static const struct {
	double fmas;	     /* a cycle */
	double instructions; /* of threads a cycle */
	double block_bytes;  /* a cycle */
	double l2_bytes;     /* a cycle */
	double threads, registers, blocks;
	double latency; /* cycles of a wait for memory */
	double launch_s;
	int64_t addresses; /* registers beside those that the nest names (tests/blocks.c) */
} gpu = {
	.fmas = 128,
	.instructions = 128,
	.block_bytes = 128,
	.l2_bytes = 32,
	.threads = 2048,
	.registers = 65536,
	.blocks = 32,
	.latency = 600,
	.launch_s = 2.5e-6,
	.addresses = 22,
};

/* Cycles from an instruction of a warp to its next one, where it does not wait for memory. */
static const double WARP_ISSUE = 2;

/* The time of a barrier, in waits for memory. */
static const double BARRIER = 0.05;

/* What is counted of a block, and where the count stands. */
struct count {
	const struct nest *n;
	struct occupancy *o;
	int64_t value[NEST_VARS]; /* of variables: of the first turn of everything */
	/* These are kept of variables that differ from thread to thread. */
	char differs[NEST_VARS];
	int64_t (*thread)[WARP_THREADS];
	const struct affine *view[NEST_BUFFERS]; /* where views begin */
	struct branch branch;
	struct branch_share share; /* the threads that do what is counted now */
	struct reach reach;
	/* For each buffer, this counts what a block loads through the first cache. */
	struct {
		double bytes;
		struct runs at;
	} loaded[NEST_BUFFERS];
};

/* Where register arrays live (nest_register_scopes()). */
typedef const struct node *scopes[NEST_BUFFERS];

/* Registers of the arrays that live at this loop or branch. */
static int64_t alive(const struct nest *n, const scopes scope, const struct node *at)
{
	int64_t registers = 0;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_REG && nest_holds(scope[i], at))
			registers += n->buffer[i].size * n->buffer[i].lanes;
	return registers;
}

/* Counts the parts of both sides that a warp multiplies. */
static int64_t fragments(const struct mma *m)
{
	if (m->group)
		return 0;
	return (4 * m->down + 2 * m->across) * (m->kind == MMA_TF32X3 ? 2 : 1);
}

/* The most that products of tiles need, with what lives where they stand. */
static int64_t most_of_products(const struct nest *n, const scopes scope, const struct node *t)
{
	int64_t most = 0, here;

	for (; t; t = t->next) {
		here = t->kind == NODE_MMA ? alive(n, scope, t->outer) + fragments(t->mma)
					   : most_of_products(n, scope, t->body);
		most = here > most ? here : most;
	}
	return most;
}

int64_t occupancy_registers(const struct nest *n)
{
	scopes scope;
	int64_t most, here;

	nest_register_scopes(n, scope);
	most = most_of_products(n, scope, n->body);
	for (int i = 0; i < n->nbuffers; i++) {
		here = n->buffer[i].kind == BUFFER_REG ? alive(n, scope, scope[i]) : 0;
		most = here > most ? here : most;
	}
	return gpu.addresses + most;
}

static int64_t value(const struct count *c, const struct affine *a)
{
	return af_eval(c->n, a, c->value);
}

/* ---- threads of a warp ---- */

static int warp(const struct count *c)
{
	return c->n->block_threads < WARP_THREADS ? c->n->block_threads : WARP_THREADS;
}

/* Has the form a variable that is marked? */
static int has_marked(const struct affine *a, const char marked[NEST_VARS])
{
	for (int i = 0; i < a->n; i++)
		if (a->t[i].var >= 0 && marked[a->t[i].var])
			return 1;
	return 0;
}

static int differs(const struct count *c, const struct affine *a)
{
	return has_marked(a, c->differs);
}

/* Adds a form's value for each thread. */
static void add_threads(const struct count *c, const struct affine *a, int64_t at[WARP_THREADS])
{
	int64_t same = a->c;

	for (int i = 0; i < a->n; i++) {
		int sym = a->t[i].sym, var = a->t[i].var;
		int64_t k = a->t[i].coef * (sym >= 0 ? c->n->var[sym].value : 1);

		if (var >= 0 && c->differs[var])
			for (int t = 0; t < WARP_THREADS; t++)
				at[t] += k * c->thread[var][t];
		else if (var >= 0 && c->n->var[var].kind == VAR_SYMBOL)
			same += k * c->n->var[var].value;
		else
			same += var >= 0 ? k * c->value[var] : k;
	}
	for (int t = 0; t < WARP_THREADS; t++)
		at[t] += same;
}

static void set_thread(struct count *c, int var)
{
	c->differs[var] = 1;
	for (int t = 0; t < WARP_THREADS; t++)
		c->thread[var][t] = t;
}

static void count_warp(struct warp_count *sum, const struct warp_count *one, double times)
{
	sum->done += one->done * times;
	sum->least += one->least * times;
}

/* An access to memory, so often by all threads of the block. A warp's access takes the banks' time
 * whichever threads take part, and moves sectors for these. */
static void touch_warp(struct count *c, int buffer, const struct affine *index, int bytes, int way,
		       double times)
{
	const struct buffer *b = &c->n->buffer[nest_base(c->n, buffer)];
	int64_t at[WARP_THREADS] = {0};
	int threads = warp(c), size = elem_size(b->elem);
	struct warp_count one;

	add_threads(c, index, at);
	for (int v = buffer; c->n->buffer[v].kind == BUFFER_VIEW; v = c->n->buffer[v].base)
		if (c->view[v])
			add_threads(c, c->view[v], at);
	for (int t = 0; t < threads && b->swizzle.row; t++)
		at[t] = swizzle_place(&b->swizzle, at[t]);
	if (b->kind == BUFFER_BLOCK) {
		one = warp_banks(at, threads, bytes, size);
		count_warp(&c->o->banks[way], &one, times / threads * c->share.warps);
	} else {
		one = warp_sectors(at, threads, bytes, size);
		count_warp(&c->o->sectors[way], &one, times / threads * c->share.threads);
	}
}

/* ---- loads ---- */

/* Notes which elements the block's threads load. */
static void note_load(struct count *c, int buffer, const struct affine *index, int lanes,
		      double times)
{
	const int base = nest_base(c->n, buffer);
	struct interval from = {0, 0};

	for (int v = buffer; c->n->buffer[v].kind == BUFFER_VIEW; v = c->n->buffer[v].base)
		if (c->view[v]) {
			const struct interval view = reach_of(&c->reach, c->n, c->view[v]);

			from.low += view.low;
			from.high += view.high;
		}
	reach_add(&c->reach, c->n, c->differs, index, from, lanes, &c->loaded[base].at);
	c->loaded[base].bytes +=
		times * c->share.threads * lanes * elem_size(c->n->buffer[base].elem);
}

/* Bytes of a buffer that the block's loads take from the second cache, if each is taken once. */
static double once(const struct count *c, int buffer)
{
	const struct buffer *b = &c->n->buffer[buffer];
	const double elements = (double)runs_elements(&c->loaded[buffer].at);

	return fmin(c->loaded[buffer].bytes, fmin(elements, (double)b->size) * elem_size(b->elem));
}

/* ---- counting ---- */

/* All is counted `times`, as if all threads did it. Of this the share of warps that do it counts
 * for the time of instructions, which a warp spends even for one of its threads; and that of
 * threads for bytes. */

/* Counts lanes that are read or written, so often. */
static void touch(struct count *c, int buffer, const struct affine *index, int lanes, int way,
		  double times)
{
	const struct buffer *b = &c->n->buffer[nest_base(c->n, buffer)];
	int bytes = lanes * elem_size(b->elem);

	if (b->kind == BUFFER_REG)
		return;
	c->o->instructions += times * c->share.warps;
	c->o->accesses += times * c->share.warps;
	touch_warp(c, buffer, index, bytes, way, times);
	if (b->kind == BUFFER_BLOCK)
		c->o->block_bytes += times * c->share.threads * bytes;
	else
		c->o->global_bytes += times * c->share.threads * bytes;
}

static void load(struct count *c, const struct expr *x, double times)
{
	const enum buffer_kind kind = c->n->buffer[nest_base(c->n, x->buffer)].kind;

	touch(c, x->buffer, &x->index, x->lanes, OCCUPANCY_READ, times);
	if (kind != BUFFER_REG && kind != BUFFER_BLOCK)
		note_load(c, x->buffer, &x->index, x->lanes, times);
}

static void count_expr(struct count *c, const struct expr *x, double times)
{
	if (!x)
		return;
	count_expr(c, x->a, times);
	count_expr(c, x->b, times);
	count_expr(c, x->c, times);
	if (x->kind == EXPR_LOAD)
		load(c, x, times);
	if (x->kind == EXPR_LOAD || x->kind == EXPR_CONST || x->kind == EXPR_BCAST ||
	    x->kind == EXPR_SPREAD || x->kind == EXPR_PICK)
		return;
	c->o->instructions += times * c->share.warps * x->lanes;
	if (x->kind == EXPR_FMA)
		c->o->fmas += times * c->share.warps * x->lanes;
}

/* Multiply-adds of a processor's tensor cores in a cycle (NVIDIA, "A100 Tensor Core GPU
 * architecture"), and what is done with each 32 bits of a side once they are loaded. */
static const struct {
	double fmas, products, roundings;
} mma_rates[MMA_KINDS] = {
	[MMA_TF32X3] = {512, 3, 3}, [MMA_TF32] = {512, 1, 1}, [MMA_BF16] = {1024, 1, 0},
	[MMA_F16] = {1024, 1, 0},   [MMA_S8] = {2048, 1, 0},  [MMA_U8] = {2048, 1, 0},
};
static const double GROUP_RATE = 1.6; /* of groups of warps, to warps by themselves */

/* A thread's share of a warp's product of tiles. A matrix of 8 by 4 words is an instruction's
 * fourth. Its rows lie in different banks, however a schedule lets them lie (tests/blocks.c checks
 * that), so no conflicts are counted. */
static void count_mma(struct count *c, const struct mma *m, double times)
{
	const double rate = mma_rates[m->kind].fmas * (m->group ? GROUP_RATE : 1);
	const double right = 2.0 * m->across * (m->group ? (double)m->down / MMA_GROUP : 1);
	const double words = (4.0 * m->down + right) * m->steps * times; /* of the thread */
	const double steps = mma_rates[m->kind].products * m->down * m->across * m->steps * times;
	const double issues = m->group ? steps / m->across : steps;
	const double fmas = MMA_ROWS * MMA_COLUMNS * mma_depth(m->kind);

	c->o->block_bytes += 4 * words;
	c->o->mma_fmas += steps * fmas / mma_rates[m->kind].products / MMA_WARP;
	c->o->mma_cycles += steps * fmas / rate / MMA_WARP;
	c->o->mma_issues += issues;
	c->o->accesses += m->group ? 0 : words / 4;
	c->o->instructions +=
		issues + (m->group ? 0 : words / 4 + words * mma_rates[m->kind].roundings);
}

static int reads_memory(const struct nest *n, const struct expr *x)
{
	if (!x)
		return 0;
	if (x->kind == EXPR_LOAD) {
		enum buffer_kind kind = n->buffer[nest_base(n, x->buffer)].kind;

		return kind != BUFFER_REG && kind != BUFFER_BLOCK;
	}
	return reads_memory(n, x->a) || reads_memory(n, x->b) || reads_memory(n, x->c);
}

static int is_late(const struct node *t)
{
	for (; t; t = t->next)
		if ((t->kind == NODE_MMA && t->mma->late) || is_late(t->body) || is_late(t->orelse))
			return 1;
	return 0;
}

static double latency_of(const struct count *c, const struct node *t);

/* The turns of an unrolled loop wait together, as those of a serial loop do that the compiler
 * unrolls. */
static double latency_of_loop(const struct count *c, const struct node *t)
{
	const double turns = (double)(value(c, &t->b) - value(c, &t->a));
	const double unrolled = t->loop == LOOP_SERIAL && t->unroll > 0 ? t->unroll : turns;

	return latency_of(c, t->body) * fmax(1, ceil(turns / fmax(1, unrolled)));
}

/* How often a loop over threads waits for memory: once where it reads there, and in each turn of a
 * loop that it has. A wait for copies is shared by the groups that may stay under way, and this
 * one, and by a late product, which goes on meanwhile. A barrier alone is short. */
static double latency_of(const struct count *c, const struct node *t)
{
	double most = BARRIER, here;

	for (; t; t = t->next) {
		if (t->kind == NODE_WAIT)
			here = 1 / (double)(t->a.c + 1 + is_late(c->n->body));
		else if (t->kind == NODE_STORE)
			here = reads_memory(c->n, t->value) ? 1 : BARRIER;
		else if (t->kind == NODE_FOR)
			here = latency_of_loop(c, t);
		else
			here = fmax(t->body ? latency_of(c, t->body) : 0,
				    t->orelse ? latency_of(c, t->orelse) : 0);
		most = fmax(most, here);
	}
	return most;
}

static void count_copy(struct count *c, const struct node *t, double times)
{
	const double bytes = t->lanes * elem_size(c->n->buffer[t->buffer].elem);

	c->o->copied_bytes += times * c->share.threads * bytes;
	touch(c, t->from, &t->b, t->lanes, OCCUPANCY_READ, times);
	touch(c, t->buffer, &t->a, t->lanes, OCCUPANCY_WRITE, times);
}

/* One thread starts it, and nothing is wasted. The branches around it are the same for all threads.
 */
static void count_bulk(struct count *c, const struct node *t, double times)
{
	const double turns = times / c->n->block_threads;
	const double bytes = turns * t->lanes * elem_size(c->n->buffer[t->buffer].elem);
	const struct warp_count banks = {bytes / WARP_BANKS_BYTES, bytes / WARP_BANKS_BYTES};
	const struct warp_count sectors = {bytes / WARP_SECTOR_BYTES, bytes / WARP_SECTOR_BYTES};

	c->o->copied_bytes += bytes;
	c->o->global_bytes += bytes;
	c->o->block_bytes += bytes;
	c->o->instructions += turns * warp(c);
	c->o->accesses += turns;
	count_warp(&c->o->banks[OCCUPANCY_WRITE], &banks, 1);
	count_warp(&c->o->sectors[OCCUPANCY_READ], &sectors, 1);
}

static void count_nodes(struct count *c, const struct node *t, double times);

/* Does a loop among these have bounds that follow a marked variable? Marks what follows one. */
static int bounds_follow(const struct node *t, char marked[NEST_VARS])
{
	for (; t; t = t->next) {
		const int follows = has_marked(&t->a, marked) || has_marked(&t->b, marked);

		if (t->kind == NODE_FOR && follows)
			return 1;
		if (t->kind == NODE_LET)
			marked[t->var] = (char)follows;
		if (bounds_follow(t->body, marked) || bounds_follow(t->orelse, marked))
			return 1;
	}
	return 0;
}

/* Counts the turns of a loop in which other loops differ in length: one by one, or, where there are
 * many, some that are evenly spread. */
static void count_turns(struct count *c, const struct node *t, int64_t from, int64_t turns,
			double times)
{
	enum { MOST = 16 };
	const int64_t counted = turns < MOST ? turns : MOST;

	for (int64_t i = 0; i < counted; i++) {
		c->value[t->var] = from + i * turns / counted;
		branch_turn(&c->branch, t, i * turns / counted);
		count_nodes(c, t->body, times * (double)turns / (double)counted);
	}
}

static int is_uneven(const struct node *t)
{
	char marked[NEST_VARS] = {0};

	marked[t->var] = 1;
	return t->loop == LOOP_SERIAL && bounds_follow(t->body, marked);
}

static void count_for(struct count *c, const struct node *t, double times)
{
	int64_t from = value(c, &t->a), turns = value(c, &t->b) - from;

	c->value[t->var] = from;
	c->differs[t->var] = 0;
	if (turns <= 0)
		return;
	if (t->loop != LOOP_PARALLEL)
		reach_set(&c->reach, t->var, reach_of(&c->reach, c->n, &t->a).low,
			  reach_of(&c->reach, c->n, &t->b).high - 1);
	else
		reach_set(&c->reach, t->var, from, from);
	branch_for(&c->branch, t);
	if (t->loop == LOOP_THREAD) {
		c->o->waits += times * c->share.warps;
		c->o->latencies += times * c->share.warps * latency_of(c, t->body);
		set_thread(c, t->var);
	}
	if (t->loop == LOOP_PARALLEL) {
		c->o->blocks *= (double)turns;
		turns = 1;
	}
	if (t->loop == LOOP_SERIAL) /* counts, compares, jumps */
		c->o->instructions += times * c->share.warps * (double)turns * 2 /
				      (t->unroll > 1 ? t->unroll : 1);
	if (is_uneven(t))
		count_turns(c, t, from, turns, times);
	else
		count_nodes(c, t->body, times * (double)turns);
}

static void let(struct count *c, const struct node *t)
{
	int64_t a[WARP_THREADS] = {0}, b[WARP_THREADS] = {0};

	c->value[t->var] = nest_let_value(t->let, value(c, &t->a), value(c, &t->b));
	c->differs[t->var] = (char)(differs(c, &t->a) || differs(c, &t->b));
	if (!c->differs[t->var])
		return;
	add_threads(c, &t->a, a);
	add_threads(c, &t->b, b);
	for (int i = 0; i < WARP_THREADS; i++)
		c->thread[t->var][i] = nest_let_value(t->let, a[i], b[i]);
}

/* What a branch does, or does otherwise: as far as its condition is known. */
static void count_branch(struct count *c, const struct node *t, const struct node *body,
			 int otherwise, double times)
{
	const struct branch_share before = c->share;
	struct branch_mask left;

	if (!body)
		return;
	left = branch_enter(&c->branch, t, otherwise);
	c->share = branch_share(&c->branch);
	if (c->share.warps > 0)
		count_nodes(c, body, times);
	branch_leave(&c->branch, &left);
	c->share = before;
}

/* Integers are left to the compiler, which computes them outside of loops. */
static void count_nodes(struct count *c, const struct node *t, double times)
{
	for (; t && t->kind != NODE_SYNC; t = t->next) {
		switch (t->kind) {
		case NODE_FOR:
			count_for(c, t, times);
			break;
		case NODE_IF:
			count_branch(c, t, t->body, 0, times);
			count_branch(c, t, t->orelse, 1, times);
			break;
		case NODE_LET:
			let(c, t);
			reach_let(&c->reach, c->n, t);
			branch_let(&c->branch, t);
			break;
		case NODE_STORE:
			count_expr(c, t->value, times);
			touch(c, t->buffer, &t->a, t->value->lanes, OCCUPANCY_WRITE, times);
			break;
		case NODE_COPY:
			if (nest_is_bulk(c->n, t))
				count_bulk(c, t, times * c->share.warps);
			else
				count_copy(c, t, times);
			break;
		case NODE_MMA:
			count_mma(c, t->mma, times * c->share.warps);
			break;
		case NODE_VIEW:
			c->view[t->buffer] = &t->a;
			break;
		case NODE_WAIT:
		case NODE_PREFETCH:
		case NODE_SYNC:
		case NODE_TMUL: /* processors alone have these */
			break;
		}
	}
}

/* A phase that does not touch a block's memory has none. */
static double memory_of(const struct nest *n, const struct occupancy *o)
{
	return o->block_bytes > 0 ? (double)nest_block_bytes(n) : 0;
}

/* Blocks that a processor holds at a time. */
static int together(const struct nest *n, const struct limits *m, const struct occupancy *o)
{
	double threads = n->block_threads, memory = memory_of(n, o);
	double most = fmin(gpu.blocks, floor(gpu.threads / threads));

	most = fmin(most, floor(gpu.registers / (threads * (double)occupancy_registers(n))));
	if (memory > 0)
		most = fmin(most, floor((double)m->l1d / memory));
	return most < 1 ? 1 : (int)most;
}

/* Shares of a processor that the blocks use that it holds. */
static void use(const struct nest *n, const struct limits *m, struct occupancy *o)
{
	double threads = (double)o->together * n->block_threads;

	o->threads_used = threads / gpu.threads;
	o->registers_used = threads * (double)occupancy_registers(n) / gpu.registers;
	o->memory_used = (double)o->together * memory_of(n, o) / (double)m->l1d;
}

/* The first cache shares its memory with the blocks'. Where what they load does not stay there,
 * each load goes to the second one. */
static double l2_bytes(const struct count *c, const struct limits *m, double held)
{
	const struct occupancy *o = c->o;
	double most = 0, least = 0;

	for (int i = 0; i < c->n->nbuffers; i++) {
		most += c->loaded[i].bytes;
		least += c->loaded[i].bytes > 0 ? once(c, i) : 0;
	}
	if ((least + memory_of(c->n, o)) * held > (double)m->l1d)
		least = most;
	return o->global_bytes - most + least;
}

static void finish(const struct count *c, const struct limits *m)
{
	const struct nest *n = c->n;
	struct occupancy *o = c->o;
	double hz = m->hz > 0 ? m->hz : 1e9, processors = m->threads > 0 ? m->threads : 1;
	double each, alone, held, cycles, turns;

	o->together = together(n, m, o);
	use(n, m, o);
	held = fmin(o->together, ceil(o->blocks / processors));
	o->waves = ceil(o->blocks / (processors * held));
	o->busy = o->blocks / (o->waves * processors * held);
	turns = o->waves * held / hz;
	o->arithmetic_s = turns * fmax(o->fmas / gpu.fmas, o->mma_cycles);
	o->issue_s = turns * o->instructions / gpu.instructions;
	o->block_s = turns * o->block_bytes / gpu.block_bytes;
	o->waiting_s = o->waves * o->latencies * gpu.latency / hz;
	o->l2_bytes = l2_bytes(c, m, held);
	o->l2_s = o->l2_bytes * o->blocks / (processors * gpu.l2_bytes) / hz;
	o->launch_s = gpu.launch_s;
	each = fmax(fmax(o->fmas / gpu.fmas, o->mma_cycles),
		    fmax(o->instructions / gpu.instructions,
			 (o->block_bytes + o->global_bytes) / gpu.block_bytes));
	alone = fmax(each, o->instructions / n->block_threads * WARP_ISSUE);
	cycles = o->waves * fmax(each * held, alone + o->latencies * gpu.latency);
	o->seconds = fmax(cycles / hz, o->l2_s) + o->launch_s;
}

int occupancy_predict(const struct nest *n, const struct limits *m,
		      struct occupancy phase[NEST_PHASES])
{
	struct count c = {.n = n};
	int phases = 0;

	c.thread = xmalloc(sizeof *c.thread * (size_t)(n->nvars + 1));
	for (const struct node *t = n->body; t; t = nest_next_phase(t)) {
		c.o = &phase[phases++];
		*c.o = (struct occupancy){.blocks = 1};
		memset(c.loaded, 0, sizeof c.loaded);
		c.share = (struct branch_share){1, 1};
		branch_open(&c.branch, n, t);
		count_nodes(&c, t, 1);
		branch_close(&c.branch);
		finish(&c, m);
	}
	free(c.thread);
	return phases;
}
