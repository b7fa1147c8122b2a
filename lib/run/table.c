#include "lib/run/table.h"

#include <string.h>

enum { WIDE = 64, LANES = 16 };

int table_is_wide(int lanes)
{
	__builtin_cpu_init();
	return lanes >= LANES && __builtin_cpu_supports("avx512vbmi");
}

static void look_up(const unsigned char *table, const unsigned char *from, unsigned char *to,
		    int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = table[from[i]];
}

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx512vbmi")
typedef unsigned char bytes __attribute__((vector_size(WIDE), aligned(1), may_alias));
typedef signed char signs __attribute__((vector_size(WIDE)));

/* Each half of the table is two registers, of which a shuffle picks by the lower 7 bits. */
static int64_t look_up_wide(const unsigned char *table, const unsigned char *from,
			    unsigned char *to, int64_t n)
{
	const bytes *const t = (const bytes *)table;
	const bytes a = t[0], b = t[1], c = t[2], d = t[3];
	int64_t i = 0;

	for (; i + WIDE <= n; i += WIDE) {
		const bytes x = *(const bytes *)(from + i);
		const bytes is_high = (bytes)((signs)x < 0);

		*(bytes *)(to + i) = (__builtin_shuffle(a, b, x) & ~is_high) |
				     (__builtin_shuffle(c, d, x) & is_high);
	}
	return i;
}
#pragma GCC pop_options

int table_run(const void *with, float *const *buffers, int thread, int threads)
{
	const struct table *t = with;
	const int64_t lines = (t->n + WIDE - 1) / WIDE, end = lines * (thread + 1) / threads * WIDE;
	int64_t i = lines * thread / threads * WIDE;
	const unsigned char *from = (const unsigned char *)buffers[0];
	unsigned char *to = (unsigned char *)buffers[1];
	const int64_t n = end < t->n ? end : t->n;

	if (t->wide && i < n)
		i += look_up_wide(t->to, from + i, to + i, n - i);
	look_up(t->to, from + i, to + i, n - i);
	return 0;
}
