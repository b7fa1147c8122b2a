/* Elements of the stand-ins' arrays. */
#ifndef TL_TESTS_EMULATOR_NUMBER_H
#define TL_TESTS_EMULATOR_NUMBER_H

#include <stdint.h>
#include <string.h>

enum number { NUMBER_F32, NUMBER_F16, NUMBER_BF16 };

static inline double number_get(enum number type, const void *array, int64_t i)
{
	uint32_t bits;
	_Float16 half;
	float x;

	if (type == NUMBER_F32)
		return ((const float *)array)[i];
	if (type == NUMBER_F16) {
		memcpy(&half, (const char *)array + 2 * i, sizeof half);
		return (double)half;
	}
	bits = (uint32_t)((const uint16_t *)array)[i] << 16;
	memcpy(&x, &bits, sizeof x);
	return x;
}

static inline void number_put(enum number type, void *array, int64_t i, double value)
{
	const float x = (float)value;
	const _Float16 half = (_Float16)x;
	uint32_t bits;

	if (type == NUMBER_F32) {
		((float *)array)[i] = x;
	} else if (type == NUMBER_F16) {
		memcpy((char *)array + 2 * i, &half, sizeof half);
	} else {
		memcpy(&bits, &x, sizeof bits);
		((uint16_t *)array)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	}
}

#endif
