/* Statistics and costs as they are told: a record, a table for people, or CSV in SI units. */
#ifndef TL_REPORT_TELL_H
#define TL_REPORT_TELL_H

#include "lib/io/table.h"
#include "lib/store/cost.h"
#include "lib/store/store.h"

enum tell_form { TELL_RECORD, TELL_TEXT, TELL_CSV };

/* Appended to b; a record without its newline. look: of a table. */
void tell_stats(const struct store_stats *s, enum tell_form form, const struct table_look *look,
		struct buf *b);
void tell_cost(const struct cost_sum *s, enum tell_form form, const struct table_look *look,
	       struct buf *b);

#endif
