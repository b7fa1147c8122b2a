/* Points of a space with values, of strategies that rank points before one is measured. */
#ifndef TL_SEARCH_SCORED_H
#define TL_SEARCH_SCORED_H

#include "lib/search/search.h"

struct scored {
	uint64_t point;
	double value; /* larger is better */
	int row;      /* of the strategy's table of features, if it has one */
};

/* Sorts n of them, n >= 0, the best first; of equal ones the smaller point. */
void scored_sort(struct scored *s, int n);

/* Sets values: what the model says of each point, or, if there is none, minus log2 of the draft's
 * seconds. Keeps the points that make a program, in their order, with FEATURES each in x (NULL: not
 * wanted). Returns how many these are. */
int scored_values(const struct search_space *s, uint64_t *point, int n, double *value, float *x);

#endif
