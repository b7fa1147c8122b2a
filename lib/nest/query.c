/* What a nest that is built says of itself. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "lib/nest/nest.h"

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

static int64_t next_multiple(int64_t x, int64_t of)
{
	return (x + of - 1) / of * of;
}

int64_t nest_block_place(const struct nest *n, int buffer)
{
	int64_t at = 0;

	for (int i = 0; i <= buffer && i < n->nbuffers; i++) {
		const struct buffer *b = &n->buffer[i];

		if (b->kind != BUFFER_BLOCK)
			continue;
		at = next_multiple(at, b->swizzle.row ? SWIZZLE_ALIGN : SWIZZLE_UNIT);
		if (i < buffer)
			at += buffer_bytes(b);
	}
	return at;
}

int nest_is_bulk(const struct nest *n, const struct node *copy)
{
	return copy->kind == NODE_COPY &&
	       copy->lanes * elem_size(n->buffer[nest_base(n, copy->buffer)].elem) >
		       NEST_COPY_BYTES;
}

static int has_bulk(const struct nest *n, const struct node *t)
{
	for (; t; t = t->next)
		if (nest_is_bulk(n, t) || has_bulk(n, t->body) || has_bulk(n, t->orelse))
			return 1;
	return 0;
}

int nest_has_bulk(const struct nest *n)
{
	return has_bulk(n, n->body);
}

int64_t nest_block_bytes(const struct nest *n)
{
	int64_t bytes = next_multiple(nest_block_place(n, n->nbuffers), SWIZZLE_UNIT);

	return bytes + (nest_has_bulk(n) ? NEST_BULK_BYTES : 0);
}

const struct node *nest_next_phase(const struct node *t)
{
	while (t && t->kind != NODE_SYNC)
		t = t->next;
	return t ? t->next : NULL;
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
		return x->value == 0 && !signbit(x->value);
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
	const struct node *here; /* the loop or branch around; NULL: none */
	const struct node **scope;
	struct {
		int used;
		const struct node *last; /* where it was used last */
	} at[NEST_BUFFERS];
};

static void note_use(struct scope_walk *w, int buffer)
{
	const struct node **scope = &w->scope[buffer];

	if (w->n->buffer[buffer].kind != BUFFER_REG ||
	    (w->at[buffer].used && w->at[buffer].last == w->here))
		return;
	if (!w->at[buffer].used++)
		*scope = w->here;
	while (!nest_holds(*scope, w->here))
		*scope = (*scope)->outer;
	w->at[buffer].last = w->here;
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
		if (t->kind == NODE_MMA || t->kind == NODE_TMUL)
			note_use(w, t->buffer);
		if (t->kind != NODE_FOR && t->kind != NODE_IF)
			continue;
		w->here = t;
		note_body(w, t->body);
		note_body(w, t->orelse);
		w->here = t->outer;
	}
}

void nest_register_scopes(const struct nest *n, const struct node *scope[NEST_BUFFERS])
{
	struct scope_walk w;

	w.n = n;
	w.here = NULL;
	w.scope = scope;
	memset(w.at, 0, sizeof w.at[0] * (size_t)n->nbuffers);
	memset(scope, 0, sizeof *scope * (size_t)n->nbuffers);
	note_body(&w, n->body);
}

int nest_holds(const struct node *outer, const struct node *inner)
{
	while (inner && inner != outer)
		inner = inner->outer;
	return inner == outer;
}
