#include "lib/tile/tile.h"

#include <stddef.h>

static const struct tile *const tiles[] = {&tile_dot_bf16, &tile_dot_u8,    &tile_dot_s16,
					   &tile_fma,	   &tile_fma_whole, NULL};

static int takes(const struct tile *t, const struct dtypes *d)
{
	if (t->takes_all)
		return !dtype_is_int(d->src);
	return t->takes_whole ? dtypes_are_bytes(d) : t->type == d->src && t->weights == d->wei;
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
		    ((*t)->takes_all || (*t)->takes_whole || dots >> (*t)->type & 1))
			return (*t)->depth;
	return 1;
}
