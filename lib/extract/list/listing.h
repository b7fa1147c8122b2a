/* What readers of lists and logs share: the operators that were found, with their counts, and by
 * name what was left out, with the multiply-adds and the time of either as far as they are told.
 *
 * A reader begins a listing for a member, counts its lines in `line`, takes and leaves operators,
 * and ends it. The end tells the sum, and moves the workloads and the contents to the extraction.
 */
#ifndef TL_EXTRACT_LIST_LISTING_H
#define TL_EXTRACT_LIST_LISTING_H

#include "lib/extract/extract.h"

enum { LISTING_COUNT_MAX = 100000 }; /* that one line may say */

struct listing {
	struct extract *x;
	struct member *m;
	int64_t line;

	/* Private. */
	struct collected found;
	struct buf stem;
	struct contents kinds; /* of the stem: what was taken and left, by type and reason */
	struct map seen;       /* what was left once, by hash */
	struct content_row *last;
	int64_t taken, last_line, of_line; /* of_line: of them, in the last line */
};

void listing_begin(struct listing *l, struct extract *x, struct member *m);
/* count operators of a finished workload. name: of n bytes, or 0; it becomes a part of the
 * sources. */
void listing_take(struct listing *l, const struct workload *w, const char *name, size_t n,
		  int64_t count);
/* The same for a log of tuning, where an operator stands once for each trial: counts once. */
void listing_take_once(struct listing *l, const struct workload *w, const char *name);
/* n operators that are no workloads. type: what they are called; why may be "". macs: of one of
 * them; 0: it does none, -1: it does, and they are not known. */
void listing_leave(struct listing *l, const char *type, const char *why, int64_t n, int64_t macs);
/* The same, once for what stands in the n bytes. */
void listing_leave_once(struct listing *l, const char *type, const char *why, const char *bytes,
			size_t n, int64_t macs);
/* What was taken or left last took so long. */
void listing_time(struct listing *l, double seconds);
/* A line that makes no sense. */
void listing_bad(struct listing *l, const struct err *e);
void listing_end(struct listing *l);
void listing_drop(struct listing *l); /* instead: nothing is told or moved */

#endif
