#include "lib/schedule/transpose.h"

#include <stddef.h>

struct transpose transpose_of(struct nest *n, int64_t lanes)
{
	struct transpose t = {.n = n, .lanes = (int)lanes};

	for (int i = 0; i < 2; i++)
		t.regs[i] = nest_reg(n, i ? "odd" : "even", ELEM_F32, t.lanes, t.lanes, 1);
	return t;
}

/* Registers to = registers from, with lanes exchanged for rows at this distance. */
static void exchange(const struct transpose *t, int to, int from, int apart)
{
	struct nest *n = t->n;
	int hi = nest_for(n, LOOP_UNROLL, "i", af(0), af(t->lanes / (2 * apart)));
	int lo = nest_for(n, LOOP_UNROLL, "i", af(0), af(apart));
	struct affine i = af_add(af_mul(af_var(hi), 2 * apart), af_var(lo));
	struct affine j = af_add(i, af(apart));

	for (int upper = 0; upper < 2; upper++)
		nest_store(n, to, upper ? j : i, NULL,
			   ex_exchange(n, ex_reg(n, from, i), ex_reg(n, from, j), apart, upper));
	nest_close(n);
	nest_close(n);
}

int transpose_square(const struct transpose *t)
{
	int turn = 0;

	for (int apart = 1; apart < t->lanes; apart *= 2, turn = !turn)
		exchange(t, t->regs[!turn], t->regs[turn], apart);
	return t->regs[turn];
}

void transpose_zero(const struct transpose *t, int64_t from)
{
	struct nest *n = t->n;
	int i;

	if (from == t->lanes)
		return;
	i = nest_for(n, LOOP_UNROLL, "i", af(from), af(t->lanes));
	nest_store(n, t->regs[0], af_var(i), NULL, ex_const(n, ELEM_F32, t->lanes, 0));
	nest_close(n);
}
