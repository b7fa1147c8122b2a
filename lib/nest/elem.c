#include "lib/nest/elem.h"

#include <math.h>
#include <string.h>

static const struct {
	int size;		/* bytes */
	int significand, least; /* bits with the leading one; exponent of the least */
	double from, to;	/* of whole numbers */
} types[] = {
	[ELEM_F32] = {4, 24, -149},
	[ELEM_F64] = {8, 53, -1074},
	[ELEM_BF16] = {2, 8, -133},
	[ELEM_F16] = {2, 11, -24},
	[ELEM_S32] = {4, .from = INT32_MIN, .to = INT32_MAX},
	[ELEM_S8] = {1, .from = INT8_MIN, .to = INT8_MAX},
	[ELEM_U8] = {1, .from = 0, .to = UINT8_MAX},
	[ELEM_BF16X2] = {4, .from = 0, .to = UINT32_MAX},
	[ELEM_S8X4] = {4, .from = 0, .to = UINT32_MAX},
	[ELEM_U8X4] = {4, .from = 0, .to = UINT32_MAX},
	[ELEM_S16X2] = {4, .from = 0, .to = UINT32_MAX},
	[ELEM_S16] = {2, .from = INT16_MIN, .to = INT16_MAX},
};

enum elem elem_of(enum dtype d)
{
	switch (d) {
	case DTYPE_BF16:
		return ELEM_BF16;
	case DTYPE_F16:
		return ELEM_F16;
	case DTYPE_S32:
		return ELEM_S32;
	case DTYPE_S8:
		return ELEM_S8;
	case DTYPE_U8:
		return ELEM_U8;
	default:
		return ELEM_F32;
	}
}

int elem_size(enum elem e)
{
	return types[e].size;
}

int elem_is_float(enum elem e)
{
	return e == ELEM_F32 || e == ELEM_F64;
}

int elem_is_whole(enum elem e)
{
	return e == ELEM_S32 || e == ELEM_S16 || e == ELEM_S8 || e == ELEM_U8;
}

void elem_range(enum elem e, double *from, double *to)
{
	*from = types[e].from;
	*to = types[e].to;
}

int elem_group(enum elem e)
{
	switch (e) {
	case ELEM_BF16X2:
	case ELEM_S16X2:
		return 2;
	case ELEM_S8X4:
	case ELEM_U8X4:
		return 4;
	default:
		return 1;
	}
}

int elem_makes_group(enum elem e, enum elem member)
{
	switch (e) {
	case ELEM_BF16X2:
		return member == ELEM_BF16;
	case ELEM_S8X4:
		return member == ELEM_S8;
	case ELEM_U8X4:
		return member == ELEM_U8;
	case ELEM_S16X2:
		return member == ELEM_S16 || member == ELEM_S8 || member == ELEM_U8;
	default:
		return 0;
	}
}

enum elem elem_sum(enum elem group)
{
	return group == ELEM_BF16X2 ? ELEM_F32 : ELEM_S32;
}

/* bfloat16 is the upper half of a float. */
static float bf16_value(uint16_t bits)
{
	const uint32_t wide = (uint32_t)bits << 16;
	float x;

	memcpy(&x, &wide, sizeof x);
	return x;
}

static uint16_t bf16_bits(float x)
{
	uint32_t wide;

	memcpy(&wide, &x, sizeof wide);
	return (uint16_t)(wide >> 16);
}

static double dot_bf16(uint32_t x, uint32_t y, double c)
{
	for (int shift = 0; shift < 32; shift += 16) {
		const double p = (double)bf16_value((uint16_t)(x >> shift)) *
				 (double)bf16_value((uint16_t)(y >> shift));

		c = (double)(float)(c + p);
	}
	return c;
}

double elem_wrap(double x)
{
	return (int32_t)(uint32_t)(int64_t)x;
}

/* Element i of a group of whole numbers. */
static int64_t member_of(enum elem group, uint32_t bits, int i)
{
	switch (group) {
	case ELEM_S8X4:
		return (int8_t)(bits >> 8 * i);
	case ELEM_U8X4:
		return (uint8_t)(bits >> 8 * i);
	default:
		return (int16_t)(bits >> 16 * i);
	}
}

double elem_dot(const enum elem of[2], double a, double b, double c)
{
	const uint32_t x = (uint32_t)a, y = (uint32_t)b;
	int64_t sum = 0;

	if (of[0] == ELEM_BF16X2)
		return dot_bf16(x, y, c);
	for (int i = 0; i < elem_group(of[0]); i++)
		sum += member_of(of[0], x, i) * member_of(of[1], y, i);
	return elem_wrap(c + (double)sum);
}

double elem_add_pairs(double a, double b, int is_difference)
{
	const uint32_t x = (uint32_t)a, y = (uint32_t)b, low = 0xffff;

	if (is_difference)
		return ((x - y) & low) | ((x & ~low) - (y & ~low));
	return ((x + y) & low) | ((x & ~low) + (y & ~low));
}

double elem_times(enum elem e, double a, double factor)
{
	const uint32_t x = (uint32_t)(int64_t)a, k = (uint32_t)(int64_t)factor, low = 0xffff;

	if (e == ELEM_S16X2)
		return ((x * k) & low) | (((x >> 16) * k) & low) << 16;
	return (int32_t)(x * k);
}

uint32_t elem_read_group(enum elem group, enum elem member, const void *from)
{
	uint32_t bits;

	if (group == ELEM_S16X2)
		return (uint16_t)(int16_t)elem_read(member, from, 0) |
		       (uint32_t)(uint16_t)(int16_t)elem_read(member, from, 1) << 16;
	memcpy(&bits, from, sizeof bits);
	return bits;
}

uint32_t elem_group_of(enum elem group, int m, double value)
{
	const int bits = 32 / elem_group(group);

	if (group == ELEM_BF16X2)
		return (uint32_t)bf16_bits((float)value) << bits * m;
	return ((uint32_t)(int32_t)value & (((uint32_t)1 << bits) - 1)) << bits * m;
}

enum { F16_EXPONENT = 10, F16_BIAS = 15, F16_SPECIAL = 31 };

/* IEEE 754 binary16. */
static double f16_value(uint16_t bits)
{
	const int exponent = bits >> F16_EXPONENT & F16_SPECIAL, rest = bits & 1023;
	double x;

	if (exponent == F16_SPECIAL)
		x = rest ? NAN : INFINITY;
	else if (exponent)
		x = ldexp(1024 + rest, exponent - F16_BIAS - F16_EXPONENT);
	else
		x = ldexp(rest, 1 - F16_BIAS - F16_EXPONENT);
	return bits & 0x8000 ? -x : x;
}

/* Of a value that the type has. */
static uint16_t f16_bits(double x)
{
	const unsigned sign = signbit(x) ? 0x8000 : 0;
	unsigned rest;
	int exponent;

	if (isnan(x))
		return (uint16_t)(sign | F16_SPECIAL << F16_EXPONENT | 512);
	if (isinf(x))
		return (uint16_t)(sign | F16_SPECIAL << F16_EXPONENT);
	frexp(x, &exponent); /* 2^(exponent - 1) <= |x| */
	exponent += F16_BIAS - 1;
	if (x == 0 || exponent < 1)
		return (uint16_t)(sign | (unsigned)ldexp(fabs(x), F16_BIAS - 1 + F16_EXPONENT));
	rest = (unsigned)ldexp(fabs(x), F16_EXPONENT - exponent + F16_BIAS) - 1024;
	return (uint16_t)(sign | (unsigned)exponent << F16_EXPONENT | rest);
}

static double whole(enum elem e, double x)
{
	x = nearbyint(x);
	return x >= types[e].to ? types[e].to : x >= types[e].from ? x : types[e].from;
}

double elem_round(enum elem e, double x)
{
	int exponent, least;

	if (e == ELEM_F32)
		return (double)(float)x;
	if (types[e].to > 0)
		return whole(e, x);
	if (e == ELEM_F64 || !isfinite(x) || x == 0)
		return x;
	frexp(x, &exponent);
	least = exponent - types[e].significand;
	if (least < types[e].least)
		least = types[e].least;
	x = ldexp(nearbyint(ldexp(x, -least)), least);
	if (e == ELEM_F16 && fabs(x) > 65504)
		return copysign(INFINITY, x);
	return e == ELEM_BF16 ? (double)(float)x : x;
}

double elem_read(enum elem e, const void *array, int64_t i)
{
	switch (e) {
	case ELEM_F64:
		return ((const double *)array)[i];
	case ELEM_BF16:
		return (double)bf16_value(((const uint16_t *)array)[i]);
	case ELEM_F16:
		return f16_value(((const uint16_t *)array)[i]);
	case ELEM_S32:
		return ((const int32_t *)array)[i];
	case ELEM_S16:
		return ((const int16_t *)array)[i];
	case ELEM_S8:
		return ((const int8_t *)array)[i];
	case ELEM_U8:
		return ((const uint8_t *)array)[i];
	case ELEM_BF16X2:
	case ELEM_S8X4:
	case ELEM_U8X4:
	case ELEM_S16X2:
		return ((const uint32_t *)array)[i];
	case ELEM_F32:
		break;
	}
	return (double)((const float *)array)[i];
}

void elem_write(enum elem e, void *array, int64_t i, double x)
{
	switch (e) {
	case ELEM_F64:
		((double *)array)[i] = x;
		break;
	case ELEM_BF16:
		((uint16_t *)array)[i] = bf16_bits((float)elem_round(e, x));
		break;
	case ELEM_F16:
		((uint16_t *)array)[i] = f16_bits(elem_round(e, x));
		break;
	case ELEM_S32:
		((int32_t *)array)[i] = (int32_t)elem_round(e, x);
		break;
	case ELEM_S16:
		((int16_t *)array)[i] = (int16_t)elem_round(e, x);
		break;
	case ELEM_S8:
		((int8_t *)array)[i] = (int8_t)elem_round(e, x);
		break;
	case ELEM_U8:
		((uint8_t *)array)[i] = (uint8_t)elem_round(e, x);
		break;
	case ELEM_BF16X2:
	case ELEM_S8X4:
	case ELEM_U8X4:
	case ELEM_S16X2:
		((uint32_t *)array)[i] = (uint32_t)x;
		break;
	case ELEM_F32:
		((float *)array)[i] = (float)x;
		break;
	}
}

/* Rounds as elem_write() does. What is no number stays none. */
static uint16_t bf16_nearest(float x)
{
	uint32_t wide;

	memcpy(&wide, &x, sizeof wide);
	if (isnan(x))
		return (uint16_t)(wide >> 16 | 64);
	return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

/* Gives what f16_value() gives, and calls nothing of the library's. */
static float f16_float(uint16_t bits)
{
	const unsigned exponent = bits >> F16_EXPONENT & F16_SPECIAL, rest = bits & 1023;
	const uint32_t wide = (exponent + 127 - F16_BIAS) << 23 | rest << (23 - F16_EXPONENT);
	float x;

	memcpy(&x, &wide, sizeof x);
	if (exponent == F16_SPECIAL)
		x = rest ? NAN : INFINITY;
	else if (!exponent)
		x = (float)rest * 0x1p-24F;
	return bits & 0x8000 ? -x : x;
}

void elem_from_floats(enum elem e, const float *from, void *to, int64_t n)
{
	if (e == ELEM_F32)
		memcpy(to, from, (size_t)n * sizeof *from);
	else if (e == ELEM_BF16)
		for (int64_t i = 0; i < n; i++)
			((uint16_t *)to)[i] = bf16_nearest(from[i]);
	else
		for (int64_t i = 0; i < n; i++)
			elem_write(e, to, i, (double)from[i]);
}

void elem_to_floats(enum elem e, const void *from, float *to, int64_t n)
{
	if (e == ELEM_F32)
		memcpy(to, from, (size_t)n * sizeof *to);
	else if (e == ELEM_BF16)
		for (int64_t i = 0; i < n; i++)
			to[i] = bf16_value(((const uint16_t *)from)[i]);
	else if (e == ELEM_F16)
		for (int64_t i = 0; i < n; i++)
			to[i] = f16_float(((const uint16_t *)from)[i]);
	else
		for (int64_t i = 0; i < n; i++)
			to[i] = (float)elem_read(e, from, i);
}
