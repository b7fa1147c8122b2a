/* keep: runs a command within limits and sees to it that nothing of it outlives it. Not for people.
 *
 *   keep [--memory=BYTES] [--cpu=SECONDS] [--file=BYTES] [--files=N] [--processes=N] [--no-network]
 *        [--no-fork] [--sessions] -- CMD ARG...
 *
 * --processes bounds those of the user, all over the machine: by N more than the machine has now.
 *
 * The command leads a process group of its own, and may not leave it (a seccomp filter refuses
 * setsid and setpgid, unless --sessions): one signal to the group ends all of it at once, a fork
 * bomb included. keep is the reaper of what the command leaves behind, so that what got away all
 * the same, on a kernel without seccomp, can be found by its descent.
 *
 * SIGTERM ends it all, and comes when the process that started keep dies. keep ends as the command
 * did, with its status or by its signal; 127: it could not be started.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/descriptors.h"
#include "lib/io/proc.h"

enum {
	NOT_STARTED = 127,
	MAX_PID = 1 << 22, /* of any 64-bit kernel */
};

/* What the command is to run under. Negative: no limit. */
struct regime {
	long long memory, cpu, file, files, processes;
	int no_network, no_fork, sessions;
	sigset_t mask; /* the signals that are blocked for it */
};

/* ---- in the child, between vfork and exec: system calls only ---- */

static int limit(int resource, long long value, long long over)
{
	struct rlimit r;

	if (value < 0)
		return 0;
	if (getrlimit(resource, &r))
		return -1;
	if (r.rlim_max == RLIM_INFINITY || r.rlim_max > (rlim_t)(value + over))
		r.rlim_max = (rlim_t)(value + over);
	r.rlim_cur = r.rlim_max < (rlim_t)value ? r.rlim_max : (rlim_t)value;
	return setrlimit(resource, &r);
}

static int limit_all(const struct regime *r)
{
	/* 1 rather than 0: at 0, a kernel that pipes core dumps to a program still does. */
	return limit(RLIMIT_CORE, 1, 0) || limit(RLIMIT_NPROC, r->processes, 0) ||
			       limit(RLIMIT_AS, r->memory, 0) || limit(RLIMIT_CPU, r->cpu, 1) ||
			       limit(RLIMIT_FSIZE, r->file, 0) || limit(RLIMIT_NOFILE, r->files, 0)
		       ? -1
		       : 0;
}

#ifdef __x86_64__
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define IF_NOT(test, value, skip) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, 0, skip)
/* Refuses a call if that is wanted. */
#define REFUSE_CALL(wanted, call, error)                                                           \
	IF_NOT(BPF_JEQ, (wanted) ? (call) : NO_CALL, 1), REFUSE(error)

/* Without what the kernel lacks the command runs all the same. */
static void filter_calls(const struct regime *r)
{
	enum { NO_CALL = 0x3fffffff, X32_BIT = 0x40000000 };
	struct sock_filter code[] = {
		/* The 32-bit calls have other numbers, and would pass. */
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		REFUSE(ENOSYS),
		LOAD(nr),
		IF_NOT(BPF_JGE, X32_BIT, 1),
		REFUSE(ENOSYS),
		REFUSE_CALL(!r->sessions, SYS_setsid, EPERM),
		REFUSE_CALL(!r->sessions, SYS_setpgid, EPERM),
		/* A local one is no network: CUDA's driver asks by one for a server of its own. */
		IF_NOT(BPF_JEQ, r->no_network ? SYS_socket : NO_CALL, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 1, 0),
		REFUSE(EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		REFUSE_CALL(r->no_network, SYS_io_uring_setup, EACCES), /* it opens sockets, too */
		REFUSE_CALL(r->no_fork, SYS_fork, EAGAIN),
		REFUSE_CALL(r->no_fork, SYS_vfork, EAGAIN),
		/* Its flags lie in memory, where no filter looks; libc then takes clone. */
		REFUSE_CALL(r->no_fork, SYS_clone3, ENOSYS),
		IF_NOT(BPF_JEQ, r->no_fork ? SYS_clone : NO_CALL, 3),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
		REFUSE(EAGAIN),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	/* Not by prctl: before Linux 5.16 that turns mitigations on that slow the command down. */
	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
			&program);
}
#else
static void filter_calls(const struct regime *r)
{
	(void)r;
}
#endif

static int confine(void *arg)
{
	const struct regime *r = arg;

	if (limit_all(r))
		return -1;
	filter_calls(r);
	return sigprocmask(SIG_SETMASK, &r->mask, NULL);
}

/* ---- the command's end ---- */

struct command {
	pid_t pid;
	int status;
	int ended;
};

/* Takes in all that has ended. Returns whether anything is left. */
static int reap(struct command *c)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != c->pid)
			continue;
		c->status = status;
		c->ended = 1;
	}
	return pid == 0;
}

/* All descendants that could be found, each once. */
struct herd {
	pid_t *pid;
	size_t n, cap;
	unsigned char *seen; /* a bit a pid */
};

static void herd_add(struct herd *h, pid_t pid)
{
	unsigned char bit = (unsigned char)(1 << (pid & 7));

	if (pid <= 0 || pid >= MAX_PID || (h->seen[pid >> 3] & bit))
		return;
	h->seen[pid >> 3] |= bit;
	if (h->n == h->cap) {
		h->cap = h->cap ? 2 * h->cap : 64;
		h->pid = xrealloc(h->pid, h->cap * sizeof *h->pid);
	}
	h->pid[h->n++] = pid;
}

static void herd_add_children(struct herd *h, pid_t parent)
{
	struct dirent *thread;
	char path[320];
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
	dir = opendir(path);
	while (dir && (thread = readdir(dir))) {
		FILE *f;
		int pid;

		snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)parent,
			 thread->d_name);
		f = thread->d_name[0] == '.' ? NULL : fopen(path, "re");
		while (f && fscanf(f, "%d", &pid) == 1)
			herd_add(h, pid);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
}

/* A process that has been sent SIGSTOP forks no more, so that its children are then known for good;
 * what loses its parent meanwhile becomes a child of ours, and is found by looking again. */
static void herd_stop(struct herd *h)
{
	size_t before, done = 0;

	do {
		before = h->n;
		herd_add_children(h, getpid());
		for (; done < h->n; done++) {
			kill(h->pid[done], SIGSTOP);
			herd_add_children(h, h->pid[done]);
		}
	} while (h->n > before);
}

/* What is no longer in the command's group. */
static void end_strays(struct command *c)
{
	enum { TRIES = 100 };
	const struct timespec wait = {0, 10 * 1000 * 1000};
	struct herd h = {.seen = xcalloc(MAX_PID / 8, 1)};
	sigset_t child;
	int blind = 0; /* is there no /proc? */

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	while (reap(c) && blind < TRIES) {
		memset(h.seen, 0, MAX_PID / 8);
		h.n = 0;
		herd_stop(&h);
		for (size_t i = 0; i < h.n; i++)
			kill(h.pid[i], SIGKILL);
		blind = h.n ? 0 : blind + 1;
		sigtimedwait(&child, NULL, &wait);
	}
	free(h.pid);
	free(h.seen);
}

/* The group's leader has not been reaped yet, so that its number is no one else's. */
static void end_all(struct command *c)
{
	kill(-c->pid, SIGKILL);
	if (reap(c))
		end_strays(c);
}

/* Has the command itself ended? It is left to end_all() to reap; others are reaped. */
static int leader_ended(const struct command *c)
{
	siginfo_t ended;

	for (;;) {
		ended.si_pid = 0;
		if (waitid(P_PID, (id_t)c->pid, &ended, WEXITED | WNOHANG | WNOWAIT) ||
		    ended.si_pid)
			return 1;
		if (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) || !ended.si_pid)
			return 0;
		if (ended.si_pid != c->pid)
			waitpid(ended.si_pid, NULL, 0);
	}
}

/* Until the command or a signal ends it. Returns the signal, or 0. */
static int watch(struct command *c, const sigset_t *signals)
{
	for (;;) {
		int sig = sigwaitinfo(signals, NULL);

		if (sig > 0 && sig != SIGCHLD)
			return sig;
		if (leader_ended(c))
			return 0;
	}
}

/* Closes our copies of the descriptors that the command has: the reader of a pipe must see its end
 * when the command ends. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	syscall(SYS_close_range, 3, ~0u, 0);
}

/* The signals that end it: those that were not ignored when it was started. */
static void choose_signals(sigset_t *signals)
{
	static const int ending[] = {SIGINT, SIGHUP, SIGQUIT};

	sigemptyset(signals);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGCHLD);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
		struct sigaction sa;

		if (!sigaction(ending[i], NULL, &sa) && sa.sa_handler != SIG_IGN)
			sigaddset(signals, ending[i]);
	}
	signal(SIGCHLD, SIG_DFL);
}

static int end_as(int status)
{
	sigset_t set;
	int sig;

	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	sig = WTERMSIG(status);
	limit(RLIMIT_CORE, 1, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig;
}

static int usage(void)
{
	fputs("keep: runs a command for tl-measure; it is not meant to be called by hand\n",
	      stderr);
	return EXIT_USAGE;
}

/* Returns the index of the command, or -1. */
static int options(int argc, char **argv, struct regime *r)
{
	const struct {
		const char *name;
		long long *value;
	} limits[] = {{"--memory=", &r->memory},
		      {"--cpu=", &r->cpu},
		      {"--file=", &r->file},
		      {"--files=", &r->files},
		      {"--processes=", &r->processes}};
	const struct {
		const char *name;
		int *flag;
	} flags[] = {{"--no-network", &r->no_network},
		     {"--no-fork", &r->no_fork},
		     {"--sessions", &r->sessions}};

	*r = (struct regime){-1, -1, -1, -1, -1, 0, 0, 0, {{0}}};
	for (int i = 1; i < argc; i++) {
		int known = 0;
		char *end;

		if (!strcmp(argv[i], "--"))
			return i + 1 < argc ? i + 1 : -1;
		for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
			size_t n = strlen(limits[k].name);

			if (strncmp(argv[i], limits[k].name, n) != 0)
				continue;
			*limits[k].value = strtoll(argv[i] + n, &end, 10);
			known = *limits[k].value > 0 && !*end;
		}
		for (size_t k = 0; k < sizeof flags / sizeof *flags; k++)
			if (!strcmp(argv[i], flags[k].name))
				known = *flags[k].flag = 1;
		if (!known)
			return -1;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct command c = {0};
	struct err e = ERR_INIT;
	struct regime r;
	struct proc p;
	sigset_t signals;
	int first = options(argc, argv, &r), sig;

	descriptors_open();
	if (first < 0)
		return usage();
	/* The kernel counts the user's threads, which costs more than it is worth: those of the
	 * whole machine are no fewer. */
	if (r.processes >= 0)
		r.processes += proc_threads();
	/* From here on a signal waits until the command runs and can be ended. If our parent dies
	 * before the next call, we are killed, too, and have started nothing. */
	choose_signals(&signals);
	sigprocmask(SIG_BLOCK, &signals, &r.mask);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || prctl(PR_SET_CHILD_SUBREAPER, 1) ||
	    proc_start_confined(&p, argv + first, PROC_GROUP | PROC_DIE_WITH_PARENT, confine, &r,
				&e)) {
		fprintf(stderr, "keep: %s\n", e.msg[0] ? e.msg : strerror(errno));
		return NOT_STARTED;
	}
	let_go();
	c.pid = p.pid;
	sig = watch(&c, &signals);
	end_all(&c);
	if (sig) /* what it did on being killed is our doing, not its own */
		return end_as(sig);
	return end_as(c.status);
}
