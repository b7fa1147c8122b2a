/* The state of a group and of each of its candidates during a run. */
#ifndef TL_MEASURE_ITEM_H
#define TL_MEASURE_ITEM_H

#include "lib/algo/candidate.h"
#include "lib/build/cache.h"
#include "lib/io/json.h"
#include "lib/measure/contest.h"
#include "lib/measure/known.h"
#include "lib/record/result.h"

/* A candidate of a group. */
struct item {
	const char *line;
	size_t n;
	struct id id;
	struct build *build;
	struct known_answer known; /* from an earlier run: not measured again */
	double build_s;		   /* charged to this candidate, the first that needed the object */
	double build_core_s;
	enum status status; /* decided before any run, else STATUS_NONE */
	const char *why;
	struct contestant in;
	struct item *next;
};

/* The library's variant that finals are against. */
struct group_baseline {
	int looked;	  /* it is known whether there is one */
	const char *impl; /* NULL: none, and why says so */
	const char *layout;
	const char *own_impl;	  /* the best in the workload's own layout; NULL: impl is that, */
	const char *own_impl_why; /* or there is none, for this reason */
	struct result_error error;
	const char *rejected; /* variants that are wrong or fail, a JSON array; NULL: none */
	const char *why;
};

/* One workload and the candidates to measure for it. */
struct group {
	struct arena arena; /* of everything in the group */
	struct workload w;
	const char *record; /* the workload record, NULL if none came */
	size_t record_n;
	const char *end; /* the end record, NULL if none came */
	size_t end_n;
	int cut;		      /* its input was cut off: it gets no end */
	int64_t count;		      /* instances in the models */
	double time_s;		      /* of one, as far as it is known; else a guess */
	struct item *first_incumbent; /* of earlier rounds, from the workload record; NULL: none */
	int first_had_final;	      /* its final is done */
	struct item *first, **last;
	int64_t n, nknown;
	double until;	 /* clock_now() when its time is over */
	int64_t skipped; /* candidates that had no time */
	struct build *naive;
	struct group_baseline baseline;
	struct contest contest;
	struct item *finalist; /* NULL: none, or its final is known */
	double ahead;	       /* the baseline's time over the best candidate's; 0: not known */
	double open_s;	       /* data, truth and baseline, until charged to a result */
	struct group *next;
};

#endif
