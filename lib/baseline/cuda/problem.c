#include "lib/baseline/cuda/problem.h"

#include <string.h>

enum { N, C, H, W };

int64_t placed_elements(const struct placed *t)
{
	int64_t n = 1;

	for (int i = 0; i < t->n; i++)
		n *= t->size[i];
	return n;
}

/* Strides of an array without gaps, whose dimensions come in this order, the outermost first. */
static void pack(int64_t *stride, const int64_t *size, const int *order, int n)
{
	int64_t step = 1;

	for (int i = n - 1; i >= 0; i--) {
		stride[order[i]] = step;
		step *= size[order[i]];
	}
}

static const int nchw[] = {N, C, H, W}, nhwc[] = {N, H, W, C};

static struct placed images(enum tensor_role role, const int64_t size[PLACED_DIMS],
			    const int *order, const int *from)
{
	struct placed t = {.role = role, .n = PLACED_DIMS};

	memcpy(t.size, size, sizeof t.size);
	pack(t.stride, size, order, PLACED_DIMS);
	pack(t.from, size, from, PLACED_DIMS);
	return t;
}

/* A convolution in the workload's layout, or in the other one. */
static struct problem convolution(const struct workload *w, int is_own)
{
	static const enum tensor_role same[] = {TENSOR_ADD, TENSOR_MUL, TENSOR_DST};
	const int64_t *d = w->dim;
	const int is_nchw = w->layout == LAYOUT_NCHW;
	const int *from = is_nchw ? nchw : nhwc, *order = is_nchw == is_own ? nchw : nhwc;
	const int64_t src[] = {d[CONV_MB], d[CONV_IC], d[CONV_IH], d[CONV_IW]};
	const int64_t dst[] = {d[CONV_MB], d[CONV_OC], d[CONV_OH], d[CONV_OW]};
	const int64_t weights[] = {d[CONV_OC], d[CONV_IC] / d[CONV_G], d[CONV_KH], d[CONV_KW]};
	const int64_t bias[] = {1, d[CONV_OC], 1, 1};
	struct problem p = {.layout = is_own ? layout_name(w->layout) : "preferred",
			    .is_nhwc = order == nhwc};

	p.tensor[TENSOR_SRC] = images(TENSOR_SRC, src, order, from);
	p.tensor[TENSOR_WEIGHTS] = images(TENSOR_WEIGHTS, weights, order, nchw);
	p.tensor[TENSOR_BIAS] = images(TENSOR_BIAS, bias, order, nchw);
	for (int i = 0; i < 3; i++)
		p.tensor[same[i]] = images(same[i], dst, order, from);
	for (int a = 0; a < 2; a++) {
		const int64_t reach = (d[CONV_OH + a] - 1) * d[CONV_SH + a] +
				      (d[CONV_KH + a] - 1) * (d[CONV_DH + a] + 1) + 1;
		const int64_t far = reach - d[CONV_IH + a] - d[CONV_PH + a];

		p.stride[a] = d[CONV_SH + a];
		p.dilation[a] = d[CONV_DH + a] + 1;
		p.near[a] = d[CONV_PH + a];
		p.far[a] = far > 0 ? far : 0; /* else no window reaches the end */
	}
	return p;
}

/* b times m x k by k x n. */
struct sizes {
	int64_t b, m, k, n;
};

static struct placed matrices(enum tensor_role role, int64_t b, int64_t rows, int64_t columns)
{
	const struct placed t = {.role = role,
				 .n = PRODUCT_DIMS,
				 .size = {b, rows, columns},
				 .stride = {rows * columns, columns, 1},
				 .from = {rows * columns, columns, 1}};

	return t;
}

/* from: strides of the caller's right side, k and n. */
static struct problem product(const struct workload *w, const struct sizes *s,
			      const int64_t from[2], int is_transposed)
{
	struct problem p = {
		.is_product = 1, .is_transposed = is_transposed, .layout = layout_name(w->layout)};
	struct placed *right = &p.tensor[TENSOR_WEIGHTS];

	p.tensor[TENSOR_SRC] = matrices(TENSOR_SRC, s->b, s->m, s->k);
	*right = matrices(TENSOR_WEIGHTS, s->b, s->k, s->n);
	right->from[1] = from[0];
	right->from[2] = from[1];
	if (is_transposed) {
		right->stride[1] = 1;
		right->stride[2] = s->k;
	}
	p.tensor[TENSOR_BIAS] = matrices(TENSOR_BIAS, 1, 1, s->n);
	p.tensor[TENSOR_ADD] = matrices(TENSOR_ADD, s->b, s->m, s->n);
	p.tensor[TENSOR_MUL] = matrices(TENSOR_MUL, s->b, s->m, s->n);
	p.tensor[TENSOR_DST] = matrices(TENSOR_DST, s->b, s->m, s->n);
	return p;
}

/* A convolution by 1x1 over NHWC pixels is a product. */
static int is_product(const struct workload *w)
{
	const int64_t *d = w->dim;

	return w->layout == LAYOUT_NHWC && d[CONV_G] == 1 && d[CONV_KH] == 1 && d[CONV_KW] == 1 &&
	       d[CONV_SH] == 1 && d[CONV_SW] == 1 && d[CONV_PH] == 0 && d[CONV_PW] == 0 &&
	       d[CONV_OH] == d[CONV_IH] && d[CONV_OW] == d[CONV_IW];
}

int problem_list(const struct workload *w, struct problem p[PROBLEMS])
{
	const int64_t *d = w->dim;
	int n = 0;

	if (w->op == &op_matmul) {
		const struct sizes s = {d[MATMUL_B], d[MATMUL_M], d[MATMUL_K], d[MATMUL_N]};
		const int64_t from[] = {s.n, 1};

		for (int t = 0; t <= w->rhs_const; t++)
			p[n++] = product(w, &s, from, t);
	} else if (w->op == &op_conv2d) {
		const struct sizes s = {1, d[CONV_MB] * d[CONV_OH] * d[CONV_OW], d[CONV_IC],
					d[CONV_OC]};
		const int64_t from[] = {1, s.k};

		for (int other = 0; other < 2; other++)
			p[n++] = convolution(w, !other);
		for (int t = 0; is_product(w) && t < 2; t++)
			p[n++] = product(w, &s, from, t);
	}
	return n;
}
