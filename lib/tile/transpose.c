#include "lib/tile/transpose.h"

#include <stddef.h>

struct transpose transpose_of(struct nest *n, int64_t lanes)
{
	struct transpose t = {.n = n, .lanes = (int)lanes};

	for (int i = 0; i < 2; i++)
		t.regs[i] = nest_reg(n, i ? "odd" : "even", ELEM_F32, t.lanes, t.lanes, 1);
	return t;
}

/* Registers to = registers from, of `rows`: those at this distance exchange lanes at that distance.
 */
static void exchange(const struct transpose *t, int to, int from, int rows, int distance, int apart)
{
	struct nest *n = t->n;
	int hi = nest_for(n, LOOP_UNROLL, "i", af(0), af(rows / (2 * distance)));
	int lo = nest_for(n, LOOP_UNROLL, "i", af(0), af(distance));
	struct affine i = af_add(af_mul(af_var(hi), 2 * distance), af_var(lo));
	struct affine j = af_add(i, af(distance));

	for (int upper = 0; upper < 2; upper++)
		nest_store(n, to, upper ? j : i, NULL,
			   ex_exchange(n, ex_reg(n, from, i), ex_reg(n, from, j), apart, upper));
	nest_close(n);
	nest_close(n);
}

static int log2_of(int n)
{
	int bits = 0;

	while (1 << bits < n)
		bits++;
	return bits;
}

/* An exchange swaps a bit of the registers' numbers for a bit of the lanes'. The elements of a
 * place in all rows are to be neighbours, so the bits of the row come to the lowest bits of the
 * lane, and those of the place follow, from the lowest on. Each of these stands in a register's bit
 * when its turn comes: they go through the registers' bits in turns. */
static int interleave(const struct transpose *t, int rows)
{
	const int bits = log2_of(rows);
	int turn = 0;

	for (int k = 0; 1 << k < t->lanes; k++, turn = !turn)
		exchange(t, t->regs[!turn], t->regs[turn], rows, 1 << k % bits, 1 << k);
	return t->regs[turn];
}

int transpose_square(const struct transpose *t)
{
	return interleave(t, t->lanes);
}

int transpose_interleave(const struct transpose *t, int rows, int part[])
{
	const int bits = log2_of(rows), first = log2_of(t->lanes) - bits;

	for (int i = 0; i < rows; i++) {
		part[i] = 0;
		for (int x = 0; x < bits; x++)
			part[i] |= (i >> (first + x) % bits & 1) << x;
	}
	return interleave(t, rows);
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
