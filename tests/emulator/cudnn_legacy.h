/* The parts of a stand-in for cuDNN before version 9: its descriptors (cudnn_legacy.c),
 * convolutions (cudnn_legacy_convolution.c), and what may follow them (cudnn_legacy_point.c).
 */
#ifndef TL_TESTS_EMULATOR_CUDNN_LEGACY_H
#define TL_TESTS_EMULATOR_CUDNN_LEGACY_H

#include <math.h>

#include "tests/emulator/number.h"

/* Programs declare these functions for themselves. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define API __attribute__((visibility("default")))

enum status { SUCCESS = 0, BAD_PARAM = 3, EXECUTION_FAILED = 8, NOT_SUPPORTED = 9 };
enum { RIGHT, WITH_WORKSPACE, IDLE, MISSING, WRONG, FAILING, GREEDY, ALSO_RIGHT, ALGORITHMS };
enum { WORKSPACE = 1 << 16, FIRST_FMA = 8000, FIRST_SWISH = 8200 };
enum { FLOAT = 0, HALF = 2, INT8 = 3, INT32 = 4, BFLOAT16 = 9 };
enum { DEFAULT_MATH = 0, TENSOR_OP_MATH = 1, FMA_MATH = 3 };
enum { SIGMOID = 0, RELU = 1, TANH = 2, CLIPPED_RELU = 3, IDENTITY = 5, SWISH = 6 };

/* Of images and of weights: (n, c, h, w). */
struct tensor {
	int type, is_nhwc, size[4];
};

struct convolution {
	int pad[2], stride[2], dilation[2], groups, compute;
	int rounds; /* single precision */
};

struct activation {
	int mode;
	double ceiling;
};

struct op {
	int is_product;
};

/* 8907 is 8.9.7. */
int version(void);
int is_handle(const void *handle);
/* The stream that the library was told of. */
void *stream_now(void);

static inline int64_t place(const struct tensor *t, const int at[4])
{
	const int64_t c = t->size[1], h = t->size[2], w = t->size[3];
	int i[4];

	for (int d = 0; d < 4; d++) /* what has one element is spread */
		i[d] = t->size[d] == 1 ? 0 : at[d];
	return t->is_nhwc ? ((i[0] * h + i[2]) * w + i[3]) * c + i[1]
			  : ((i[0] * c + i[1]) * h + i[2]) * w + i[3];
}

static inline enum number number_of(const struct tensor *t)
{
	return t->type == HALF	     ? NUMBER_F16
	       : t->type == BFLOAT16 ? NUMBER_BF16
	       : t->type == INT8     ? NUMBER_S8
	       : t->type == INT32    ? NUMBER_S32
				     : NUMBER_F32;
}

static inline double get(const struct tensor *t, const void *array, const int at[4])
{
	return number_get(number_of(t), array, place(t, at));
}

static inline void put(const struct tensor *t, void *array, const int at[4], double x)
{
	number_put(number_of(t), array, place(t, at), x);
}

/* Goes to the next element: 0 behind the last one. */
static inline int next(const struct tensor *t, int at[4])
{
	for (int d = 3; d >= 0; d--) {
		if (++at[d] < t->size[d])
			return 1;
		at[d] = 0;
	}
	return 0;
}

static inline double activated(const struct activation *a, double x)
{
	switch (a->mode) {
	case SIGMOID:
		return 1 / (1 + exp(-x));
	case RELU:
		return fmax(x, 0);
	case TANH:
		return tanh(x);
	case CLIPPED_RELU:
		return fmin(fmax(x, 0), a->ceiling);
	case SWISH:
		return x / (1 + exp(-x));
	default:
		return x;
	}
}

#endif
