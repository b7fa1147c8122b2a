#include "lib/space/swizzle.h"

#include <assert.h>
#include <string.h>

int swizzle_has_row(int64_t bytes)
{
	return bytes == 32 || bytes == 64 || bytes == 128;
}

static int log2_of(int x)
{
	int n = 0;

	while (x > 1 << n)
		n++;
	return n;
}

struct swizzle_bits swizzle_bits(const struct swizzle *s)
{
	struct swizzle_bits b = {0, 0, 0};

	if (!s->row)
		return b;
	b.down = log2_of(SWIZZLE_UNITS * s->unit);
	b.mask = s->row / s->unit - 1;
	b.up = log2_of(s->unit);
	return b;
}

int64_t swizzle_place(const struct swizzle *s, int64_t x)
{
	struct swizzle_bits b = swizzle_bits(s);

	return x ^ (x >> b.down & b.mask) << b.up;
}

void swizzle_floats(const struct swizzle *s, float *x, int64_t n)
{
	float row[SWIZZLE_UNITS * SWIZZLE_UNIT];

	if (!s->row)
		return;
	assert(n % (SWIZZLE_ROWS * s->row) == 0);
	for (int64_t from = 0; from < n; from += s->row) {
		memcpy(row, x + from, (size_t)s->row * sizeof *row);
		for (int i = 0; i < s->row; i++)
			x[swizzle_place(s, from + i)] = row[i];
	}
}
