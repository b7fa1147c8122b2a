/* A cell that stays (cell.h): a child that serves one request after the other.
 *
 * To open a device's driver takes 0.4 s (H100), and most trials take less. So those of a device are
 * served by one child, until one of them ends in anything but CELL_DONE, or the caller ends it. The
 * child has the caller's memory as it was when the child was started; a request brings the rest. So
 * a request may hold pointers to what is constant alone.
 */
#ifndef TL_TRIAL_STAY_H
#define TL_TRIAL_STAY_H

#include <sys/types.h>

#include "lib/trial/cell.h"

enum { STAY_REQUESTS = 64 }; /* then the memory that the driver has not given back goes, too */

struct stay {
	pid_t pid; /* 0: there is no child */
	int fd;	   /* a byte each way: a request is there, its answer is there */
	int served;
	struct cell_shared *shared;
	size_t bytes, answer_bytes;
	struct cell_usage before;
};

/* The child calls serve() for each request, with arg as it was when the child was started. */
struct stay_serve {
	void (*serve)(void *arg, const void *request, void *answer);
	void *arg;
	size_t request_bytes, answer_bytes;
};

/* Does what cell_run() does. It starts a child if there is none. The sizes are the same for all
 * requests of a child. */
enum cell_end stay_ask(struct stay *s, const struct cell *c, const struct stay_serve *how,
		       const void *request, void *answer, char why[CELL_WHY]);
/* Ends the child, if there is one. */
void stay_end(struct stay *s);

#endif
