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

	q = db_sql(s,
		   "SELECT record FROM results JOIN records USING(num)"
		   " WHERE workload = ? AND candidate = ?",
		   e);
	if (!q || db_workload(s, workload_id, &workload, e))
		return -1;
	row_unhex(candidate_id, candidate);
	sqlite3_bind_int64(q, 1, workload);
	sqlite3_bind_blob(q, 2, candidate, sizeof candidate, SQLITE_TRANSIENT);
	return db_each(s, q, take, to, e);
}
