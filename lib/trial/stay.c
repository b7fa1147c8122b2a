#include "lib/trial/stay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FD = 3, FREE_FD = 10 };

/* ---- the child ---- */

static void serve_all(const struct stay *s, const struct stay_serve *how)
{
	char byte;

	while (read(FD, &byte, 1) == 1) {
		how->serve(how->arg, s->shared->answer + s->answer_bytes, s->shared->answer);
		if (write(FD, "", 1) != 1)
			break;
	}
	_exit(0);
}

/* Its end of the socket gets the one descriptor that it keeps, and that no program which a driver
 * starts gets. */
static int take_socket(int fd)
{
	const int high = fcntl(fd, F_DUPFD, FREE_FD);

	return high >= 0 && dup3(high, FD, O_CLOEXEC) == FD ? 0 : -1;
}

/* ---- the caller ---- */

static size_t aligned(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

/* All that its child may take in its life. */
static struct cell whole_life(const struct cell *c)
{
	struct cell whole = *c;

	whole.timeout_s *= STAY_REQUESTS;
	return whole;
}

static void drop(struct stay *s)
{
	close(s->fd);
	cell_unshare(s->shared, s->bytes);
	*s = (struct stay){0};
}

static int fail(struct stay *s, int pair[2], char why[CELL_WHY])
{
	snprintf(why, CELL_WHY, "cannot start a process: %s", strerror(errno));
	for (int i = 0; i < 2; i++)
		if (pair[i] >= 0)
			close(pair[i]);
	if (s->shared)
		cell_unshare(s->shared, s->bytes);
	*s = (struct stay){0};
	return -1;
}

static int start(struct stay *s, const struct cell *c, const struct stay_serve *how,
		 char why[CELL_WHY])
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct cell whole = whole_life(c);
	int pair[2] = {-1, -1};
	pid_t parent = getpid();

	*s = (struct stay){.answer_bytes = aligned(how->answer_bytes),
			   .before = cell_usage_now(c->hidden)};
	s->bytes =
		(sizeof *s->shared + s->answer_bytes + how->request_bytes + page - 1) & ~(page - 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	s->shared = cell_share(s->bytes);
	if (!s->shared || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    (s->pid = fork()) < 0)
		return fail(s, pair, why);
	if (s->pid == 0) {
		if (take_socket(pair[1]) < 0)
			_exit(1);
		cell_child(&whole, s->before.space, parent, s->shared, FD + 1);
		serve_all(s, how);
	}
	close(pair[1]);
	s->fd = pair[0];
	return 0;
}

/* 1: the answer is there. */
static int has_answered(const struct stay *s)
{
	char byte;

	return recv(s->fd, &byte, 1, MSG_DONTWAIT) == 1;
}

static enum cell_end end_child(struct stay *s, const struct cell *c, int ended, char why[CELL_WHY])
{
	const struct cell whole = whole_life(c);
	enum cell_end end =
		cell_end_child(ended ? &whole : c, s->shared, s->pid, ended, &s->before, why);

	drop(s);
	return end;
}

enum cell_end stay_ask(struct stay *s, const struct cell *c, const struct stay_serve *how,
		       const void *request, void *answer, char why[CELL_WHY])
{
	int is_over;

	if (s->pid && s->served == STAY_REQUESTS)
		stay_end(s);
	if (!s->pid && start(s, c, how, why) < 0)
		return CELL_FAILED;
	s->served++;
	memset(s->shared->answer, 0, how->answer_bytes);
	memcpy(s->shared->answer + s->answer_bytes, request, how->request_bytes);
	/* If it is gone already, it has no answer. */
	is_over = send(s->fd, "", 1, MSG_NOSIGNAL) != 1 || cell_wait_for(c, s->fd, NULL, s->pid);
	if (!is_over || !has_answered(s))
		return end_child(s, c, is_over, why);
	memcpy(answer, s->shared->answer, how->answer_bytes);
	return CELL_DONE;
}

void stay_end(struct stay *s)
{
	const struct cell c = {.timeout_s = 1, .threads = 1, .has_driver = 1};
	char ignored[CELL_WHY];

	if (s->pid)
		end_child(s, &c, 0, ignored);
}
