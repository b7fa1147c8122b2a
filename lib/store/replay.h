/* Replaying: candidates are answered from a recording (recording.h) by the rules that they would be
 * measured by, and at the cost that was recorded.
 *
 * - Races. Where samples were recorded, race_run() sees them in the calls' place, against the
 *   present limit: who is preempted, after how many calls and with which bound, is exactly what
 *   racing these calls would have given, and the cost of timing is the samples' share of what was
 *   recorded. Without samples every call is taken to last as long as the lower end of the recorded
 *   interval: lost is what is clearly beyond the limit; what is not lost stands as recorded. One
 *   that was preempted is so again where its bound, by the same rule, is beyond the limit;
 *   otherwise it is unknown.
 * - Finals are those that were recorded. Where none was, a final is the candidate's whole race once
 *   more, without a ratio and a verdict, and costs as much as that.
 * - Costs. An object is compiled for the first candidate of the run that wants it, a baseline is
 *   timed once a group. The clock of the day is simulated: it advances by the costs, one after the
 *   other, and a ledger charges them by purpose.
 *
 * What comes out depends on nothing but the recording, the rules and the candidates, to the byte.
 */
#ifndef TL_STORE_REPLAY_H
#define TL_STORE_REPLAY_H

#include "lib/io/record.h"
#include "lib/measure/contest.h"
#include "lib/host/ledger.h"
#include "lib/store/recording.h"

struct replay_rules {
	double race_s; /* as in struct measure_rules */
	double audit;
	int64_t finals;
	int preempt, cold;
	uint64_t seed;
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
	int opened; /* the baseline was charged */

	struct json_doc doc;
	struct buf text;
};

/* Begins a group. incumbent_s: from its workload record; 0: none. */
void replay_open(struct replay *r, double incumbent_s);
/* Writes the candidate's result; d is the parse of its line. 1; 0: nothing is known of it, and
 * nothing written; -1: the output failed. */
int replay_candidate(struct replay *r, const struct json_doc *d, const struct id *id,
		     struct err *e);
/* Writes the finals. */
int replay_finals(struct replay *r, struct err *e);
/* Writes the end record; line is the one that came, or NULL. */
int replay_end(struct replay *r, const char *workload_id, const char *line, size_t n,
	       struct err *e);
/* What the replay would have cost, as the run record that tl-measure writes. program: who replays.
 */
int replay_cost(struct replay *r, const char *program, struct err *e);
void replay_free(struct replay *r);

#endif
