/* Chooses the kernel of a workload: the best one that a database has for this machine; else the one
 * that tl-query --predict would name, without measuring (lib/answer/zero_shot.h).
 *
 * If whole runs of this network were fastest with another kernel (inplace.h), it is that one, as
 * long as the best one is among those that it was compared with.
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
	const struct id *network;  /* what is run; NULL: choices do not count */
	const struct raced *raced; /* workloads whose kernels get rivals; NULL: none */
	struct data_env env;
	struct model *model; /* NULL: none */
	int is_adapted;	     /* the model was adapted, which the first unknown workload asks for */
	char useless[LOCAL_WHY]; /* why the model is not used; empty: it is, or there is none */
	struct arena run, record;
	struct map predicted; /* workload ids: struct chosen, what was predicted */
	struct json_doc doc;
	struct door_refused refused; /* results that make no program here */
};

struct chosen {
	struct candidate candidate;
	const char *match;  /* "exact", "in place", or the name of its origin */
	double predicted_s; /* measured on this machine; NAN: it was not */
	int is_decided;	    /* by whole runs of the network */
};

/* Workloads whose kernels get rivals. */
struct raced {
	int n;
	const struct id *workload;
	int any; /* however slow a rival is alone */
	/* NULL; or of each what won (match NULL: nothing did), which is then chosen, and what was
	 * chosen before, which is then its only rival. */
	const struct chosen *won, *first;
};

/* A chooser may serve several networks, one after the other, in which `network` and `raced` are
 * what is to be set. path: of the database, which need not exist; NULL: none. model_path as in
 * tl-query. */
int chooser_open(struct chooser *c, const char *path, const char *model_path,
		 const struct limits *limits, struct err *e);
void chooser_close(struct chooser *c);
/* The sentence on stored results that were left out so far; NULL: none was. */
const char *chooser_doubt(const struct chooser *c, char text[DOOR_SENTENCE]);
/* 1; 0: no algorithm applies; -1. */
int chooser_pick(struct chooser *c, const struct workload *w, struct chosen *out, struct err *e);
/* Finds kernels that may be faster in the network than the chosen one, if the workload is among
 * those that are raced: at most CHOOSER_RIVALS of the database's candidates that are hardly slower
 * alone, the fastest of each other algorithm before others. Returns how many, or -1. */
enum { CHOOSER_RIVALS = 3 };
int chooser_rivals(struct chooser *c, const struct workload *w, const struct chosen *now,
		   struct chosen out[CHOOSER_RIVALS], struct err *e);

#endif
