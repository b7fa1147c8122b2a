/* Tensor maps of the stand-in driver, in im2col mode alone, with the limits that the driver's
 * manual has for four dimensions. */
#include <stdint.h>
#include <string.h>

#include "tests/emulator/box.h"
#include "tests/emulator/driver.h"

enum { RANK = 4, LEAST_CORNER = -128, MOST_CORNER = 127, MOST_STEP = 8 };

static int bytes_of(int type)
{
	enum { U8 = 0, F16 = 6, F32 = 7, BF16 = 9 };

	return type == U8 ? 1 : type == F16 || type == BF16 ? 2 : type == F32 ? 4 : 0;
}

static int is_corner(int x)
{
	return x >= LEAST_CORNER && x <= MOST_CORNER;
}

/* Does the box of pixels that have positions hold any? */
static int has_pixels(const struct emulator_box *b)
{
	for (int i = 0; i < 2; i++)
		if (!is_corner(b->lower[i]) || !is_corner(b->upper[i]) || !b->step[i] ||
		    b->step[i] > MOST_STEP ||
		    (int64_t)b->size[i + 1] - 1 + b->upper[i] < b->lower[i])
			return 0;
	return 1;
}

static int is_map(const struct emulator_box *b)
{
	if ((uintptr_t)b->tensor % 16 || !b->element || !b->channels || b->channels > 256 ||
	    !b->pixels || b->pixels > 1024 || b->channels * b->element > b->row)
		return 0;
	for (int i = 0; i < RANK; i++)
		if (!b->size[i] || (i && b->stride[i - 1] % 16))
			return 0;
	return has_pixels(b);
}

API int cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, void *at, const uint64_t *size,
				const uint64_t *stride, const int *lower, const int *upper,
				uint32_t channels, uint32_t pixels, const uint32_t *step,
				int interleave, int swizzle, int l2, int fill)
{
	const enum result rc = driver_ready();
	struct emulator_box b = {.tensor = at,
				 .channels = channels,
				 .pixels = pixels,
				 .element = (unsigned)bytes_of(type),
				 .row = swizzle > 0 && swizzle < 4 ? 16U << swizzle : 0};

	if (rc)
		return rc;
	if (rank != RANK || (uintptr_t)map % 64 || interleave || l2 < 0 || l2 > 3 || fill)
		return INVALID_VALUE;
	for (int i = 0; i < RANK; i++) {
		b.size[i] = (unsigned)size[i];
		if (i < RANK - 1)
			b.stride[i] = stride[i];
	}
	for (int i = 0; i < 2; i++) {
		b.lower[i] = lower[i];
		b.upper[i] = upper[i];
		b.step[i] = step[i + 1];
	}
	if (!is_map(&b))
		return INVALID_VALUE;
	_Static_assert(sizeof b == 128, "a tensor map has 128 bytes");
	memcpy(map, &b, sizeof b);
	return SUCCESS;
}
