#include "lib/run/top.h"

#include <stdlib.h>

struct entry {
	float x;
	int64_t at;
};

static int by_largest(const void *a, const void *b)
{
	const struct entry *p = a, *q = b;

	return p->x != q->x ? (p->x < q->x) - (p->x > q->x) : (p->at > q->at) - (p->at < q->at);
}

int top_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct top *t = with;
	struct entry *all = malloc((size_t)t->size * sizeof *all);

	if (!all)
		return -1;
	for (int64_t r = t->rows * thread / threads; r < t->rows * (thread + 1) / threads; r++) {
		const float *row = buffers[0] + r * t->size;

		for (int64_t i = 0; i < t->size; i++)
			all[i] = (struct entry){t->is_least ? -row[i] : row[i], i};
		qsort(all, (size_t)t->size, sizeof *all, by_largest);
		for (int64_t i = 0; i < t->kept; i++)
			buffers[1][r * t->kept + i] =
				t->is_index ? (float)all[i].at : row[all[i].at];
	}
	free(all);
	return 0;
}
