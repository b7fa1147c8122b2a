#include "lib/io/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/record.h"

enum {
	CHILD_STACK = 64 * 1024,
	KEEP_TIME_S = 2, /* for keep to end what it keeps */
	FDS = PROC_ANSWERS_FD + 1,
};

/* What the child needs between vfork and exec; it runs on our memory, on a stack of its own, while
 * we wait. */
struct launch {
	char *const *argv;
	int flags;
	int fd[FDS]; /* -1: none, of the last */
	pid_t parent;
	sigset_t mask;
	int (*confine)(void *);
	void *confine_arg;
	int error;
};

/* posix_spawn cannot ask to be killed with the parent, so that this is its vfork written out: only
 * system calls and no return until exec. Signals are blocked meanwhile and our handlers reset
 * before they are let in. */
static int child(void *arg)
{
	struct launch *l = arg;
	int fd[FDS];

	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction sa;

		if (sigaction(sig, NULL, &sa) || sa.sa_handler == SIG_DFL ||
		    (sa.sa_handler == SIG_IGN && sig != SIGPIPE && sig != SIGXFSZ))
			continue;
		sa = (struct sigaction){.sa_handler = SIG_DFL};
		sigaction(sig, &sa, NULL);
	}
	if ((l->flags & PROC_GROUP) && setpgid(0, 0))
		goto fail;
	if (l->flags & (PROC_DIE_WITH_PARENT | PROC_TERM_WITH_PARENT)) {
		if (prctl(PR_SET_PDEATHSIG, l->flags & PROC_DIE_WITH_PARENT ? SIGKILL : SIGTERM))
			goto fail;
		if (getppid() != l->parent) /* it died before the call */
			_exit(127);
	}
	for (int i = 0; i < FDS; i++) /* out of the way of each other first */
		if (l->fd[i] >= 0 && (fd[i] = fcntl(l->fd[i], F_DUPFD_CLOEXEC, FDS)) < 0)
			goto fail;
	for (int i = 0; i < FDS; i++)
		if (l->fd[i] >= 0 && dup2(fd[i], i) < 0)
			goto fail;
	sigprocmask(SIG_SETMASK, &l->mask, NULL);
	if (l->confine && l->confine(l->confine_arg))
		goto fail;
	execvp(l->argv[0], l->argv);
fail:
	l->error = errno;
	_exit(127);
}

static int launch(struct proc *p, struct launch *l)
{
	char *stack = malloc(CHILD_STACK);
	sigset_t all;

	if (!stack) {
		errno = ENOMEM;
		return -1;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &l->mask);
	p->pid = clone(child, stack + CHILD_STACK, CLONE_VM | CLONE_VFORK | SIGCHLD, l);
	if (p->pid < 0)
		l->error = errno;
	else if (l->error)
		waitpid(p->pid, NULL, 0);
	pthread_sigmask(SIG_SETMASK, &l->mask, NULL);
	free(stack);
	errno = l->error;
	return l->error ? -1 : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* A pipe for one of the child's descriptors, if it is to have one; -1 and -1 otherwise. */
static int make_end(int piped, int reads, int *ours, int *theirs)
{
	int ends[2];

	*ours = *theirs = -1;
	if (!piped)
		return 0;
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	*ours = ends[reads ? 1 : 0];
	*theirs = ends[reads ? 0 : 1];
	return 0;
}

/* l: what is to be started; its descriptors are found here. */
static int start(struct proc *p, struct launch *l, int flags, const int fd[3], struct err *e)
{
	char *const *argv = l->argv;
	int theirs[FDS] = {-1, -1, -1, -1}, null = -1, rc = -1;

	l->flags = flags;
	l->parent = getpid();
	*p = (struct proc){.group = flags & PROC_GROUP,
			   .kept = flags & PROC_KEPT,
			   .in = -1,
			   .out = -1,
			   .errfd = -1,
			   .answers = -1,
			   .started = clock_now()};
	if (make_end(flags & PROC_STDIN, 1, &p->in, &theirs[0]) ||
	    make_end(flags & PROC_STDOUT, 0, &p->out, &theirs[1]) ||
	    make_end(flags & PROC_STDERR, 0, &p->errfd, &theirs[2]) ||
	    make_end(flags & PROC_ANSWERS, 0, &p->answers, &theirs[PROC_ANSWERS_FD]) ||
	    (null = open("/dev/null", O_RDWR | O_CLOEXEC)) < 0) {
		err_sys(e, "cannot make a pipe for %s", argv[0]);
	} else {
		const int fallback[3] = {null, STDERR_FILENO, STDERR_FILENO};

		for (int i = 0; i < 3; i++)
			l->fd[i] = theirs[i] >= 0 ? theirs[i] : fd[i] >= 0 ? fd[i] : fallback[i];
		l->fd[PROC_ANSWERS_FD] = theirs[PROC_ANSWERS_FD];
		rc = launch(p, l);
		if (rc)
			err_sys(e, "cannot start %s", argv[0]);
	}
	close_fd(&null);
	for (int i = 0; i < FDS; i++)
		close_fd(&theirs[i]);
	if (rc) {
		p->pid = 0;
		proc_close(p);
	}
	return rc;
}

int proc_start(struct proc *p, char *const *argv, int flags, int stdin_fd, int stdout_fd,
	       struct err *e)
{
	struct launch l = {.argv = argv};

	return start(p, &l, flags, (const int[]){stdin_fd, stdout_fd, -1}, e);
}

int proc_start_confined(struct proc *p, char *const *argv, int flags, int (*confine)(void *),
			void *arg, struct err *e)
{
	struct launch l = {.argv = argv, .confine = confine, .confine_arg = arg};

	return start(p, &l, flags, (const int[]){STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}, e);
}

/* waitpid, and what the process took. */
static pid_t reap(struct proc *p, int *status, int flags)
{
	struct rusage used;
	pid_t pid;

	do
		pid = wait4(p->pid, status, flags, &used);
	while (pid < 0 && errno == EINTR);
	if (pid > 0)
		p->cpu_s = clock_rusage(&used);
	return pid;
}

/* Reaps the process if it has ended. */
static int try_wait(struct proc *p, int *status, struct err *e)
{
	pid_t pid = reap(p, status, WNOHANG);

	if (pid < 0)
		return err_sys(e, "cannot wait for process %ld", (long)p->pid);
	if (!pid)
		return 0;
	p->pid = 0;
	return 1;
}

int proc_wait(struct proc *p, double timeout_s, int *status, struct err *e)
{
	double until = clock_now() + timeout_s;
	struct pollfd ended;
	int rc;

	if ((rc = try_wait(p, status, e)) || timeout_s == 0)
		return rc;
	ended = (struct pollfd){(int)syscall(SYS_pidfd_open, p->pid, 0), POLLIN, 0};
	if (ended.fd < 0)
		return err_sys(e, "cannot watch process %ld", (long)p->pid);
	while (!(rc = try_wait(p, status, e))) {
		double left = until - clock_now();

		if (timeout_s > 0 && left <= 0)
			break;
		if (timeout_s < 0)
			left = -1e-3;
		else if (left > 1000)
			left = 1000;
		/* Rounded up, so that the last wait is not a spin. */
		poll(&ended, 1, timeout_s < 0 ? -1 : (int)(left * 1e3) + 1);
	}
	close(ended.fd);
	return rc;
}

void proc_kill(struct proc *p)
{
	struct err e = ERR_INIT;
	int status;

	if (p->pid <= 0)
		return;
	if (p->kept) {
		kill(p->pid, SIGTERM);
		if (proc_wait(p, KEEP_TIME_S, &status, &e) == 1)
			return;
	}
	kill(p->group ? -p->pid : p->pid, SIGKILL);
	reap(p, &status, 0);
	p->pid = 0;
}

void proc_close(struct proc *p)
{
	close_fd(&p->in);
	close_fd(&p->out);
	close_fd(&p->errfd);
	close_fd(&p->answers);
}

/* Reads what the pipe has; 1: more may come, 0: the end. What passes max is read and dropped. */
static int drain(int fd, size_t max, struct buf *out, struct err *e)
{
	char chunk[16 * 1024];
	ssize_t n = read(fd, chunk, sizeof chunk);

	if (n < 0)
		return errno == EINTR ? 1 : err_sys(e, "cannot read a pipe");
	if (out->n < max)
		buf_add(out, chunk, (size_t)n < max - out->n ? (size_t)n : max - out->n);
	return n > 0;
}

/* A pipe that is read to its end. */
struct source {
	int fd; /* -1: it has ended */
	struct buf *to;
};

/* Reads until all pipes have ended, or the time has, or a signal stops us. */
static int drain_all(struct source *from, int n, double until, size_t max, struct err *e)
{
	for (;;) {
		double left = until - clock_now();
		struct pollfd f[3];
		int open = 0, more;

		for (int i = 0; i < n; i++) {
			f[i] = (struct pollfd){from[i].fd, POLLIN, 0};
			open += from[i].fd >= 0;
		}
		if (!open || left <= 0 || rec_stopped())
			return 0;
		f[n] = (struct pollfd){rec_stop_fd(), POLLIN, 0};
		if (poll(f, (nfds_t)n + 1, left > 1000 ? 1000 * 1000 : (int)(left * 1e3) + 1) <= 0)
			continue;
		for (int i = 0; i < n; i++) {
			if (!f[i].revents)
				continue;
			more = drain(from[i].fd, max, from[i].to, e);
			if (more < 0)
				return -1;
			if (!more)
				from[i].fd = -1;
		}
	}
}

/* Waits for the end of a command that was started to be asked; from: its pipes. */
static int finish(struct proc *p, const char *name, struct source *from, int n, double timeout_s,
		  size_t max, struct err *e)
{
	double until = timeout_s < 0 ? INFINITY : p->started + timeout_s, left;
	int rc = drain_all(from, n, until, max, e), status;

	left = rec_stopped() ? 0 : until - clock_now();
	if (rc == 0)
		rc = proc_wait(p, isinf(left) ? -1 : left > 0 ? left : 0, &status, e);
	proc_close(p);
	if (rc == 1)
		return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	proc_kill(p);
	if (rc)
		return -1;
	return rec_stopped() ? err_set(e, "%s", "") /* the signal says it */
			     : err_set(e, "%s did not end within %g s", name, timeout_s);
}

/* Names the command for a sentence. Behind keep's options stands the command that keep runs. */
static const char *name_of(char *const *argv, int flags)
{
	if (flags & PROC_KEPT)
		for (char *const *a = argv; *a; a++)
			if (!strcmp(*a, "--") && a[1])
				return a[1];
	return argv[0];
}

long proc_threads(void)
{
	FILE *f = fopen("/proc/loadavg", "re");
	struct sysinfo machine;
	long n = 0;

	if (f && fscanf(f, "%*f %*f %*f %*d/%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	/* sysinfo() counts up to 65,535. */
	return n > 0 ? n : sysinfo(&machine) == 0 ? machine.procs : 0;
}

int proc_run(char *const *argv, double timeout_s, size_t max, struct buf *out, struct err *e)
{
	return proc_run_as(argv, 0, timeout_s, max, out, e);
}

/* stdout and stderr by one pipe, so that their order is kept. */
int proc_run_as(char *const *argv, int flags, double timeout_s, size_t max, struct buf *out,
		struct err *e)
{
	struct launch l = {.argv = argv};
	struct source from;
	struct proc p;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "cannot make a pipe for %s", argv[0]);
	rc = start(&p, &l, flags | PROC_GROUP | PROC_DIE_WITH_PARENT,
		   (const int[]){-1, ends[1], ends[1]}, e);
	close(ends[1]);
	from = (struct source){ends[0], out};
	if (rc == 0)
		rc = finish(&p, name_of(argv, flags), &from, 1, timeout_s, max, e);
	close(ends[0]);
	return rc;
}

int proc_ask(char *const *argv, int flags, double timeout_s, size_t max, struct buf *out,
	     struct buf *log, struct err *e)
{
	struct launch l = {.argv = argv};
	struct proc p;
	int ends[2], rc;

	if (pipe2(ends, O_CLOEXEC))
		return err_sys(e, "cannot make a pipe for %s", argv[0]);
	if (!(flags & PROC_ANSWERS))
		flags |= PROC_STDOUT;
	rc = start(&p, &l, flags | PROC_GROUP | PROC_DIE_WITH_PARENT,
		   (const int[]){-1, ends[1], ends[1]}, e);
	close(ends[1]);
	if (rc == 0) {
		struct source from[] = {{flags & PROC_ANSWERS ? p.answers : p.out, out},
					{ends[0], log}};

		rc = finish(&p, name_of(argv, flags), from, 2, timeout_s, max, e);
	}
	close(ends[0]);
	return rc;
}

/* The folder of /proc/self/exe, and whether the program is a worker in libexec/tl. */
static int own_folder(struct buf *out, int *worker, struct err *e)
{
	static const char libexec[] = "/libexec/tl";
	char path[PATH_MAX], *slash;
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	size_t k;

	if (n < 0)
		return err_sys(e, "cannot read /proc/self/exe");
	path[n] = 0;
	slash = strrchr(path, '/');
	*slash = 0;
	k = (size_t)(slash - path);
	*worker = k >= sizeof libexec - 1 && !strcmp(slash - (sizeof libexec - 1), libexec);
	buf_add(out, path, k);
	return 0;
}

int path_bin(struct buf *out, const char *program, struct err *e)
{
	int worker;

	buf_clear(out);
	if (own_folder(out, &worker, e))
		return -1;
	if (worker)
		buf_str(out, "/../../bin");
	buf_fmt(out, "/%s", program);
	if (access(out->s, X_OK))
		return err_sys(e, "cannot find the program %s at %s", program, out->s);
	return 0;
}

int path_libexec(struct buf *out, const char *program, struct err *e)
{
	int worker;

	buf_clear(out);
	if (own_folder(out, &worker, e))
		return -1;
	buf_fmt(out, worker ? "/%s" : "/../libexec/tl/%s", program);
	if (access(out->s, X_OK))
		return err_sys(e, "cannot find the program %s at %s", program, out->s);
	return 0;
}

int path_share(struct buf *out, const char *file, struct err *e)
{
	static const char *const folder[] = {"/../share/tl", "/../share"};
	size_t n;
	int worker;

	buf_clear(out);
	if (own_folder(out, &worker, e))
		return -1;
	n = out->n;
	for (size_t i = 0; i < sizeof folder / sizeof *folder; i++) {
		out->n = n;
		buf_fmt(out, "%s/%s", folder[i], file);
		if (access(out->s, F_OK) == 0)
			return 1;
		if (errno != ENOENT && errno != ENOTDIR)
			return err_sys(e, "cannot look for %s", out->s);
	}
	return 0;
}
