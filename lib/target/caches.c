#include "lib/target/caches.h"

#include <string.h>

static const char *const names[] = {"warm", "cold", "weights-cold"};

const char *caches_name(enum caches c)
{
	return names[c];
}

enum caches caches_default(const struct target *t)
{
	return t == target_default() ? CACHES_WEIGHTS_COLD : CACHES_WARM;
}

int caches_find(const char *name)
{
	for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
		if (!strcmp(name, names[i]))
			return i;
	return -1;
}

enum caches caches_wanted(const char *name, const struct target *t)
{
	return name ? (enum caches)caches_find(name) : caches_default(t);
}
