/* Chooses the kernel of a workload: the best one that a database has for this machine; else the one
 * that tl-query --predict would name, without measuring (lib/answer/zero_shot.h).
 */
#ifndef TL_RUN_CHOOSE_H
#define TL_RUN_CHOOSE_H

#include "lib/algo/candidate.h"
#include "lib/answer/local.h"
#include "lib/answer/match.h"
#include "lib/features/candidate_features.h"
#include "lib/model/model.h"
#include "lib/store/store.h"

struct chooser {
	struct store *db; /* NULL: none */
	struct matcher *matcher;
	struct store_env here;
	struct data_env env;
	struct model *model; /* NULL: none */
	int is_adapted;	     /* the model was adapted, which the first unknown workload asks for */
	char useless[LOCAL_WHY]; /* why the model is not used; empty: it is, or there is none */
	struct arena run, record;
	struct json_doc doc;
	struct door_refused refused; /* results that make no program here */
};

struct chosen {
	struct candidate candidate;
	const char *match;  /* "exact", or the name of its origin */
	double predicted_s; /* measured on this machine; NAN: it was not */
};

/* path: of the database, which need not exist; NULL: none. model_path as in tl-query. */
int chooser_open(struct chooser *c, const char *path, const char *model_path,
		 const struct limits *limits, struct err *e);
void chooser_close(struct chooser *c);
/* The sentence on stored results that were left out so far; NULL: none was. */
const char *chooser_doubt(const struct chooser *c, char text[DOOR_SENTENCE]);
/* 1; 0: no algorithm applies; -1. */
int chooser_pick(struct chooser *c, const struct workload *w, struct chosen *out, struct err *e);

#endif
