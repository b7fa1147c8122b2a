/* A point of a space as digits: the algorithm's number, and for each knob the number of its value.
 */
#ifndef TL_SEARCH_SPLIT_H
#define TL_SEARCH_SPLIT_H

#include "lib/search/search.h"

/* Returns the algorithm's number in the space. */
static inline int split_point(const struct search_space *s, uint64_t point, int digit[KNOB_MAX])
{
	int a = 0;

	while (point >= s->start[a + 1])
		a++;
	point -= s->start[a];
	for (int k = s->space[a].n - 1; k >= 0; k--) {
		digit[k] = (int)(point % (uint64_t)s->space[a].knob[k].n);
		point /= (uint64_t)s->space[a].knob[k].n;
	}
	return a;
}

static inline uint64_t join_point(const struct search_space *s, int a, const int digit[KNOB_MAX])
{
	uint64_t point = 0;

	for (int k = 0; k < s->space[a].n; k++)
		point = point * (uint64_t)s->space[a].knob[k].n + (uint64_t)digit[k];
	return s->start[a] + point;
}

#endif
