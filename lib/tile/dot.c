/* Tiles whose instruction sums the products of groups (lib/nest/elem.h): a lane of a vector of the
 * right side holds a column's values of k that are multiplied together, and so does what is
 * broadcast of the left side.
 *
 * AVX512_BF16's vdpbf16ps takes two values of bf16; it treats numbers below the smallest normal one
 * as zero (Intel, "Architecture Instruction Set Extensions Programming Reference"). AVX512_VNNI's
 * vpdpbusd takes four of u8 by four of s8, and sums exactly.
 *
 * Without it, and for a source of s8, elements of 8 bits are widened to 16, of which vpmaddwd
 * multiplies and sums pairs. vpmaddubsw, which takes them as they are, ends its sums of two at
 * 32767, beyond which 255 * 127 + 255 * 127 is. oneDNN takes it all the same: three operations for
 * 32 products, where two pairs of vpmaddwd and vpaddd are four. Elements that lie in memory with 16
 * bits (lib/schedule/range.h, range_wide()) spare their widening, which is as much again.
 */
#include "lib/tile/brgemm_columns.h"
#include "lib/tile/tile.h"

static void step(struct nest *n, const struct brgemm *g, int rows, struct affine a_at,
		 struct affine b_at)
{
	const enum elem a = g->tile->left, b = g->tile->right;
	int row, vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));

	nest_store(n, g->breg, af_var(vec), NULL,
		   ex_load_groups(n, g->b, b, g->lanes,
				  af_add(b_at, af_mul(af_var(vec), g->b_vector))));
	nest_close(n);

	row = nest_for(n, LOOP_UNROLL, "m", af(0), af(rows));
	nest_store(n, g->areg, af_var(row), NULL,
		   ex_bcast(n, g->lanes,
			    ex_load_groups(n, g->a, a, 1,
					   af_add(a_at, af_scale(af_var(row), g->a_row)))));
	vec = nest_for(n, LOOP_UNROLL, "v", af(0), af(g->nv));
	nest_store(n, g->acc, brgemm_acc_at(g, af_var(row), vec), NULL,
		   ex_op(n, EXPR_DOT, ex_reg(n, g->areg, af_var(row)),
			 ex_reg(n, g->breg, af_var(vec)),
			 ex_reg_as_is(n, g->acc, brgemm_acc_at(g, af_var(row), vec))));
	brgemm_close_tile(n);
	brgemm_prefetch_panel(n, g);
}

const struct tile tile_dot_bf16 = {
	.name = "dot_bf16",
	.group = 2,
	.type = DTYPE_BF16,
	.weights = DTYPE_BF16,
	.left = ELEM_BF16X2,
	.right = ELEM_BF16X2,
	.lanes = 16,
	.step = step,
};

const struct tile tile_dot_u8 = {
	.name = "dot_u8",
	.group = 4,
	.type = DTYPE_U8,
	.weights = DTYPE_S8,
	.sum = ELEM_S32,
	.left = ELEM_U8X4,
	.right = ELEM_S8X4,
	.lanes = 16,
	.spare = 1,
	.step = step,
};

const struct tile tile_dot_s16 = {
	.name = "dot_s16",
	.group = 2,
	.takes_whole = 1,
	.sum = ELEM_S32,
	.left = ELEM_S16X2,
	.right = ELEM_S16X2,
	.spare = 2,
	.step = step,
};
