/* A journal of results. Each result is appended to the file and synced as soon as it is known, so
 * that a crash loses at most the candidate that is being measured. The next run takes known results
 * from it.
 *
 * The file has whole records, one a line: results, and the begin, run and done records of the runs.
 * One run at a time has it open (flock). Opening it cuts off a last line without newline, which a
 * crash left, and ignores lines that are no records. The struct says how many.
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

/* Opens or makes the file, locks and reads it. Fails with EXIT_BUSY if another run has it. path
 * must live as long as the journal. */
int journal_open(struct journal *j, const char *path, struct err *e);
/* Appends a line. It is on the disk when this returns. */
int journal_add(struct journal *j, const char *line, size_t n, struct err *e);
/* Gives the results that were in it at opening, for known.h; from: the journal. */
int journal_look(void *from, const char *workload_id, const char *candidate_id, known_take *take,
		 void *to, struct err *e);
void journal_close(struct journal *j);

#endif
