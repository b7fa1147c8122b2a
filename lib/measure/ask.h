/* What tl-measure asks its worker (libexec/worker-cpu.c has the protocol), and what came of it. */
#ifndef TL_MEASURE_ASK_H
#define TL_MEASURE_ASK_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

/* How asking ended; below 0 with e filled. */
enum {
	ASKED_FAULT = -1,  /* the machine's fault */
	ASKED = 0,	   /* m->worker.answer is there */
	ASKED_STOPPED = 1, /* by a signal */
	ASKED_DEAD = 2,	   /* the worker is gone, m->worker.why says how; m->died what to call it */
};

/* Makes data and the true answer. If the workload cannot be run here, *status is what happened
 * ("oom") and m->worker.why the reason; otherwise NULL. */
int ask_open(struct measure *m, struct group *g, const char **status, struct err *e);
int ask_baseline(struct measure *m, struct group *g, struct err *e);
/* A candidate's race against limit_s (0: none). */
int ask_race(struct measure *m, struct group *g, const struct item *it, double limit_s,
	     struct err *e);
/* The finals of n <= ENTRANTS candidates; the opponents take latency_s a call. The answer has
 * "outcomes" unless one of them, who knows which, ended the process. */
int ask_finals(struct measure *m, struct group *g, struct item *const *it, int n, double latency_s,
	       struct err *e);
/* Whether the machine still computes rightly; if not: ASKED_FAULT. */
int ask_canary(struct measure *m, struct group *g, struct err *e);

/* A string of an answer, in the group's arena; "" if it is not there. */
const char *answer_text(const struct json_doc *d, struct group *g, const char *key);

#endif
