#include "lib/space/knob.h"

#include <assert.h>

void knob_add(struct knob_space *s, int i, int64_t value)
{
	int n = s->knob[i].n;

	for (int j = 0; j < n; j++)
		if (s->knob[i].value[j] == value)
			return;
	assert(n < KNOB_VALUES);
	s->knob[i].value[n] = value;
	s->knob[i].n = n + 1;
}

uint64_t knob_space_size(const struct knob_space *s)
{
	uint64_t size = 1;

	for (int i = 0; i < s->n; i++)
		size *= (uint64_t)s->knob[i].n;
	return size;
}

void knob_point(const struct knob_space *s, uint64_t index, int64_t *value)
{
	for (int i = s->n - 1; i >= 0; i--) {
		uint64_t n = (uint64_t)s->knob[i].n;

		value[i] = s->knob[i].value[index % n];
		index /= n;
	}
}
