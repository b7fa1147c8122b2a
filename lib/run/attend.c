#include "lib/run/attend.h"

#include <math.h>
#include <stdlib.h>

#include "lib/run/vectors.h"

/* One row of one head. */
struct row {
	int64_t batch, head, i;
	int64_t length; /* keys that are there */
	int64_t keys;	/* those that are looked at: the others are not seen */
	int64_t past;
};

/* Returns the number that a mask of keys adds to the product with key j. */
static float hidden(const struct attend *a, const struct row *r, const float *hides, int64_t j)
{
	const int64_t *stride = a->hides_stride;
	int is_hidden;

	if (!hides)
		return 0;
	if (a->hides == ATTEND_BY_KEY)
		is_hidden = hides[r->batch * stride[0] + r->i * stride[1] + j * stride[2]] <= 0;
	else
		is_hidden =
			(float)j >= hides[r->batch] ||
			(a->hides == ATTEND_BY_RANGE && (float)j < hides[a->batches + r->batch]);
	return is_hidden ? a->hidden : 0;
}

/* What is added to the product with key j: -INFINITY where it is not seen. */
static float bias(const struct attend *a, const struct row *r, float *const *buffers, int64_t j)
{
	const float *mask = buffers[ATTEND_MASK];
	const float also = hidden(a, r, buffers[ATTEND_HIDES], j);
	const int64_t at = r->i + r->past;
	float x;

	if (j >= r->length || (a->is_causal && j > at) || (a->left >= 0 && at - j > a->left) ||
	    (a->right >= 0 && j - at > a->right))
		return -INFINITY;
	if (!mask)
		return also;
	if (j >= a->mask_keys)
		return -INFINITY;
	x = mask[r->batch * a->mask_stride[0] + r->head * a->mask_stride[1] +
		 r->i * a->mask_stride[2] + j * a->mask_stride[3]];
	return (!a->is_truth ? x : x != 0 ? 0 : -INFINITY) + also;
}

/* In place; a row that sees nothing becomes zeros. */
static void softmax(const struct attend *a, float *x, int sees, int64_t n)
{
	float most = -INFINITY, sum;

	for (int64_t j = 0; j < n; j++)
		most = x[j] > most ? x[j] : most;
	if (!sees) {
		for (int64_t j = 0; j < n; j++)
			x[j] = 0;
		return;
	}
	sum = vectors_exps(a->lanes, x, most, n);
	for (int64_t j = 0; j < n; j++)
		x[j] /= sum;
}

/* Is nothing added to the products, and are all keys seen that are looked at? */
static int sees_all(const struct attend *a, const struct row *r, float *const *buffers)
{
	return !buffers[ATTEND_MASK] && !buffers[ATTEND_HIDES] && a->left < 0 && a->right < 0 &&
	       r->keys <= r->length && (!a->is_causal || r->keys <= r->i + r->past + 1);
}

/* Adds biases to n products. Is any key seen? */
static int add_biases(const struct attend *a, const struct row *r, float *const *buffers, float *x)
{
	int sees = 0;

	for (int64_t j = 0; j < r->keys; j++) {
		const float added = bias(a, r, buffers, j);

		sees |= added > -INFINITY;
		x[j] = added == -INFINITY ? -INFINITY : x[j] + added;
	}
	return sees;
}

/* The scores of a row, up to the result that is wanted. */
static void scores(const struct attend *a, const struct row *r, float *const *buffers, float *x)
{
	const float *q =
		buffers[ATTEND_Q] + ((r->batch * a->heads + r->head) * a->rows + r->i) * a->size;
	const int64_t kv = r->batch * a->kv_heads + r->head / (a->heads / a->kv_heads);
	const float *k = buffers[ATTEND_K] + kv * a->keys * a->size;
	int sees = r->keys > 0;

	vectors_dots(a->lanes, q, k, r->keys, a->size, x);
	for (int64_t j = 0; j < r->keys; j++)
		x[j] *= (float)a->scale;
	for (int64_t j = 0; j < r->keys && a->cap > 0 && a->result != ATTEND_PRODUCT; j++)
		x[j] = (float)(a->cap * tanh((double)x[j] / a->cap));
	if (a->result >= ATTEND_BIASED && !sees_all(a, r, buffers))
		sees = add_biases(a, r, buffers, x);
	if (a->result >= ATTEND_SOFTMAX)
		softmax(a, x, sees, r->keys);
}

/* The sum of the values, by their scores; what is not seen may be anything. */
static void weigh(const struct attend *a, const struct row *r, float *const *buffers,
		  const float *x)
{
	const int64_t kv = r->batch * a->kv_heads + r->head / (a->heads / a->kv_heads);
	const float *v = buffers[ATTEND_V] + kv * a->keys * a->value_size;
	float *to = buffers[ATTEND_TO] + r->batch * a->heads * a->rows * a->value_size +
		    r->head * a->head_stride + r->i * a->row_stride;

	for (int64_t i = 0; i < a->value_size; i++)
		to[i] = 0;
	vectors_weigh(a->lanes, x, v, r->keys, a->value_size, to);
}

/* No key behind these is seen; of other results all are. */
static int64_t looked_at(const struct attend *a, const struct row *r)
{
	int64_t end = r->length < a->keys ? r->length : a->keys;

	if (a->result != ATTEND_OUTPUT)
		return a->keys;
	if (a->is_causal && r->i + r->past + 1 < end)
		end = r->i + r->past + 1;
	return end > 0 ? end : 0;
}

int attend_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct attend *a = with;
	const int64_t all = a->batches * a->heads * a->rows;
	const float *lengths = buffers[ATTEND_LENGTHS];
	float *room = malloc((size_t)a->keys * sizeof *room);

	if (!room)
		return -1;
	for (int64_t n = all * thread / threads; n < all * (thread + 1) / threads; n++) {
		struct row r = {.batch = n / a->rows / a->heads,
				.head = n / a->rows % a->heads,
				.i = n % a->rows,
				.length = a->keys,
				.past = a->past};
		float *x = a->result == ATTEND_OUTPUT ? room : buffers[ATTEND_TO] + n * a->keys;

		if (lengths) {
			r.length = (int64_t)lengths[r.batch];
			r.past = r.length - a->rows;
		}
		r.keys = looked_at(a, &r);
		scores(a, &r, buffers, x);
		if (a->result == ATTEND_OUTPUT)
			weigh(a, &r, buffers, x);
	}
	free(room);
	return 0;
}

int attend_check(const void *with, float *const *buffers, int thread, int threads)
{
	const struct attend *a = with;

	(void)threads;
	for (int64_t i = 0; thread == 0 && i < a->batches; i++)
		if (buffers[0][i] != (float)(a->keys - 1))
			return -1;
	if (thread == 0)
		buffers[1][0] = 0;
	return 0;
}
