#include "lib/tile/tile.h"

#include <stddef.h>

static const struct tile *const tiles[] = {&tile_dot_bf16, &tile_fma, NULL};

static int takes(const struct tile *t, const struct dtypes *d)
{
	return t->takes_all ? !dtype_is_int(d->src) : t->type == d->src && t->type == d->wei;
}

const struct tile *tile_of(const struct dtypes *d, int64_t depth)
{
	for (const struct tile *const *t = tiles; *t; t++)
		if ((*t)->depth == depth && takes(*t, d))
			return *t;
	return NULL;
}

int64_t tile_depth(const struct dtypes *d, unsigned dots, int64_t k)
{
	for (const struct tile *const *t = tiles; *t; t++)
		if (takes(*t, d) && k % (*t)->depth == 0 &&
		    ((*t)->takes_all || dots >> (*t)->type & 1))
			return (*t)->depth;
	return 1;
}
