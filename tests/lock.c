/* The line of those who wait for a device: each comes in its turn, the dead leave it, and the clock
 * of a program stands while it waits. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "lib/host/lock.h"
#include "lib/io/clock.h"
#include "lib/io/proc.h"
#include "lib/io/progress.h"
#include "tests/tap.h"

enum { WAITERS = 4, KILLED = 1 };

static void nap(int ms)
{
	poll(NULL, 0, ms);
}

/* How many wait, as the refusal of another run tells it. */
static int line_is(const char *words)
{
	struct err e = ERR_INIT;
	struct lock other;

	return lock_take(&other, "cpu", LOCK_TRY, &e) < 0 && e.status == EXIT_BUSY &&
	       (words ? strstr(e.msg, words) != NULL : !strstr(e.msg, "wait"));
}

static int await_line(const char *words)
{
	for (int i = 0; i < 500; i++, nap(20))
		if (line_is(words))
			return 1;
	return 0;
}

/* A run that waits, and then tells that it has the lock: this program again, with a name. */
static int wait_as(const char *name)
{
	struct err e = ERR_INIT;
	struct lock l;

	if (lock_take(&l, "cpu", LOCK_WAIT, &e) || write(STDOUT_FILENO, name, 1) != 1)
		return 1;
	nap(30);
	lock_drop(&l);
	return clock_stood() > 0.02 ? 0 : 2;
}

static int start(struct proc *p, int i, int out)
{
	char name[2] = {(char)('0' + i), 0};
	char *argv[] = {(char *)"/proc/self/exe", name, NULL};
	struct err e = ERR_INIT;

	return proc_start(p, argv, 0, -1, out, &e);
}

static void line(void)
{
	static const char *const words[WAITERS] = {"; 1 other waits before this one", "; 2 others",
						   "; 3 others", "; 4 others"};
	char order[WAITERS + 1] = "";
	struct err e = ERR_INIT;
	struct lock l;
	struct proc waiter[WAITERS] = {0};
	int fd[2], joined = 0, fine = 1, status;
	double before, left;

	if (pipe(fd))
		return;
	/* Who would not wait waits for its next turn all the same. */
	ok(!lock_take(&l, "cpu", LOCK_TRY, &e) && clock_stood() == 0 && line_is(NULL),
	   "a lock that is free is taken at once");
	for (int i = 0; i < WAITERS; i++) {
		if (!start(&waiter[i], i, fd[1]))
			joined += await_line(words[i]);
	}
	ok(joined == WAITERS, "a refusal tells how many wait");
	close(fd[1]); /* where a waiter died, the end is read */
	proc_kill(&waiter[KILLED]);
	ok(await_line("; 3 others"), "one that died leaves the line");
	ok(!lock_is_wanted(&l), "a turn lasts for a while");
	l.since -= LOCK_TURN_S;
	ok(lock_is_wanted(&l), "then those who wait want theirs");
	before = clock_now();
	left = l.since;
	fine = !lock_yield(&l, &e);
	ok(fine && clock_now() - before < clock_stood() && l.since > left,
	   "the clock stands while another has its turn");
	ok(!lock_is_wanted(&l) && line_is(NULL), "and nobody waits any more");
	ok(read(fd[0], order, WAITERS - 1) == WAITERS - 1 && !strcmp(order, "023"),
	   "they came in the order in which they had waited: %s", order);
	for (int i = 0; i < WAITERS; i++)
		if (i != KILLED)
			fine &= proc_wait(&waiter[i], 10, &status, &e) == 1 && status == 0;
	ok(fine, "and their clocks stood, too");
	lock_drop(&l);
	ok(!lock_take(&l, "cpu", LOCK_TRY, &e), "a lock that was dropped is free");
	lock_drop(&l);
	close(fd[0]);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	char folder[256], file[300];

	progress_silence();
	if (argc > 1)
		return wait_as(argv[1]);
	snprintf(folder, sizeof folder, "%s/tl-lock-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		return 1;
	setenv("TL_LOCKS", folder, 1);
	line();
	snprintf(file, sizeof file, "%s/tl-cpu.lock", folder);
	unlink(file);
	rmdir(folder);
	return done_testing();
}
