/* A cell: a function that runs in a forked child, from which nothing comes back but its answer.
 *
 * The child has a copy of the caller's memory, so that whatever it destroys is its own. It has its
 * own process group, no files but /dev/null, limits on time, memory, files, descriptors and
 * processes; it may not start processes, write files, open sockets or signal others (a seccomp
 * filter, where the system has them); the system kills it if its parent dies, and before all others
 * if memory ends. When the call returns, it is gone, and so is all that it started: the caller is
 * made the reaper of what its descendants leave, and must have no other children.
 *
 * The caller must have one thread only and must never have started an OpenMP team: the child may.
 * What the answer says comes out of memory in which the child could write: it is to be checked.
 *
 * A zygote and cells. The worker holds a workload's data and the reference result, runs no kernel
 * and never starts OpenMP, so it may fork. Each trial is a cell: a forked child, which has the
 * data at once and can destroy only its own copy. The cell returns one struct through shared
 * memory. The worker checks it, because the kernel could write there. The zygote makes data and
 * packs weights with a crew (lib/trial/crew.h): plain threads on the team's processors, which have
 * ended before the next fork. A fork copies the page tables of all that it hands on, so a cell
 * gets the packings of its own two kernels only.
 *
 * Confinement. A cell has a process group and resource limits, dies with its parent, and is the
 * first process that the system kills when memory ends. A seccomp filter lists what is allowed,
 * because a list of what is refused misses what nobody thought of. Once the team has started, no
 * thread can be added. Filters are a second fence. Where the system lacks them, the worker finds
 * stray processes by their parents, because it is their reaper.
 *
 * The canary. Failures that may be the machine's fault are held back until the reference kernel
 * has run again and given the same answer as before (in this run, or in the one that kept it). The
 * library must agree with this answer, too. Otherwise a wrong reference would call every candidate
 * wrong.
 */
#ifndef TL_TRIAL_CELL_H
#define TL_TRIAL_CELL_H

#include <stddef.h>
#include <sys/types.h>

enum { CELL_WHY = 200 };

struct cell {
	double timeout_s;
	size_t memory; /* bytes it may take beside what it has now; 0: no limit */
	size_t hidden; /* bytes of this process that it does not have (fence_inherit()) */
	int threads;   /* it will start: their stacks come on top */
	/* It loads a device's driver, which starts threads and processes, writes files and maps
	 * more memory than there is, or a library that does: only the time that passes is limited.
	 */
	int has_driver;
	/* Called every tick_s meanwhile, in the caller's process. NULL: nothing is. */
	void (*tick)(void *arg);
	void *tick_arg;
	double tick_s;
};

enum cell_end {
	CELL_DONE, /* the function returned: its answer is there */
	CELL_TIMEOUT,
	CELL_OOM,
	CELL_CRASH,
	CELL_FAILED, /* no child could be made: the machine's fault */
};

/* Where a memory access went that killed the child. */
struct cell_fault {
	const void *address; /* NULL: none is known */
	int write;
};

/* Runs run(arg, answer) with an answer of n bytes, all 0 before. After anything but CELL_DONE `why`
 * holds a sentence. */
enum cell_end cell_run(const struct cell *c, void (*run)(void *arg, void *answer), void *arg,
		       void *answer, size_t n, struct cell_fault *fault, char why[CELL_WHY]);

/* The function says so before and after it starts threads. If it ends in between, they found no
 * room, and it is run again: other programs may have had it. */
void cell_starts_threads(int starts);

/* ---- the parts of it, for a cell that stays (stay.c) ---- */

/* The one place that parent and child both see; the answer lies behind it. */
struct cell_shared {
	int done;
	int starts; /* threads, now */
	int stack_overflow;
	struct cell_fault fault;
	char answer[] __attribute__((aligned(64)));
};

/* n bytes, a multiple of the page size, between guards. NULL: no memory. */
struct cell_shared *cell_share(size_t n);
void cell_unshare(struct cell_shared *s, size_t n);

/* Before a child is started: what this process takes, in bytes, without what is hidden from the
 * child, which has the rest from the beginning; and memory_kills(). */
struct cell_usage {
	size_t space, resident;
	long kills;
};
struct cell_usage cell_usage_now(size_t hidden);

/* The child calls this, and is a cell from then on. It keeps its descriptors from 3 up to `kept`.
 */
void cell_child(const struct cell *c, size_t in_use, pid_t parent, struct cell_shared *to,
		int kept);
/* Waits until fd can be read or is_over(pid) says so, where fd is -1. 1; 0: the time is over. */
int cell_wait_for(const struct cell *c, int fd, int (*is_over)(pid_t pid), pid_t pid);
/* Ends the child and all that is left of it, and tells how it ended. to: what cell_child() got.
 * ended: it did so by itself. */
enum cell_end cell_end_child(const struct cell *c, const struct cell_shared *to, pid_t pid,
			     int ended, const struct cell_usage *before, char why[CELL_WHY]);

#endif
