#include "lib/model/occupancy.h"

#include <math.h>

#include "lib/nest/mma.h"

/* Of a processor of today's GPUs (NVIDIA, "CUDA C++ Programming Guide", "Compute capabilities", and
 * "Hopper architecture in depth"); near enough to rank. */
static const struct {
	double fmas;	     /* a cycle */
	double instructions; /* of threads a cycle */
	double block_bytes;  /* a cycle */
	double l2_bytes;     /* a cycle */
	double threads, registers, blocks;
	double latency; /* cycles of a wait: memory, barrier */
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

/* What is counted of a block, and where the count stands. */
struct count {
	const struct nest *n;
	struct occupancy *o;
	int64_t value[NEST_VARS]; /* of variables: of the first turn of everything */
};

int64_t occupancy_registers(const struct nest *n)
{
	const struct node *scope[NEST_BUFFERS];
	int64_t most = 0;

	nest_register_scopes(n, scope);
	for (const struct node *t = n->body; t; t = t->next) {
		int64_t registers = 0;

		for (int i = 0; i < n->nbuffers; i++)
			if (n->buffer[i].kind == BUFFER_REG &&
			    (!scope[i] || nest_holds(t, scope[i])))
				registers += n->buffer[i].size * n->buffer[i].lanes;
		most = registers > most ? registers : most;
	}
	return gpu.addresses + most;
}

static int64_t value(const struct count *c, const struct affine *a)
{
	return af_eval(c->n, a, c->value);
}

/* Of lanes that are read or written, so often. */
static void touch(struct count *c, int buffer, int lanes, double times)
{
	const struct buffer *b = &c->n->buffer[nest_base(c->n, buffer)];
	double bytes = times * lanes * elem_size(b->elem);

	if (b->kind == BUFFER_REG)
		return;
	c->o->instructions += times;
	if (b->kind == BUFFER_BLOCK)
		c->o->block_bytes += bytes;
	else
		c->o->global_bytes += bytes;
}

static void count_expr(struct count *c, const struct expr *x, double times)
{
	if (!x)
		return;
	count_expr(c, x->a, times);
	count_expr(c, x->b, times);
	count_expr(c, x->c, times);
	if (x->kind == EXPR_LOAD)
		touch(c, x->buffer, x->lanes, times);
	if (x->kind == EXPR_LOAD || x->kind == EXPR_CONST || x->kind == EXPR_BCAST ||
	    x->kind == EXPR_SPREAD || x->kind == EXPR_PICK)
		return;
	c->o->instructions += times * x->lanes;
	if (x->kind == EXPR_FMA)
		c->o->fmas += times * x->lanes;
}

/* Multiply-adds of a processor's tensor cores in a cycle (NVIDIA, "A100 Tensor Core GPU
 * architecture"), and what is done with each 32 bits of a side once they are loaded. */
static const struct {
	double fmas, products, roundings;
} mma_rates[MMA_KINDS] = {
	[MMA_TF32X3] = {512, 3, 3},
	[MMA_TF32] = {512, 1, 1},
	[MMA_BF16] = {1024, 1, 0},
	[MMA_F16] = {1024, 1, 0},
};

/* A thread's share of a warp's product of tiles. A matrix of 8 by 4 words is an instruction's
 * fourth. */
static void count_mma(struct count *c, const struct mma *m, double times)
{
	const double words = (4.0 * m->down + 2.0 * m->across) * times; /* of the thread */
	const double steps = mma_rates[m->kind].products * m->down * m->across * times;
	const double fmas = MMA_ROWS * MMA_COLUMNS * mma_depth(m->kind);

	c->o->block_bytes += 4 * words;
	c->o->instructions += words / 4 + words * mma_rates[m->kind].roundings + steps;
	c->o->mma_cycles += steps * fmas / mma_rates[m->kind].fmas / MMA_WARP;
}

static void count_nodes(struct count *c, const struct node *t, double times);

static void count_for(struct count *c, const struct node *t, double times)
{
	int64_t from = value(c, &t->a), turns = value(c, &t->b) - from;

	c->value[t->var] = from;
	if (turns <= 0)
		return;
	if (t->loop == LOOP_THREAD)
		c->o->waits += times;
	if (t->loop == LOOP_PARALLEL) {
		c->o->blocks *= (double)turns;
		turns = 1;
	}
	if (t->loop == LOOP_SERIAL) /* counts, compares, jumps */
		c->o->instructions += times * (double)turns * 2 / (t->unroll > 1 ? t->unroll : 1);
	count_nodes(c, t->body, times * (double)turns);
}

static void let(struct count *c, const struct node *t)
{
	c->value[t->var] = nest_let_value(t->let, value(c, &t->a), value(c, &t->b));
}

/* Branches are there for what lies beyond an end: their bodies count, and what is done else does
 * not. Integers are left to the compiler, which computes them outside of loops. */
static void count_nodes(struct count *c, const struct node *t, double times)
{
	for (; t && t->kind != NODE_SYNC; t = t->next) {
		switch (t->kind) {
		case NODE_FOR:
			count_for(c, t, times);
			break;
		case NODE_IF:
			count_nodes(c, t->body, times);
			break;
		case NODE_LET:
			let(c, t);
			break;
		case NODE_STORE:
			count_expr(c, t->value, times);
			touch(c, t->buffer, t->value->lanes, times);
			break;
		case NODE_COPY:
			touch(c, t->from, t->lanes, times);
			touch(c, t->buffer, t->lanes, times);
			break;
		case NODE_MMA:
			count_mma(c, t->mma, times);
			break;
		case NODE_WAIT:
		case NODE_VIEW:
		case NODE_PREFETCH:
		case NODE_SYNC:
			break;
		}
	}
}

/* Blocks that a processor holds at a time. */
static int together(const struct nest *n, const struct limits *m)
{
	double threads = n->block_threads, memory = (double)nest_block_bytes(n);
	double most = fmin(gpu.blocks, floor(gpu.threads / threads));

	most = fmin(most, floor(gpu.registers / (threads * (double)occupancy_registers(n))));
	if (memory > 0)
		most = fmin(most, floor((double)m->l1d / memory));
	return most < 1 ? 1 : (int)most;
}

static void finish(const struct nest *n, const struct limits *m, struct occupancy *o)
{
	double hz = m->hz > 0 ? m->hz : 1e9, processors = m->threads > 0 ? m->threads : 1;
	double each, held, waves, cycles, bytes = o->global_bytes * o->blocks;

	o->together = together(n, m);
	held = fmin(o->together, ceil(o->blocks / processors));
	waves = ceil(o->blocks / (processors * held));
	each = fmax(fmax(o->fmas / gpu.fmas, o->mma_cycles),
		    fmax(o->instructions / gpu.instructions, o->block_bytes / gpu.block_bytes));
	cycles = waves * fmax(each * held, each + o->waits * gpu.latency);
	cycles = fmax(cycles, bytes / (processors * gpu.l2_bytes));
	o->seconds = cycles / hz + gpu.launch_s;
}

static const struct node *next_phase(const struct node *t)
{
	while (t && t->kind != NODE_SYNC)
		t = t->next;
	return t ? t->next : NULL;
}

int occupancy_predict(const struct nest *n, const struct limits *m,
		      struct occupancy phase[NEST_PHASES])
{
	struct count c = {.n = n};
	int phases = 0;

	for (const struct node *t = n->body; t; t = next_phase(t)) {
		c.o = &phase[phases++];
		*c.o = (struct occupancy){.blocks = 1};
		count_nodes(&c, t, 1);
		finish(n, m, c.o);
	}
	return phases;
}
