/* The record schema: the one place that tells what fields records have. For each record type and
 * each object in it there is a table; a row tells a field's name, its kind and unit, whether it
 * must be there and may be null, the program that writes it, and what it means. From these tables
 * come what tl-check demands (check.h), the field lists of tl-record(5) (manual.h) and the JSON
 * Schema that tl-check --schema prints (json_schema.h).
 *
 * What a table cannot tell is code: whether an id is that of its fields, whether an interval begins
 * below its end, whether a result contradicts itself.
 */
#ifndef TL_RECORD_SCHEMA_H
#define TL_RECORD_SCHEMA_H

#include <stddef.h>

#include "lib/io/json.h"

/* The largest number of a field: what is larger measures nothing, and sums of it would not be
 * finite. */
#define RECORD_MOST 1e30

enum record_kind {
	RECORD_TEXT,
	RECORD_WORD,	 /* one of the field's words */
	RECORD_ID,	 /* 32 hexadecimal digits */
	RECORD_CHECKSUM, /* 16 hexadecimal digits (checksum.h) */
	RECORD_TIME,	 /* of day: 2026-11-21T09:00:00.000Z */
	RECORD_FLAG,	 /* true or false */
	RECORD_COUNT,	 /* a whole number, 0 or more */
	RECORD_NUMBER,	 /* a number from 0 to RECORD_MOST */
	RECORD_REAL,	 /* any number */
	RECORD_INTERVAL, /* an array of two such numbers, the lower one first */
	RECORD_NUMBERS,	 /* an array of such numbers */
	RECORD_TEXTS,	 /* an array of strings */
	RECORD_OBJECT,	 /* with the fields of the field's object */
	RECORD_OBJECTS,	 /* an array of such objects */
	RECORD_KNOBS,	 /* an object: whole numbers by name */
	RECORD_CHOICES,	 /* an object: arrays of whole numbers by name */
	RECORD_AMOUNTS,	 /* an object: such numbers by name */
};

enum record_need {
	RECORD_OPTIONAL,
	RECORD_REQUIRED,
	RECORD_IF_OK,	  /* required, and not null, where "status" is "ok" */
	RECORD_UNLESS_OK, /* required where "status" is another */
};

/* A member holds a field by its kind (members.h), unless its row names another way: as a number of
 * the word list, or as the text of its JSON. */
enum record_as { RECORD_AS_KIND, RECORD_AS_ENUM, RECORD_AS_JSON };

struct record_word {
	const char *word;
	const char *meaning; /* NULL: the field's own text tells it */
};

struct record_object;

struct record_field {
	const char *name;
	enum record_kind kind;
	enum record_need need;
	int nullable;			    /* may be null, if the reason stands beside it */
	const char *unit;		    /* NULL: none, or the kind has no unit */
	const struct record_word *words;    /* RECORD_WORD; the last has no word */
	const struct record_object *object; /* RECORD_OBJECT, RECORD_OBJECTS */
	const char *by;			    /* the program that writes it; NULL: the object's */
	/* Where a struct holds it (members.h); 0: it does not. And the reason why it is null. */
	size_t at, why_at;
	enum record_as as;
	/* Sentences. What stands between backquotes is the text of a record; tl-check(1) refers to
	   a manual page. */
	const char *meaning;
};

struct record_object {
	const char *name; /* of a record: its type */
	const char *by;	  /* the programs that write it */
	const char *meaning;
	const struct record_object *base; /* whose fields it has, too; NULL: none */
	const struct record_field *field; /* the last has no name */
};

/* All types of records, in the order of the manual; NULL at the end. */
extern const struct record_object *const record_list[];
const struct record_object *record_find(const char *type, size_t n);

/* The index of the field with this name. It is looked for from `from` on, and then before it, as
 * fields mostly stand in the schema's order. -1: the object has none. */
int record_find_field(const struct record_object *o, const struct json *key, int from);

/* Objects that others name. */
extern const struct record_object record_workload, record_candidate, record_result, record_end,
	record_run, record_begin, record_done, record_space, record_observed, record_ask,
	record_stats, record_cost, record_env, record_fleet, record_choice;
extern const struct record_object record_machine;  /* what an env is: "env" of a result */
extern const struct record_object record_identity; /* the fields that make a workload's id */

/* The fields that may hold the reason why a field is null, such as latency_s_why and latency_why.
 */
enum { RECORD_REASONS = 2, RECORD_NAME = 64 };
struct record_reasons {
	int n;
	char name[RECORD_REASONS][RECORD_NAME];
};
/* Of a name of n bytes; one that is too long has none. */
void record_reasons(const char *name, size_t n, struct record_reasons *r);

#endif
