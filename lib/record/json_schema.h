/* The schema as a JSON Schema, draft 2020-12, for programs in other languages. It refuses nothing
 * that tl-check takes. tl-check refuses more: what no table tells (schema.h), and null without a
 * reason in a field that the schema does not know. */
#ifndef TL_RECORD_JSON_SCHEMA_H
#define TL_RECORD_JSON_SCHEMA_H

#include "lib/base/buf.h"

/* Adds the text, which ends in a newline. */
void record_json_schema(struct buf *out);

#endif
