/* Faults on demand: a library for LD_PRELOAD, in which the Nth call of a kind fails.
 *
 *   FAULT=KIND:N[:HOW]    the Nth call fails; KIND:0 fails none and only counts. HOW is "once" (the
 *                         default), "sticky" (all later ones fail, too), and may name the errno
 *                         or the SQLite result code: malloc:3:sticky, sqlite:7:once:13
 *   FAULT_PROGRAM=NAME    only in programs of that name, not in their children or neighbours
 *   FAULT_SYNC=0          fsync() and fdatasync() do nothing when they do not fail, for speed
 *   FAULT_FILE=FILE       lines are added to FILE: "hit CALL PLACE" at the Nth call; at the end of
 * a program that came so far "count KIND N" for each kind
 *
 * Kinds are the rows of kind_list. "short" and "eintr" are no failures: read and write move one
 * byte, and what may be interrupted is, before it does anything; sticky means about every other
 * call for eintr, so that who tries again gets on.
 *
 * Counted is what happens between the entry and the end of main(), exit handlers included. stdio
 * of files opened by fopen() and of standard output goes through the calls here, too. Calls made
 * by libraries count like the program's own, but for what the address sanitizer does when a thread
 * starts. Nothing is changed before the Nth call.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum kind {
	MALLOC,
	READ,
	WRITE,
	SHORT,
	EINTR_,
	OPEN,
	SYNC,
	PATH,
	SEEK,
	LOCK,
	EXEC,
	MAP,
	SQLITE,
	KINDS
};

static const struct {
	const char *name;
	int code; /* errno; SQLite's result code */
} kind_list[KINDS] = {
	[MALLOC] = {"malloc", ENOMEM}, [READ] = {"read", EIO},	    [WRITE] = {"write", ENOSPC},
	[SHORT] = {"short", 0},	       [EINTR_] = {"eintr", EINTR}, [OPEN] = {"open", EMFILE},
	[SYNC] = {"sync", EIO},	       [PATH] = {"path", EIO},	    [SEEK] = {"seek", EIO},
	[LOCK] = {"lock", ENOLCK},     [EXEC] = {"exec", EAGAIN},   [MAP] = {"mmap", ENOMEM},
	[SQLITE] = {"sqlite", 10}, /* SQLITE_IOERR */
};

static struct {
	int on; /* inside main() of the program that is meant */
	int unsynced;
	enum kind kind;
	int code, sticky;
	long nth, count[KINDS];
} fault;

/* In a call that only the address sanitizer makes: no fault of the program's. */
static __thread int spared __attribute__((tls_model("initial-exec")));

/* The next definition of a function: the C library's, or the sanitizer's. dlsym() may ask for
 * memory while we look for malloc itself; then there is none. */
static void *next(void **slot, const char *name)
{
	static int looking;

	if (!*slot && !looking) {
		looking = 1;
		*slot = dlsym(RTLD_NEXT, name);
		looking = 0;
	}
	return *slot;
}
#define NEXT(f)                                                                                    \
	static void *slot_##f;                                                                     \
	__typeof__(&f) next_##f = (__typeof__(&f))next(&slot_##f, #f)

/* What is not meant to be counted, and must not go through stdio or malloc. */
static void tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void tell(const char *fmt, ...)
{
	const char *path = getenv("FAULT_FILE");
	char text[300];
	va_list ap;
	long fd;
	int n;

	if (!path)
		return;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fd < 0)
		return;
	if (syscall(SYS_write, fd, text, (size_t)n) != n)
		abort();
	syscall(SYS_close, fd);
}

/* Does this call fail? Sets errno if it does. */
static int fails(enum kind kind, const char *call, void *caller)
{
	Dl_info place;
	long n;

	if (!fault.on || spared)
		return 0;
	n = __atomic_add_fetch(&fault.count[kind], 1, __ATOMIC_RELAXED);
	if (kind != fault.kind || !fault.nth || n < fault.nth || (n > fault.nth && !fault.sticky))
		return 0;
	/* By a rule that no loop of two or three calls can keep step with. */
	if (kind == EINTR_ && n > fault.nth && ((uint32_t)n * 2654435761u) >> 31)
		return 0;
	if (n == fault.nth) {
		if (!dladdr(caller, &place))
			place.dli_fname = "?", place.dli_fbase = caller;
		tell("hit %s %s+%#lx\n", call, place.dli_fname,
		     (unsigned long)((char *)caller - (char *)place.dli_fbase));
	}
	errno = fault.code;
	return 1;
}
#define FAILS(kind, f) fails(kind, #f, __builtin_return_address(0))

/* The address sanitizer calls this when a thread starts, and aborts if it fails. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
	NEXT(pthread_getattr_np);
	int rc;

	spared++;
	rc = next_pthread_getattr_np(thread, attr);
	spared--;
	return rc;
}

/* Memory */

void *malloc(size_t n)
{
	NEXT(malloc);
	return !next_malloc || FAILS(MALLOC, malloc) ? NULL : next_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	NEXT(calloc);
	return !next_calloc || FAILS(MALLOC, calloc) ? NULL : next_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	NEXT(realloc);
	return !next_realloc || FAILS(MALLOC, realloc) ? NULL : next_realloc(p, n);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	NEXT(reallocarray);
	return FAILS(MALLOC, reallocarray) ? NULL : next_reallocarray(p, n, size);
}

void *aligned_alloc(size_t align, size_t n)
{
	NEXT(aligned_alloc);
	return FAILS(MALLOC, aligned_alloc) ? NULL : next_aligned_alloc(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	NEXT(posix_memalign);
	return FAILS(MALLOC, posix_memalign) ? ENOMEM : next_posix_memalign(p, align, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	NEXT(mmap);
	return FAILS(MAP, mmap) ? MAP_FAILED : next_mmap(at, n, prot, flags, fd, offset);
}

/* Reading and writing */

static ssize_t read_as(const char *f, void *caller, ssize_t (*next_read)(int, void *, size_t),
		       int fd, void *to, size_t n)
{
	if (fails(EINTR_, f, caller) || fails(READ, f, caller))
		return -1;
	return next_read(fd, to, n > 1 && fails(SHORT, f, caller) ? 1 : n);
}

/* A program without its standard error could not say what is wrong: that one stays. */
static ssize_t write_as(const char *f, void *caller,
			ssize_t (*next_write)(int, const void *, size_t), int fd, const void *from,
			size_t n)
{
	if (fd != STDERR_FILENO && (fails(EINTR_, f, caller) || fails(WRITE, f, caller)))
		return -1;
	return next_write(fd, from,
			  n > 1 && fd != STDERR_FILENO && fails(SHORT, f, caller) ? 1 : n);
}

ssize_t read(int fd, void *to, size_t n)
{
	NEXT(read);
	return read_as("read", __builtin_return_address(0), next_read, fd, to, n);
}

ssize_t write(int fd, const void *from, size_t n)
{
	NEXT(write);
	return write_as("write", __builtin_return_address(0), next_write, fd, from, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
	NEXT(pread);
	if (FAILS(EINTR_, pread) || FAILS(READ, pread))
		return -1;
	return next_pread(fd, to, n > 1 && FAILS(SHORT, pread) ? 1 : n, at);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
	NEXT(pwrite);
	if (FAILS(EINTR_, pwrite) || FAILS(WRITE, pwrite))
		return -1;
	return next_pwrite(fd, from, n > 1 && FAILS(SHORT, pwrite) ? 1 : n, at);
}

int poll(struct pollfd *p, nfds_t n, int timeout)
{
	NEXT(poll);
	return FAILS(EINTR_, poll) ? -1 : next_poll(p, n, timeout);
}

int ppoll(struct pollfd *p, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	NEXT(ppoll);
	return FAILS(EINTR_, ppoll) ? -1 : next_ppoll(p, n, timeout, mask);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	NEXT(waitpid);
	return FAILS(EINTR_, waitpid) ? -1 : next_waitpid(pid, status, options);
}

/* Descriptors. Opening a file on a disk is never interrupted. */

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	NEXT(open);
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return FAILS(OPEN, open) ? -1 : next_open(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
	NEXT(openat);
	mode_t mode;
	va_list ap;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return FAILS(OPEN, openat) ? -1 : next_openat(dir, path, flags, mode);
}

DIR *opendir(const char *path)
{
	NEXT(opendir);
	return FAILS(OPEN, opendir) ? NULL : next_opendir(path);
}

int pipe2(int ends[2], int flags)
{
	NEXT(pipe2);
	return FAILS(OPEN, pipe2) ? -1 : next_pipe2(ends, flags);
}

int dup(int fd)
{
	NEXT(dup);
	return FAILS(OPEN, dup) ? -1 : next_dup(fd);
}

int fcntl(int fd, int cmd, ...)
{
	NEXT(fcntl);
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if ((cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) && FAILS(OPEN, fcntl))
		return -1;
	if ((cmd == F_SETLK || cmd == F_SETLKW) && FAILS(LOCK, fcntl))
		return -1;
	return next_fcntl(fd, cmd, arg);
}

int flock(int fd, int how)
{
	NEXT(flock);
	return FAILS(LOCK, flock) || FAILS(EINTR_, flock) ? -1 : next_flock(fd, how);
}

int fsync(int fd)
{
	NEXT(fsync);
	return FAILS(SYNC, fsync) ? -1 : fault.unsynced ? 0 : next_fsync(fd);
}

int fdatasync(int fd)
{
	NEXT(fdatasync);
	return FAILS(SYNC, fdatasync) ? -1 : fault.unsynced ? 0 : next_fdatasync(fd);
}

off_t lseek(int fd, off_t at, int whence)
{
	NEXT(lseek);
	return FAILS(SEEK, lseek) ? -1 : next_lseek(fd, at, whence);
}

int ftruncate(int fd, off_t n)
{
	NEXT(ftruncate);
	return FAILS(WRITE, ftruncate) ? -1 : next_ftruncate(fd, n);
}

int fstat(int fd, struct stat *st)
{
	NEXT(fstat);
	return FAILS(PATH, fstat) ? -1 : next_fstat(fd, st);
}

/* Paths. unlink() is left alone: what it fails to remove, nobody can. */

int stat(const char *path, struct stat *st)
{
	NEXT(stat);
	return FAILS(PATH, stat) ? -1 : next_stat(path, st);
}

int access(const char *path, int how)
{
	NEXT(access);
	return FAILS(PATH, access) ? -1 : next_access(path, how);
}

int rename(const char *from, const char *to)
{
	NEXT(rename);
	return FAILS(PATH, rename) ? -1 : next_rename(from, to);
}

int mkdir(const char *path, mode_t mode)
{
	NEXT(mkdir);
	return FAILS(PATH, mkdir) ? -1 : next_mkdir(path, mode);
}

char *mkdtemp(char *path)
{
	NEXT(mkdtemp);
	return FAILS(PATH, mkdtemp) ? NULL : next_mkdtemp(path);
}

int fchmod(int fd, mode_t mode)
{
	NEXT(fchmod);
	return FAILS(PATH, fchmod) ? -1 : next_fchmod(fd, mode);
}

ssize_t readlink(const char *path, char *to, size_t n)
{
	NEXT(readlink);
	return FAILS(PATH, readlink) ? -1 : next_readlink(path, to, n);
}

char *realpath(const char *path, char *to)
{
	NEXT(realpath);
	return FAILS(PATH, realpath) ? NULL : next_realpath(path, to);
}

/* Processes */

int clone(int (*f)(void *), void *stack, int flags, void *arg, ...)
{
	NEXT(clone);
	return FAILS(EXEC, clone) ? -1 : next_clone(f, stack, flags, arg);
}

int execve(const char *path, char *const *argv, char *const *env)
{
	NEXT(execve);
	return FAILS(EXEC, execve) ? -1 : next_execve(path, argv, env);
}

int execvp(const char *path, char *const *argv)
{
	NEXT(execvp);
	return FAILS(EXEC, execvp) ? -1 : next_execvp(path, argv);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const *argv, char *const *env)
{
	NEXT(posix_spawn);
	return FAILS(EXEC, posix_spawn) ? fault.code
					: next_posix_spawn(pid, path, actions, attr, argv, env);
}

long syscall(long number, ...)
{
	NEXT(syscall);
	long a[6];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_pidfd_open && FAILS(OPEN, syscall))
		return -1;
	return next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* stdio calls the kernel behind our back: its files are made of our own calls instead. */

static ssize_t cookie_read(void *fd, char *to, size_t n)
{
	ssize_t r;

	do /* a file on a disk is never interrupted */
		r = read((int)(long)fd, to, n);
	while (r < 0 && errno == EINTR);
	return r;
}

static ssize_t cookie_write(void *fd, const char *from, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = write((int)(long)fd, from + done, n - done);

		if (r < 0 && errno != EINTR)
			return 0; /* as fopencookie(3) wants it */
		done += r > 0 ? (size_t)r : 0;
	}
	return (ssize_t)done;
}

static int cookie_close(void *fd)
{
	return close((int)(long)fd);
}

static FILE *cookie_open(int fd, const char *mode)
{
	const cookie_io_functions_t calls = {cookie_read, cookie_write, NULL, cookie_close};

	return fopencookie((void *)(long)fd, mode, calls);
}

FILE *fopen(const char *path, const char *mode)
{
	int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT, fd;
	FILE *f;
	NEXT(fopen);

	if (!fault.on || strchr(mode, '+'))
		return next_fopen(path, mode);
	flags |= *mode == 'w' ? O_TRUNC : *mode == 'a' ? O_APPEND : 0;
	if ((fd = open(path, flags | (strchr(mode, 'e') ? O_CLOEXEC : 0), 0666)) < 0)
		return NULL;
	if (!(f = cookie_open(fd, mode)))
		close(fd);
	return f;
}

FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int dir, const char *path, int flags, ...) __attribute__((alias("openat")));
int fcntl64(int fd, int cmd, ...) __attribute__((alias("fcntl")));
ssize_t pread64(int fd, void *to, size_t n, off_t at) __attribute__((alias("pread")));
ssize_t pwrite64(int fd, const void *from, size_t n, off_t at) __attribute__((alias("pwrite")));
off_t lseek64(int fd, off_t at, int whence) __attribute__((alias("lseek")));
int ftruncate64(int fd, off_t n) __attribute__((alias("ftruncate")));
void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset)
	__attribute__((alias("mmap")));

/* SQLite, without its header, which has its place in lib/store. What it calls itself does not
 * count: only the outermost call does, and its failure is remembered for who asks why. */

int sqlite3_open_v2(const char *, void **, int, const char *);
int sqlite3_prepare_v2(void *, const char *, int, void **, const char **);
int sqlite3_prepare_v3(void *, const char *, int, unsigned, void **, const char **);
int sqlite3_step(void *);
int sqlite3_exec(void *, const char *, int (*)(void *, int, char **, char **), void *, char **);
int sqlite3_errcode(void *);
int sqlite3_extended_errcode(void *);
const char *sqlite3_errmsg(void *);
const char *sqlite3_errstr(int);

static struct {
	int depth, code; /* code: of the call that failed last, 0 after one that did not */
} sqlite;

static int sqlite_fails(const char *f, void *caller)
{
	if (sqlite.depth)
		return 0;
	sqlite.code = fails(SQLITE, f, caller) ? fault.code : 0;
	return sqlite.code;
}
#define SQLITE_CALL(f, args)                                                                       \
	NEXT(f);                                                                                   \
	int rc = sqlite_fails(#f, __builtin_return_address(0));                                    \
	if (!rc) {                                                                                 \
		sqlite.depth++;                                                                    \
		rc = next_##f args;                                                                \
		sqlite.depth--;                                                                    \
	}                                                                                          \
	return rc

int sqlite3_open_v2(const char *path, void **db, int flags, const char *vfs)
{
	*db = NULL;
	SQLITE_CALL(sqlite3_open_v2, (path, db, flags, vfs));
}

int sqlite3_prepare_v2(void *db, const char *sql, int n, void **q, const char **tail)
{
	*q = NULL;
	SQLITE_CALL(sqlite3_prepare_v2, (db, sql, n, q, tail));
}

int sqlite3_prepare_v3(void *db, const char *sql, int n, unsigned flags, void **q,
		       const char **tail)
{
	*q = NULL;
	SQLITE_CALL(sqlite3_prepare_v3, (db, sql, n, flags, q, tail));
}

int sqlite3_step(void *q)
{
	SQLITE_CALL(sqlite3_step, (q));
}

int sqlite3_exec(void *db, const char *sql, int (*f)(void *, int, char **, char **), void *arg,
		 char **why)
{
	SQLITE_CALL(sqlite3_exec, (db, sql, f, arg, why));
}

int sqlite3_errcode(void *db)
{
	NEXT(sqlite3_errcode);
	return sqlite.code ? sqlite.code : next_sqlite3_errcode(db);
}

int sqlite3_extended_errcode(void *db)
{
	NEXT(sqlite3_extended_errcode);
	return sqlite.code ? sqlite.code : next_sqlite3_extended_errcode(db);
}

const char *sqlite3_errmsg(void *db)
{
	NEXT(sqlite3_errmsg);
	return sqlite.code ? sqlite3_errstr(sqlite.code) : next_sqlite3_errmsg(db);
}

/* Beginning and end */

/* A wrong FAULT must not look like a program that bears everything. */
static void begin(void)
{
	const char *text = getenv("FAULT"), *program = getenv("FAULT_PROGRAM"),
		   *sync = getenv("FAULT_SYNC");
	char name[16], how[16] = "once";
	int code = 0, k = 0, n;

	fault.unsynced = sync && !strcmp(sync, "0");
	if (!text || (program && strcmp(program, program_invocation_short_name) != 0))
		return;
	n = sscanf(text, "%15[a-z]:%ld:%15[a-z]:%d", name, &fault.nth, how, &code);
	while (k < KINDS && strcmp(kind_list[k].name, name) != 0)
		k++;
	fault.sticky = !strcmp(how, "sticky");
	if (n < 2 || k == KINDS || (!fault.sticky && strcmp(how, "once") != 0)) {
		tell("bad %s\n", text);
		abort();
	}
	fault.kind = (enum kind)k;
	fault.code = code ? code : kind_list[k].code;
	stdout = cookie_open(STDOUT_FILENO, "w");
	fault.on = 1;
}

static int (*real_main)(int, char **, char **);

static int main_between(int argc, char **argv, char **env)
{
	begin();
	return real_main(argc, argv, env);
}

int __libc_start_main(int (*)(int, char **, char **), int, char **, int (*)(int, char **, char **),
		      void (*)(void), void (*)(void), void *);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv,
		      int (*init)(int, char **, char **), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack)
{
	NEXT(__libc_start_main);
	real_main = main;
	return next___libc_start_main(main_between, argc, argv, init, fini, rtld_fini, stack);
}

__attribute__((destructor)) static void end(void)
{
	if (!fault.on)
		return;
	fflush(stdout);
	for (int k = 0; k < KINDS; k++)
		tell("count %s %ld\n", kind_list[k].name, fault.count[k]);
}
