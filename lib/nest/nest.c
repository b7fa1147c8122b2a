#include "lib/nest/nest.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

void nest_init(struct nest *n, struct arena *a, const char *name)
{
	n->arena = a;
	n->name = name;
	n->nvars = n->nbuffers = n->nparams = n->nslots = 0;
	n->depth = n->loop_depth = n->nloops = n->block_threads = n->streams = 0;
	n->nphases = 1;
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
	b->packing = *p;
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

struct affine af(int64_t c)
{
	return (struct affine){.c = c};
}

struct affine af_var(int var)
{
	return (struct affine){.n = 1, .t[0] = {1, -1, (int16_t)var}};
}

struct affine af_add(struct affine a, struct affine b)
{
	a.c += b.c;
	for (int i = 0; i < b.n; i++) {
		int j = 0;

		while (j < a.n && (a.t[j].var != b.t[i].var || a.t[j].sym != b.t[i].sym))
			j++;
		if (j < a.n) {
			a.t[j].coef += b.t[i].coef;
			continue;
		}
		assert(a.n < AFFINE_TERMS);
		a.t[a.n++] = b.t[i];
	}
	return a;
}

struct affine af_sub(struct affine a, struct affine b)
{
	return af_add(a, af_mul(b, -1));
}

struct affine af_mul(struct affine a, int64_t k)
{
	a.c *= k;
	for (int i = 0; i < a.n; i++)
		a.t[i].coef *= k;
	return a;
}

struct affine af_times(struct affine a, int sym)
{
	for (int i = 0; i < a.n; i++) {
		assert(a.t[i].sym < 0);
		a.t[i].sym = (int16_t)sym;
	}
	if (a.c) {
		assert(a.n < AFFINE_TERMS);
		a.t[a.n].coef = a.c;
		a.t[a.n].sym = -1;
		a.t[a.n].var = (int16_t)sym;
		a.n++;
		a.c = 0;
	}
	return a;
}

struct affine af_scale(struct affine a, struct affine stride)
{
	return stride.n ? af_times(a, stride.t[0].var) : af_mul(a, stride.c);
}

struct affine af_sum_(const struct affine *a, unsigned long n)
{
	struct affine s = a[0];

	for (unsigned long i = 1; i < n; i++)
		s = af_add(s, a[i]);
	return s;
}

static struct expr *new_expr(struct nest *n, enum expr_kind kind, enum elem elem, int lanes)
{
	struct expr *x = arena_new(n->arena, struct expr);

	x->kind = kind;
	x->elem = elem;
	x->lanes = lanes;
	return x;
}

const struct expr *ex_const(struct nest *n, enum elem elem, int lanes, double v)
{
	struct expr *x = new_expr(n, EXPR_CONST, elem, lanes);

	x->value = v;
	return x;
}

const struct expr *ex_load(struct nest *n, int buffer, int lanes, struct affine index,
			   const struct affine *valid)
{
	enum elem elem = n->buffer[buffer].elem == ELEM_F64 ? ELEM_F64 : ELEM_F32;
	struct expr *x = new_expr(n, EXPR_LOAD, elem, lanes);

	x->buffer = buffer;
	x->index = index;
	x->valid = valid;
	return x;
}

const struct expr *ex_reg(struct nest *n, int buffer, struct affine index)
{
	return ex_load(n, buffer, n->buffer[buffer].lanes, index, NULL);
}

const struct expr *ex_bcast(struct nest *n, int lanes, const struct expr *a)
{
	struct expr *x = new_expr(n, EXPR_BCAST, a->elem, lanes);

	assert(a->lanes == 1);
	x->a = a;
	return x;
}

const struct expr *ex_spread(struct nest *n, const struct expr *a, int per, int step,
			     struct affine index)
{
	struct expr *x = new_expr(n, EXPR_SPREAD, a->elem, a->lanes);

	x->a = a;
	x->per = per;
	x->step = step;
	x->index = index;
	return x;
}

const struct expr *ex_pick(struct nest *n, const struct expr *a, struct affine lane)
{
	struct expr *x = new_expr(n, EXPR_PICK, a->elem, 1);

	x->a = a;
	x->index = lane;
	return x;
}

int ex_spread_from(const struct expr *x, int64_t index, int lane)
{
	int64_t from = (int64_t)(lane / x->per) * x->step + index;

	return from < x->lanes ? (int)from : x->lanes - 1;
}

const struct expr *ex_exchange(struct nest *n, const struct expr *a, const struct expr *b,
			       int apart, int upper)
{
	struct expr *x = new_expr(n, EXPR_EXCHANGE, a->elem, a->lanes);

	assert(b->lanes == a->lanes && apart < a->lanes);
	x->a = a;
	x->b = b;
	x->apart = apart;
	x->upper = upper;
	return x;
}

int ex_exchange_from(const struct expr *x, int lane)
{
	int has = lane & x->apart;

	if (x->upper)
		return has ? x->lanes + lane : lane + x->apart;
	return has ? x->lanes + lane - x->apart : lane;
}

const struct expr *ex_op(struct nest *n, enum expr_kind kind, const struct expr *a,
			 const struct expr *b, const struct expr *c)
{
	enum elem elem = kind == EXPR_WIDEN ? ELEM_F64 : kind == EXPR_NARROW ? ELEM_F32 : a->elem;
	struct expr *x = new_expr(n, kind, elem, a->lanes);

	x->a = a;
	x->b = b;
	x->c = c;
	return x;
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

/* Of the parallel loops in each other from t on: the most that any of these has. */
static int64_t most_items(const struct nest *n, const struct node *t)
{
	int64_t most = 1, items;

	for (; t; t = t->next) {
		if (t->kind != NODE_FOR || t->loop != LOOP_PARALLEL)
			continue;
		items = af_eval(n, &t->b, NULL) - af_eval(n, &t->a, NULL);
		items *= most_items(n, t->body);
		most = items > most ? items : most;
	}
	return most;
}

int nest_threads(const struct nest *n, int threads)
{
	return most_items(n, n->body) > 1 ? threads : 1;
}

int64_t nest_block_bytes(const struct nest *n)
{
	int64_t bytes = 0;

	for (int i = 0; i < n->nbuffers; i++)
		if (n->buffer[i].kind == BUFFER_BLOCK)
			bytes += (buffer_bytes(&n->buffer[i]) + 15) & ~(int64_t)15;
	return bytes;
}

int nest_has(const struct node *t, enum node_kind kind)
{
	for (; t; t = t->next)
		if (t->kind == kind || nest_has(t->body, kind) || nest_has(t->orelse, kind))
			return 1;
	return 0;
}

int nest_base(const struct nest *n, int buffer)
{
	while (n->buffer[buffer].kind == BUFFER_VIEW)
		buffer = n->buffer[buffer].base;
	return buffer;
}

/* Is the loop one over the vectors of a run: does what `a` addresses go on by as many elements as a
 * vector has, and `valid` down by as many? */
static int goes_by(const struct affine *a, int var, int64_t step)
{
	int64_t by = 0;

	for (int i = 0; i < a->n; i++) {
		if (a->t[i].sym == var || (a->t[i].var == var && a->t[i].sym >= 0))
			return 0;
		if (a->t[i].var == var)
			by += a->t[i].coef;
	}
	return by == step;
}

static int same_affine(const struct affine *a, const struct affine *b)
{
	if (a->c != b->c || a->n != b->n)
		return 0;
	for (int i = 0; i < a->n; i++)
		if (a->t[i].coef != b->t[i].coef || a->t[i].sym != b->t[i].sym ||
		    a->t[i].var != b->t[i].var)
			return 0;
	return 1;
}

int nest_is_run(const struct nest *n, const struct node *t)
{
	const struct node *s = t->body;
	const struct expr *x = s ? s->value : NULL;
	int lanes = x ? x->lanes : 0;

	if (!s || s->next || s->kind != NODE_STORE || lanes < 4 || x->elem != ELEM_F32 ||
	    n->buffer[s->buffer].kind == BUFFER_REG || t->a.n || t->a.c || !s->valid ||
	    !goes_by(&s->a, t->var, lanes) || !goes_by(s->valid, t->var, -lanes))
		return 0;
	if (x->kind == EXPR_CONST)
		return x->value == 0;
	return x->kind == EXPR_LOAD && n->buffer[x->buffer].kind != BUFFER_REG && x->valid &&
	       same_affine(x->valid, s->valid) && goes_by(&x->index, t->var, lanes);
}

int64_t nest_let_value(enum let_kind let, int64_t a, int64_t b)
{
	switch (let) {
	case LET_MIN:
		return b < a ? b : a;
	case LET_DIV:
		return a / b;
	case LET_MOD:
		return a % b;
	case LET_IN:
		return a >= 0 && a < b;
	case LET_IS:
		break;
	}
	return a;
}

int64_t af_eval(const struct nest *n, const struct affine *a, const int64_t *value)
{
	int64_t v = a->c;

	for (int i = 0; i < a->n; i++) {
		int64_t t = a->t[i].coef;
		int sym = a->t[i].sym, var = a->t[i].var;

		if (sym >= 0)
			t *= n->var[sym].value;
		if (var >= 0)
			t *= n->var[var].kind == VAR_SYMBOL ? n->var[var].value : value[var];
		v += t;
	}
	return v;
}

/* ---- where registers live ---- */

struct scope_walk {
	const struct nest *n;
	int depth;
	const struct node *path[NEST_DEPTH];
	int used[NEST_BUFFERS]; /* length of the path that all uses so far have in common, and 1 */
	const struct node *common[NEST_BUFFERS][NEST_DEPTH];
};

static void note_use(struct scope_walk *w, int buffer)
{
	int same = 0, most = w->used[buffer] - 1;

	if (w->n->buffer[buffer].kind != BUFFER_REG)
		return;
	if (most < 0) {
		memcpy(w->common[buffer], w->path, sizeof *w->path * (size_t)w->depth);
		w->used[buffer] = w->depth + 1;
		return;
	}
	while (same < most && same < w->depth && w->common[buffer][same] == w->path[same])
		same++;
	w->used[buffer] = same + 1;
}

static void note_reads(struct scope_walk *w, const struct expr *x)
{
	if (!x)
		return;
	if (x->kind == EXPR_LOAD)
		note_use(w, x->buffer);
	note_reads(w, x->a);
	note_reads(w, x->b);
	note_reads(w, x->c);
}

static void note_body(struct scope_walk *w, const struct node *t)
{
	for (; t; t = t->next) {
		if (t->kind == NODE_STORE) {
			note_use(w, t->buffer);
			note_reads(w, t->value);
		}
		if (t->kind == NODE_MMA)
			note_use(w, t->buffer);
		if (t->kind != NODE_FOR && t->kind != NODE_IF)
			continue;
		assert(w->depth < NEST_DEPTH);
		w->path[w->depth++] = t;
		note_body(w, t->body);
		note_body(w, t->orelse);
		w->depth--;
	}
}

void nest_register_scopes(const struct nest *n, const struct node *scope[NEST_BUFFERS])
{
	struct scope_walk w;

	w.n = n;
	w.depth = 0;
	memset(w.used, 0, sizeof w.used);
	note_body(&w, n->body);
	for (int i = 0; i < n->nbuffers; i++)
		scope[i] = w.used[i] > 1 ? w.common[i][w.used[i] - 2] : NULL;
}

int nest_holds(const struct node *outer, const struct node *inner)
{
	if (!outer || outer == inner)
		return 1;
	if (!inner)
		return 0;
	for (int orelse = 0; orelse <= 1; orelse++)
		for (const struct node *t = orelse ? outer->orelse : outer->body; t; t = t->next)
			if ((t->kind == NODE_FOR || t->kind == NODE_IF) && nest_holds(t, inner))
				return 1;
	return 0;
}
