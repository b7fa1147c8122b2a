/* The model that predicts on this machine. It meets the machine when it is loaded, and is adapted
 * to it with results of the database (lib/model/adapt.h). */
#ifndef TL_ANSWER_LOCAL_H
#define TL_ANSWER_LOCAL_H

#include "lib/model/adapt.h"
#include "lib/store/store.h"

enum { LOCAL_WHY = 120 };

/* Loads the model of that path, and lets it meet the machine (model_meet()). NULL on failure. */
struct model *local_load(const char *path, const struct limits *here, struct err *e);
/* The same with the model that model_default() finds. *m NULL: there is none. */
int local_open(const char *named, int pretrained, const struct limits *here, struct model **m,
	       struct err *e);

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
