/* States of the machine: what the probe found, and found later where the machine had drifted.
 *
 * A state has a class, a short text of its rounded figures, so that like machines mostly share it
 * and a few percent of noise between two probes do not part them. A state is kept until the machine
 * differs by more than is allowed; and a machine that comes back to a state it was in before gets
 * that one's class again, so that one that wanders between two speeds has two envs and not a new
 * one each time. There are at most STATES_MAX; a machine that is like none of so many gets the
 * nearest. Nothing in here measures: the rules are pure functions of figures.
 */
#ifndef TL_HOST_STATE_H
#define TL_HOST_STATE_H

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"

enum { STATES_MAX = 8 };

struct figures {
	double peak_flops, peak_flops_all; /* FLOP/s of one thread and of all */
	double memory;			   /* bytes/s that all threads read from it */
	double forkjoin_s;
	double beat_s; /* of arithmetic (lib/target/probe.h); 0: older probes have none */
};

struct state {
	char class[64]; /* "243 GFLOP/s, 35.6 GB/s" */
	char at[25];	/* when it was probed */
	struct figures f;
	const char *probe; /* what the worker printed, a JSON object; owned by the arena */
};

struct states {
	int n, now;
	char looked[25]; /* when it was last looked which it is in; "": never */
	struct state state[STATES_MAX];
	struct arena arena;
};

/* Reads the figures from what the worker's --probe or --sentinel printed. */
int figures_read(const char *json, struct figures *f, struct err *e);
/* The better of each. What slows a look down is noise as long as another one is faster. */
void figures_best(struct figures *f, const struct figures *other);
/* By which share two differ, in the rate that differs most. Fork-join is not counted, and memory
 * by a fifth: other machines may share it, and on one whose peak stood to 0.1% it has been seen to
 * wander by a fifth either way within minutes. */
double figures_drift(const struct figures *a, const struct figures *b);

/* The state that the machine is in by these figures: the one it was in, if they lie within
 * max_drift of it, else the nearest that they lie within max_drift of; -1: none. */
int states_match(const struct states *s, const struct figures *f, double max_drift);
/* Takes up a new state and gives it a class that no other has. Where there is no room: the nearest.
 * Makes it the present one and returns it; -1 if the probe's text makes no sense. */
int states_add(struct states *s, const char *probe, const char *at, struct err *e);

/* The least beat of all states: what differs from it is neighbours' doing. 0: none is known. */
double states_beat(const struct states *s);
/* Has the present state's probe tell a beat. */
void states_set_beat(struct states *s, double beat_s);

/* The file: 1; 0 if it is not there, or damaged, which is the same: the machine is probed again.
 * -1 if it cannot be read. Saving replaces it whole or not at all. */
int states_load(struct states *s, const char *path, struct err *e);
int states_save(const struct states *s, const char *path, struct err *e);
void states_free(struct states *s);

#endif
