/* Shows what a fleet does: its units of work by env, and the machines that have some. */
#ifndef TL_REPORT_FLEET_H
#define TL_REPORT_FLEET_H

#include "lib/report/totals.h"
#include "lib/store/store.h"

/* Appends records, a table or CSV. */
int fleet_put(struct store *db, enum output_form form, const struct table_look *look,
	      struct buf *out, struct err *e);
/* The same as metrics in Prometheus's text format, for the textfile collector of its node_exporter:
 * tl_units{env,state}, tl_units_done_per_second{env} and tl_holder_units{holder,state}. */
int fleet_metrics(struct store *db, struct buf *out, struct err *e);

#endif
