#include "lib/draft/warp.h"

enum { WORD = 4, BANKS = WARP_BANKS_BYTES / WORD, SECTOR = WARP_SECTOR_BYTES, MOST_WORDS = 8 };

/* Rounded down: an access that a branch keeps from happening may begin before its buffer. */
static int64_t divide(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Adds v to a set. Returns how many it has then. */
static int add(int64_t *set, int n, int64_t v)
{
	for (int i = n - 1; i >= 0; i--)
		if (set[i] == v)
			return n;
	set[n] = v;
	return n + 1;
}

static int most_in_a_bank(const int64_t *at, int threads, int words, int size)
{
	int64_t word[BANKS][WARP_THREADS];
	int held[BANKS] = {0}, most = 0;

	for (int t = 0; t < threads; t++)
		for (int i = 0; i < words; i++) {
			int64_t w = divide(at[t] * size, WORD) + i;
			int bank = (int)(w - divide(w, BANKS) * BANKS);

			held[bank] = add(word[bank], held[bank], w);
			most = held[bank] > most ? held[bank] : most;
		}
	return most;
}

struct warp_count warp_banks(const int64_t *at, int threads, int bytes, int size)
{
	int words = bytes <= WORD ? 1 : bytes / WORD < MOST_WORDS ? bytes / WORD : MOST_WORDS;
	int together = WARP_THREADS / words;
	struct warp_count c = {0, 0};

	for (int first = 0; first < threads; first += together) {
		int some = threads - first < together ? threads - first : together;

		c.done += most_in_a_bank(at + first, some, words, size);
		c.least++;
	}
	return c;
}

struct warp_count warp_sectors(const int64_t *at, int threads, int bytes, int size)
{
	int64_t sector[WARP_THREADS * (MOST_WORDS + 1)], begin[WARP_THREADS];
	int sectors = 0, begins = 0;

	for (int t = 0; t < threads; t++) {
		int64_t first = at[t] * size;

		begins = add(begin, begins, first);
		for (int64_t s = divide(first, SECTOR);
		     s <= divide(first + bytes - 1, SECTOR) && sectors < WARP_THREADS * MOST_WORDS;
		     s++)
			sectors = add(sector, sectors, s);
	}
	return (struct warp_count){sectors, (begins * bytes + SECTOR - 1) / SECTOR};
}
