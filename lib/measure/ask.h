/* The requests of tl-measure to its worker, and their answers (lib/trial/serve.h has the protocol).
 */
#ifndef TL_MEASURE_ASK_H
#define TL_MEASURE_ASK_H

#include "lib/measure/item.h"
#include "lib/measure/run.h"

/* How a request ended; below 0 with e filled. */
enum {
	ASKED_FAULT = -1,  /* the machine's fault */
	ASKED = 0,	   /* m->worker.answer is there */
	ASKED_STOPPED = 1, /* by a signal */
	ASKED_DEAD = 2,	   /* the worker is gone; m->worker.why says how, m->died is the status */
	ASKED_LATE = 3,	   /* the time of the run is over; what was begun was ended */
};

/* Makes the data and the true answers, until the time is over (clock_now(); INFINITY: never). The
 * other requests but the canary's go by the time of the run. *status is STATUS_OK; or, if the
 * workload cannot be run here, what happened, and m->worker.why is the reason. */
int ask_open(struct measure *m, struct group *g, double until, enum status *status, struct err *e);
/* Which of the library's variants is the baseline. */
int ask_baseline(struct measure *m, struct group *g, struct err *e);
/* How a race is to be run: until the ratio is known, even if the winner is clear; in a process in
 * which no other race has run. */
enum ask_how { ASK_WHOLE = 1, ASK_APART = 2 };
/* A candidate's race against the incumbent; NULL: alone. how: of enum ask_how. */
int ask_race(struct measure *m, struct group *g, const struct item *it,
	     const struct item *incumbent, int how, enum cost purpose, struct err *e);
/* One process of a candidate's final, of so many pairs, against the group's baseline, or alone.
 * limit_s: of the timed calls (lib/trial/duel.h); 0: none. */
int ask_final(struct measure *m, struct group *g, const struct item *it, int pairs, double limit_s,
	      struct err *e);
/* Checks that the machine still computes correctly. ASKED_FAULT: it does not. */
int ask_canary(struct measure *m, struct group *g, struct err *e);

/* Fills r with what the worker answered to the last question, or with how it died. asked: what the
 * function that asked returned. Texts live in a. */
int ask_take(const struct measure *m, int asked, struct arena *a, struct result *r, struct err *e);

#endif
