/* Integers, which are floats here, by the rules of their types; and casts. */
#include <stdlib.h>
#include <string.h>

#include "lib/run/lower.h"

/* The bits of an integer type, negative if it has a sign; 0: it is none. */
static int bits_of(int elem)
{
	static const struct {
		int elem, bits;
	} types[] = {{VALUE_U4, 4},   {VALUE_I4, -4},	{VALUE_U8, 8},	 {VALUE_I8, -8},
		     {VALUE_U16, 16}, {VALUE_I16, -16}, {VALUE_U32, 32}, {VALUE_I32, -32},
		     {VALUE_U64, 64}, {VALUE_I64, -64}};

	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (types[i].elem == elem)
			return types[i].bits;
	return 0;
}

/* Does the second type have all numbers of the first one? */
static int holds(int from, int to)
{
	return from > 0 ? to >= from || -to > from : to <= from;
}

int lower_exact(struct lowering *l, const struct graph_node *n, int bits, struct err *e)
{
	return lower_again(l, n, "exact", bits,
			   "a whole number lies outside of what tl-run computes exactly, "
			   "16777215 at most, and below 0 only of types with a sign",
			   e);
}

int lower_countable(const struct lowering *l, const struct graph_node *n, int64_t elements,
		    struct err *e)
{
	return elements > 1 << 24
		       ? lower_bad(l, n, e,
				   "counts %lld elements, and numbers beyond 2^24 are not exact in "
				   "floats",
				   (long long)elements)
		       : 0;
}

/* Does the node compute, and not only move what there is? */
static int computes(const struct graph_node *n)
{
	static const enum node_op ops[] = {
		OP_Abs,	   OP_Add,	OP_BitwiseNot, OP_CumProd,   OP_CumSum,
		OP_Einsum, OP_Gemm,	OP_MatMul,     OP_Mul,	     OP_Neg,
		OP_Pow,	   OP_ReduceL1, OP_ReduceProd, OP_ReduceSum, OP_ReduceSumSquare,
		OP_Sub,	   OP_Sum};

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (node_is(n, ops[i]))
			return 1;
	return (node_is(n, OP_ScatterElements) || node_is(n, OP_ScatterND)) &&
	       strcmp(node_str(n, "reduction", "none"), "none") != 0;
}

/* Is the result a real number, of which an integer keeps the whole part? */
static int is_cut(const struct graph_node *n)
{
	return node_is(n, OP_ReduceL2) || node_is(n, OP_ReduceLogSum) ||
	       node_is(n, OP_ReduceLogSumExp);
}

int lower_wrap(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct value *v = node_out(l->g, n, 0);
	const int bits = v ? bits_of(v->elem) : 0;

	if (bits && is_cut(n))
		return lower_again(l, n, "truncate", bits, NULL, e);
	if (!bits || !computes(n))
		return 0;
	return abs(bits) < 32 ? lower_again(l, n, "wrap", bits, NULL, e)
			      : lower_exact(l, n, bits, e);
}

/* A cast to a type that has all numbers of the first one. */
static int widen(struct lowering *l, const struct graph_node *n, int from, int to, struct err *e)
{
	if (lower_alias(l, n, e))
		return -1;
	return from == VALUE_I32 && to != VALUE_I32
		       ? lower_again(l, n, "widen", 0,
				     "the largest number of i32 is none of another type that a "
				     "float holds",
				     e)
		       : 0;
}

int lower_cast(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const struct value *from = node_in(l->g, n, 0), *to = node_out(l->g, n, 0);
	const int is_bool = from && from->elem == VALUE_BOOL;
	int bits;

	if (!from || !to)
		return lower_bad(l, n, e, "lacks its operand");
	bits = bits_of(to->elem);
	if (from->elem == to->elem || to->elem == VALUE_F32 || to->elem == VALUE_F64)
		return lower_alias(l, n, e);
	if (to->elem == VALUE_BOOL)
		return lower_by(l, n, "truth", 0, e);
	if (to->elem == VALUE_F16 || to->elem == VALUE_BF16)
		return lower_by(l, n, elem_name(to->elem), 0, e);
	if (bits && (elem_is_real(from->elem) || from->elem == VALUE_UNKNOWN))
		return lower_by(l, n, "truncate", bits, e);
	if (bits && (is_bool || holds(bits_of(from->elem), bits)))
		return widen(l, n, from->elem, to->elem, e);
	if (bits && bits_of(from->elem))
		return lower_by(l, n,
				from->elem == VALUE_I32	  ? "narrow 32"
				: from->elem == VALUE_I64 ? "narrow 64"
							  : "wrap",
				bits, e);
	return lower_bad(l, n, e, "makes %s of %s, which is not computed here", elem_name(to->elem),
			 elem_name(from->elem));
}
