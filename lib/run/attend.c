#include "lib/run/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/run/vectors.h"

/* One row of one head. */
struct row {
	int64_t batch, head, i;
	int64_t kv;	/* the head of its keys and values, of all batches */
	int64_t length; /* keys that are there */
	int64_t keys;	/* those that are looked at: the others are not seen */
	int64_t past;
};

/* Adds to each number what the mask of keys adds. */
static void add_hidden(const struct attend *a, const struct row *r, const float *hides,
		       float *added)
{
	const int64_t *stride = a->hides_stride;
	const float *by_key = hides + r->batch * stride[0] + r->i * stride[1];
	const float from = a->hides == ATTEND_BY_RANGE ? hides[a->batches + r->batch] : 0;

	for (int64_t j = 0; j < r->keys && a->hides == ATTEND_BY_KEY; j++)
		added[j] += by_key[j * stride[2]] <= 0 ? a->hidden : 0;
	for (int64_t j = 0; j < r->keys && a->hides != ATTEND_BY_KEY; j++)
		added[j] += (float)j >= hides[r->batch] || (float)j < from ? a->hidden : 0;
}

static void add_mask(const struct attend *a, const struct row *r, const float *mask, float *added)
{
	const int64_t *stride = a->mask_stride;
	const int64_t end = r->keys < a->mask_keys ? r->keys : a->mask_keys;

	mask += r->batch * stride[0] + r->head * stride[1] + r->i * stride[2];
	for (int64_t j = 0; j < end && a->is_truth; j++)
		added[j] += mask[j * stride[3]] != 0 ? 0 : -INFINITY;
	for (int64_t j = 0; j < end && !a->is_truth; j++)
		added[j] += mask[j * stride[3]];
	for (int64_t j = end; j < r->keys; j++)
		added[j] = -INFINITY;
}

static int is_seen(const struct attend *a, const struct row *r, int64_t j)
{
	const int64_t at = r->i + r->past;

	return j < r->length && !(a->is_causal && j > at) && !(a->left >= 0 && at - j > a->left) &&
	       !(a->right >= 0 && j - at > a->right);
}

/* Makes what is added to each product: -INFINITY where the key is not seen, whatever masks have
 * there. */
static void biases(const struct attend *a, const struct row *r, float *const *buffers, float *added)
{
	memset(added, 0, (size_t)r->keys * sizeof *added);
	if (buffers[ATTEND_HIDES])
		add_hidden(a, r, buffers[ATTEND_HIDES], added);
	if (buffers[ATTEND_MASK])
		add_mask(a, r, buffers[ATTEND_MASK], added);
	for (int64_t j = 0; j < r->keys; j++)
		if (!is_seen(a, r, j))
			added[j] = -INFINITY;
}

/* In place; a row that sees nothing becomes zeros. */
static void softmax(const struct attend *a, float *x, int sees, int64_t n)
{
	float sum;

	if (!sees) {
		memset(x, 0, (size_t)n * sizeof *x);
		return;
	}
	sum = vectors_exps(a->lanes, x, vectors_most(a->lanes, x, n), n);
	vectors_scale(a->lanes, x, 1 / sum, n);
}

/* Is nothing added to the products, and are all keys seen that are looked at? */
static int sees_all(const struct attend *a, const struct row *r, float *const *buffers)
{
	return !buffers[ATTEND_MASK] && !buffers[ATTEND_HIDES] && a->left < 0 && a->right < 0 &&
	       r->keys <= r->length && (!a->is_causal || r->keys <= r->i + r->past + 1);
}

/* Adds biases to a row of products. Is any key seen? */
static int add_biases(const struct attend *a, const struct row *r, float *const *buffers, float *x,
		      float *added)
{
	int sees = 0;

	biases(a, r, buffers, added);
	for (int64_t j = 0; j < r->keys; j++) {
		sees |= added[j] > -INFINITY;
		x[j] = added[j] == -INFINITY ? -INFINITY : x[j] + added[j];
	}
	return sees;
}

/* Makes scores of a row's products, up to the result that is wanted. */
static void score(const struct attend *a, const struct row *r, float *const *buffers, float *x,
		  float *added)
{
	int sees = r->keys > 0;

	vectors_scale(a->lanes, x, (float)a->scale, r->keys);
	for (int64_t j = 0; j < r->keys && a->cap > 0 && a->result != ATTEND_PRODUCT; j++)
		x[j] = (float)(a->cap * tanh((double)x[j] / a->cap));
	if (a->result >= ATTEND_BIASED && !sees_all(a, r, buffers))
		sees = add_biases(a, r, buffers, x, added);
	if (a->result >= ATTEND_SOFTMAX)
		softmax(a, x, sees, r->keys);
}

static float *output(const struct attend *a, float *const *buffers, const struct row *r)
{
	return buffers[ATTEND_TO] + r->batch * a->heads * a->rows * a->value_size +
	       r->head * a->head_stride + r->i * a->row_stride;
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

static struct row row_at(const struct attend *a, float *const *buffers, int64_t n)
{
	struct row r = {.batch = n / a->rows / a->heads,
			.head = n / a->rows % a->heads,
			.i = n % a->rows,
			.length = a->keys,
			.past = a->past};

	r.kv = r.batch * a->kv_heads + r.head / (a->heads / a->kv_heads);
	if (buffers[ATTEND_LENGTHS]) {
		r.length = (int64_t)buffers[ATTEND_LENGTHS][r.batch];
		r.past = r.length - a->rows;
	}
	r.keys = looked_at(a, &r);
	return r;
}

/* A thread computes in this. The keys and values of the head that was the last one stand in
 * panels (vectors.h), if rows are computed by blocks. */
struct room {
	float *x, *added; /* scores, of as many rows as a block has; biases */
	float *key, *value, *sum;
	int64_t kv;    /* the head of the panels; -1: none */
	int is_finite; /* the values are */
	int by_blocks;
};

enum { BLOCK = 16, FEWEST = 4 };	     /* rows of a block */
static const int64_t PANELS_MOST = 16 << 20; /* numbers in panels, at most */

static int64_t panels(int64_t columns)
{
	return (columns + VECTORS_PANEL - 1) / VECTORS_PANEL;
}

/* Computes row n by itself. What is not seen may be anything. */
static void run_row(const struct attend *a, float *const *buffers, const struct room *room,
		    int64_t n)
{
	const struct row r = row_at(a, buffers, n);
	float *x = a->result == ATTEND_OUTPUT ? room->x : buffers[ATTEND_TO] + n * a->keys, *to;

	vectors_dots(a->lanes, buffers[ATTEND_Q] + n * a->size,
		     buffers[ATTEND_K] + r.kv * a->keys * a->size, r.keys, a->size, x);
	score(a, &r, buffers, x, room->added);
	if (a->result != ATTEND_OUTPUT)
		return;
	to = output(a, buffers, &r);
	memset(to, 0, (size_t)a->value_size * sizeof *to);
	vectors_weigh(a->lanes, x, buffers[ATTEND_V] + r.kv * a->keys * a->value_size, r.keys,
		      a->value_size, to);
}

/* Makes columns of the keys. */
static void pack_keys(const struct attend *a, const float *key, float *to)
{
	for (int64_t p = 0; p < a->keys; p += VECTORS_PANEL)
		for (int64_t i = 0; i < a->size; i++)
			for (int64_t j = p; j < p + VECTORS_PANEL; j++)
				*to++ = j < a->keys ? key[j * a->size + i] : 0;
}

/* Returns whether all values are finite: then they may be weighed by zeros. */
static int pack_values(const struct attend *a, const float *value, float *to)
{
	float zero[VECTORS_PANEL] = {0}, all = 0;

	for (int64_t p = 0; p < a->value_size; p += VECTORS_PANEL) {
		const int64_t n =
			a->value_size - p < VECTORS_PANEL ? a->value_size - p : VECTORS_PANEL;

		for (int64_t j = 0; j < a->keys; j++, to += VECTORS_PANEL) {
			const float *from = value + j * a->value_size + p;

			memset(to + n, 0, (size_t)(VECTORS_PANEL - n) * sizeof *to);
			for (int64_t i = 0; i < n; i++) {
				to[i] = from[i];
				zero[i] += from[i] * 0;
			}
		}
	}
	for (int i = 0; i < VECTORS_PANEL; i++)
		all += zero[i];
	return all == 0;
}

static void pack(const struct attend *a, float *const *buffers, int64_t kv, struct room *room)
{
	if (room->kv == kv)
		return;
	room->kv = kv;
	pack_keys(a, buffers[ATTEND_K] + kv * a->keys * a->size, room->key);
	room->is_finite =
		pack_values(a, buffers[ATTEND_V] + kv * a->keys * a->value_size, room->value);
}

/* Computes rows n to end of one head, BLOCK at most, by blocks of products. */
static void run_block(const struct attend *a, float *const *buffers, const struct room *room,
		      int64_t n, int64_t end)
{
	const int64_t keys = panels(a->keys) * VECTORS_PANEL;
	const int64_t size = panels(a->value_size) * VECTORS_PANEL;

	memset(room->x, 0, (size_t)((end - n) * keys) * sizeof *room->x);
	vectors_product(a->lanes, &(struct vectors_product){.panels = panels(a->keys),
							    .rows = a->size,
							    .panel = room->key,
							    .n = end - n,
							    .row = buffers[ATTEND_Q] + n * a->size,
							    .x = a->size,
							    .sum = room->x,
							    .to = keys});
	for (int64_t i = n; i < end; i++) {
		const struct row r = row_at(a, buffers, i);
		float *x = room->x + (i - n) * keys;

		score(a, &r, buffers, x, room->added);
		memset(x + r.keys, 0, (size_t)(a->keys - r.keys) * sizeof *x);
	}
	memset(room->sum, 0, (size_t)((end - n) * size) * sizeof *room->sum);
	vectors_product(a->lanes, &(struct vectors_product){.panels = panels(a->value_size),
							    .rows = a->keys,
							    .panel = room->value,
							    .n = end - n,
							    .row = room->x,
							    .x = keys,
							    .sum = room->sum,
							    .to = size});
	for (int64_t i = n; i < end; i++) {
		const struct row r = row_at(a, buffers, i);

		memcpy(output(a, buffers, &r), room->sum + (i - n) * size,
		       (size_t)a->value_size * sizeof *room->sum);
	}
}

/* Computes rows n to end of one head. */
static void run_rows(const struct attend *a, float *const *buffers, struct room *room, int64_t n,
		     int64_t end)
{
	const int by_blocks = room->by_blocks && end - n >= FEWEST;

	if (by_blocks)
		pack(a, buffers, row_at(a, buffers, n).kv, room);
	for (int64_t next; n < end; n = next) {
		next = !by_blocks || !room->is_finite ? n + 1 : n + BLOCK < end ? n + BLOCK : end;
		if (by_blocks && room->is_finite)
			run_block(a, buffers, room, n, next);
		else
			run_row(a, buffers, room, n);
	}
}

/* 0; -1: there is no memory. */
static int room_open(const struct attend *a, struct room *room)
{
	const int64_t keys = panels(a->keys) * VECTORS_PANEL;
	const int64_t size = panels(a->value_size) * VECTORS_PANEL;
	const int64_t packed[] = {keys * a->size, size * a->keys};
	int64_t n = 2 * keys;
	float *x;

	room->kv = -1;
	room->by_blocks = a->result == ATTEND_OUTPUT && a->rows >= FEWEST && a->size &&
			  a->value_size && packed[0] + packed[1] <= PANELS_MOST;
	if (room->by_blocks)
		n += BLOCK * (keys + size) + packed[0] + packed[1];
	x = malloc((size_t)n * sizeof *x);
	if (!x)
		return -1;
	room->added = x;
	room->x = x + keys;
	if (!room->by_blocks)
		return 0;
	room->sum = room->x + BLOCK * keys;
	room->key = room->sum + BLOCK * size;
	room->value = room->key + packed[0];
	return 0;
}

int attend_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct attend *a = with;
	const int64_t all = a->batches * a->heads * a->rows;
	const int64_t last = all * (thread + 1) / threads;
	struct room room = {0};

	if (room_open(a, &room))
		return -1;
	for (int64_t n = all * thread / threads, end; n < last; n = end) {
		end = (n / a->rows + 1) * a->rows;
		if (end > last)
			end = last;
		run_rows(a, buffers, &room, n, end);
	}
	free(room.added);
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
