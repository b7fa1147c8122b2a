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

int post_bias_first(int npost, const struct post_op *post)
{
	return npost && post[0].kind == POST_BIAS;
}

int post_has(int npost, const struct post_op *post, enum post kind)
{
	for (int i = 0; i < npost; i++)
		if (post[i].kind == kind)
			return 1;
	return 0;
}

const struct expr *post_apply(struct nest *n, const struct expr *x, int npost,
			      const struct post_op *post, const struct post_values *with)
{
	const struct expr *zero = ex_const(n, x->elem, x->lanes, 0);

	for (int i = 0; i < npost; i++) {
		switch (post[i].kind) {
		case POST_BIAS:
			x = ex_op(n, EXPR_ADD, x, with->bias, NULL);
			break;
		case POST_ADD:
			x = with->add ? ex_op(n, EXPR_ADD, x, with->add, NULL) : x;
			break;
		case POST_MUL:
			x = ex_op(n, EXPR_MUL, x, with->mul, NULL);
			break;
		case POST_SCALE:
			x = ex_op(n, EXPR_MUL, x, with->scale, NULL);
			break;
		case POST_SHIFT:
			if (with->is_whole)
				x = ex_op(n, EXPR_ROUND, x, NULL, NULL);
			x = ex_op(n, EXPR_ADD, x, with->shift, NULL);
			break;
		case POST_PAD:	  /* of the source */
		case POST_GROUPS: /* of the weights */
		case POST_ZEROS:
			break;
		case POST_RELU: /* the constant first, so that NaN stays NaN */
			x = ex_op(n, EXPR_MAX, zero, x, NULL);
			break;
		case POST_RELU6:
			x = ex_op(n, EXPR_MIN, ex_const(n, x->elem, x->lanes, 6),
				  ex_op(n, EXPR_MAX, zero, x, NULL), NULL);
			break;
		default:
			x = activation(n, x, &post[i], with->result);
			break;
		}
	}
	return x;
}

static const struct expr *widened(struct nest *n, const struct post_naive *p, const struct expr *x)
{
	return p->wide ? ex_op(n, EXPR_WIDEN, x, NULL, NULL) : x;
}

/* NULL: there is no such tensor. */
static const struct expr *loaded(struct nest *n, const struct post_naive *p, int buffer,
				 struct affine at)
{
	return buffer < 0 ? NULL : widened(n, p, ex_load(n, buffer, 1, at, NULL));
}

int64_t post_together(int64_t outputs)
{
	return outputs % 8 ? 1 : 8;
}

int post_open(struct nest *n, struct post_naive *p, int64_t together)
{
	const int u = nest_for(n, LOOP_UNROLL, "u", af(0), af(together));

	p->sum_at = af_var(u);
	return u;
}

void post_begin(struct nest *n, struct post_naive *p, int64_t together)
{
	post_open(n, p, together);
	nest_store(n, p->sum, p->sum_at, NULL, ex_const(n, p->wide ? ELEM_F64 : ELEM_F32, 1, 0));
	nest_close(n);
}

void post_accumulate(struct nest *n, const struct post_naive *p, const struct expr *a,
		     const struct expr *b)
{
	nest_store(n, p->sum, p->sum_at, NULL,
		   ex_op(n, EXPR_FMA, widened(n, p, a), widened(n, p, b),
			 ex_reg(n, p->sum, p->sum_at)));
}

static const struct expr *whole(struct nest *n, enum elem elem, const struct expr *x)
{
	double from, to;

	elem_range(elem, &from, &to);
	x = ex_op(n, EXPR_MAX, ex_op(n, EXPR_ROUND, x, NULL, NULL), ex_const(n, x->elem, 1, from),
		  NULL);
	return ex_op(n, EXPR_MIN, x, ex_const(n, x->elem, 1, to), NULL);
}

void post_finish(struct nest *n, const struct post_naive *p)
{
	struct post_values with = {
		.bias = loaded(n, p, p->bias, p->bias_at),
		.add = loaded(n, p, p->add, p->at),
		.mul = loaded(n, p, p->mul, p->at),
		.scale = loaded(n, p, p->scale, p->bias_at),
		.shift = loaded(n, p, p->shift, p->bias_at),
		.is_whole = elem_is_whole(p->result),
	};
	const struct expr *x =
		post_apply(n, ex_reg(n, p->sum, p->sum_at), p->npost, p->post, &with);

	if (elem_is_whole(p->result))
		x = whole(n, p->result, x);
	nest_store(n, p->dst, p->at, NULL, p->wide ? ex_op(n, EXPR_NARROW, x, NULL, NULL) : x);
}
