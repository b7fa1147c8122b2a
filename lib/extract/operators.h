/* The operators of a graph (operators.def): their numbers, and what their rows say.
 *
 * A name is looked up once, when a graph is linked; whoever treats an operator in its own way asks
 * for the number.
 */
#ifndef TL_EXTRACT_OPERATORS_H
#define TL_EXTRACT_OPERATORS_H

#define OPERATOR(name, ...) OP_##name,
enum node_op {
	OP_NONE, /* it is not in the catalogue */
#include "lib/extract/operators.def"
	OPERATORS
};
#undef OPERATOR

/* What an operator does to the element type, besides taking that of input 0. */
enum element_rule {
	SAME,
	MOVES,	 /* the same, and what was quantized stays so */
	BOOLEAN, /* makes booleans */
	INDEX,	 /* makes i64 */
	INT32,
	CAST,	   /* attribute "to" */
	FLOATS,	   /* makes what its last float input is: DequantizeLinear's scale */
	CAST_LIKE, /* the type of input 1 */
	BYTES,	   /* QuantizeLinear: the type of the zero point */
	OWN,	   /* the function sets it */
};

/* Which task it is (task.h). */
enum becomes {
	NOTHING, /* or an element-wise operator, which may be part of others */
	CONV,
	CONV_TRANSPOSED,
	CONV_DEFORMED,
	GEMM,
	MATMUL,
	EINSUM,
	RECURRENT,
	SOFTMAX,
	NORM,
	POOL,
};

extern const struct operator_row {
	const char *name;
	enum element_rule elements;
	enum becomes task;
} operator_rows[OPERATORS];

/* Does it multiply and add? */
static inline int operator_multiplies(enum node_op op)
{
	return operator_rows[op].task >= CONV && operator_rows[op].task <= RECURRENT;
}
/* OP_NONE: there is no operator of that name. */
enum node_op operator_find(const char *name);

#endif
