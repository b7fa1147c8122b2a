/* A recording: measured results by env and candidate, which a replay looks up.
 *
 * It is built from result records, from files or a database. Its answers do not depend on the order
 * of the records. If a candidate has several results of a stage, one of them counts. This is the
 * order:
 * - a wrong one, of any stage or run;
 * - then an ok one: with samples before without, then the lower latency;
 * - then a preempted one: the higher bound first;
 * - then the later one; at last the run's id decides.
 * All races of a candidate that ended well and have samples, and all that failed, are its looks, a
 * run each, in the order of time. A duel in which the reference was disturbed in most pairs
 * (duel.h) is none.
 *
 * Costs that candidates share are kept with what they share: compiling with the object, the
 * baseline with the workload. The largest recorded cost counts, because the other runs found the
 * work done. In a recording that grows, the earliest cost counts, so that what is added later
 * changes no answer.
 *
 * No parse trees are kept: a result takes a few hundred bytes and its samples. Texts are JSON as
 * recorded: a list of fields that begins with a comma, or an empty text.
 */
#ifndef TL_REPLAY_RECORDING_H
#define TL_REPLAY_RECORDING_H

#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/door/door.h"
#include "lib/io/json.h"
#include "lib/record/status.h"

/* A compiled object. */
struct recorded_code {
	const char *hash;
	double build_s, build_core_s;
	int64_t at_ms; /* when that was recorded */
	int built;     /* by a replay so far */
	int planned;   /* counted among the builds of the round (lead.h) */
};

enum { RECORDED_OPENED = 2, RECORDED_STARTS = 3 };

/* The data, the true answer and the baseline of a workload. */
struct recorded_workload {
	double baseline_s; /* what the first run that needs them pays */
	double again_s;	   /* what a later run pays, which finds them in the cache */
	int was_opened;	   /* by an earlier replay */
	struct {
		int64_t at_ms;
		double s;
	} opened[RECORDED_OPENED]; /* the earliest runs that paid */
	int nopened;
	struct map references; /* by id: how many looks are duels with that candidate, or are it */
};

struct recorded {
	enum status status;
	const char *id, *run; /* id: texts that are equal are one */
	const char *why;      /* NULL where the status is ok */
	int final;
	int64_t at_ms;
	double latency_s, lo_s; /* NAN: none; the interval's lower end */
	double verify_s, run_s;
	struct recorded_code *code; /* NULL: not built */
	const char *why_no_code;    /* then */
	double own_baseline_s;	    /* charged to this result */
	struct recorded_workload *workload;
	const char *timing, *error;  /* latency_s and what goes with it; error */
	const char *baseline, *rest; /* the baselines; ratios and the like */
	const double *x;	     /* samples, NULL if they were not kept */
	const double *y;	     /* of a duel: the reference's, as many; NULL: none */
	const char *reference;	     /* the id of the candidate that y is of; NULL: none */
	int is_behind_again;	     /* it won its duel with the reference, and not the second */
	int nx;
	/* The pairs in which the reference was not disturbed, if the recording grows; NULL: all */
	const int *calm;
	int ncalm;
};

struct recorded_env {
	const char *id, *json; /* json NULL: no record had one */
	int64_t threads;       /* 1 if that is not known */
	int64_t n;	       /* results */
	int64_t last_ms;       /* "at" of the latest */
	struct map candidates; /* by id */
	int64_t first_ms;      /* of the earliest */
	struct map workloads;  /* struct recorded_workload by id */
};

struct recording {
	struct arena arena, scratch;
	struct json_doc doc;
	struct door door;
	struct door_refused refused; /* of recording_add_store() */
	struct map envs;
	struct map texts, codes;
	const char *only; /* records of this env alone; NULL: all */
	/* And of this mode, warm, cold or weights-cold. NULL: it becomes that of the first result.
	 */
	const char *cache;
	int replayed; /* what was replayed, instead of what was measured */
	int grows;    /* the earliest shared costs count, and not the largest */
	struct {
		int64_t at_ms;
		double s;
	} start[RECORDED_STARTS]; /* what the earliest runs took to start, in seconds */
	int nstarts;
};

/* Takes a line that has passed the door (lib/door/door.h). Run records tell how long tl-measure
 * takes to start; others than those and results are ignored. -1: it makes no sense here, or is a
 * replay's. */
int recording_add(struct recording *r, const char *line, size_t n, struct err *e);
/* The same for a line from outside, which is also refused if it does not pass the door. */
int recording_add_strange(struct recording *r, const char *line, size_t n, struct err *e);
/* All results and runs of the database, but for those that recording_add_strange() refuses; they
 * are counted. */
int recording_add_store(struct recording *r, const char *path, struct err *e);
/* For a recording that grows, when all is in it: drops disturbed looks, also as answers. */
void recording_settle(struct recording *r);
/* NULL: nothing was recorded there. */
struct recorded_env *recording_env(const struct recording *r, const char *id);
/* The env whose latest result is the latest of all; NULL: nothing was recorded. */
struct recorded_env *recording_latest(const struct recording *r);
/* NULL: none. If only a final was recorded, it is the race, too. */
const struct recorded *recording_race(const struct recorded_env *v, const char *candidate_id);
const struct recorded *recording_final(const struct recorded_env *v, const char *candidate_id);
/* Returns the seconds that tl-measure takes to start: the least of the earliest runs, as the first
 * one may have had to probe the machine. 0: they are not known. */
double recording_start(const struct recording *r);
/* Does a candidate need another look, so that it has as many as are wanted? One that was wrong, or
 * that makes no program, needs none. After RECORDING_ENOUGH times as many, disturbed ones among
 * them, it has enough, too. */
enum { RECORDING_ENOUGH = 3 };
int recording_needs(const struct recorded_env *v, const char *candidate_id, int64_t wanted);
/* The nth look at a candidate that ended well (from 0; NULL: there are fewer). */
const struct recorded *recording_look(const struct recorded_env *v, const char *candidate_id,
				      int64_t nth);
/* The candidate that most looks of the workload are duels with, and which has a look itself; NULL:
 * none. *program: its algorithm and knobs, as the fields of a record. */
const char *recording_reference(const struct recorded_env *v, const char *workload_id,
				const char **program);
void recording_free(struct recording *r);

#endif
