#include "lib/measure/cell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
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

enum { MAX_FILES = 64 };

/* The one page that parent and child both see; the answer lies behind it. */
struct shared {
	int done;
	struct cell_fault fault;
	char answer[] __attribute__((aligned(64)));
};

static struct shared *shared; /* in the child, for its signal handler */

/* Notes where the access went and lets it happen once more, to die of it. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	shared->fault.address = info->si_addr;
#ifdef __x86_64__
	shared->fault.write = (((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
	(void)context;
#endif
	signal(sig, SIG_DFL);
}

static void limit(int what, rlim_t value)
{
	struct rlimit r = {value, value};

	setrlimit(what, &r);
}

/* Address space, in bytes. */
static size_t space_in_use(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f) {
		if (fscanf(f, "%lu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void set_limits(const struct cell *c, size_t in_use)
{
	/* Besides its stack each thread may get an arena of malloc's. */
	const size_t a_thread = (size_t)160 << 20;

#ifndef __SANITIZE_ADDRESS__ /* which reserves terabytes */
	if (c->memory && in_use)
		limit(RLIMIT_AS, in_use + c->memory + (size_t)c->threads * a_thread);
#else
	(void)in_use, (void)a_thread;
#endif
	limit(RLIMIT_CPU, (rlim_t)(c->timeout_s * c->threads) + 2);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, MAX_FILES);
}

static void only_dev_null(void)
{
	int fd = open("/dev/null", O_RDWR);

	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	syscall(SYS_close_range, 3U, ~0U, 0U);
}

static void child(const struct cell *c, size_t in_use, pid_t parent,
		  void (*run)(void *arg, void *answer), void *arg)
{
	static char stack[64 * 1024] __attribute__((aligned(64)));
	struct sigaction sa = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	only_dev_null();
	set_limits(c, in_use);
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &sa, NULL);
	sigaction(SIGBUS, &sa, NULL);
	confine_kernel();
	run(arg, shared->answer);
	shared->done = 1;
	_exit(0);
}

/* Waits for the child's end. 1: ended; 0: the time is over. */
static int wait_for(pid_t pid, double timeout_s)
{
	double end = clock_now() + timeout_s;
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	int ended = 0;

	for (;;) {
		double left = end - clock_now();

		if (left <= 0 || ended)
			break;
		if (p.fd >= 0) {
			ended = poll(&p, 1, left > 1000 ? 1000000 : (int)(left * 1e3) + 1) > 0;
		} else { /* an old kernel */
			siginfo_t info = {0};

			usleep(1000);
			ended = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
				info.si_pid == pid;
		}
	}
	if (p.fd >= 0)
		close(p.fd);
	return ended;
}

/* Ends the child and all that is left of it. */
static void reap(pid_t pid, int *status, struct rusage *usage)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL); /* before it had a group */
	while (wait4(pid, status, 0, usage) < 0 && errno == EINTR)
		;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static enum cell_end judge(const struct cell *c, int status, long rss_before_kB,
			   const struct rusage *usage, char *why)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	double grown = 1024.0 * (double)(usage->ru_maxrss - rss_before_kB);

	if (!sig && WEXITSTATUS(status) == 0 && shared->done)
		return CELL_DONE;
	if (sig == SIGXCPU) {
		snprintf(why, CELL_WHY, "its processor time is used up");
		return CELL_TIMEOUT;
	}
	if (sig == SIGKILL || (!sig && WEXITSTATUS(status) == EXIT_INPUT) || /* die_no_memory() */
	    (c->memory && grown > 0.8 * (double)c->memory)) {
		snprintf(why, CELL_WHY, "out of memory: it took %.0f MiB more than it was given",
			 grown > 0 ? grown / 0x1p20 : 0);
		return CELL_OOM;
	}
	if (sig)
		snprintf(why, CELL_WHY, "died of signal %d (%s)", sig, strsignal(sig));
	else
		snprintf(why, CELL_WHY, "ended with status %d before it was done",
			 WEXITSTATUS(status));
	return CELL_CRASH;
}

static long rss_kB(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long total, resident = 0;

	if (f) {
		if (fscanf(f, "%lu %lu", &total, &resident) != 2)
			resident = 0;
		fclose(f);
	}
	return (long)(resident * ((unsigned long)sysconf(_SC_PAGESIZE) / 1024));
}

enum cell_end cell_run(const struct cell *c, void (*run)(void *arg, void *answer), void *arg,
		       void *answer, size_t n, struct cell_fault *fault, char why[CELL_WHY])
{
	size_t bytes = sizeof *shared + n, in_use = space_in_use();
	long rss = rss_kB();
	enum cell_end end = CELL_FAILED;
	pid_t parent = getpid(), pid;
	struct rusage usage;
	int status, ended;

	*fault = (struct cell_fault){NULL, 0};
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || (pid = fork()) < 0) {
		snprintf(why, CELL_WHY, "cannot start a process: %s", strerror(errno));
	} else if (pid == 0) {
		child(c, in_use, parent, run, arg);
	} else {
		ended = wait_for(pid, c->timeout_s);
		reap(pid, &status, &usage);
		if (ended)
			end = judge(c, status, rss, &usage, why);
		else
			end = CELL_TIMEOUT;
		if (!ended)
			snprintf(why, CELL_WHY, "not done within %g s", c->timeout_s);
		*fault = shared->fault;
		if (end == CELL_DONE)
			memcpy(answer, shared->answer, n);
	}
	if (shared != MAP_FAILED)
		munmap(shared, bytes);
	return end;
}
