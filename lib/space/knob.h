/* Knobs: the named choices that an algorithm leaves open, and the space that they span for one
 * workload.
 *
 * All knobs are integers. `frozen` is the value meant when a record leaves the knob out; it never
 * changes after a release, so that a knob added later changes no old id. A space is the product of
 * the value lists; a predicate of the algorithm cuts away what makes no sense. Points are numbered
 * in mixed radix, the last knob fastest.
 */
#ifndef TL_SPACE_KNOB_H
#define TL_SPACE_KNOB_H

#include <stdint.h>

enum { KNOB_MAX = 18, KNOB_VALUES = 24 };

struct knob {
	const char *name;
	int64_t frozen;
	const char *help; /* one sentence, for the manual */
	int is_rare;	  /* records leave it out where it has its frozen value */
};

struct knob_space {
	int n;
	struct {
		int n;
		int64_t value[KNOB_VALUES];
	} knob[KNOB_MAX];
};

/* Adds a value to knob i's list, unless it is there already: no algorithm lists more than
 * KNOB_VALUES. */
void knob_add(struct knob_space *s, int i, int64_t value);
uint64_t knob_space_size(const struct knob_space *s); /* points, before the predicate */
void knob_point(const struct knob_space *s, uint64_t index, int64_t *value);

static inline int64_t ceil_div(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

#endif
