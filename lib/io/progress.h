/* Progress on stderr: one line that is rewritten in place, at most ten times a second, or when
 * `what` changes. It is shown only if stderr is a terminal, and is never wider than it.
 *
 * A program that is a part of another program's run (a round of tl-tune) begins its line with that
 * program's words for the whole run, which come in the environment: progress_set_whole().
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
	double limit_s;	   /* the run ends after this time; 0: no limit */
	int64_t better;	   /* candidates that were faster than the best before; 0 is not shown */
	double ratio;	   /* of the baseline's time over the best one's; 0: not known */
};

/* detail: the current step; it is cut first. */
void progress_show(const struct progress *p, const char *detail);
/* Removes the line. Call it before any other output on stderr, and at the end. */
void progress_clear(void);
/* Shows nothing from now on (-q). */
void progress_silence(void);
int progress_is_silent(void);

/* For the programs that this one starts: words for the whole ("round 3"), its start (clock_now())
 * and the time that it has, 0: no limit. */
void progress_set_whole(const char *words, double started, double limit_s);

/* Prints the line into out, as of `now`. The remaining time is estimated from the time so far. */
void progress_line(const struct progress *p, const char *detail, double now, struct buf *out);
/* Seconds as "0:07", "12:34" or "1:02:03". */
void progress_time(double s, struct buf *out);

#endif
