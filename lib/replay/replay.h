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
 *   If rules.by_run is set, the clock and the ledger say what a live run would have held the
 * machine for: replay_lead() charges all that comes before the first race, and builds are in it. A
 *   workload that an earlier round opened costs what a second run pays.
 *
 * The output depends on the recording, the rules and the candidates alone, to the byte.
 *
 * The same code decides. lib/measure/contest.h and lib/trial/duel.h decide which kernel a
 * candidate races against, which kernel has lost, and which is in the final. They are pure
 * functions and serve both programs. A duel over recorded pairs stops at the pair at which it
 * would have stopped, and a run that was raced comes out of its own recording as it was.
 *
 * Winners carry their curse. The fastest of many looks is a lucky one. A recording with one time
 * for each candidate would tell every simulated run the same truth. With --seed each process of a
 * duel draws one of the looks, by the seed and the two ids, so that two policies with the same
 * seed are as lucky. A winner's second duel has another look than its first, as a second process
 * would.
 */
#ifndef TL_REPLAY_REPLAY_H
#define TL_REPLAY_REPLAY_H

#include "lib/host/ledger.h"
#include "lib/io/record.h"
#include "lib/measure/contest.h"
#include "lib/replay/lead.h"
#include "lib/replay/recording.h"
#include "lib/target/caches.h"

struct replay_rules {
	double race_s; /* as in struct measure_rules */
	double audit;
	int64_t finals; /* 0: none */
	int preempt;
	enum caches caches;
	uint64_t seed;
	int of_first; /* the incumbent of earlier rounds gets a final, too, if it had none */
	int by_run;   /* costs are those of a live run, see lead.h */
	int draws;    /* by the seed, one of the looks at a candidate for each process of a duel */
};

struct replay {
	struct replay_rules rules;
	struct recorded_env *env;
	const char *run;
	struct rec_out *out;  /* NULL: nothing is written */
	struct buf *lacking;  /* where finals are asked for that were not recorded; NULL: nowhere */
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
	int first_had_final;
	int gave_final; /* the group has had its final */

	struct json_doc doc;
	struct buf text;
};

/* With rules.by_run: charges what comes before the first race. */
void replay_lead(struct replay *r, const struct lead *p);
/* A group's incumbent, from its workload record. */
struct replay_incumbent {
	const struct id *id; /* NULL: there is none */
	const char *at;	     /* since when */
	const char *line;    /* its candidate's record; NULL: not known */
	size_t n;
	int had_final;
};
void replay_open(struct replay *r, const struct replay_incumbent *incumbent);
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
