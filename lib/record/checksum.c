#include "lib/record/checksum.h"

#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"

/* Each step below is a bijection of the hash for equal input, and of the input for equal hashes. So
 * the change of a single bit always changes the hash of its member, and with it the sum. */
static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const char *s, size_t n)
{
	uint64_t word;

	h = mix(h, n);
	for (; n >= sizeof word; s += sizeof word, n -= sizeof word) {
		memcpy(&word, s, sizeof word);
		h = mix(h, le64toh(word));
	}
	word = 0;
	memcpy(&word, s, n);
	return mix(h, le64toh(word));
}

static uint64_t mix_text(uint64_t h, const struct json *v)
{
	struct arena a = ARENA_INIT;
	const char *text;

	if (!v->size || json_str(v, &a, &text) < 0)
		h = mix_bytes(h, v->s, v->n); /* without escapes, or with one for a NUL */
	else
		h = mix_bytes(h, text, strlen(text));
	arena_free(&a);
	return h;
}

static uint64_t mix_number(uint64_t h, const struct json *v)
{
	double x = 0;
	uint64_t bits;

	json_num(v, &x);
	x = x == 0 ? 0 : x; /* also where it is written -0 */
	memcpy(&bits, &x, sizeof bits);
	return mix(h, bits);
}

static uint64_t mix_value(uint64_t h, const struct json_doc *d, const struct json *v);

/* Members count in any order: a sum. */
static uint64_t mix_members(uint64_t h, const struct json_doc *d, const struct json *obj, int top)
{
	uint64_t sum = 0;

	for (const struct json *k = json_first(d, obj); k; k = json_next(d, obj, k))
		if (!top || !(json_is(k, CHECKSUM_FIELD) || json_is(k, "x")))
			sum += mix_value(mix_text(0, k), d, k + 1);
	return mix(h, sum);
}

static uint64_t mix_value(uint64_t h, const struct json_doc *d, const struct json *v)
{
	h = mix(h, v->type == JSON_INT ? JSON_REAL : v->type);
	switch (v->type) {
	case JSON_INT:
	case JSON_REAL:
		return mix_number(h, v);
	case JSON_STR:
		return mix_text(h, v);
	case JSON_OBJ:
		return mix_members(h, d, v, 0);
	case JSON_ARR:
		for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
			h = mix_value(h, d, k);
		return mix(h, (uint64_t)v->size);
	default:
		return h;
	}
}

static void print(const struct json_doc *d, char text[CHECKSUM_HEX + 1])
{
	snprintf(text, CHECKSUM_HEX + 1, "%016llx",
		 (unsigned long long)mix_members(0, d, d->tok, 1));
}

int checksum_is(const struct json *v)
{
	return v->type == JSON_STR && v->n == CHECKSUM_HEX && hash_is_hex(v->s, v->n);
}

int checksum_check(const struct json_doc *d, struct err *e)
{
	const struct json *told = json_get(d, d->tok, CHECKSUM_FIELD);
	char text[CHECKSUM_HEX + 1];

	if (!told)
		return 0;
	print(d, text);
	if (json_is(told, text))
		return 0;
	return err_set(e,
		       "\"" CHECKSUM_FIELD "\" is not %s, as the fields make it: something changed "
		       "the record",
		       text);
}

void checksum_put(struct buf *line)
{
	struct json_doc d = JSON_DOC_INIT;
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;
	char text[CHECKSUM_HEX + 1], quoted[CHECKSUM_HEX + 3];
	const struct json_field f = {CHECKSUM_FIELD, quoted};
	int rc = json_parse(&d, line->s, line->n, &e);

	assert(rc == 0 && d.tok->type == JSON_OBJ); /* it was printed here */
	(void)rc;
	print(&d, text);
	snprintf(quoted, sizeof quoted, "\"%s\"", text);
	json_rewrite(&d, &f, 1, &out);
	json_free(&d);
	buf_free(line);
	*line = out;
}

void checksum_renew(const struct json_doc *from, struct buf *line)
{
	if (json_get(from, from->tok, CHECKSUM_FIELD))
		checksum_put(line);
}
