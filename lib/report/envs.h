/* The envs that a database knows: what each is, what it has, and what differs from the one that
 * answers are for. */
#ifndef TL_REPORT_ENVS_H
#define TL_REPORT_ENVS_H

#include "lib/io/table.h"
#include "lib/report/totals.h"

/* here: the env to compare with. Appended to out: a record a line, a table, or CSV. */
int envs_put(struct store *s, const struct store_env *here, enum output_form form,
	     const struct table_look *look, struct buf *out, struct err *e);

#endif
