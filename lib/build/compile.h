/* One run of the compiler, under libexec/keep (lib/io/keep.h): it has limits of time and memory,
 * and no network.
 *
 * compile_environment() sets the C locale, because the compiler's messages are read here. It also
 * puts temporary files beside the source, so that they can be found and removed after a crash.
 */
#ifndef TL_BUILD_COMPILE_H
#define TL_BUILD_COMPILE_H

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/io/proc.h"
#include "lib/target/target.h"

struct compile {
	struct proc proc; /* pid 0: none runs */
	char *source;	  /* paths; removed by compile_close() */
	char *object;
	double timeout_s;
	int status;	    /* of one that failed */
	struct buf message; /* what it printed, the start of it */
};

enum compile_state { COMPILE_RUNS, COMPILE_DONE, COMPILE_FAILED, COMPILE_LATE };

/* The environment of this process, for all compilers to come. */
void compile_environment(const char *dir);
/* Writes the source and starts the compiler. The paths must live until compile_close(). A zeroed
 * struct may be used, and used again after compile_close(). */
int compile_start(struct compile *c, const struct target *target, const char *isa,
		  const struct buf *text, char *source, char *object, double timeout_s,
		  struct err *e);
/* Without waiting: a compile_state, or -1. Kills what is late. */
int compile_poll(struct compile *c, struct err *e);
/* Kills it if it runs, and removes its files. */
void compile_close(struct compile *c);
void compile_free(struct compile *c);
/* COMPILE_FAILED: the first line of error. */
const char *compile_why(const struct compile *c, struct arena *a);
/* Did it fail for want of a disk, which is no fault of the source? Then e says so. */
int compile_no_disk(const struct compile *c, struct err *e);
/* Did it fail for want of memory or processes, or was it killed? Other programs may have had them.
 */
int compile_was_starved(const struct compile *c);
/* Builds something known to be good, waiting for it: -1 if the machine cannot. stem: its path but
 * for the ending. */
int compile_canary(const struct target *target, const char *isa, const char *stem, double timeout_s,
		   struct err *e);

#endif
