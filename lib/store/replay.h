/* Replaying: candidates are answered from a recording (recording.h) by the rules that they would be
 * measured by, and at the cost that was recorded.
 *
 * - Races. duel_run() sees the recorded calls of the candidate and of the holder as pairs; where
 * both were recorded in duels with the same reference, each over the reference's call of its own
 * pair. Without samples every call is taken to last as long as the lower end of the recorded
 * interval. One that had lost when it was recorded, and whose samples were not kept, is unknown
 * unless it loses again. The cost of timing is that of the calls.
 * - The final is the one that was recorded. Where none was, it is the candidate's race once more,
 *   without a ratio and a verdict, and costs as much as that.
 * - Costs. An object is compiled for the first candidate of the run that wants it, a baseline is
 *   timed once a group. The clock of the day is simulated: it advances by the costs, one after the
 *   other, and a ledger charges them by purpose.
 *
 * What comes out depends on nothing but the recording, the rules and the candidates, to the byte.
 */
#ifndef TL_STORE_REPLAY_H
#define TL_STORE_REPLAY_H

#include "lib/host/ledger.h"
#include "lib/io/record.h"
#include "lib/measure/contest.h"
#include "lib/store/recording.h"
#include "lib/trial/caches.h"

struct replay_rules {
	double race_s; /* as in struct measure_rules */
	double audit;
	int64_t finals; /* 0: none */
	int preempt;
	enum caches caches;
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
	int opened;			   /* the baseline was charged */
	const struct contender *incumbent; /* of earlier rounds; NULL: none */

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
/* What the replay would have cost, as the run record that tl-measure writes. program: who replays.
 */
int replay_cost(struct replay *r, const char *program, struct err *e);
void replay_free(struct replay *r);

#endif
