#include "lib/extract/tally.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

void tally_add(struct tally *t, const char *name)
{
	int64_t **n = (int64_t **)map_put(&t->m, name, strlen(name), NULL);

	if (!*n)
		*n = xcalloc(1, sizeof **n);
	++**n;
}

int64_t tally_sum(const struct tally *t)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->m.n; i++)
		sum += *(int64_t *)t->m.item[i].value;
	return sum;
}

void tally_print(const struct tally *t, struct buf *out)
{
	for (size_t i = 0; i < t->m.n; i++) {
		if (i)
			buf_str(out, ", ");
		buf_str(out, t->m.item[i].key);
		buf_ch(out, ' ');
		buf_int(out, *(int64_t *)t->m.item[i].value);
	}
}

void tally_free(struct tally *t)
{
	for (size_t i = 0; i < t->m.n; i++)
		free(t->m.item[i].value);
	map_free(&t->m);
}
