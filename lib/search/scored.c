#include "lib/search/scored.h"

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
