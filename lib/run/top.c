#include "lib/run/top.h"

#include <math.h>
#include <stdlib.h>

struct entry {
	float x;
	int64_t at;
};

/* Does a come before b in the order of results? NaN comes last. */
static int is_before(const struct entry *a, const struct entry *b)
{
	if (isnan(a->x) != isnan(b->x))
		return isnan(b->x);
	return a->x > b->x || (!(a->x < b->x) && a->at < b->at);
}

/* In a heap no entry comes behind the one above it, so that the last in order is at the top. Lets
 * entry i sink to its place. */
static void sink(struct entry *heap, int64_t n, int64_t i)
{
	const struct entry x = heap[i];

	for (int64_t under = 2 * i + 1; under < n; under = 2 * i + 1) {
		if (under + 1 < n && is_before(&heap[under], &heap[under + 1]))
			under++;
		if (is_before(&heap[under], &x))
			break;
		heap[i] = heap[under];
		i = under;
	}
	heap[i] = x;
}

/* Finds the first n of a row, and puts them in order. */
static void choose(const struct top *t, const float *row, struct entry *heap, int64_t n)
{
	for (int64_t i = 0; i < t->size && n; i++) {
		const struct entry x = {t->is_least ? -row[i] : row[i], i};

		if (i < n)
			heap[i] = x;
		for (int64_t k = n / 2 - 1; i == n - 1 && k >= 0; k--)
			sink(heap, n, k);
		if (i < n || !is_before(&x, &heap[0]))
			continue;
		heap[0] = x;
		sink(heap, n, 0);
	}
	while (n > 1) {
		const struct entry last = heap[0];

		heap[0] = heap[--n];
		sink(heap, n, 0);
		heap[n] = last;
	}
}

int top_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct top *t = with;
	struct entry *first = malloc((size_t)(t->kept + 1) * sizeof *first);

	if (!first)
		return -1;
	for (int64_t r = t->rows * thread / threads; r < t->rows * (thread + 1) / threads; r++) {
		const float *row = buffers[0] + r * t->size;

		choose(t, row, first, t->kept);
		for (int64_t i = 0; i < t->kept; i++)
			buffers[1][r * t->kept + i] =
				t->is_index ? (float)first[i].at : row[first[i].at];
	}
	free(first);
	return 0;
}
