#include "lib/tile/post.h"

#include <stddef.h>

#include "lib/tile/activation.h"

int post_adds_first(int npost, const struct post_op *post)
{
	int i = 0;

	while (i < npost && post[i].kind == POST_BIAS)
		i++;
	return i < npost && post[i].kind == POST_ADD;
}

const struct expr *post_apply(struct nest *n, const struct expr *x, int npost,
			      const struct post_op *post, const struct expr *bias,
			      const struct expr *add)
{
	const struct expr *zero = ex_const(n, x->elem, x->lanes, 0);

	for (int i = 0; i < npost; i++) {
		switch (post[i].kind) {
		case POST_BIAS:
			x = ex_op(n, EXPR_ADD, x, bias, NULL);
			break;
		case POST_ADD:
			x = add ? ex_op(n, EXPR_ADD, x, add, NULL) : x;
			break;
		case POST_RELU:
			x = ex_op(n, EXPR_MAX, x, zero, NULL);
			break;
		case POST_RELU6:
			x = ex_op(n, EXPR_MIN, ex_op(n, EXPR_MAX, x, zero, NULL),
				  ex_const(n, x->elem, x->lanes, 6), NULL);
			break;
		default:
			x = activation(n, x, &post[i]);
			break;
		}
	}
	return x;
}

static const struct expr *widened(struct nest *n, const struct post_naive *p, const struct expr *x)
{
	return p->wide ? ex_op(n, EXPR_WIDEN, x, NULL, NULL) : x;
}

void post_accumulate(struct nest *n, const struct post_naive *p, const struct expr *a,
		     const struct expr *b)
{
	nest_store(
		n, p->sum, af(0), NULL,
		ex_op(n, EXPR_FMA, widened(n, p, a), widened(n, p, b), ex_reg(n, p->sum, af(0))));
}

void post_finish(struct nest *n, const struct post_naive *p)
{
	const struct expr *bias = NULL, *add = NULL, *x;

	if (p->bias >= 0)
		bias = widened(n, p, ex_load(n, p->bias, 1, p->bias_at, NULL));
	if (p->add >= 0)
		add = widened(n, p, ex_load(n, p->add, 1, p->at, NULL));
	x = post_apply(n, ex_reg(n, p->sum, af(0)), p->npost, p->post, bias, add);
	nest_store(n, p->dst, p->at, NULL, p->wide ? ex_op(n, EXPR_NARROW, x, NULL, NULL) : x);
}
