#include "lib/run/loops.h"

static int joins(const struct place *const place[], int nplace, const struct loops *l, int dim)
{
	for (int i = 0; i < nplace; i++)
		if (l->stride[i][l->n - 1] != place[i]->stride[dim] * place[i]->dim[dim])
			return 0;
	return 1;
}

struct loops loops_of(const struct place *const place[], int nplace)
{
	const struct place *last = place[nplace - 1];
	struct loops l = {0};
	int order[PLACE_RANK];

	place_order(last, order);
	for (int k = 0; k < last->rank; k++) {
		const int d = order[k];

		if (last->dim[d] == 1)
			continue;
		if (l.n && joins(place, nplace, &l, d))
			l.dim[l.n - 1] *= last->dim[d];
		else
			l.dim[l.n++] = last->dim[d];
		for (int i = 0; i < nplace; i++)
			l.stride[i][l.n - 1] = place[i]->stride[d];
	}
	if (!l.n)
		l.dim[l.n++] = 1;
	return l;
}
