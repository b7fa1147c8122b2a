/* Policies of tuning. A policy decides which operators to go on tuning, and with how many
 * candidates each; every decision has its reason. Each policy is a file lib/policy/NAME.c that
 * defines `const struct policy policy_NAME`. Its decisions depend on what is known of the
 * operators, and on the rules, alone: each round is decided by a new process, so that nothing else
 * is remembered.
 *
 * Rivals are policies, too, so that they can be compared with preempt over the same space,
 * measurer and compiler (make bench-tune live, make bench-search in simulated runs). A policy also
 * says how its rival searches, filters and measures (struct policy), and tl-tune passes that on.
 * evolution is Ansor's: its task scheduler by gradient (lib/policy/evolution.c), its evolutionary
 * search (lib/search/evolution.c) by a model that learns in each round from the run alone
 * (adapt_learn), no filter and no races. random draws. lorien gives each operator a fixed number
 * of trials, one operator after another. trimmer is Trimmer's operator preemption: passes over all
 * operators with a batch for each, and a plateau counter that stops an operator for good.
 * Trimmer's filter keeps a moving mean of the model's predictions and replaces slower candidates
 * before they are built; Ansor's search, which proposes the best predicted of 2,048, stands in for
 * it. Both search as evolution does, without a filter and without races, because the published
 * systems have neither our model nor our races. What they are worth with these is asked by
 * lorien,race=1:--search=guided:--filter=model.
 *
 * tl-prune is a new process in each round, so the history alone must tell a policy how far it is.
 * trimmer therefore counts an operator's candidates in their order, a batch at a time, and not by
 * rounds: a pass that was interrupted is filled up first. A policy's numbers are its settings
 * (--policy=trimmer,batch=32), with defaults and ranges in its file. What one policy reckons for
 * itself is in its own file.
 */
#ifndef TL_POLICY_POLICY_H
#define TL_POLICY_POLICY_H

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct policy_try {
	double latency_s; /* NAN: failed or preempted */
	double core_s;	  /* NAN: unknown */
	int round;	  /* of all rounds known, from 0 */
};

struct policy_op {
	/* Known */
	int64_t count;
	double flops;
	const char *kind; /* operators of one kind may come near each other's rate of flops */
	const char *like; /* equal for operators that differ in post-ops alone; NULL: none is like
			   * this one */
	double time_s;	  /* of the incumbent, else of the baseline; NAN: unknown */
	double bound_s;	  /* of moving its operands from memory, where caches are too small for
			   * them; NAN: unknown */
	const struct policy_try *tries;
	int64_t ntries;
	int exhausted; /* the last turn found no candidate that was not known */
	/* Decided */
	int tune;
	int64_t budget;
	char reason[240]; /* a sentence without a full stop */
};

enum {
	POLICY_SETTINGS = 3,
	POLICY_RACE = 2, /* rivals that do without races have the setting "race" here */
};

/* A number that belongs to one policy, and that a user may set. */
struct policy_setting {
	const char *name; /* NULL: there are no more */
	int64_t value;	  /* unless the user sets another */
	int64_t least, most;
};

struct policy_rules {
	int64_t budget; /* candidates for the next round */
	int rounds;	/* rounds known */
	/* Policies that heed gains use these. */
	double gain;	  /* what counts as a gain: 0.01 is 1% of the latency */
	int64_t patience; /* candidates without a gain after which an operator stops */
	double min_gain;  /* least gain expected of twice the cost, as a part of all time */
	/* These are the policy's own, in the order of its list. */
	int64_t setting[POLICY_SETTINGS];
};

struct policy {
	const char *name;
	const char *summary;
	struct policy_setting setting[POLICY_SETTINGS];
	int heeds_gains; /* it goes by gain, patience and min_gain of the rules */
	/* How tl-tune searches, filters and measures by it, unless the user says otherwise. NULL:
	 * as always. */
	const char *search, *filter; /* --search of tl-gen, --by of tl-filter */
	/* Are candidates that lose stopped early? */
	int (*races)(const int64_t setting[POLICY_SETTINGS]);
	/* How many candidates the next round of n operators is given, where nobody says. */
	int64_t (*budget)(const struct policy_op *op, int n, const struct policy_rules *rules);
	/* Decides for all n operators, and gives out no more than the budget. Returns how many are
	 * to be tuned; 0: the run ends. */
	int (*decide)(struct policy_op *op, int n, const struct policy_rules *rules);
	/* Returns what the policy expects after that: the gain of as many core-seconds again as
	 * were spent so far, as a share of the time of all operators. NAN: it does not know. NULL:
	 * it never does. */
	double (*outlook)(struct policy_op *op, int n, const struct policy_rules *rules);
};

extern const struct policy *const policy_list[]; /* NULL at the end; made from the file list */
/* Appends "preempt|...": what a user may name. */
void policy_names(struct buf *out);
/* The policy that a text such as "trimmer,batch=32" names, and its settings, which may be NULL.
 * Text NULL: the default policy. NULL with EXIT_USAGE: there is no such policy or setting. */
const struct policy *policy_parse(const char *text, int64_t setting[POLICY_SETTINGS],
				  struct err *e);
/* Appends a table of all, with their settings, for people. */
void policy_table(struct buf *out);
/* Sets the reason of a decision. */
void policy_say(struct policy_op *op, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same of an operator that is exhausted. */
void policy_say_exhausted(struct policy_op *op);
/* The least latency of n tries; NAN: none is known. */
double policy_best(const struct policy_try *t, int64_t n);
/* Stops all operators, for a reason that the caller gives (a limit). */
void policy_stop_all(struct policy_op *op, int n, const char *reason);
/* Are candidates that lose stopped early, by the setting "race"? */
int policy_races(const int64_t setting[POLICY_SETTINGS]);
/* The default policy. */
extern const struct policy policy_preempt;

#endif
