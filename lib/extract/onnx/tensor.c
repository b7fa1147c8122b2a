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

/* The tensor at hand. */
struct reading_tensor {
	struct value *v;
	enum coding coding;
	struct external file;
	int64_t elsewhere; /* 1: its elements are in another file */
	struct buf dims;
};

/* The least integer, which exporters write for "from the beginning", means "unknown" here. */
static int64_t told(int64_t v)
{
	return v == INT_UNKNOWN ? -INT64_MAX : v;
}

/* The same of an element, where the next integer must not be taken for the least one: it moves,
 * too, and no float holds either. */
static int64_t told_apart(int64_t v)
{
	return v == -INT64_MAX ? v + 1 : told(v);
}

struct ints {
	struct buf *b;
	int most;
	int is_told; /* the least one is made another */
};

static int add_int(struct wire *w, int64_t v, void *to, struct err *e)
{
	const struct ints *list = to;

	(void)w;
	if (list->b->n / sizeof v >= (size_t)list->most)
		return err_set(e, "it holds a list of more than %d integers", list->most);
	v = list->is_told ? told(v) : v;
	buf_add(list->b, &v, sizeof v);
	return 0;
}

int parse_ints(struct wire *w, const struct wire_field *f, int max, struct buf *b, struct err *e)
{
	struct ints list = {b, max, 1};

	return wire_ints(w, f, add_int, &list, e);
}

/* Are all elements of the tensor at hand wanted, as far as its type is known by now? */
static int is_wanted(const struct parse *p, const struct value *v)
{
	return p->elements == ONNX_ALL || (p->elements == ONNX_ALL_BUT_WEIGHTS &&
					   !(p->is_initializer && elem_is_real(v->elem)));
}

/* Lists of varints: kept while they are few, otherwise weights. */
static int read_ints(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct parse *p = w->reader;
	struct reading_tensor *t = to;
	const int packed = wire_packed(w, f, WIRE_VARINT, e), all = is_wanted(p, t->v);
	const uint64_t n = packed ? f->end - pull_offset(w->in) : 1;
	struct ints list = {&p->raw, all ? INT_MAX : KEEP_INTS * 10 + KEEP_INTS, 0};

	if (packed < 0)
		return -1;
	if (!all && (n > KEEP_INTS * 10 || p->raw.n >= KEEP_INTS * sizeof(int64_t))) {
		t->coding = NONE;
		return wire_drop(w, f, e);
	}
	t->coding = LIST_OF_INT64;
	return wire_ints(w, f, add_int, &list, e);
}

/* All elements, where they are wanted: read into the value itself. A model has the same hash where
 * none are, and only up to `most` bytes are kept. */
static int weights(struct wire *w, const struct wire_field *f, struct value *v, size_t most,
		   struct err *e)
{
	uint64_t n = f->end - pull_offset(w->in);
	void *to = n > (uint64_t)MAX_ELEMENTS * 8 ? NULL : value_room(v, (size_t)n);

	if (!to)
		return err_sys(e, "there is no memory for a tensor of %llu bytes",
			       (unsigned long long)n);
	return wire_copy(w, f, to, most, e);
}

static int is_large(const struct parse *p, const struct wire_field *f, const struct value *v)
{
	return is_wanted(p, v) && f->type == WIRE_BYTES &&
	       f->end - pull_offset(p->wire.in) > KEEP_REALS * sizeof(float);
}

/* Packed floats and doubles have the form of raw_data; single ones (not packed) are rare. */
static int read_reals(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct parse *p = w->reader;
	struct reading_tensor *t = to;
	const int packed = wire_packed(w, f, f->number == 4 ? WIRE_32 : WIRE_64, e);
	const uint64_t n = packed ? f->end - pull_offset(w->in) : 1;
	const uint64_t most = KEEP_REALS * sizeof(double);
	float x;

	if (packed < 0)
		return -1;
	t->coding = f->number == 4 ? LIST_OF_FLOAT : LIST_OF_DOUBLE;
	if (is_large(p, f, t->v))
		return weights(w, f, t->v, most, e);
	if (f->type == WIRE_64 || (!is_wanted(p, t->v) && (n > most || p->raw.n > most))) {
		t->coding = NONE;
		return wire_drop(w, f, e);
	}
	if (packed)
		return wire_bytes(w, f, &p->raw, e);
	if (wire_float(w, f, &x, e))
		return -1;
	buf_add(&p->raw, &x, sizeof x);
	return 0;
}

static int read_raw(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct parse *p = w->reader;
	struct reading_tensor *t = to;
	const int is_weights = is_large(p, f, t->v);
	const size_t most = KEEP_INTS * sizeof(int64_t);

	if (wire_message(w, f, e))
		return -1;
	if (!is_weights && f->end - pull_offset(w->in) > most)
		return wire_drop(w, f, e);
	t->coding = LITTLE_ENDIAN_RAW;
	return is_weights ? weights(w, f, t->v, most, e) : wire_bytes(w, f, &p->raw, e);
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
	const size_t bytes = value_elems_size(elem, (int64_t)n), wide = sizeof(int64_t);
	const size_t size = value_elem_size(elem) ? value_elem_size(elem) : 1; /* 4 bits: a pair */

	if (!bytes || !is_coded(elem, coding) ||
	    p->raw.n != (coding == LIST_OF_INT64 ? bytes / size * wide : bytes))
		return 0;
	for (size_t i = 0; coding == LIST_OF_INT64 && i < bytes / size; i++)
		memmove(p->raw.s + i * size, p->raw.s + i * wide, size);
	p->raw.n = bytes;
	return 1;
}

/* Keeps elements that may decide shapes. 0: they are too many. */
static int keep(struct parse *p, struct value *v)
{
	int64_t n = shape_count(&v->shape);

	if (n > (elem_is_real(v->elem) ? KEEP_REALS : KEEP_INTS))
		return 0;
	buf_reserve(&p->raw, 0);
	v->kept = arena_array(p->wire.a, union scalar, n);
	for (int64_t i = 0; i < n; i++) {
		v->kept[i] = element_at(v->elem, p->raw.s, i);
		if (elem_is_int(v->elem))
			v->kept[i].i = told_apart(v->kept[i].i);
	}
	return 1;
}

/* What was read into the value stays there, unless it is little enough to be kept. */
static int take_data(struct parse *p, struct value *v, enum coding *coding, struct err *e)
{
	const size_t n = (size_t)shape_count(&v->shape);
	const size_t bytes = value_elems_size(v->elem, (int64_t)n);

	if (!is_wanted(p, v) || !is_coded(v->elem, *coding) || !bytes) {
		value_drop(v);
		*coding = NONE;
		return 0;
	}
	if (v->data_bytes != bytes)
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
		v->kept = arena_array(p->wire.a, union scalar, 1);
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

/* Elements in another file, if they are wanted. */
static int elsewhere(struct parse *p, struct reading_tensor *t, struct err *e)
{
	if (!is_wanted(p, t->v))
		return 0;
	t->coding = LITTLE_ENDIAN_RAW;
	return external_read(&t->file, p->folder, p->elements == ONNX_ALL, t->v, e);
}

static int read_dims(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	return parse_ints(w, f, GRAPH_MAX_RANK, to, e);
}

static int read_elem(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct reading_tensor *t = to;
	int64_t elem;

	if (wire_int(w, f, &elem, e))
		return -1;
	t->v->elem = elem >= 0 && elem < 64 ? (int)elem : VALUE_UNKNOWN;
	return 0;
}

static int read_name(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct reading_tensor *t = to;

	return wire_text(w, f, &t->v->name, e);
}

/* Strings, in field 6, are never shapes. */
PROTO_TABLE(tensor, NULL, {1, PROTO_BY, PROTO_AT(reading_tensor, dims), .fn = read_dims},
	    {2, PROTO_BY, .fn = read_elem}, {4, PROTO_BY, .fn = read_reals},
	    {5, PROTO_BY, .fn = read_ints}, {6, PROTO_DROP}, {7, PROTO_BY, .fn = read_ints},
	    {8, PROTO_BY, .fn = read_name}, {9, PROTO_BY, .fn = read_raw},
	    {10, PROTO_BY, .fn = read_reals}, {11, PROTO_BY, .fn = read_ints},
	    {13, PROTO_BY, PROTO_AT(reading_tensor, file), .fn = external_parse},
	    {14, PROTO_INT, PROTO_AT(reading_tensor, elsewhere)});

int parse_tensor(struct wire *w, const struct wire_field *f, struct value *v, struct err *e)
{
	struct reading_tensor t = {.v = v, .file = {.length = -1}};
	struct parse *p = w->reader;
	int r;

	buf_clear(&p->raw);
	if (!v->name)
		v->name = "";
	r = proto_inside(w, f, &tensor, &t, e);
	if (!r)
		r = set_dims(v, &t.dims, e);
	if (!r && t.elsewhere == 1)
		r = elsewhere(p, &t, e);
	if (!r)
		r = take_elements(p, v, t.coding, e);
	buf_free(&t.dims);
	return r;
}
