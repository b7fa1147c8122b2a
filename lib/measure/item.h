/* A group of candidates, and each of them, on their way through a run. */
#ifndef TL_MEASURE_ITEM_H
#define TL_MEASURE_ITEM_H

#include "lib/algo/candidate.h"
#include "lib/build/cache.h"
#include "lib/io/json.h"
#include "lib/measure/contest.h"
#include "lib/measure/known.h"
#include "lib/trial/trial.h"

/* A candidate on its way through a group. */
struct item {
	const char *line;
	size_t n;
	struct id id;
	struct build *build;
	struct known_answer known; /* from an earlier run: not measured again */
	double build_s;		   /* charged to this candidate, the first that wanted the object */
	double build_core_s;
	const char *status; /* decided before any run, else NULL */
	const char *why;
	struct contestant in;
	struct item *next;
};

/* One workload and the candidates to measure for it. */
struct group {
	struct arena arena; /* everything of the group */
	struct workload w;
	const char *record; /* the workload record, NULL if none came */
	size_t record_n;
	const char *end; /* the end record, NULL if none came */
	size_t end_n;
	int cut;	    /* its input was cut off: it gets no end */
	double incumbent_s; /* from the workload record; 0: none */
	struct item *first, **last;
	int64_t n, nknown;
	double known_s; /* of the best candidate known so far, or the incumbent; 0: none */
	struct build *naive;
	struct json_doc outcome[ENTRANTS]; /* of the last finals */
	struct group *next;
};

#endif
