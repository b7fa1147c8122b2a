/* Adapts a model to the machine with results of the database (lib/model/adapt.h). */
#ifndef TL_ANSWER_LOCAL_H
#define TL_ANSWER_LOCAL_H

#include "lib/model/adapt.h"
#include "lib/store/store.h"

enum { LOCAL_WHY = 120 };

/* Returns an enum adapted, or -1. Uses the newest times of the env: at most 4096, among the last
 * 100000 results. here: the limits of the env. If the model should not be used here, it is freed,
 * *m is NULL, and `why` holds a sentence. */
int local_adapt(struct store *s, const char *env_id, const struct limits *here, struct model **m,
		char why[LOCAL_WHY], struct err *e);

/* Makes a model of the database's results of the env alone (lib/model/adapt.h). *m NULL: they are
 * too few. */
int local_learn(struct store *s, const char *env_id, const struct limits *here, struct model **m,
		struct err *e);

#endif
