/* Holds a parsed record against the schema (schema.h). */
#ifndef TL_RECORD_CHECK_H
#define TL_RECORD_CHECK_H

#include "lib/base/err.h"
#include "lib/io/json.h"
#include "lib/record/schema.h"

/* 0; -1 with the sentence on the first field of obj, an object of d, that is missing, of another
 * kind than the schema's, or null where it may not be. Fields that the schema does not know may
 * hold anything. */
int record_check(const struct record_object *o, const struct json_doc *d, const struct json *obj,
		 struct err *e);
/* The rules for fields of any name, in obj and all objects in it but "x", which is the user's: what
 * is named after a unit (latency_s, energy_J, bytes) is a number of 0 or more, an array or null;
 * and what is null has its reason beside it. 0; -1 with the sentence. */
int record_check_quantities(const struct json_doc *d, const struct json *obj, struct err *e);

#endif
