/* The head of the file: keys and their values, then the list of tensors. */
#include <stdio.h>
#include <string.h>

#include "lib/extract/gguf/gguf.h"

enum {
	MOST = 1 << 17,	     /* keys, and tensors */
	LONGEST_NAME = 4096, /* bytes of a key, or the name of a tensor */
	LONGEST_TEXT = 256,  /* of a value that is kept */
	LONGEST_LIST = 4096,
	DEEPEST = 4, /* lists in lists */
	NEWEST = 3,
};

enum type {
	T_U8,
	T_I8,
	T_U16,
	T_I16,
	T_U32,
	T_I32,
	T_F32,
	T_BOOL,
	T_STRING,
	T_LIST,
	T_U64,
	T_I64,
	T_F64,
};

struct reader {
	struct gguf *f;
	struct pull *in;
	uint32_t version;
	int64_t kept;	 /* numbers of lists so far */
	struct buf seen; /* what the hash is of */
	struct err *e;
};

int gguf_claims(const unsigned char *head, size_t n)
{
	return n >= 8 && !memcmp(head, "GGUF", 4);
}

const char *gguf_type_name(uint32_t type)
{
	static const char *const names[] = {
		"F32",	   "F16",    "Q4_0",	"Q4_1",	 NULL,	   NULL,    "Q5_0",  "Q5_1",
		"Q8_0",	   "Q8_1",   "Q2_K",	"Q3_K",	 "Q4_K",   "Q5_K",  "Q6_K",  "Q8_K",
		"IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS",
		"I8",	   "I16",    "I32",	"I64",	 "F64",	   "IQ1_M", "BF16",  NULL,
		NULL,	   NULL,     "TQ1_0",	"TQ2_0", NULL,	   NULL,    NULL,    "MXFP4",
	};

	return type < sizeof names / sizeof *names ? names[type] : NULL;
}

/* ---- numbers and texts ---- */

static int number(struct reader *r, size_t size, uint64_t *v)
{
	unsigned char s[8];

	*v = 0;
	if (pull_copy(r->in, s, size, r->e))
		return -1;
	for (size_t i = size; i-- > 0;)
		*v = *v << 8 | s[i];
	return 0;
}

/* A count, or a length: of 32 bits in version 1. */
static int count(struct reader *r, uint64_t *v)
{
	return number(r, r->version == 1 ? 4 : 8, v);
}

static int name(struct reader *r, const char *what, const char **out)
{
	struct buf b = BUF_INIT;
	uint64_t n;
	int rc = -1;

	if (count(r, &n))
		return -1;
	if (n > LONGEST_NAME)
		return err_set(r->e, "it is no GGUF model, or damaged (%s of %llu bytes)", what,
			       (unsigned long long)n);
	if (!pull_append(r->in, &b, n, r->e)) {
		buf_str(&b, "");
		*out = arena_strdup(r->f->a, b.s); /* up to a NUL */
		buf_fmt(&r->seen, "%s\n", *out);
		rc = 0;
	}
	buf_free(&b);
	return rc;
}

/* ---- values ---- */

/* Bytes of an element; 0: it has no fixed size. */
static size_t size_of(uint64_t type)
{
	static const unsigned char size[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

	return type < sizeof size ? size[type] : 0;
}

static int64_t whole(uint64_t type, uint64_t bits)
{
	const int shift = 64 - 8 * (int)size_of(type);
	const int is_signed = type == T_I8 || type == T_I16 || type == T_I32 || type == T_I64;

	return is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
}

static int is_whole(uint64_t type)
{
	return type != T_F32 && type != T_F64 && size_of(type);
}

static int read_text(struct reader *r, struct gguf_value *v)
{
	struct buf b = BUF_INIT;
	uint64_t n;
	int rc;

	if (count(r, &n))
		return -1;
	if (!v || n > LONGEST_TEXT)
		return pull_skip(r->in, n, r->e);
	rc = pull_append(r->in, &b, n, r->e);
	buf_str(&b, "");
	v->text = arena_strdup(r->f->a, b.s);
	buf_fmt(&r->seen, "%s\n", v->text);
	buf_free(&b);
	return rc;
}

static int read_numbers(struct reader *r, uint64_t type, uint64_t n, struct gguf_value *v)
{
	const size_t size = size_of(type);
	uint64_t bits;

	if (!v || n > LONGEST_LIST || (n > 1 && r->kept + (int64_t)n > KEEP_CONSTANTS)) {
		if (n > UINT64_MAX / size)
			return err_set(r->e, "it is no GGUF model, or damaged (a list of %llu)",
				       (unsigned long long)n);
		return pull_skip(r->in, n * size, r->e);
	}
	r->kept += n > 1 ? (int64_t)n : 0;
	if (is_whole(type)) {
		v->list = arena_array(r->f->a, int64_t, n ? n : 1);
		v->n = (int)n;
	}
	for (uint64_t i = 0; i < n; i++) {
		if (number(r, size, &bits))
			return -1;
		if (is_whole(type))
			v->list[i] = whole(type, bits);
		buf_fmt(&r->seen, "%llu ", (unsigned long long)bits);
	}
	return 0;
}

static int read_value(struct reader *r, uint64_t type, struct gguf_value *v, int depth)
{
	uint64_t inner, n;

	if (size_of(type))
		return read_numbers(r, type, 1, v);
	if (type == T_STRING)
		return read_text(r, v);
	if (type != T_LIST || depth == DEEPEST)
		return err_set(r->e, "it is no GGUF model, or damaged (a value of type %llu)",
			       (unsigned long long)type);
	if (number(r, 4, &inner) || count(r, &n))
		return -1;
	if (size_of(inner))
		return read_numbers(r, inner, n, v);
	for (uint64_t i = 0; i < n; i++)
		if (read_value(r, inner, NULL, depth + 1))
			return -1;
	return 0;
}

static int read_key(struct reader *r)
{
	struct gguf_value *v = arena_new(r->f->a, struct gguf_value);
	const char *key;
	uint64_t type;

	if (name(r, "a key", &key) || number(r, 4, &type) || read_value(r, type, v, 0))
		return -1;
	if (v->n || v->text)
		*map_put(&r->f->key, key, strlen(key), NULL) = v;
	if (v->text && !strcmp(key, "general.architecture"))
		r->f->architecture = v->text;
	return 0;
}

/* ---- tensors ---- */

static int read_tensor(struct reader *r, struct gguf_tensor *t)
{
	uint64_t rank, dim, type, offset, all = 1;
	int isnew;
	void **slot;

	if (name(r, "the name of a tensor", &t->name) || number(r, 4, &rank))
		return -1;
	if (rank > GGUF_RANK)
		return err_set(r->e, "the tensor '%s' has %llu dimensions", t->name,
			       (unsigned long long)rank);
	t->rank = (int)rank;
	for (int i = 0; i < GGUF_RANK; i++) {
		dim = 1;
		if (i < t->rank && count(r, &dim))
			return -1;
		if (dim && all > (uint64_t)MAX_ELEMENTS / dim)
			return err_set(r->e, "the tensor '%s' is of absurd size", t->name);
		all *= dim ? dim : 1;
		t->dim[i] = (int64_t)dim;
		buf_fmt(&r->seen, "%llu ", (unsigned long long)dim);
	}
	if (number(r, 4, &type) || number(r, 8, &offset))
		return -1;
	t->type = (uint32_t)type;
	buf_fmt(&r->seen, "%llu %llu\n", (unsigned long long)type, (unsigned long long)offset);
	slot = map_put(&r->f->by_name, t->name, strlen(t->name), &isnew);
	if (!isnew)
		return err_set(r->e, "two tensors have the name '%s'", t->name);
	*slot = (void *)(intptr_t)r->f->ntensor;
	return 0;
}

static int read_head(struct reader *r)
{
	uint64_t magic, version, ntensor, nkey;

	if (number(r, 4, &magic) || number(r, 4, &version))
		return -1;
	if (magic != 0x46554747)
		return err_set(r->e, "it is no GGUF model (its head is not that of one)");
	if (version >= 1 << 24)
		return err_set(r->e, "it is a GGUF model in the order of bytes of other machines");
	if (version < 1 || version > NEWEST)
		return err_set(r->e, "it is a GGUF model of version %llu; 1 to %d are read",
			       (unsigned long long)version, NEWEST);
	r->version = (uint32_t)version;
	if (count(r, &ntensor) || count(r, &nkey))
		return -1;
	if (ntensor > MOST || nkey > MOST)
		return err_set(r->e, "it is no GGUF model, or damaged (%llu tensors, %llu keys)",
			       (unsigned long long)ntensor, (unsigned long long)nkey);
	while (nkey--)
		if (read_key(r))
			return -1;
	/* Tensors come one after the other: room for all would be as false as their number. */
	while (ntensor--)
		if (read_tensor(r, arena_add(r->f->a, &r->f->tensor, &r->f->ntensor,
					     sizeof *r->f->tensor)))
			return -1;
	return 0;
}

int gguf_read(struct gguf *f, struct pull *in, struct arena *a, struct err *e)
{
	struct reader r = {.f = f, .in = in, .e = e};
	int rc;

	*f = (struct gguf){.a = a, .architecture = ""};
	rc = read_head(&r);
	buf_str(&r.seen, "");
	hash_id(&f->hash, r.seen.s, r.seen.n);
	buf_free(&r.seen);
	return rc;
}

void gguf_free(struct gguf *f)
{
	map_free(&f->key);
	map_free(&f->by_name);
}

/* ---- what is known ---- */

int64_t gguf_number(const struct gguf *f, const char *key, int layer, int64_t otherwise)
{
	const struct gguf_value *v = map_get(&f->key, key, strlen(key));

	if (!v || !v->n)
		return otherwise;
	return v->n == 1 ? v->list[0] : layer >= 0 && layer < v->n ? v->list[layer] : otherwise;
}

int64_t gguf_own(const struct gguf *f, const char *key, int layer, int64_t otherwise)
{
	char whole_key[400];

	snprintf(whole_key, sizeof whole_key, "%s.%s", f->architecture, key);
	return gguf_number(f, whole_key, layer, otherwise);
}

const struct gguf_tensor *gguf_tensor(const struct gguf *f, const char *tensor)
{
	const intptr_t place = (intptr_t)map_get(&f->by_name, tensor, strlen(tensor));

	return place ? &f->tensor[place - 1] : NULL;
}
