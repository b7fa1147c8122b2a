#include "lib/extract/read/kept.h"

void kept_init(struct kept *k, struct pull *in)
{
	*k = (struct kept){.in = in, .start = pull_offset(in)};
}

void kept_free(struct kept *k)
{
	buf_free(&k->bytes);
	buf_free(&k->gaps);
}

int kept_pass(struct kept *k, uint64_t to, struct err *e)
{
	struct kept_gap gap;

	if (to <= k->end)
		return 0;
	if (pull_skip(k->in, to - k->end, e))
		return -1;
	gap = (struct kept_gap){to, to - k->bytes.n};
	buf_add(&k->gaps, &gap, sizeof gap);
	k->end = to;
	return 0;
}

int kept_read(struct kept *k, uint64_t to, struct err *e)
{
	uint64_t room = KEPT_MAX - k->bytes.n, n;

	if (to <= k->end)
		return 0;
	n = to - k->end < room ? to - k->end : room;
	if (pull_append(k->in, &k->bytes, n, e))
		return -1;
	k->end += n;
	return kept_pass(k, to, e);
}

int kept_more(struct kept *k, size_t block, struct err *e)
{
	uint64_t to = k->end + block, from = k->end;
	int r;

	while (k->end < to && (r = pull_fill(k->in, e)) != 0) {
		uint64_t n = (uint64_t)(k->in->end - k->in->at);

		if (r < 0 || kept_read(k, n < to - k->end ? k->end + n : to, e))
			return -1;
	}
	return k->end > from;
}

const unsigned char *kept_at(const struct kept *k, uint64_t at, uint64_t n)
{
	const struct kept_gap *gap = (const struct kept_gap *)(const void *)k->gaps.s;
	size_t low = 0, high = k->gaps.n / sizeof *gap, all = high;
	uint64_t less = 0, from = 0, stop;

	while (low < high) { /* the number of gaps that end at or before the place */
		size_t middle = low + (high - low) / 2;

		if (gap[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	if (low) {
		less = gap[low - 1].less;
		from = gap[low - 1].at;
	}
	/* The next gap begins where the bytes before it stop. */
	stop = low < all ? gap[low].at - (gap[low].less - less) : k->end;
	if (at < from || at > stop || n > stop - at)
		return NULL;
	return (const unsigned char *)k->bytes.s + (at - less);
}
