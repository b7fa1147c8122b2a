/* random: points drawn uniformly without replacement.
 *
 * A point is the image of a counter under a keyed permutation of [0, size): a four-round Feistel
 * network over the next even power of two with cycle walking (Black and Rogaway, "Ciphers with
 * arbitrary finite domains", CT-RSA 2002, section 4). So nothing is remembered, no point comes
 * twice, and all come if asked for.
 */
#include "lib/search/search.h"

enum { ROUNDS = 4 };

struct drawing {
	uint64_t next, size, key[ROUNDS];
	int half; /* bits of each half */
};

static void *start(const struct search_space *s, uint64_t seed, int64_t round, struct arena *a)
{
	struct drawing *w = arena_new(a, struct drawing);
	struct rng r;

	search_space_rng(s, seed, round, &r);
	for (int i = 0; i < ROUNDS; i++)
		w->key[i] = rng_u64(&r);
	w->size = s->start[s->nalgos];
	w->half = 1;
	while (w->half < 31 && (uint64_t)1 << 2 * w->half < w->size)
		w->half++;
	return w;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x7fb5d329728ea185u;
	x = (x ^ x >> 27) * 0x81dadef4bc2dd44du;
	return x ^ x >> 33;
}

static uint64_t permute(const struct drawing *w, uint64_t x)
{
	uint64_t mask = ((uint64_t)1 << w->half) - 1, l = x >> w->half, r = x & mask, t;

	for (int i = 0; i < ROUNDS; i++) {
		t = l ^ (mix(r + w->key[i]) & mask);
		l = r;
		r = t;
	}
	return l << w->half | r;
}

static int propose(void *state, uint64_t *point)
{
	struct drawing *w = state;
	uint64_t x;

	if (w->next >= w->size)
		return 0;
	x = w->next++;
	do
		x = permute(w, x);
	while (x >= w->size);
	*point = x;
	return 1;
}

const struct search search_random = {
	.name = "random",
	.summary = "points drawn uniformly, without replacement",
	.start = start,
	.propose = propose,
};
