/* A run: what a tl-measure has open, and how it measures. */
#ifndef TL_MEASURE_RUN_H
#define TL_MEASURE_RUN_H

#include "lib/build/cache.h"
#include "lib/host/energy.h"
#include "lib/host/env.h"
#include "lib/host/lock.h"
#include "lib/io/record.h"
#include "lib/measure/journal.h"
#include "lib/measure/standing.h"
#include "lib/measure/worker.h"
#include "lib/target/caches.h"

/* How a run measures. */
struct measure_rules {
	double max_error; /* relative L2, and largest over largest */
	double timeout_s; /* for one candidate's trial */
	double race_s;	  /* of calls in a race */
	double memory;	  /* bytes that a trial may take beside its operands */
	int memory_asked; /* is it not the default? */
	double audit;	  /* share of those that have lost that get a second duel */
	int64_t finals;	  /* processes in which the best candidate duels with the baseline */
	int preempt;	  /* stop candidates that have clearly lost; the winner is the incumbent */
	enum caches caches; /* what is in them before each timed call */
	int samples;	    /* all of them into the results */
	uint64_t seed;
};

struct measure {
	struct measure_rules rules;
	double until;	  /* clock_now() when the time is over; INFINITY: never */
	int has_leases;	  /* it is the end of a lease, which does not wait for other runs */
	struct lock lock; /* of the device */
	struct cache cache;
	/* Of the operators' definitions, which are run by this machine's processor: the same, or,
	 * for another target, one of their own. */
	struct cache *definitions, own_definitions;
	struct worker worker;
	int threads; /* of this machine's processor, for definitions and for libraries on it */
	const struct group *opened; /* the one that the worker was asked for last */
	struct env env;
	struct energy energy;
	struct buf pci; /* where the GPU is (lib/host/nvml.h); empty: there is none */
	struct id run;	/* of this run, in every result */
	struct rec_out *out;
	struct ledger ledger;
	struct known *known;	 /* what need not be measured; NULL: nothing */
	struct journal *journal; /* NULL: none */
	struct id settings;	 /* in every result */
	struct buf held;	 /* results that wait for the canary, a line each */
	int nheld;
	enum status died;     /* how the worker ended last */
	struct arena trial;   /* what the worker said of the candidate that races */
	int64_t timed, total; /* candidates */
	int64_t skipped;      /* for want of time */
	double races_until;   /* when the time for races is over */
	struct standing standing;
};

#endif
