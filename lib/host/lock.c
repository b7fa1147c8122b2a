#include "lib/host/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/io/clock.h"
#include "lib/io/file.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"

enum {
	LOOK_MS = 50, /* between looks */
	MISSED =
		40, /* looks at a lock that is free, until others in front have missed their turn */
};

/* ---- the line ---- */

/* Whoever waits has a lock for reading on one byte of the file: at the time when it came, in
 * microseconds since the machine was started, which all containers count alike. The kernel takes
 * such a lock back when its holder dies. A file that is open for reading is enough for it, and for
 * asking who else has one. */

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Finds another one's place in n bytes from `from` on (0: to the end). -1: nobody stands there. */
static int64_t stands(int fd, int64_t from, int64_t n)
{
	struct flock f = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n};

	if (fcntl(fd, F_OFD_GETLK, &f) < 0 || f.l_type == F_UNLCK)
		return -1;
	return f.l_start;
}

/* Counts the others that stand at places from `from` to `end`. The kernel tells of any one of them.
 */
static int count(int fd, int64_t from, int64_t end)
{
	int64_t at = end > from ? stands(fd, from, end - from) : -1;

	return at < 0 ? 0 : 1 + count(fd, from, at) + count(fd, at + 1, end);
}

static int set_place(int fd, int64_t place, short type)
{
	struct flock f = {.l_type = type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &f);
}

/* Goes to the end of the line. Returns the place; 0: this file has no line, and all who wait are
 * alike; -1 with errno. */
static int64_t join_line(int fd)
{
	for (int64_t place = now_us();; place++) {
		if (set_place(fd, place, F_RDLCK) < 0)
			return errno == EINVAL || errno == ENOSYS || errno == ENOLCK ? 0 : -1;
		if (stands(fd, place, 1) < 0)
			return place;
		set_place(fd, place, F_UNLCK); /* another came in this microsecond */
	}
}

/* ---- who has the lock ---- */

/* The process that holds a lock on the file; 0: the kernel does not show it. */
static int holder(int fd)
{
	unsigned major_of, minor_of;
	unsigned long inode;
	FILE *f = fopen("/proc/locks", "re");
	char line[200];
	struct stat st;
	int pid, found = 0;

	if (f && !fstat(fd, &st))
		while (!found && fgets(line, sizeof line, f))
			if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major_of,
				   &minor_of, &inode) == 4 &&
			    inode == st.st_ino && major_of == major(st.st_dev) &&
			    minor_of == minor(st.st_dev))
				found = pid;
	if (f)
		fclose(f);
	return found > 0 ? found : 0;
}

/* Seconds since a process was started, by field 22 of its stat file; -1: unknown. */
static double age(int pid)
{
	unsigned long long ticks = 0;
	char path[64], line[1024];
	struct timespec now;
	const char *p;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	f = fopen(path, "re");
	p = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
	if (f)
		fclose(f);
	for (int i = 2; p && i < 22; i++) /* the name, field 2, may have blanks */
		p = strchr(p + 1, ' ');
	if (!p || sscanf(p, "%llu", &ticks) != 1 || clock_gettime(CLOCK_BOOTTIME, &now))
		return -1;
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec -
	       (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* ": process 4242 (tl-measure), since 14:02:31, for 0:35", or nothing. */
static void describe_holder(int fd, struct buf *out)
{
	char path[64], name[32] = "", clock[16];
	int pid = holder(fd);
	struct stat st;
	struct tm tm;
	time_t then;
	double s;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d", pid);
	if (!pid || stat(path, &st)) /* or it ended, and a child of its has the lock */
		return;
	snprintf(path, sizeof path, "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(name, sizeof name, f))
		name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
	buf_fmt(out, ": process %d", pid);
	if (*name)
		buf_fmt(out, " (%s)", name);
	if ((s = age(pid)) < 0)
		return;
	then = time(NULL) - (time_t)s;
	strftime(clock, sizeof clock, "%H:%M:%S", localtime_r(&then, &tm));
	buf_fmt(out, ", since %s, for ", clock);
	progress_time(s, out);
}

void lock_say(const char *sentence)
{
	if (progress_is_silent())
		return;
	progress_clear();
	terminal_say("%s: waiting: %s\n", program_invocation_short_name, sentence);
}

/* "another run is timing on this machine's cpu: process ..., and 2 others wait" */
static void describe(const struct lock *l, int waiting, struct buf *out)
{
	buf_fmt(out, "another run is timing on this machine's %s", l->device);
	describe_holder(l->fd, out);
	if (waiting)
		buf_fmt(out, "; %d other%s before this one", waiting,
			waiting == 1 ? " waits" : "s wait");
}

/* ---- the lock ---- */

/* 1: it is ours; 0: another has it; -1 with errno. */
static int try_lock(const struct lock *l)
{
	if (!file_lock(l->fd, LOCK_EX | LOCK_NB))
		return 1;
	return errno == EWOULDBLOCK ? 0 : -1;
}

/* As try_lock(), for one who waits. *free counts how often in a row the lock was free while others
 * stood in front: a run that was stopped does not take its turn, and must not hold up all others.
 */
static int try_turn(const struct lock *l, int64_t place, int *free)
{
	const int is_first = !place || stands(l->fd, 0, place) < 0;
	int rc = try_lock(l);

	if (rc <= 0 || is_first) {
		*free = 0;
		return rc;
	}
	if (++*free >= MISSED)
		return 1;
	file_lock(l->fd, LOCK_UN);
	return 0;
}

/* Tells the user, once. */
static void say_wait(struct lock *l, int64_t place)
{
	struct buf said = BUF_INIT;

	l->told = 1;
	describe(l, count(l->fd, 0, place), &said);
	lock_say(said.s);
	buf_free(&said);
}

/* As try_lock(). The place is given up. */
static int wait_in_line(struct lock *l, double patience_s)
{
	const double began = clock_now();
	const int64_t place = join_line(l->fd);
	int free = 0, rc = place < 0 ? -1 : try_turn(l, place, &free), waited = rc == 0, why;

	while (rc == 0 && !rec_stopped()) {
		if (!l->told && clock_now() - began >= patience_s)
			say_wait(l, place);
		poll(NULL, 0, LOOK_MS);
		rc = try_turn(l, place, &free);
	}
	why = errno;
	if (place > 0)
		set_place(l->fd, place, F_UNLCK);
	if (waited)
		clock_stand(clock_now() - began);
	errno = why;
	return rc;
}

static int refuse(struct lock *l, struct err *e)
{
	struct buf said = BUF_INIT;

	describe(l, count(l->fd, 0, INT64_MAX), &said);
	err_status(e, EXIT_BUSY, "%s", said.s);
	buf_free(&said);
	return -1;
}

static int take(struct lock *l, enum lock_how how, struct err *e)
{
	int rc = how == LOCK_TRY ? try_lock(l)
				 : wait_in_line(l, how == LOCK_WAIT ? 0 : LOCK_TURN_S + 2);

	l->since = clock_now();
	if (rc > 0)
		return 0;
	if (rc < 0)
		err_sys(e, "cannot take the lock of this machine's %s", l->device);
	else if (how == LOCK_TRY)
		refuse(l, e);
	else
		err_set(e, "stopped while another run was timing");
	lock_drop(l);
	return -1;
}

int lock_take(struct lock *l, const char *device, enum lock_how how, struct err *e)
{
	const char *folder = getenv("TL_LOCKS");
	char path[4096];

	/* The path is the same for every user. The first user makes the file; the others only need
	 * to read it. */
	snprintf(path, sizeof path, "%s/tl-%s.lock", folder && *folder ? folder : "/tmp", device);
	*l = (struct lock){.device = device, .fd = file_open_lock(path, e), .how = how};
	return l->fd < 0 ? -1 : take(l, how, e);
}

int lock_is_wanted(const struct lock *l)
{
	return l->fd >= 0 && clock_now() - l->since >= LOCK_TURN_S && stands(l->fd, 0, 0) >= 0;
}

int lock_yield(struct lock *l, struct err *e)
{
	file_lock(l->fd, LOCK_UN);
	return take(l, l->how == LOCK_TRY ? LOCK_WAIT_TURNS : l->how, e);
}

void lock_drop(struct lock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
