#include "lib/host/team.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/proc.h"

enum { ANSWER_MAX = 1 << 16 };

static const double ANSWER_S = 60;

/* ---- variables ---- */

/* Bytes as OpenMP reads them: "8M", or a number of KiB. -1: it is no size. */
static int64_t stack_bytes(const char *text)
{
	static const char units[] = "BKMG";
	const char *unit;
	char *end;
	int64_t n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || errno || n <= 0)
		return -1;
	end += strspn(end, " ");
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : units + 1;
	if (!unit || (*end && end[1 + strspn(end + 1, " ")]) || n > INT64_MAX >> 30)
		return -1;
	return n << 10 * (unit - units);
}

static int check_stack(const char *name, struct err *e)
{
	const int64_t most = (int64_t)1 << 30;
	const char *text = getenv(name);
	int64_t bytes = text && *text ? stack_bytes(text) : 1;

	if (bytes < 0)
		return err_status(e, EXIT_USAGE, "%s is \"%s\", which is no size such as 8M", name,
				  text);
	if (bytes > most)
		return err_status(e, EXIT_USAGE,
				  "%s is \"%s\"; no more than 1G is there for each thread", name,
				  text);
	return 0;
}

/* There are to be at least so many of them. */
static int check_count(const char *name, int least, struct err *e)
{
	const char *text = getenv(name);
	char *end;
	long n;

	if (!text || !*text)
		return 0;
	n = strtol(text, &end, 10);
	if (end == text || *end)
		return err_status(e, EXIT_USAGE, "%s is \"%s\", which is no number", name, text);
	if (n < least)
		return err_status(e, EXIT_USAGE,
				  "%s is %s, and a team of threads wants at least %d", name, text,
				  least);
	return 0;
}

int team_variables(int threads, struct err *e)
{
	return check_stack("OMP_STACKSIZE", e) || check_stack("GOMP_STACKSIZE", e) ||
			       check_count("OMP_THREAD_LIMIT", threads, e) ||
			       check_count("OMP_MAX_ACTIVE_LEVELS", 1, e)
		       ? -1
		       : 0;
}

int team_check(int threads, const char *asked_by, struct err *e)
{
	cpu_set_t set;
	int cpus = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
	int most = cpus * TEAM_EACH_CPU > TEAM_ANYWHERE ? cpus * TEAM_EACH_CPU : TEAM_ANYWHERE;

	if (threads <= most)
		return 0;
	return err_status(e, EXIT_USAGE,
			  "%s asks for %d threads, and this process may use %d CPU%s: no more than "
			  "%d run there",
			  asked_by, threads, cpus, cpus == 1 ? "" : "s", most);
}

void team_environment(int threads)
{
	char text[16];

	snprintf(text, sizeof text, "%d", threads);
	setenv("OMP_NUM_THREADS", text, 1);
	setenv("OMP_PROC_BIND", "true", 1);
	setenv("OMP_DYNAMIC", "false", 1);
}

/* ---- asking ---- */

static int is_line(const struct buf *answer)
{
	if (answer->n < 2 || answer->s[answer->n - 1] != '\n')
		return 0;
	for (size_t i = 0; i < answer->n - 1; i++)
		if (!isprint((unsigned char)answer->s[i]))
			return 0;
	return 1;
}

int team_ask(const char *worker, const char *option, int threads, struct buf *out, struct err *e)
{
	char *argv[] = {(char *)worker, (char *)"--answers", (char *)option, NULL};
	struct buf answer = BUF_INIT, log = BUF_INIT;
	int rc;

	if (team_variables(threads, e) < 0) {
		errno = EINVAL;
		return -1;
	}
	team_environment(threads);
	rc = proc_ask(argv, PROC_ANSWERS, ANSWER_S, ANSWER_MAX, &answer, &log, e);
	if (rc > 0) { /* 3: no memory or the like; else it lacks a library */
		errno = rc == EXIT_INPUT ? 0 : ENOEXEC;
		rc = err_set(e, "%s %s fails (status %d): %.200s", worker, option, rc,
			     log.s ? log.s : "");
	} else if (rc == 0 && !is_line(&answer)) {
		rc = err_set(e, "%s %s answers no line: %.200s", worker, option,
			     answer.s ? answer.s : "");
	}
	if (rc == 0)
		buf_add(out, answer.s, answer.n - 1);
	buf_free(&answer);
	buf_free(&log);
	return rc;
}
