/* One workload's data, its true answer, and the trials made with them: the zygote's side of a
 * worker.
 *
 * The process that holds a session computes nothing and never starts the OpenMP team: each trial
 * runs in a forked cell (cell.h), which has the data at once and cannot harm them; races on a
 * device share one (stay.h), as long as they end well. Data are random and the same for the
 * candidates and the library. Weights are packed here, off the clock, once for all candidates that
 * want the same packing.
 */
#ifndef TL_TRIAL_SESSION_H
#define TL_TRIAL_SESSION_H

#include "lib/algo/candidate.h"
#include "lib/trial/cell.h"
#include "lib/trial/trial.h"
#include "lib/host/watch.h"

struct session;

/* The settings of a session, the same for all its trials. */
struct session_rules {
	const struct runner *runner;
	const struct library *compared; /* what candidates are compared with; NULL: nothing */
	int threads;
	uint64_t seed;
	enum caches caches; /* what is in them before each timed call */
	const char *pci;    /* where the GPU is (lib/host/nvml.h) that session_open() has watched;
			       NULL: none */
	double max_error;   /* relative L2 and largest over largest, of a candidate */
	size_t memory;	    /* bytes that a trial may take beside its operands; 0: no limit */
};

/* How a trial ended. */
struct report {
	enum cell_end end;
	char why[2 * CELL_WHY]; /* where end is not CELL_DONE */
	struct watched watched; /* what disturbed it, meanwhile */
	int unloadable; /* CELL_FAILED: the object is damaged or gone, and no more is wrong */
};

/* naive: the object of the compiled naive nest. The true answer is computed in double precision,
 * unless the file `kept` has it (kept.h), and is then put there; "": it is not kept. NULL with
 * r->end other than CELL_DONE if the run failed; if that is CELL_FAILED, e is filled, too. */
struct session *session_open(const struct workload *w, const char *naive, const char *kept,
			     const struct session_rules *rules, double timeout_s, struct report *r,
			     struct err *e);
void session_close(struct session *s);

/* Does the machine compute correctly? Runs the naive nest again. If the library has variants, one
 * of them must agree with it. 1; 0 with e filled; -1 if only the object of the naive nest is
 * damaged or gone. */
int session_canary(struct session *s, double timeout_s, struct err *e);

/* Finds the baseline: the library's best variant. */
struct report session_baseline(struct session *s, double timeout_s, struct baseline_found *b);

/* A candidate that takes part in a trial, and its kernel. */
struct session_entry {
	const struct candidate *c; /* NULL: none */
	const char *object;
};

struct session_ask {
	double timeout_s;
	int apart; /* in a process in which no other trial has run */
	struct duel_rules rules;
};
/* Verifies a candidate and duels it with the incumbent, or times it alone. o is filled if the
 * report's end is CELL_DONE. */
struct report session_race(struct session *s, const struct session_entry *in,
			   const struct session_entry *incumbent, const struct session_ask *ask,
			   struct outcome *o);
/* The same against variants of the library's. */
struct report session_final(struct session *s, const struct session_entry *in,
			    const struct baselines *baselines, const struct session_ask *ask,
			    struct outcome *o);

#endif
