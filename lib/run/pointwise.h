/* Pointwise nests: each element of the result is an expression of the elements of the operands that
 * have its index. Element-wise operators, copies between layouts, slices that are written somewhere
 * else and fills are pointwise, and chains of them are one nest.
 */
#ifndef TL_RUN_POINTWISE_H
#define TL_RUN_POINTWISE_H

#include "lib/nest/nest.h"
#include "lib/run/place.h"
#include "lib/space/types.h"

enum { PW_INPUTS = 6, PW_OPS = 24 };

enum pointwise_kind {
	PW_INPUT, /* operand a */
	PW_CONST, /* value */
	PW_ADD,	  /* of operations a and b */
	PW_SUB,
	PW_MUL,
	PW_DIV,
	PW_MAX, /* NaN if one is */
	PW_MIN,
	PW_SQRT, /* of operation a */
	PW_EXP,
	PW_ERF,
	PW_POST, /* of operation a: an activation */
};

struct pointwise_op {
	enum pointwise_kind kind;
	int a, b;
	double value;
	struct post_op post;
};

/* Whole numbers of 8 bits stand for scale times the number without zero. */
struct units {
	int is;
	double scale, zero;
};

/* factor[0] * in[0] + (factor[1] * in[1] + rest), with multiply-adds in single precision, between
 * bounds that may be infinite. */
struct pointwise_sum {
	int is;
	double factor[2], rest, low, high;
};

struct pointwise {
	struct place out;
	struct units units; /* the result is operand 0 in these units, and nothing else */
	int nin;
	struct place in[PW_INPUTS]; /* of the same dimensions as out */
	int nop;
	struct pointwise_op op[PW_OPS]; /* the last one is the result */
	struct pointwise_sum sum;	/* it is the same for all operands that there are */
};

/* Adds an operation; returns its number, -1 if there is no room. */
int pointwise_op(struct pointwise *m, enum pointwise_kind kind, int a, int b);
int pointwise_const(struct pointwise *m, double value);
int pointwise_post(struct pointwise *m, int a, struct post_op post);
int pointwise_input(struct pointwise *m, const struct place *in);
/* The nest, with vectors of at most so many lanes. Slots: the operands in order, then the result.
 * The result may be where an operand is, if both have the same strides. */
void pointwise_nest(const struct pointwise *m, int lanes, struct nest *n);

#endif
