/* A journal of results: a file to which each is appended as soon as it is known, and synced, so
 * that a death costs at most the candidate in flight; and from which the next run answers.
 *
 * One record a line, whole: results, and the begin, run and done records of the runs. One run at a
 * time has it (flock). A last line without its newline, which a death left, is cut off at opening;
 * lines that are no records are passed over; both are told to the caller.
 */
#ifndef TL_MEASURE_JOURNAL_H
#define TL_MEASURE_JOURNAL_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/map.h"
#include "lib/measure/known.h"

struct journal {
	int fd; /* -1: closed */
	const char *path;
	struct arena arena;
	struct map results; /* by candidate id */
	/* Found at opening: */
	int64_t torn;	  /* bytes of the last line, cut off */
	int64_t bad;	  /* lines that are no records */
	int64_t bad_line; /* the first of them, from 1 */
};

/* Opens or makes it, takes its lock and reads it. Fails with EXIT_BUSY if another run has it. The
 * path is kept. */
int journal_open(struct journal *j, const char *path, struct err *e);
/* On the disk when it returns. */
int journal_add(struct journal *j, const char *line, size_t n, struct err *e);
/* What was in it when it was opened, for known.h; from: the journal. */
int journal_look(void *from, const char *workload_id, const char *candidate_id, known_take *take,
		 void *to, struct err *e);
void journal_close(struct journal *j);

#endif
