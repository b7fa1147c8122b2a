/* The operators of a graph (operators.def): their numbers, and what their rows say.
 *
 * A name is looked up once, when a graph is linked; whoever treats an operator in its own way asks
 * for the number.
 */
#ifndef TL_EXTRACT_GRAPH_OPERATORS_H
#define TL_EXTRACT_GRAPH_OPERATORS_H

#define OPERATOR(name, ...) OP_##name,
enum node_op {
	OP_NONE, /* it is not in the catalogue */
#include "lib/extract/graph/operators.def"
	OPERATORS
};
#undef OPERATOR

/* How an operator finds its element type, if it is not that of input 0. */
enum element_rule {
	ELEM_SAME,
	ELEM_MOVES,   /* the same, and what was quantized stays so */
	ELEM_BOOLEAN, /* makes booleans */
	ELEM_INDEX,   /* makes i64 */
	ELEM_INT32,
	ELEM_CAST,	/* attribute "to" */
	ELEM_FLOATS,	/* makes what its last float input is: DequantizeLinear's scale */
	ELEM_CAST_LIKE, /* the type of input 1 */
	ELEM_BYTES, /* the type of its zero point: QuantizeLinear, QLinearConv and QLinearMatMul */
	ELEM_OWN,   /* the function sets it */
};

/* Which task it is (task.h). */
enum becomes {
	TASK_NOTHING, /* or an element-wise operator, which may be part of others */
	TASK_CONV,
	TASK_CONV_TRANSPOSED,
	TASK_CONV_DEFORMED,
	TASK_GEMM,
	TASK_MATMUL,
	TASK_EINSUM,
	TASK_RECURRENT,
	TASK_SOFTMAX,
	TASK_NORM,
	TASK_POOL,
};

enum { KNOWN = 16 }; /* in operators.def, added to the inputs: it needs the rank of the first */

extern const struct operator_row {
	const char *name;
	enum element_rule elements;
	enum becomes task;
	int inputs;	/* that it cannot do without */
	int needs_rank; /* of the first: nothing follows of one of unknown rank */
} operator_rows[OPERATORS];

/* Does it multiply and add? */
static inline int operator_multiplies(enum node_op op)
{
	return operator_rows[op].task >= TASK_CONV && operator_rows[op].task <= TASK_RECURRENT;
}
/* OP_NONE: there is no operator of that name. */
enum node_op operator_find(const char *name);

#endif
