/* Child processes: started as posix_spawn does it (vfork and exec, never a fork that goes on
 * running our code: an OpenMP team or a driver would hang), in a process group of their own where
 * asked, killed with their parent.
 */
#ifndef TL_IO_PROC_H
#define TL_IO_PROC_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

struct proc {
	pid_t pid;	/* 0: none */
	int group;	/* it leads a process group of its own */
	int kept;	/* it is keep, see lib/io/keep.h */
	int in;		/* write end of the child's stdin, or -1 */
	int out;	/* read end of the child's stdout, or -1 */
	int errfd;	/* read end of the child's stderr, or -1 */
	int answers;	/* read end of the child's PROC_ANSWERS_FD, or -1 */
	double started; /* clock_now() */
	double cpu_s;	/* once reaped: user and system time, its own and of what it waited for */
};

enum proc_flags {
	PROC_STDIN =
		1, /* a pipe to the child's stdin; otherwise stdin_fd, or /dev/null if that is -1 */
	PROC_STDOUT =
		2, /* a pipe from its stdout; otherwise stdout_fd, or our stderr if that is -1 */
	PROC_STDERR = 4,	    /* a pipe from its stderr; otherwise our stderr */
	PROC_GROUP = 8,		    /* a process group of its own */
	PROC_DIE_WITH_PARENT = 16,  /* killed by the kernel when this process dies */
	PROC_TERM_WITH_PARENT = 32, /* the same with SIGTERM, so that it can write what it has */
	PROC_KEPT = 64,		    /* it is keep: proc_kill() lets it end what it keeps first */
	PROC_ANSWERS = 128,	    /* a pipe from its PROC_ANSWERS_FD */
};

/* Where programs of ours answer that have libraries of others in them: what those print on stdout
 * and stderr is never taken for an answer. */
enum { PROC_ANSWERS_FD = 3 };

/* argv[0] without a slash is looked up in PATH. All pipe ends here are close-on-exec. */
int proc_start(struct proc *p, char *const *argv, int flags, int stdin_fd, int stdout_fd,
	       struct err *e);
/* The same with our own stdin, stdout and stderr. confine(arg) is called in the child just before
 * exec, on our memory while we wait: system calls only; returns 0, or -1 with errno set. */
int proc_start_confined(struct proc *p, char *const *argv, int flags, int (*confine)(void *),
			void *arg, struct err *e);
/* Waits at most timeout_s (negative: for ever). 1: ended, *status as by waitpid; 0: still running.
 */
int proc_wait(struct proc *p, double timeout_s, int *status, struct err *e);
/* SIGKILL to the process (its group, if it has one), then reaps it. To keep SIGTERM first, and two
 * seconds to end what it keeps. */
void proc_kill(struct proc *p);
void proc_close(struct proc *p); /* closes our pipe ends */
/* Runs a command to its end with all its output (stdout and stderr, at most max bytes) in out.
 * Returns the exit status, 128 + signal, or -1 with e filled: it could not be started, or it was
 * killed because its time was over or, with an empty sentence, because a signal stopped us
 * (rec_stopped()). */
int proc_run(char *const *argv, double timeout_s, size_t max, struct buf *out, struct err *e);
/* The same with further flags (PROC_KEPT). */
int proc_run_as(char *const *argv, int flags, double timeout_s, size_t max, struct buf *out,
		struct err *e);
/* The same with the answer apart from all else: out has what is written to stdout, and log what is
 * written to stderr. With PROC_ANSWERS out has what is written to PROC_ANSWERS_FD, and log has
 * both. At most max bytes each. */
int proc_ask(char *const *argv, int flags, double timeout_s, size_t max, struct buf *out,
	     struct buf *log, struct err *e);

/* How many threads the machine has now, or somewhat fewer where it does not tell all. */
long proc_threads(void);

/* Folder of the programs beside this one: bin/ for its siblings, libexec/tl/ for workers, share/tl/
 * for data; found from /proc/self/exe, so that a build tree, an installed tree and a moved tree all
 * work. */
int path_bin(struct buf *out, const char *program, struct err *e);
int path_libexec(struct buf *out, const char *program, struct err *e);
int path_share(struct buf *out, const char *file, struct err *e); /* 1; 0: it is not there */

#endif
