#include "lib/fleet/workers.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/file.h"
#include "lib/io/pipeline.h"
#include "lib/io/proc.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/target/target.h"

enum {
	LOOK_MS = 200,
	STOP_S = 60, /* for a worker that was told to stop: it stores what it has */
};

/* ---- the list ---- */

static const char BLANKS[] = " \t\r";

static char *next_word(char **rest)
{
	char *word = *rest + strspn(*rest, BLANKS);

	*rest = word + strcspn(word, BLANKS);
	if (**rest)
		*(*rest)++ = 0;
	return *word ? word : NULL;
}

/* A name stands in the name of a folder on its machine. */
static int is_name(const char *s)
{
	return *s != '.' && *s != '-' &&
	       s[strspn(s, "abcdefghijklmnopqrstuvwxyz"
			   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == 0;
}

static int is_taken(const struct workers *w, const char *name)
{
	for (int i = 0; i < w->n; i++)
		if (!strcmp(w->place[i].name, name))
			return 1;
	return 0;
}

static int read_line(struct workers *w, char *line, struct arena *a, struct err *e)
{
	struct worker_place *p = &w->place[w->n];
	char **reach = arena_array(a, char *, strlen(line) / 2 + 2), *word;

	*p = (struct worker_place){.name = next_word(&line), .reach = reach};
	if (!p->name || *p->name == '#')
		return 0;
	if (w->n == WORKERS_MOST)
		return err_set(e, "there are more than %d workers", WORKERS_MOST);
	p->target = next_word(&line);
	while ((word = next_word(&line)))
		reach[p->nreach++] = word;
	reach[p->nreach] = NULL;
	if (!is_name(p->name))
		return err_set(e, "\"%s\" is no name of letters and digits", p->name);
	if (is_taken(w, p->name))
		return err_set(e, "there are two workers \"%s\"", p->name);
	if (!p->nreach)
		return err_set(e, "a line has a name, a target and a command, such as node1 cpu "
				  "ssh node1");
	if (!target_find(p->target, strlen(p->target)))
		return err_set(e, "\"%s\" is no target: cpu, cuda or opencl", p->target);
	w->n++;
	return 0;
}

int workers_read(const char *path, struct arena *a, struct workers *w, struct err *e)
{
	struct buf text = BUF_INIT;
	char *line, *rest = NULL;
	int rc = file_read("the list of workers", path, &text, e), number = 0;

	*w = (struct workers){arena_array(a, struct worker_place, WORKERS_MOST + 1), 0};
	for (line = rc || !text.n ? NULL : arena_strndup(a, text.s, text.n); line && !rc;
	     line = rest) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = 0;
		number++;
		if (read_line(w, line, a, e))
			rc = err_in(e, "%s:%d", path, number);
	}
	buf_free(&text);
	if (!rc && !w->n)
		rc = err_set(e, "%s lists no workers", path);
	return rc ? -1 : 0;
}

/* ---- what a machine is told ---- */

/* The end of its standard input tells the worker that this program is gone: ssh hands on no
 * signals. Then nobody reads what it says any more, which must not kill it. */
static void put_command(const struct worker_place *p, const struct workers_job *job,
			const char *script, struct buf *out)
{
	struct buf b = BUF_INIT;

	buf_str(&b, "trap '' PIPE\nexec 3<&0 </dev/null\n");
	if (job->limit_s > 0)
		buf_fmt(&b, "export DEADLINE=$(($(date +%%s) + %.0f))\n", ceil(job->limit_s));
	buf_str(&b, "since=$(date -u +%Y-%m-%dT%H:%M:%S.000Z)\n");
	buf_fmt(&b, "HOLDER=%s TARGET=%s MEASURE='tl-measure -q --target %s%s' ", p->name,
		p->target, p->target, job->measure);
	buf_fmt(&b, "PRUNE=\"tl-prune%s --since $since\" ", job->prune);
	buf_str(&b, "sh -c ");
	shell_quote(script, &b);
	buf_str(&b, " worker.sh ");
	shell_quote(job->db, &b);
	buf_fmt(&b, " \"$HOME\"/tl-worker.%s 3<&- &\nworker=$!\n", p->name);
	buf_str(&b, "(while read -r _ <&3; do :; done; kill -TERM $worker) >/dev/null 2>&1 &\n"
		    "watcher=$!\nwait $worker\nstatus=$?\n"
		    "kill $watcher 2>/dev/null\nexit $status\n");
	buf_str(out, "sh -c ");
	shell_quote(b.s, out);
	buf_free(&b);
}

/* ---- running ---- */

struct running {
	const struct worker_place *place;
	struct proc proc;
	struct buf said; /* what it said after its last line */
	int status, ended;
};

static int start(struct running *r, const struct workers_job *job, const char *script,
		 struct err *e)
{
	char **argv = xcalloc((size_t)r->place->nreach + 2, sizeof *argv);
	struct buf command = BUF_INIT;
	int rc;

	for (int i = 0; i < r->place->nreach; i++)
		argv[i] = r->place->reach[i];
	put_command(r->place, job, script, &command);
	argv[r->place->nreach] = command.s;
	/* In a group of its own: the keys that stop this program are not for ssh. */
	rc = proc_start(&r->proc, argv, PROC_STDIN | PROC_STDERR | PROC_GROUP, -1, -1, e);
	buf_free(&command);
	free(argv);
	return rc;
}

/* Tells whole lines, and at the end the rest. */
static void tell(struct running *r, int at_end)
{
	char *from = r->said.s, *end;

	if (!r->said.n)
		return;
	while ((end = strchr(from, '\n')) || (at_end && *from)) {
		if (end)
			*end = 0;
		terminal_say("%s: %s\n", r->place->name, from);
		from = end ? end + 1 : from + strlen(from);
	}
	r->said.n -= (size_t)(from - r->said.s);
	memmove(r->said.s, from, r->said.n + 1);
}

/* Reads what it says. */
static void take(struct running *r)
{
	char text[4096];
	ssize_t n = read(r->proc.errfd, text, sizeof text);

	if (n < 0 && errno == EINTR)
		return;
	for (ssize_t i = 0; i < n; i++)
		buf_ch(&r->said, text[i] ? text[i] : ' ');
	tell(r, n <= 0);
	if (n > 0)
		return;
	close(r->proc.errfd);
	r->proc.errfd = -1;
}

/* Has it ended? What it started may have its standard error for longer, and it may close that
 * earlier. */
static int reap(struct running *r, struct err *e)
{
	int rc = r->ended ? 0 : proc_wait(&r->proc, 0, &r->status, e);

	if (rc <= 0)
		return rc;
	while (r->proc.errfd >= 0 && poll(&(struct pollfd){r->proc.errfd, POLLIN, 0}, 1, 0) > 0)
		take(r);
	r->ended = 1;
	proc_close(&r->proc);
	return 0;
}

/* Lets the workers end in their own time; and later the commands that reach them, if these do not.
 */
static void stop(struct running *r, int n, double since)
{
	for (int i = 0; i < n; i++) {
		if (r[i].ended)
			continue;
		if (r[i].proc.in >= 0)
			close(r[i].proc.in);
		r[i].proc.in = -1;
		if (clock_now() - since > STOP_S)
			kill(-r[i].proc.pid, SIGKILL);
	}
}

static int watch(struct running *r, int n, int is_over, struct err *e)
{
	struct pollfd *p = xcalloc((size_t)n, sizeof *p);
	double stopped = is_over ? clock_now() : 0;
	int left = n, rc = 0;

	while (left && rc == 0) {
		if (rec_stopped() && !stopped)
			stopped = clock_now();
		if (stopped > 0)
			stop(r, n, stopped);
		for (int i = 0; i < n; i++)
			p[i] = (struct pollfd){.fd = r[i].ended ? -1 : r[i].proc.errfd,
					       .events = POLLIN};
		if (poll(p, (nfds_t)n, LOOK_MS) > 0)
			for (int i = 0; i < n; i++)
				if (p[i].revents)
					take(&r[i]);
		left = 0;
		for (int i = 0; i < n && rc == 0; i++) {
			rc = reap(&r[i], e);
			left += !r[i].ended;
		}
	}
	free(p);
	return rc;
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int read_script(struct buf *script, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = path_share(&path, "recipes/worker.sh", e);

	if (rc == 0)
		err_set(e, "%s is missing", path.s);
	else if (rc > 0)
		rc = file_read("the worker's script", path.s, script, e) ? -1 : 1;
	buf_free(&path);
	return rc > 0 ? 0 : -1;
}

int workers_run(const struct workers *w, const struct workers_job *job, int *failed, struct err *e)
{
	struct running *r = xcalloc((size_t)w->n, sizeof *r);
	struct buf script = BUF_INIT;
	int rc = read_script(&script, e), n = 0, bad = 0;

	while (rc == 0 && n < w->n) {
		r[n].place = &w->place[n];
		if ((rc = start(&r[n], job, script.s, e)) == 0)
			n++;
	}
	if (n && watch(r, n, rc != 0, rc ? NULL : e))
		rc = -1;
	for (int i = 0; i < n; i++) {
		failed[i] = exit_status(r[i].status);
		bad += failed[i] != 0;
		buf_free(&r[i].said);
	}
	buf_free(&script);
	free(r);
	return rc ? -1 : bad;
}
