#include "lib/run/counted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int counted_end(struct counted *c, float *to, int64_t found)
{
	const size_t bytes = (size_t)c->inner * sizeof *to;

	c->found = found;
	if (c->told < 0 || c->told == found)
		return 0;
	for (int64_t o = 0; o < c->outer && c->is_tried; o++)
		for (int64_t i = found; i < c->told; i++) {
			float *item = to + (o * c->told + i) * c->inner;

			if (found)
				memcpy(item, item - (i - found + 1) * c->inner, bytes);
			else
				memset(item, 0, bytes);
		}
	return c->is_tried ? 0 : -1;
}

int non_zero_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct non_zero *z = with;
	const int64_t told = z->counted->told;
	int64_t found = 0;

	(void)threads;
	if (thread)
		return 0;
	for (int64_t i = 0; i < z->size; i++) {
		int64_t rest = i;

		if (buffers[0][i] == 0)
			continue;
		for (int d = found < told ? z->rank : 0; d-- > 0; rest /= z->dim[d])
			buffers[1][d * told + found] = (float)(rest % z->dim[d]);
		found++;
	}
	return counted_end(z->counted, buffers[1], found);
}

int compress_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct compress *c = with;
	const int64_t told = c->counted->told;
	int64_t found = 0;

	(void)threads;
	if (thread)
		return 0;
	for (int64_t i = 0; i < c->conditions; i++) {
		if (buffers[1][i] == 0)
			continue;
		if (i >= c->extent)
			return -1;
		for (int64_t o = 0; o < c->outer && found < told; o++)
			memcpy(buffers[2] + (o * told + found) * c->inner,
			       buffers[0] + (o * c->extent + i) * c->inner,
			       (size_t)c->inner * sizeof(float));
		found++;
	}
	return counted_end(c->counted, buffers[2], found);
}

/* ---- Unique ---- */

static int compare_items(const struct unique *u, const float *data, int64_t a, int64_t b)
{
	for (int64_t o = 0; o < u->outer; o++)
		for (int64_t i = 0; i < u->inner; i++) {
			const float *row = data + o * u->extent * u->inner + i;
			const float p = row[a * u->inner], q = row[b * u->inner];

			if (p != q)
				return p < q ? -1 : 1;
		}
	return 0;
}

/* A comparison of two items reads these. */
struct items {
	const struct unique *u;
	const float *data;
};

/* Equal items stay in their order. */
static int is_behind(const void *a, const void *b, void *with)
{
	const struct items *items = with;
	const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
	const int c = compare_items(items->u, items->data, i, k);

	return c ? c : (i > k) - (i < k);
}

/* Finds which items are equal: group[i] is that of item i, and first[g] the first item of one. The
 * groups are in the order of their results. Returns how many there are. */
static int64_t find_groups(const struct unique *u, const float *data)
{
	struct items items = {u, data};
	int64_t n = 0, seen = 0;

	for (int64_t i = 0; i < u->extent; i++)
		u->order[i] = i;
	qsort_r(u->order, (size_t)u->extent, sizeof *u->order, is_behind, &items);
	for (int64_t k = 0; k < u->extent; k++) {
		if (!k || compare_items(u, data, u->order[k - 1], u->order[k]))
			u->first[n++] = u->order[k];
		u->group[u->order[k]] = n - 1;
	}
	for (int64_t i = 0; i < u->extent && !u->is_sorted; i++) {
		const int64_t g = u->group[i];

		if (u->first[g] == i) /* order has no other use any more */
			u->order[g] = seen++;
		u->group[i] = u->order[g];
	}
	for (int64_t i = u->extent; i-- > 0 && !u->is_sorted;)
		u->first[u->group[i]] = i;
	return n;
}

/* Writes an output of n groups, or of as many as there is room for. */
static void put_unique(const struct unique *u, const float *data, int64_t n, float *to)
{
	const int64_t told = u->counted->told, most = n < told ? n : told;
	const size_t bytes = (size_t)u->inner * sizeof(float);

	for (int64_t g = 0; g < most && u->what == UNIQUE_ITEMS; g++)
		for (int64_t o = 0; o < u->outer; o++)
			memcpy(to + (o * told + g) * u->inner,
			       data + (o * u->extent + u->first[g]) * u->inner, bytes);
	for (int64_t g = 0; g < most && u->what == UNIQUE_FIRST; g++)
		to[g] = (float)u->first[g];
	for (int64_t g = 0; g < most && u->what == UNIQUE_COUNTS; g++)
		to[g] = 0;
	for (int64_t i = 0; i < u->extent && u->what == UNIQUE_COUNTS; i++)
		if (u->group[i] < most)
			to[u->group[i]]++;
	for (int64_t i = 0; i < u->extent && u->what == UNIQUE_INVERSE && told >= 0; i++)
		to[i] = (float)(u->group[i] < most ? u->group[i] : 0);
}

int unique_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct unique *u = with;
	int64_t n;

	(void)threads;
	if (thread)
		return 0;
	for (int64_t i = 0; i < u->outer * u->extent * u->inner; i++)
		if (isnan(buffers[0][i])) /* implementations disagree whether it is like another */
			return -1;
	n = find_groups(u, buffers[0]);
	put_unique(u, buffers[0], n, buffers[1]);
	return counted_end(u->counted, buffers[1], n);
}
