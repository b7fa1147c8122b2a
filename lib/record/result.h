/* A result record as a struct: lib/record/members.h reads and writes it. The rows in result.c tell
 * the units and meanings of the fields.
 */
#ifndef TL_RECORD_RESULT_H
#define TL_RECORD_RESULT_H

#include "lib/base/err.h"
#include "lib/record/members.h"
#include "lib/record/status.h"

enum stage { STAGE_NONE, STAGE_RACE, STAGE_FINAL };
enum result_end { RESULT_END_NONE, RESULT_WON, RESULT_LOST, RESULT_EVEN }; /* of a duel */

struct result_error {
	int is_there;
	double l2, max;
};

struct result_ratio {
	int is_there;
	double median;
	struct interval ci;
};

/* A variant of the library's. */
struct result_rival {
	int is_there;
	const char *impl;
	double latency_s;
	struct interval ci_s;
	struct numbers samples_s;
	struct result_ratio ratio;
};

struct result_baseline {
	int is_there;
	const char *impl, *layout, *system;
	double latency_s;
	struct interval ci_s;
	struct numbers samples_s;
	struct result_error error;
	struct result_rival own_layout;
	const char *own_layout_why;
};

/* The pairs of calls that won a duel, before those that confirmed it. */
struct result_first {
	int is_there;
	struct numbers challenger_s, incumbent_s;
};

struct result_duel {
	int is_there;
	const char *against;
	double ratio;
	struct interval ci;
	double latency_s;
	enum result_end end;
	struct numbers samples_s;
	struct result_first first;
};

/* A second duel: of a winner, and of one that had lost. */
struct result_again {
	int is_there;
	double ratio;
	struct interval ci;
	const char *status;
	int ahead;
};
struct result_audit {
	int is_there;
	double ratio;
	struct interval ci;
	int false_kill;
};

struct result_use {
	int is_there;
	int64_t registers, spilled_bytes, block_bytes, blocks;
};

struct result_cost {
	int is_there;
	double build_s, build_core_s, verify_s, run_s, audit_s, baseline_s, core_s, energy_J;
	const char *energy_why;
};

struct result {
	int is_there;
	const char *candidate_id, *workload_id; /* of the candidate; they are read alone */
	enum status status;
	const char *why;
	const char *printer, *printer_why;
	enum stage stage;
	const char *cache;
	double latency_s;
	const char *latency_why;
	const char *bound;
	struct interval ci_s;
	int64_t reps, processes, row;
	const char *row_by;
	struct result_use use;
	const char *watch; /* JSON */
	struct numbers samples_s;
	struct result_duel duel;
	struct result_audit audit;
	struct result_again again;
	struct result_baseline baseline;
	const char *baseline_why;
	struct result_ratio ratio;
	const char *ratio_why;
	const char *verdict;
	const char *rejected; /* JSON */
	struct result_error error;
	int incumbent;
	struct result_cost cost;
	const char *env_id;
	const char *code_hash, *code_hash_why;
	const char *settings, *run, *at;
	int replayed;
	const char *env; /* JSON */
};

/* Makes it one without any field. */
void result_clear(struct result *r);
/* Reads the record that d holds. Texts live in a. */
void result_read(struct result *r, const struct json_doc *d, struct arena *a);
/* Appends all fields but those of the candidate to the object that the text ends in. */
void result_write(const struct result *r, struct buf *out);

/* How much faster the candidate is than the one that it was compared with: in a final the
 * baseline's time over its own; in a race that of the one it duelled with. Of a winner that was
 * ahead in its second duel it is what it gained for certain: the lower end of that duel's interval,
 * 1 at least, as the first duel was won partly by luck. NAN: with none. -1: what stands there is no
 * ratio. */
int result_ratio(const struct result *r, double *out, struct err *e);

#endif
