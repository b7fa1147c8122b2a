/* Fields of records, checked: a result as the columns of the database have it. */
#ifndef TL_STORE_ROW_H
#define TL_STORE_ROW_H

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/io/json.h"
#include "lib/record/result.h"

/* A result record, checked as far as the columns go. Texts live in an arena. */
struct row {
	struct result r;
	unsigned char candidate[ID_HEX / 2];
	const char *since; /* when it became the best known: `at`, or NULL */
	double ratio;	   /* result_ratio() */
};

int row_from_json(struct row *w, const struct json_doc *d, struct arena *a, struct err *e);

/* A field that must be a text, not empty; and one that must be an id. */
int row_text(const struct json_doc *d, const struct json *obj, const char *key, struct arena *a,
	     const char **out, struct err *e);
int row_id(const struct json_doc *d, const struct json *obj, const char *key, struct arena *a,
	   const char **out, struct err *e);
void row_unhex(const char *hex, unsigned char *out); /* ID_HEX digits */
void row_hex(const unsigned char *p, struct id *id);

#endif
