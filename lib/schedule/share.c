#include "lib/schedule/share.h"

#include "lib/space/knob.h"

struct affine share_units(struct nest *n, enum loop_kind kind, int thread, int threads,
			  int64_t units, struct affine *turn)
{
	int i = nest_for(n, kind, "i", af(0), af(ceil_div(units, threads)));
	int unit = nest_let(n, "u", af_add(af_mul(af_var(i), threads), af_var(thread)));

	*turn = af_var(i);
	if (units % threads)
		nest_if_less(n, af_var(unit), af(units));
	return af_var(unit);
}

struct affine share_grid(struct nest *n, int threads, int64_t units)
{
	int block = nest_for(n, LOOP_PARALLEL, "i", af(0), af(ceil_div(units, threads)));
	int thread = nest_for_threads(n, "t", threads);
	struct affine unit = af_add(af_mul(af_var(block), threads), af_var(thread));

	if (units % threads)
		nest_if_less(n, unit, af(units));
	return unit;
}

struct affine share_place(struct nest *n, const char *name, struct affine *unit, int64_t extent)
{
	struct affine place = af_var(nest_let_mod(n, name, *unit, extent));

	*unit = af_var(nest_let_div(n, "rest", *unit, extent));
	return place;
}

static struct shared_unit place(struct nest *n, struct affine unit, int64_t by)
{
	struct shared_unit u;

	u.low = af_var(nest_let_mod(n, "low", unit, by));
	u.high = af_var(nest_let_div(n, "high", unit, by));
	return u;
}

struct shared_unit share_rows(struct nest *n, int thread, int threads, int64_t units, int64_t by)
{
	const int whole = threads % by == 0;
	struct affine unit = af_var(thread), turn;
	struct shared_unit u;

	if (whole)
		u = place(n, unit, by);
	turn = af_var(nest_for(n, LOOP_UNROLL, "i", af(0), af(ceil_div(units, threads))));
	unit = af_add(af_mul(turn, threads), unit);
	if (units % threads)
		nest_if_less(n, unit, af(units));
	if (!whole)
		return place(n, unit, by);
	u.high = af_add(u.high, af_mul(turn, threads / by));
	return u;
}
