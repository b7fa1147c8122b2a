/* A hostile kernel, for tests/torture.t: cc -shared -fPIC -DCASE=NAME -DHASH=CODE -DREAL='"OBJECT"'
 * -DN=FLOATS. NAME is one of the functions below; OBJECT is the kernel whose place it takes, and
 * FLOATS the size of its output.
 *
 * Each is called before the real kernel, and does harm or returns; then the real kernel computes,
 * unless it returned DONE.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define SYMBOL JOIN(k_, HASH)

typedef void kernel_function(const long *params, float *const *buffers, long thread, long threads,
			     void (*barrier)(void));

enum { GO_ON, DONE, AFTER /* do what harm() does behind the real kernel */ };

/* What a case sees of a call. */
struct call {
	float *const *buffers;
	long thread, threads;
	void (*barrier)(void);
	int number;    /* 1, 2, .. */
	float *output; /* N floats */
};

static kernel_function *real;
static float *dst;

#define POISON 0x7fd0deadu

static uint32_t bits(float x)
{
	uint32_t b;

	memcpy(&b, &x, sizeof b);
	return b;
}

/* Verification poisons the output before the first call, and no operand. A process that only times
 * does not: there it is not found, and stays NULL.
 */
static void find_output(float *const *buffers)
{
	for (int i = 0; !dst && buffers[i]; i++)
		if (bits(buffers[i][0]) == POISON && bits(buffers[i][N - 1]) == POISON)
			dst = buffers[i];
}

static void nap(double seconds)
{
	struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	nanosleep(&t, NULL);
}

static void spin(void)
{
	for (volatile long i = 0;; i++)
		;
}

static void *spin_thread(void *arg)
{
	spin();
	return arg;
}

/* ---- the cases: those for which only thread 0 does harm return early ---- */

#define ONCE                                                                                       \
	if (c->thread || c->number > 1)                                                            \
	return GO_ON

static __attribute__((unused)) int good(const struct call *c)
{
	(void)c;
	return GO_ON;
}

static __attribute__((unused)) int null(const struct call *c)
{
	*(volatile int *)(uintptr_t)c->threads = 1; /* no address that is mapped */
	return DONE;
}

static __attribute__((unused)) int hang(const struct call *c)
{
	sigset_t all;

	(void)c;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 1; i < 65; i++)
		signal(i, SIG_IGN);
	spin();
	return DONE;
}

static __attribute__((unused, noreturn)) int output(const struct call *c)
{
	static const char line[] = "{\"tl\":1,\"type\":\"result\",\"status\":\"ok\"}\n";

	(void)c;
	for (;;) {
		printf("%s", line);
		fflush(stdout);
		fputs(line, stderr);
		for (int fd = 0; fd < 1024; fd++)
			if (write(fd, line, sizeof line - 1) < 0)
				continue;
	}
}

/* As many processes as it gets, each of which stays. They sleep: where nothing keeps it from
 * starting them, the measurement must come through beside them within the time that it has. */
static __attribute__((unused)) int fork_many(const struct call *c)
{
	ONCE;
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			signal(SIGTERM, SIG_IGN);
			for (;;)
				pause();
		}
	}
	return GO_ON;
}

static __attribute__((unused)) int bomb(const struct call *c)
{
	(void)c;
	for (;;)
		if (fork() > 0 || vfork() == 0)
			_exit(1);
}

/* Threads without stacks of their own to speak of. */
static __attribute__((unused)) int thread_bomb(const struct call *c)
{
	pthread_attr_t a;
	pthread_t t;

	(void)c;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 16384);
	for (int i = 0; i < 100000; i++)
		if (pthread_create(&t, &a, spin_thread, NULL))
			break;
	spin();
	return DONE;
}

/* One more thread, that would go on when the kernel has returned. */
static __attribute__((unused)) int linger(const struct call *c)
{
	pthread_t t;

	ONCE;
	if (pthread_create(&t, NULL, spin_thread, NULL) == 0)
		abort();
	return GO_ON;
}

static __attribute__((unused, noreturn)) int hog(const struct call *c)
{
	(void)c;
	for (;;) {
		char *p = malloc(1 << 22);

		memset(p, 1, 1 << 22);
	}
}

static __attribute__((unused)) int behind(const struct call *c)
{
	c->output[N] = 1;
	return GO_ON;
}

static __attribute__((unused)) int before(const struct call *c)
{
	c->output[-1] = 1;
	return GO_ON;
}

static __attribute__((unused)) int far_behind(const struct call *c)
{
	c->output[N + 100000] = 1;
	return GO_ON;
}

/* The first operand is the input. */
static __attribute__((unused)) int input(const struct call *c)
{
	for (int i = 0; c->buffers[i]; i++)
		if (c->buffers[i] != c->output)
			c->buffers[i][0] = 0;
	return GO_ON;
}

static __attribute__((unused)) int wrong(const struct call *c)
{
	(void)c;
	return AFTER;
}

static __attribute__((unused)) int nan_value(const struct call *c)
{
	(void)c;
	return AFTER;
}

static __attribute__((unused)) int unwritten(const struct call *c)
{
	for (int i = 0; i < N / 2; i++)
		c->output[i] = 1;
	return DONE;
}

static __attribute__((unused)) int nothing(const struct call *c)
{
	(void)c;
	return DONE;
}

static __attribute__((unused)) int do_abort(const struct call *c)
{
	(void)c;
	abort();
}

static __attribute__((unused)) int do_exit(const struct call *c)
{
	ONCE; /* two at once may crash */
	exit(0);
}

static __attribute__((unused)) int do__exit(const struct call *c)
{
	(void)c;
	_exit(0);
}

static __attribute__((unused)) int kill_self(const struct call *c)
{
	(void)c;
	raise(SIGKILL);
	spin();
	return DONE;
}

static __attribute__((unused)) int stop_self(const struct call *c)
{
	(void)c;
	raise(SIGSTOP);
	spin();
	return DONE;
}

static int deeper(volatile char *p)
{
	volatile char frame[256];

	frame[0] = p[0];
	return deeper(frame) + frame[0];
}

static __attribute__((unused)) int stack(const struct call *c)
{
	volatile char first = (char)c->thread;

	if (c->thread)
		nap(10);
	return deeper(&first) ? DONE : GO_ON;
}

static __attribute__((unused)) int divide(const struct call *c)
{
	static volatile int zero;

	return (int)c->threads / zero;
}

static __attribute__((unused)) int illegal(const struct call *c)
{
	(void)c;
	__builtin_trap();
}

/* Jumps to where no code is. */
static __attribute__((unused)) int jump(const struct call *c)
{
	((void (*)(void))(uintptr_t)c->output)();
	return DONE;
}

static __attribute__((unused)) int third(const struct call *c)
{
	if (c->number >= 3)
		spin();
	return GO_ON;
}

/* Keeps what it computed at first; computes no more. */
static __attribute__((unused)) int lazy(const struct call *c)
{
	return c->number > 1 ? DONE : GO_ON;
}

/* The same, and gives it out again at each call: on the same data it is always right. */
static float first_answer[N];

static __attribute__((unused)) int replay(const struct call *c)
{
	if (c->number == 1)
		return AFTER; /* which keeps it */
	if (c->thread == 0)
		memcpy(c->output, first_answer, sizeof first_answer);
	return DONE;
}

/* Wrong only after more calls than a short race without an incumbent has, each of which takes its
 * time.
 */
static __attribute__((unused)) int wrong_late(const struct call *c)
{
	if (c->thread == 0)
		nap(0.002);
	return c->number > 60 ? DONE : GO_ON;
}

/* Well alone. As the incumbent in a duel it is not verified, finds no output that is poisoned at
 * its first call, and ends the process. */
static int count_kernel(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)size;
	*(int *)count += strstr(info->dlpi_name, "/objects/") != NULL;
	return 0;
}

/* Ends the process if another kernel is loaded beside it, as in a duel. */
static __attribute__((unused)) int mortal(const struct call *c)
{
	int kernels = 0;

	(void)c;
	dl_iterate_phdr(count_kernel, &kernels);
	if (kernels > 1)
		abort();
	return GO_ON;
}

static __attribute__((unused)) int sleepy(const struct call *c)
{
	(void)c;
	nap(3600);
	return GO_ON;
}

static __attribute__((unused)) int deadlock(const struct call *c)
{
	if (c->thread == 0)
		for (;;)
			nap(1);
	c->barrier();
	return GO_ON;
}

static __attribute__((unused)) int network(const struct call *c)
{
	ONCE;
	if (socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0)
		abort();
	return GO_ON;
}

static __attribute__((unused)) int files(const struct call *c)
{
	char path[4096];
	int fd;

	ONCE;
	snprintf(path, sizeof path, "%s.written", REAL);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd >= 0 && write(fd, "x", 1) == 1)
		abort();
	if (creat(path, 0666) >= 0 || mkdir(path, 0777) == 0 || symlink("x", path) == 0 ||
	    rename(REAL, path) == 0 || link(REAL, path) == 0 || truncate(REAL, 0) == 0 ||
	    chmod(REAL, 0) == 0 || unlink(REAL) == 0)
		abort();
	return GO_ON;
}

static __attribute__((unused)) int kill_parent(const struct call *c)
{
	ONCE;
	kill(getppid(), SIGKILL);
	kill(0, SIGTERM);
	kill(-getppid(), SIGKILL);
	syscall(SYS_tgkill, getppid(), getppid(), SIGKILL);
	syscall(SYS_tkill, getppid(), SIGKILL);
	syscall(SYS_pidfd_send_signal, syscall(SYS_pidfd_open, getppid(), 0), SIGKILL, NULL, 0);
	return GO_ON;
}

/* Out of its group, its session, its parent's death and its limits; what is left behind lives on.
 */
static __attribute__((unused)) int escape(const struct call *c)
{
	const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};

	ONCE;
	prctl(PR_SET_PDEATHSIG, 0);
	setrlimit(RLIMIT_AS, &none);
	setsid();
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			setsid();
			nap(60);
		}
		_exit(0);
	}
	return GO_ON;
}

/* Stays alone on one core, as its parent and later children would if they could be told to. */
static __attribute__((unused)) int affinity(const struct call *c)
{
	cpu_set_t one;

	ONCE;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(getppid(), sizeof one, &one);
	setpriority(PRIO_PROCESS, (id_t)getppid(), 19);
	return GO_ON;
}

/* All memory that it shares with others. */
static __attribute__((unused)) int scribble(const struct call *c)
{
	char line[512], mode[8];
	FILE *f;

	ONCE;
	f = fopen("/proc/self/maps", "r");
	while (f && fgets(line, sizeof line, f)) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 && mode[3] == 's' &&
		    mode[1] == 'w')
			memset((void *)from, 0x41, to - from);
	}
	return GO_ON;
}

static __attribute__((unused)) int construct(const struct call *c)
{
	(void)c;
	return GO_ON;
}

/* In the place of the reference: tells another truth as soon as its parent has reaped a child. */
static __attribute__((unused)) int liar(const struct call *c)
{
	char path[64], text[1024];
	unsigned long faults = 0;
	FILE *f;

	(void)c;
	snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof text, f) ||
	    sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %lu", &faults) != 1)
		abort();
	return faults ? AFTER : GO_ON;
}

#define construct_crash construct
#define construct_hang construct
#define construct_exit construct

/* ---- the kernel ---- */

static void harm(const struct call *c, const char *name)
{
	if (!strcmp(name, "replay"))
		memcpy(first_answer, c->output, sizeof first_answer);
	else if (!strcmp(name, "nan_value"))
		c->output[N / 3] = __builtin_nanf("");
	else
		c->output[N / 3] += 1;
}

__attribute__((constructor)) static void load_real(void)
{
	void *handle = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);

	if (!strcmp(NAME, "construct_crash"))
		abort();
	if (!strcmp(NAME, "construct_hang"))
		spin();
	if (!strcmp(NAME, "construct_exit"))
		_exit(0);
	real = handle ? (kernel_function *)dlsym(handle, TEXT(SYMBOL)) : NULL;
	if (!real && handle)
		real = (kernel_function *)dlsym(handle, "kernel");
	if (!real && handle)
		real = (kernel_function *)dlsym(handle, "naive");
	if (!real)
		abort();
}

void kernel(const long *params, float *const *buffers, long thread, long threads,
	    void (*barrier)(void))
{
	/* A call has as many parts as it says that there are threads, whoever runs them. */
	static int begun, ended;
	static __thread int is_met;
	const int earlier = __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
	struct call c = {buffers, thread, threads, barrier, earlier / (int)threads + 1, NULL};
	int then;

	if (!is_met++) {
		find_output(buffers);
		barrier();
	}
	c.output = dst;
	then = CASE(&c);
	if (then == DONE)
		return;
	real(params, buffers, thread, threads, barrier);
	if (then != AFTER)
		return;
	if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) % threads == 0) /* the last part */
		harm(&c, NAME);
}

kernel_function naive __attribute__((alias("kernel")));
kernel_function SYMBOL __attribute__((alias("kernel")));
