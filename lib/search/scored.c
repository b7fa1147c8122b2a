#include "lib/search/scored.h"

#include <math.h>
#include <stdlib.h>

static int better_first(const void *pa, const void *pb)
{
	const struct scored *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value > b->value ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

void scored_sort(struct scored *s, int n)
{
	if (n)
		qsort(s, (size_t)n, sizeof *s, better_first);
}

int scored_values(const struct search_space *s, uint64_t *point, int n, double *value, float *x)
{
	float *own = s->model && !x ? xmalloc(sizeof *x * FEATURES * (size_t)(n + 1)) : NULL;

	x = own ? own : x;
	n = search_space_drafts(s, point, n, value, x);
	for (int i = 0; i < n; i++)
		value[i] = -log2(value[i]);
	if (s->model)
		model_predict(s->model, x, (size_t)n, value, NULL);
	free(own);
	return n;
}
