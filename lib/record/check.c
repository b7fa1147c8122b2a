#include "lib/record/check.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/record/checksum.h"
#include "lib/record/status.h"

/* ---- kinds ---- */

static int is_id(const struct json *v)
{
	return v->type == JSON_STR && v->n == ID_HEX && hash_is_hex(v->s, v->n);
}

static int two_digits(const char *s, int lo, int hi)
{
	int v;

	if (s[0] < '0' || s[0] > '9' || s[1] < '0' || s[1] > '9')
		return 0;
	v = (s[0] - '0') * 10 + s[1] - '0';
	return v >= lo && v <= hi;
}

/* "2026-11-21T09:00:00.000Z": RFC 3339, UTC, milliseconds. */
static int is_time(const struct json *v)
{
	static const char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const char *s = v->s;

	if (v->type != JSON_STR || v->n != 24 || s[4] != '-' || s[7] != '-' || s[10] != 'T' ||
	    s[13] != ':' || s[16] != ':' || s[19] != '.' || s[23] != 'Z')
		return 0;
	return two_digits(s, 0, 99) && two_digits(s + 2, 0, 99) && two_digits(s + 5, 1, 12) &&
	       two_digits(s + 8, 1, days[(s[5] - '0') * 10 + s[6] - '1']) &&
	       two_digits(s + 11, 0, 23) && two_digits(s + 14, 0, 59) &&
	       two_digits(s + 17, 0, 60) && two_digits(s + 20, 0, 99) && s[22] >= '0' &&
	       s[22] <= '9';
}

static int is_word(const struct json *v, const struct record_word *w)
{
	while (w->word && !json_is(v, w->word))
		w++;
	return w->word != NULL;
}

static int is_flag(const struct json *v)
{
	return v->type == JSON_TRUE || v->type == JSON_FALSE;
}

static int is_whole(const struct json *v)
{
	int64_t i;

	return json_int(v, &i) == 0;
}

static int is_count(const struct json *v)
{
	int64_t i;

	return json_int(v, &i) == 0 && i >= 0;
}

static int is_real(const struct json *v)
{
	double x;

	return json_num(v, &x) == 0;
}

static int is_number(const struct json *v)
{
	double x;

	return json_num(v, &x) == 0 && x >= 0 && x <= RECORD_MOST;
}

static int is_text(const struct json *v)
{
	return v->type == JSON_STR;
}

static int is_object(const struct json *v)
{
	return v->type == JSON_OBJ;
}

static int is_interval(const struct json_doc *d, const struct json *v)
{
	const struct json *lo = json_first(d, v), *hi = lo ? json_next(d, v, lo) : NULL;
	double a, b;

	return v->type == JSON_ARR && v->size == 2 && !json_num(lo, &a) && !json_num(hi, &b) &&
	       a >= 0 && a <= b && b <= RECORD_MOST;
}

static int is_array_of(const struct json_doc *d, const struct json *v,
		       int (*is)(const struct json *))
{
	if (v->type != JSON_ARR)
		return 0;
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (!is(k))
			return 0;
	return 1;
}

static int is_object_of(const struct json_doc *d, const struct json *v,
			int (*is)(const struct json *))
{
	if (v->type != JSON_OBJ)
		return 0;
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (!is(k + 1))
			return 0;
	return 1;
}

static int is_choices(const struct json_doc *d, const struct json *v)
{
	if (v->type != JSON_OBJ)
		return 0;
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (!is_array_of(d, k + 1, is_whole))
			return 0;
	return 1;
}

/* What a field of this kind should be, and whether v is. */
static const char *wanted(const struct json_doc *d, const struct json *v,
			  const struct record_field *f)
{
	switch (f->kind) {
	case RECORD_TEXT:
		return is_text(v) ? NULL : "a string";
	case RECORD_WORD:
		return is_word(v, f->words) ? NULL : "one of its words";
	case RECORD_ID:
		return is_id(v) ? NULL : "an id of 32 hexadecimal digits";
	case RECORD_CHECKSUM:
		return checksum_is(v) ? NULL : "a checksum of 16 hexadecimal digits";
	case RECORD_TIME:
		return is_time(v) ? NULL : "a UTC time such as 2026-11-21T09:00:00.000Z";
	case RECORD_FLAG:
		return is_flag(v) ? NULL : "true or false";
	case RECORD_COUNT:
		return is_count(v) ? NULL : "a whole number, 0 or more";
	case RECORD_NUMBER:
		return is_number(v) ? NULL : "a number from 0 to 1e30";
	case RECORD_REAL:
		return is_real(v) ? NULL : "a number";
	case RECORD_INTERVAL:
		return is_interval(d, v) ? NULL : "an interval [low, high] within 0 to 1e30";
	case RECORD_NUMBERS:
		return is_array_of(d, v, is_number) ? NULL : "an array of numbers from 0 to 1e30";
	case RECORD_TEXTS:
		return is_array_of(d, v, is_text) ? NULL : "an array of strings";
	case RECORD_OBJECT:
		return is_object(v) ? NULL : "an object";
	case RECORD_OBJECTS:
		return is_array_of(d, v, is_object) ? NULL : "an array of objects";
	case RECORD_KNOBS:
		return is_object_of(d, v, is_whole) ? NULL : "an object of whole numbers by name";
	case RECORD_CHOICES:
		return is_choices(d, v) ? NULL : "an object of arrays of whole numbers by name";
	case RECORD_AMOUNTS:
		return is_object_of(d, v, is_number)
			       ? NULL
			       : "an object of numbers by name, from 0 to 1e30";
	}
	return NULL;
}

/* ---- fields ---- */

static int not_a_word(const struct record_field *f, struct err *e)
{
	char words[300] = "";
	size_t n = 0;

	for (const struct record_word *w = f->words; w->word && n < sizeof words; w++)
		n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", n ? "|" : "", w->word);
	return err_set(e, "\"%s\" is not %s", f->name, words);
}

static int has_reason(const struct json_doc *d, const struct json *obj, const char *name, size_t n)
{
	struct record_reasons r;

	record_reasons(name, n, &r);
	for (int i = 0; i < r.n; i++) {
		const struct json *why = json_get(d, obj, r.name[i]);

		if (why && why->type == JSON_STR && why->n)
			return 1;
	}
	return 0;
}

static int no_reason(const char *name, size_t n, struct err *e)
{
	return err_set(e, "\"%.*s\" is null without a reason beside it", n < 60 ? (int)n : 60,
		       name);
}

/* The fields of the value, if it has any. */
static int check_inside(const struct record_field *f, const struct json_doc *d,
			const struct json *v, struct err *e)
{
	if (f->kind == RECORD_OBJECT && record_check(f->object, d, v, e) < 0)
		return err_in(e, "%s", f->name);
	if (f->kind != RECORD_OBJECTS)
		return 0;
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (record_check(f->object, d, k, e) < 0)
			return err_in(e, "%s", f->name);
	return 0;
}

static int is_needed(const struct record_field *f, int ok)
{
	return f->need == RECORD_REQUIRED || (f->need == RECORD_IF_OK && ok);
}

static int check_value(const struct record_field *f, const struct json_doc *d,
		       const struct json *obj, const struct json *v, int ok, struct err *e)
{
	const char *want;

	if (v->type == JSON_NULL && !is_needed(f, ok)) {
		if (!has_reason(d, obj, f->name, strlen(f->name)))
			return no_reason(f->name, strlen(f->name), e);
		return f->nullable ? 0 : err_set(e, "\"%s\" may not be null", f->name);
	}
	want = wanted(d, v, f);
	if (want)
		return f->kind == RECORD_WORD ? not_a_word(f, e)
					      : err_set(e, "\"%s\" is not %s", f->name, want);
	return check_inside(f, d, v, e);
}

static int check_missing(const struct record_field *f, int ok, struct err *e)
{
	if (is_needed(f, ok))
		return err_set(e, "\"%s\" is missing", f->name);
	if (f->need == RECORD_UNLESS_OK && !ok)
		return err_set(e, "\"%s\" is missing, which a status other than ok needs", f->name);
	return 0;
}

/* Records are checked by the hundred thousand, so each member is looked up once, and not each field
 * of the schema among the members. */
int record_check(const struct record_object *o, const struct json_doc *d, const struct json *obj,
		 struct err *e)
{
	int ok = status_get(d, obj) == STATUS_OK, at = 0;
	uint64_t seen = 0;

	if (o->base && record_check(o->base, d, obj, e) < 0)
		return -1;
	for (const struct json *k = json_first(d, obj); k; k = json_next(d, obj, k)) {
		int i = record_find_field(o, k, at);

		if (i < 0)
			continue;
		assert(i < 64);
		seen |= (uint64_t)1 << i;
		at = i + 1;
		if (check_value(&o->field[i], d, obj, k + 1, ok, e) < 0)
			return -1;
	}
	for (int i = 0; o->field[i].name; i++)
		if (!(seen >> i & 1) && check_missing(&o->field[i], ok, e) < 0)
			return -1;
	return 0;
}

/* ---- fields of any name ---- */

static int ends_in(const struct json *key, const char *end)
{
	size_t n = strlen(end);

	return key->n >= n && !memcmp(key->s + key->n - n, end, n);
}

static int is_quantity(const struct json *key)
{
	return ends_in(key, "_s") || ends_in(key, "_J") || ends_in(key, "bytes");
}

int record_check_quantities(const struct json_doc *d, const struct json *obj, struct err *e)
{
	for (const struct json *k = json_first(d, obj); k; k = json_next(d, obj, k)) {
		const struct json *v = k + 1;

		if (json_is(k, "x"))
			continue;
		if (v->type == JSON_NULL && !has_reason(d, obj, k->s, k->n))
			return no_reason(k->s, k->n, e);
		if (is_quantity(k) && v->type != JSON_NULL && v->type != JSON_ARR && !is_number(v))
			return err_set(e, "\"%.*s\" is not a quantity from 0 to 1e30",
				       k->n < 60 ? (int)k->n : 60, k->s);
		if (v->type == JSON_OBJ && record_check_quantities(d, v, e) < 0)
			return -1;
	}
	return 0;
}
