#include "lib/store/recorded.h"

#include "lib/store/db.h"
#include "lib/store/row.h"

int store_recorded(void *store, const char *workload_id, const char *candidate_id, known_take *take,
		   void *to, struct err *e)
{
	unsigned char candidate[ID_HEX / 2];
	struct store *s = store;
	sqlite3_stmt *q;
	int64_t workload;
	int rc;

	q = db_sql(s,
		   "SELECT record FROM results JOIN records USING(num)"
		   " WHERE workload = ? AND candidate = ?",
		   e);
	if (!q || db_workload(s, workload_id, &workload, e))
		return -1;
	row_unhex(candidate_id, candidate);
	sqlite3_bind_int64(q, 1, workload);
	sqlite3_bind_blob(q, 2, candidate, sizeof candidate, SQLITE_TRANSIENT);
	while ((rc = db_step(s, q, e)) > 0) {
		size_t n;
		const char *text = db_given(s, q, 0, &n, e);

		if (!text || take(to, text, n, e)) {
			sqlite3_reset(q);
			return -1;
		}
	}
	return rc;
}
