/* The machines that tune together for one tl-tune: a list of how each is reached, and a worker on
 * each (share/recipes/worker.sh), which ends with this program.
 *
 * A line of the list is a name, what the machine has (a target: cpu, cuda), and a command that runs
 * what stands behind it as a command line on that machine:
 *
 *	here  cpu   sh -c
 *	node1 cpu   ssh -o BatchMode=yes node1
 *	gpu1  cuda  docker exec -i gpu1 sh -c
 *
 * Empty lines, and what follows a # in front of a line, are comments.
 */
#ifndef TL_FLEET_WORKERS_H
#define TL_FLEET_WORKERS_H

#include "lib/base/arena.h"
#include "lib/base/err.h"

enum { WORKERS_MOST = 256 };

struct worker_place {
	const char *name;
	const char *target;
	char *const *reach; /* words, with NULL behind the last one */
	int nreach;
};

struct workers {
	struct worker_place *place;
	int n;
};

/* Texts live in the arena. -1: the file cannot be read, or line N of it is none. */
int workers_read(const char *path, struct arena *a, struct workers *w, struct err *e);

/* All of them do the same job. */
struct workers_job {
	const char *db;	     /* a name that means the same on each machine */
	const char *prune;   /* the options of tl-prune, for the shell; "": none */
	const char *measure; /* those of tl-measure */
	double limit_s;	     /* each takes no more units after that time; 0: it may go on */
};

/* Runs a worker on each machine until all have ended. What they say on standard error is told
 * behind their name. A signal that stops this program (lib/io/record.h) ends them in their own
 * time, and so does its death. failed[i]: its exit status, if it is not 0. Returns how many failed;
 * -1: none was started. */
int workers_run(const struct workers *w, const struct workers_job *job, int *failed, struct err *e);

#endif
