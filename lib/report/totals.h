/* Totals of a database: statistics and costs, as a record, as a table for people, or as CSV in SI
 * units. */
#ifndef TL_REPORT_TOTALS_H
#define TL_REPORT_TOTALS_H

#include "lib/io/table.h"
#include "lib/store/cost.h"
#include "lib/store/store.h"

enum output_form { OUTPUT_RECORD, OUTPUT_TEXT, OUTPUT_CSV };

/* Prints a table as text or as CSV, and frees it. */
void totals_table(struct table *t, enum output_form form, const struct table_look *look,
		  struct buf *b);

/* Appended to b; a record without its newline. look: of a table. */
void totals_stats(const struct store_stats *s, enum output_form form, const struct table_look *look,
		  struct buf *b);
void totals_cost(const struct cost_sum *s, enum output_form form, const struct table_look *look,
		 struct buf *b);

#endif
