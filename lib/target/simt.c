/* LET_DIV and LET_MOD compute pixels from rows and positions from threads. Symbols are constants,
 * because a launch costs less than a parameter that hides what a compiler could fold. A phase is a
 * kernel of its own. One text serves CUDA C and OpenCL C: a prelude for each defines the few words
 * in which they differ (lib/target/prelude/, whose files the assembler puts into the programs). It
 * shares lib/target/text.c with the printer of GNU C.
 */
#include "lib/target/simt.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/nest/box.h"
#include "lib/nest/mma.h"
#include "lib/target/simt_bulk.h"
#include "lib/target/simt_group.h"
#include "lib/target/simt_tile.h"
#include "lib/target/text.h"

/* What threads touched since they last waited for each other: a bit for each buffer. */
struct touched {
	uint64_t reads, writes;
};
_Static_assert(NEST_BUFFERS <= 64, "a bit for each buffer");

struct simt {
	const struct nest *n;
	int phase, nwaits;
	const struct node *tiles; /* the open loop over tiles, or NULL: is_over_tiles() */
	const struct node *wait[NEST_LOOPS]; /* loops over threads before which they wait */
	const char *why;
};

/* ---- where threads wait for each other ---- */

static int is_shared(const struct nest *n, int buffer)
{
	const struct buffer *b = &n->buffer[buffer];

	return b->kind == BUFFER_BLOCK || b->kind == BUFFER_TEAM ||
	       (b->kind == BUFFER_ARG && b->written);
}

static void note_read(const struct nest *n, int buffer, struct touched *s)
{
	int base = nest_base(n, buffer);

	if (is_shared(n, base))
		s->reads |= (uint64_t)1 << base;
}

static void note_reads(const struct nest *n, const struct expr *x, struct touched *s)
{
	if (!x)
		return;
	if (x->kind == EXPR_LOAD)
		note_read(n, x->buffer, s);
	note_reads(n, x->a, s);
	note_reads(n, x->b, s);
	note_reads(n, x->c, s);
}

static void note(const struct nest *n, const struct node *t, struct touched *s)
{
	for (; t; t = t->next) {
		if (t->kind == NODE_STORE || t->kind == NODE_COPY) {
			int base = nest_base(n, t->buffer);

			if (is_shared(n, base))
				s->writes |= (uint64_t)1 << base;
			note_reads(n, t->value, s);
		}
		if (t->kind == NODE_MMA) {
			note_read(n, t->mma->a.buffer, s);
			note_read(n, t->mma->b.buffer, s);
		}
		note(n, t->body, s);
		note(n, t->orelse, s);
	}
}

static int waits(const struct simt *s, const struct node *t)
{
	for (int i = 0; i < s->nwaits; i++)
		if (s->wait[i] == t)
			return 1;
	return 0;
}

static struct touched both(struct touched a, struct touched b)
{
	return (struct touched){a.reads | b.reads, a.writes | b.writes};
}

/* Buffers that are copied to, in the whole nest. */
static uint64_t copied(const struct nest *n, const struct node *t)
{
	uint64_t to = 0;

	for (; t; t = t->next) {
		if (t->kind == NODE_COPY)
			to |= (uint64_t)1 << nest_base(n, t->buffer);
		to |= copied(n, t->body) | copied(n, t->orelse);
	}
	return to;
}

/* What is touched behind a loop over threads, which waits if it must. Copies that a thread has
 * waited for in it are written by it. */
static struct touched pass_threads(struct simt *s, struct touched since, const struct node *t)
{
	struct touched here = {0, 0};

	note(s->n, t->body, &here);
	if (!waits(s, t) &&
	    ((here.writes & (since.reads | since.writes)) || (here.reads & since.writes)))
		s->wait[s->nwaits++] = t;
	if (nest_has(t->body, NODE_WAIT))
		here.writes |= copied(s->n, s->n->body);
	return waits(s, t) ? here : both(since, here);
}

/* Goes through the nodes with what was touched before them, and returns what is behind them. A
 * loop's body also follows upon itself, so it is gone through until nothing is added. */
static struct touched pass(struct simt *s, struct touched since, const struct node *t)
{
	struct touched before, after;
	int n;

	for (; t && t->kind != NODE_SYNC; t = t->next) {
		if (t->kind == NODE_IF) {
			before = since;
			since = both(pass(s, before, t->body), pass(s, before, t->orelse));
		}
		if (t->kind != NODE_FOR)
			continue;
		if (t->loop == LOOP_THREAD) {
			since = pass_threads(s, since, t);
			continue;
		}
		if (t->loop == LOOP_PARALLEL) { /* its next turn is another block */
			since = pass(s, since, t->body);
			continue;
		}
		do {
			n = s->nwaits;
			before = since;
			after = pass(s, before, t->body);
			since = both(before, after);
		} while (n != s->nwaits || since.reads != before.reads ||
			 since.writes != before.writes);
	}
	return since;
}

/* ---- what cannot be written ---- */

static void look_at_expr(struct simt *s, const struct expr *x)
{
	if (!x)
		return;
	if (x->elem != ELEM_F32)
		s->why = "it is not of single precision";
	if (x->lanes != 1 && x->lanes != 4)
		s->why = "it has vectors of other than 4 lanes";
	if (x->kind == EXPR_EXCHANGE || (x->kind == EXPR_SPREAD && x->per < x->lanes) ||
	    (x->kind == EXPR_BCAST && x->a->lanes > 1))
		s->why = "it moves lanes within a vector";
	look_at_expr(s, x->a);
	look_at_expr(s, x->b);
	look_at_expr(s, x->c);
}

static void look_at(struct simt *s, const struct node *t)
{
	for (; t; t = t->next) {
		if (t->kind == NODE_STORE)
			look_at_expr(s, t->value);
		look_at(s, t->body);
		look_at(s, t->orelse);
	}
}

static void look(struct simt *s)
{
	if (!s->n->block_threads)
		s->why = "it has no blocks of threads";
	for (int i = 0; i < s->n->nbuffers; i++)
		if (s->n->buffer[i].size > INT32_MAX)
			s->why = "a buffer has more elements than 32 bits count";
	look_at(s, s->n->body);
}

/* ---- text ---- */

static const char *space(const struct nest *n, int buffer)
{
	return n->buffer[nest_base(n, buffer)].kind == BUFFER_BLOCK ? "LOCAL " : "GLOBAL ";
}

/* All buffers in memory, by slot. What threads may read from each other is no pointer's alone. */
static void arguments(struct text *p)
{
	int n = 0;

	for (int i = 0; i < p->n->nbuffers; i++) {
		if (p->n->buffer[i].slot < 0)
			continue;
		buf_str(p->out, n++ ? ", " : "");
		text_pointee(p, i);
		buf_str(p->out, is_shared(p->n, i) ? "*" : "*RESTRICT ");
		text_buffer(p, i);
	}
	for (int i = 0; i < p->n->nboxes; i++)
		buf_fmt(p->out, ", const BOX box%d", i);
}

static void memory(struct text *p)
{
	for (int i = 0; i < p->n->nbuffers; i++) {
		const struct buffer *b = &p->n->buffer[i];

		if (b->kind == BUFFER_REG)
			text_declare_registers(p, i);
		if (b->kind != BUFFER_BLOCK)
			continue;
		buf_fmt(p->out, "\tBLOCK_MEMORY(%s, ", text_elem(b->elem));
		text_buffer(p, i);
		buf_fmt(p->out, ", %lld, %lld);\n", (long long)b->size,
			(long long)nest_block_place(p->n, i));
	}
}

static const struct node *phase_at(const struct nest *n, int phase)
{
	const struct node *t = n->body;

	while (phase-- > 0)
		t = nest_next_phase(t);
	return t;
}

static void begin(struct text *p)
{
	struct simt *s = p->own;
	const struct node *t = phase_at(p->n, s->phase);

	if (p->n->resident)
		buf_fmt(p->out, "\nENTRY_FOR(%d, %d)", p->n->block_threads, p->n->resident);
	else
		buf_fmt(p->out, "\nENTRY(%d)", p->n->block_threads);
	buf_fmt(p->out, " PHASE(KERNEL, %d)(", s->phase++);
	arguments(p);
	buf_str(p->out, ")\n{\n");
	memory(p);
	simt_bulk_begin(p, t);
}

/* A phase is over. */
static void sync(struct text *p)
{
	buf_str(p->out, "}\n");
	begin(p);
}

static int is_parallel(const struct node *t)
{
	return t && t->kind == NODE_FOR && t->loop == LOOP_PARALLEL;
}

static int64_t turns(const struct nest *n, const struct node *t)
{
	return af_eval(n, &t->b, NULL) - af_eval(n, &t->a, NULL);
}

/* An iteration of parallel loops, nested directly in each other, for each group. */
static void parallel(struct text *p, const struct node *t)
{
	const struct node *loop[NEST_PARALLEL];
	int n = 0;

	for (; is_parallel(t); t = t->body)
		loop[n++] = t;
	text_indent(p);
	buf_str(p->out, "int rest = BLOCK;\n");
	for (int i = n - 1; i >= 0; i--) {
		text_indent(p);
		buf_str(p->out, "const int ");
		text_var(p, loop[i]->var);
		buf_fmt(p->out, " = rest %% %lld + ", (long long)turns(p->n, loop[i]));
		text_affine(p, &loop[i]->a);
		buf_str(p->out, ";\n");
		text_indent(p);
		buf_fmt(p->out, "rest /= %lld;\n", (long long)turns(p->n, loop[i]));
	}
	text_nodes(p, loop[n - 1]->body);
}

static void thread(struct text *p, const struct node *t)
{
	const struct simt *s = p->own;

	if (waits(p->own, t)) {
		text_indent(p);
		buf_str(p->out, "BARRIER();\n");
	}
	text_indent(p);
	buf_str(p->out, "{\n");
	p->depth++;
	text_indent(p);
	buf_str(p->out, "const int ");
	text_var(p, t->var);
	buf_str(p->out, s->tiles ? " = thread_" : " = THREAD");
	if (s->tiles)
		text_var(p, s->tiles->var);
	buf_str(p->out, ";\n");
	text_nodes(p, t->body);
	simt_tile_end_group(p, t);
	p->depth--;
	text_indent(p);
	buf_str(p->out, "}\n");
}

static int has_loop(const struct node *t, enum loop_kind loop)
{
	for (; t; t = t->next)
		if ((t->kind == NODE_FOR && t->loop == loop) || has_loop(t->body, loop) ||
		    has_loop(t->orelse, loop))
			return 1;
	return 0;
}

/* Does the loop go over a block's tiles? Then it has in it a loop over chunks, which has loops over
 * threads in it. */
static int is_over_tiles(const struct node *t)
{
	for (const struct node *s = t->body; s; s = s->next)
		if (s->kind == NODE_FOR && s->loop == LOOP_SERIAL && has_loop(s->body, LOOP_THREAD))
			return 1;
	return 0;
}

/* Compilers compute what follows from the thread's number alone before the loop, and keep it in 30
 * or more registers. So each turn has the number from same_thread(), which hides from them that it
 * is the same. */
static void over_tiles(struct text *p, const struct node *t)
{
	struct simt *s = p->own;
	const struct node *around = s->tiles;

	s->tiles = t;
	text_loop_open(p, t);
	text_indent(p);
	buf_str(p->out, "const int thread_");
	text_var(p, t->var);
	buf_str(p->out, " = same_thread();\n");
	text_nodes(p, t->body);
	text_loop_close(p);
	s->tiles = around;
}

/* #pragma unroll is NVRTC's, and OpenCL's compilers know it, too. */
static void serial(struct text *p, const struct node *t)
{
	if (t->unroll > 0) {
		text_indent(p);
		buf_fmt(p->out, "#pragma unroll %d\n", t->unroll);
	}
	if (is_over_tiles(t))
		over_tiles(p, t);
	else
		text_loop(p, t);
}

static void prefetch(struct text *p, const struct node *t)
{
	(void)p, (void)t;
}

static const struct dialect gpu = {
	.integer = "int",
	.space = space,
	.calls = 1,
	.constants = 1,
	.parallel = parallel,
	.thread = thread,
	.serial = serial,
	.prefetch = prefetch,
	.sync = sync,
	.tile = simt_tile_print,
};

_Static_assert((int)SIMT_PARAMS <= (int)NEST_PARAMS, "a runner's params have room");

const char *simt_print(const struct nest *n, const struct limits *m, struct buf *out)
{
	struct simt s = {.n = n};
	struct text p = {.n = n, .out = out, .d = &gpu, .own = &s, .depth = 1};

	(void)m;
	look(&s);
	if (s.why)
		return s.why;
	for (const struct node *t = n->body; t; t = nest_next_phase(t))
		pass(&s, (struct touched){0, 0}, t);
	simt_group_functions(n, out);
	begin(&p);
	text_nodes(&p, n->body);
	buf_str(out, "}\n");
	return NULL;
}

/* Does the phase use the memory of a block? One that does not leaves it to others. */
static int touches_block(const struct nest *n, const struct node *t)
{
	struct touched s = {0, 0};

	for (; t && t->kind != NODE_SYNC; t = t->next) {
		note(n, t->body, &s);
		note(n, t->orelse, &s);
	}
	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_BLOCK && (s.reads | s.writes) >> i & 1)
			return 1;
	return 0;
}

static void box_params(const struct nest *n, const struct box *b, long *params)
{
	const struct box_corners c = box_corners(b);
	const int64_t all[SIMT_BOX_PARAMS] = {
		n->buffer[b->from].slot,
		n->buffer[b->from].elem,
		b->channels,
		b->width,
		b->height,
		b->images,
		c.first_column,
		c.first_row,
		c.last_column,
		c.last_row,
		b->step_across,
		b->step_down,
		b->values,
		b->positions,
	};

	for (int i = 0; i < SIMT_BOX_PARAMS; i++)
		params[i] = (long)all[i];
}

void simt_params(const struct nest *n, long *params)
{
	int phase = 0;

	for (int i = 0; i < SIMT_PARAMS; i++)
		params[i] = 0;
	params[SIMT_THREADS] = n->block_threads;
	for (const struct node *t = n->body; t; t = nest_next_phase(t)) {
		int64_t groups = 1;

		for (const struct node *l = t; l && l->kind != NODE_SYNC; l = l->next)
			for (const struct node *k = l; is_parallel(k); k = k->body)
				groups *= turns(n, k);
		if (touches_block(n, t))
			params[SIMT_BLOCK_BYTES + phase] = (long)nest_block_bytes(n);
		params[SIMT_GROUPS + phase++] = (long)groups;
	}
	params[SIMT_PHASES] = phase;
	params[SIMT_BOXES] = n->nboxes;
	for (int i = 0; i < n->nboxes; i++)
		box_params(n, &n->box[i], params + SIMT_BOX + (long)i * SIMT_BOX_PARAMS);
}
