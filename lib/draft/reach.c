#include "lib/draft/reach.h"

#include <string.h>

void reach_set(struct reach *r, int var, int64_t low, int64_t high)
{
	r->var[var] = (struct interval){low, high};
}

static struct interval of_variable(const struct reach *r, const struct nest *n, int var)
{
	if (n->var[var].kind == VAR_SYMBOL)
		return (struct interval){n->var[var].value, n->var[var].value};
	return r->var[var];
}

/* Returns the interval in which term i of a form lies. */
static struct interval term(const struct reach *r, const struct nest *n, const struct affine *a,
			    int i)
{
	const int sym = a->t[i].sym, var = a->t[i].var;
	const int64_t k = a->t[i].coef * (sym >= 0 ? n->var[sym].value : 1);
	const struct interval x = var >= 0 ? of_variable(r, n, var) : (struct interval){1, 1};

	return (struct interval){k * (k < 0 ? x.high : x.low), k * (k < 0 ? x.low : x.high)};
}

static struct interval add(struct interval a, struct interval b)
{
	return (struct interval){a.low + b.low, a.high + b.high};
}

struct interval reach_of(const struct reach *r, const struct nest *n, const struct affine *a)
{
	struct interval sum = {a->c, a->c};

	for (int i = 0; i < a->n; i++)
		sum = add(sum, term(r, n, a, i));
	return sum;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void reach_let(struct reach *r, const struct nest *n, const struct node *let)
{
	const struct interval a = reach_of(r, n, &let->a), b = reach_of(r, n, &let->b);
	struct interval *to = &r->var[let->var];

	switch (let->let) {
	case LET_IS:
		*to = a;
		break;
	case LET_MIN:
		*to = (struct interval){least(a.low, b.low), least(a.high, b.high)};
		break;
	case LET_DIV:
		*to = (struct interval){a.low / b.low, a.high / b.low};
		break;
	case LET_MOD:
		*to = a.low / b.low == a.high / b.low
			      ? (struct interval){a.low % b.low, a.high % b.low}
			      : (struct interval){0, b.low - 1};
		break;
	case LET_IN:
		*to = (struct interval){0, 1};
		break;
	}
}

/* ---- elements ---- */

static void remove_runs(struct runs *r, int from, int end)
{
	memmove(r->at + from, r->at + end, sizeof *r->at * (size_t)(r->n - end));
	r->n -= end - from;
}

/* Runs i and i + 1 become one. */
static void join(struct runs *r, int i)
{
	r->at[i].high = r->at[i + 1].high;
	remove_runs(r, i + 1, i + 2);
}

static void join_nearest(struct runs *r)
{
	int nearest = 0;

	for (int i = 1; i + 1 < r->n; i++)
		if (r->at[i + 1].low - r->at[i].high < r->at[nearest + 1].low - r->at[nearest].high)
			nearest = i;
	join(r, nearest);
}

void runs_add(struct runs *r, struct interval at)
{
	int from = 0, end;

	while (from < r->n && r->at[from].high + 1 < at.low)
		from++;
	for (end = from; end < r->n && r->at[end].low <= at.high + 1; end++) {
		at.low = least(at.low, r->at[end].low);
		at.high = -least(-at.high, -r->at[end].high);
	}
	remove_runs(r, from, end);
	memmove(r->at + from + 1, r->at + from, sizeof *r->at * (size_t)(r->n - from));
	r->at[from] = at;
	if (++r->n == REACH_RUNS)
		join_nearest(r);
}

int64_t runs_elements(const struct runs *r)
{
	int64_t sum = 0;

	for (int i = 0; i < r->n; i++)
		sum += r->at[i].high - r->at[i].low + 1;
	return sum;
}

/* A walk over the turns that a form's value follows. */
struct turns {
	const struct reach *r;
	const struct nest *n;
	const char *differs;
	const struct affine *a;
	int one_by_one;
	struct runs *to;
};

static int64_t turns_of(const struct turns *t, int i)
{
	const int var = t->a->t[i].var;

	if (var < 0 || t->n->var[var].kind != VAR_LOOP || t->differs[var])
		return 1;
	return t->r->var[var].high - t->r->var[var].low + 1;
}

static void add_turns(const struct turns *t, int i, struct interval at)
{
	int64_t turns;
	struct interval x;

	if (i == t->a->n) {
		runs_add(t->to, at);
		return;
	}
	x = term(t->r, t->n, t->a, i);
	turns = t->one_by_one ? turns_of(t, i) : 1;
	if (turns <= 1) {
		add_turns(t, i + 1, add(at, x));
		return;
	}
	for (int64_t k = 0; k < turns; k++) {
		const int64_t v = x.low + k * ((x.high - x.low) / (turns - 1));

		add_turns(t, i + 1, add(at, (struct interval){v, v}));
	}
}

void reach_add(const struct reach *r, const struct nest *n, const char differs[NEST_VARS],
	       const struct affine *a, struct interval from, int lanes, struct runs *to)
{
	enum { MOST_TURNS = 64 };
	struct turns t = {r, n, differs, a, 1, to};
	int64_t all = 1;

	for (int i = 0; i < a->n && t.one_by_one; i++) {
		all *= turns_of(&t, i);
		t.one_by_one = all <= MOST_TURNS;
	}
	add_turns(&t, 0, (struct interval){from.low + a->c, from.high + a->c + lanes - 1});
}
