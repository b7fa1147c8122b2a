/* The results of a candidate in the database, as a source for lib/measure/known.h. */
#ifndef TL_STORE_RECORDED_H
#define TL_STORE_RECORDED_H

#include "lib/measure/known.h"
#include "lib/store/store.h"

/* store: a struct store. */
int store_recorded(void *store, const char *workload_id, const char *candidate_id, known_take *take,
		   void *to, struct err *e);

#endif
