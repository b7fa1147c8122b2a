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

/* ---- what works on rows, pools, attention ---- */

/* What an operator computes for output i. */
typedef double value_fn(const struct problem *p, int64_t i);

/* Is this what the definition computes? */
static void defines(const char *op, const char *prob, const char *layout, const char *post,
		    value_fn *value)
{
	struct problem p = {.w = {0}};
	struct err e = ERR_INIT;
	double worst = 0;

	if (workload_from_text(&p.w, op, prob, layout, post, &e))
		bail_out("%s %s: %s", op, prob, e.msg);
	problem_open(&p);
	for (int64_t i = 0; i < p.size[TENSOR_DST]; i++)
		worst = fmax(worst, fabs(value(&p, i) - (double)p.expected[i]));
	if (!ok(worst < 1e-6, "%s %s is what plain loops compute", op, prob))
		diag("the largest difference is %g", worst);
	problem_close(&p);
}

static double src(const struct problem *p, int64_t i)
{
	return (double)p->tensor[TENSOR_SRC][i];
}

static double softmax(const struct problem *p, int64_t i)
{
	int64_t c = p->w.dim[ROWS_C], first = i / c * c;
	double sum = 0;

	for (int64_t j = 0; j < c; j++)
		sum += exp(src(p, first + j));
	return exp(src(p, i)) / sum;
}

static double layer_norm(const struct problem *p, int64_t i)
{
	int64_t c = p->w.dim[ROWS_C], first = i / c * c;
	double sum = 0, squares = 0, mean;

	for (int64_t j = 0; j < c; j++) {
		sum += src(p, first + j);
		squares += src(p, first + j) * src(p, first + j);
	}
	mean = sum / (double)c;
	return (src(p, i) - mean) / sqrt(squares / (double)c - mean * mean + 1e-5) *
		       (double)p->tensor[TENSOR_WEIGHTS][i % c] +
	       (double)p->tensor[TENSOR_BIAS][i % c];
}

static double rms_norm(const struct problem *p, int64_t i)
{
	int64_t c = p->w.dim[ROWS_C], first = i / c * c;
	double squares = 0;

	for (int64_t j = 0; j < c; j++)
		squares += src(p, first + j) * src(p, first + j);
	return src(p, i) / sqrt(squares / (double)c + 1e-5) *
	       (double)p->tensor[TENSOR_WEIGHTS][i % c];
}

/* bias, mul, relu, add */
static double eltwise(const struct problem *p, int64_t i)
{
	double x = src(p, i) + (double)p->tensor[TENSOR_BIAS][i % p->w.dim[ROWS_C]];

	return fmax(x * (double)p->tensor[TENSOR_MUL][i], 0) + (double)p->tensor[TENSOR_ADD][i];
}

/* Of output i, channels last: the largest value of its window, or the mean. Along each axis a
 * problem has, in this order: input, output, kernel, stride, padding, dilation. */
static double pool(const struct problem *p, int64_t i, int is_mean)
{
	const int64_t *d = p->w.dim, channels = d[POOL_IC], c = i % channels;
	const int axes = p->w.op == &op_maxpool3d || p->w.op == &op_avgpool3d ? 3 : 2;
	const int64_t *in = d + 2, *out = in + axes, *k = out + axes, *stride = k + axes,
		      *pad = stride + axes, *dilation = pad + axes;
	int64_t at[3], rest = i / channels, taps = 1;
	double most = -INFINITY, sum = 0, n = 0;

	for (int a = axes; a-- > 0; rest /= out[a])
		at[a] = rest % out[a];
	for (int a = 0; a < axes; a++)
		taps *= k[a];
	for (int64_t tap = 0; tap < taps; tap++) {
		int64_t pixel = 0, left = tap, inside = 1, size = 1;
		double x;

		for (int a = axes; a-- > 0; size *= in[a], left /= k[a]) {
			int64_t v = at[a] * stride[a] - pad[a] + left % k[a] * (dilation[a] + 1);

			inside &= v >= 0 && v < in[a];
			pixel += v * size;
		}
		if (!inside)
			continue;
		x = src(p, (rest * size + pixel) * channels + c);
		most = fmax(most, x);
		sum += x;
		n++;
	}
	return is_mean ? sum / n : most;
}

static double max_pool(const struct problem *p, int64_t i)
{
	return pool(p, i, 0);
}

static double mean_pool(const struct problem *p, int64_t i)
{
	return pool(p, i, 1);
}

static double score(const struct problem *p, int64_t row, int64_t key)
{
	const int64_t *d = p->w.dim, size = d[ATTENTION_K];
	int64_t head = row / d[ATTENTION_M];
	double sum = 0;

	for (int64_t k = 0; k < size; k++)
		sum += src(p, row * size + k) *
		       (double)p->tensor[TENSOR_WEIGHTS][(head * d[ATTENTION_N] + key) * size + k];
	sum /= sqrt((double)size);
	if (d[ATTENTION_MASK])
		sum += (double)p->tensor[TENSOR_ADD][row * d[ATTENTION_N] + key];
	return sum;
}

static double attention(const struct problem *p, int64_t i)
{
	const int64_t *d = p->w.dim, row = i / d[ATTENTION_V], j = i % d[ATTENTION_V];
	int64_t head = row / d[ATTENTION_M];
	double sum = 0, out = 0;

	for (int64_t key = 0; key < d[ATTENTION_N]; key++) {
		double weight = exp(score(p, row, key));
		int64_t at = (head * d[ATTENTION_N] + key) * d[ATTENTION_V] + j;

		sum += weight;
		out += weight * (double)p->tensor[TENSOR_MUL][at];
	}
	return out / sum;
}

static void test_others(void)
{
	defines("softmax", "5x7", NULL, NULL, softmax);
	defines("layer_norm", "5x7", NULL, "bias", layer_norm);
	defines("rms_norm", "5x7", NULL, NULL, rms_norm);
	defines("eltwise", "5x7", NULL, "bias,mul,relu,add", eltwise);
	defines("maxpool2d", "mb2_ic3ih9iw11_oh5ow6_kh3kw3sh2sw2ph1pw1", NULL, NULL, max_pool);
	defines("avgpool2d", "mb2_ic3ih9iw11_oh5ow6_kh3kw3sh2sw2ph1pw1", NULL, NULL, mean_pool);
	defines("avgpool2d", "mb2_ic3ih7_oh1_kh7", NULL, NULL, mean_pool);
	defines("maxpool3d", "mb2_ic3id5ih9iw11_od3oh5ow6_kd3kh3kw3sd2sh2sw2pd1ph2pw1", NULL, NULL,
		max_pool);
	defines("avgpool3d", "mb2_ic3id6ih9iw7_od3oh9ow7_kd2kh3kw1sd2sh1sw1pd0ph1pw0", NULL, NULL,
		mean_pool);
	defines("attention", "b2h3_m4n5_k6v7", NULL, NULL, attention);
	defines("attention", "b2h1_m4n5_k6v7_mask1", NULL, NULL, attention);
}

static int has_space(const struct algo *a, const struct workload *w, const struct limits *m)
{
	struct knob_space space = {0};

	return algo_space(a, w, m, &space);
}

/* matmul's result (i, j) of whole numbers, with the post-ops bias and leaky_relu(0.5). */
static double whole_at(const struct problem *p, int64_t i, int64_t j)
{
	const int64_t n = p->w.dim[MATMUL_N], k = p->w.dim[MATMUL_K];
	int64_t sum = (int64_t)p->tensor[TENSOR_BIAS][j];

	for (int64_t q = 0; q < k; q++)
		sum += (int64_t)p->tensor[TENSOR_SRC][i * k + q] *
		       (int64_t)p->tensor[TENSOR_WEIGHTS][q * n + j];
	return sum > 0 ? (double)sum : nearbyint((double)sum * 0.5);
}

static void test_wholes(void)
{
	struct problem p = {0};
	struct err e = ERR_INIT;
	int halves = 0, below = 0, same = 1;

	if (workload_from_text(&p.w, "matmul", "17x300:300x19", NULL, "bias,leaky_relu(0.5)", &e) ||
	    workload_set_dtype(&p.w, "u8:s8:s32", 9, &e))
		bail_out("%s", e.msg);
	problem_open(&p);
	for (int64_t i = 0; i < p.size[TENSOR_DST]; i++) {
		const double want = whole_at(&p, i / p.w.dim[MATMUL_N], i % p.w.dim[MATMUL_N]);

		same &= (double)p.expected[i] == want;
		halves += want < 0;
		below += fabs(want) < 1 << 24;
	}
	ok(same && halves > 9 && below == p.size[TENSOR_DST],
	   "a product of whole numbers is their sum, and rounded to the nearest");
	problem_close(&p);
}

/* An image's channel c at (y, x) as a filter of 3x3 with a padding of 1 reads it: what lies outside
 * has a value for each channel. */
static int64_t padded_at(const struct problem *p, int64_t c, int64_t y, int64_t x)
{
	const int64_t *d = p->w.dim;

	if (y < 0 || x < 0 || y >= d[CONV_IH] || x >= d[CONV_IW])
		return (int64_t)p->tensor[TENSOR_PAD][c];
	return (int64_t)p->tensor[TENSOR_SRC][(y * d[CONV_IW] + x) * d[CONV_IC] + c];
}

/* A convolution of whole numbers with a zero point. */
static double zero_point_at(const struct problem *p, int64_t o, int64_t y, int64_t x)
{
	const int64_t channels = p->w.dim[CONV_IC];
	int64_t sum = (int64_t)p->tensor[TENSOR_BIAS][o];

	for (int64_t c = 0; c < channels; c++)
		for (int64_t t = 0; t < 9; t++)
			sum += padded_at(p, c, y - 1 + t / 3, x - 1 + t % 3) *
			       (int64_t)p->tensor[TENSOR_WEIGHTS][(o * channels + c) * 9 + t];
	return fmin(fmax(nearbyint(nearbyint((double)sum * (double)p->tensor[TENSOR_SCALE][o]) +
				   (double)p->tensor[TENSOR_SHIFT][o]),
			 0),
		    255);
}

/* matmul's result (i, j) of weights that stand for reals by the scales of groups of 6. */
static double group_at(const struct problem *p, int64_t i, int64_t j)
{
	const int64_t k = p->w.dim[MATMUL_K], n = p->w.dim[MATMUL_N];
	double sum = (double)p->tensor[TENSOR_BIAS][j];

	for (int64_t x = 0; x < k; x++) {
		const int64_t at = x / 6 * n + j;
		const double zero =
			p->tensor[TENSOR_ZEROS] ? (double)p->tensor[TENSOR_ZEROS][at] : 8;

		sum += (double)p->tensor[TENSOR_SRC][i * k + x] *
		       ((double)p->tensor[TENSOR_WEIGHTS][x * n + j] - zero) *
		       (double)p->tensor[TENSOR_SCALE][at];
	}
	return sum < 0 ? 0 : sum; /* NaN stays */
}

static void test_groups(const char *post)
{
	struct problem p = {0};
	struct err e = ERR_INIT;
	double diff = 0, norm = 0;
	int whole = 1;

	if (workload_from_text(&p.w, "matmul", "5x24:24x9", NULL, "bias,relu", &e))
		bail_out("%s", e.msg);
	p.w.post[p.w.npost++] = (struct post_op){.kind = POST_GROUPS, .a = 6};
	if (post)
		p.w.post[p.w.npost++] = (struct post_op){.kind = POST_ZEROS};
	if (workload_set_dtype(&p.w, "f32:u4:f32", 10, &e))
		bail_out("%s", e.msg);
	problem_open(&p);
	for (int64_t i = 0; i < p.size[TENSOR_WEIGHTS]; i++)
		whole &= p.tensor[TENSOR_WEIGHTS][i] >= 0 && p.tensor[TENSOR_WEIGHTS][i] <= 15 &&
			 p.tensor[TENSOR_WEIGHTS][i] == rintf(p.tensor[TENSOR_WEIGHTS][i]);
	for (int64_t i = 0; i < p.size[TENSOR_DST]; i++) {
		const double want = group_at(&p, i / 9, i % 9), d = (double)p.expected[i] - want;

		if (isnan(want) && isnan(p.expected[i])) /* by its bias */
			continue;
		diff += d * d;
		norm += want * want;
	}
	ok(whole && norm > 0 && sqrt(diff / norm) < 1e-6,
	   "weights stand for reals by scales of groups, from %s on", post ? post : "their middle");
	problem_close(&p);
}

static void test_zero_points(void)
{
	struct problem p = {0};
	struct err e = ERR_INIT;
	int64_t same = 0, between = 0;

	if (workload_from_text(&p.w, "conv2d", "ic5ih6iw7oc8oh6ow7kh3ph1", NULL,
			       "bias,scale,shift,pad", &e) ||
	    workload_set_dtype(&p.w, "u8:s8:u8", 8, &e))
		bail_out("%s", e.msg);
	problem_open(&p);
	for (int64_t i = 0; i < p.size[TENSOR_DST]; i++) {
		const double want = zero_point_at(&p, i % 8, i / 8 / 7, i / 8 % 7);

		same += (double)p.expected[i] == want;
		between += want > 0 && want < 255;
	}
	ok(same == p.size[TENSOR_DST] && between > same / 4,
	   "an image is padded with its zero point, and a result gets its own");
	problem_close(&p);
	ok(workload_from_text(&p.w, "conv2d", "ic5ih6oc8oh4kh3", NULL, "bias,pad", &e) &&
		   workload_from_text(&p.w, "conv2d", "ic5ih6oc8oh6kh3ph1", NULL, "pad", &e) &&
		   workload_from_text(&p.w, "matmul", "4x5:5x6", NULL, "bias,pad", &e),
	   "nothing pads where there is no padding, or no bias");
}

/* Whole numbers are rounded to the nearest, ties to even, and end where their type does. */
static void test_elements(void)
{
	static const struct {
		enum elem elem;
		double x, becomes;
	} values[] = {
		{ELEM_S8, 2.5, 2},
		{ELEM_S8, -3.5, -4},
		{ELEM_S8, 127.6, 127},
		{ELEM_S8, -1e9, -128},
		{ELEM_U8, -0.7, 0},
		{ELEM_U8, 254.5, 254},
		{ELEM_U8, 300, 255},
		{ELEM_S16, 2.5, 2},
		{ELEM_S16, 1e9, INT16_MAX},
		{ELEM_S16, -32769, INT16_MIN},
		{ELEM_S32, 5e9, INT32_MAX},
		{ELEM_S32, -5e9, INT32_MIN},
		{ELEM_S32, 16777217, 16777217},
		{ELEM_S32, (double)NAN, INT32_MIN},
	};
	int same = 1;

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char memory[16] = {0};

		elem_write(values[i].elem, memory, 1, values[i].x);
		same &= elem_read(values[i].elem, memory, 1) == values[i].becomes &&
			elem_round(values[i].elem, values[i].x) == values[i].becomes;
	}
	ok(same, "elements of whole numbers are rounded, and end where their type does");
}

/* Runs of elements become what each becomes alone: all values of 16 bits, and floats between and
 * beyond them. */
static void test_runs(enum elem elem)
{
	enum { ALL = 1 << 16 };
	uint16_t *bits = malloc(ALL * sizeof *bits), *back = malloc(ALL * sizeof *back), one;
	float *value = malloc(ALL * sizeof *value), alone;
	int reads = 1, writes = 1;

	for (int i = 0; i < ALL; i++)
		bits[i] = (uint16_t)i;
	elem_to_floats(elem, bits, value, ALL);
	for (int i = 0; i < ALL; i++) {
		alone = (float)elem_read(elem, bits, i);
		reads &= isnan(alone) ? isnan(value[i]) : !memcmp(&alone, &value[i], sizeof alone);
	}
	ok(reads, "a run of elements of type %d is read as each of them", (int)elem);
	for (int shift = 0; shift < 3; shift++) {
		for (int i = 0; i < ALL; i++) {
			const uint32_t wide = (uint32_t)i << 16 | (0x7fffU + (uint32_t)shift);

			memcpy(&value[i], &wide, sizeof *value);
		}
		elem_from_floats(elem, value, back, ALL);
		for (int i = 0; i < ALL; i++) {
			elem_write(elem, &one, 0, (double)value[i]);
			writes &=
				isnan(value[i]) ? isnan(elem_read(elem, back, i)) : one == back[i];
		}
	}
	ok(writes, "and written so");
	free(bits);
	free(back);
	free(value);
}

/* No algorithm of a processor may take a workload that it would compute in another type. */
static void test_dtype(void)
{
	static const char *const dtype[] = {"f16", "u8:u8:f32", "u8", "f32:s8:f32"};
	struct limits m = {.target = target_default(),
			   .isa = "avx512",
			   .lanes = 16,
			   .vregs = 32,
			   .threads = 2,
			   .l1d = 32768,
			   .l2 = 1 << 20,
			   .l3 = 1 << 25};
	struct arena a = ARENA_INIT;
	struct workload w;
	struct err e = ERR_INIT;
	struct nest n;
	int took = 0, takes = 0;

	if (workload_from_text(&w, "matmul", "64x64:64x64", NULL, NULL, &e))
		bail_out("%s", e.msg);
	for (const struct algo *const *x = algo_list; *x; x++)
		takes += algo_suits(*x, m.target) && has_space(*x, &w, &m);
	for (size_t i = 0; i < sizeof dtype / sizeof *dtype; i++) {
		if (workload_set_dtype(&w, dtype[i], strlen(dtype[i]), &e))
			bail_out("%s", e.msg);
		for (const struct algo *const *x = algo_list; *x; x++) {
			int64_t knob[KNOB_MAX] = {0};
			const char *why = "";

			if (!algo_suits(*x, m.target))
				continue;
			took += has_space(*x, &w, &m) || algo_valid(*x, &w, knob, &why);
			if (!strstr(why, "single precision"))
				took++;
		}
	}
	ok(takes > 0 && took == 0, "a processor's algorithms do not compute in other types");
	workload_set_dtype(&w, "bf16", 4, &e);
	for (const struct algo *const *x = algo_list; *x; x++)
		took += algo_suits(*x, m.target) && has_space(*x, &w, &m);
	ok(took > 0 && took < takes, "but some do in bf16");
	workload_set_dtype(&w, "u8:s8:u8", 8, &e);
	for (const struct algo *const *x = algo_list; *x; x++)
		took -= algo_suits(*x, m.target) && has_space(*x, &w, &m);
	ok(took == 0, "and the same in 8 bits");
	workload_set_dtype(&w, "f32:s8:f32", 10, &e);
	nest_init(&n, &a, "naive");
	ok(workload_define(&w, 1, &n, &e) == -1 && strstr(e.msg, "in f32:s8:f32"),
	   "and no definition is taken for that of another type");
	arena_free(&a);
}

int main(void)
{
	rng_seed(&rng, 1, "definitions");
	test_conv3d();
	test_others();
	test_wholes();
	test_zero_points();
	test_groups(NULL);
	test_groups("zero points");
	test_elements();
	test_runs(ELEM_BF16);
	test_runs(ELEM_F16);
	test_dtype();
	return done_testing();
}
