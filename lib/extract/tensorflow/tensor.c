#include "lib/extract/tensorflow/tensor.h"

#include <string.h>

#include "lib/extract/graph/element.h"
#include "lib/extract/read/proto.h"

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

struct open_shape {
	struct shape shape; /* its rank may be above the most */
	int64_t is_unknown;
};

PROTO_TABLE(dim, NULL, {1, PROTO_INT});

static int read_dim(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct shape *s = to;
	int64_t size = 0;

	if (proto_inside(w, f, &dim, &size, e))
		return -1;
	if (size < -1 || size > MAX_ELEMENTS)
		return err_set(e, "it has an absurd dimension, %lld", (long long)size);
	if (s->rank < GRAPH_MAX_RANK)
		s->dim[s->rank] = size < 0 ? 0 : size ? size : DIM_UNKNOWN;
	s->rank++;
	return 0;
}

PROTO_TABLE(shape, NULL, {2, PROTO_BY, PROTO_AT(open_shape, shape), .fn = read_dim},
	    {3, PROTO_INT, PROTO_AT(open_shape, is_unknown)});

int tensor_shape(struct wire *w, const struct wire_field *field, struct shape *s, struct err *e)
{
	struct open_shape read = {.is_unknown = 0};
	const int rc = proto_inside(w, field, &shape, &read, e);

	*s = read.shape;
	if (read.is_unknown || s->rank > GRAPH_MAX_RANK)
		s->rank = RANK_UNKNOWN;
	return rc;
}

/* The tensor at hand, and its elements: bytes as the memory has them, or a list of numbers. */
struct elements {
	struct value *v;
	const char ***words;
	int *nwords;
	struct buf bytes, ints, floats; /* ints: int64_t; floats: double */
	int is_dropped;
};

static int read_type(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct elements *l = to;
	int64_t type;

	if (wire_int(w, f, &type, e))
		return -1;
	l->v->elem = tensor_element(type);
	return 0;
}

static int read_shape(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct elements *l = to;

	return tensor_shape(w, f, &l->v->shape, e);
}

static int drop(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct elements *l = to;

	l->is_dropped = 1;
	return wire_drop(w, f, e);
}

static int is_longer(const struct wire *w, const struct wire_field *f, size_t most)
{
	return f->end - pull_offset(w->in) > most;
}

static int read_bytes(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	struct elements *l = to;

	if (wire_message(w, f, e))
		return -1;
	return is_longer(w, f, MOST_BYTES) ? drop(w, f, to, e) : wire_bytes(w, f, &l->bytes, e);
}

static int add_int(struct wire *w, int64_t v, void *to, struct err *e)
{
	struct elements *l = to;

	(void)w;
	(void)e;
	if (l->ints.n < MOST_BYTES)
		buf_add(&l->ints, &v, sizeof v);
	else
		l->is_dropped = 1;
	return 0;
}

static int read_ints(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	return wire_ints(w, f, add_int, to, e);
}

static void add_float(struct elements *l, float one)
{
	const double wide = (double)one;

	if (l->floats.n < MOST_BYTES)
		buf_add(&l->floats, &wide, sizeof wide);
}

static int read_floats(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	const int packed = wire_packed(w, f, WIRE_32, e);
	struct buf raw = BUF_INIT;
	float one = 0;
	int rc;

	if (packed < 0)
		return -1;
	if (packed && is_longer(w, f, KEEP_REALS * sizeof one))
		return drop(w, f, to, e);
	if (packed) {
		rc = wire_bytes(w, f, &raw, e);
	} else {
		rc = wire_float(w, f, &one, e);
		buf_add(&raw, &one, sizeof one);
	}
	for (size_t i = 0; !rc && i + sizeof one <= raw.n; i += sizeof one) {
		memcpy(&one, raw.s + i, sizeof one);
		add_float(to, one);
	}
	buf_free(&raw);
	return rc;
}

/* Keeps the elements of a small tensor. A list that is too short repeats its last. */
static void keep(struct wire *w, const struct elements *l)
{
	struct reader *r = w->reader;
	struct value *v = l->v;
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
	v->kept = arena_array(w->a, union scalar, n);
	r->kept += n;
	for (int64_t i = 0; i < n; i++) {
		const size_t at = (size_t)i < have ? (size_t)i : have - 1;

		if (l->bytes.n)
			v->kept[i] = element_at(v->elem, l->bytes.s, i);
		else if (have && is_real)
			memcpy(&v->kept[i].f, list->s + at * 8, 8);
		else if (have)
			memcpy(&v->kept[i].i, list->s + at * 8, 8);
	}
}

/* A long one is "" here: it keeps its place. */
static int add_word(struct wire *w, const struct wire_field *f, void *to, struct err *e)
{
	const struct elements *l = to;
	struct reader *r = w->reader;
	const char **word;

	if (*l->nwords == LIST_MAX || r->words == MOST_WORDS)
		return wire_drop(w, f, e);
	r->words++;
	word = arena_add(w->a, l->words, l->nwords, sizeof *word);
	*word = "";
	if (f->type == WIRE_BYTES && f->end - pull_offset(w->in) > LONGEST_WORD)
		return wire_drop(w, f, e);
	return wire_text(w, f, word, e);
}

/* Doubles, complex numbers and the like are not kept, nor what is in no list of numbers. */
PROTO_TABLE(tensor, NULL, {1, PROTO_BY, .fn = read_type}, {2, PROTO_BY, .fn = read_shape},
	    {4, PROTO_BY, .fn = read_bytes}, {5, PROTO_BY, .fn = read_floats},
	    {6, PROTO_BY, .fn = drop}, {7, PROTO_BY, .fn = read_ints},
	    {8, PROTO_BY, .fn = add_word}, {9, PROTO_BY, .fn = drop},
	    {10, PROTO_BY, .fn = read_ints}, {11, PROTO_BY, .fn = read_ints},
	    {12, PROTO_BY, .fn = drop}, {13, PROTO_BY, .fn = drop}, {14, PROTO_BY, .fn = drop},
	    {15, PROTO_BY, .fn = drop}, {16, PROTO_BY, .fn = read_ints},
	    {17, PROTO_BY, .fn = read_ints});

int tensor_read(struct wire *w, const struct wire_field *field, struct value *v,
		const char ***words, int *nwords, struct err *e)
{
	struct elements l = {.v = v, .words = words, .nwords = nwords};
	int rc;

	v->shape.rank = 0;
	rc = proto_inside(w, field, &tensor, &l, e);
	if (!rc)
		keep(w, &l);
	buf_free(&l.bytes);
	buf_free(&l.ints);
	buf_free(&l.floats);
	return rc;
}
