#include "lib/search/search.h"

#include <string.h>

void search_space_init(struct search_space *s, const struct workload *w, const struct limits *m,
		       const char *only)
{
	memset(s, 0, sizeof *s);
	s->w = w;
	for (const struct algo *const *a = algo_list; *a && s->nalgos < SEARCH_MAX_ALGOS; a++) {
		struct knob_space *space = &s->space[s->nalgos];

		if ((only && strcmp(only, (*a)->name) != 0) || !(*a)->space(w, m, space))
			continue;
		s->algo[s->nalgos++] = *a;
		s->start[s->nalgos] = s->start[s->nalgos - 1] + knob_space_size(space);
	}
}

int search_space_at(const struct search_space *s, uint64_t point, struct candidate *c)
{
	const char *why;
	int i = 0;

	while (point >= s->start[i + 1])
		i++;
	c->algo = s->algo[i];
	knob_point(&s->space[i], point - s->start[i], c->knob);
	return c->algo->valid(s->w, c->knob, &why);
}

const struct search *search_find(const char *name)
{
	for (const struct search *const *s = search_list; *s; s++)
		if (!strcmp((*s)->name, name))
			return *s;
	return NULL;
}
