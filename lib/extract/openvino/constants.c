/* Elements of small constants, out of the file of weights. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/openvino/openvino.h"

enum { WIDEST = 8 }; /* bytes of an element */

static int read_at(int fd, unsigned char *to, size_t n, int64_t offset)
{
	while (n) {
		ssize_t got = pread(fd, to, n, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		to += got;
		n -= (size_t)got;
		offset += got;
	}
	return 0;
}

static double half(uint64_t bits)
{
	const int exponent = (int)(bits >> 10 & 31);
	const double fraction = (double)(bits & 1023);
	double v = exponent == 31  ? (fraction ? NAN : INFINITY)
		   : exponent == 0 ? ldexp(fraction, -24)
				   : ldexp(1024 + fraction, exponent - 25);

	return bits >> 15 & 1 ? -v : v;
}

static union scalar decode(int elem, const unsigned char *s, size_t size)
{
	const int shift = (int)(64 - 8 * size);
	union scalar v = {.i = 0};
	uint64_t bits = 0;
	float single;

	for (size_t i = size; i-- > 0;)
		bits = bits << 8 | s[i];
	if (elem == VALUE_F16) {
		v.f = half(bits);
	} else if (elem == VALUE_F32) {
		uint32_t word = (uint32_t)bits;

		memcpy(&single, &word, sizeof single);
		v.f = (double)single;
	} else if (elem == VALUE_F64) {
		memcpy(&v.f, &bits, sizeof v.f);
	} else if (elem == VALUE_I8 || elem == VALUE_I16 || elem == VALUE_I32) {
		v.i = (int64_t)(bits << shift) >> shift;
	} else {
		v.i = (int64_t)bits;
	}
	return v;
}

void openvino_keep(struct arena *a, const struct ir_layer *l, struct value *v, int weights)
{
	const size_t size = value_elem_size(v->elem);
	const int is_real = v->elem == VALUE_F16 || v->elem == VALUE_F32 || v->elem == VALUE_F64;
	unsigned char raw[KEEP_INTS * WIDEST];
	const char *text = ir_attr(l, "offset");
	int64_t n, offset;

	if (weights < 0 || !size || size > WIDEST || !shape_known(&v->shape) ||
	    (!is_real && !elem_is_int(v->elem)))
		return;
	n = shape_count(&v->shape);
	if (n > (is_real ? KEEP_REALS : KEEP_INTS) || !text || ir_number(text, &offset) ||
	    offset < 0 || read_at(weights, raw, (size_t)n * size, offset))
		return;
	v->kept = arena_array(a, union scalar, n);
	for (int64_t i = 0; i < n; i++)
		v->kept[i] = decode(v->elem, raw + (size_t)i * size, size);
}
