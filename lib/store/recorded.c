#include "lib/store/recorded.h"

#include "lib/store/db.h"
#include "lib/store/row.h"

int store_recorded(void *store, const char *workload_id, const char *candidate_id, known_take *take,
		   void *to, struct err *e)
{
	unsigned char candidate[ID_HEX / 2];
	struct store *s = store;
	struct stmt *q;
	int64_t workload;

	q = db_sql(s,
		   "SELECT record FROM results JOIN records USING(num)"
		   " WHERE workload = ? AND candidate = ?",
		   e);
	if (!q || db_workload(s, workload_id, &workload, e))
		return -1;
	row_unhex(candidate_id, candidate);
	db_bind_int(q, 1, workload);
	db_bind_bytes(q, 2, candidate, sizeof candidate);
	return db_each(q, take, to, e);
}
