#include "lib/run/vectors.h"

#include <math.h>
#include <string.h>

/* Each lane has its number. */
static const int32_t numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

#define ALWAYS static inline __attribute__((always_inline))

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,fma")
#define LANES 16
#define NAME(x) x##_16
#define PANELS_BY_1 4
#define PANELS_BY_2 4
#define PANELS_BY_4 2
#define PANELS_BY_8 1
#include "lib/run/vectors_set.h"
#undef LANES
#undef NAME
#undef PANELS_BY_1
#undef PANELS_BY_2
#undef PANELS_BY_4
#undef PANELS_BY_8
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define LANES 8
#define NAME(x) x##_8
#define PANELS_BY_1 2
#define PANELS_BY_2 1
#define PANELS_BY_4 0
#define PANELS_BY_8 0
#include "lib/run/vectors_set.h"
#undef LANES
#undef NAME
#undef PANELS_BY_1
#undef PANELS_BY_2
#pragma GCC pop_options

#define LANES 4
#define NAME(x) x##_4
#define PANELS_BY_1 1
#define PANELS_BY_2 0
#include "lib/run/vectors_set.h"

#define BY(lanes, function)                                                                        \
	((lanes) >= 16 ? function##_16 : (lanes) >= 8 ? function##_8 : function##_4)

void vectors_product(int lanes, const struct vectors_product *p)
{
	BY(lanes, product)(p);
}

void vectors_dots(int lanes, const float *x, const float *y, int64_t rows, int64_t n, float *to)
{
	BY(lanes, dots)(x, y, rows, n, to);
}

void vectors_weigh(int lanes, const float *x, const float *y, int64_t rows, int64_t n, float *to)
{
	BY(lanes, weigh)(x, y, rows, n, to);
}

float vectors_most(int lanes, const float *x, int64_t n)
{
	return BY(lanes, most)(x, n);
}

void vectors_scale(int lanes, float *x, float by, int64_t n)
{
	BY(lanes, scale)(x, by, n);
}

float vectors_exps(int lanes, float *x, float most, int64_t n)
{
	return BY(lanes, exps)(x, most, n);
}

void vectors_sigmoid(int lanes, float *x, int64_t n)
{
	BY(lanes, sigmoid)(x, n);
}

void vectors_tanh(int lanes, float *x, int64_t n)
{
	BY(lanes, tanh)(x, n);
}
