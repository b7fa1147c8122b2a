/* Random problems of every operator, small and awkward, with data and the true answer: for tests
 * that hold candidates to what their operator says. */
#ifndef TL_TESTS_PROBLEMS_H
#define TL_TESTS_PROBLEMS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/nest/interp.h"
#include "lib/nest/operands.h"
#include "lib/op/op.h"
#include "tests/tap.h"

static struct rng rng;

static inline int64_t pick(int64_t lo, int64_t hi)
{
	return lo + (int64_t)rng_below(&rng, (uint64_t)(hi - lo + 1));
}

static inline void random_posts(struct workload *w)
{
	for (int p = 0; p <= POST_RELU6; p++)
		if (pick(0, 2) == 0)
			w->post[w->npost++].kind = (enum post)p;
	/* A tensor that is added behind what is no sum cannot be what the sum begins with. */
	for (int i = 0; i + 1 < w->npost; i++)
		if (w->post[i].kind == POST_ADD && pick(0, 2) == 0) {
			w->post[i] = w->post[i + 1];
			w->post[i + 1].kind = POST_ADD;
			break;
		}
}

static inline void direction(int64_t *d, int i, int64_t taps, int64_t stride)
{
	int64_t in;

	d[CONV_KH + i] = taps;
	d[CONV_SH + i] = stride;
	d[CONV_DH + i] = 0;
	d[CONV_PH + i] = pick(0, taps - 1);
	if (d[CONV_IH + i] < taps)
		d[CONV_IH + i] = taps;
	in = d[CONV_IH + i] + d[CONV_PH + i] + pick(0, d[CONV_PH + i]);
	d[CONV_OH + i] = (in - taps) / stride + 1;
}

/* Unit stride, and 2 to 5 or 7 taps in one direction or both; or 3x3 of stride 2. Some have groups
 * of whole vectors. */
static inline void filtered_conv(int64_t *d)
{
	int64_t two = pick(0, 3) == 0, both = two || pick(0, 1), one = pick(0, 1);
	int64_t even = !two && pick(0, 3) == 0;

	d[CONV_IC] = 8 * pick(1, 4);
	if (pick(0, 2) == 0) {
		d[CONV_G] = 2 * pick(1, 2);
		d[CONV_IC] = d[CONV_G] * 4 * pick(1, 4);
		d[CONV_OC] = d[CONV_G] * 8 * pick(1, 3);
	}
	for (int i = 0; i < 2; i++) {
		int64_t taps = both ? 3 : one == i ? 3 + 2 * pick(0, 2) : 1;

		if (both && !two)
			taps += 2 * pick(0, 1);
		direction(d, i, taps > 1 && even ? 2 * pick(1, 2) : taps, two ? 2 : 1);
	}
}

/* Few channels and many taps. */
static inline void first_layer(int64_t *d)
{
	int64_t stride = pick(1, 2);

	d[CONV_IC] = pick(1, 4);
	for (int i = 0; i < 2; i++) {
		d[CONV_IH + i] = pick(9, 20);
		direction(d, i, pick(5, 8), stride);
	}
}

/* Any number of channels, or whole vectors of four. */
static inline void depthwise(int64_t *d)
{
	d[CONV_G] = d[CONV_IC] = d[CONV_OC] = pick(0, 1) ? 4 * pick(1, 10) : pick(2, 40);
}

/* Images, kernels, strides, dilation and uneven padding; 0: a kernel does not fit. */
static inline int random_windows(int64_t *d)
{
	for (int i = 0; i < 2; i++) {
		int64_t window, pad;

		d[CONV_KH + i] = pick(1, d[CONV_G] == d[CONV_IC] ? 5 : 3);
		d[CONV_SH + i] = pick(1, 3);
		d[CONV_DH + i] = pick(0, 1);
		d[CONV_PH + i] = pick(0, 2);
		d[CONV_IH + i] = pick(3, 11);
		window = (d[CONV_KH + i] - 1) * (d[CONV_DH + i] + 1) + 1;
		pad = d[CONV_PH + i] + (pick(0, 7) ? pick(0, 1) : pick(0, d[CONV_IH + i]));
		if (d[CONV_IH + i] + pad < window)
			return 0;
		d[CONV_OH + i] = (d[CONV_IH + i] + pad - window) / d[CONV_SH + i] + 1;
	}
	return 1;
}

/* Small and awkward: odd sizes, groups, strides, dilation, uneven padding, both layouts. */
static inline int random_conv(struct workload *w)
{
	int64_t *d = w->dim;
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = &op_conv2d;
	w->rhs_const = 1;
	w->layout = pick(0, 2) ? LAYOUT_NHWC : LAYOUT_NCHW;
	d[CONV_G] = pick(0, 3) ? 1 : pick(2, 4);
	d[CONV_MB] = pick(1, 2);
	d[CONV_IC] = d[CONV_G] * pick(1, d[CONV_G] > 1 ? 5 : 20);
	d[CONV_OC] = d[CONV_G] * pick(1, d[CONV_G] > 1 ? 18 : 40);
	if (pick(0, 3) == 0) { /* what grouped takes as well */
		int64_t most = pick(0, 1) ? 4 : 8;

		d[CONV_G] = pick(2, 9);
		d[CONV_IC] = d[CONV_G] * pick(1, most);
		d[CONV_OC] = d[CONV_G] * pick(2, most);
	} else if (pick(0, 2) == 0) { /* depthwise */
		depthwise(d);
	}
	if (!random_windows(d))
		return 0;
	if (pick(0, 2) == 0 && d[CONV_G] == 1) { /* what winograd takes as well */
		if (pick(0, 3))
			filtered_conv(d);
		else
			first_layer(d);
		return workload_finish(w, &e) == 0;
	}
	if (pick(0, 3) == 0) { /* plain 1x1, which gemm takes as well */
		for (int i = CONV_KH; i <= CONV_DW; i++)
			d[i] = i <= CONV_SW;
		d[CONV_G] = 1;
		d[CONV_OH] = d[CONV_IH];
		d[CONV_OW] = d[CONV_IW];
		if (pick(0, 1)) { /* and strassen */
			d[CONV_IC] = 16 * pick(2, 4);
			d[CONV_OC] = 2 * pick(8, 40);
			for (int i = 0; i < 2; i++) {
				d[CONV_SH + i] = pick(1, 2);
				d[CONV_OH + i] = (d[CONV_IH + i] - 1) / d[CONV_SH + i] + 1;
			}
		}
	}
	random_posts(w);
	return workload_finish(w, &e) == 0;
}

static inline int random_depthwise(struct workload *w)
{
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = &op_conv2d;
	w->rhs_const = 1;
	w->layout = pick(0, 2) ? LAYOUT_NHWC : LAYOUT_NCHW;
	w->dim[CONV_MB] = pick(1, 2);
	depthwise(w->dim);
	random_posts(w);
	return random_windows(w->dim) && workload_finish(w, &e) == 0;
}

/* Groups of a few channels or one, in images wider than a few vectors, with strides, dilation and
 * padding. */
static inline int random_groups(struct workload *w)
{
	int64_t *d = w->dim;
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = &op_conv2d;
	w->rhs_const = 1;
	w->layout = pick(0, 3) ? LAYOUT_NHWC : LAYOUT_NCHW;
	d[CONV_MB] = pick(1, 2);
	d[CONV_G] = pick(2, 8);
	d[CONV_IC] = d[CONV_G] * pick(1, 20);
	d[CONV_OC] = d[CONV_G] * pick(1, 20);
	if (pick(0, 2) == 0)
		depthwise(d);
	for (int i = 0; i < 2; i++) {
		int64_t taps = pick(1, d[CONV_G] == d[CONV_IC] ? 7 : 4);
		int64_t apart = pick(0, 3) ? 1 : pick(2, 3);

		d[CONV_IH + i] = pick(5, i ? 40 : 9);
		direction(d, i, (taps - 1) * apart + 1, pick(1, 3));
		d[CONV_KH + i] = taps;
		d[CONV_DH + i] = apart - 1;
	}
	random_posts(w);
	return workload_finish(w, &e) == 0;
}

/* Unit stride, and several taps in one direction or both; any number of channels. */
static inline int random_filtered_conv(struct workload *w)
{
	int64_t *d = w->dim;
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = &op_conv2d;
	w->rhs_const = 1;
	w->layout = pick(0, 2) ? LAYOUT_NHWC : LAYOUT_NCHW;
	d[CONV_G] = 1;
	d[CONV_MB] = pick(1, 2);
	d[CONV_OC] = pick(0, 1) ? 4 * pick(1, 10) : pick(1, 40);
	for (int i = 0; i < 2; i++)
		d[CONV_IH + i] = pick(3, 13);
	filtered_conv(d);
	if (pick(0, 2) == 0)
		d[CONV_IC] = pick(8, 200);
	random_posts(w);
	return d[CONV_SH] == 1 && workload_finish(w, &e) == 0;
}

static inline int random_matmul(struct workload *w)
{
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = &op_matmul;
	w->layout = LAYOUT_AB;
	w->rhs_const = (int)pick(0, 1);
	w->dim[MATMUL_B] = pick(0, 1) ? 1 : pick(2, 3);
	w->dim[MATMUL_M] = pick(0, 3) ? pick(1, 40) : pick(1, 4);     /* few: several streams */
	w->dim[MATMUL_K] = pick(0, 3) ? pick(1, 90) : pick(128, 200); /* what may be split */
	w->dim[MATMUL_N] = pick(1, 70);
	if (pick(0, 2) == 0) { /* what strassen takes as well */
		w->rhs_const = 1;
		w->dim[MATMUL_B] = 1;
		w->dim[MATMUL_M] = pick(8, 60);
		w->dim[MATMUL_K] = 16 * pick(2, 6);
		w->dim[MATMUL_N] = 2 * pick(8, 70);
	}
	random_posts(w);
	return workload_finish(w, &e) == 0;
}

/* Softmax or a normalization: short rows and long ones, whole vectors or not. */
static inline int random_rows(struct workload *w)
{
	const struct op *const op[] = {&op_softmax, &op_layer_norm, &op_rms_norm};
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = op[pick(0, 2)];
	w->layout = LAYOUT_AB;
	w->rhs_const = 1;
	w->dim[ROWS_R] = pick(1, 40);
	w->dim[ROWS_C] = pick(0, 2) ? pick(1, 70) : pick(100, 1500);
	if (pick(0, 1))
		w->dim[ROWS_C] = (w->dim[ROWS_C] + 3) / 4 * 4;
	random_posts(w);
	return workload_finish(w, &e) == 0;
}

enum { EXTREMES = 4, EXTREMES_DRAWN = 8 };

/* One problem with its data and the answer. */
struct problem {
	struct workload w;
	float *tensor[TENSOR_ROLES];
	int64_t size[TENSOR_ROLES];
	int extremes; /* of whole numbers; 0: none. EXTREMES, and bit 0: the weights are the least,
		       * 1: the source; EXTREMES_DRAWN: each is drawn */
	int halves;   /* whole numbers are small, factors of their sums 1/2, and shifts odd */
	float *expected;
};

static inline float *random_floats(int64_t n)
{
	float *p = xmalloc((size_t)n * sizeof *p);

	for (int64_t i = 0; i < n; i++)
		p[i] = (float)(rng_unit(&rng) * 2 - 1);
	return p;
}

/* What a tensor of whole numbers, or one beside their sums, is multiplied by: 8 bits are full. */
static inline double whole_scale(const struct workload *w, enum tensor_role role)
{
	const double terms = (double)w->flops / 2 / (double)workload_size(w, TENSOR_DST);

	if (role == TENSOR_SCALE)
		return 1 / (100 * sqrt(terms));
	if (role == TENSOR_SHIFT)
		return 40;
	switch (workload_dtype(w, role)) {
	case DTYPE_S8:
		return 128;
	case DTYPE_U8:
		return 256;
	default:
		return role == TENSOR_MUL ? 4 : 16384;
	}
}

/* Makes the source and the weights the largest numbers that they can be, or the least, or draws
 * each from the two. */
static inline void set_extremes(const struct workload *w, enum tensor_role role, int extremes,
				float *x, int64_t n)
{
	const int least = extremes >> (role == TENSOR_SRC) & 1, drawn = extremes & EXTREMES_DRAWN;
	double from, to;

	elem_range(elem_of(workload_dtype(w, role)), &from, &to);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)((drawn ? pick(0, 1) : least) ? from : to);
}

static inline void set_halves(enum tensor_role role, float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = role == TENSOR_SCALE   ? 0.5F
		       : role == TENSOR_SHIFT ? 41
					      : fmodf(x[i], role == TENSOR_BIAS ? 32 : 4);
}

/* Weights of groups and their zero points become all numbers that they can be, and scales make
 * products of them as large as those of the other problems. */
static inline int set_group_values(const struct workload *w, enum tensor_role role, float *x,
				   int64_t n)
{
	const double most = (double)dtype_most(w->dtype.wei);
	const int is_scale = role == TENSOR_SCALE;

	if (!workload_group(w) || (!is_scale && role != TENSOR_WEIGHTS && role != TENSOR_ZEROS))
		return 0;
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)(is_scale ? (double)x[i] * 2 / most
					: nearbyint((1 + (double)x[i]) / 2 * most));
	return 1;
}

/* Random floats become values that the tensor's type has. */
static inline void set_values(const struct workload *w, enum tensor_role role, float *x, int64_t n)
{
	const double scale = dtype_is_int(w->dtype.src) ? whole_scale(w, role) : 1;
	const enum elem elem = elem_of(workload_dtype(w, role));

	if (set_group_values(w, role, x, n))
		return;
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)elem_round(
			elem, scale * (elem == ELEM_U8 ? fabs((double)x[i]) : (double)x[i]));
}

/* The bits of a NaN such as GPUs make, all of them but the sign, and of one that bf16 has. */
enum { NAN_BITS = 0x7fffffff, NAN_HALF = 0x7fff0000 };

/* Half of the biases of reals begin with NaN, which no post-op behind it may lose. */
static inline void set_nan(const struct workload *w, enum tensor_role role, float *x)
{
	const uint32_t bits = elem_of(workload_dtype(w, role)) == ELEM_F32 ? NAN_BITS : NAN_HALF;

	if (role == TENSOR_BIAS && !dtype_is_int(w->dtype.src) && x[0] > 0)
		memcpy(x, &bits, sizeof bits);
}

static inline void problem_open(struct problem *p)
{
	struct tensor t[OP_MAX_TENSORS];
	int n = p->w.op->tensors(&p->w, t);
	struct arena a = ARENA_INIT;
	float *buffers[NEST_BUFFERS] = {0};
	struct nest nest;
	struct err e = ERR_INIT;

	for (int i = 0; i < n; i++) {
		const int is_factor = t[i].role == TENSOR_SRC || t[i].role == TENSOR_WEIGHTS;

		p->tensor[t[i].role] = random_floats(t[i].size);
		set_values(&p->w, t[i].role, p->tensor[t[i].role], t[i].size);
		if (p->extremes && is_factor)
			set_extremes(&p->w, t[i].role, p->extremes, p->tensor[t[i].role],
				     t[i].size);
		if (p->halves)
			set_halves(t[i].role, p->tensor[t[i].role], t[i].size);
		set_nan(&p->w, t[i].role, p->tensor[t[i].role]);
		p->size[t[i].role] = t[i].size;
	}
	nest_init(&nest, &a, "naive");
	if (workload_define(&p->w, 1, &nest, &e) < 0)
		bail_out("%s", e.msg);
	for (int i = 0; i < nest.nslots; i++)
		buffers[i] = p->tensor[operand_buffer(&nest, i)->role];
	if (interp_run(&nest, (void **)buffers, &e) < 0)
		bail_out("the naive nest of %s %s: %s", p->w.op->name, p->w.prob, e.msg);
	p->expected = p->tensor[TENSOR_DST];
	p->tensor[TENSOR_DST] = NULL;
	arena_free(&a);
}

static inline void problem_close(struct problem *p)
{
	for (int i = 0; i < TENSOR_ROLES; i++)
		free(p->tensor[i]);
	free(p->expected);
	memset(p, 0, sizeof *p);
}

/* Returns the error of what a nest wrote: relative, in L2; infinite where it is not finite, or no
 * NaN that it should be. */
static inline double error_of(const struct problem *p, const struct nest *n, float *const *buffers)
{
	double diff = 0, norm = 0;
	const float *out = NULL;

	for (int i = 0; i < n->nslots; i++)
		if (operand_buffer(n, i)->written)
			out = buffers[i];
	for (int64_t i = 0; i < p->size[TENSOR_DST]; i++) {
		double d = (double)out[i] - (double)p->expected[i];

		if (isnan(p->expected[i]) && isnan(out[i]))
			continue;
		if (!isfinite(d))
			return INFINITY;
		diff += d * d;
		norm += (double)p->expected[i] * (double)p->expected[i];
	}
	return norm > 0 ? sqrt(diff / norm) : sqrt(diff);
}

#endif
