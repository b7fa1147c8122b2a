#include "lib/draft/branch.h"

#include <stdlib.h>

#include "lib/base/err.h"

/* The lattice is made from it: its powers modulo the samples are 8 numbers. */
enum { GENERATOR = 11 };

/* A form's values: one for each sample, or for each of its threads. */
struct values {
	int each; /* so many for a sample; 0: they are not known */
	double v[BRANCH_SAMPLES * WARP_THREADS];
};

/* ---- what is needed ---- */

static void need(struct branch *b, const struct affine *a)
{
	for (int i = 0; i < a->n; i++)
		if (a->t[i].var >= 0)
			b->var[a->t[i].var].is_needed = 1;
}

static int has_branches(struct branch *b, const struct node *t, const struct node **defines)
{
	int any = 0;

	for (; t && t->kind != NODE_SYNC; t = t->next) {
		if (t->kind == NODE_FOR || t->kind == NODE_LET)
			defines[t->var] = t;
		if (t->kind == NODE_IF) {
			need(b, &t->a);
			need(b, &t->b);
			any = 1;
		}
		any |= has_branches(b, t->body, defines);
		any |= has_branches(b, t->orelse, defines);
	}
	return any;
}

static int warps(const struct nest *n)
{
	return (n->block_threads + WARP_THREADS - 1) / WARP_THREADS;
}

/* Turns of a loop whose bounds are the same everywhere; 0: they are not. */
static int64_t turns_of(const struct branch *b, const struct node *t)
{
	static const int64_t none[NEST_VARS];
	const struct affine *bound[] = {&t->a, &t->b};

	if (t->loop == LOOP_THREAD)
		return warps(b->n);
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < bound[i]->n; k++)
			if (bound[i]->t[k].var >= 0 &&
			    b->n->var[bound[i]->t[k].var].kind != VAR_SYMBOL)
				return 0;
	return af_eval(b->n, &t->b, none) - af_eval(b->n, &t->a, none);
}

static int is_needed_loop(const struct branch *b, const struct node *t)
{
	return t->kind == NODE_FOR && b->var[t->var].is_needed;
}

/* Goes through loops that are needed: how deep they lie in each other, and how many samples it
 * takes to have all turns. Loops over threads share the warps. */
static void place_loops(struct branch *b, const struct node *t, int depth, int64_t *all)
{
	for (; t && t->kind != NODE_SYNC; t = t->next) {
		const int here = is_needed_loop(b, t);

		if (here) {
			int64_t turns = turns_of(b, t);

			b->var[t->var].depth = depth + 1;
			b->var[t->var].step = (int)*all;
			if (t->loop == LOOP_THREAD) {
				b->var[t->var].depth = 0;
				b->var[t->var].step = 1;
			} else if (turns < 1 || turns > BRANCH_SAMPLES || *all > BRANCH_SAMPLES) {
				*all = BRANCH_SAMPLES + 1;
			} else {
				*all *= turns;
			}
		}
		place_loops(b, t->body, depth + here, all);
		place_loops(b, t->orelse, depth + here, all);
	}
}

void branch_open(struct branch *b, const struct nest *n, const struct node *t)
{
	const struct node *defines[NEST_VARS] = {NULL};
	int64_t all = warps(n);
	size_t needed = 0;

	*b = (struct branch){.n = n};
	b->threads = n->block_threads < WARP_THREADS ? n->block_threads : WARP_THREADS;
	if (!has_branches(b, t, defines))
		return;
	for (int i = n->nvars - 1; i >= 0; i--) /* what a let is of was there before it */
		if (b->var[i].is_needed && defines[i]) {
			need(b, &defines[i]->a);
			need(b, &defines[i]->b);
			needed++;
		}
	place_loops(b, t, 0, &all);
	b->is_all = all <= BRANCH_SAMPLES;
	b->samples = b->is_all ? (int)all : BRANCH_SAMPLES;
	b->values = xmalloc((needed + 1) * sizeof(double) * BRANCH_SAMPLES * WARP_THREADS);
	needed = 0;
	for (int i = 0; i < n->nvars; i++)
		if (b->var[i].is_needed && defines[i])
			b->var[i].at = b->values + needed++ * BRANCH_SAMPLES * WARP_THREADS;
	for (int s = 0; s < b->samples; s++)
		b->all.threads[s] = b->threads < 32 ? (1U << b->threads) - 1 : ~0U;
	b->now = b->all;
}

void branch_close(struct branch *b)
{
	free(b->values);
}

/* ---- values ---- */

/* Adds k times what a variable is. */
static void add(const struct branch *b, struct values *to, int var, double k)
{
	const int each = to->each, n = b->samples * each;
	const double *at = b->var[var].at;

	if (b->var[var].differs || each == 1) {
		for (int i = 0; i < n; i++)
			to->v[i] += k * at[i];
		return;
	}
	for (int s = 0; s < b->samples; s++)
		for (int t = 0; t < each; t++)
			to->v[s * each + t] += k * at[s];
}

static int is_symbol(const struct branch *b, int var)
{
	return var < 0 || b->n->var[var].kind == VAR_SYMBOL;
}

/* What of a form's term is the same everywhere. */
static double factor(const struct branch *b, const struct affine *a, int i)
{
	const int sym = a->t[i].sym, var = a->t[i].var;
	int64_t k = a->t[i].coef * (sym >= 0 ? b->n->var[sym].value : 1);

	if (var >= 0 && is_symbol(b, var))
		k *= b->n->var[var].value;
	return (double)k;
}

/* At least so many values for each sample. */
static void compute(const struct branch *b, const struct affine *a, int each, struct values *to)
{
	double same = (double)a->c;

	to->each = each;
	for (int i = 0; i < a->n; i++) {
		const int var = a->t[i].var;

		if (is_symbol(b, var)) {
			same += factor(b, a, i);
		} else if (!b->var[var].is_known) {
			to->each = 0;
			return;
		} else if (b->var[var].differs) {
			to->each = b->threads;
		}
	}
	for (int i = 0; i < b->samples * to->each; i++)
		to->v[i] = same;
	for (int i = 0; i < a->n; i++)
		if (!is_symbol(b, a->t[i].var))
			add(b, to, a->t[i].var, factor(b, a, i));
}

/* Both forms, with as many values each. 0: one of them is not known. */
static int compute_both(const struct branch *b, const struct node *t, struct values *x,
			struct values *y)
{
	compute(b, &t->a, 1, x);
	if (!x->each)
		return 0;
	compute(b, &t->b, x->each, y);
	if (y->each > x->each)
		compute(b, &t->a, y->each, x);
	return y->each > 0;
}

/* a / b rounded down, for 0 <= a < 2^51 and a whole b, of which this is the reciprocal: rounded to
 * the nearest, of what is about 1/(2b) away from any half. */
static double divided(double a, double reciprocal)
{
	const double whole = 0x1.8p52;

	return ((a + 0.5) * reciprocal - 0.5 + whole) - whole;
}

/* The first n values. */
static void set_let(enum let_kind let, const struct values *x, const struct values *y, int n,
		    double *at)
{
	const double *a = x->v, *b = y->v, reciprocal = 1 / b[0]; /* of a constant */

	for (int i = 0; i < n; i++)
		switch (let) {
		case LET_MIN:
			at[i] = a[i] < b[i] ? a[i] : b[i];
			break;
		case LET_DIV:
			at[i] = divided(a[i], reciprocal);
			break;
		case LET_MOD:
			at[i] = a[i] - b[i] * divided(a[i], reciprocal);
			break;
		case LET_IN:
			at[i] = a[i] >= 0 && a[i] < b[i];
			break;
		case LET_IS:
			at[i] = a[i];
			break;
		}
}

void branch_let(struct branch *b, const struct node *let)
{
	struct values x, y;

	if (!b->var[let->var].at)
		return;
	b->var[let->var].is_known = (char)compute_both(b, let, &x, &y);
	if (!b->var[let->var].is_known)
		return;
	b->var[let->var].differs = x.each > 1;
	set_let(let->let, &x, &y, b->samples * x.each, b->var[let->var].at);
}

/* ---- loops ---- */

/* Says where in its turns a loop is, as a number of [0, 1). */
static double place(const struct branch *b, int depth, int sample)
{
	int by = 1;

	for (int i = 0; i < depth; i++)
		by = by * GENERATOR % b->samples;
	return (sample * by % b->samples + 0.5) / b->samples;
}

static void set_threads(struct branch *b, const struct node *loop)
{
	const int n = warps(b->n);

	for (int s = 0; s < b->samples; s++) {
		const int warp = b->is_all ? s % n : (int)(place(b, 0, s) * n);
		const int left = b->n->block_threads - warp * WARP_THREADS;

		b->all.threads[s] = left < 32 ? (1U << left) - 1 : ~0U;
		for (int t = 0; b->var[loop->var].at && t < b->threads; t++)
			b->var[loop->var].at[s * b->threads + t] = warp * WARP_THREADS + t;
	}
	b->var[loop->var].is_known = b->var[loop->var].differs = 1;
}

void branch_for(struct branch *b, const struct node *loop)
{
	const int var = loop->var;
	struct values from, to;

	if (loop->loop == LOOP_THREAD)
		set_threads(b, loop);
	if (loop->loop == LOOP_THREAD || !b->var[var].at)
		return;
	b->var[var].is_known = (char)(compute_both(b, loop, &from, &to) && from.each == 1);
	for (int s = 0; b->var[var].is_known && s < b->samples; s++) {
		const double turns = to.v[s] - from.v[s];
		const int all = (int)turns > 0 ? (int)turns : 1;
		const int turn = b->is_all ? s / b->var[var].step % all
					   : (int)(place(b, b->var[var].depth, s) * all);

		b->var[var].at[s] = from.v[s] + turn;
	}
}

void branch_turn(struct branch *b, const struct node *loop, int64_t turn)
{
	const int var = loop->var;
	struct values from;

	if (!b->var[var].at)
		return;
	compute(b, &loop->a, 1, &from);
	b->var[var].is_known = from.each == 1;
	for (int s = 0; b->var[var].is_known && s < b->samples; s++)
		b->var[var].at[s] = from.v[s] + (double)turn;
}

/* ---- branches ---- */

static uint32_t holds(const struct values *x, const struct values *y, int sample)
{
	uint32_t bits = 0;

	if (x->each == 1)
		return x->v[sample] < y->v[sample] ? ~0U : 0;
	for (int t = 0; t < x->each; t++)
		bits |= (uint32_t)(x->v[sample * x->each + t] < y->v[sample * x->each + t]) << t;
	return bits;
}

struct branch_mask branch_enter(struct branch *b, const struct node *branch, int otherwise)
{
	const struct branch_mask before = b->now;
	struct values x, y;
	const int is_known = compute_both(b, branch, &x, &y);

	for (int s = 0; s < b->samples; s++) {
		const uint32_t bits = is_known ? holds(&x, &y, s) : ~0U;

		b->now.threads[s] &= otherwise ? ~bits : bits;
	}
	return before;
}

void branch_leave(struct branch *b, const struct branch_mask *before)
{
	b->now = *before;
}

struct branch_share branch_share(const struct branch *b)
{
	int threads = 0, all = 0, some = 0;

	for (int s = 0; s < b->samples; s++) {
		const uint32_t here = b->now.threads[s] & b->all.threads[s];

		threads += __builtin_popcount(here);
		all += __builtin_popcount(b->all.threads[s]);
		some += here != 0;
	}
	if (!all)
		return (struct branch_share){1, 1};
	return (struct branch_share){(double)threads / all, (double)some / b->samples};
}
