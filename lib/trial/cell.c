#include "lib/trial/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/io/memory.h"
#include "lib/io/proc.h"

enum {
	MAX_FILES = 64,
	SPARE_PROCESSES = 512,
	GUARD = 1 << 16, /* bytes before and behind what parent and child share */
	NEAR_STACK = 1 << 16,
	SANITIZER_EXIT = 86, /* with which tests have sanitizers end a process (Makefile) */
};

static const double STRAYS_TIME_S = 5; /* to end what a kernel left behind */
static const double ROOM_TIME_S = 10;  /* to wait for room for processes and threads */

static struct cell_shared *shared; /* in the child, for its signal handler */

/* Notes where the access went and lets it happen once more, to die of it. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	shared->fault.address = info->si_addr;
#ifdef __x86_64__
	const greg_t *reg = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t at = (uintptr_t)info->si_addr, sp = (uintptr_t)reg[REG_RSP];

	shared->fault.write = (reg[REG_ERR] & 2) != 0;
	shared->stack_overflow = at + NEAR_STACK > sp && at < sp + NEAR_STACK;
#else
	(void)context;
#endif
	signal(sig, SIG_DFL);
}

static void limit(int what, rlim_t value, rlim_t over)
{
	struct rlimit r;

	if (getrlimit(what, &r))
		return;
	if (r.rlim_max == RLIM_INFINITY || r.rlim_max > value + over)
		r.rlim_max = value + over;
	r.rlim_cur = r.rlim_max < value ? r.rlim_max : value;
	setrlimit(what, &r);
}

static size_t without(size_t all, size_t part)
{
	return all > part ? all - part : 0;
}

struct cell_usage cell_usage_now(size_t hidden)
{
	FILE *f = fopen("/proc/self/statm", "re");
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long space = 0, resident = 0;

	if (f) {
		if (fscanf(f, "%lu %lu", &space, &resident) != 2)
			space = resident = 0;
		fclose(f);
	}
	return (struct cell_usage){without(space * page, hidden), without(resident * page, hidden),
				   memory_kills()};
}

static rlim_t cpu_seconds(const struct cell *c)
{
	return (rlim_t)(c->timeout_s * c->threads) + 2;
}

static void set_limits(const struct cell *c, size_t in_use)
{
	/* Besides its stack each thread may get an arena of malloc's. */
	const size_t a_thread = (size_t)160 << 20;
	const long threads = proc_threads();

#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
	if (c->memory && in_use && !c->has_driver)
		limit(RLIMIT_AS, in_use + c->memory + (size_t)c->threads * a_thread, 0);
#else
	(void)in_use, (void)a_thread;
#endif
	limit(RLIMIT_CORE, 0, 0);
	if (c->has_driver)
		return;
	limit(RLIMIT_CPU, cpu_seconds(c), 1);
#ifndef __SANITIZE_ADDRESS__ /* which may report into a file */
	limit(RLIMIT_FSIZE, 0, 0);
#endif
	limit(RLIMIT_NOFILE, MAX_FILES, 0);
	limit(RLIMIT_STACK, 8 << 20,
	      0); /* where it is unlimited, an endless recursion has a crash */
	/* The system counts the user's threads; those of the whole machine are no fewer. */
	if (threads > 0)
		limit(RLIMIT_NPROC, (rlim_t)threads + SPARE_PROCESSES, 0);
}

/* The descriptors below `kept` stay, but for the first three. A sanitizer keeps the third, for what
 * it reports. */
static void only_dev_null(int kept)
{
#ifdef __SANITIZE_ADDRESS__
	const int n = 2;
#else
	const int n = 3;
#endif
	int fd = open("/dev/null", O_RDWR);

	for (int i = 0; i < n; i++)
		dup2(fd, i);
	syscall(SYS_close_range, (unsigned)kept, ~0U, 0U);
}

/* Makes exit() end the child at once, if die_no_memory() or a kernel calls it: exit handlers of the
 * parent must not run in its children. */
static void leave(int status, void *arg)
{
	(void)arg;
	_exit(status);
}

void cell_starts_threads(int starts)
{
	if (shared) /* a trial may run in no cell */
		shared->starts = starts;
}

void cell_child(const struct cell *c, size_t in_use, pid_t parent, struct cell_shared *to, int kept)
{
	static char stack[64 * 1024] __attribute__((aligned(64)));
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};

	shared = to;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0);
	memory_kill_first(1000);
	only_dev_null(kept);
	set_limits(c, in_use);
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	on_exit(leave, NULL);
	if (!c->has_driver)
		confine_kernel();
}

/* How long to wait at once, in milliseconds, where so many seconds are left. */
static int step(const struct cell *c, double left)
{
	if (c->tick && left > c->tick_s)
		left = c->tick_s;
	return left > 1000 ? 1000000 : (int)(left * 1e3) + 1;
}

int cell_wait_for(const struct cell *c, int fd, int (*is_over)(pid_t pid), pid_t pid)
{
	double end = clock_now() + c->timeout_s, ticked = clock_now();
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int over = 0;

	for (;;) {
		double left = end - clock_now();

		if (left <= 0 || over)
			break;
		if (p.fd >= 0) {
			over = poll(&p, 1, step(c, left)) > 0;
		} else {
			usleep(1000);
			over = is_over(pid);
		}
		if (c->tick && !over && clock_now() - ticked >= c->tick_s) {
			c->tick(c->tick_arg);
			ticked = clock_now();
		}
	}
	return over;
}

static int has_ended(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

/* Waits for the child's end. 1: ended; 0: the time is over. */
static int wait_for(const struct cell *c, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0); /* none: an old kernel */
	int ended = cell_wait_for(c, fd, has_ended, pid);

	if (fd >= 0)
		close(fd);
	return ended;
}

/* A number from our list of children; 0: there are none. */
static pid_t some_child(void)
{
	char path[64];
	FILE *f;
	int pid;

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

/* Where there are no filters a kernel may have left processes behind, in groups of their own. Their
 * parents' death has made them our children. 1: none is left. */
static int end_strays(void)
{
	double end = clock_now() + STRAYS_TIME_S;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 && clock_now() < end) {
		if (pid == 0 && (pid = some_child()) > 0) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	}
	return pid < 0;
}

/* Ends the child and all that is left of it. */
static int reap(pid_t pid, int *status, struct rusage *used)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL); /* before it had a group */
	while (wait4(pid, status, 0, used) < 0 && errno == EINTR)
		;
	return end_strays();
}

static double cpu_used(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

/* Where the system does not say, what was killed may always have been killed for memory. */
static int killed_for_memory(const struct cell_usage *before)
{
	return before->kills < 0 || memory_kills() > before->kills;
}

/* Our own code is at fault then, and no kernel. */
static int sanitizer_ended(int status)
{
#ifdef __SANITIZE_ADDRESS__
	return WIFEXITED(status) && WEXITSTATUS(status) == SANITIZER_EXIT;
#else
	(void)status;
	return 0;
#endif
}

static enum cell_end judge(const struct cell *c, const struct cell_shared *to, int status,
			   const struct cell_usage *before, const struct rusage *used, char *why)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	double grown = 1024.0 * (double)used->ru_maxrss - (double)before->resident;

	if (!sig && WEXITSTATUS(status) == 0 && to->done)
		return CELL_DONE;
	if (sanitizer_ended(status)) {
		snprintf(why, CELL_WHY, "a sanitizer ended it");
		return CELL_FAILED;
	}
	if (sig == SIGXCPU || (sig == SIGKILL && cpu_used(used) >= (double)cpu_seconds(c))) {
		snprintf(why, CELL_WHY, "its processor time is used up");
		return CELL_TIMEOUT;
	}
	if ((sig == SIGKILL && killed_for_memory(before)) ||
	    (!sig && WEXITSTATUS(status) == EXIT_INPUT) || /* die_no_memory() */
	    (c->memory && grown > 0.8 * (double)c->memory)) {
		snprintf(why, CELL_WHY, "out of memory: it took %.0f MiB beside its operands",
			 grown > 0 ? grown / 0x1p20 : 0);
		return CELL_OOM;
	}
	if (!sig && to->starts) {
		snprintf(why, CELL_WHY, "cannot start %d threads", c->threads);
		errno = EAGAIN;
		return CELL_FAILED;
	}
	if (sig)
		snprintf(why, CELL_WHY, "died of signal %d (%s)%s", sig, strsignal(sig),
			 to->stack_overflow ? ": its stack is full" : "");
	else
		snprintf(why, CELL_WHY, "ended with status %d before it was done",
			 WEXITSTATUS(status));
	return CELL_CRASH;
}

enum cell_end cell_end_child(const struct cell *c, const struct cell_shared *to, pid_t pid,
			     int ended, const struct cell_usage *before, char why[CELL_WHY])
{
	struct rusage used = {0};
	int status = 0;

	if (!reap(pid, &status, &used)) {
		snprintf(why, CELL_WHY, "a kernel's processes cannot be ended");
		return CELL_FAILED;
	}
	if (ended)
		return judge(c, to, status, before, &used, why);
	snprintf(why, CELL_WHY, "not done within %g s", c->timeout_s);
	return CELL_TIMEOUT;
}

struct cell_shared *cell_share(size_t n)
{
	char *p = mmap(NULL, n + 2 * GUARD, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + GUARD, n, PROT_READ | PROT_WRITE)) {
		munmap(p, n + 2 * GUARD);
		return NULL;
	}
	return (struct cell_shared *)(void *)(p + GUARD);
}

void cell_unshare(struct cell_shared *s, size_t n)
{
	munmap((char *)s - GUARD, n + 2 * GUARD);
}

/* CELL_FAILED with EAGAIN in errno: there was no room for its process or its threads. */
static enum cell_end run_once(const struct cell *c, void (*run)(void *arg, void *answer), void *arg,
			      void *answer, size_t n, struct cell_fault *fault, char why[CELL_WHY])
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (sizeof *shared + n + page - 1) & ~(page - 1);
	struct cell_usage before = cell_usage_now(c->hidden);
	enum cell_end end = CELL_FAILED;
	pid_t parent = getpid(), pid;
	int error;

	*fault = (struct cell_fault){NULL, 0};
	shared = cell_share(bytes);
	if (!shared || (pid = fork()) < 0) {
		error = errno;
		snprintf(why, CELL_WHY, "cannot start a process: %s", strerror(error));
	} else if (pid == 0) {
		cell_child(c, before.space, parent, shared, 3);
		run(arg, shared->answer);
		shared->done = 1;
		_exit(0);
	} else {
		errno = 0;
		end = cell_end_child(c, shared, pid, wait_for(c, pid), &before, why);
		error = errno;
		*fault = shared->fault;
		if (shared->stack_overflow)
			fault->address = NULL;
		if (end == CELL_DONE)
			memcpy(answer, shared->answer, n);
	}
	if (shared)
		cell_unshare(shared, bytes);
	shared = NULL;
	errno = error;
	return end;
}

enum cell_end cell_run(const struct cell *c, void (*run)(void *arg, void *answer), void *arg,
		       void *answer, size_t n, struct cell_fault *fault, char why[CELL_WHY])
{
	const double until = clock_now() + ROOM_TIME_S;
	unsigned pause_us = 10000;
	enum cell_end end;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	while ((end = run_once(c, run, arg, answer, n, fault, why)) == CELL_FAILED &&
	       errno == EAGAIN && clock_now() < until) {
		usleep(pause_us);
		pause_us *= 2;
	}
	return end;
}
