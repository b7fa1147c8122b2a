/* A Gemm that is no workload, in plain C (contract.h): of constants alone, or of integers. */
#include "lib/run/contract.h"
#include "lib/run/lower.h"

enum { ROW, COLUMN, SUM, LETTERS };

/* The product of the two sides, each maybe transposed, as rows x columns. */
static int multiply(struct lowering *l, const struct graph_node *n, struct place *to, struct err *e)
{
	const int turned[2] = {node_int(n, "transA", 0) != 0, node_int(n, "transB", 0) != 0};
	struct contract *c = arena_new(l->p->a, struct contract);
	struct place operand[CONTRACT_SIDES];

	if (lower_shape(l, n->out[0], to, e) || lower_get(l, n->in[0], &operand[0], e) ||
	    lower_get(l, n->in[1], &operand[1], e))
		return -1;
	if (to->rank != 2 || operand[0].rank != 2 || operand[1].rank != 2)
		return lower_bad(l, n, e, "multiplies something else than matrices");
	c->sides = c->kept = 2;
	c->letters = LETTERS;
	c->size[ROW] = to->dim[0];
	c->size[COLUMN] = to->dim[1];
	c->size[SUM] = operand[0].dim[!turned[0]];
	c->stride[0][ROW] = operand[0].stride[turned[0]];
	c->stride[0][SUM] = operand[0].stride[!turned[0]];
	c->stride[1][SUM] = operand[1].stride[turned[1]];
	c->stride[1][COLUMN] = operand[1].stride[!turned[1]];
	lower_room(l, to);
	operand[2] = *to;
	plan_plain(l->p, node_label(l->g, n), n->type, &(struct plain){contract_run, c, NULL},
		   operand, 3);
	return 0;
}

/* alpha * the product + beta * c waits as the node's output. */
int lower_gemm(struct lowering *l, const struct graph_node *n, struct err *e)
{
	const double alpha = (double)node_float(n, "alpha", 1);
	const double beta = (double)node_float(n, "beta", 1);
	struct pointwise *m = arena_new(l->p->a, struct pointwise);
	struct place product, c, broad;
	int x, y;

	if (multiply(l, n, &product, e))
		return -1;
	lower_put(l, n->out[0], &product);
	if (lower_wrap(l, n, e) || lower_get(l, n->out[0], &product, e)) /* before c is added */
		return -1;
	m->out = product;
	x = pointwise_input(m, &product);
	if (alpha != 1)
		x = pointwise_op(m, PW_MUL, x, pointwise_const(m, alpha));
	if (task_gemm_added(l->g, n)) {
		if (lower_get(l, n->in[2], &c, e))
			return -1;
		if (place_broadcast(&c, product.rank, product.dim, &broad))
			return lower_bad(l, n, e, "adds what does not fit its result");
		y = pointwise_input(m, &broad);
		if (beta != 1)
			y = pointwise_op(m, PW_MUL, y, pointwise_const(m, beta));
		pointwise_op(m, PW_ADD, x, y);
	}
	l->waiting[n->out[0]] = m;
	return 0;
}
