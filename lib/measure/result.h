/* Result records: a candidate's line with what happened to it, and the end record of its group. */
#ifndef TL_MEASURE_RESULT_H
#define TL_MEASURE_RESULT_H

#include "lib/measure/final.h"
#include "lib/measure/item.h"
#include "lib/measure/run.h"
#include "lib/record/result.h"

/* The content of a result. */
struct verdict {
	/* The worker filled it, in a final the last one. If no worker answered, it has a status and
	 * a reason alone. */
	struct result said;
	struct arena *arena;	   /* for texts of that */
	const struct final *final; /* NULL: it is a race */
	int is_final;
	int pairs;			 /* of the next process of a final; 0: it is a race */
	double limit_s;			 /* of their calls; 0: none */
	struct item *incumbent;		 /* the one it raced against; NULL: none */
	int incumbent_stays;		 /* it ran alone, because the two cannot run together */
	int becomes_incumbent;		 /* it is the best known, from now on */
	double elapsed_s;		 /* of the trial: */
	double verify_s, run_s, audit_s; /* its parts */
};

/* Writes the result. A failure that may be the machine's fault is held back until result_release(),
 * or until the next good result. */
int result_put(struct measure *m, struct group *g, struct item *it, const struct verdict *v,
	       struct err *e);
int result_release(struct measure *m, struct err *e);
int result_put_end(struct measure *m, const struct group *g, const struct counts *n, struct err *e);

/* For other writers of results (lib/replay/replay.h). result_start() prints the candidate's line
 * without the fields that a result adds, and without its last brace. result_owns(): is a field one
 * of those? */
void result_start(const struct json_doc *line, struct buf *out);
int result_owns(const struct json *key);
/* What result_end() writes into the end record of a group, beside the counts. */
struct ending {
	const char *line; /* the end record as it came, NULL if none came */
	size_t n;
	const char *workload_id, *run;
	int64_t drawn; /* candidates, if no end record came */
	int is_late;   /* the time was over before all were measured */
	int audited;   /* write the counts of audits */
	int replayed;
	int64_t unknown; /* replayed: candidates without a recorded result */
};
int result_end(const struct ending *x, const struct counts *n, struct buf *out, struct err *e);

#endif
