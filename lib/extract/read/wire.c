#include "lib/extract/read/wire.h"

#include <stdio.h>
#include <string.h>

enum { DIGEST_CHUNK = 64 * 1024, WEIGHTS_SEEN = 256 };

/* SHA-256 of a stream through hash_id(): each chunk is hashed behind the digest of those before it.
 */
static void digest_chunk(struct wire *w)
{
	struct id id;

	hash_id(&id, w->seen.s, w->seen.n);
	w->digest = id;
	buf_clear(&w->seen);
	buf_str(&w->seen, id.s);
}

static void digest(struct wire *w, const void *p, size_t n)
{
	while (n) {
		size_t k = DIGEST_CHUNK - w->seen.n;

		if (k > n)
			k = n;
		buf_add(&w->seen, p, k);
		p = (const char *)p + k;
		n -= k;
		if (w->seen.n == DIGEST_CHUNK)
			digest_chunk(w);
	}
}

void wire_free(struct wire *w)
{
	buf_free(&w->seen);
}

void wire_digest(struct wire *w, struct id *id)
{
	buf_reserve(&w->seen, 0);
	digest_chunk(w);
	*id = w->digest;
}

static int malformed(struct wire *w, const char *what, struct err *e)
{
	return err_set(e, "it is no %s (%s at byte %llu)", w->what, what,
		       (unsigned long long)pull_offset(w->in));
}

static int varint(struct wire *w, uint64_t end, uint64_t *out, struct err *e)
{
	unsigned char raw[10];
	uint64_t v = 0;

	for (unsigned i = 0; i < sizeof raw; i++) {
		if (pull_offset(w->in) >= end)
			return malformed(w, "a number runs over the end of its message", e);
		if (pull_copy(w->in, &raw[i], 1, e))
			return -1;
		v |= (uint64_t)(raw[i] & 0x7f) << (7 * i);
		if (!(raw[i] & 0x80)) {
			digest(w, raw, i + 1);
			*out = v;
			return 0;
		}
	}
	return malformed(w, "a number of more than ten bytes", e);
}

int wire_field(struct wire *w, uint64_t end, struct wire_field *f, struct err *e)
{
	uint64_t v, at;
	int r;

	if (pull_offset(w->in) >= end)
		return 0;
	if (end == WIRE_TO_THE_END && (r = pull_fill(w->in, e)) <= 0)
		return r;
	if (varint(w, end, &v, e))
		return -1;
	if (v >> 3 == 0 || v >> 3 > 0x1fffffff)
		return malformed(w, "a field number out of range", e);
	f->number = (uint32_t)(v >> 3);
	f->type = (enum wire_type)(v & 7);
	f->end = end;
	switch (f->type) {
	case WIRE_VARINT:
		return 1;
	case WIRE_64:
	case WIRE_32:
		at = pull_offset(w->in);
		f->end = at + (f->type == WIRE_64 ? 8 : 4);
		break;
	case WIRE_BYTES:
		if (varint(w, end, &v, e))
			return -1;
		at = pull_offset(w->in);
		if (v > INT64_MAX - at)
			return malformed(w, "a length out of range", e);
		f->end = at + v;
		break;
	default:
		return malformed(w, "an unknown wire type", e);
	}
	if (f->end > end)
		return malformed(w, "a field runs over the end of its message", e);
	return 1;
}

static int expect(struct wire *w, const struct wire_field *f, enum wire_type type, struct err *e)
{
	static const char *const is[] = {[WIRE_VARINT] = "a varint",
					 [WIRE_64] = "64 bits",
					 [WIRE_BYTES] = "bytes with their length",
					 [WIRE_32] = "32 bits"};
	char what[96];

	if (f->type == type)
		return 0;
	snprintf(what, sizeof what, "field %u of a message is %s instead of %s", f->number,
		 is[f->type], is[type]);
	return malformed(w, what, e);
}

int wire_int(struct wire *w, const struct wire_field *f, int64_t *out, struct err *e)
{
	uint64_t v;

	if (expect(w, f, WIRE_VARINT, e) || varint(w, f->end, &v, e))
		return -1;
	*out = (int64_t)v;
	return 0;
}

int wire_packed(struct wire *w, const struct wire_field *f, enum wire_type one, struct err *e)
{
	return f->type == WIRE_BYTES ? 1 : expect(w, f, one, e);
}

int wire_ints(struct wire *w, const struct wire_field *f,
	      int (*add)(struct wire *w, int64_t v, void *to, struct err *e), void *to,
	      struct err *e)
{
	uint64_t v;
	int64_t one;

	if (f->type != WIRE_BYTES)
		return wire_int(w, f, &one, e) || add(w, one, to, e) ? -1 : 0;
	while (pull_offset(w->in) < f->end)
		if (varint(w, f->end, &v, e) || add(w, (int64_t)v, to, e))
			return -1;
	return 0;
}

int wire_float(struct wire *w, const struct wire_field *f, float *out, struct err *e)
{
	if (expect(w, f, WIRE_32, e) || pull_copy(w->in, out, sizeof *out, e))
		return -1;
	digest(w, out, sizeof *out);
	return 0;
}

int wire_bytes(struct wire *w, const struct wire_field *f, struct buf *b, struct err *e)
{
	size_t before = b->n;

	if (expect(w, f, WIRE_BYTES, e) || pull_append(w->in, b, f->end - pull_offset(w->in), e))
		return -1;
	if (b->n > before)
		digest(w, b->s + before, b->n - before);
	return 0;
}

int wire_text(struct wire *w, const struct wire_field *f, const char **out, struct err *e)
{
	struct buf b = BUF_INIT;
	int r;

	if (f->type == WIRE_BYTES && f->end - pull_offset(w->in) > w->longest)
		return malformed(w, "a name of absurd length", e);
	r = wire_bytes(w, f, &b, e);
	if (!r)
		*out = b.n ? arena_strndup(w->a, b.s, b.n) : "";
	buf_free(&b);
	return r;
}

int wire_message(struct wire *w, const struct wire_field *f, struct err *e)
{
	return expect(w, f, WIRE_BYTES, e);
}

/* Digests the next n bytes and passes over them. */
static int digest_skip(struct wire *w, uint64_t n, struct err *e)
{
	while (n) {
		int r = pull_fill(w->in, e);
		uint64_t k = (uint64_t)(w->in->end - w->in->at);

		if (r < 0)
			return -1;
		if (r == 0)
			return pull_skip(w->in, n, e); /* says where it is cut off */
		if (k > n)
			k = n;
		digest(w, w->in->at, (size_t)k);
		w->in->at += k;
		n -= k;
	}
	return 0;
}

int wire_skip(struct wire *w, const struct wire_field *f, struct err *e)
{
	uint64_t v;

	if (f->type == WIRE_VARINT)
		return varint(w, f->end, &v, e);
	return digest_skip(w, f->end - pull_offset(w->in), e);
}

int wire_drop(struct wire *w, const struct wire_field *f, struct err *e)
{
	uint64_t n;

	if (f->type == WIRE_VARINT)
		return wire_skip(w, f, e);
	n = f->end - pull_offset(w->in);
	if (n <= WEIGHTS_SEEN)
		return digest_skip(w, n, e);
	return digest_skip(w, WEIGHTS_SEEN, e) ? -1 : pull_skip(w->in, n - WEIGHTS_SEEN, e);
}

int wire_copy(struct wire *w, const struct wire_field *f, void *to, size_t most, struct err *e)
{
	size_t n = (size_t)(f->end - pull_offset(w->in));

	if (expect(w, f, WIRE_BYTES, e) || pull_copy(w->in, to, n, e))
		return -1;
	digest(w, to, n <= most || n < WEIGHTS_SEEN ? n : WEIGHTS_SEEN);
	return 0;
}
