/* Elements of small constants, out of the file of weights. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "lib/extract/openvino/openvino.h"

enum { WIDEST = 8 }; /* bytes of an element */

/* 1: the elements are there; 0: the file ends before; -1. */
static int read_at(const struct ov_weights *w, unsigned char *to, size_t n, int64_t offset,
		   struct err *e)
{
	if (offset < 0 || offset > INT64_MAX - (int64_t)n)
		return 0;
	while (n) {
		ssize_t got = pread(w->fd, to, n, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "cannot read %s", w->path);
		if (!got)
			return 0;
		to += got;
		n -= (size_t)got;
		offset += got;
	}
	return 1;
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

int openvino_keep(struct arena *a, const struct ir_layer *l, struct value *v, struct ov_weights *w,
		  struct err *e)
{
	const size_t size = value_elem_size(v->elem);
	const int is_real = v->elem == VALUE_F16 || v->elem == VALUE_F32 || v->elem == VALUE_F64;
	unsigned char raw[KEEP_INTS * WIDEST];
	const char *text = ir_attr(l, "offset");
	int64_t n, offset;
	int r;

	if (w->fd < 0 || !size || size > WIDEST || !shape_known(&v->shape) ||
	    (!is_real && !elem_is_int(v->elem)))
		return 0;
	n = shape_count(&v->shape);
	if (n > (is_real ? KEEP_REALS : KEEP_INTS) || n > KEEP_CONSTANTS - w->kept || !text ||
	    ir_number(text, &offset))
		return 0;
	r = read_at(w, raw, (size_t)n * size, offset, e);
	if (r <= 0)
		return r;
	w->kept += n;
	v->kept = arena_array(a, union scalar, n);
	for (int64_t i = 0; i < n; i++)
		v->kept[i] = decode(v->elem, raw + (size_t)i * size, size);
	return 0;
}
