#include "lib/record/members.h"

#include <math.h>

#include "lib/io/field.h"

void members_clear(const struct record_object *o, void *to)
{
	for (const struct record_field *f = o->field; f->name; f++) {
		void *m = (char *)to + f->at;

		if (!f->at || f->as)
			continue;
		if (f->kind == RECORD_NUMBER || f->kind == RECORD_REAL)
			*(double *)m = NAN;
		else if (f->kind == RECORD_INTERVAL)
			*(struct interval *)m = (struct interval){NAN, NAN};
		else if (f->kind == RECORD_OBJECT)
			members_clear(f->object, m);
	}
}

/* ---- reading ---- */

static void read_interval(const struct json_doc *d, const struct json *v, struct interval *to)
{
	const struct json *lo = json_first(d, v), *hi = lo ? json_next(d, v, lo) : NULL;
	double a, b;

	if (v->type == JSON_ARR && !json_num(lo, &a) && !json_num(hi, &b))
		*to = (struct interval){a, b};
}

static void read_numbers(const struct json_doc *d, const struct json *v, struct arena *a,
			 struct numbers *to)
{
	double *x;
	int n = 0;

	if (v->type != JSON_ARR || !v->size)
		return;
	x = arena_array(a, double, v->size);
	for (const struct json *k = json_first(d, v); k; k = json_next(d, v, k))
		if (json_num(k, &x[n++]))
			return;
	*to = (struct numbers){x, n};
}

static void read_enum(const struct json *v, const struct record_word *words, int *to)
{
	for (int i = 0; words[i].word; i++)
		if (json_is(v, words[i].word))
			*to = i + 1;
}

static void read_value(const struct record_field *f, const struct json_doc *d, const struct json *v,
		       struct arena *a, void *m)
{
	switch (f->kind) {
	case RECORD_FLAG:
		json_bool(v, m);
		break;
	case RECORD_COUNT:
		json_int(v, m);
		break;
	case RECORD_NUMBER:
	case RECORD_REAL:
		json_num(v, m);
		break;
	case RECORD_INTERVAL:
		read_interval(d, v, m);
		break;
	case RECORD_NUMBERS:
		read_numbers(d, v, a, m);
		break;
	case RECORD_OBJECT:
		*(int *)m = v->type == JSON_OBJ;
		members_read(f->object, d, v, a, m);
		break;
	default:
		json_str(v, a, m);
	}
}

static void read_reason(const struct record_field *f, const struct json_doc *d,
			const struct json *obj, struct arena *a, const char **to)
{
	struct record_reasons why;

	record_reasons(f->name, strlen(f->name), &why);
	for (int i = 0; i < why.n && !*to; i++)
		json_str(json_get(d, obj, why.name[i]), a, to);
}

void members_read(const struct record_object *o, const struct json_doc *d, const struct json *obj,
		  struct arena *a, void *to)
{
	int at = 0;

	if (obj->type != JSON_OBJ)
		return;
	for (const struct json *k = json_first(d, obj); k; k = json_next(d, obj, k)) {
		const int i = record_find_field(o, k, at);
		const struct record_field *f = o->field + (i < 0 ? 0 : i);
		const struct json *v = k + 1;
		void *m = (char *)to + f->at;

		if (i < 0)
			continue;
		at = i + 1;
		if (v->type == JSON_NULL && f->why_at)
			read_reason(f, d, obj, a, (const char **)((char *)to + f->why_at));
		if (!f->at || v->type == JSON_NULL)
			continue;
		if (f->as == RECORD_AS_JSON)
			*(const char **)m = arena_strndup(a, v->s, v->n);
		else if (f->as == RECORD_AS_ENUM)
			read_enum(v, f->words, m);
		else
			read_value(f, d, v, a, m);
	}
}

/* ---- writing ---- */

static void write_object(const struct record_field *f, const void *m, struct buf *out)
{
	if (!*(const int *)m)
		return;
	field_object(out, f->name);
	members_write(f->object, m, out);
	buf_ch(out, '}');
}

static void write_value(const struct record_field *f, const void *m, struct buf *out)
{
	const int needed = f->need == RECORD_REQUIRED;
	const struct interval *ci = m;
	const struct numbers *x = m;

	switch (f->kind) {
	case RECORD_FLAG:
		if (needed || *(const int *)m)
			field_flag(out, f->name, *(const int *)m);
		break;
	case RECORD_COUNT:
		if (needed || *(const int64_t *)m)
			field_integer(out, f->name, *(const int64_t *)m);
		break;
	case RECORD_NUMBER:
	case RECORD_REAL:
		if (!isnan(*(const double *)m))
			field_number(out, f->name, *(const double *)m);
		break;
	case RECORD_INTERVAL:
		if (!isnan(ci->lo))
			field_interval(out, f->name, ci->lo, ci->hi);
		break;
	case RECORD_NUMBERS:
		if (x->n)
			field_numbers(out, f->name, x->v, x->n);
		break;
	case RECORD_OBJECT:
		write_object(f, m, out);
		break;
	default:
		field_text(out, f->name, *(const char *const *)m);
	}
}

void members_write(const struct record_object *o, const void *from, struct buf *out)
{
	for (const struct record_field *f = o->field; f->name; f++) {
		const void *m = (const char *)from + f->at;
		const char *why = NULL;
		const size_t n = out->n;

		if (f->why_at)
			why = *(const char *const *)((const char *)from + f->why_at);
		if (f->at && f->as == RECORD_AS_JSON)
			field_json(out, f->name, *(const char *const *)m);
		else if (f->at && f->as == RECORD_AS_ENUM && *(const int *)m)
			field_text(out, f->name, f->words[*(const int *)m - 1].word);
		else if (f->at && !f->as)
			write_value(f, m, out);
		if (out->n == n && why)
			field_null(out, f->name, why);
	}
}
