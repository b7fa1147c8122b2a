#include "lib/extract/read/pull.h"

#include <string.h>

enum { LINE_MAX_BYTES = 64 << 20 };

int pull_fill(struct pull *p, struct err *e)
{
	size_t n;
	int r;

	if (p->at < p->end)
		return 1;
	if (p->later < p->later_end) { /* the rest of a block that pull_head() split */
		p->at = p->later;
		p->end = p->later_end;
		p->later = p->later_end = NULL;
		p->read += (uint64_t)(p->end - p->at);
		return 1;
	}
	r = p->next(p->ctx, &p->at, &n, e);
	if (r <= 0) {
		p->at = p->end = NULL;
		return r;
	}
	p->end = p->at + n;
	p->read += n;
	return 1;
}

static int ended(const struct pull *p, struct err *e)
{
	return err_set(e, "it is cut off at byte %llu", (unsigned long long)pull_offset(p));
}

/* The next bytes at hand, n at most: *from. How many, or -1. */
static int64_t take(struct pull *p, uint64_t n, const unsigned char **from, struct err *e)
{
	int r = pull_fill(p, e);
	size_t k;

	if (r <= 0)
		return r ? -1 : ended(p, e);
	*from = p->at;
	k = (size_t)(p->end - p->at);
	if (k > n)
		k = (size_t)n;
	p->at += k;
	return (int64_t)k;
}

int pull_copy(struct pull *p, void *to, size_t n, struct err *e)
{
	const unsigned char *from = NULL;
	int64_t k;

	for (unsigned char *out = to; n; out += k, n -= (size_t)k) {
		if ((k = take(p, n, &from, e)) < 0)
			return -1;
		memcpy(out, from, (size_t)k);
	}
	return 0;
}

int pull_append(struct pull *p, struct buf *b, uint64_t n, struct err *e)
{
	const unsigned char *from = NULL;
	int64_t k;

	for (; n; n -= (uint64_t)k) {
		if ((k = take(p, n, &from, e)) < 0)
			return -1;
		buf_add(b, from, (size_t)k);
	}
	return 0;
}

int pull_skip(struct pull *p, uint64_t n, struct err *e)
{
	while (n) {
		uint64_t k = (uint64_t)(p->end - p->at);
		int r;

		if (k > n)
			k = n;
		if (k) /* before the first block there is no place to move */
			p->at += k;
		n -= k;
		if (!n)
			break;
		if (p->skip && p->later == p->later_end) {
			p->read += n;
			return p->skip(p->ctx, n, e);
		}
		r = pull_fill(p, e);
		if (r <= 0)
			return r ? -1 : ended(p, e);
	}
	return 0;
}

int pull_head(struct pull *p, const unsigned char **head, size_t *n, struct err *e)
{
	size_t have = 0;

	while (have < PULL_HEAD) {
		int r = pull_fill(p, e);
		size_t k = (size_t)(p->end - p->at);

		if (r < 0)
			return -1;
		if (r == 0)
			break;
		if (!have && k >= PULL_HEAD) { /* the common case: nothing to copy */
			*head = p->at;
			*n = PULL_HEAD;
			return 0;
		}
		if (k > PULL_HEAD - have)
			k = PULL_HEAD - have;
		memcpy(p->head + have, p->at, k);
		have += k;
		p->at += k;
	}
	/* What was copied comes first again; the rest of the last block waits behind it. */
	p->later = p->at;
	p->later_end = p->end;
	p->at = p->head;
	p->end = p->head + have;
	p->read = have;
	*head = p->head;
	*n = have;
	return 0;
}

int pull_line(struct pull *p, struct buf *b, struct err *e)
{
	int some = 0, r;

	buf_clear(b);
	while ((r = pull_fill(p, e)) > 0) {
		const unsigned char *nl = memchr(p->at, '\n', (size_t)(p->end - p->at));
		const unsigned char *stop = nl ? nl : p->end;

		some = 1;
		if (b->n + (size_t)(stop - p->at) > LINE_MAX_BYTES)
			return err_set(e, "a line is longer than %d bytes", LINE_MAX_BYTES);
		buf_add(b, p->at, (size_t)(stop - p->at));
		p->at = nl ? nl + 1 : stop;
		if (nl)
			break;
	}
	if (r < 0)
		return -1;
	if (some && b->n && b->s[b->n - 1] == '\r')
		b->s[--b->n] = 0;
	return some;
}
