/* Cells: what a function in a forked child may do, how its end is told, and that nothing is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/err.h"
#include "lib/io/clock.h"
#include "lib/io/confine.h"
#include "lib/trial/fence.h"
#include "lib/trial/stay.h"
#include "tests/tap.h"

enum { NUMBERS = 1000 };

struct answer {
	long n;
	long value[NUMBERS];
};

static struct answer answer;
static struct cell_fault fault;
static char why[CELL_WHY];
static long mine = 1; /* what children change is theirs */

/* The answer's values that are not 0, as far as there are tests of them. */
static const char *values(void)
{
	static char text[32];

	for (int i = 0; i < 31; i++)
		text[i] = (char)('0' + (answer.value[i] != 0));
	return text;
}

static enum cell_end run(double timeout_s, size_t memory, void (*what)(void *, void *), void *arg)
{
	const struct cell c = {.timeout_s = timeout_s, .memory = memory, .threads = 1};

	memset(&answer, 0x55, sizeof answer);
	why[0] = 0;
	return cell_run(&c, what, arg, &answer, sizeof answer, &fault, why);
}

static int no_child(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* ---- ends ---- */

static void compute(void *arg, void *a)
{
	struct answer *x = a;

	mine = 2;
	for (x->n = 0; x->n < NUMBERS && !x->value[x->n]; x->n++)
		x->value[x->n] = x->n * *(long *)arg;
}

static void store(void *arg, void *a)
{
	(void)a;
	*(volatile int *)arg = 1;
}

static void load(void *arg, void *a)
{
	((struct answer *)a)->n = *(volatile int *)arg;
}

static void spin(void *arg, void *a)
{
	(void)arg, (void)a;
	for (volatile long i = 0;; i++)
		;
}

static void leave(void *arg, void *a)
{
	((struct answer *)a)->n = 7;
	exit(*(int *)arg);
}

static void raise_it(void *arg, void *a)
{
	(void)a;
	raise(*(int *)arg);
}

/* Takes memory without an end, or until it gets no more: then as the rest of us would. */
static void take(void *arg, void *a)
{
	(void)a;
	for (;;) {
		void *p = *(int *)arg ? xmalloc(1 << 22) : malloc(1 << 22);

		memset(p, 1, 1 << 22);
	}
}

static void take_300(void *arg, void *a)
{
	(void)arg, (void)a;
	for (int i = 0; i < 75; i++)
		memset(xmalloc(1 << 22), 1, 1 << 22);
}

/* Memory that children do not inherit must not widen their limit. */
static enum cell_end run_with_hidden(size_t bytes)
{
	struct cell c = {.timeout_s = 20, .memory = (size_t)64 << 20, .threads = 1};
	enum cell_end end;
	struct fence f;

	fence_open(&f, "what is hidden", (int64_t)bytes, 1);
	fence_populate(&f);
	fence_inherit(&f, 0);
	c.hidden = fence_bytes(&f);
	end = cell_run(&c, take_300, NULL, &answer, sizeof answer, &fault, why);
	fence_close(&f);
	return end;
}

static int deeper(volatile char *p)
{
	volatile char frame[1024];

	frame[0] = p[0];
	return frame[0] < 0 ? 0 : deeper(frame) + frame[0];
}

static void recurse(void *arg, void *a)
{
	((struct answer *)a)->n = deeper(arg);
}

static void test_ends(void)
{
	const size_t limit = (size_t)64 << 20;
	long three = 3;
	int quietly = 0, loudly = 1, status = 0, sig;
	char *guarded = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double start;

	ok(run(10, 0, compute, &three) == CELL_DONE && answer.n == NUMBERS &&
		   answer.value[999] == 2997,
	   "an answer, that was 0 before");
	ok(mine == 1, "its memory is its own");
	ok(run(10, 0, store, guarded + 40) == CELL_CRASH && fault.address == guarded + 40 &&
		   fault.write && strstr(why, "signal 11"),
	   "a store that kills, and where: %s", why);
	ok(run(10, 0, load, guarded + 80) == CELL_CRASH && fault.address == guarded + 80 &&
		   !fault.write,
	   "a load that kills, and where");
	start = clock_now();
	ok(run(0.2, 0, spin, NULL) == CELL_TIMEOUT && clock_now() - start >= 0.2 &&
		   strstr(why, "0.2 s"),
	   "too long: %s", why);
	ok(run(10, 0, leave, &status) == CELL_CRASH && strstr(why, "ended with status"),
	   "exit(0): %s", why);
	status = 86; /* Makefile: exitcode */
#ifdef __SANITIZE_ADDRESS__
	ok(run(10, 0, leave, &status) == CELL_FAILED, "a sanitizer's end: %s", why);
#else
	ok(run(10, 0, leave, &status) == CELL_CRASH, "exit(86): %s", why);
#endif
	sig = SIGKILL;
	ok(run(10, 0, raise_it, &sig) == CELL_CRASH && strstr(why, "signal 9"), "SIGKILL: %s", why);
	sig = SIGSTOP;
	ok(run(0.2, 0, raise_it, &sig) == CELL_TIMEOUT, "SIGSTOP: %s", why);
	sig = SIGXCPU;
	ok(run(10, 0, raise_it, &sig) == CELL_TIMEOUT, "SIGXCPU: %s", why);
#ifdef __SANITIZE_ADDRESS__
	(void)limit, (void)quietly, (void)loudly, (void)take, (void)recurse, (void)run_with_hidden;
	skip("memory is not limited under the address sanitizer");
#else
	ok(run(20, limit, take, &quietly) == CELL_OOM, "memory: %s", why);
	ok(run(20, limit, take, &loudly) == CELL_OOM, "memory, and xmalloc() says so: %s", why);
	ok(run_with_hidden((size_t)320 << 20) == CELL_OOM, "memory that is hidden from it: %s",
	   why);
	ok(run(20, 0, recurse, why) == CELL_CRASH && strstr(why, "stack"), "recursion: %s", why);
#endif
	ok(no_child(), "no child is left of any of them");
	munmap(guarded, 4096);
}

/* ---- what is refused ---- */

static void *nothing(void *arg)
{
	return arg;
}

/* Tries all that is forbidden; the answer is how often it was let. */
static void try_all(void *arg, void *a)
{
	struct answer *x = a;
	const char *path = arg;
	struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
	char *const argv[] = {(char *)"true", NULL};
	void *low = mmap((void *)0x100000000, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	x->value[0] = syscall(SYS_fork) >= 0 || syscall(SYS_vfork) >= 0;
	x->value[1] = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) >= 0;
	x->value[2] = execv("/bin/true", argv) >= 0;
	x->value[3] = socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
	x->value[4] = open(path, O_WRONLY | O_CREAT, 0666) >= 0 || creat(path, 0666) >= 0;
	x->value[5] = kill(getppid(), 0) == 0 || kill(0, 0) == 0;
	x->value[6] = setsid() >= 0 || setpgid(0, getppid()) == 0;
	x->value[7] = prctl(PR_SET_PDEATHSIG, 0) == 0;
	x->value[8] = setrlimit(RLIMIT_NOFILE, &none) == 0;
	if (low != MAP_FAILED) { /* an address whose lower half is 0 */
		memcpy(low, &none, sizeof none);
		x->value[9] = syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, low, 0) == 0;
	}
	x->value[10] = syscall(SYS_shmget, 0, 4096, 0600) >= 0;
	x->value[11] = fcntl(0, F_SETOWN, getppid()) == 0;
	x->value[12] = syscall(SYS_io_uring_setup, 1, low) >= 0;
	x->value[13] = syscall(SYS_tgkill, getppid(), getppid(), 0) == 0;
	x->value[14] = unlink(path) == 0 || mkdir(path, 0777) == 0;
	for (int i = 0; i < NUMBERS; i++)
		x->n += x->value[i];
}

/* What a kernel and its libraries need. */
static void try_allowed(void *arg, void *a)
{
	struct answer *x = a;
	struct rlimit r;
	pthread_t t;
	char *some = malloc(1 << 20);
	int fd = open(arg, O_RDONLY);
	char byte;

	x->value[0] = fd >= 0 && read(fd, &byte, 1) == 1 && !close(fd);
	x->value[1] = pthread_create(&t, NULL, nothing, x) == 0 && pthread_join(t, NULL) == 0;
	x->value[2] = getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur <= 64;
	x->value[3] = some != NULL;
	free(some);
	x->value[4] = write(1, "x", 1) == 1 && write(2, "\n", 1) == 1; /* /dev/null */
	x->value[5] = write(3, "x", 1) < 0 && errno == EBADF;
	confine_team();
	x->value[6] = pthread_create(&t, NULL, nothing, x) != 0;
	for (int i = 0; i < NUMBERS; i++)
		x->n += x->value[i];
}

static int has_filters(void)
{
	/* Without a program: EFAULT where there are filters. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 && errno == EFAULT;
}

static void test_confined(void)
{
	char path[] = "/tmp/tl-cell-XXXXXX";
	int fd = mkstemp(path);
	enum cell_end end;

	if (fd < 0 || write(fd, "x", 1) != 1)
		bail_out("cannot write %s", path);
	if (!has_filters()) {
		skip("the system has no seccomp filters");
	} else {
		end = run(10, 0, try_all, path);
		ok(end == CELL_DONE && answer.n == 0, "what is forbidden is refused: %s", values());
		ok(access(path, F_OK) == 0, "and has not happened");
		end = run(10, 0, try_allowed, path);
		ok(end == CELL_DONE && answer.n == 7,
		   "what is needed is let, and a team does not grow: %s %s", values(), why);
	}
	ok(no_child(), "no child is left");
	close(fd);
	unlink(path);
}

/* ---- without filters ---- */

/* A child in a session of its own, and one of that in another. */
static void escape(void *arg, void *a)
{
	(void)arg;
	for (int i = 0; i < 10; i++) {
		if (syscall(SYS_fork))
			continue;
		setsid();
		if (syscall(SYS_fork))
			_exit(0);
		setsid();
		spin(NULL, NULL);
	}
	((struct answer *)a)->n = 1;
}

/* ---- cells that stay ---- */

enum what { ANSWER, SPIN, ABORT, LEAVE };

/* Answers how often this process was asked, with `mine`, and its number. */
static void serve(void *arg, const void *request, void *a)
{
	static long asked;
	struct answer *x = a;
	char byte;

	switch (*(const enum what *)request) {
	case SPIN:
		spin(NULL, NULL);
		return;
	case ABORT:
		abort();
	case LEAVE:
		_exit(0);
	default:
		x->n = ++asked;
		x->value[0] = *(long *)arg;
		x->value[1] = getpid();
		x->value[2] = read(0, &byte, 1);
		mine = 3;
	}
}

static enum cell_end ask(struct stay *s, enum what what)
{
	const struct cell c = {.timeout_s = what == SPIN ? 0.2 : 10, .threads = 1, .has_driver = 1};
	const struct stay_serve how = {serve, &mine, sizeof what, sizeof answer};

	memset(&answer, 0x55, sizeof answer);
	why[0] = 0;
	return stay_ask(s, &c, &how, &what, &answer, why);
}

static void test_bad_end(struct stay *s, enum what what, enum cell_end end, const char *sentence)
{
	ok(ask(s, what) == end && strstr(why, sentence), "a bad end of one that stays is told: %s",
	   why);
	ok(no_child() && !s->pid, "and it is gone");
	ok(ask(s, ANSWER) == CELL_DONE && answer.n == 1, "the next request has a new one");
}

static void test_staying(void)
{
	struct stay s = {0};
	long first;
	int n;

	mine = 7;
	ok(ask(&s, ANSWER) == CELL_DONE && answer.n == 1 && answer.value[0] == 7 && mine == 7,
	   "a cell that stays has our memory, and we have not its");
	first = answer.value[1];
	ok(answer.value[2] == 0, "it has /dev/null as its input");
	mine = 8;
	ok(ask(&s, ANSWER) == CELL_DONE && answer.n == 2 && answer.value[0] == 3 &&
		   answer.value[1] == first && first != getpid(),
	   "it serves a second request as it was left by the first");
	test_bad_end(&s, SPIN, CELL_TIMEOUT, "not done within 0.2 s");
	test_bad_end(&s, ABORT, CELL_CRASH, "signal 6");
	test_bad_end(&s, LEAVE, CELL_CRASH, "before it was done");
	kill(s.pid, SIGKILL);
	ok(ask(&s, ANSWER) != CELL_DONE && no_child(),
	   "one that is killed between requests is told: %s", why);
	for (n = 0; n <= STAY_REQUESTS && ask(&s, ANSWER) == CELL_DONE; n++)
		;
	ok(n == STAY_REQUESTS + 1 && answer.n == 1, "after %d requests there is a new one",
	   STAY_REQUESTS);
	stay_end(&s);
	ok(no_child(), "it ends when it is told to");
	stay_end(&s);
}

/* From here on this process gets no filter. */
static int forbid_filters(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void test_unconfined(void)
{
	if (!forbid_filters()) {
		skip("the system has no seccomp filters to take away");
		return;
	}
	ok(run(10, 0, escape, NULL) == CELL_DONE && answer.n == 1,
	   "without filters it can start processes");
	ok(no_child(), "which end with it, whatever group they are in");
}

int main(void)
{
	test_ends();
	test_confined();
	test_staying();
	test_unconfined();
	return done_testing();
}
