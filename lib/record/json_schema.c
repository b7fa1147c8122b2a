#include "lib/record/json_schema.h"

#include <assert.h>
#include <string.h>

#include "lib/record/schema.h"

enum { OBJECTS = 64 };

/* The objects that are told of, each once. */
struct objects {
	const struct record_object *item[OBJECTS];
	int n;
};

static void collect(struct objects *all, const struct record_object *o)
{
	for (int i = 0; i < all->n; i++)
		if (all->item[i] == o)
			return;
	assert(all->n < OBJECTS);
	all->item[all->n++] = o;
	if (o->base)
		collect(all, o->base);
	for (const struct record_field *f = o->field; f->name; f++)
		if (f->object)
			collect(all, f->object);
}

static void put_text(struct buf *out, const char *key, const char *text)
{
	buf_fmt(out, "\"%s\":", key);
	buf_json(out, text, strlen(text));
}

/* ---- values ---- */

static const char id[] = "\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\",\"maxLength\":32";
static const char time_of_day[] =
	"\"type\":\"string\",\"maxLength\":24,\"pattern\":\"^[0-9]{4}-"
	"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|"
	"02-(0[1-9]|[12][0-9]))T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)[.][0-9]{3}Z$\"";
static const char number[] = "\"type\":\"number\",\"minimum\":0,\"maximum\":1e30";

static void put_words(const struct record_word *w, struct buf *out)
{
	buf_str(out, "\"enum\":[");
	for (int i = 0; w[i].word; i++)
		buf_fmt(out, "%s\"%s\"", i ? "," : "", w[i].word);
	buf_ch(out, ']');
}

/* What holds for a value of the field's kind. */
static void put_kind(const struct record_field *f, struct buf *out)
{
	static const char *const plain[] = {
		[RECORD_TEXT] = "\"type\":\"string\"",
		[RECORD_ID] = id,
		[RECORD_CHECKSUM] =
			"\"type\":\"string\",\"pattern\":\"^[0-9a-f]{16}$\",\"maxLength\":16",
		[RECORD_TIME] = time_of_day,
		[RECORD_FLAG] = "\"type\":\"boolean\"",
		[RECORD_COUNT] = "\"type\":\"integer\",\"minimum\":0",
		[RECORD_NUMBER] = number,
		[RECORD_REAL] = "\"type\":\"number\"",
		[RECORD_TEXTS] = "\"type\":\"array\",\"items\":{\"type\":\"string\"}",
		[RECORD_KNOBS] = "\"type\":\"object\",\"additionalProperties\":{\"type\":"
				 "\"integer\"}",
		[RECORD_CHOICES] =
			"\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\","
			"\"items\":{\"type\":\"integer\"}}",
	};

	switch (f->kind) {
	case RECORD_WORD:
		put_words(f->words, out);
		break;
	case RECORD_INTERVAL:
		buf_fmt(out, "\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"items\":{%s}",
			number);
		break;
	case RECORD_NUMBERS:
		buf_fmt(out, "\"type\":\"array\",\"items\":{%s}", number);
		break;
	case RECORD_AMOUNTS:
		buf_fmt(out, "\"type\":\"object\",\"additionalProperties\":{%s}", number);
		break;
	case RECORD_OBJECT:
		buf_fmt(out, "\"$ref\":\"#/$defs/%s\"", f->object->name);
		break;
	case RECORD_OBJECTS:
		buf_fmt(out, "\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/%s\"}",
			f->object->name);
		break;
	default:
		buf_str(out, plain[f->kind]);
	}
}

static void put_field(const struct record_object *o, const struct record_field *f, struct buf *out)
{
	const char *by = f->by ? f->by : o->by;

	buf_fmt(out, "    \"%s\":{", f->name);
	if (f->nullable)
		buf_str(out, "\"anyOf\":[{\"type\":\"null\"},{");
	put_kind(f, out);
	buf_str(out, f->nullable ? "}]," : ",");
	if (f->unit) {
		put_text(out, "x-unit", f->unit);
		buf_ch(out, ',');
	}
	if (by) {
		put_text(out, "x-written-by", by);
		buf_ch(out, ',');
	}
	put_text(out, "description", f->meaning);
	buf_ch(out, '}');
}

/* ---- objects ---- */

/* The list "required" of the fields with this need. */
static void put_required(const struct record_object *o, enum record_need need, struct buf *out)
{
	const char *mark = "";

	buf_str(out, "\"required\":[");
	for (const struct record_field *f = o->field; f->name; f++)
		if (f->need == need) {
			buf_fmt(out, "%s\"%s\"", mark, f->name);
			mark = ",";
		}
	buf_ch(out, ']');
}

static int has_need(const struct record_object *o, enum record_need need)
{
	for (const struct record_field *f = o->field; f->name; f++)
		if (f->need == need)
			return 1;
	return 0;
}

/* What the status asks for. */
static void put_by_status(const struct record_object *o, struct buf *out)
{
	const char *mark = "";

	buf_str(out, ",\n    {\"if\":{\"properties\":{\"status\":{\"const\":\"ok\"}}},\"then\":{");
	put_required(o, RECORD_IF_OK, out);
	buf_str(out, ",\"properties\":{");
	for (const struct record_field *f = o->field; f->name; f++)
		if (f->need == RECORD_IF_OK && f->nullable) {
			buf_fmt(out, "%s\"%s\":{\"not\":{\"type\":\"null\"}}", mark, f->name);
			mark = ",";
		}
	buf_str(out, "}},\"else\":{");
	put_required(o, RECORD_UNLESS_OK, out);
	buf_str(out, "}}");
}

/* Null only with its reason beside it. */
static void put_reason(const struct record_field *f, struct buf *out)
{
	struct record_reasons r;

	record_reasons(f->name, strlen(f->name), &r);
	buf_fmt(out,
		",\n    "
		"{\"if\":{\"required\":[\"%s\"],\"properties\":{\"%s\":{\"type\":\"null\"}}},"
		"\"then\":{\"anyOf\":[",
		f->name, f->name);
	for (int i = 0; i < r.n; i++)
		buf_fmt(out,
			"%s{\"required\":[\"%s\"],\"properties\":{\"%s\":{\"type\":\"string\","
			"\"minLength\":1}}}",
			i ? "," : "", r.name[i], r.name[i]);
	buf_str(out, "]}}");
}

static void put_object(const struct record_object *o, struct buf *out)
{
	const char *mark = "\n";

	buf_fmt(out, "\n  \"%s\":{", o->name);
	if (o->meaning) {
		put_text(out, "description", o->meaning);
		buf_ch(out, ',');
	}
	buf_str(out, "\"type\":\"object\",");
	put_required(o, RECORD_REQUIRED, out);
	buf_str(out, ",\"properties\":{");
	for (const struct record_field *f = o->field; f->name; f++) {
		buf_str(out, mark);
		put_field(o, f, out);
		mark = ",\n";
	}
	/* The first element is there always, so that the others need no look at whether they are.
	 */
	buf_fmt(out, "\n   },\"allOf\":[{\"$ref\":\"#/$defs/%s\"}",
		o->base ? o->base->name : "any");
	if (has_need(o, RECORD_IF_OK))
		put_by_status(o, out);
	for (const struct record_field *f = o->field; f->name; f++)
		if (f->nullable)
			put_reason(f, out);
	buf_str(out, "]}");
}

static void put_types(struct buf *out)
{
	buf_str(out, "\"allOf\":[");
	for (const struct record_object *const *r = record_list; *r; r++)
		buf_fmt(out,
			"%s\n  {\"if\":{\"properties\":{\"type\":{\"const\":\"%s\"}}},\"then\":{"
			"\"allOf\":[{\"$ref\":\"#/$defs/%s\"},{\"$ref\":\"#/$defs/quantities\"}]}}",
			r == record_list ? "" : ",", (*r)->name, (*r)->name);
	buf_str(out, "],\n");
}

/* What holds for fields of any name (check.h). */
static void put_quantities(struct buf *out)
{
	buf_str(out, "\n  \"any\":true,\n  \"quantities\":{\"properties\":{\"x\":true},"
		     "\"patternProperties\":{\"(_s|_J|bytes)$\":{\"type\":[\"number\",\"array\","
		     "\"null\"],\"minimum\":0,\"maximum\":1e30}},"
		     "\"additionalProperties\":{\"$ref\":\"#/$defs/quantities\"}}");
}

void record_json_schema(struct buf *out)
{
	struct objects all = {.n = 0};

	for (const struct record_object *const *r = record_list; *r; r++)
		collect(&all, *r);
	buf_str(out,
		"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\n"
		"\"title\":\"A record of Tensor Lathe, format 1\",\n"
		"\"description\":\"tl-record(5) tells what the records mean; tl-check(1) checks "
		"what no schema can tell.\",\n"
		"\"type\":\"object\",\"required\":[\"tl\",\"type\"],\n"
		"\"properties\":{\"tl\":{\"const\":1},\"type\":{\"type\":\"string\"}},\n");
	put_types(out);
	buf_str(out, "\"$defs\":{");
	put_quantities(out);
	for (int i = 0; i < all.n; i++) {
		buf_ch(out, ',');
		put_object(all.item[i], out);
	}
	buf_str(out, "}}\n");
}
