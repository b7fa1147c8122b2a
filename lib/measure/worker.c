#include "lib/measure/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/host/team.h"
#include "lib/io/clock.h"
#include "lib/io/keep.h"
#include "lib/io/memory.h"
#include "lib/io/record.h"

int worker_open(struct worker *w, const struct target *target, int threads, struct err *e)
{
	char name[64];

	*w = (struct worker){.threads = threads};
	if (team_check(threads, "OMP_NUM_THREADS", e))
		return -1;
	snprintf(name, sizeof name, "worker-%s", target->name);
	return path_libexec(&w->path, name, e);
}

int worker_libs(struct worker *w, struct buf *out, struct err *e)
{
	return team_ask(w->path.s, "--libs", w->threads, out, e);
}

static int start(struct worker *w, struct err *e)
{
	char *argv[] = {w->path.s, (char *)"--answers", NULL};

	team_environment(w->threads);
	return keep_start(&w->proc, &(const struct keep){.ours = 1}, argv,
			  PROC_STDIN | PROC_ANSWERS, -1, -1, e);
}

void worker_kill(struct worker *w)
{
	if (!w->proc.pid)
		return;
	proc_kill(&w->proc);
	proc_close(&w->proc);
	w->proc.pid = 0;
}

static enum ask_result fail(struct worker *w, enum ask_result r, const char *why)
{
	snprintf(w->why, sizeof w->why, "%s", why);
	worker_kill(w);
	return r;
}

/* What fails here is no candidate's fault. */
static enum ask_result fail_sys(struct worker *w, const char *what)
{
	char why[sizeof w->why];

	snprintf(why, sizeof why, "%s: %s", what, strerror(errno));
	return fail(w, ASK_FAILED, why);
}

/* The worker closed its pipe: how did it end? */
static enum ask_result ended(struct worker *w)
{
	struct err e = ERR_INIT;
	int status = 0;

	if (proc_wait(&w->proc, 5, &status, &e) != 1)
		return fail(w, ASK_CRASH, "the worker closed its pipe");
	proc_close(&w->proc);
	w->proc.pid = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
	    (w->kills < 0 || memory_kills() > w->kills))
		return fail(w, ASK_OOM, "the system killed the worker for want of memory");
	if (WIFSIGNALED(status))
		snprintf(w->why, sizeof w->why, "the worker died of signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == EXIT_INPUT) /* see die_no_memory() */
		return fail(w, ASK_OOM, "the worker ran out of memory");
	else
		snprintf(w->why, sizeof w->why, "the worker ended with status %d",
			 WEXITSTATUS(status));
	return ASK_CRASH;
}

static enum ask_result send(struct worker *w, const char *line, size_t n)
{
	buf_clear(&w->line);
	buf_add(&w->line, line, n);
	buf_ch(&w->line, '\n');
	for (size_t done = 0; done < w->line.n;) {
		ssize_t k = write(w->proc.in, w->line.s + done, w->line.n - done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return errno == EPIPE ? ended(w) : fail_sys(w, "cannot ask the worker");
		done += (size_t)k;
	}
	buf_clear(&w->line);
	return ASK_OK;
}

/* Reads until the answer's newline. */
static enum ask_result receive(struct worker *w, double timeout_s)
{
	double end = clock_now() + timeout_s;

	while (!w->line.n || w->line.s[w->line.n - 1] != '\n') {
		struct pollfd p = {.fd = w->proc.answers, .events = POLLIN};
		double left = end - clock_now();
		char text[4096];
		ssize_t n;
		int ready;

		if (rec_stopped())
			return fail(w, ASK_STOPPED, "stopped by a signal");
		if (left <= 0 || w->line.n > 1 << 20)
			return fail(w, ASK_TIMEOUT, "no answer in time");
		ready = poll(&p, 1, left > 0.2 ? 200 : (int)(left * 1000) + 1);
		if (ready < 0 && errno != EINTR)
			return fail_sys(w, "cannot wait for the worker's answer");
		if (ready <= 0)
			continue;
		n = read(w->proc.answers, text, sizeof text);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_sys(w, "cannot read the worker's answer");
		if (n == 0)
			return ended(w);
		buf_add(&w->line, text, (size_t)n);
	}
	return ASK_OK;
}

enum ask_result worker_ask(struct worker *w, const char *line, size_t n, double timeout_s)
{
	struct err e = ERR_INIT;
	enum ask_result r;
	const struct json *v;

	w->why[0] = 0;
	w->kills = memory_kills();
	if (!w->proc.pid && start(w, &e) < 0)
		return fail(w, ASK_FAILED, e.msg);
	if ((r = send(w, line, n)) != ASK_OK || (r = receive(w, timeout_s)) != ASK_OK)
		return r;
	if (json_parse(&w->answer, w->line.s, w->line.n - 1, &e) < 0)
		return fail(w, ASK_FAILED, "the worker's answer is no JSON");
	v = json_get(&w->answer, w->answer.tok, "error");
	if (v && v->type == JSON_STR) { /* an object is that of a candidate */
		snprintf(w->why, sizeof w->why, "%.*s", v->n < 190 ? (int)v->n : 190, v->s);
		worker_kill(w);
		return ASK_FAILED;
	}
	return ASK_OK;
}

void worker_close(struct worker *w)
{
	if (w->proc.pid) { /* the end of its input ends it */
		struct err e = ERR_INIT;
		int status;

		close(w->proc.in);
		w->proc.in = -1;
		if (proc_wait(&w->proc, 2, &status, &e) == 1)
			w->proc.pid = 0;
		worker_kill(w);
		proc_close(&w->proc);
	}
	json_free(&w->answer);
	buf_free(&w->line);
	buf_free(&w->path);
}
