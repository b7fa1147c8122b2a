/* TensorProto: what is small and may decide shapes is kept, the rest is passed over. */
#include "lib/extract/onnx/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/onnx/external.h"

/* How the elements at hand in parse.raw are written. */
enum coding { NONE, LITTLE_ENDIAN_RAW, LIST_OF_INT64, LIST_OF_FLOAT, LIST_OF_DOUBLE };

int parse_name(struct parse *p, const struct wire_field *f, const char **out, struct err *e)
{
	return wire_string(&p->wire, f, NAME_MAX_BYTES, p->a, out, e);
}

/* The least integer, which exporters write for "from the beginning", means "unknown" here. */
static int64_t told(int64_t v)
{
	return v == INT_UNKNOWN ? -INT64_MAX : v;
}

int parse_ints(struct parse *p, const struct wire_field *f, int max, struct buf *b, struct err *e)
{
	int64_t v;

	if (f->type != WIRE_BYTES) {
		if (wire_int(&p->wire, f, &v, e))
			return -1;
		if (b->n / sizeof v >= (size_t)max)
			return err_set(e, "it holds a list of more than %d integers", max);
		v = told(v);
		buf_add(b, &v, sizeof v);
		return 0;
	}
	while (pull_offset(p->wire.in) < f->end) {
		uint64_t u;

		if (wire_varint(&p->wire, f->end, &u, e))
			return -1;
		if (b->n / sizeof v >= (size_t)max)
			return err_set(e, "it holds a list of more than %d integers", max);
		v = told((int64_t)u);
		buf_add(b, &v, sizeof v);
	}
	return 0;
}

/* Lists of varints: kept while they are few, otherwise weights. */
static int int_list(struct parse *p, const struct wire_field *f, enum coding *coding, struct err *e)
{
	uint64_t n = f->type == WIRE_BYTES ? f->end - pull_offset(p->wire.in) : 1;

	if (n > KEEP_INTS * 10 || p->raw.n >= KEEP_INTS * sizeof(int64_t)) {
		*coding = NONE;
		return wire_drop(&p->wire, f, e);
	}
	*coding = LIST_OF_INT64;
	return parse_ints(p, f, KEEP_INTS * 10 + KEEP_INTS, &p->raw, e);
}

/* Packed floats and doubles have the form of raw_data; single ones (not packed) are rare and small.
 */
static int fixed_list(struct parse *p, const struct wire_field *f, enum coding is,
		      enum coding *coding, struct err *e)
{
	uint64_t n = f->end - pull_offset(p->wire.in);

	if (f->type == WIRE_VARINT || n > KEEP_REALS * sizeof(double) ||
	    p->raw.n > KEEP_REALS * sizeof(double)) {
		*coding = NONE;
		return wire_drop(&p->wire, f, e);
	}
	*coding = is;
	if (f->type == WIRE_BYTES)
		return wire_bytes(&p->wire, f, &p->raw, e);
	buf_reserve(&p->raw, 8);
	if (f->type == WIRE_32) {
		float v;

		if (wire_float(&p->wire, f, &v, e))
			return -1;
		buf_add(&p->raw, &v, sizeof v);
		return 0;
	}
	*coding = NONE;
	return wire_drop(&p->wire, f, e);
}

/* All elements, where they are wanted: read into the value itself. */
static int weights(struct parse *p, const struct wire_field *f, struct value *v, struct err *e)
{
	uint64_t n = f->end - pull_offset(p->wire.in);
	void *to = n > (uint64_t)MAX_ELEMENTS * 4 ? NULL : value_room(v, (size_t)n);

	if (!to)
		return err_sys(e, "there is no memory for a tensor of %llu bytes",
			       (unsigned long long)n);
	return wire_copy(&p->wire, f, to, e);
}

static int is_large(const struct parse *p, const struct wire_field *f)
{
	return p->weights && f->type == WIRE_BYTES &&
	       f->end - pull_offset(p->wire.in) > KEEP_REALS * sizeof(float);
}

static int raw_data(struct parse *p, const struct wire_field *f, enum coding *coding, struct err *e)
{
	if (f->type != WIRE_BYTES || f->end - pull_offset(p->wire.in) > KEEP_INTS * sizeof(int64_t))
		return wire_drop(&p->wire, f, e);
	*coding = LITTLE_ENDIAN_RAW;
	return wire_bytes(&p->wire, f, &p->raw, e);
}

static int64_t raw_int(const unsigned char *s, int size, int is_signed)
{
	uint64_t v = 0;

	for (int i = size; i-- > 0;)
		v = v << 8 | s[i];
	if (is_signed && size < 8 && v >> (8 * size - 1))
		v -= (uint64_t)1 << (8 * size);
	return (int64_t)v;
}

static int is_signed(int elem)
{
	return elem == VALUE_I8 || elem == VALUE_I16 || elem == VALUE_I32 || elem == VALUE_I64;
}

static int keep_ints(struct value *v, const struct buf *raw, enum coding coding, int64_t n)
{
	int size = coding == LIST_OF_INT64 ? 8 : (int)value_elem_size(v->elem);

	if (coding != LIST_OF_INT64 && coding != LITTLE_ENDIAN_RAW)
		return -1;
	if (n > KEEP_INTS || raw->n != (size_t)n * (size_t)size)
		return -1;
	for (int64_t i = 0; i < n; i++)
		v->kept[i].i = told(raw_int((const unsigned char *)raw->s + i * size, size,
					    is_signed(v->elem)));
	return 0;
}

/* A number in half precision, or in bfloat16, which is the upper half of a float. */
static double half(uint16_t h, int is_bf16)
{
	uint32_t wide = (uint32_t)h << 16;
	int exponent = h >> 10 & 31, fraction = h & 1023;
	float f;
	double v;

	if (is_bf16) {
		memcpy(&f, &wide, sizeof f);
		return (double)f;
	}
	if (exponent == 31)
		v = fraction ? (double)NAN : (double)INFINITY;
	else
		v = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
	return h >> 15 ? -v : v;
}

/* Elements of two bytes each, or as a list of integers. */
static int keep_halves(struct value *v, const struct buf *raw, enum coding coding, int64_t n)
{
	size_t size = coding == LIST_OF_INT64 ? 8 : 2;

	if ((coding != LIST_OF_INT64 && coding != LITTLE_ENDIAN_RAW) || n > KEEP_REALS ||
	    raw->n != (size_t)n * size)
		return -1;
	for (int64_t i = 0; i < n; i++) {
		uint16_t h;

		memcpy(&h, raw->s + (size_t)i * size, sizeof h);
		v->kept[i].f = half(h, v->elem == VALUE_BF16);
	}
	return 0;
}

static int keep_reals(struct value *v, const struct buf *raw, enum coding coding, int64_t n)
{
	int is_double = v->elem == VALUE_F64;

	if (v->elem == VALUE_F16 || v->elem == VALUE_BF16)
		return keep_halves(v, raw, coding, n);
	if (v->elem != VALUE_F32 && !is_double)
		return -1;
	if (coding != LITTLE_ENDIAN_RAW && coding != (is_double ? LIST_OF_DOUBLE : LIST_OF_FLOAT))
		return -1;
	if (n > KEEP_REALS || raw->n != (size_t)n * (is_double ? 8 : 4))
		return -1;
	for (int64_t i = 0; i < n; i++) {
		float single;

		if (is_double) {
			memcpy(&v->kept[i].f, raw->s + i * 8, 8);
			continue;
		}
		memcpy(&single, raw->s + i * 4, 4);
		v->kept[i].f = single;
	}
	return 0;
}

static void keep(struct parse *p, struct value *v, enum coding coding)
{
	int64_t n = shape_count(&v->shape);

	if (n > KEEP_INTS || (coding == NONE && n) || (elem_is_real(v->elem) && n > KEEP_REALS))
		return;
	if (p->raw.n < (size_t)n) /* an element has a byte at least; those of less are not kept */
		return;
	buf_reserve(&p->raw, 0);
	v->kept = arena_array(p->a, union scalar, n);
	if (!n)
		return;
	if (elem_is_int(v->elem) ? keep_ints(v, &p->raw, coding, n)
				 : keep_reals(v, &p->raw, coding, n))
		v->kept = NULL;
}

/* What was read into the value: single-precision elements stay, integers that may decide shapes
 * become what they would be without weights, and the rest goes. */
static int take_weights(struct parse *p, struct value *v, enum coding *coding, struct err *e)
{
	int64_t n = shape_count(&v->shape);

	if (v->elem == VALUE_F32 && v->data_bytes != (size_t)n * sizeof(float))
		return err_set(e, "the tensor '%s' has %zu bytes, which is not what its shape says",
			       v->name, v->data_bytes);
	if (v->elem == VALUE_F32)
		return 0;
	if (v->data_bytes <= KEEP_INTS * sizeof(int64_t)) {
		buf_add(&p->raw, v->data, v->data_bytes);
		*coding = LITTLE_ENDIAN_RAW;
	}
	value_drop(v);
	return 0;
}

static int set_dims(struct value *v, const struct buf *dims, struct err *e)
{
	int64_t count = 1;

	v->shape.rank = (int)(dims->n / sizeof(int64_t));
	if (v->shape.rank)
		memcpy(v->shape.dim, dims->s, dims->n);
	for (int i = 0; i < v->shape.rank; i++) {
		int64_t d = v->shape.dim[i];

		if (d < 0 || (d && count > MAX_ELEMENTS / d))
			return err_set(e, "the tensor '%s' has an absurd dimension, %lld",
				       v->name ? v->name : "", (long long)d);
		count *= d;
	}
	return 0;
}

int parse_tensor(struct parse *p, uint64_t end, struct value *v, struct err *e)
{
	enum coding coding = NONE;
	struct external file = {.length = -1};
	struct buf dims = BUF_INIT;
	struct wire_field f;
	int64_t elem = 0, external = 0;
	int r;

	buf_clear(&p->raw);
	if (!v->name)
		v->name = "";
	while ((r = wire_field(&p->wire, end, &f, e)) > 0) {
		switch (f.number) {
		case 1:
			r = parse_ints(p, &f, GRAPH_MAX_RANK, &dims, e);
			break;
		case 2:
			r = wire_int(&p->wire, &f, &elem, e);
			break;
		case 4:
			r = is_large(p, &f) ? weights(p, &f, v, e)
					    : fixed_list(p, &f, LIST_OF_FLOAT, &coding, e);
			break;
		case 5:
		case 7:
		case 11:
			r = int_list(p, &f, &coding, e);
			break;
		case 8:
			r = parse_name(p, &f, &v->name, e);
			break;
		case 9:
			r = is_large(p, &f) ? weights(p, &f, v, e) : raw_data(p, &f, &coding, e);
			break;
		case 10:
			r = fixed_list(p, &f, LIST_OF_DOUBLE, &coding, e);
			break;
		case 13:
			r = wire_message(&p->wire, &f, e);
			if (!r)
				r = external_parse(p, f.end, &file, e);
			break;
		case 14: /* where the elements are: 1 is another file */
			r = wire_int(&p->wire, &f, &external, e);
			break;
		case 6: /* strings are never shapes */
			r = wire_drop(&p->wire, &f, e);
			break;
		default:
			r = wire_skip(&p->wire, &f, e);
		}
		if (r < 0)
			break;
	}
	v->elem = elem >= 0 && elem < 64 ? (int)elem : VALUE_UNKNOWN;
	if (!r)
		r = set_dims(v, &dims, e);
	if (!r && p->weights && external == 1)
		r = external_read(&file, p->folder, v, e);
	if (!r && v->data)
		r = take_weights(p, v, &coding, e);
	if (!r)
		keep(p, v, coding);
	buf_free(&dims);
	return r;
}
