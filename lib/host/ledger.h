/* The ledger of a program: what each of the core-seconds that it held went to.
 *
 * A program holds `cores` from its start to its end. At any time it is in one purpose, which is
 * charged with wall time x cores; what runs beside it (compilers, the programs before it in a
 * pipeline) is told in CPU seconds and taken out of what was idle by then, or else out of the
 * purpose in effect. So the purposes sum to wall time x cores, by construction and at any time.
 * While compilers run and nothing else does, a program is idle, and they tell what they took.
 *
 * Pure: the caller brings the clock, which never goes back.
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
	COST_BASELINE,	/* a workload's data, its true answer and the library's times */
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

/* From now on, in COST_OTHER. */
void ledger_open(struct ledger *l, double cores, double now);
/* The purpose from now on; returns the one before. */
enum cost ledger_switch(struct ledger *l, enum cost c, double now);
/* core_s went to c, beside. No more is taken than there was. */
void ledger_beside(struct ledger *l, enum cost c, double core_s, double now);
/* Of what was charged to `from`, core_s belong to `to`. */
void ledger_move(struct ledger *l, enum cost from, enum cost to, double core_s, double now);
/* What has passed since the last call is a part: another program keeps its own ledger of it. It
 * counts in wall_s and in no purpose. */
void ledger_skip(struct ledger *l, double now);
/* Charges what has passed. */
void ledger_close(struct ledger *l, double now);
/* {"search":0.5,...}: the purposes that took anything. */
void ledger_json(const struct ledger *l, struct buf *out);

/* The run record (man 5 tl-record) of a closed ledger. */
struct ledger_run {
	const char *run, *program, *at;
	const char *part_of; /* the run that this one is a part of; NULL: of none */
	const char *why;     /* it was not done; NULL: it was */
	const char *energy;  /* as energy_put() writes it; NULL: told by others */
	int replayed;	     /* nobody paid it */
};
void ledger_record(const struct ledger *l, const struct ledger_run *run, struct buf *out);

#endif
