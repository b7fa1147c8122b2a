#include "lib/host/lock.h"

#include <errno.h>
#include <math.h>
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

enum { LOOK_MS = 20 }; /* between looks, where the time to wait ends */

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

/* Waits for the lock: 0, or -1 with errno. */
static int wait_for(int fd, double until)
{
	int rc;

	if (isinf(until)) {
		while ((rc = flock(fd, LOCK_EX)) < 0 && errno == EINTR && !rec_stopped())
			;
		return rc;
	}
	while ((rc = file_lock(fd, LOCK_EX | LOCK_NB)) < 0 && errno == EWOULDBLOCK &&
	       !rec_stopped() && clock_now() < until)
		poll(NULL, 0, LOOK_MS);
	return rc;
}

/* flock(), which says what it waits for. */
static int take(int fd, const char *device, double until, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc;

	if (!file_lock(fd, LOCK_EX | LOCK_NB))
		return 0;
	if (errno != EWOULDBLOCK)
		return -1;
	buf_fmt(&text, "another run is timing on this machine's %s", device);
	describe_holder(fd, &text);
	if (clock_now() < until)
		lock_say(text.s);
	rc = wait_for(fd, until);
	if (rc < 0 && errno == EWOULDBLOCK) {
		err_status(e, EXIT_BUSY, "%s", text.s);
		errno = EWOULDBLOCK;
	}
	buf_free(&text);
	return rc;
}

int lock_device(const char *device, double until, struct err *e)
{
	const char *folder = getenv("TL_LOCKS");
	char path[4096];
	int fd;

	/* The path is the same for every user. The first user makes the file; the others only need
	 * to read it. */
	snprintf(path, sizeof path, "%s/tl-%s.lock", folder && *folder ? folder : "/tmp", device);
	fd = file_open_lock(path, e);
	if (fd < 0)
		return -1;
	if (!take(fd, device, until, e))
		return fd;
	if (rec_stopped())
		err_set(e, "stopped while another run was timing");
	else if (errno != EWOULDBLOCK)
		err_sys(e, "cannot take the lock %s", path);
	close(fd);
	return -1;
}
