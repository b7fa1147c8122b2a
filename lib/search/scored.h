/* Points of a space with values, of strategies that rank points before one is measured. */
#ifndef TL_SEARCH_SCORED_H
#define TL_SEARCH_SCORED_H

#include <stdint.h>

struct scored {
	uint64_t point;
	double value; /* larger is better */
};

/* Sorts n of them, n >= 0, the best first; of equal ones the smaller point. */
void scored_sort(struct scored *s, int n);

#endif
