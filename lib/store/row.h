/* Fields of records, checked: a result as the columns of the database have it. */
#ifndef TL_STORE_ROW_H
#define TL_STORE_ROW_H

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/io/json.h"
#include "lib/record/status.h"

/* A result record, as far as the columns go. Texts live in an arena. */
struct row {
	const char *workload_id, *env_id, *run, *at;
	enum status status;
	unsigned char candidate[ID_HEX / 2];
	int final;
	const char *since;		      /* when it became the best known: `at`, or NULL */
	double latency_s, baseline_s, core_s; /* NAN: unknown */
	double ratio; /* of a race: rec_duel_ratio(); of a final: the library's time over its own;
		       * NAN
		       */
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
