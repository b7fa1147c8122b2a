/* A recording: results as they were measured, by env and candidate, to be asked again.
 *
 * Built from result records, from files or a database, in any order; what it answers does not
 * depend on that order (but an env of before must be told first, lib/space/envid.h). Of several
 * results of a candidate one counts for each stage: one that was wrong, in whatever stage or run,
 * before all others; then ok, one with samples before one without, then the lower latency; then
 * preempted, the higher bound first; then the later. Runs' ids decide what is left. Costs that
 * candidates share are kept where they belong: compiling with the object, the baseline with the
 * workload; the largest that was recorded counts, because the others found it done.
 *
 * No parsed trees are kept: a result takes a few hundred bytes and its samples. Texts are JSON as
 * recorded, each a list of fields that begins with a comma, or empty.
 */
#ifndef TL_STORE_RECORDING_H
#define TL_STORE_RECORDING_H

#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/io/json.h"
#include "lib/space/envid.h"

/* A compiled object. */
struct recorded_code {
	const char *hash;
	double build_s, build_core_s;
	int built; /* by a replay so far */
};

struct recorded {
	const char *id, *status, *run; /* id: texts that are equal are one */
	const char *why;	       /* NULL where the status is ok */
	int final;
	int64_t at_ms;
	double latency_s, lo_s; /* NAN: none; the interval's lower end */
	double verify_s, run_s;
	struct recorded_code *code;  /* NULL: not built */
	const char *why_no_code;     /* then */
	double *baseline_s;	     /* of the workload */
	const char *timing, *error;  /* latency_s and what goes with it; error */
	const char *baseline, *rest; /* the opponents; ratios and the like */
	const double *x;	     /* samples, NULL if they were not kept */
	const double *y;	     /* of a duel: the reference's, as many; NULL: none */
	const char *reference;	     /* whose they are: a candidate's id; NULL: nobody's */
	int is_behind_again;	     /* it won its duel with the reference, and not the second */
	int nx;
};

struct recorded_env {
	const char *id, *json; /* json NULL: no record had one */
	int64_t threads;       /* 1 if that is not known */
	int64_t n;	       /* results */
	int64_t last_ms;       /* "at" of the latest */
	struct map candidates; /* by id */
	struct map workloads;  /* their baseline_s */
};

struct recording {
	struct arena arena, scratch;
	struct json_doc doc;
	struct envids envids;
	struct buf renewed; /* the record, where its env was of an older version */
	struct map envs;
	struct map texts, codes;
	const char *only;  /* records of this env alone; NULL: all */
	const char *cache; /* and of this mode, warm, cold or weights-cold */
	int replayed;	   /* what was replayed, instead of what was measured */
};

/* Takes a line; other records than results are passed over. -1: it makes no sense, or was replayed
 * itself. */
int recording_add(struct recording *r, const char *line, size_t n, struct err *e);
/* All results of the database. */
int recording_add_store(struct recording *r, const char *path, struct err *e);
/* NULL: nothing was recorded there. */
struct recorded_env *recording_env(const struct recording *r, const char *id);
/* The env whose latest result is the latest of all; NULL: nothing was recorded. */
struct recorded_env *recording_latest(const struct recording *r);
/* NULL: none. Where only a final was recorded it is the race, too. */
const struct recorded *recording_race(const struct recorded_env *v, const char *candidate_id);
const struct recorded *recording_final(const struct recorded_env *v, const char *candidate_id);
void recording_free(struct recording *r);

#endif
