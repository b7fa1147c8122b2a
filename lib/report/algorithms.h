/* What algorithms there are and what their knobs mean, from the algorithms' own tables: as tables
 * for people, and as text of a manual page. */
#ifndef TL_REPORT_ALGORITHMS_H
#define TL_REPORT_ALGORITHMS_H

#include "lib/algo/algo.h"

/* Which algorithms are told of. */
struct algorithms {
	const struct target *target; /* those that make kernels for it; NULL: all */
	const char *name;	     /* this one alone; NULL: all */
};

/* A line an algorithm, or a knob. */
void algorithms_table(const struct algorithms *which, struct buf *out);
void algorithms_knobs(const struct algorithms *which, struct buf *out);
/* All of them with their knobs, in mdoc, behind the line @ALGORITHMS@, which tl-record(5) has where
 * they are to stand. */
void algorithms_manual(struct buf *out);

#endif
