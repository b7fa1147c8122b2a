/* Is a database sound? It looks at itself (of a file: its pages, indexes and references), and what
 * is counted while results are stored is counted again: workload by workload, so that writers find
 * a gap. */
#include "lib/store/db.h"
#include "lib/store/tally.h"

static int check_tallies(struct store *s, struct buf *report, struct err *e)
{
	struct stmt *next =
		db_sql(s, "SELECT num, id FROM workloads WHERE num > ? ORDER BY num LIMIT 1", e);
	struct arena a = {0};
	int64_t num = 0;
	int rc = next ? 1 : -1;

	while (rc >= 0) {
		const char *id;

		db_bind_int(next, 1, num);
		if ((rc = db_step(next, e)) <= 0)
			break;
		num = db_int(next, 0);
		if (!(id = db_given_copy(next, 1, &a, e))) {
			rc = -1;
			break;
		}
		db_reset(next);
		if ((rc = tally_holds(s, num, e)) == 0)
			buf_fmt(report, "the tallies of workload %s are not those of its results\n",
				id);
		arena_reset(&a);
	}
	arena_free(&a);
	return rc;
}

int store_check(struct store *s, struct buf *report, struct err *e)
{
	size_t before = report->n;

	if (s->backend->inspect(s, report, e) || check_tallies(s, report, e))
		return -1;
	return report->n == before;
}
