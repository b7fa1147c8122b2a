/* The schema (schema.h) as text of a manual page in mdoc: the field lists of tl-record(5). */
#ifndef TL_RECORD_MANUAL_H
#define TL_RECORD_MANUAL_H

#include "lib/base/buf.h"

/* For each record type a line @MEANING TYPE@, and what the record is; and a line @FIELDS TYPE@, and
 * the list of its fields. tl-record(5) has these lines where the text is to stand. */
void manual_fields(struct buf *out);
/* Sentences in mdoc: what stands between backquotes gets quotation marks, tl-check(1) becomes a
 * reference, and what mdoc would take for a request is told as text. Ends in a newline. */
void manual_text(const char *text, struct buf *out);

#endif
