/* Attention by rows and by blocks, against sums in double precision: masks of all kinds, keys that
 * few rows see, heads that share keys, and sizes that fill no register. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/rng.h"
#include "lib/run/attend.h"
#include "tests/tap.h"

enum { HEADS = 4, ROWS = 40, KEYS = 70, SIZE = 40, BATCHES = 2, LANES = 3 };

struct problem {
	struct attend a;
	float q[BATCHES * HEADS * ROWS * SIZE], k[BATCHES * HEADS * KEYS * SIZE];
	float v[BATCHES * HEADS * KEYS * SIZE], mask[BATCHES * HEADS * ROWS * KEYS];
	float lengths[BATCHES], hides[BATCHES * ROWS * KEYS];
	float to[BATCHES * HEADS * ROWS * SIZE], want[BATCHES * HEADS * ROWS * SIZE];
	float *buffer[ATTEND_TO + 1];
};

static void fill(struct rng *r, float *x, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)rng_below(r, 2001) / 1000 - 1;
}

/* A mask that is added, with keys that are not seen, or one of truths. */
static void draw_mask(struct rng *r, struct problem *p)
{
	struct attend *a = &p->a;
	const int by_head = (int)rng_below(r, 2), by_row = (int)rng_below(r, 2);
	float odd; /* a number that reaches rows that see the key, and no others */

	p->buffer[ATTEND_MASK] = p->mask;
	a->is_truth = (int)rng_below(r, 2);
	a->mask_keys = rng_below(r, 3) ? a->keys : 1 + (int64_t)rng_below(r, (uint64_t)a->keys);
	a->mask_stride[3] = 1;
	a->mask_stride[2] = by_row ? a->mask_keys : 0;
	a->mask_stride[1] = by_head ? a->rows * a->mask_keys : 0;
	odd = rng_below(r, 3) ? -INFINITY : rng_below(r, 2) ? INFINITY : (float)NAN;
	for (int64_t i = 0; i < a->heads * a->rows * a->mask_keys; i++)
		p->mask[i] = a->is_truth       ? (float)rng_below(r, 2)
			     : rng_below(r, 4) ? (float)rng_below(r, 100) / 50
					       : odd;
}

static void draw_hides(struct rng *r, struct problem *p)
{
	struct attend *a = &p->a;

	p->buffer[ATTEND_HIDES] = p->hides;
	a->hides = (enum attend_hides)rng_below(r, 3);
	a->hidden = rng_below(r, 2) ? -8 : -INFINITY;
	memcpy(a->hides_stride, (int64_t[]){a->rows * a->keys, a->keys, 1}, sizeof a->hides_stride);
	for (int64_t i = 0; i < a->batches * a->rows * a->keys; i++)
		p->hides[i] = (float)rng_below(r, 2);
	for (int i = 0; i < 2 * a->batches && a->hides != ATTEND_BY_KEY; i++)
		p->hides[i] = (float)rng_below(r, (uint64_t)a->keys + 1);
}

static void draw(struct rng *r, struct problem *p)
{
	struct attend *a = &p->a;
	static const int lanes[LANES] = {4, 8, 16};

	*a = (struct attend){.batches = 1 + (int64_t)rng_below(r, BATCHES),
			     .heads = rng_below(r, 2) ? HEADS : 2,
			     .rows = 1 + (int64_t)rng_below(r, ROWS),
			     .keys = 1 + (int64_t)rng_below(r, KEYS),
			     .size = 1 + (int64_t)rng_below(r, SIZE),
			     .value_size = 1 + (int64_t)rng_below(r, SIZE),
			     .lanes = lanes[rng_below(r, LANES)],
			     .cap = rng_below(r, 4) ? 0 : 2,
			     .is_causal = (int)rng_below(r, 2),
			     .past = (int64_t)rng_below(r, 3),
			     .left = rng_below(r, 3) ? -1 : (int64_t)rng_below(r, KEYS),
			     .right = rng_below(r, 3) ? -1 : (int64_t)rng_below(r, KEYS),
			     .result = ATTEND_OUTPUT};
	a->scale = 1 / sqrt((double)a->size);
	a->kv_heads = rng_below(r, 2) ? a->heads : a->heads / 2;
	a->head_stride = a->value_size;
	a->row_stride = a->heads * a->value_size;
	memset(p->buffer, 0, sizeof p->buffer);
	p->buffer[ATTEND_Q] = p->q;
	p->buffer[ATTEND_K] = p->k;
	p->buffer[ATTEND_V] = p->v;
	p->buffer[ATTEND_TO] = p->to;
	fill(r, p->q, a->batches * a->heads * a->rows * a->size);
	fill(r, p->k, a->batches * a->kv_heads * a->keys * a->size);
	fill(r, p->v, a->batches * a->kv_heads * a->keys * a->value_size);
	if (!rng_below(r, 3))
		draw_mask(r, p);
	if (!rng_below(r, 3))
		draw_hides(r, p);
	if (!rng_below(r, 4)) {
		p->buffer[ATTEND_LENGTHS] = p->lengths;
		for (int i = 0; i < a->batches; i++)
			p->lengths[i] = (float)rng_below(r, (uint64_t)a->keys + 1);
	}
	/* Values of a key that no row may see, or some. */
	if (!rng_below(r, 4))
		p->v[(a->keys - 1) * a->value_size] = rng_below(r, 2) ? (float)NAN : INFINITY;
}

/* The number that is added to the product with key j, as the definitions say. */
static double bias(const struct problem *p, int64_t b, int64_t h, int64_t i, int64_t j)
{
	const struct attend *a = &p->a;
	const int64_t length = p->buffer[ATTEND_LENGTHS] ? (int64_t)p->lengths[b] : a->keys;
	const int64_t at = i + (p->buffer[ATTEND_LENGTHS] ? length - a->rows : a->past);
	const float *m =
		p->mask + h * a->mask_stride[1] + i * a->mask_stride[2] + j * a->mask_stride[3];
	double x = 0;

	if (j >= length || (a->is_causal && j > at) || (a->left >= 0 && j < at - a->left) ||
	    (a->right >= 0 && j > at + a->right))
		return -INFINITY;
	if (p->buffer[ATTEND_HIDES]) {
		const int hidden =
			a->hides == ATTEND_BY_KEY
				? p->hides[(b * a->rows + i) * a->keys + j] <= 0
				: (float)j >= p->hides[b] || (a->hides == ATTEND_BY_RANGE &&
							      (float)j < p->hides[a->batches + b]);
		x += hidden ? a->hidden : 0;
	}
	if (!p->buffer[ATTEND_MASK])
		return x;
	if (j >= a->mask_keys)
		return -INFINITY;
	return a->is_truth ? (*m != 0 ? x : -INFINITY) : x + *m;
}

static void want_row(struct problem *p, int64_t b, int64_t h, int64_t i)
{
	const struct attend *a = &p->a;
	const int64_t kv = b * a->kv_heads + h / (a->heads / a->kv_heads);
	const float *q = p->q + ((b * a->heads + h) * a->rows + i) * a->size;
	double x[KEYS], to[SIZE] = {0}, most = -INFINITY, sum = 0;

	for (int64_t j = 0; j < a->keys; j++) {
		double dot = 0;

		for (int64_t s = 0; s < a->size; s++)
			dot += (double)q[s] * p->k[(kv * a->keys + j) * a->size + s];
		dot *= a->scale;
		if (a->cap > 0)
			dot = a->cap * tanh(dot / a->cap);
		x[j] = dot + bias(p, b, h, i, j);
		most = fmax(most, x[j]);
	}
	for (int64_t j = 0; j < a->keys; j++)
		sum += exp(x[j] - most);
	/* Below 1e-38 a weight is none. */
	for (int64_t j = 0; j < a->keys && most > -INFINITY; j++)
		for (int64_t s = 0; s < a->value_size && x[j] - most > -87; s++)
			to[s] += exp(x[j] - most) / sum *
				 p->v[(kv * a->keys + j) * a->value_size + s];
	for (int64_t s = 0; s < a->value_size; s++)
		p->want[b * a->heads * a->rows * a->value_size + h * a->head_stride +
			i * a->row_stride + s] =
			most > -INFINITY && isnan(sum) ? (float)NAN : (float)to[s];
}

static int is_right(struct problem *p, int threads)
{
	const struct attend *a = &p->a;
	const int64_t n = a->batches * a->heads * a->rows * a->value_size;
	int wrong = 0;

	memset(p->to, 0x7f, sizeof p->to);
	for (int i = 0; i < threads; i++)
		if (attend_run(a, p->buffer, i, threads))
			return 0;
	for (int64_t b = 0; b < a->batches; b++)
		for (int64_t h = 0; h < a->heads; h++)
			for (int64_t i = 0; i < a->rows; i++)
				want_row(p, b, h, i);
	for (int64_t i = 0; i < n; i++)
		wrong |= !(fabsf(p->to[i] - p->want[i]) < 1e-5F || p->to[i] == p->want[i] ||
			   (isnan(p->to[i]) && isnan(p->want[i])));
	return !wrong;
}

int main(void)
{
	struct problem *p = calloc(1, sizeof *p);
	struct rng r;
	int right = 0, blocks = 0;
	enum { PROBLEMS = 2000 };

	rng_seed(&r, 1, "attend");
	for (int i = 0; i < PROBLEMS; i++) {
		draw(&r, p);
		if (p->a.lanes > 4 && !__builtin_cpu_supports("avx2"))
			p->a.lanes = 4;
		if (p->a.lanes > 8 && !__builtin_cpu_supports("avx512bw"))
			p->a.lanes = 8;
		blocks += p->a.rows >= 4;
		right += is_right(p, 1 + i % 3);
		if (right < i + 1 && right == i) {
			diag("problem %d: %d x %d rows, %d keys of %d, %d lanes", i,
			     (int)p->a.heads, (int)p->a.rows, (int)p->a.keys, (int)p->a.size,
			     p->a.lanes);
			break;
		}
	}
	ok(right == PROBLEMS && blocks > PROBLEMS / 2,
	   "attention is right, with masks of all kinds");
	free(p);
	return done_testing();
}
