/* lib/op: the nests that define operators compute what plain loops of C compute. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/algo/algo.h"
#include "lib/nest/check.h"
#include "tests/problems.h"
#include "tests/tap.h"

/* One direction of a convolution. */
struct axis {
	int64_t i, o, k, s, p, d;
};

static struct axis axis_of(const int64_t *d, int axis)
{
	return (struct axis){d[CONV3D_ID + axis], d[CONV3D_OD + axis], d[CONV3D_KD + axis],
			     d[CONV3D_SD + axis], d[CONV3D_PD + axis], d[CONV3D_DD + axis]};
}

/* The input's coordinate that output o reads by tap k; -1: it is padding. */
static int64_t read_at(const struct axis *x, int64_t o, int64_t k)
{
	int64_t i = o * x->s - x->p + k * (x->d + 1);

	return i >= 0 && i < x->i ? i : -1;
}

/* Where a value stands in memory. */
static int64_t place(const struct workload *w, int64_t b, int64_t channels, int64_t c,
		     const int64_t *size, const int64_t *at)
{
	int64_t pixel = (at[0] * size[1] + at[1]) * size[2] + at[2];
	int64_t pixels = size[0] * size[1] * size[2];

	return w->layout == LAYOUT_NDHWC ? (b * pixels + pixel) * channels + c
					 : (b * channels + c) * pixels + pixel;
}

static double conv3d_at(const struct problem *p, int64_t b, int64_t oc, const int64_t *out)
{
	const int64_t *d = p->w.dim, icg = d[CONV3D_IC] / d[CONV3D_G];
	const int64_t first = oc / (d[CONV3D_OC] / d[CONV3D_G]) * icg;
	const struct axis a[3] = {axis_of(d, 0), axis_of(d, 1), axis_of(d, 2)};
	const float *weight = p->tensor[TENSOR_WEIGHTS] + oc * icg * a[0].k * a[1].k * a[2].k;
	double sum = 0;

	for (int64_t c = 0; c < icg; c++)
		for (int64_t k = 0; k < a[0].k * a[1].k * a[2].k; k++) {
			int64_t tap[3] = {k / (a[1].k * a[2].k), k / a[2].k % a[1].k, k % a[2].k};
			int64_t in[3], inside = 1;

			for (int i = 0; i < 3; i++) {
				in[i] = read_at(&a[i], out[i], tap[i]);
				inside &= in[i] >= 0;
			}
			if (inside)
				sum += (double)weight[c * a[0].k * a[1].k * a[2].k + k] *
				       (double)p->tensor[TENSOR_SRC]
							[place(&p->w, b, d[CONV3D_IC], first + c,
							       d + CONV3D_ID, in)];
		}
	return sum;
}

/* The largest error of what the definition made; the post-ops are bias and relu, or none. */
static double conv3d_error(const struct problem *p)
{
	const int64_t *d = p->w.dim, *size = d + CONV3D_OD;
	double most = 0;

	for (int64_t b = 0; b < d[CONV3D_MB]; b++)
		for (int64_t c = 0; c < d[CONV3D_OC]; c++)
			for (int64_t i = 0; i < size[0] * size[1] * size[2]; i++) {
				int64_t at[3] = {i / (size[1] * size[2]), i / size[2] % size[1],
						 i % size[2]};
				double want = conv3d_at(p, b, c, at);

				if (p->w.npost)
					want = fmax(want + (double)p->tensor[TENSOR_BIAS][c], 0);
				most = fmax(most,
					    fabs(want -
						 (double)p->expected[place(&p->w, b, d[CONV3D_OC],
									   c, size, at)]));
			}
	return most;
}

static int random_conv3d(struct workload *w)
{
	int64_t *d = w->dim;
	struct err e;

	memset(w, 0, sizeof *w);
	w->op = &op_conv3d;
	w->rhs_const = 1;
	w->layout = pick(0, 1) ? LAYOUT_NDHWC : LAYOUT_NCDHW;
	d[CONV3D_MB] = pick(1, 2);
	d[CONV3D_G] = pick(1, 3);
	d[CONV3D_IC] = d[CONV3D_G] * pick(1, 4);
	d[CONV3D_OC] = d[CONV3D_G] * pick(1, 4);
	for (int i = 0; i < 3; i++) {
		int64_t window;

		d[CONV3D_ID + i] = pick(2, 7);
		d[CONV3D_KD + i] = pick(1, 3);
		d[CONV3D_SD + i] = pick(1, 2);
		d[CONV3D_PD + i] = pick(0, 2);
		d[CONV3D_DD + i] = pick(0, 1);
		window = (d[CONV3D_KD + i] - 1) * (d[CONV3D_DD + i] + 1) + 1;
		if (d[CONV3D_ID + i] + d[CONV3D_PD + i] + 1 < window)
			return 0;
		d[CONV3D_OD + i] = (d[CONV3D_ID + i] + d[CONV3D_PD + i] + pick(0, 1) - window) /
					   d[CONV3D_SD + i] +
				   1;
	}
	if (pick(0, 1)) {
		w->post[w->npost++].kind = POST_BIAS;
		w->post[w->npost++].kind = POST_RELU;
	}
	return workload_finish(w, &e) == 0;
}

static void test_conv3d(void)
{
	double worst = 0;
	int tried = 0;

	for (int i = 0; i < 200; i++) {
		struct problem p = {.w = {0}};

		if (!random_conv3d(&p.w))
			continue;
		problem_open(&p);
		worst = fmax(worst, conv3d_error(&p));
		problem_close(&p);
		tried++;
	}
	ok(tried > 50 && worst < 1e-5, "conv3d is what plain loops compute (%d problems)", tried);
}

/* No algorithm may take a workload that it would compute in another type. */
static void test_dtype(void)
{
	static const char *const dtype[] = {"bf16", "f16", "u8:s8:f32", "s8", "f32:s8:f32"};
	struct limits m = {.target = target_default(),
			   .isa = "avx512",
			   .lanes = 16,
			   .vregs = 32,
			   .threads = 2,
			   .l1d = 32768,
			   .l2 = 1 << 20,
			   .l3 = 1 << 25};
	struct arena a = ARENA_INIT;
	struct knob_space space;
	struct workload w;
	struct err e = ERR_INIT;
	struct nest n;
	int took = 0, takes = 0;

	if (workload_from_text(&w, "matmul", "64x64:64x64", NULL, NULL, &e))
		bail_out("%s", e.msg);
	for (const struct algo *const *x = algo_list; *x; x++)
		takes += algo_suits(*x, m.target) && algo_space(*x, &w, &m, &space);
	for (size_t i = 0; i < sizeof dtype / sizeof *dtype; i++) {
		if (workload_set_dtype(&w, dtype[i], strlen(dtype[i]), &e))
			bail_out("%s", e.msg);
		for (const struct algo *const *x = algo_list; *x; x++) {
			int64_t knob[KNOB_MAX] = {0};
			const char *why = "";

			took += algo_space(*x, &w, &m, &space) || algo_valid(*x, &w, knob, &why);
			if (!strstr(why, "single precision"))
				took++;
		}
	}
	ok(takes > 0 && took == 0, "algorithms compute in single precision only");
	nest_init(&n, &a, "naive");
	ok(workload_define(&w, 1, &n, &e) == -1 && strstr(e.msg, "in f32:s8:f32"),
	   "and no definition is taken for that of another type");
	arena_free(&a);
}

int main(void)
{
	rng_seed(&rng, 1, "definitions");
	test_conv3d();
	test_dtype();
	return done_testing();
}
