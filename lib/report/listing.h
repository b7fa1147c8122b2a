/* The lines of a report as a table for people, or as CSV in SI units. Every figure comes from the
 * database; what is unknown is "-" (empty in CSV). */
#ifndef TL_REPORT_LISTING_H
#define TL_REPORT_LISTING_H

#include "lib/io/table.h"
#include "lib/report/lines.h"

/* Below the table stands what its figures are, and what the envs of stale and foreign answers
 * differ by. */
void listing_text(const struct report *r, const struct table_look *look, struct buf *out);
void listing_csv(const struct report *r, struct buf *out);

#endif
