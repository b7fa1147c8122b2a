/* A group: one workload and the candidates to measure for it, from the records that came in to
 * those that go out.
 *
 * While groups are read their kernels build (cache.h); group_run() then verifies, races and
 * re-times them in a worker and writes the results. Each runs in a process of its own, whose death
 * costs that candidate alone. After some failures in a row something known to be good has to run
 * before any of them is written: if it fails, too, the machine is at fault and no candidate.
 */
#ifndef TL_MEASURE_GROUP_H
#define TL_MEASURE_GROUP_H

#include "lib/algo/candidate.h"
#include "lib/io/record.h"
#include "lib/measure/cache.h"
#include "lib/measure/energy.h"
#include "lib/measure/env.h"
#include "lib/measure/journal.h"
#include "lib/measure/trial.h"
#include "lib/measure/worker.h"

/* How a run measures. */
struct measure_rules {
	double max_error;  /* relative L2, and largest over largest */
	double timeout_s;  /* for one candidate's trial */
	double race_s;	   /* of calls in a race */
	double patience_s; /* with neighbours; 0: as much as pays usually */
	double memory;	   /* bytes that a trial may take beside its operands */
	int memory_asked;  /* is it not the default? */
	double audit;	   /* share of the preempted that is timed to the end all the same */
	int64_t finals;	   /* candidates re-timed with the baseline */
	int preempt;	   /* stop candidates that have clearly lost */
	int cold;	   /* operands leave the caches before each timed call */
	int samples;	   /* all of them into the results */
	uint64_t seed;
};

struct measure {
	struct measure_rules rules;
	struct cache cache;
	struct worker worker;
	struct env env;
	struct energy energy;
	struct id run; /* of this run, in every result */
	struct rec_out *out;
	struct ledger ledger;
	struct known *known;	 /* what need not be measured; NULL: nothing */
	struct journal *journal; /* NULL: none */
	struct id settings;	 /* in every result */
	struct buf held;	 /* results that wait for the canary, a line each */
	int nheld;
	const char *died;     /* how the worker ended last: a status */
	int64_t timed, total; /* candidates, for the progress line */
};

struct item;
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

void group_init(struct group *g, const struct workload *w);
void group_free(struct group *g);
/* Takes a candidate in: checks it, and starts its build. The line is copied. -1 only for faults of
 * the machine. */
int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e);
/* Measures the group and writes workload, results and end. Builds must have ended. Returns 0; 1 if
 * a signal stopped it (what was finished has been written, the end has not); -1 for faults of the
 * machine or of the output. */
int group_run(struct measure *m, struct group *g, struct err *e);

#endif
