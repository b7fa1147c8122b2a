/* The database: what was measured, and where workloads come from, behind a few functions.
 *
 * It is a file of SQLite, or a database of PostgreSQL (postgresql://HOST/NAME), and nothing outside
 * this room knows which (backend.h). What is committed is on the disk: a process may be killed at
 * any time, and many may write at once (they take turns, see store_begin). The contents do not
 * depend on the order in which records came, and storing a record twice changes nothing:
 *
 * - The key of a result is (candidate, env, run, stage). Of two different records with the same key
 *   the later one is kept, by "at" and then by the bytes of the record.
 * - The best result of a workload in an env is the first in the order final before race, lower
 *   latency, candidate id, run id, among those with status ok whose candidate was not found wrong
 *   there: one wrong output, in any run or stage, outweighs all right ones. An index keeps that
 *   order, so there is no second copy that could disagree.
 * - The key of a run record is its run. Of two different ones the later is kept, likewise.
 * - The key of a choice is (network, workload, env), likewise.
 * - Records are kept whole: a dump gives back each result byte for byte.
 * - Replayed results ("replayed":true) and measured ones never share a database: it holds one
 *   kind, and refuses the other.
 *
 * Seconds as double, NAN where unknown. Texts given out live in the arena passed in. Functions
 * that look something up return 1 if it is there, 0 if not, -1 on failure.
 */
#ifndef TL_STORE_STORE_H
#define TL_STORE_STORE_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/hash.h"
#include "lib/door/door.h"
#include "lib/io/json.h"
#include "lib/io/record.h"
#include "lib/op/op.h"
#include "lib/record/status.h"

struct store;
struct target;

/* STORE_READ changes nothing, except that it rolls back what a killed writer left half done. */
enum store_mode { STORE_READ, STORE_WRITE };

/* The database's path, or its address: given, else $TL_DB, else
 * ${XDG_DATA_HOME:-~/.local/share}/tl/tl.db, whose folder is made if mode is STORE_WRITE. */
int store_default_path(const char *given, enum store_mode mode, struct buf *out, struct err *e);
/* Does anything say where the database is? Where nothing does, store_default_path() fails. */
int store_has_place(const char *given);
/* Is there a file? 1; 0: no; -1: that cannot be found out. Of an address it is always 1. */
int store_is_there(const char *path, struct err *e);
/* The path for reading, as above, and whether there is a file: 1; 0: not yet; -1. It is a
 * failure if the path was given and its folder does not exist, because the path may be mistyped. */
int store_find(const char *given, struct buf *path, struct err *e);
/* STORE_WRITE makes the file if there is none. NULL on failure. A database made by a newer version
 * or by another program is refused. */
struct store *store_open(const char *path, enum store_mode mode, struct err *e);
/* The path as sentences name it: without a password. */
const char *store_shown(const char *path, struct arena *a);
void store_close(struct store *s);
/* Does it hold replayed results? store_make_replayed() makes it so, and fails if it holds measured
 * ones. */
int store_is_replayed(const struct store *s);
int store_make_replayed(struct store *s, struct err *e);
/* Reads every page. 1: undamaged; 0: damaged, and report lists the first damages, one a line. */
int store_check(struct store *s, struct buf *report, struct err *e);

/* Writing: a batch is all or nothing. store_begin waits for other writers, up to two minutes, and
 * then fails with EXIT_BUSY. */
int store_begin(struct store *s, struct err *e);
int store_commit(struct store *s, struct err *e);
void store_rollback(struct store *s);
/* Is the connection to a server gone? Then nothing works until the database is opened again. */
int store_is_lost(const struct store *s);
/* The longest time so far, in seconds, that this connection waited for other writers. */
double store_waited(const struct store *s);

enum store_put {
	STORE_FAILED = -2, /* the database cannot be written: roll back and give up */
	STORE_BAD = -1,	   /* the record makes no sense, or is of the wrong kind; nothing was
			      changed */
	STORE_KNOWN = 0,   /* the database knew all of it */
	STORE_NEW = 1,
};
/* Stores a workload, result, end, run or choice record; d holds its parse. Needs a batch. End
 * records without "run" are not stored, because they could not be told from a second copy: they are
 * STORE_KNOWN. */
enum store_put store_put(struct store *s, const struct rec *r, const struct json_doc *d,
			 struct err *e);

/* Envs */

struct store_env {
	const char *id;
	const char *json;  /* the "env" object as it was recorded; NULL if no record had one */
	const char *doubt; /* store_env_here: why this may not be this machine's; else NULL */
};
/* All envs that have results, the latest first. */
int store_envs(struct store *s, struct arena *a, struct store_env **env, int *n, struct err *e);

struct store_env_count {
	const char *id, *newest; /* newest: "at" of the last result */
	int64_t results, workloads;
};
/* What each env has, in any order. */
int store_env_counts(struct store *s, struct arena *a, struct store_env_count **count, int *n,
		     struct err *e);
/* The env to answer for. It is `given` (--env; its first digits are enough), if that is not NULL;
 * else this machine's, as a worker says it. If the machine lacks what that takes, it is the env of
 * the result stored last, and `doubt` says so. s may be NULL. 0 if there is none. */
int store_env_here(struct store *s, const struct target *target, const char *given, struct arena *a,
		   struct store_env *env, struct err *e);

/* Results */

struct store_result {
	struct id candidate_id;
	enum status status;
	const char *run, *at;
	int final;	   /* stage: 1 final, 0 race */
	const char *since; /* when its duels made it the best known; NULL: it never was */
	double latency_s, baseline_s, core_s;
	double ratio;	    /* result_ratio(); NAN: none */
	const char *record; /* NULL from store_history() */
	size_t record_n;
};
/* The order of results that are ok, see above; b NULL: there is none yet. */
int store_better(const struct store_result *a, const struct store_result *b);
/* The best n results of distinct candidates for a workload in an env, best first, with their
 * records. All have passed the door (lib/door/door.h): what does not is left out, as if the
 * database did not have it, and is counted by store_refused(). */
int store_top(struct store *s, const char *workload_id, const char *env_id, int64_t n,
	      struct arena *a, struct store_result **out, int64_t *nout, struct err *e);
/* Puts the text of its record into a result of store_history(), if it is not there. 0: the record
 * does not pass the door. */
int store_record(struct store *s, const char *workload_id, const char *env_id, struct arena *a,
		 struct store_result *r, struct err *e);
/* All results of a workload in an env in the order of at, run, candidate, stage; no record texts.
 */
int store_history(struct store *s, const char *workload_id, const char *env_id, struct arena *a,
		  struct store_result **out, int64_t *nout, struct err *e);

/* What was left out so far. NULL s: nothing. */
const struct door_refused *store_refused(const struct store *s);

/* Workloads */

/* Workloads of an operator that have a best result, in env_id, or in any env if that is NULL. */
int store_workloads(struct store *s, const char *op, const char *env_id, struct arena *a,
		    struct workload **out, int64_t *nout, struct err *e);
/* Places in models that a workload is known from; 0 if none. */
int store_sources(struct store *s, const char *workload_id, int64_t *n, struct err *e);

/* Counts for one workload in one env. */
struct store_tally {
	/* From end records, over all runs; -1 if no record says it. A candidate that was drawn in
	 * two runs, because tl-filter refused it in the first, counts in both. */
	int64_t drawn, kept, refused, measured, preempted, failed, built;
	/* From results: all; distinct candidates that are ok; those preempted and never ok */
	int64_t results, ok, stopped;
	double core_s;
	int exhausted; /* the last end record has no candidates, and no stop */
};
int store_tally(struct store *s, const char *workload_id, const char *env_id, struct store_tally *t,
		struct err *e);

struct store_stats {
	int64_t workloads, sources, candidates, results, envs, runs, ends;
	double core_s;
	int nstatus;
	struct {
		const char *name;
		int64_t n;
	} status[16];
};
int store_stats(struct store *s, struct arena *a, struct store_stats *st, struct err *e);

/* Choices: the kernels with which whole runs of a network were fastest (record type "choice"). */

struct store_choice {
	struct id candidate_id;
	const char *record;
	size_t record_n;
};
/* The choice for a workload in a network and env. 0: there is none, it does not pass the door, or
 * its candidate was found wrong in the env. */
int store_choice(struct store *s, const char *network_id, const char *workload_id,
		 const char *env_id, struct arena *a, struct store_choice *out, struct err *e);

/* Dumps: calls line for each record of the kinds wanted, results first, then workloads, ends and
 * runs (so that no dump looks like a group that was cut off). It reads in pages and holds no lock
 * during the calls, so a dump into a slow reader, or into the same database, stops no writer. It
 * leaves out what is stored after its start. A line function returns 0, or -1 to end the dump.
 */
enum store_kind {
	STORE_RESULTS = 1,
	STORE_WORKLOADS = 2,
	STORE_ENDS = 4,
	STORE_RUNS = 8,
	STORE_CHOICES = 16,
	STORE_ALL = 31,
};
typedef int store_line_fn(void *arg, const char *s, size_t n, struct err *e);
int store_dump(struct store *s, int kinds, store_line_fn *line, void *arg, struct err *e);
/* The newest n times and bounds of times of an env, the last first. It searches only the last
 * `among` results of all envs. line must not use the store. */
int store_newest(struct store *s, const char *env_id, int64_t n, int64_t among, store_line_fn *line,
		 void *arg, struct err *e);

#endif
