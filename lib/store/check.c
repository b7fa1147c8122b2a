/* Is a database sound? SQLite looks at its pages, indexes and references, and what is counted while
 * results are stored is counted again: workload by workload, so that writers find a gap. */
#include "lib/store/db.h"
#include "lib/store/tally.h"

/* Adds a line to the report for each row of the query, but for one that says ok. */
static int report_rows(struct store *s, sqlite3_stmt *q, const char *before, const char *behind,
		       struct buf *report, struct err *e)
{
	int rc;

	while ((rc = db_step(s, q, e)) > 0) {
		const char *text = db_given(s, q, 0, NULL, e);

		if (!text)
			return -1;
		if (strcmp(text, "ok") != 0)
			buf_fmt(report, "%s%s%s\n", before, text, behind);
	}
	return rc;
}

static int check_tallies(struct store *s, struct buf *report, struct err *e)
{
	sqlite3_stmt *next =
		db_sql(s, "SELECT num FROM workloads WHERE num > ? ORDER BY num LIMIT 1", e);
	sqlite3_stmt *q =
		db_sql(s,
		       "WITH again AS (" RECOUNT(
			       "WHERE workload = ?1") "),"
						      " kept AS (SELECT * FROM tallies WHERE "
						      "workload = ?1)"
						      " SELECT id FROM workloads WHERE num = ?1 "
						      "AND (candidates <> " RECOUNT_CANDIDATES
						      " OR EXISTS(SELECT * FROM kept EXCEPT SELECT "
						      "* FROM again)"
						      " OR EXISTS(SELECT * FROM again EXCEPT "
						      "SELECT * FROM kept))",
		       e);
	int64_t num = 0;
	int rc;

	if (!next || !q)
		return -1;
	for (;;) {
		sqlite3_bind_int64(next, 1, num);
		if ((rc = db_step(s, next, e)) <= 0)
			return rc;
		num = sqlite3_column_int64(next, 0);
		sqlite3_reset(next);
		sqlite3_bind_int64(q, 1, num);
		if (report_rows(s, q, "the tallies of workload ", " are not those of its results",
				report, e))
			return -1;
	}
}

int store_check(struct store *s, struct buf *report, struct err *e)
{
	sqlite3_stmt *pages = db_sql(s, "PRAGMA integrity_check(20)", e);
	sqlite3_stmt *references = db_sql(s, "PRAGMA foreign_key_check", e);
	size_t before = report->n;

	if (!pages || !references || report_rows(s, pages, "", "", report, e) ||
	    report_rows(s, references, "table ", " has a row without its parent", report, e) ||
	    check_tallies(s, report, e))
		return -1;
	return report->n == before;
}
