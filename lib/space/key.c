#include "lib/space/key.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names and values come from closed lists and counts: too long a one, or one with a separator in
 * it, cannot be. */
void key_str(struct key *k, const char *name, const char *value)
{
	struct key_pair *p = &k->pair[k->n];
	size_t nname = strlen(name), nvalue = strlen(value);

	assert(k->n < KEY_MAX);
	assert(nname < sizeof p->name && nvalue < sizeof p->value);
	assert(!strpbrk(name, "=;") && !strpbrk(value, "=;"));
	memcpy(p->name, name, nname + 1);
	memcpy(p->value, value, nvalue + 1);
	k->n++;
}

void key_int(struct key *k, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)value);
	key_str(k, name, text);
}

void key_text(struct key *k, struct buf *out)
{
	const struct key_pair *order[KEY_MAX];

	/* Insertion sort: a few short names. */
	for (int i = 0; i < k->n; i++) {
		int j = i;

		for (; j && strcmp(order[j - 1]->name, k->pair[i].name) > 0; j--)
			order[j] = order[j - 1];
		order[j] = &k->pair[i];
	}
	for (int i = 0; i < k->n; i++) {
		assert(!i || strcmp(order[i - 1]->name, order[i]->name) != 0);
		buf_str(out, order[i]->name);
		buf_ch(out, '=');
		buf_str(out, order[i]->value);
		buf_ch(out, ';');
	}
}

void key_id(struct key *k, struct id *id)
{
	struct buf text = BUF_INIT;

	key_text(k, &text);
	hash_id(id, text.s, text.n);
	buf_free(&text);
}
