#include "lib/target/cuda_box.h"

#include <errno.h>

#include "lib/target/cuda_error.h"
#include "lib/target/shared.h"
#include "lib/target/simt.h"

enum { RANK = 4 };

/* CU_TENSOR_MAP_DATA_TYPE_... */
enum data { DATA_U8 = 0, DATA_F16 = 6, DATA_F32 = 7, DATA_BF16 = 9 };

/* CU_TENSOR_MAP_L2_PROMOTION_...: what a miss of the second cache reads. */
enum promotion { PROMOTION_128B = 2 };

static struct {
	int (*im2col)(struct cuda_box *b, enum data type, uint32_t rank, void *at,
		      const uint64_t *size, const uint64_t *stride, const int *lower,
		      const int *upper, uint32_t channels, uint32_t pixels, const uint32_t *step,
		      int interleave, int swizzle, enum promotion l2, int fill);
} cuda;

static int open_library(struct err *e)
{
	static const char *const names[] = {"libcuda.so.1", NULL};
	static const struct shared_function functions[] = {
		{"cuTensorMapEncodeIm2col", &cuda.im2col},
		{NULL, NULL},
	};
	static struct shared library = {names, functions, 0};

	return shared_open(&library, e);
}

static enum data data_of(enum elem e)
{
	switch (e) {
	case ELEM_BF16:
		return DATA_BF16;
	case ELEM_F16:
		return DATA_F16;
	case ELEM_S8:
	case ELEM_U8:
		return DATA_U8;
	default:
		return DATA_F32;
	}
}

/* CU_TENSOR_MAP_SWIZZLE_...: 1, 2 and 3 for rows of 32, 64 and 128 bytes. */
static int swizzle_of(long bytes)
{
	return bytes == 128 ? 3 : bytes == 64 ? 2 : 1;
}

int cuda_box_fill(struct cuda_box *b, const long *box, uint64_t address, struct err *e)
{
	const enum elem elem = (enum elem)box[SIMT_BOX_ELEM];
	const long *size = box + SIMT_BOX_SIZES, *corner = box + SIMT_BOX_CORNERS;
	const int lower[] = {(int)corner[0], (int)corner[1]};
	const int upper[] = {(int)corner[2], (int)corner[3]};
	const uint32_t step[RANK] = {1, (uint32_t)box[SIMT_BOX_STEPS],
				     (uint32_t)box[SIMT_BOX_STEPS + 1], 1};
	uint64_t sizes[RANK], stride[RANK];

	for (int i = 0; i < RANK; i++) {
		sizes[i] = (uint64_t)size[i];
		stride[i] = sizes[i] * (i ? stride[i - 1] : (uint64_t)elem_size(elem));
	}
	if (open_library(e) == 0 &&
	    cuda_check(cuda.im2col(b, data_of(elem), RANK, (void *)(uintptr_t)address, sizes,
				   stride, lower, upper, (uint32_t)box[SIMT_BOX_VALUES],
				   (uint32_t)box[SIMT_BOX_POSITIONS], step, 0,
				   swizzle_of(box[SIMT_BOX_VALUES] * elem_size(elem)),
				   PROMOTION_128B, 0),
		       "describe a tensor", e) == 0)
		return 0;
	errno = ENOTSUP;
	return -1;
}
