#include "lib/io/pipeline.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/record.h"

void pipeline_stage(struct pipeline *p, const char *program)
{
	assert(p->n < PIPELINE_STAGES);
	p->n++;
	pipeline_arg(p, program);
}

void pipeline_arg(struct pipeline *p, const char *arg)
{
	int i = p->n - 1, argc = p->stage[i].argc++;

	if (argc + 1 >= p->stage[i].cap) {
		p->stage[i].cap = p->stage[i].cap * 2 + 16;
		p->stage[i].argv =
			xrealloc(p->stage[i].argv, sizeof(char *) * (size_t)p->stage[i].cap);
	}
	p->stage[i].argv[argc] = (char *)arg;
	p->stage[i].argv[argc + 1] = NULL;
}

void pipeline_arg2(struct pipeline *p, const char *option, const char *value)
{
	if (!value)
		return;
	pipeline_arg(p, option);
	pipeline_arg(p, value);
}

static int open_or(const char *path, int flags, int fallback, struct err *e)
{
	int fd = path ? open(path, flags | O_CLOEXEC, 0666) : fallback;

	if (fd < 0)
		err_sys(e, "cannot open %s", path);
	return fd;
}

static int start_stage(struct pipeline *p, int i, int in, int out, struct err *e)
{
	char **argv = p->stage[i].argv, *name = argv[0];
	struct buf path = BUF_INIT;
	/* The last stage is the sink: it reads to the end of its input, also when we are gone. */
	int flags = i == p->n - 1 && i > 0 ? 0 : PROC_TERM_WITH_PARENT, rc;

	if (p->finish)
		flags |= PROC_GROUP; /* out of reach of the terminal's interrupt */
	rc = path_bin(&path, name, e);
	if (rc == 0) {
		argv[0] = path.s;
		rc = proc_start(&p->stage[i].proc, argv, flags, in, out, e);
		argv[0] = name;
	}
	buf_free(&path);
	return rc;
}

static int start_all(struct pipeline *p, int in, int out, struct err *e)
{
	for (int i = 0; i < p->n; i++) {
		int ends[2] = {-1, out}, rc;

		if (i < p->n - 1 && pipe2(ends, O_CLOEXEC) < 0)
			return err_sys(e, "cannot make a pipe");
		rc = start_stage(p, i, in, ends[1], e);
		if (i > 0)
			close(in);
		if (i < p->n - 1)
			close(ends[1]);
		in = ends[0];
		if (rc < 0) {
			if (i < p->n - 1)
				close(in);
			return -1;
		}
	}
	return 0;
}

static void signal_producers(struct pipeline *p, int sig)
{
	for (int i = 0; i < p->n; i++)
		if (p->stage[i].proc.pid && (i < p->n - 1 || p->n == 1))
			kill(p->stage[i].proc.pid, sig);
}

/* Reaps what has ended; returns how many stages are left. */
static int reap(struct pipeline *p)
{
	int left = 0;

	for (int i = 0; i < p->n; i++) {
		struct err e = ERR_INIT;
		int rc = p->stage[i].proc.pid
				 ? proc_wait(&p->stage[i].proc, 0, &p->stage[i].status, &e)
				 : 0;

		if (rc < 0) /* nobody knows how it ended: that is no success */
			p->stage[i].status = EXIT_INPUT << 8;
		if (rc) {
			p->stage[i].proc.pid = 0;
			p->stage[i].ended = clock_now();
		}
		left += p->stage[i].proc.pid != 0;
	}
	return left;
}

/* Stops what has run for its limit. Returns how long the others may still run; NULL: as long
 * as they like. */
static const struct timespec *time_left(struct pipeline *p, double until, struct timespec *left)
{
	const double s = fmin(until - clock_now(), 1e9);

	if (!p->limit_s || p->is_late)
		return NULL;
	if (s <= 0) {
		p->is_late = 1;
		signal_producers(p, SIGTERM);
		return NULL;
	}
	*left = (struct timespec){(time_t)s, (long)(1e9 * (s - (double)(time_t)s))};
	return left;
}

/* Sleeps until a stage ends or a signal comes. It does not poll, because that would disturb
 * timings. Signals are blocked except while it sleeps, so that none is lost between the check and
 * the sleep. */
static void wait_all(struct pipeline *p)
{
	struct pollfd ended[PIPELINE_STAGES];
	const double until = clock_now() + p->limit_s;
	struct timespec blind = {0, 100000000}, left;
	sigset_t stops, before;
	int told = p->finish, watched = 1;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &before);
	for (int i = 0; i < p->n; i++) {
		pid_t pid = p->stage[i].proc.pid;

		ended[i] =
			(struct pollfd){pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1, POLLIN, 0};
		watched &= !pid || ended[i].fd >= 0;
	}
	while (reap(p)) {
		const struct timespec *most = time_left(p, until, &left);

		if (rec_stopped() && !told++)
			signal_producers(p, SIGTERM);
		for (int i = 0; i < p->n; i++)
			if (!p->stage[i].proc.pid && ended[i].fd >= 0) {
				close(ended[i].fd);
				ended[i].fd = -1; /* poll passes over it */
			}
		ppoll(ended, (nfds_t)p->n, watched ? most : &blind, &before);
	}
	for (int i = 0; i < p->n; i++)
		if (ended[i].fd >= 0)
			close(ended[i].fd);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int pipeline_run(struct pipeline *p, struct err *e)
{
	int in = open_or(p->stdin_path, O_RDONLY, STDIN_FILENO, e), out, rc, status = 0;

	if (in < 0)
		return -1;
	out = open_or(p->stdout_path, O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO, e);
	rc = out < 0 ? -1 : start_all(p, in, out, e);
	if (p->stdin_path)
		close(in);
	if (p->stdout_path && out >= 0)
		close(out);
	if (rc < 0)
		signal_producers(p, SIGTERM);
	wait_all(p);
	if (rc < 0)
		return -1;
	/* A stage that fails starves those behind it: the first failure is the cause. But a busy
	 * device is no failure, whatever those around it made of it. */
	for (int i = 0; i < p->n && status != EXIT_BUSY; i++) {
		int own = exit_status(p->stage[i].status);

		if (!status || status == EXIT_INEXACT || own == EXIT_BUSY)
			status = own ? own : status;
	}
	return status;
}

void pipeline_free(struct pipeline *p)
{
	for (int i = 0; i < p->n; i++)
		free(p->stage[i].argv);
	*p = (struct pipeline){0};
}

void shell_quote(const char *s, struct buf *out)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

	if (*s && strspn(s, plain) == strlen(s)) {
		buf_str(out, s);
		return;
	}
	/* "$name" and "$name/file" are the script's own variables and stay open to the shell. */
	if (*s == '$' && strspn(s + 1, plain) == strlen(s + 1)) {
		buf_fmt(out, "\"%s\"", s);
		return;
	}
	buf_ch(out, '\'');
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(out, "'\\''");
		else
			buf_ch(out, *s);
	}
	buf_ch(out, '\'');
}

void pipeline_print(const struct pipeline *p, struct buf *out)
{
	for (int i = 0; i < p->n; i++) {
		buf_str(out, i ? " | " : "");
		for (int j = 0; j < p->stage[i].argc; j++) {
			buf_str(out, j ? " " : "");
			shell_quote(p->stage[i].argv[j], out);
		}
	}
	if (p->stdin_path) {
		buf_str(out, " <");
		shell_quote(p->stdin_path, out);
	}
	if (p->stdout_path) {
		buf_str(out, " >");
		shell_quote(p->stdout_path, out);
	}
}
