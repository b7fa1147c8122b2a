/* The schema (schema.h) as text of a manual page in mdoc: the field lists of tl-record(5). */
#ifndef TL_RECORD_MANUAL_H
#define TL_RECORD_MANUAL_H

#include "lib/base/buf.h"

/* For each record type a line @MEANING TYPE@, and what the record is; and a line @FIELDS TYPE@, and
 * the list of its fields. tl-record(5) has these lines where the text is to stand. */
void manual_fields(struct buf *out);

#endif
