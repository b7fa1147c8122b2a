/* The tiles of multiply-adds in single precision, of what loads make of elements, and of whole
 * numbers of 32 bits. */
#include <stddef.h>

#include "lib/tile/brgemm_columns.h"
#include "lib/tile/tile.h"

static void load_right(struct nest *n, const struct brgemm *g, struct affine b_at, int vec)
{
	nest_store(n, g->breg, af_var(vec), NULL,
		   ex_load_as(n, g->tile->sum, g->b, g->lanes,
			      af_add(b_at, af_mul(af_var(vec), g->b_vector)),
			      brgemm_lanes_left(n, g, g->b_valid, vec)));
}

static void load_left(struct nest *n, const struct brgemm *g, struct affine a_at, int row)
{
	nest_store(n, g->areg, af_var(row), NULL,
		   ex_bcast(n, g->lanes,
			    ex_load_as(n, g->tile->sum, g->a, 1,
				       af_add(a_at, af_scale(af_var(row), g->a_row)), NULL)));
}

static void multiply(struct nest *n, const struct brgemm *g, int row, int vec)
{
	const struct affine sum = brgemm_acc_at(g, af_var(row), vec);

	nest_store(n, g->acc, sum, NULL,
		   ex_op(n, EXPR_FMA, ex_reg_as_is(n, g->areg, af_var(row)),
			 ex_reg_as_is(n, g->breg, af_var(vec)), ex_reg_as_is(n, g->acc, sum)));
}

/* The products of a row stand side by side. */
static void step_by_rows(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
			 struct affine b_at)
{
	int row, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));

	load_right(n, g, b_at, vec);
	nest_close(n);
	row = nest_for(n, LOOP_UNROLL, "m", af(g->first_row), af(rows));
	load_left(n, g, a_at, row);
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	multiply(n, g, row, vec);
	brgemm_close_tile(n);
}

/* The products of a vector of the right side stand side by side. */
static void step_by_vectors(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
			    struct affine b_at)
{
	int vec, row = nest_for(n, LOOP_UNROLL, "m", af(g->first_row), af(rows));

	load_left(n, g, a_at, row);
	nest_close(n);
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	load_right(n, g, b_at, vec);
	row = nest_for(n, LOOP_UNROLL, "m", af(g->first_row), af(rows));
	multiply(n, g, row, vec);
	brgemm_close_tile(n);
}

static void step(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
		 struct affine b_at)
{
	if (g->holds_left)
		step_by_vectors(n, g, rows, a_at, b_at);
	else
		step_by_rows(n, g, rows, a_at, b_at);
	brgemm_prefetch_panel(n, g);
}

const struct tile tile_fma = {
	.name = "fma",
	.group = 1,
	.takes_all = 1,
	.step = step,
};

const struct tile tile_fma_whole = {
	.name = "fma_whole",
	.group = 1,
	.takes_whole = 1,
	.sum = ELEM_S32,
	.left = ELEM_S32,
	.right = ELEM_S32,
	.spare = 2,
	.step = step,
};
