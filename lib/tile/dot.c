/* Tiles whose instruction sums the products of groups (lib/nest/elem.h): a lane of a vector of the
 * right side holds a column's values of k that are multiplied together, and so does what is
 * broadcast of the left side.
 *
 * AVX512_BF16's vdpbf16ps takes two values of bf16; it treats numbers below the smallest normal one
 * as zero (Intel, "Architecture Instruction Set Extensions Programming Reference").
 */
#include "lib/tile/brgemm_columns.h"
#include "lib/tile/tile.h"

static void registers_of(struct nest *n, struct brgemm *g, int rows, enum elem group)
{
	g->areg = nest_reg(n, "a", group, g->lanes, rows, 1);
	g->breg = nest_reg(n, "b", group, g->lanes, 1, g->nv);
}

static void step_of(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
		    struct affine b_at, enum elem group)
{
	int row, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));

	nest_store(n, g->breg, af_var(vec), NULL,
		   ex_load_groups(n, g->b, group, g->lanes,
				  af_add(b_at, af_mul(af_var(vec), g->b_vector))));
	nest_close(n);

	row = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	nest_store(n, g->areg, af_var(row), NULL,
		   ex_bcast(n, g->lanes,
			    ex_load_groups(n, g->a, group, 1,
					   af_add(a_at, af_scale(af_var(row), g->a_row)))));
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	nest_store(n, g->acc, brgemm_acc_at(g, af_var(row), vec), NULL,
		   ex_op(n, EXPR_DOT, ex_reg(n, g->areg, af_var(row)),
			 ex_reg(n, g->breg, af_var(vec)),
			 ex_reg(n, g->acc, brgemm_acc_at(g, af_var(row), vec))));
	brgemm_close_tile(n);
}

static void registers_bf16(struct nest *n, struct brgemm *g, int rows)
{
	registers_of(n, g, rows, ELEM_BF16X2);
}

static void step_bf16(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
		      struct affine b_at)
{
	step_of(n, g, rows, a_at, b_at, ELEM_BF16X2);
}

const struct tile tile_dot_bf16 = {
	.name = "dot_bf16",
	.depth = 2,
	.type = DTYPE_BF16,
	.lanes = 16,
	.registers = registers_bf16,
	.step = step_bf16,
};
