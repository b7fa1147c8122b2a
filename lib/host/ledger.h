/* The ledger of a program: the purposes that its core-seconds were spent on.
 *
 * A program holds `cores` from its start to its end. At any time it has one current purpose, which
 * is charged with wall time x cores. Other processes beside it (compilers, the programs before it
 * in a pipeline) are charged in CPU seconds. These are taken from the idle time so far, or else
 * from the current purpose. So the purposes always sum to wall time x cores. While only compilers
 * run, the program is idle, and their CPU seconds are taken from that.
 *
 * The functions are pure: the caller passes the time, which must never go back.
 *
 * The purposes sum to the time that was held. A ledger charges wall time x cores to one purpose at
 * a time. Compilers and earlier programs of the pipeline run beside it and report their CPU
 * seconds, which are taken out of the idle time. So the sum is right by construction in each
 * program. Across programs it is checked: tl-tune leaves out the time in which a tl-measure kept
 * its own ledger, and tl-query --cost compares the sum of all with wall time x cores. Each
 * result's own cost is a second account, and a test compares the two. tl-gen and tl-filter report
 * their CPU time only with --cost, because otherwise the same input gives the same bytes.
 */
#ifndef TL_HOST_LEDGER_H
#define TL_HOST_LEDGER_H

#include "lib/base/buf.h"

enum cost {
	COST_SEARCH,	/* proposing candidates, and deciding where more are worth it */
	COST_INFERENCE, /* predicting them, to choose what to build */
	COST_TRAINING,	/* of what predicts */
	COST_BUILD,	/* compilers */
	COST_VERIFY,	/* a candidate's process, its data and the comparison */
	COST_BASELINE,	/* a workload's data, its true answer and the look for the baseline */
	COST_TIME,	/* a candidate's timed calls */
	COST_AUDIT,	/* those of preempted ones that are timed to the end all the same */
	COST_PROBE,	/* what the machine can do, and whether it still does */
	COST_STORE,	/* the database and the journal */
	COST_OTHER,
	COST_IDLE, /* held and not used: waiting for input, or a core beside one compiler */
	COSTS,
};
const char *cost_name(enum cost c); /* "search" */
/* The cost of a name; COSTS if it is none. */
enum cost cost_find(const char *s, size_t n);

struct ledger {
	double cores, opened, since; /* seconds on the caller's clock */
	double parts_s;		     /* of it skipped */
	enum cost now;
	double core_s[COSTS];
};

/* Starts the ledger, in COST_OTHER. */
void ledger_open(struct ledger *l, double cores, double now);
/* Sets the current purpose, and returns the one before. */
enum cost ledger_switch(struct ledger *l, enum cost c, double now);
/* Charges core_s of a process beside the program to c. No more is taken than there is. */
void ledger_beside(struct ledger *l, enum cost c, double core_s, double now);
/* Moves core_s of the charges from `from` to `to`. */
void ledger_move(struct ledger *l, enum cost from, enum cost to, double core_s, double now);
/* Marks the time since the last call as that of another program, which keeps its own ledger. It
 * counts in wall_s and in no purpose. */
void ledger_skip(struct ledger *l, double now);
/* Takes back s seconds of what was skipped: the other program waited, and they count in nothing. */
void ledger_wait(struct ledger *l, double s);
/* Charges what has passed. */
void ledger_close(struct ledger *l, double now);
/* {"search":0.5,...}: the purposes that took anything. */
void ledger_json(const struct ledger *l, struct buf *out);

/* The run record (man 5 tl-record) of a closed ledger. */
struct ledger_run {
	const char *run, *program, *at;
	const char *part_of; /* the run that this one is a part of; NULL: of none */
	const char *why;     /* it was not done; NULL: it was */
	const char *stop;    /* why its rounds ended; NULL: it had none */
	const char *energy;  /* as energy_put() writes it; NULL: in another record */
	double waited_s;     /* for other runs on the machine; in no other figure */
	int replayed;	     /* it was simulated */
};
void ledger_record(const struct ledger *l, const struct ledger_run *run, struct buf *out);

#endif
