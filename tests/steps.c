/* The nests of whole models (lib/run): pointwise expressions, rows and pools, at random,
 * interpreted as a team of three threads (which finds races, and reads of what was never written)
 * and compared with plain loops. And the views of places.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/nest/check.h"
#include "lib/nest/interp.h"
#include "lib/nest/operands.h"
#include "lib/run/largest.h"
#include "lib/run/place.h"
#include "lib/run/means.h"
#include "lib/run/permute.h"
#include "lib/run/pointwise.h"
#include "lib/run/pool.h"
#include "lib/run/rescale.h"
#include "lib/run/rows.h"
#include "lib/run/table.h"
#include "tests/tap.h"

enum { THREADS = 3, TRIES = 60, ROOM = 1 << 16 };

static struct rng rng;
static struct arena arena;
static struct nest nest;
static float memory[4][ROOM];

static int pick(int lo, int hi)
{
	return lo + (int)rng_below(&rng, (uint64_t)(hi - lo + 1));
}

static int lanes(void)
{
	static const int of[] = {16, 8, 1};

	return of[pick(0, 2)];
}

static void begin(void)
{
	arena_reset(&arena);
	nest_init(&nest, &arena, "steps");
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < ROOM; i++)
			memory[k][i] = (float)(2 * rng_unit(&rng) - 1);
}

/* Arguments in the order of slots; workspace is made. 0, or -1 with a note. */
static int interpret(float *const *arguments)
{
	void *buffers[NEST_BUFFERS] = {NULL};
	struct err e = ERR_INIT;
	int rc = check_nest(&nest, &e), k = 0;

	for (int i = 0; i < nest.nslots; i++) {
		const struct buffer *b = operand_buffer(&nest, i);

		buffers[i] = b->kind == BUFFER_ARG
				     ? (void *)arguments[k++]
				     : arena_alloc(&arena,
						   sizeof(float) *
							   (size_t)operand_size(&nest, i, THREADS));
	}
	if (!rc)
		rc = interp_team(&nest, THREADS, buffers, &e);
	if (rc)
		printf("# %s\n", e.msg);
	return rc;
}

static int is_near(float x, double y)
{
	return fabs((double)x - y) <= 2e-5 * fmax(1, fabs(y));
}

/* ---- pointwise ---- */

static void shuffle(int *order, int n)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = pick(0, i), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
}

/* Of these dimensions, in some order, perhaps with gaps; or one that broadcasts. */
static struct place random_place(int rank, const int64_t *dim, int broadcasts)
{
	struct place p = {.memory = 0};
	int64_t wide[PLACE_RANK] = {0};
	int order[PLACE_RANK] = {0};

	shuffle(order, rank);
	for (int i = 0; i < rank; i++)
		wide[i] = dim[i] + pick(0, 1);
	place_dense(&p, rank, wide, order);
	for (int i = 0; i < rank; i++) {
		p.dim[i] = dim[i];
		if (broadcasts && pick(0, 1))
			p.stride[i] = 0;
	}
	return p;
}

static int64_t offset(const struct place *p, const int64_t *at)
{
	int64_t n = 0;

	for (int i = 0; i < p->rank; i++)
		n += at[i] * p->stride[i];
	return n;
}

/* max(a * b + sqrt(|c|), tanh(a)) */
static double expression(double a, double b, double c)
{
	return fmax(a * b + sqrt(fabs(c)), tanh(a));
}

static int is_pointwise_right(void)
{
	struct pointwise m = {0};
	float *arguments[] = {memory[0], memory[1], memory[2], memory[3]};
	int64_t dim[PLACE_RANK], at[PLACE_RANK] = {0};
	int rank = pick(1, 4), a, b, c, x;

	begin();
	for (int i = 0; i < rank; i++)
		dim[i] = pick(1, rank == 1 ? 200 : 9);
	m.out = random_place(rank, dim, 0);
	for (int i = 0; i < 3; i++)
		m.in[i] = random_place(rank, dim, i > 0);
	a = pointwise_input(&m, &m.in[0]);
	b = pointwise_input(&m, &m.in[1]);
	c = pointwise_input(&m, &m.in[2]);
	c = pointwise_op(&m, PW_MAX, c, pointwise_op(&m, PW_SUB, pointwise_const(&m, 0), c));
	x = pointwise_op(&m, PW_ADD, pointwise_op(&m, PW_MUL, a, b),
			 pointwise_op(&m, PW_SQRT, c, -1));
	pointwise_op(&m, PW_MAX, x, pointwise_post(&m, a, (struct post_op){.kind = POST_TANH}));
	pointwise_nest(&m, lanes(), &nest);
	if (interpret(arguments))
		return 0;
	for (int64_t k = 0; k < place_count(&m.out); k++) {
		double should = expression((double)memory[0][offset(&m.in[0], at)],
					   (double)memory[1][offset(&m.in[1], at)],
					   (double)memory[2][offset(&m.in[2], at)]);

		if (!is_near(memory[3][offset(&m.out, at)], should))
			return 0;
		for (int d = rank; d-- > 0 && ++at[d] == dim[d];)
			at[d] = 0;
	}
	return 1;
}

/* A transposed copy of nothing writes nothing. */
static int is_empty_copied(int empty)
{
	static const int order[] = {2, 1, 0};
	float *arguments[] = {memory[0], memory[1]};
	int64_t dim[] = {8, 8, 8};
	struct pointwise m = {0};

	dim[empty] = 0;
	begin();
	place_dense(&m.out, 3, dim, NULL);
	place_dense(&m.in[0], 3, dim, order);
	pointwise_input(&m, &m.in[0]);
	memory[1][0] = 86;
	pointwise_nest(&m, lanes(), &nest);
	return !interpret(arguments) && memory[1][0] == 86;
}

/* All sums of two quantized numbers, in the units of a third: every bit is that of a division. */
static int is_quantized_right(void)
{
	static const float scale[][3] = {
		{0.0234F, 0.0117F, 0.0179F}, {1, 0.5F, 0.75F}, {3e-4F, 7e-5F, 1.9e-4F}};
	float *arguments[] = {memory[0], memory[1], memory[2]};
	unsigned char *bytes[] = {(unsigned char *)memory[0], (unsigned char *)memory[1]};
	const float *s = scale[pick(0, 2)];
	const int64_t dim = ROOM;
	struct pointwise m = {0};
	int x[2];

	begin();
	for (int i = 0; i < ROOM; i++) {
		bytes[0][i] = (unsigned char)(i / 256);
		bytes[1][i] = (unsigned char)(i % 256);
	}
	place_dense(&m.out, 1, &dim, NULL);
	m.in[0] = m.in[1] = m.out;
	m.in[0].elem = m.in[1].elem = ELEM_U8;
	for (int i = 0; i < 2; i++) {
		x[i] = pointwise_input(&m, &m.in[i]);
		x[i] = pointwise_op(&m, PW_SUB, x[i], pointwise_const(&m, 31 + i));
		x[i] = pointwise_op(&m, PW_MUL, x[i], pointwise_const(&m, (double)s[i]));
	}
	x[0] = pointwise_op(&m, PW_ADD, x[0], x[1]);
	pointwise_op(&m, PW_DIV, x[0], pointwise_const(&m, (double)s[2]));
	pointwise_nest(&m, lanes(), &nest);
	if (interpret(arguments))
		return 0;
	for (int i = 0; i < ROOM; i++) {
		const volatile float a = (float)(i / 256 - 31) * s[0];
		const volatile float b = (float)(i % 256 - 32) * s[1], sum = a + b;

		if (memory[2][i] != sum / s[2])
			return 0;
	}
	return 1;
}

/* The sum of two quantized numbers, round(x * s0 + y * s1) / s2 + zero, in `elem`. */
static void residual(struct pointwise *m, const float *s, const int *zero, int is_relu,
		     enum elem elem)
{
	const int64_t dim = ROOM;
	int x[2], y;

	place_dense(&m->out, 1, &dim, NULL);
	m->in[0] = m->in[1] = m->out;
	m->out.elem = m->in[0].elem = m->in[1].elem = elem;
	for (int i = 0; i < 2; i++) {
		x[i] = pointwise_input(m, &m->in[i]);
		x[i] = pointwise_op(m, PW_SUB, x[i], pointwise_const(m, zero[i]));
		x[i] = pointwise_op(m, PW_MUL, x[i], pointwise_const(m, (double)s[i]));
	}
	y = pointwise_op(m, PW_ADD, x[0], x[1]);
	if (is_relu)
		y = pointwise_op(m, PW_MAX, y, pointwise_const(m, 0));
	y = pointwise_op(m, PW_DIV, y, pointwise_const(m, (double)s[2]));
	y = pointwise_op(m, PW_ADD, y, pointwise_const(m, 12582912));
	pointwise_op(m, PW_ADD, y, pointwise_const(m, zero[2] - 12582912));
}

/* The same pair by pair, in single precision, as ONNX defines it. */
static int residual_of(float x, float y, const float *s, const int *zero, int is_relu, int least)
{
	const volatile float a = (x - (float)zero[0]) * s[0], b = (y - (float)zero[1]) * s[1];
	volatile float sum = a + b;

	if (is_relu && sum < 0)
		sum = 0;
	sum = sum / s[2];
	return (int)fmin(fmax(rint((double)sum) + zero[2], least), least + 255);
}

/* Sums of all pairs of numbers in 8 bits, as multiply-adds: each is what the definition makes. */
static int is_rescaled_right(int i)
{
	static const float scale[][3] = {{0.061327834F, 0.05782972F, 0.036525026F},
					 {0.098290496F, 0.056035805F, 0.06594026F},
					 {0.3589194F, 0.15915449F, 0.22012816F},
					 {0.10702F, 0.08174F, 0.13475F}};
	static const int zeros[][3] = {{121, 125, 0}, {133, 0, 0}, {123, 7, 149}};
	static const int zeros_s8[][3] = {{-7, 0, 0}, {5, -128, 17}, {0, 0, -128}};
	const int is_s8 = i & 1, is_relu = i >> 1 & 1, least = is_s8 ? -128 : 0;
	const int *zero = is_s8 ? zeros_s8[i % 3] : zeros[i % 3];
	float *arguments[] = {memory[0], memory[1], memory[2]};
	const float *s = scale[i % 4];
	struct pointwise m = {0};

	begin();
	for (int k = 0; k < ROOM; k++) {
		((unsigned char *)memory[0])[k] = (unsigned char)(k / 256 + least);
		((unsigned char *)memory[1])[k] = (unsigned char)(k % 256 + least);
	}
	residual(&m, s, zero, is_relu, is_s8 ? ELEM_S8 : ELEM_U8);
	rescale_find(&m);
	pointwise_nest(&m, lanes(), &nest);
	if (!m.sum.is || interpret(arguments))
		return 0;
	for (int k = 0; k < ROOM; k++) {
		const int should = residual_of((float)(k / 256 + least), (float)(k % 256 + least),
					       s, zero, is_relu, least);

		if (((unsigned char *)memory[2])[k] != (unsigned char)should)
			return 0;
	}
	return 1;
}

/* Halves go to the even number before an odd zero point is added: no multiply-adds do that. */
static int is_odd_refused(void)
{
	const float s[] = {0.5F, 0.5F, 1};
	const int zero[] = {0, 0, 1};
	struct pointwise m = {0};

	residual(&m, s, zero, 0, ELEM_U8);
	rescale_find(&m);
	return !m.sum.is;
}

/* ---- rows ---- */

static double row_value(const struct rows *r, const float *x, int64_t i)
{
	double sum = 0, most = -INFINITY, least = INFINITY, squares = 0, powers = 0, exps = 0, mean;

	for (int64_t k = 0; k < r->size; k++) {
		sum += (double)x[k];
		most = fmax(most, (double)x[k]);
		least = fmin(least, (double)x[k]);
	}
	mean = sum / (double)r->size;
	for (int64_t k = 0; k < r->size; k++) {
		squares += ((double)x[k] - mean) * ((double)x[k] - mean);
		powers += (double)x[k] * (double)x[k];
		exps += exp((double)x[k] - most);
	}
	switch (r->kind) {
	case ROWS_SOFTMAX:
		return exp((double)x[i] - most) / exps;
	case ROWS_NORM:
		return ((double)x[i] - mean) / sqrt(squares / (double)r->size + r->epsilon);
	case ROWS_RMS:
		return (double)x[i] / sqrt(powers / (double)r->size + r->epsilon);
	case ROWS_SUM:
		return sum;
	case ROWS_MEAN:
		return mean;
	case ROWS_MAX:
		return most;
	case ROWS_MIN:
		return least;
	}
	return NAN;
}

static int is_rows_right(enum rows_kind kind)
{
	struct rows r = {.kind = kind, .rows = pick(1, 7), .size = pick(1, 150), .epsilon = 1e-3};
	float *arguments[4] = {memory[0]};
	int norm = kind == ROWS_NORM || kind == ROWS_RMS, whole = kind == ROWS_SOFTMAX || norm,
	    k = 1;

	begin();
	r.has_scale = norm && pick(0, 1);
	r.has_shift = norm && pick(0, 1);
	if (r.has_scale)
		arguments[k++] = memory[1];
	if (r.has_shift)
		arguments[k++] = memory[2];
	arguments[k] = memory[3];
	rows_nest(&r, lanes(), &nest);
	if (interpret(arguments))
		return 0;
	for (int64_t i = 0; i < r.rows * (whole ? r.size : 1); i++) {
		int64_t row = whole ? i / r.size : i, at = whole ? i % r.size : 0;
		double should = row_value(&r, memory[0] + row * r.size, at);

		if (r.has_scale)
			should *= (double)memory[1][at];
		if (r.has_shift)
			should += (double)memory[2][at];
		if (!is_near(memory[3][i], should))
			return 0;
	}
	return 1;
}

/* ---- pools ---- */

static double pool_value(const struct pool *p, int64_t img, int64_t oh, int64_t ow, int64_t c)
{
	double sum = 0, most = -3.402823466e38;
	int64_t count = 0;

	for (int64_t kh = 0; kh < p->kh; kh++)
		for (int64_t kw = 0; kw < p->kw; kw++) {
			int64_t h = oh * p->sh - p->ph + kh * p->dh;
			int64_t w = ow * p->sw - p->pw + kw * p->dw;
			double x;

			if (h < 0 || h >= p->ih || w < 0 || w >= p->iw)
				continue;
			x = (double)memory[0][((img * p->ih + h) * p->iw + w) * p->in_pixel + c];
			sum += x;
			most = fmax(most, x);
			count++;
		}
	if (!p->is_mean)
		return most;
	return sum / (double)(p->counts_padding ? p->kh * p->kw : count);
}

static int is_pool_right(int whole)
{
	struct pool p = {.is_mean = pick(0, 1),
			 .counts_padding = pick(0, 1),
			 .images = pick(1, 2),
			 .channels = pick(1, 40),
			 .ih = pick(4, 8),
			 .iw = pick(5, 8), /* as wide as a window with gaps */
			 .kh = pick(1, 3),
			 .kw = pick(1, 3),
			 .sh = pick(1, 2),
			 .sw = pick(1, 2),
			 .dh = 1,
			 .dw = pick(1, 2)};
	float *arguments[] = {memory[0], memory[3]};

	begin();
	if (whole) {
		p.kh = p.ih;
		p.kw = p.iw;
		p.dw = p.oh = p.ow = 1;
	} else {
		p.ph = pick(0, (int)p.kh - 1);
		p.pw = pick(0, (int)p.kw - 1);
		p.oh = (p.ih + 2 * p.ph - p.kh) / p.sh + 1;
		p.ow = (p.iw + 2 * p.pw - (p.kw - 1) * p.dw - 1) / p.sw + 1;
	}
	p.to_row = p.ih + p.ph;
	p.to_column = p.iw + p.pw;
	p.in_pixel = p.channels + pick(0, 5);
	p.out_pixel = p.channels + pick(0, 5);
	pool_nest(&p, lanes(), &nest);
	if (interpret(arguments))
		return 0;
	for (int64_t i = 0; i < p.images * p.oh * p.ow; i++)
		for (int64_t c = 0; c < p.channels; c++)
			if (!is_near(memory[3][i * p.out_pixel + c],
				     pool_value(&p, i / (p.oh * p.ow), i / p.ow % p.oh, i % p.ow,
						c)))
				return 0;
	return 1;
}

/* ---- bytes ---- */

static unsigned char bytes_in[ROOM], bytes_out[ROOM];

static void pick_order(int rank, int order[PLACE_RANK])
{
	for (int i = 0; i < rank; i++) {
		const int k = (int)pick(0, i);

		order[i] = order[k];
		order[k] = i;
	}
}

static int has_run(const struct place *p)
{
	int i = 0;

	while (i < p->rank && (p->dim[i] == 1 || p->stride[i] != 1))
		i++;
	return i < p->rank;
}

/* Bytes of a place in any order, which three threads copy to another one; or a part of them. */
static int is_permuted(const int64_t dim[4])
{
	float *buffers[] = {(void *)bytes_in, (void *)bytes_out};
	struct place from = {.elem = ELEM_U8}, to = from;
	int order[PLACE_RANK];
	struct permute p;
	int64_t at[4];

	pick_order(4, order);
	place_dense(&from, 4, dim, order);
	pick_order(4, order);
	for (int i = 0; i < 4 && pick(0, 1); i++)
		from.dim[i] -= from.dim[i] > 1;
	place_dense(&to, 4, from.dim, order);
	memset(bytes_out, 0, sizeof bytes_out);
	if (!permute_of(&from, &to, &p))
		return !has_run(&from); /* what the view leaves out has made gaps everywhere */
	for (int i = 0; i < THREADS; i++)
		permute_run(&p, buffers, i, THREADS);
	for (int64_t i = 0; i < place_count(&to); i++) {
		int64_t read = 0, written = 0, rest = i;

		for (int d = 3; d >= 0; d--) {
			at[d] = rest % to.dim[d];
			rest /= to.dim[d];
			read += at[d] * from.stride[d];
			written += at[d] * to.stride[d];
		}
		if (bytes_out[written] != bytes_in[read])
			return 0;
	}
	return bytes_out[place_count(&to)] == 0;
}

static int are_permuted(void)
{
	static const int64_t dim[][4] = {{2, 3, 5, 37}, {1, 4, 6, 40},	{2, 2, 5, 37},
					 {1, 48, 5, 7}, {3, 33, 2, 17}, {1, 1, 1, 1},
					 {1, 1, 70, 1}, {2, 16, 1, 32}};

	for (int i = 0; i < 400; i++)
		if (!is_permuted(dim[i % (int)(sizeof dim / sizeof *dim)]))
			return 0;
	return 1;
}

/* What repeats, and elements of several bytes, are copied by nests. */
static int is_left_to_nests(enum elem elem, int64_t last)
{
	const int64_t dim[] = {1, 3, 5, 37};
	struct place from = {.elem = elem}, to = from;
	struct permute p;

	place_dense(&from, 4, dim, NULL);
	place_dense(&to, 4, dim, NULL);
	from.stride[3] = last;
	return !permute_of(&from, &to, &p);
}

/* Looks 256 numbers up by three threads, over and over. */
static int is_looked_up(int wide)
{
	float *buffers[] = {(void *)bytes_in, (void *)bytes_out};
	struct table t = {.n = 1000, .wide = wide};

	for (int i = 0; i < TABLE_VALUES; i++)
		t.to[i] = (unsigned char)(i * 7 + 3);
	memset(bytes_out, 0, sizeof bytes_out);
	for (int i = 0; i < THREADS; i++)
		table_run(&t, buffers, i, THREADS);
	for (int64_t i = 0; i < t.n; i++)
		if (bytes_out[i] != t.to[bytes_in[i]])
			return 0;
	return !bytes_out[t.n];
}

/* Means of images whose pixels have gaps between them, with more pixels than 16 bits can sum. */
static int are_means_right(int is_signed, int64_t channels)
{
	const struct means p = {.is_signed = is_signed,
				.images = 2,
				.pixels = 300,
				.channels = channels,
				.in_pixel = channels + 1};
	float means[2 * 64], *buffers[] = {(void *)bytes_in, means};

	for (int i = 0; i < THREADS; i++)
		means_run(&p, buffers, i, THREADS);
	for (int64_t i = 0; i < 2 * channels; i++) {
		double sum = 0;

		for (int64_t k = 0; k < p.pixels; k++) {
			const unsigned char x =
				bytes_in[(i / channels * p.pixels + k) * p.in_pixel + i % channels];

			sum += is_signed ? (signed char)x : x;
		}
		if (!is_near(means[i], sum / (double)p.pixels))
			return 0;
	}
	return 1;
}

static int byte_of(const struct largest *p, unsigned char x)
{
	return p->is_signed ? (signed char)x : x;
}

static int largest_at(const struct largest *p, int64_t oh, int64_t ow, int64_t c)
{
	int most = -128;

	for (int64_t kh = 0; kh < p->kernel[0]; kh++)
		for (int64_t kw = 0; kw < p->kernel[1]; kw++) {
			const int64_t h = oh * p->stride[0] - p->before[0] + kh * p->dilation[0];
			const int64_t w = ow * p->stride[1] - p->before[1] + kw * p->dilation[1];
			int x;

			if (h < 0 || h >= p->in[0] || w < 0 || w >= p->in[1])
				continue;
			x = byte_of(p, bytes_in[(h * p->in[1] + w) * p->in_pixel + c]);
			most = x > most ? x : most;
		}
	return most;
}

/* Maxima of lines, vectors and single channels. */
static int is_largest_right(int is_signed, int64_t channels)
{
	const struct largest p = {.is_signed = is_signed,
				  .images = 1,
				  .channels = channels,
				  .in_pixel = channels + 1,
				  .out_pixel = channels,
				  .in = {9, 8},
				  .out = {5, 4},
				  .kernel = {3, 3},
				  .stride = {2, 2},
				  .before = {1, 1},
				  .dilation = {1, 1}};
	float *buffers[] = {(void *)bytes_in, (void *)bytes_out};

	for (int i = 0; i < THREADS; i++)
		largest_run(&p, buffers, i, THREADS);
	for (int64_t i = 0; i < 5 * 4 * channels; i++)
		if (byte_of(&p, bytes_out[i]) !=
		    largest_at(&p, i / channels / 4, i / channels % 4, i % channels))
			return 0;
	return 1;
}

static void try_bytes(void)
{
	int good = 1;

	for (int i = 0; i < ROOM; i++)
		bytes_in[i] = (unsigned char)pick(0, 255);
	ok(are_permuted(), "bytes in other orders");
	ok(is_left_to_nests(ELEM_F32, 1) && is_left_to_nests(ELEM_U8, 0),
	   "copies of other forms stay nests");
	ok(are_means_right(0, 19) && are_means_right(1, 32), "means of bytes");
	ok(is_looked_up(0), "tables of bytes");
	if (table_is_wide(lanes()))
		ok(is_looked_up(1), "tables of bytes, many at once");
	else
		skip("tables of bytes, many at once: the CPU lacks AVX512_VBMI");
	for (int i = 0; i < 4; i++)
		good &= is_largest_right(i & 1, i & 2 ? 64 + 32 + 3 : 128);
	ok(good, "maxima of bytes, of all numbers of channels");
}

/* ---- places ---- */

static void try_places(void)
{
	const int64_t image[] = {2, 6, 4, 5}, split[] = {2, 2, 3, 20}, flat[] = {12, 20};
	const int64_t joined[] = {2, 6, 20}, all[] = {240}, row[] = {5};
	struct place p = {.memory = 0}, q;
	int last[PLACE_RANK], order[PLACE_RANK];

	place_dense(&p, 4, image, NULL);
	ok(place_is_dense(&p, NULL) && place_count(&p) == 240 && place_span(&p) == 240,
	   "a dense place");
	ok(place_reshape(&p, 4, split, &q) && q.stride[1] == 60 && q.stride[2] == 20 &&
		   q.stride[3] == 1,
	   "a dimension split and two joined");
	order_channels_last(4, last);
	place_dense(&p, 4, image, last);
	ok(p.stride[1] == 1 && p.stride[3] == 6 && place_is_dense(&p, last) &&
		   !place_is_dense(&p, NULL),
	   "channels last");
	ok(place_reshape(&p, 3, joined, &q) && q.stride[1] == 1 && q.stride[2] == 6,
	   "rows and columns of pixels are one dimension");
	ok(!place_reshape(&p, 1, all, &q) && !place_reshape(&p, 2, flat, &q),
	   "what is no view is none");
	place_order(&p, order);
	ok(!memcmp(order, last, sizeof *order * 4), "the order by strides");
	place_dense(&q, 1, row, NULL);
	ok(!place_broadcast(&q, 4, image, &p) && p.stride[0] == 0 && p.stride[3] == 1 &&
		   place_repeats(&p),
	   "a row broadcast");
	place_dense(&q, 1, (int64_t[]){4}, NULL);
	ok(place_broadcast(&q, 4, image, &p) < 0, "what does not fit is not broadcast");
}

int main(void)
{
	static const char *const name[] = {"softmax", "normalization", "root mean squares",
					   "sums",    "means",	       "maxima",
					   "minima"};
	int good;

	rng_seed(&rng, 1, "steps");
	try_places();
	good = 1;
	for (int i = 0; i < TRIES && good; i++)
		good = is_pointwise_right();
	ok(good, "pointwise expressions over all kinds of places");
	ok(is_empty_copied(0) && is_empty_copied(1) && is_empty_copied(2), "copies of nothing");
	good = 1;
	for (int i = 0; i < 6 && good; i++)
		good = is_quantized_right();
	ok(good, "what is divided by a scale has all bits of the quotient");
	for (int kind = ROWS_SOFTMAX; kind <= ROWS_MIN; kind++) {
		good = 1;
		for (int i = 0; i < TRIES / 2 && good; i++)
			good = is_rows_right((enum rows_kind)kind);
		ok(good, "rows: %s", name[kind]);
	}
	good = 1;
	for (int i = 0; i < TRIES && good; i++)
		good = is_pool_right(i % 3 == 0);
	ok(good, "pools, with padding, gaps between pixels, and over whole images");
	good = 1;
	for (int i = 0; i < 12 && good; i++)
		good = is_rescaled_right(i);
	ok(good, "sums of numbers in 8 bits are the same by multiply-adds");
	ok(is_odd_refused(), "where no multiply-adds are the same, none are taken");
	try_bytes();
	arena_free(&arena);
	return done_testing();
}
