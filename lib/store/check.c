/* Is a database sound? SQLite looks at its pages, indexes and references, and what is counted while
 * results are stored is counted again. */
#include "lib/store/db.h"
#include "lib/store/tally.h"

int store_check(struct store *s, struct buf *report, struct err *e)
{
	static const struct {
		const char *sql, *before, *behind;
	} check[] = {
		{"PRAGMA integrity_check(20)", "", ""},
		{"PRAGMA foreign_key_check", "table ", " has a row without its parent"},
		{"WITH again AS (" RECOUNT ") SELECT id FROM workloads JOIN ("
		 "SELECT workload FROM (SELECT * FROM tallies EXCEPT SELECT * FROM again)"
		 " UNION SELECT workload FROM (SELECT * FROM again EXCEPT SELECT * FROM tallies))"
		 " ON workload = num UNION SELECT id FROM workloads WHERE candidates "
		 "<> " RECOUNT_CANDIDATES " LIMIT 20",
		 "the tallies of workload ", " are not those of its results"},
	};
	enum { CHECKS = sizeof check / sizeof *check };
	size_t before = report->n;

	for (int i = 0; i < CHECKS; i++) {
		sqlite3_stmt *q = db_sql(s, check[i].sql, e);
		int rc;

		if (!q)
			return -1;
		while ((rc = db_step(s, q, e)) > 0) {
			const char *text = (const char *)sqlite3_column_text(q, 0);

			if (i || strcmp(text, "ok") != 0)
				buf_fmt(report, "%s%s%s\n", check[i].before, text, check[i].behind);
		}
		if (rc < 0)
			return -1;
	}
	return report->n == before;
}
