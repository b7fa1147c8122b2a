#include "lib/tile/spread.h"

#include <stddef.h>

#include "lib/space/knob.h"

int spread_shape(struct spread *t, int64_t in, int64_t out, int64_t lanes, int64_t nv)
{
	int64_t most = in > out ? in : out;

	if (lanes < 2 * most)
		return 0;
	t->in = (int)in;
	t->out = (int)out;
	t->lanes = (int)lanes;
	t->nv = (int)nv;
	t->reads = (int)(lanes / most * in);
	t->writes = (int)(lanes / most * out);
	return 1;
}

int64_t spread_beyond(const struct spread *t)
{
	return t->tile->group > 1 ? (int64_t)t->lanes * t->tile->group : 0;
}

void spread_registers(struct nest *n, struct spread *t, int max_rows)
{
	t->acc = nest_reg(n, "acc", t->tile->sum, t->lanes, max_rows, t->nv);
	t->wreg = nest_reg(n, "wr", t->tile->right, t->lanes, 1, t->nv);
}

int64_t spread_needs(int64_t nv, int64_t rows)
{
	return nv * (rows + 1) + 3;
}

static struct affine unrolled(struct nest *n, const char *name, int64_t turns)
{
	return af_var(nest_for(n, LOOP_UNROLL, name, af(0), af(turns)));
}

static void begin_tile(struct nest *n, const struct spread *t, int rows, int64_t vectors)
{
	struct affine row = unrolled(n, "m", rows), vec = unrolled(n, "v", vectors);
	const struct expr *x =
		t->bias < 0 ? ex_const(n, t->tile->sum, t->lanes, 0)
			    : ex_load_as(n, t->tile->sum, t->bias, t->lanes,
					 af_add(t->bias_at, af_mul(vec, t->writes)), NULL);

	nest_store(n, t->acc, af_add(af_mul(row, t->nv), vec), NULL, x);
	nest_close(n);
	nest_close(n);
}

/* Step i of each lane's group, of a vector x of whole groups. */
static const struct expr *spread(struct nest *n, const struct spread *t, const struct expr *x,
				 struct affine i)
{
	return t->in == 1 && t->out == 1 ? x : ex_spread(n, x, t->out, t->in / t->tile->group, i);
}

static const struct expr *load(struct nest *n, const struct spread *t, int buffer, enum elem as,
			       struct affine at, const struct affine *valid)
{
	return t->tile->group > 1 ? ex_load_groups(n, buffer, as, t->lanes, at)
				  : ex_load_as(n, as, buffer, t->lanes, at, valid);
}

/* Whole numbers of the left side are without a sign, those of the right side are with it. */
static const struct expr *multiplied(struct nest *n, const struct spread *t, const struct expr *x,
				     const struct expr *w, const struct expr *sum)
{
	const enum expr_kind kind = t->tile->group > 1 ? EXPR_DOT : EXPR_FMA;

	return t->tile->sum == ELEM_S32 ? ex_op(n, kind, x, w, sum) : ex_op(n, kind, w, x, sum);
}

/* The channels of step i of the groups, from `a` and `b` on. */
static void multiply(struct nest *n, const struct spread *t, int rows, int64_t channels, int a,
		     struct affine a_at, int b, struct affine b_at, struct affine i)
{
	int64_t vectors = ceil_div(channels, t->writes), reads = channels / t->out * t->in;
	struct affine row, vec = unrolled(n, "v", vectors), acc;
	const struct affine *valid;

	nest_store(n, t->wreg, vec, NULL,
		   load(n, t, b, t->tile->right,
			af_add(b_at, af_mul(vec, (int64_t)t->lanes * t->tile->group)), NULL));
	nest_close(n);
	row = unrolled(n, "m", rows);
	vec = unrolled(n, "v", vectors);
	acc = af_add(af_mul(row, t->nv), vec);
	a_at = af_sum(a_at, af_mul(row, t->a_row), af_mul(vec, t->reads));
	/* Lanes beyond the tile's last group belong to no group. */
	valid = reads < vectors * t->lanes ? nest_keep(n, af_sub(af(reads), af_mul(vec, t->reads)))
					   : NULL;
	nest_store(n, t->acc, acc, NULL,
		   multiplied(n, t, spread(n, t, load(n, t, a, t->tile->left, a_at, valid), i),
			      ex_reg_as_is(n, t->wreg, vec), ex_reg_as_is(n, t->acc, acc)));
	nest_close(n);
	nest_close(n);
}

void spread_tile(struct nest *n, const struct spread *t, int rows, int64_t channels)
{
	int64_t channel = (int64_t)t->nv * t->lanes, tap = t->in * channel;
	struct affine line, column, i;
	int a, b;

	begin_tile(n, t, rows, ceil_div(channels, t->writes));
	line = af_var(nest_for(n, LOOP_SERIAL, "kh", t->lo, t->hi));
	a = nest_view(n, "A", t->a, af_add(t->a_at, af_scale(line, t->a_line)));
	b = nest_view(n, "B", t->b, af_add(t->b_at, af_mul(line, t->columns * tap)));
	column = af_var(nest_for(n, LOOP_SERIAL, "kw", af(0), af(t->columns)));
	i = unrolled(n, "i", t->in / t->tile->group);
	multiply(n, t, rows, channels, a, af_mul(column, t->a_column), b,
		 af_add(af_mul(column, tap), af_mul(i, channel * t->tile->group)), i);
	nest_close(n);
	nest_close(n);
	nest_close(n);
}
