/* Replaying: results of candidates come from a recording (recording.h) instead of measurements, by
 * the same rules and with the recorded costs.
 *
 * - Races. duel_run() gets the recorded calls of the candidate and of the incumbent as pairs. If
 * both were recorded in duels with the same reference, each call is divided by the reference's call
 * of its own pair. Without samples, every call takes as long as the lower end of the recorded
 *   interval. A candidate that lost when it was recorded, and whose samples were not kept, is
 *   unknown unless it loses again. The cost of timing is the sum of the calls.
 * - Looks. If rules.draws is set, each duel draws one of the looks at either candidate
 * (recording.h), by the seed and the two ids. A winner's second duel, and an audit, have another
 * look than the first one, if there is one. So a winner may owe its place to a lucky look, as in a
 * run.
 * - Finals. The final is the recorded one. If none was recorded, it is the candidate's race again,
 *   without a ratio and a verdict, at the same cost.
 * - Costs. An object is compiled for the first candidate of the run that needs it, and a baseline
 * is timed once for each group. The time of day is simulated: it advances by the costs, one after
 *   the other, and a ledger charges them by purpose.
 *
 * The output depends on the recording, the rules and the candidates alone, to the byte.
 */
#ifndef TL_REPLAY_REPLAY_H
#define TL_REPLAY_REPLAY_H

#include "lib/host/ledger.h"
#include "lib/io/record.h"
#include "lib/measure/contest.h"
#include "lib/replay/recording.h"
#include "lib/trial/caches.h"

struct replay_rules {
	double race_s; /* as in struct measure_rules */
	double audit;
	int64_t finals; /* 0: none */
	int preempt;
	enum caches caches;
	uint64_t seed;
	int draws; /* by the seed, one of the looks at a candidate for each process of a duel */
};

struct replay {
	struct replay_rules rules;
	struct recorded_env *env;
	const char *run;
	struct rec_out *out;
	int64_t start_ms;     /* of the simulated clock */
	double elapsed_s;     /* on it */
	struct ledger ledger; /* open from the first candidate on */
	int64_t asked, unknown;

	/* The open group */
	struct arena arena;
	struct contest contest;
	int64_t n, group_unknown;
	int opened;				 /* the baseline was charged */
	const struct contender *first_incumbent; /* of earlier rounds; NULL: none */

	struct json_doc doc;
	struct buf text;
};

/* Begins a group. incumbent: from its workload record, since `at`; NULL: none. */
void replay_open(struct replay *r, const struct id *incumbent, const char *at);
/* Writes the candidate's result; d is the parse of its line. 1; 0: nothing is known of it, and
 * nothing written; -1: the output failed. */
int replay_candidate(struct replay *r, const struct json_doc *d, const struct id *id,
		     struct err *e);
/* Writes the final. */
int replay_final(struct replay *r, struct err *e);
/* Writes the end record; line is the one that came, or NULL. */
int replay_end(struct replay *r, const char *workload_id, const char *line, size_t n,
	       struct err *e);
/* Writes the run record: what the replay would have cost. program: the name of the caller. */
int replay_cost(struct replay *r, const char *program, struct err *e);
void replay_free(struct replay *r);

#endif
