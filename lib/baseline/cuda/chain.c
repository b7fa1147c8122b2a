#include "lib/baseline/cuda/chain.h"

#include <float.h>

static struct link with(enum cudnn_pointwise mode, enum link_operand operand, enum tensor_role role)
{
	return (struct link){.mode = mode, .operand = operand, .role = role, .upper = FLT_MAX};
}

static struct link activation(enum cudnn_pointwise mode)
{
	return with(mode, LINK_NONE, TENSOR_SRC);
}

static struct link clip(double lower, double upper, double slope)
{
	struct link l = activation(POINTWISE_RELU_FWD);

	l.lower = lower;
	l.upper = upper;
	l.slope = slope;
	return l;
}

static struct link with_number(enum cudnn_pointwise mode, float number)
{
	struct link l = with(mode, LINK_NUMBER, TENSOR_SRC);

	l.number = number;
	return l;
}

/* x * clip(x + 3, 0, 6) / 6 */
static int hardswish(struct link *l)
{
	l[0] = with_number(POINTWISE_ADD, 3);
	l[1] = clip(0, 6, 0);
	l[2] = with(POINTWISE_MUL, LINK_EARLIER, TENSOR_SRC);
	l[3] = with_number(POINTWISE_MUL, 1.F / 6);
	return 4;
}

static int post(const struct post_op *p, struct link *l)
{
	switch (p->kind) {
	case POST_BIAS:
		*l = with(POINTWISE_ADD, LINK_TENSOR, TENSOR_BIAS);
		break;
	case POST_ADD:
		*l = with(POINTWISE_ADD, LINK_TENSOR, TENSOR_ADD);
		break;
	case POST_MUL:
		*l = with(POINTWISE_MUL, LINK_TENSOR, TENSOR_MUL);
		break;
	case POST_RELU:
		*l = clip(0, FLT_MAX, 0);
		break;
	case POST_RELU6:
		*l = clip(0, 6, 0);
		break;
	case POST_CLIP:
		*l = clip(p->a, p->b, 0);
		break;
	case POST_LEAKY_RELU:
		*l = clip(0, FLT_MAX, p->a);
		break;
	case POST_HARDSWISH:
		return hardswish(l);
	case POST_SIGMOID:
		*l = activation(POINTWISE_SIGMOID_FWD);
		break;
	case POST_TANH:
		*l = activation(POINTWISE_TANH_FWD);
		break;
	case POST_SILU:
		*l = activation(POINTWISE_SWISH_FWD);
		break;
	case POST_GELU:
		*l = activation(POINTWISE_GELU_FWD);
		break;
	case POST_GELU_TANH:
		*l = activation(POINTWISE_GELU_APPROX_TANH_FWD);
		break;
	case POST_SCALE: /* these were refused before */
	case POST_SHIFT:
	case POST_PAD:
	case POST_GROUPS:
	case POST_ZEROS:
	case POSTS:
		return 0;
	}
	return 1;
}

int chain_make(const struct workload *w, int from, struct link link[CHAIN_LINKS])
{
	int n = 0;

	for (int i = from; i < w->npost; i++)
		n += post(&w->post[i], &link[n]);
	return n;
}

struct link chain_conversion(void)
{
	return activation(POINTWISE_IDENTITY);
}

int chain_make_whole(const struct workload *w, struct link link[CHAIN_LINKS])
{
	int has_bias = 0, has_add = 0, i = 0;

	for (; i < w->npost && (w->post[i].kind == POST_BIAS || w->post[i].kind == POST_ADD); i++)
		*(w->post[i].kind == POST_BIAS ? &has_bias : &has_add) = 1;
	if (i + 1 != w->npost || w->post[i].kind != POST_RELU)
		return 0;
	link[0] = with(POINTWISE_ADD, has_add ? LINK_TENSOR : LINK_ZEROS, TENSOR_ADD);
	link[1] = with(POINTWISE_ADD, has_bias ? LINK_TENSOR : LINK_ZEROS, TENSOR_BIAS);
	link[2] = clip(0, FLT_MAX, 0);
	return 3;
}
