/* A TFLite model from a stream: all of it but the elements of large tensors, in one pass.
 *
 * Buffers of elements lie anywhere in the file, between the tables that describe it. What refers to
 * them lies before them; so when the list of all buffers has come, each is known before its
 * elements come, and those of more than tensors keep are passed over. One thing may come only
 * later: the list of a table's fields, which many tables share. Where it is missing the first word
 * of the table is taken for the reference, as it is in a table of one field. Should that be wrong,
 * and were bytes passed over that are needed, the model is refused with a sentence.
 */
#include <stdlib.h>

#include "lib/extract/tflite/reader.h"

enum {
	BLOCK = 1 << 16,
	LARGE = KEEP_INTS * 8, /* bytes of elements that no tensor keeps */
	SEEN = 256,	       /* of them, so many count for the model's hash */
};

/* Places in the stream at which to look: tables of buffers, and elements of buffers. A heap, the
 * lowest place first. */
struct places {
	uint64_t *at; /* twice the place, and 1 for elements */
	size_t n, cap;
};

static void add(struct places *p, uint64_t place, int is_data)
{
	size_t i = p->n++;

	if (i == p->cap) {
		p->cap = p->cap ? 2 * p->cap : 64;
		p->at = xrealloc(p->at, p->cap * sizeof *p->at);
	}
	p->at[i] = 2 * place + (uint64_t)is_data;
	while (i && p->at[(i - 1) / 2] > p->at[i]) {
		uint64_t up = p->at[(i - 1) / 2];

		p->at[(i - 1) / 2] = p->at[i];
		p->at[i] = up;
		i = (i - 1) / 2;
	}
}

static uint64_t take(struct places *p)
{
	uint64_t first = p->at[0], last = p->at[--p->n];
	size_t i = 0;

	for (;;) {
		size_t k = 2 * i + 1;

		if (k + 1 < p->n && p->at[k + 1] < p->at[k])
			k++;
		if (k >= p->n || p->at[k] >= last)
			break;
		p->at[i] = p->at[k];
		i = k;
	}
	p->at[i] = last;
	return first;
}

/* The tables of all buffers. 0: they are not there yet. */
static int find_tables(const struct kept *k, struct places *p)
{
	struct flat f;
	struct flat_list list;

	flat_init(&f, k);
	list = flat_list(&f, flat_root(&f, 0), MODEL_BUFFERS, 4);
	for (uint32_t i = 0; i < list.n && !f.bad; i++)
		add(p, flat_list_table(&f, &list, i), 0);
	if (f.bad)
		p->n = 0;
	return !f.bad;
}

/* Notes where the elements are that a table of a buffer refers to. */
static int look_at_table(struct kept *k, uint64_t table, struct places *p, struct err *e)
{
	uint64_t place, at;
	int is_guess;
	struct flat f;

	if (kept_read(k, table + 4, e)) /* all that an empty table has */
		return -1;
	flat_init(&f, k);
	place = flat_field(&f, table, BUFFER_DATA);
	is_guess = f.bad;
	if (is_guess) {
		flat_init(&f, k);
		place = table + 4;
	}
	if (!place || kept_read(k, place + 4, e))
		return place ? -1 : 0;
	at = flat_root(&f, place);
	/* What is guessed must lie before the next table, where writers put it. */
	if (!f.bad && (!is_guess || (at % 4 == 0 && p->n && at < p->at[0] / 2)))
		add(p, at, 1);
	return 0;
}

/* Elements come next: a large list of them is passed over, unless one of the places lies within it.
 */
static int look_at_data(struct kept *k, uint64_t at, const struct places *p, struct err *e)
{
	const unsigned char *s;
	uint64_t n, stop;

	if (kept_read(k, at + 4, e))
		return -1;
	s = kept_at(k, at, 4);
	n = s ? s[0] | (uint64_t)s[1] << 8 | (uint64_t)s[2] << 16 | (uint64_t)s[3] << 24 : 0;
	stop = at + 4 + n;
	if (n <= LARGE || (p->n && p->at[0] / 2 < stop))
		return kept_read(k, stop, e);
	return kept_read(k, at + 4 + SEEN, e) ? -1 : kept_pass(k, stop, e);
}

/* What lies behind the last elements. */
static int read_rest(struct kept *k, struct err *e)
{
	int r = 1;

	while (r > 0 && k->bytes.n < KEPT_MAX)
		r = kept_more(k, BLOCK, e);
	while (r > 0 && (r = pull_fill(k->in, e)) > 0)
		k->in->at = k->in->end;
	return r;
}

int load_model(struct kept *k, struct err *e)
{
	struct places p = {0};
	int r = 1, found = 0;

	while (r > 0 && !found && k->bytes.n < KEPT_MAX) {
		r = kept_more(k, BLOCK, e);
		found = r >= 0 && find_tables(k, &p);
	}
	while (r >= 0 && p.n) {
		uint64_t next = take(&p);

		r = next & 1 ? look_at_data(k, next / 2, &p, e) : look_at_table(k, next / 2, &p, e);
	}
	free(p.at);
	return r < 0 ? -1 : read_rest(k, e);
}
