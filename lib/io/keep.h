/* Commands run under libexec/tl/keep: within limits, in a process group that they cannot leave, and
 * so that nothing of them outlives the command, keep, or this process, however it ends.
 *
 * The process that is started is keep; it ends as the command ended, by the same signal if it was
 * one. A command that cannot be started ends with status 127 and a sentence on its stderr.
 * proc_kill() asks keep to end the command, which takes about a millisecond.
 */
#ifndef TL_IO_KEEP_H
#define TL_IO_KEEP_H

#include <stdint.h>

#include "lib/io/proc.h"

/* 0: as it is for this process. All limits but no_* are a process's, not the sum of all. */
struct keep {
	int64_t memory; /* bytes of address space */
	int64_t file;	/* bytes of a file that it writes */
	int64_t cpu_s;	/* seconds of CPU time: beyond it, SIGXCPU */
	int64_t files;	/* open files */
	int no_network; /* no new sockets: EACCES */
	int no_fork;	/* no new processes, only threads: EAGAIN */
	int ours;	/* a program of this build: if that is for the address sanitizer, which
			   reserves terabytes, its memory is not limited */
};

/* As proc_start(), with PROC_KEPT | PROC_GROUP | PROC_DIE_WITH_PARENT in any case. */
int keep_start(struct proc *p, const struct keep *k, char *const *argv, int flags, int stdin_fd,
	       int stdout_fd, struct err *e);
/* As proc_run(). */
int keep_run(const struct keep *k, char *const *argv, double timeout_s, size_t max, struct buf *out,
	     struct err *e);

#endif
