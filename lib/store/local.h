/* Fits a model to the machine by what the database knows of it (lib/model/adapt.h). */
#ifndef TL_STORE_LOCAL_H
#define TL_STORE_LOCAL_H

#include "lib/model/adapt.h"
#include "lib/store/store.h"

enum { LOCAL_WHY = 120 };

/* What became of it (enum adapted), or -1. By the newest times of the env, at most 4096 among the
 * last 100000 results. here: its limits. A model that should not be asked here is freed and *m is
 * NULL: `why` holds a sentence. */
int local_adapt(struct store *s, const char *env_id, const struct limits *here, struct model **m,
		char why[LOCAL_WHY], struct err *e);

#endif
