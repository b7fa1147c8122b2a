/* Runs commands under libexec/tl/keep. They have limits, and a process group that they cannot
 * leave. None of their processes outlives the command, keep, or this process, however these end.
 *
 * The process that is started is keep. It ends as the command ended, also by the same signal. A
 * command that cannot be started ends with status 127 and a sentence on its stderr.
 * proc_kill() asks keep to end the command, which takes about a millisecond.
 */
#ifndef TL_IO_KEEP_H
#define TL_IO_KEEP_H

#include <stdint.h>

#include "lib/io/proc.h"

/* 0: the same as for this process. All limits but no_* hold for each process, not for their sum. */
struct keep {
	int64_t memory; /* bytes of address space */
	int64_t file;	/* bytes of a file that it writes */
	int64_t cpu_s;	/* seconds of CPU time: beyond it, SIGXCPU */
	int64_t files;	/* open files */
	int no_network; /* no new sockets but local ones: EACCES */
	int no_fork;	/* no new processes, only threads: EAGAIN */
	int ours; /* a program of this build, which bounds what it starts by itself: the user may
		     have any number of processes meanwhile. If the build uses the address
		     sanitizer, which reserves terabytes, its memory is not limited */
};

/* As proc_start(), with PROC_KEPT | PROC_GROUP | PROC_DIE_WITH_PARENT in any case. */
int keep_start(struct proc *p, const struct keep *k, char *const *argv, int flags, int stdin_fd,
	       int stdout_fd, struct err *e);
/* As proc_run(). */
int keep_run(const struct keep *k, char *const *argv, double timeout_s, size_t max, struct buf *out,
	     struct err *e);
/* As proc_ask(). */
int keep_ask(const struct keep *k, char *const *argv, int flags, double timeout_s, size_t max,
	     struct buf *out, struct buf *log, struct err *e);

#endif
