/* Writes JSON objects, field by field, as records have them.
 *
 * Each function appends a field to the object, or, if its key is NULL, an element to the list, that
 * the text ends in. Commas come by themselves. Objects, lists and records are closed by buf_ch().
 * Keys are written as they are; texts are escaped.
 */
#ifndef TL_IO_FIELD_H
#define TL_IO_FIELD_H

#include "lib/base/buf.h"
#include "lib/io/json.h"

#define TL_FORMAT 1 /* version of the record format, the "tl" field */

/* The beginning of a record of this type. */
void field_record(struct buf *out, const char *type);

/* Writes what stands before a value. The value must follow. */
void field_name(struct buf *out, const char *key);
/* Begin an object and a list. */
void field_object(struct buf *out, const char *key);
void field_list(struct buf *out, const char *key);

/* Nothing is written if the value is NULL. */
void field_text(struct buf *out, const char *key, const char *text);
void field_copy(struct buf *out, const char *key, const struct json *value);
void field_json(struct buf *out, const char *key, const char *json);

void field_number(struct buf *out, const char *key, double v); /* null if it is not finite */
void field_integer(struct buf *out, const char *key, int64_t v);
void field_flag(struct buf *out, const char *key, int v);
/* A value that is JSON as it is printed. */
void field_fmt(struct buf *out, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Null, and the reason beside it: latency_s has latency_why, and code_hash has code_hash_why. */
void field_null(struct buf *out, const char *key, const char *why);

/* Sets the fields of an object in the one that d holds, whose other bytes stay as they are
 * (json_rewrite). set: the object as field_object() began it, without its brace. owned: names of
 * fields that go unless they are set, with NULL at the end; NULL: none. */
void field_rewrite(const struct json_doc *d, const struct buf *set, const char *const *owned,
		   struct buf *out);

/* Lists of numbers: the two ends of an interval, and n of them. */
void field_interval(struct buf *out, const char *key, double lo, double hi);
void field_numbers(struct buf *out, const char *key, const double *v, int n);

#endif
