#include "lib/tile/tile.h"

#include <stddef.h>

static const struct tile *const tiles[] = {
	&tile_dot_bf16,	 &tile_dot_u8,	    &tile_dot_s16, &tile_fma,	  &tile_fma_whole,
	&tile_tmul_bf16, &tile_tmul_bf16x2, &tile_tmul_u8, &tile_tmul_s8, NULL};

static int takes(const struct tile *t, const struct dtypes *d)
{
	if (t->takes_all)
		return !dtype_is_int(d->src);
	return t->takes_whole ? dtypes_are_bytes(d) : t->type == d->src && t->weights == d->wei;
}

static int has_depth(const struct tile *t, int64_t depth)
{
	if (!t->most)
		return depth == t->group;
	return depth > t->group && depth <= t->most && depth % t->group == 0;
}

const struct tile *tile_of(const struct dtypes *d, int64_t depth)
{
	for (const struct tile *const *t = tiles; *t; t++)
		if (has_depth(*t, depth) && takes(*t, d))
			return *t;
	return NULL;
}

int64_t tile_depth(const struct dtypes *d, unsigned dots, int64_t k)
{
	for (const struct tile *const *t = tiles; *t; t++)
		if (!(*t)->most && takes(*t, d) && k % (*t)->group == 0 &&
		    ((*t)->takes_all || (*t)->takes_whole || dots >> (*t)->type & 1))
			return (*t)->group;
	return 1;
}

/* The more values a step takes, the fewer steps there are, which last the same. With less than a
 * quarter of the most, vectors are as fast. */
int64_t tile_tmul_depth(const struct dtypes *d, unsigned machine, int64_t k)
{
	enum { LEAST_PART = 4 };

	for (const struct tile *const *t = tiles; *t; t++) {
		const enum dtype type = (*t)->halves ? DTYPE_BF16 : (*t)->type;

		if (!(*t)->most || !takes(*t, d) || !(machine >> type & 1))
			continue;
		for (int depth = (*t)->most; depth >= (*t)->most / LEAST_PART; depth -= (*t)->group)
			if (k % depth == 0)
				return depth;
	}
	return 0;
}

enum elem tile_elem(const struct tile *t, enum dtype source)
{
	return t->halves ? ELEM_BF16 : elem_of(source);
}

enum elem tile_wide(const struct tile *t, enum dtype d)
{
	if (t->right == ELEM_S16X2)
		return ELEM_S16;
	return t->takes_all && d == DTYPE_BF16 ? ELEM_F32 : elem_of(d);
}
