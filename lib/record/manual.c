#include "lib/record/manual.h"

#include "lib/io/mdoc.h"
#include "lib/record/schema.h"

static const char *kind_text(enum record_kind k)
{
	static const char *const text[] = {
		[RECORD_TEXT] = "string",
		[RECORD_WORD] = "word",
		[RECORD_ID] = "id",
		[RECORD_CHECKSUM] = "checksum",
		[RECORD_TIME] = "time of day",
		[RECORD_FLAG] = "true or false",
		[RECORD_COUNT] = "whole number",
		[RECORD_NUMBER] = "number",
		[RECORD_REAL] = "number of either sign",
		[RECORD_INTERVAL] = "interval [low, high]",
		[RECORD_NUMBERS] = "array of numbers",
		[RECORD_TEXTS] = "array of strings",
		[RECORD_OBJECT] = "object",
		[RECORD_OBJECTS] = "array of objects",
		[RECORD_KNOBS] = "object of whole numbers by name",
		[RECORD_CHOICES] = "object of arrays of whole numbers by name",
		[RECORD_AMOUNTS] = "object of numbers by name",
	};

	return text[k];
}

/* Kind, unit, whether it is required and may be null, and the program that writes it. */
static void put_nature(const struct record_field *f, struct buf *out)
{
	static const char *const need[] = {
		[RECORD_OPTIONAL] = "",
		[RECORD_REQUIRED] = "; required",
		[RECORD_IF_OK] = "; required if the status is ok",
		[RECORD_UNLESS_OK] = "; required unless the status is ok",
	};

	buf_fmt(out, ".Em %s", kind_text(f->kind));
	if (f->unit)
		buf_fmt(out, ", in %s", f->unit);
	buf_str(out, need[f->need]);
	if (f->nullable)
		buf_str(out, f->need == RECORD_IF_OK ? ", else may be null" : "; may be null");
	if (f->by)
		buf_fmt(out, "; written by %s", f->by);
	buf_str(out, "\n.br\n");
}

static void put_words(const struct record_word *w, struct buf *out)
{
	if (!w[0].meaning) /* the text of the field tells it */
		return;
	buf_str(out, ".Bl -tag -width weights-cold -compact\n");
	for (; w->word; w++) {
		buf_fmt(out, ".It Li %s\n", w->word);
		mdoc_text(w->meaning, out);
	}
	buf_str(out, ".El\n");
}

static void put_fields(const struct record_object *o, const char *form, struct buf *out)
{
	buf_fmt(out, ".Bl -tag -width %s\n", form);
	for (const struct record_field *f = o->field; f->name; f++) {
		buf_fmt(out, ".It Li %s\n", f->name);
		put_nature(f, out);
		mdoc_text(f->meaning, out);
		if (f->words)
			put_words(f->words, out);
		if (f->object && f->object != &record_identity)
			put_fields(f->object, "Ds -compact", out);
	}
	buf_str(out, ".El\n");
}

void manual_fields(struct buf *out)
{
	for (const struct record_object *const *r = record_list; *r; r++) {
		const char *by = (*r)->by;

		buf_fmt(out, "@MEANING %s@\n", (*r)->name);
		mdoc_text((*r)->meaning, out);
		buf_fmt(out, "Written by %s.\n@FIELDS %s@\n", by, (*r)->name);
		/* A result has a candidate's fields; those of a workload are told with it. */
		if ((*r)->base == &record_identity)
			put_fields((*r)->base, "workload_id", out);
		put_fields(*r, "workload_id", out);
	}
}
