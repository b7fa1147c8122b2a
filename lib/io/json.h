/* JSON text of one record: strict parsing into a flat token array, without copying.
 *
 * Tokens point into the text, which must stay in place while they are used; json_free() gives back
 * the token array, which json_parse() reuses from one record to the next. Stricter than RFC 8259 in
 * what a record may hold: duplicate keys, integers beyond 2^53-1 in magnitude and numbers outside
 * the range of a double are errors, as are NaN and Infinity, which JSON never had. Built over jsmn
 * (Debian libjsmn-dev), which keeps byte spans; what jsmn leaves unchecked (separators, numbers,
 * escapes, UTF-8) is checked here.
 */
#ifndef TL_IO_JSON_H
#define TL_IO_JSON_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"

/* A record holds no whole number of a larger magnitude. */
#define JSON_MOST_INT (((int64_t)1 << 53) - 1)

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INT,
	JSON_REAL,
	JSON_STR,
	JSON_ARR,
	JSON_OBJ
};

struct json {
	enum json_type type;
	int size;      /* values in an array, members in an object; of a string: has it escapes? */
	int next;      /* index of the token after this value and all it holds */
	const char *s; /* text of the value; a string's without its quotes, escapes as written */
	size_t n;
};

struct json_doc {
	const char *text;
	struct json
		*tok; /* tok[0] is the whole value; a member is a JSON_STR key, then its value */
	int n, cap;
	void *scratch; /* jsmn's own tokens */
	int scratch_cap;
	int foreign; /* not a record: integers beyond 2^53-1 are JSON_REAL */
};

#define JSON_DOC_INIT                                                                              \
	{                                                                                          \
		NULL, NULL, 0, 0, NULL, 0, 0                                                       \
	}

/* Parses exactly one JSON value (white space around it allowed). The error names the byte offset.
 */
int json_parse(struct json_doc *d, const char *s, size_t n, struct err *e);
void json_free(struct json_doc *d);

/* Member of an object, NULL if obj is NULL, no object, or has no such key. */
const struct json *json_get(const struct json_doc *d, const struct json *obj, const char *key);
/* First value of an array or first key of an object, NULL if empty; then json_next until NULL. */
const struct json *json_first(const struct json_doc *d, const struct json *v);
const struct json *json_next(const struct json_doc *d, const struct json *parent,
			     const struct json *v);

/* Reading values: 0, or -1 if v is NULL or of another type (nothing is stored then). */
int json_int(const struct json *v, int64_t *out);
int json_num(const struct json *v, double *out); /* integers too */
int json_bool(const struct json *v, int *out);
int json_str(const struct json *v, struct arena *a,
	     const char **out);			  /* unescaped copy in a; not with \u0000 */
int json_is(const struct json *v, const char *s); /* is v this string, escapes undone? */

/* Rewriting: copies the record's text to out with the top-level fields given replaced where they
 * stand, or appended at the end in the order given; a field with value NULL is removed. All other
 * bytes of the line stay as they were. d must hold the parse of the text. Values are JSON text. */
struct json_field {
	const char *key, *value;
};
void json_rewrite(const struct json_doc *d, const struct json_field *f, int nf, struct buf *out);

/* Canonical form: no white space, fields in the order given by the text, strings with the shortest
 * escapes, numbers as buf_num and buf_int print them. */
void json_canonical(const struct json_doc *d, const struct json *v, struct buf *out);

#endif
