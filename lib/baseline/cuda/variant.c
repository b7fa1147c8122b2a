#include "lib/baseline/cuda/variant.h"

#include <stdlib.h>
#include <string.h>

static int is(const char *name, const char *layout, const char *other, const char *other_layout)
{
	return !strcmp(name, other) && !strcmp(layout, other_layout);
}

int variants_want(const struct variants *all, const char *name, const char *layout)
{
	int wanted = !all->nonly;

	for (int i = 0; i < all->nonly && !wanted; i++)
		wanted = is(name, layout, all->only[i].name, all->only[i].layout);
	for (int i = 0; i < all->n && wanted; i++)
		wanted = !is(name, layout, all->v[i].name, all->v[i].layout);
	return wanted;
}

void variants_add(struct variants *all, const struct variant *v)
{
	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 32;
		all->v = xrealloc(all->v, (size_t)all->room * sizeof *all->v);
	}
	all->v[all->n++] = *v;
}
