/* TensorProto: what is small and may decide shapes is kept. The rest is passed over, or becomes the
 * value's data, if it is wanted. */
#include "lib/extract/onnx/parse.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/extract/graph/element.h"
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

/* Are all elements of the tensor at hand wanted, as far as its type is known by now? */
static int is_wanted(const struct parse *p, const struct value *v)
{
	return p->elements == ONNX_ALL || (p->elements == ONNX_ALL_BUT_WEIGHTS &&
					   !(p->is_initializer && elem_is_real(v->elem)));
}

/* Lists of varints: kept while they are few, otherwise weights. */
static int int_list(struct parse *p, const struct wire_field *f, const struct value *v,
		    enum coding *coding, struct err *e)
{
	uint64_t n = f->type == WIRE_BYTES ? f->end - pull_offset(p->wire.in) : 1;
	const int all = is_wanted(p, v);

	if (!all && (n > KEEP_INTS * 10 || p->raw.n >= KEEP_INTS * sizeof(int64_t))) {
		*coding = NONE;
		return wire_drop(&p->wire, f, e);
	}
	*coding = LIST_OF_INT64;
	return parse_ints(p, f, all ? INT_MAX : KEEP_INTS * 10 + KEEP_INTS, &p->raw, e);
}

/* Packed floats and doubles have the form of raw_data; single ones (not packed) are rare. */
static int fixed_list(struct parse *p, const struct wire_field *f, const struct value *v,
		      enum coding is, enum coding *coding, struct err *e)
{
	const uint64_t n = f->type == WIRE_BYTES ? f->end - pull_offset(p->wire.in) : 1;
	const uint64_t most = KEEP_REALS * sizeof(double);

	if (f->type == WIRE_VARINT || (!is_wanted(p, v) && (n > most || p->raw.n > most))) {
		*coding = NONE;
		return wire_drop(&p->wire, f, e);
	}
	*coding = is;
	if (f->type == WIRE_BYTES)
		return wire_bytes(&p->wire, f, &p->raw, e);
	if (f->type == WIRE_32) {
		float x;

		if (wire_float(&p->wire, f, &x, e))
			return -1;
		buf_add(&p->raw, &x, sizeof x);
		return 0;
	}
	*coding = NONE;
	return wire_drop(&p->wire, f, e);
}

/* All elements, where they are wanted: read into the value itself. */
static int weights(struct parse *p, const struct wire_field *f, struct value *v, struct err *e)
{
	uint64_t n = f->end - pull_offset(p->wire.in);
	void *to = n > (uint64_t)MAX_ELEMENTS * 8 ? NULL : value_room(v, (size_t)n);

	if (!to)
		return err_sys(e, "there is no memory for a tensor of %llu bytes",
			       (unsigned long long)n);
	return wire_copy(&p->wire, f, to, e);
}

static int is_large(const struct parse *p, const struct wire_field *f, const struct value *v)
{
	return is_wanted(p, v) && f->type == WIRE_BYTES &&
	       f->end - pull_offset(p->wire.in) > KEEP_REALS * sizeof(float);
}

static int raw_data(struct parse *p, const struct wire_field *f, enum coding *coding, struct err *e)
{
	if (f->type != WIRE_BYTES || f->end - pull_offset(p->wire.in) > KEEP_INTS * sizeof(int64_t))
		return wire_drop(&p->wire, f, e);
	*coding = LITTLE_ENDIAN_RAW;
	return wire_bytes(&p->wire, f, &p->raw, e);
}

static int is_list_of_ints(int elem)
{
	return elem_is_int(elem) || elem == VALUE_F16 || elem == VALUE_BF16;
}

/* Do elements of that type stand in a tensor so? */
static int is_coded(int elem, enum coding coding)
{
	switch (coding) {
	case LITTLE_ENDIAN_RAW:
		return elem_is_int(elem) || elem_is_real(elem);
	case LIST_OF_INT64:
		return is_list_of_ints(elem);
	case LIST_OF_FLOAT:
		return elem == VALUE_F32;
	case LIST_OF_DOUBLE:
		return elem == VALUE_F64;
	default:
		return 0;
	}
}

/* Makes what stands in p->raw n elements as raw_data has them. 0: it is something else. */
static int make_raw(struct parse *p, int elem, enum coding coding, size_t n)
{
	const size_t size = value_elem_size(elem), wide = sizeof(int64_t);

	if (!size || !is_coded(elem, coding) ||
	    p->raw.n != n * (coding == LIST_OF_INT64 ? wide : size))
		return 0;
	for (size_t i = 0; coding == LIST_OF_INT64 && i < n; i++)
		memmove(p->raw.s + i * size, p->raw.s + i * wide, size);
	p->raw.n = n * size;
	return 1;
}

/* Keeps elements that may decide shapes. 0: they are too many. */
static int keep(struct parse *p, struct value *v)
{
	int64_t n = shape_count(&v->shape);

	if (n > (elem_is_real(v->elem) ? KEEP_REALS : KEEP_INTS))
		return 0;
	buf_reserve(&p->raw, 0);
	v->kept = arena_array(p->a, union scalar, n);
	for (int64_t i = 0; i < n; i++) {
		v->kept[i] = element_at(v->elem, p->raw.s, i);
		if (elem_is_int(v->elem))
			v->kept[i].i = told(v->kept[i].i);
	}
	return 1;
}

/* What was read into the value stays there, unless it is little enough to be kept. */
static int take_data(struct parse *p, struct value *v, enum coding *coding, struct err *e)
{
	const size_t n = (size_t)shape_count(&v->shape), size = value_elem_size(v->elem);

	if (!is_wanted(p, v) || !is_coded(v->elem, *coding) || !size) {
		value_drop(v);
		*coding = NONE;
		return 0;
	}
	if (v->data_bytes != n * size)
		return err_set(e, "the tensor '%s' has %zu bytes, which is not what its shape says",
			       v->name, v->data_bytes);
	if (n > (elem_is_real(v->elem) ? KEEP_REALS : KEEP_INTS))
		return 0;
	buf_clear(&p->raw);
	buf_add(&p->raw, v->data, v->data_bytes);
	*coding = LITTLE_ENDIAN_RAW;
	value_drop(v);
	return 0;
}

/* The elements, wherever they were put: in v->kept, or in v->data, or nowhere. */
static int take_elements(struct parse *p, struct value *v, enum coding coding, struct err *e)
{
	const size_t n = (size_t)shape_count(&v->shape);
	void *to;

	if (v->data && take_data(p, v, &coding, e))
		return -1;
	if (!n)
		v->kept = arena_array(p->a, union scalar, 1);
	if (v->data || !n || !make_raw(p, v->elem, coding, n) || keep(p, v) || !is_wanted(p, v))
		return 0;
	to = value_room(v, p->raw.n);
	if (!to)
		return err_sys(e, "there is no memory for a tensor of %zu bytes", p->raw.n);
	memcpy(to, p->raw.s, p->raw.n);
	buf_free(&p->raw); /* it may be long, and no later tensor needs as much */
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

/* A field of elements. */
static int element_field(struct parse *p, const struct wire_field *f, struct value *v,
			 enum coding *coding, struct err *e)
{
	const enum coding is = f->number == 4	 ? LIST_OF_FLOAT
			       : f->number == 10 ? LIST_OF_DOUBLE
			       : f->number == 9	 ? LITTLE_ENDIAN_RAW
						 : LIST_OF_INT64;

	if (is == LIST_OF_INT64)
		return int_list(p, f, v, coding, e);
	if (is_large(p, f, v)) {
		*coding = is;
		return weights(p, f, v, e);
	}
	return is == LITTLE_ENDIAN_RAW ? raw_data(p, f, coding, e)
				       : fixed_list(p, f, v, is, coding, e);
}

/* Elements in another file, if they are wanted. */
static int elsewhere(struct parse *p, const struct external *file, struct value *v,
		     enum coding *coding, struct err *e)
{
	if (!is_wanted(p, v))
		return 0;
	*coding = LITTLE_ENDIAN_RAW;
	return external_read(file, p->folder, p->elements == ONNX_ALL, v, e);
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
			v->elem = elem >= 0 && elem < 64 ? (int)elem : VALUE_UNKNOWN;
			break;
		case 4:
		case 5:
		case 7:
		case 9:
		case 10:
		case 11:
			r = element_field(p, &f, v, &coding, e);
			break;
		case 8:
			r = parse_name(p, &f, &v->name, e);
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
	if (!r)
		r = set_dims(v, &dims, e);
	if (!r && external == 1)
		r = elsewhere(p, &file, v, &coding, e);
	if (!r)
		r = take_elements(p, v, coding, e);
	buf_free(&dims);
	return r;
}
