#include "lib/nest/nest.h"

#include <assert.h>
#include <string.h>

void nest_init(struct nest *n, struct arena *a, const char *name)
{
	n->arena = a;
	n->name = name;
	n->nvars = n->nbuffers = n->nparams = n->nslots = n->nboxes = 0;
	n->depth = n->loop_depth = n->nloops = n->block_threads = n->resident = n->streams = 0;
	n->nphases = 1;
	n->pitch = 0;
	n->body = n->open = NULL;
	n->tail = &n->body;
	n->full.what = NULL;
}

static void need(struct nest *n, int holds, int most, const char *what)
{
	if (holds)
		return;
	n->full.what = what;
	n->full.most = most;
}

/* The next of so many; where there is no room for it the last one again, for check_nest() to
 * refuse. */
static int take(struct nest *n, int *taken, int most, const char *what)
{
	if (*taken < most)
		return (*taken)++;
	need(n, 0, most, what);
	return most - 1;
}

static int new_param(struct nest *n)
{
	return take(n, &n->nparams, NEST_PARAMS, "parameters");
}

static int new_var(struct nest *n, const char *name, enum var_kind kind)
{
	int v = take(n, &n->nvars, NEST_VARS, "variables");

	n->var[v] = (struct var){.name = name, .kind = kind, .param = -1};
	return v;
}

int nest_param(struct nest *n, const char *name, int64_t value)
{
	int v = new_var(n, name, VAR_SYMBOL);

	n->var[v].runtime = 1;
	n->var[v].param = new_param(n);
	n->var[v].value = value;
	return v;
}

int nest_const(struct nest *n, const char *name, int64_t value)
{
	int v = new_var(n, name, VAR_SYMBOL);

	n->var[v].value = value;
	return v;
}

static struct buffer *new_buffer(struct nest *n, const char *name, enum buffer_kind kind)
{
	struct buffer *b = &n->buffer[take(n, &n->nbuffers, NEST_BUFFERS, "buffers")];

	*b = (struct buffer){.name = name,
			     .kind = kind,
			     .lanes = 1,
			     .cols = 1,
			     .slot = -1,
			     .stride_param = -1,
			     .base = -1};
	return b;
}

int nest_arg(struct nest *n, const char *name, int role, int64_t size, int written)
{
	struct buffer *b = new_buffer(n, name, BUFFER_ARG);

	b->role = role;
	b->size = size;
	b->written = written;
	b->slot = n->nslots++;
	return n->nbuffers - 1;
}

int nest_packed(struct nest *n, const char *name, int role, const struct packing *p)
{
	struct buffer *b = new_buffer(n, name, BUFFER_PACKED);

	b->role = role;
	b->packing = arena_new(n->arena, struct packing);
	*b->packing = *p;
	b->size = packing_size(p);
	b->slot = n->nslots++;
	return n->nbuffers - 1;
}

int nest_work(struct nest *n, const char *name, int64_t size)
{
	struct buffer *b = new_buffer(n, name, BUFFER_WORK);

	b->size = (size + 15) & ~(int64_t)15;
	b->slot = n->nslots++;
	b->stride_param = new_param(n);
	return n->nbuffers - 1;
}

int nest_team(struct nest *n, const char *name, int64_t size)
{
	struct buffer *b = new_buffer(n, name, BUFFER_TEAM);

	b->size = size;
	b->slot = n->nslots++;
	return n->nbuffers - 1;
}

int nest_block(struct nest *n, const char *name, int64_t size)
{
	new_buffer(n, name, BUFFER_BLOCK)->size = size;
	return n->nbuffers - 1;
}

void nest_elem(struct nest *n, int buffer, enum elem elem)
{
	n->buffer[buffer].elem = elem;
}

void nest_round(struct nest *n, int buffer)
{
	n->buffer[buffer].packing->rounds = 1;
}

void nest_swizzle(struct nest *n, int buffer, int64_t row)
{
	struct buffer *b = &n->buffer[buffer];

	b->swizzle = (struct swizzle){SWIZZLE_UNIT / elem_size(b->elem), (int)row};
	if (b->packing)
		b->packing->swizzle = b->swizzle;
}

int nest_near(struct nest *n, const char *name, int64_t size)
{
	int buffer;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].name == name)
			return i;
	buffer = nest_work(n, name, size);
	n->buffer[buffer].near = 1;
	return buffer;
}

int nest_reg(struct nest *n, const char *name, enum elem elem, int lanes, int rows, int cols)
{
	struct buffer *b = new_buffer(n, name, BUFFER_REG);

	b->elem = elem;
	b->lanes = lanes;
	b->cols = cols;
	b->size = (int64_t)rows * cols;
	return n->nbuffers - 1;
}

struct node *nest_append(struct nest *n, enum node_kind kind)
{
	struct node *s = arena_new(n->arena, struct node);

	s->kind = kind;
	s->outer = n->open;
	*n->tail = s;
	n->tail = &s->next;
	return s;
}

static void open_body(struct nest *n, struct node *s, struct node **body)
{
	n->open = s;
	n->depth++;
	n->loop_depth += s->kind == NODE_FOR;
	n->tail = body;
	need(n, n->depth <= NEST_DEPTH, NEST_DEPTH, "loops and branches in each other");
	need(n, n->loop_depth <= NEST_LOOP_DEPTH, NEST_LOOP_DEPTH, "loops in each other");
}

static int parallel_around(const struct nest *n)
{
	int depth = 0;

	for (const struct node *t = n->open; t; t = t->outer)
		depth += t->kind == NODE_FOR && t->loop == LOOP_PARALLEL;
	return depth;
}

int nest_for(struct nest *n, enum loop_kind kind, const char *name, struct affine lo,
	     struct affine hi)
{
	struct node *s = nest_append(n, NODE_FOR);

	s->loop = kind;
	s->var = new_var(n, name, VAR_LOOP);
	s->a = lo;
	s->b = hi;
	need(n, ++n->nloops <= NEST_LOOPS, NEST_LOOPS, "loops");
	if (kind == LOOP_PARALLEL)
		need(n, parallel_around(n) < NEST_PARALLEL, NEST_PARALLEL,
		     "parallel loops in each other");
	open_body(n, s, &s->body);
	return s->var;
}

void nest_resident(struct nest *n, int blocks)
{
	n->resident = blocks;
}

int nest_for_threads(struct nest *n, const char *name, int threads)
{
	n->block_threads = threads;
	return nest_for(n, LOOP_THREAD, name, af(0), af(threads));
}

void nest_unroll_hint(struct nest *n, int times)
{
	n->open->unroll = times;
}

void nest_jam(struct nest *n)
{
	n->open->jam = 1;
}

struct affine nest_turn(const struct nest *n, int64_t *turns)
{
	struct affine turn = af(0);

	*turns = 1;
	for (const struct node *t = n->open; t; t = t->outer) {
		if (t->kind != NODE_FOR || !t->jam)
			continue;
		turn = af_add(turn, af_mul(af_sub(af_var(t->var), t->a), *turns));
		*turns *= t->b.c - t->a.c;
	}
	return turn;
}

void nest_if_less(struct nest *n, struct affine a, struct affine b)
{
	struct node *s = nest_append(n, NODE_IF);

	s->a = a;
	s->b = b;
	open_body(n, s, &s->body);
}

void nest_else(struct nest *n)
{
	assert(n->open->kind == NODE_IF && !n->open->orelse);
	n->tail = &n->open->orelse;
}

void nest_close(struct nest *n)
{
	assert(n->depth > 0);
	n->tail = &n->open->next;
	n->loop_depth -= n->open->kind == NODE_FOR;
	n->open = n->open->outer;
	n->depth--;
}

void nest_close_to(struct nest *n, int depth)
{
	while (n->depth > depth)
		nest_close(n);
}

static int let(struct nest *n, const char *name, enum let_kind kind, struct affine a,
	       struct affine b)
{
	struct node *s = nest_append(n, NODE_LET);

	s->var = new_var(n, name, VAR_LET);
	s->let = kind;
	s->a = a;
	s->b = b;
	return s->var;
}

int nest_let(struct nest *n, const char *name, struct affine a)
{
	return let(n, name, LET_IS, a, af(0));
}

int nest_let_min(struct nest *n, const char *name, struct affine a, struct affine b)
{
	return let(n, name, LET_MIN, a, b);
}

int nest_let_div(struct nest *n, const char *name, struct affine a, int64_t by)
{
	return let(n, name, LET_DIV, a, af(by));
}

int nest_let_mod(struct nest *n, const char *name, struct affine a, int64_t by)
{
	return let(n, name, LET_MOD, a, af(by));
}

int nest_let_in(struct nest *n, const char *name, struct affine a, struct affine end)
{
	return let(n, name, LET_IN, a, end);
}

int nest_view(struct nest *n, const char *name, int base, struct affine from)
{
	struct buffer *b = new_buffer(n, name, BUFFER_VIEW);
	struct node *s = nest_append(n, NODE_VIEW);

	b->base = base;
	b->elem = n->buffer[base].elem;
	s->buffer = n->nbuffers - 1;
	s->a = from;
	return s->buffer;
}

void nest_store(struct nest *n, int buffer, struct affine index, const struct affine *valid,
		const struct expr *value)
{
	struct node *s = nest_append(n, NODE_STORE);

	s->buffer = buffer;
	s->a = index;
	s->valid = valid;
	s->value = value;
}

void nest_prefetch(struct nest *n, int buffer, struct affine index)
{
	struct node *s = nest_append(n, NODE_PREFETCH);

	s->buffer = buffer;
	s->a = index;
}

void nest_prefetch_far(struct nest *n, int buffer, struct affine index)
{
	struct node *s = nest_append(n, NODE_PREFETCH);

	s->buffer = buffer;
	s->a = index;
	s->far = 1;
}

void nest_copy(struct nest *n, int to, struct affine at, int from, struct affine from_at, int lanes,
	       const struct affine *valid)
{
	struct node *s = nest_append(n, NODE_COPY);

	s->buffer = to;
	s->a = at;
	s->from = from;
	s->b = from_at;
	s->lanes = lanes;
	s->valid = valid;
}

void nest_wait(struct nest *n, int groups)
{
	nest_append(n, NODE_WAIT)->a = af(groups);
}

void nest_sync(struct nest *n)
{
	nest_append(n, NODE_SYNC);
	need(n, ++n->nphases <= NEST_PHASES, NEST_PHASES, "phases");
}

const struct affine *nest_keep(struct nest *n, struct affine a)
{
	struct affine *p = arena_new(n->arena, struct affine);

	*p = a;
	return p;
}

static void stream(const struct nest *n, struct node *t)
{
	for (; t; t = t->next) {
		if (t->kind == NODE_STORE && t->value->lanes > 1)
			t->streams = n->buffer[nest_base(n, t->buffer)].kind == BUFFER_ARG;
		stream(n, t->body);
		stream(n, t->orelse);
	}
}

void nest_stream(struct nest *n)
{
	n->streams = 1;
	stream(n, n->body);
}
