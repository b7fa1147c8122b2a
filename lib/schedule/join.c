#include "lib/schedule/join.h"

#include <stddef.h>

void join_declare(struct join *s, const char *name)
{
	s->to = nest_reg(s->n, name, ELEM_F32, 1, 1, 1);
	s->memory = s->group > 1 ? nest_block(s->n, name, s->threads) : -1;
}

static void join(const struct join *s, const struct expr *x)
{
	nest_store(s->n, s->to, af(0), NULL,
		   ex_op(s->n, s->kind, ex_reg(s->n, s->to, af(0)), x, NULL));
}

static const struct expr *number(const struct join *s, struct affine at)
{
	return ex_load(s->n, s->memory, 1, at, NULL);
}

void join_put(const struct join *s, int thread, const struct expr *x)
{
	struct nest *n = s->n;

	nest_store(n, s->to, af(0), NULL, x->lanes > 1 ? ex_pick(n, x, af(0)) : x);
	for (int lane = 1; lane < x->lanes; lane++)
		join(s, ex_pick(n, x, af(lane)));
	if (s->memory >= 0)
		nest_store(n, s->memory, af_var(thread), NULL, ex_reg(n, s->to, af(0)));
}

/* Of one group the first `left` numbers become left / fan. */
static void step(const struct join *s, int left)
{
	struct nest *n = s->n;
	int thread = nest_for_threads(n, "t", s->threads), next = left / s->fan, k;
	int in_group = nest_let_mod(n, "in", af_var(thread), s->group);

	nest_if_less(n, af_var(in_group), af(next));
	nest_store(n, s->to, af(0), NULL, number(s, af_var(thread)));
	k = nest_for(n, LOOP_UNROLL, "k", af(1), af(s->fan));
	join(s, number(s, af_add(af_var(thread), af_mul(af_var(k), next))));
	nest_close(n);
	nest_store(n, s->memory, af_var(thread), NULL, ex_reg(n, s->to, af(0)));
	nest_close(n);
	nest_close(n);
}

static int left_at_last(const struct join *s)
{
	int left = s->group;

	while (left > s->fan)
		left /= s->fan;
	return left;
}

void join_steps(const struct join *s)
{
	for (int left = s->group; left > s->fan; left /= s->fan)
		step(s, left);
}

void join_get(const struct join *s, int thread)
{
	struct nest *n = s->n;
	struct affine first;
	int k;

	if (s->memory < 0)
		return;
	first = af_mul(af_var(nest_let_div(n, "group", af_var(thread), s->group)), s->group);
	nest_store(n, s->to, af(0), NULL, number(s, first));
	k = nest_for(n, LOOP_UNROLL, "k", af(1), af(left_at_last(s)));
	join(s, number(s, af_add(first, af_var(k))));
	nest_close(n);
}
