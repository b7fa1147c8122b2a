#include "lib/build/compile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/file.h"
#include "lib/io/keep.h"

enum { MESSAGE_MAX = 8192 };

/* A processor's compiler needs a tenth of this memory for a batch. A device's is a program of ours
 * that loads a driver, which maps more than there is, and may have a thread for each core. */
static struct keep regime(const struct target *target, double timeout_s)
{
	int ours = (target->can & TARGET_BLOCKS) != 0;

	return (struct keep){.memory = ours ? 0 : (int64_t)4 << 30,
			     .file = 256 << 20,
			     .cpu_s = ours ? 0 : (int64_t)timeout_s + 1,
			     .no_network = 1,
			     .ours = ours};
}

void compile_environment(const char *dir)
{
	setenv("LC_ALL", "C", 1);
	setenv("TMPDIR", dir, 1);
}

int compile_start(struct compile *c, const struct target *target, const char *isa,
		  const struct buf *text, char *source, char *object, double timeout_s,
		  struct err *e)
{
	const struct keep keep = regime(target, timeout_s);
	char *argv[TARGET_ARGS];

	c->source = source;
	c->object = object;
	c->timeout_s = timeout_s;
	c->proc = (struct proc){.in = -1, .out = -1, .errfd = -1, .answers = -1};
	buf_clear(&c->message);
	if (file_write(source, text->s, text->n, e) < 0)
		return -1;
	target->compile(isa, source, object, argv);
	if (keep_start(&c->proc, &keep, argv, PROC_STDERR, -1, -1, e) < 0) {
		unlink(source);
		return -1;
	}
	fcntl(c->proc.errfd, F_SETFL, O_NONBLOCK);
	return 0;
}

static void read_message(struct compile *c)
{
	char text[1024];
	ssize_t n;

	while ((n = read(c->proc.errfd, text, sizeof text)) > 0)
		if (c->message.n < MESSAGE_MAX)
			buf_add(&c->message, text, (size_t)n);
}

int compile_poll(struct compile *c, struct err *e)
{
	int status, ended;

	read_message(c);
	ended = proc_wait(&c->proc, 0, &status, e);
	if (ended < 0)
		return -1;
	if (ended) {
		read_message(c);
		c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		return c->status ? COMPILE_FAILED : COMPILE_DONE;
	}
	if (clock_now() - c->proc.started <= c->timeout_s)
		return COMPILE_RUNS;
	proc_kill(&c->proc);
	return COMPILE_LATE;
}

void compile_close(struct compile *c)
{
	if (!c->source)
		return;
	proc_kill(&c->proc);
	proc_close(&c->proc);
	unlink(c->source);
	unlink(c->object);
	c->source = c->object = NULL;
}

void compile_free(struct compile *c)
{
	compile_close(c);
	buf_free(&c->message);
}

const char *compile_why(const struct compile *c, struct arena *a)
{
	const char *s = c->message.s ? strstr(c->message.s, "error") : NULL;

	if (s)
		return arena_strndup(a, s, strcspn(s, "\n"));
	return arena_printf(a, "the compiler ended with status %d", c->status);
}

int compile_no_disk(const struct compile *c, struct err *e)
{
	static const int faults[] = {ENOSPC, EDQUOT, EROFS, EIO};

	for (size_t i = 0; c->message.s && i < sizeof faults / sizeof *faults; i++) {
		if (!strstr(c->message.s, strerror(faults[i])))
			continue;
		err_set(e, "the compiler cannot write %s: %s", c->object, strerror(faults[i]));
		return 1;
	}
	return 0;
}

int compile_was_starved(const struct compile *c)
{
	const char *const says[] = {strerror(ENOMEM), strerror(EAGAIN), "Killed signal",
				    "out of memory", "memory exhausted"};

	if (c->status == 128 + SIGKILL)
		return 1;
	for (size_t i = 0; c->message.s && i < sizeof says / sizeof *says; i++)
		if (strstr(c->message.s, says[i]))
			return 1;
	return 0;
}

int compile_canary(const struct target *target, const char *isa, const char *stem, double timeout_s,
		   struct err *e)
{
	/* A device's compiler may take no functions of the processor's. */
	const char *text = target->can & TARGET_BLOCKS ? "typedef int canary;\n"
						       : "int canary(void) { return 42; }\n";
	const struct keep keep = regime(target, timeout_s);
	struct buf source = BUF_INIT, object = BUF_INIT, log = BUF_INIT;
	char *argv[TARGET_ARGS];
	int rc;

	buf_fmt(&source, "%s.c", stem);
	buf_fmt(&object, "%s.so", stem);
	rc = file_write(source.s, text, strlen(text), e);
	if (rc == 0) {
		target->compile(isa, source.s, object.s, argv);
		rc = keep_run(&keep, argv, timeout_s, MESSAGE_MAX, &log, e);
		if (rc > 0)
			err_set(e, "the compiler %s cannot build anything (status %d): %.*s",
				argv[0], rc, (int)strcspn(log.s ? log.s : "", "\n"),
				log.s ? log.s : "");
		else if (rc == 0 && access(object.s, R_OK) < 0)
			rc = errno == ENOENT ? err_set(e,
						       "the compiler %s says it is done and makes "
						       "nothing",
						       argv[0])
					     : err_sys(e, "cannot read %s", object.s);
		unlink(source.s);
		unlink(object.s);
	}
	buf_free(&source);
	buf_free(&object);
	buf_free(&log);
	return rc ? -1 : 0;
}
