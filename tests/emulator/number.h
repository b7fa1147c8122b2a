/* Elements of the stand-ins' arrays. */
#ifndef TL_TESTS_EMULATOR_NUMBER_H
#define TL_TESTS_EMULATOR_NUMBER_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum number { NUMBER_F32, NUMBER_F16, NUMBER_BF16, NUMBER_S32, NUMBER_S8, NUMBER_U8 };

static inline double number_get(enum number type, const void *array, int64_t i)
{
	uint32_t bits;
	_Float16 half;
	float x;

	switch (type) {
	case NUMBER_F32:
		return ((const float *)array)[i];
	case NUMBER_F16:
		memcpy(&half, (const char *)array + 2 * i, sizeof half);
		return (double)half;
	case NUMBER_S32:
		return ((const int32_t *)array)[i];
	case NUMBER_S8:
		return ((const int8_t *)array)[i];
	case NUMBER_U8:
		return ((const uint8_t *)array)[i];
	case NUMBER_BF16:
		break;
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

	switch (type) {
	case NUMBER_F32:
		((float *)array)[i] = x;
		break;
	case NUMBER_F16:
		memcpy((char *)array + 2 * i, &half, sizeof half);
		break;
	case NUMBER_BF16:
		memcpy(&bits, &x, sizeof bits);
		((uint16_t *)array)[i] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
		break;
	case NUMBER_S32:
		((int32_t *)array)[i] = (int32_t)fmin(fmax(nearbyint(value), INT32_MIN), INT32_MAX);
		break;
	case NUMBER_S8:
		((int8_t *)array)[i] = (int8_t)fmin(fmax(nearbyint(value), INT8_MIN), INT8_MAX);
		break;
	case NUMBER_U8:
		((uint8_t *)array)[i] = (uint8_t)fmin(fmax(nearbyint(value), 0), UINT8_MAX);
		break;
	}
}

#endif
