/* What cells have in common (cell.c, stay.c): the life of a cell's child. */
#ifndef TL_TRIAL_CELL_CHILD_H
#define TL_TRIAL_CELL_CHILD_H

#include <sys/types.h>

#include "lib/trial/cell.h"

/* The one place that parent and child both see; the answer lies behind it. */
struct cell_shared {
	int done;
	int stack_overflow;
	struct cell_fault fault;
	char answer[] __attribute__((aligned(64)));
};

/* n bytes, a multiple of the page size, between guards. NULL: no memory. */
struct cell_shared *cell_share(size_t n);
void cell_unshare(struct cell_shared *s, size_t n);

/* Before a child is started: what this process takes, in bytes, which the child has from the
 * beginning; and memory_kills(). */
struct cell_usage {
	size_t space, resident;
	long kills;
};
struct cell_usage cell_usage_now(void);

/* In the child: makes it a cell (cell.h). Of its descriptors those from 3 up to `kept` stay. */
void cell_child(const struct cell *c, size_t in_use, pid_t parent, struct cell_shared *to,
		int kept);
/* Waits until fd can be read or is_over(pid) says so, where fd is -1. 1; 0: the time is over. */
int cell_wait_for(const struct cell *c, int fd, int (*is_over)(pid_t pid), pid_t pid);
/* Ends the child and all that is left of it, and tells how it ended. ended: it did so by itself. */
enum cell_end cell_end_child(const struct cell *c, pid_t pid, int ended,
			     const struct cell_usage *before, char why[CELL_WHY]);

#endif
