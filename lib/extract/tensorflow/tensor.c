#include "lib/extract/tensorflow/tensor.h"

#include <string.h>

enum {
	MOST_BYTES = KEEP_INTS * 8,
	LONGEST_WORD = 4096,  /* of a tensor of texts */
	MOST_WORDS = 1 << 18, /* of all tensors */
};

int tensor_element(int64_t type)
{
	static const unsigned char elem[] = {
		VALUE_UNKNOWN, VALUE_F32,    VALUE_F64,	    VALUE_I32,	   VALUE_U8,   VALUE_I16,
		VALUE_I8,      VALUE_STRING, VALUE_C64,	    VALUE_I64,	   VALUE_BOOL, VALUE_I8,
		VALUE_U8,      VALUE_I32,    VALUE_BF16,    VALUE_I16,	   VALUE_U16,  VALUE_U16,
		VALUE_C128,    VALUE_F16,    VALUE_UNKNOWN, VALUE_UNKNOWN, VALUE_U32,  VALUE_U64,
	};

	return type >= 0 && type < (int64_t)sizeof elem ? elem[type] : VALUE_UNKNOWN;
}

static int read_dim(struct reader *r, const struct wire_field *field, int64_t *size, struct err *e)
{
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	*size = 0;
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0)
		if (f.number == 1 ? wire_int(&r->wire, &f, size, e) : wire_skip(&r->wire, &f, e))
			return -1;
	if (*size < -1 || *size > MAX_ELEMENTS)
		return err_set(e, "it has an absurd dimension, %lld", (long long)*size);
	return rc;
}

int tensor_shape(struct reader *r, const struct wire_field *field, struct shape *s, struct err *e)
{
	struct wire_field f;
	int64_t size, is_unknown = 0;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1, rank = 0;

	*s = (struct shape){0};
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0) {
		if (f.number == 2) {
			rc = read_dim(r, &f, &size, e);
			if (rank < GRAPH_MAX_RANK)
				s->dim[rank] = size < 0 ? 0 : size ? size : DIM_UNKNOWN;
			rank++;
		} else if (f.number == 3) {
			rc = wire_int(&r->wire, &f, &is_unknown, e);
		} else {
			rc = wire_skip(&r->wire, &f, e);
		}
		rc = rc ? -1 : 1;
	}
	s->rank = is_unknown || rank > GRAPH_MAX_RANK ? RANK_UNKNOWN : rank;
	return rc;
}

/* The elements at hand: bytes as the memory has them, or a list of numbers. */
struct elements {
	struct buf bytes, ints, floats; /* ints: int64_t; floats: double */
	int is_dropped;
};

static int add_varints(struct reader *r, const struct wire_field *f, struct elements *l,
		       struct err *e)
{
	int64_t one;
	uint64_t v;

	if (f->type != WIRE_BYTES) {
		if (wire_int(&r->wire, f, &one, e))
			return -1;
		if (l->ints.n < MOST_BYTES)
			buf_add(&l->ints, &one, sizeof one);
		return 0;
	}
	while (pull_offset(r->wire.in) < f->end) {
		if (wire_varint(&r->wire, f->end, &v, e))
			return -1;
		one = (int64_t)v;
		if (l->ints.n < MOST_BYTES)
			buf_add(&l->ints, &one, sizeof one);
		else
			l->is_dropped = 1;
	}
	return 0;
}

static int add_floats(struct reader *r, const struct wire_field *f, struct elements *l,
		      struct err *e)
{
	struct buf raw = BUF_INIT;
	float one;
	int rc;

	if (f->type == WIRE_32) {
		if (wire_float(&r->wire, f, &one, e))
			return -1;
		if (l->floats.n < MOST_BYTES)
			buf_add(&l->floats, &(double){one}, sizeof(double));
		return 0;
	}
	if (f->type != WIRE_BYTES || f->end - pull_offset(r->wire.in) > KEEP_REALS * 4) {
		l->is_dropped = 1;
		return wire_drop(&r->wire, f, e);
	}
	rc = wire_bytes(&r->wire, f, &raw, e);
	for (size_t i = 0; !rc && i + 4 <= raw.n; i += 4) {
		memcpy(&one, raw.s + i, 4);
		buf_add(&l->floats, &(double){one}, sizeof(double));
	}
	buf_free(&raw);
	return rc;
}

static int read_field(struct reader *r, const struct wire_field *f, struct value *v,
		      struct elements *l, struct err *e)
{
	int64_t type;

	switch (f->number) {
	case 1:
		if (wire_int(&r->wire, f, &type, e))
			return -1;
		v->elem = tensor_element(type);
		return 0;
	case 2:
		return tensor_shape(r, f, &v->shape, e);
	case 4:
		if (f->type == WIRE_BYTES && f->end - pull_offset(r->wire.in) <= MOST_BYTES)
			return wire_bytes(&r->wire, f, &l->bytes, e);
		l->is_dropped = 1;
		return wire_drop(&r->wire, f, e);
	case 5:
		return add_floats(r, f, l, e);
	case 7:
	case 10:
	case 11:
	case 16:
	case 17:
		return add_varints(r, f, l, e);
	default:
		l->is_dropped |= f->number > 4 && f->number < 18;
		return wire_drop(&r->wire, f, e);
	}
}

/* Element i of what came as bytes. */
static union scalar from_bytes(const struct value *v, const char *s, size_t size)
{
	union scalar out = {0};
	uint64_t bits = 0;
	float f;

	memcpy(&bits, s, size);
	if (elem_is_real(v->elem)) {
		memcpy(&f, s, sizeof f);
		out.f = f;
		return out;
	}
	out.i = (int64_t)bits;
	if (v->elem == VALUE_I32)
		out.i = (int32_t)bits;
	else if (v->elem == VALUE_I16)
		out.i = (int16_t)bits;
	else if (v->elem == VALUE_I8)
		out.i = (int8_t)bits;
	return out;
}

/* Keeps the elements of a small tensor. A list that is too short repeats its last. */
static void keep(struct reader *r, struct value *v, const struct elements *l)
{
	const int is_real = elem_is_real(v->elem);
	const size_t size = value_elem_size(v->elem);
	const struct buf *list = is_real ? &l->floats : &l->ints;
	const size_t have = list->n / 8;
	int64_t n = 1;

	/* No dimension of a constant is open. */
	for (int i = 0; i < v->shape.rank; i++) {
		if (v->shape.dim[i] < 0)
			v->shape.dim[i] = 0;
		n = n > KEEP_INTS ? n : n * v->shape.dim[i];
	}
	if (v->shape.rank < 0 || l->is_dropped || n > (is_real ? KEEP_REALS : KEEP_INTS) ||
	    r->kept + n > KEEP_CONSTANTS || !size || size > 8 ||
	    (is_real ? v->elem != VALUE_F32 : !elem_is_int(v->elem)))
		return;
	if (l->bytes.n ? l->bytes.n != (size_t)n * size : have > (size_t)n)
		return;
	v->kept = arena_array(r->a, union scalar, n);
	r->kept += n;
	for (int64_t i = 0; i < n; i++) {
		const size_t at = (size_t)i < have ? (size_t)i : have - 1;

		if (l->bytes.n)
			v->kept[i] = from_bytes(v, l->bytes.s + (size_t)i * size, size);
		else if (have && is_real)
			memcpy(&v->kept[i].f, list->s + at * 8, 8);
		else if (have)
			memcpy(&v->kept[i].i, list->s + at * 8, 8);
	}
}

/* A long one is "" here: it keeps its place. */
static int add_word(struct reader *r, const struct wire_field *f, const char ***words, int *nwords,
		    struct err *e)
{
	const char **to;

	if (*nwords == LIST_MAX || r->words == MOST_WORDS)
		return wire_drop(&r->wire, f, e);
	r->words++;
	to = arena_add(r->a, words, nwords, sizeof **words);
	*to = "";
	if (f->type == WIRE_BYTES && f->end - pull_offset(r->wire.in) > LONGEST_WORD)
		return wire_drop(&r->wire, f, e);
	return wire_string(&r->wire, f, LONGEST_WORD, r->a, to, e);
}

int tensor_read(struct reader *r, const struct wire_field *field, struct value *v,
		const char ***words, int *nwords, struct err *e)
{
	struct elements l = {BUF_INIT, BUF_INIT, BUF_INIT, 0};
	struct wire_field f;
	int rc = wire_message(&r->wire, field, e) ? -1 : 1;

	v->shape.rank = 0;
	while (rc > 0 && (rc = wire_field(&r->wire, field->end, &f, e)) > 0)
		rc = (f.number == 8 ? add_word(r, &f, words, nwords, e)
				    : read_field(r, &f, v, &l, e))
			     ? -1
			     : 1;
	if (!rc)
		keep(r, v, &l);
	buf_free(&l.bytes);
	buf_free(&l.ints);
	buf_free(&l.floats);
	return rc;
}
