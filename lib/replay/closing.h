/* Closing a recording: what a replay is asked for and does not know is measured, once, and kept in
 * the recording, a database.
 *
 * tl-measure measures and tl-store stores, as children: so the machine's lock is held, and what was
 * measured before a signal is kept. A look is a run of tl-measure with whole races and samples. All
 * candidates of a workload duel with one reference, which is the first of them that ended well; so
 * the ratio of any two is known. A candidate needs as many looks as are asked for
 * (recording_needs()).
 *
 * Objects are built in a cache of the recording's own, PATH.cache, so that each build is charged
 * when it is first recorded, whatever other caches hold. If a closing was cut off, objects may be
 * there whose cost is not in the recording. The next closing then removes all of them.
 *
 * A recording that closes itself. A whole space is too dear (25k to 160k points, a look each), and
 * a part of it that someone chose beforehand would favour a policy. So a simulation has what it
 * asks for measured, and the recording keeps it (--close). tl-replay reads
 * its input to the end first (whole.h), because nothing may run beside the timing. tl-measure and
 * tl-store measure and store as children, in several runs, and all candidates of a workload duel
 * with one reference, the one that most looks are duels with. Which finals are asked for is known
 * when the races are: the replay is played once without being written. What the recording learns
 * later must not change an answer, so the clock starts at its earliest result, and of costs that
 * candidates share the earliest counts. Objects are built in a cache of the recording's own, and a
 * file in it says while measuring is going on that objects may be there whose cost was not stored.
 * A look at which other work disturbed the reference does not count: the ratios of its pairs would
 * be another machine's.
 */
#ifndef TL_REPLAY_CLOSING_H
#define TL_REPLAY_CLOSING_H

#include "lib/replay/whole.h"
#include "lib/replay/recording.h"

struct closing {
	const char *database;	    /* the recording's path */
	const char *target, *cache; /* options of tl-measure */
	int quiet;
	char *folder, *mark; /* of the cache; the file in it that says that measuring is going on */
	char *before;	     /* $TL_CACHE as it was; NULL: it was not set */
};

/* Writes the groups of candidates that need another look to the file. v: what is known
 * in this machine's env; NULL: nothing. Returns how many, or -1. */
int64_t closing_races(const struct whole *in, const struct recorded_env *v, int64_t looks,
		      const char *path, struct err *e);
/* Adds the group that asks for the final of a candidate, whose record is the line. race: what is
 * recorded of it. */
int closing_add_final(const char *line, size_t n, const struct recorded *race, struct buf *out,
		      struct err *e);

/* From here to closing_end() programs use the recording's own cache. */
int closing_begin(struct closing *c, struct err *e);
/* Measures what the file asks for, and stores it; finals: in so many processes; 0: races. Returns
 * the exit status of the programs, which have told what went wrong; -1: they could not be started.
 */
int closing_measure(const struct closing *c, const char *path, int64_t finals, struct err *e);
/* is_done: all that was measured is stored. */
void closing_end(struct closing *c, int is_done);

#endif
