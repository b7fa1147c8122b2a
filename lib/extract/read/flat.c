#include "lib/extract/read/flat.h"

#include <string.h>

enum { SMALL_FILE = 1 << 16, SHARING = 4 };

void flat_init(struct flat *f, const struct kept *kept)
{
	/* Names and shapes may be shared by many, as some writers do. */
	*f = (struct flat){.kept = kept, .allowance = SMALL_FILE + SHARING * kept->bytes.n};
}

static void bad(struct flat *f, uint64_t at, const char *what)
{
	if (f->bad)
		return;
	f->bad = 1;
	f->where = at;
	f->what = what;
}

int flat_check(const struct flat *f, struct err *e)
{
	if (!f->bad)
		return 0;
	return err_set(e, "it is no TFLite model, or damaged (%s at byte %llu)", f->what,
		       (unsigned long long)(f->where + f->kept->start));
}

/* A number of n bytes; 0 if they are not there. */
static uint64_t number(struct flat *f, uint64_t at, unsigned n)
{
	const unsigned char *s = f->bad ? NULL : kept_at(f->kept, at, n);
	uint64_t v = 0;

	if (!s) {
		bad(f, at, "a reference to what is not there");
		return 0;
	}
	while (n-- > 0)
		v = v << 8 | s[n];
	return v;
}

/* What the reference at that place refers to. */
static uint64_t refer(struct flat *f, uint64_t at)
{
	return at + number(f, at, 4);
}

uint64_t flat_root(struct flat *f, uint64_t at)
{
	return refer(f, at);
}

uint64_t flat_field(struct flat *f, uint64_t table, int i)
{
	int64_t back = (int32_t)number(f, table, 4);
	uint64_t list = (uint64_t)((int64_t)table - back), place;
	uint64_t entry = 4 + 2 * (uint64_t)i;

	if (f->bad || (int64_t)list < 0) {
		bad(f, table, "a table without fields");
		return 0;
	}
	if (number(f, list, 2) < entry + 2)
		return 0;
	place = number(f, list + entry, 2);
	return place ? table + place : 0;
}

uint64_t flat_table(struct flat *f, uint64_t table, int i)
{
	uint64_t at = flat_field(f, table, i);

	return at ? refer(f, at) : 0;
}

int64_t flat_int(struct flat *f, uint64_t table, int i, int64_t otherwise)
{
	uint64_t at = flat_field(f, table, i);

	return at ? (int32_t)number(f, at, 4) : otherwise;
}

int64_t flat_byte(struct flat *f, uint64_t table, int i, int64_t otherwise)
{
	uint64_t at = flat_field(f, table, i);

	return at ? (int8_t)number(f, at, 1) : otherwise;
}

int64_t flat_ubyte(struct flat *f, uint64_t table, int i, int64_t otherwise)
{
	uint64_t at = flat_field(f, table, i);

	return at ? (int64_t)number(f, at, 1) : otherwise;
}

uint32_t flat_uint(struct flat *f, uint64_t table, int i, uint32_t otherwise)
{
	uint64_t at = flat_field(f, table, i);

	return at ? (uint32_t)number(f, at, 4) : otherwise;
}

float flat_float(struct flat *f, uint64_t table, int i, float otherwise)
{
	uint64_t at = flat_field(f, table, i);
	uint32_t bits = at ? (uint32_t)number(f, at, 4) : 0;
	float v;

	memcpy(&v, &bits, sizeof v);
	return at ? v : otherwise;
}

/* Takes bytes out of the allowance. */
static int allow(struct flat *f, uint64_t at, uint64_t bytes)
{
	if (bytes > f->allowance) {
		bad(f, at, "parts that overlap");
		return 0;
	}
	f->allowance -= bytes;
	return 1;
}

struct flat_list flat_span(struct flat *f, uint64_t table, int i)
{
	uint64_t at = flat_table(f, table, i);

	return (struct flat_list){at + 4, at ? (uint32_t)number(f, at, 4) : 0};
}

struct flat_list flat_list(struct flat *f, uint64_t table, int i, size_t size)
{
	struct flat_list l = flat_span(f, table, i);

	if (l.n && !kept_at(f->kept, l.at, (uint64_t)l.n * size))
		bad(f, l.at, "a list that is not all there");
	if (f->bad || !allow(f, l.at, (uint64_t)l.n * size))
		l.n = 0;
	return l;
}

int32_t flat_list_int(struct flat *f, const struct flat_list *l, uint32_t i)
{
	return (int32_t)number(f, l->at + 4 * (uint64_t)i, 4);
}

uint64_t flat_list_table(struct flat *f, const struct flat_list *l, uint32_t i)
{
	return refer(f, l->at + 4 * (uint64_t)i);
}

const char *flat_string(struct flat *f, uint64_t table, int i, struct arena *a)
{
	struct flat_list l = flat_list(f, table, i, 1);
	const char *s = l.n ? (const char *)kept_at(f->kept, l.at, l.n) : NULL;

	return s ? arena_strndup(a, s, strnlen(s, l.n)) : "";
}
