/* Progress on stderr: one line that is rewritten in place, at most ten times a second, or when
 * something else is done, and only where stderr is a terminal. It never is wider than the terminal,
 * whose width is looked at each time.
 *
 * A program that is a part of another's run (a round of tl-tune) begins its line with what that one
 * says of the whole, which comes in the environment: progress_set_whole().
 */
#ifndef TL_IO_PROGRESS_H
#define TL_IO_PROGRESS_H

#include <stdint.h>

#include "lib/base/buf.h"

struct progress {
	const char *what;  /* "measuring" */
	double started;	   /* clock_now() */
	int64_t done, all; /* all 0: it is not known */
	const char *unit;  /* of these, " MB"; NULL: none */
	double limit_s;	   /* it ends after so long, whatever is done; 0: it does not */
	int64_t better;	   /* candidates that were faster than the best before; 0 is not told */
	double ratio;	   /* of the library's time over the best one's; 0: not known */
};

/* detail: what is worked on now; it is the first to be cut. */
void progress_show(const struct progress *p, const char *detail);
/* Before any other line on stderr, and at the end. */
void progress_clear(void);
/* From here on nothing is shown: the user wants to hear of errors alone (-q). */
void progress_silence(void);
int progress_is_silent(void);

/* For the programs that this one starts: words for the whole ("round 3"), its start (clock_now())
 * and the time that it has, 0: no limit. */
void progress_set_whole(const char *words, double started, double limit_s);

/* The line, for a moment: what is left is what the time so far makes of the rest. */
void progress_line(const struct progress *p, const char *detail, double now, struct buf *out);
/* Seconds as "0:07", "12:34" or "1:02:03". */
void progress_time(double s, struct buf *out);

#endif
