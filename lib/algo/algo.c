#include "lib/algo/algo.h"

#include <string.h>

const struct algo *algo_find(const char *name, size_t n)
{
	for (const struct algo *const *a = algo_list; *a; a++)
		if (strlen((*a)->name) == n && !memcmp((*a)->name, name, n))
			return *a;
	return NULL;
}

int algo_suits(const struct algo *a, const struct target *t)
{
	return !(a->needs & ~t->can);
}
