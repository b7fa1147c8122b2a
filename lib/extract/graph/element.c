#include "lib/extract/graph/element.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { WIDEST = 8 }; /* bytes of an element */

static double half(uint64_t bits)
{
	const int exponent = (int)(bits >> 10 & 31);
	const double fraction = (double)(bits & 1023);
	double v = exponent == 31  ? (fraction ? NAN : INFINITY)
		   : exponent == 0 ? ldexp(fraction, -24)
				   : ldexp(1024 + fraction, exponent - 25);

	return bits >> 15 & 1 ? -v : v;
}

static double single(uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;
	float f;

	memcpy(&f, &word, sizeof f);
	return (double)f;
}

/* Two share a byte, the first in its low bits. */
static union scalar half_byte(int elem, const unsigned char *from, int64_t i)
{
	const int bits = from[i / 2] >> 4 * (i % 2) & 15;

	return (union scalar){.i = elem == VALUE_I4 && bits > 7 ? bits - 16 : bits};
}

union scalar element_at(int elem, const void *from, int64_t i)
{
	const int64_t size = (int64_t)value_elem_size(elem);
	const unsigned char *s = (const unsigned char *)from + i * size;
	const int shift = (int)(64 - 8 * size);
	union scalar v = {.i = 0};
	uint64_t bits = 0;

	if (elem == VALUE_U4 || elem == VALUE_I4)
		return half_byte(elem, from, i);
	assert(size > 0 && size <= WIDEST);
	for (int64_t k = size; k-- > 0;)
		bits = bits << 8 | s[k];
	if (elem == VALUE_F16)
		v.f = half(bits);
	else if (elem == VALUE_BF16) /* the upper half of a float */
		v.f = single(bits << 16);
	else if (elem == VALUE_F32)
		v.f = single(bits);
	else if (elem == VALUE_F64)
		memcpy(&v.f, &bits, sizeof v.f);
	else if (elem == VALUE_I8 || elem == VALUE_I16 || elem == VALUE_I32)
		v.i = (int64_t)(bits << shift) >> shift;
	else
		v.i = (int64_t)bits;
	return v;
}

static int64_t wrapped(int elem, int64_t v)
{
	const int shift = (int)(64 - 8 * value_elem_size(elem));
	const int is_signed = elem == VALUE_I8 || elem == VALUE_I16 || elem == VALUE_I32;

	if (v == INT_UNKNOWN || shift <= 0 || shift == 64 || elem == VALUE_BOOL)
		return v;
	v = (int64_t)((uint64_t)v << shift);
	return is_signed ? v >> shift : (int64_t)((uint64_t)v >> shift);
}

/* To so many digits, of which the last is worth 2^least at least. */
static double rounded(double v, int digits, int least)
{
	int exponent;

	if (!isfinite(v) || v == 0)
		return v;
	(void)frexp(v, &exponent);
	exponent = exponent - digits > least ? exponent - digits : least;
	return ldexp(nearbyint(ldexp(v, -exponent)), exponent);
}

union scalar element_fit(int elem, union scalar v)
{
	const double most = 65504; /* in half precision */

	if (elem_is_int(elem))
		v.i = wrapped(elem, v.i);
	else if (elem == VALUE_F32)
		v.f = (double)(float)v.f;
	else if (elem == VALUE_BF16)
		v.f = rounded((double)(float)v.f, 8, -133);
	else if (elem == VALUE_F16)
		v.f = rounded(v.f, 11, -24);
	if (elem == VALUE_F16 && fabs(v.f) > most)
		v.f = copysign(INFINITY, v.f);
	return v;
}

double element_number(int elem, union scalar v)
{
	if (elem_is_real(elem))
		return v.f;
	return elem == VALUE_U64 ? (double)(uint64_t)v.i : (double)v.i;
}

int element_is_cut(int elem, union scalar v)
{
	const float f = (float)element_number(elem, v);

	if (elem_is_real(elem))
		return 0;
	if (elem == VALUE_U64)
		return f >= 0x1p64F || (uint64_t)f != (uint64_t)v.i;
	if (v.i == (elem == VALUE_I32 ? INT32_MAX : INT64_MAX))
		return elem != VALUE_I32 && elem != VALUE_I64;
	return f >= 0x1p63F || (int64_t)f != v.i;
}

void element_floats(int elem, const void *from, int64_t n, float *to)
{
	if (elem == VALUE_F32) {
		memcpy(to, from, (size_t)n * sizeof *to);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		to[i] = (float)element_number(elem, element_at(elem, from, i));
}
