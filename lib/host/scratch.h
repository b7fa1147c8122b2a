/* A folder of a run for what its programs hand on, in $TMPDIR or /tmp.
 *
 * A run that is killed by SIGKILL leaves it. So each run removes those of runs that have ended, and
 * nothing else: folders of this user by this name, with a file in them that marks them, which their
 * run holds a lock on as long as it lives.
 */
#ifndef TL_HOST_SCRATCH_H
#define TL_HOST_SCRATCH_H

#include "lib/base/err.h"

struct scratch {
	char *path; /* NULL: there is none */
	char *mark; /* the file in it that is locked */
	int lock;
};

/* Removes what dead runs left, and makes $TMPDIR/NAME-XXXXXX. */
int scratch_open(struct scratch *s, const char *name, struct err *e);
/* The folder stays for good, and no later run takes it for one of a dead run. */
void scratch_keep(struct scratch *s);
/* Removes it with all files in it. */
int scratch_remove(struct scratch *s, struct err *e);

#endif
