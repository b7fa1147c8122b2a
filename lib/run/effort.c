#include "lib/run/effort.h"

enum { TILE = 16 }; /* operations of a product of tiles */

struct effort {
	const struct nest *n;
	int64_t left; /* operations; negative: there were more */
	int64_t var[NEST_VARS];
};

static int64_t of_expr(const struct expr *x)
{
	return x ? 1 + of_expr(x->a) + of_expr(x->b) + of_expr(x->c) : 0;
}

static int64_t of_node(const struct node *t)
{
	return t->kind == NODE_MMA || t->kind == NODE_TMUL ? TILE : 1 + of_expr(t->value);
}

/* Is the body the same in every turn? */
static int is_plain(const struct node *t)
{
	for (; t; t = t->next)
		if (t->kind == NODE_FOR || t->kind == NODE_IF)
			return 0;
	return 1;
}

static int64_t of_plain(const struct node *t)
{
	int64_t operations = 0;

	for (; t; t = t->next)
		operations += of_node(t);
	return operations;
}

static void walk(struct effort *f, const struct node *t);

static void walk_loop(struct effort *f, const struct node *t, int64_t from, int64_t to)
{
	if (to > from && is_plain(t->body)) {
		f->left -= (to - from) * of_plain(t->body);
		return;
	}
	for (int64_t i = from; i < to && f->left >= 0; i++) {
		f->var[t->var] = i;
		f->left--;
		walk(f, t->body);
	}
}

static void walk(struct effort *f, const struct node *t)
{
	for (; t && f->left >= 0; t = t->next) {
		const int64_t a = af_eval(f->n, &t->a, f->var), b = af_eval(f->n, &t->b, f->var);

		if (t->kind == NODE_FOR)
			walk_loop(f, t, a, b);
		else if (t->kind == NODE_IF)
			walk(f, a < b ? t->body : t->orelse);
		else
			f->left -= of_node(t);
		if (t->kind == NODE_LET)
			f->var[t->var] = nest_let_value(t->let, a, b);
	}
}

int effort_is_below(const struct nest *n, int64_t operations)
{
	struct effort f = {.n = n, .left = operations};

	walk(&f, n->body);
	return f.left >= 0;
}
