#include "lib/extract/list/onednn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One side of a matrix product, "1x12x128x64". -1: malformed. */
static int read_dims(const char **s, int64_t *dim, int *n)
{
	for (*n = 0; isdigit((unsigned char)**s); (*n)++) {
		char *end;

		if (*n == ONEDNN_RANK)
			return -1;
		dim[*n] = strtoll(*s, &end, 10);
		if (dim[*n] > INT32_MAX)
			return -1;
		*s = end + (*end == 'x');
	}
	return *n < 2 ? -1 : 0;
}

static void put_matmul(struct buf *out, int64_t b, int64_t m, int64_t k, int64_t n)
{
	if (b == 1)
		buf_fmt(out, "%lldx%lld:%lldx%lld", (long long)m, (long long)k, (long long)k,
			(long long)n);
	else
		buf_fmt(out, "%lldx%lldx%lld:%lldx%lldx%lld", (long long)b, (long long)m,
			(long long)k, (long long)b, (long long)k, (long long)n);
}

/* The letters of 1.x, each with its number. -1: it is no such text. */
static int letters(const char *s, struct buf *out, struct onednn_shape *shape)
{
	static const char names[] = "bmnk";
	int64_t size[4] = {0};

	while (*s) {
		const char *at = strchr(names, *s++);
		char *end;

		if (!at || size[at - names] || !isdigit((unsigned char)*s))
			return -1;
		size[at - names] = strtoll(s, &end, 10);
		if (size[at - names] < 1 || size[at - names] > INT32_MAX)
			return -1;
		s = end;
	}
	if (!size[1] || !size[2] || !size[3])
		return -1;
	if (size[0])
		shape->dim[shape->rank++] = size[0];
	shape->dim[shape->rank++] = size[1];
	shape->dim[shape->rank++] = size[2];
	put_matmul(out, size[0] ? size[0] : 1, size[1], size[3], size[2]);
	return 0;
}

/* The two sides of a product, and how many dimensions each has. */
struct sides {
	int64_t a[ONEDNN_RANK], b[ONEDNN_RANK];
	int n;
};

static int read_sides(const char *text, struct sides *x, struct err *e)
{
	const char *s = text;
	int nb;

	if (read_dims(&s, x->a, &x->n) || *s++ != ':' || read_dims(&s, x->b, &nb) || x->n != nb)
		return err_set(e, "\"%.80s\" is not MxK:KxN or BxMxK:BxKxN", text);
	if (*s == ':') /* 2.x tells the result's shape, too */
		s += 1 + strspn(s + 1, "0123456789x");
	if (*s)
		return err_set(e, "\"%.20s\" stands behind the product %.*s", s, (int)(s - text),
			       text);
	for (int i = 0; i < x->n; i++)
		if (!x->a[i] || !x->b[i])
			return err_set(e, "a matrix of the product %.60s has a size of 0", text);
	if (x->a[x->n - 1] != x->b[x->n - 2])
		return err_set(e, "the inner dimensions %lld and %lld of %.60s differ",
			       (long long)x->a[x->n - 1], (long long)x->b[x->n - 2], text);
	return 0;
}

int onednn_matmul(const char *text, struct buf *out, struct onednn_shape *shape, struct err *e)
{
	int64_t rows = 1, batch = 1;
	struct sides x;
	int n;

	shape->rank = 0;
	if (*text == 'b' || *text == 'm')
		return letters(text, out, shape) ? err_set(e, "\"%.80s\" is not b2m3n4k5", text)
						 : 0;
	if (read_sides(text, &x, e))
		return -1;
	n = shape->rank = x.n;
	shape->dim[n - 2] = x.a[n - 2];
	shape->dim[n - 1] = x.b[n - 1];
	for (int i = 0; i + 2 < n; i++) {
		int64_t d = x.a[i] > x.b[i] ? x.a[i] : x.b[i];

		shape->dim[i] = d;
		if ((x.a[i] != d && x.a[i] != 1) || (x.b[i] != d && x.b[i] != 1))
			return err_set(e, "the batches %lld and %lld of %.60s differ",
				       (long long)x.a[i], (long long)x.b[i], text);
		if (__builtin_mul_overflow(rows, d, &rows) ||
		    __builtin_mul_overflow(batch, x.b[i], &batch))
			return err_set(e, "the batch of %.60s is beyond 2^63", text);
	}
	if (batch > 1) {
		put_matmul(out, rows, x.a[n - 2], x.a[n - 1], x.b[n - 1]);
		return 0;
	}
	if (__builtin_mul_overflow(rows, x.a[n - 2], &rows)) /* one matrix for all rows */
		return err_set(e, "the batch of %.60s is beyond 2^63", text);
	put_matmul(out, 1, rows, x.a[n - 1], x.b[n - 1]);
	return 0;
}
