#include "lib/measure/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/record.h"
#include "lib/target/cpu.h"

enum { MESSAGE_MAX = 8192 };

struct job {
	struct proc proc;
	struct build *build; /* NULL: idle */
	struct buf message;
};

static int make_folders(char *path, struct err *e)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return err_sys(e, "cannot make the folder %s", path);
		*p = c;
		if (!c)
			return 0;
	}
}

int cache_folder(const char *what, struct buf *out, struct err *e)
{
	const char *tl = getenv("TL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
		   *home = getenv("HOME");

	if (tl && *tl)
		buf_fmt(out, "%s/%s", tl, what);
	else if (xdg && *xdg)
		buf_fmt(out, "%s/tl/%s", xdg, what);
	else if (home && *home)
		buf_fmt(out, "%s/.cache/tl/%s", home, what);
	else
		return err_set(e, "no place for compiled kernels: set TL_CACHE or HOME");
	return make_folders(out->s, e);
}

static int find_folder(struct cache *c, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = cache_folder("objects", &path, e);

	if (rc == 0)
		c->dir = arena_strdup(&c->arena, path.s);
	buf_free(&path);
	return rc;
}

/* Caches that are open, for the end of the process. */
static struct cache *first_open;

/* Removes what is not whole. */
static void sweep(const struct cache *c)
{
	for (size_t i = 0; i < c->builds.n; i++) {
		const struct build *b = c->builds.item[i].value;

		if (b && (b->state == BUILD_QUEUED || b->state == BUILD_RUNNING)) {
			unlink(b->source);
			unlink(b->temporary);
		}
	}
	if (c->canary_source)
		unlink(c->canary_source);
	if (c->canary_object)
		unlink(c->canary_object);
}

static void sweep_all(void)
{
	for (const struct cache *c = first_open; c; c = c->open)
		sweep(c);
}

static int write_source(const char *path, const char *text, size_t n, struct err *e)
{
	FILE *f = fopen(path, "we");
	int bad;

	if (!f)
		return err_sys(e, "cannot write %s", path);
	bad = fwrite(text, 1, n, f) != n;
	if (fclose(f) || bad) {
		err_sys(e, "cannot write %s", path);
		unlink(path);
		return -1;
	}
	return 0;
}

int cache_canary(struct cache *c, struct err *e)
{
	static const char text[] = "int canary(void) { return 42; }\n";
	const char *source = c->canary_source, *object = c->canary_object;
	char *argv[CPU_CC_ARGS];
	struct buf log = BUF_INIT;
	int rc;

	if (write_source(source, text, sizeof text - 1, e) < 0)
		return -1;
	cpu_cc_argv(c->isa, source, object, argv);
	rc = proc_run(argv, 60, MESSAGE_MAX, &log, e);
	if (rc > 0)
		err_set(e, "the compiler %s cannot build anything (status %d): %.300s", argv[0], rc,
			log.s ? log.s : "");
	else if (rc == 0 && access(object, R_OK) < 0)
		rc = errno == ENOENT
			     ? err_set(e, "the compiler %s says it is done and makes nothing",
				       argv[0])
			     : err_sys(e, "cannot read %s", object);
	unlink(source);
	unlink(object);
	buf_free(&log);
	return rc ? -1 : 0;
}

int cache_open(struct cache *c, const char *isa, int jobs, struct err *e)
{
	struct buf text = BUF_INIT;

	*c = (struct cache){.jobs = jobs, .timeout_s = 60};
	c->queue_end = &c->queue;
	snprintf(c->tag, sizeof c->tag, "%d-%llx", (int)getpid(),
		 (unsigned long long)(clock_now() * 1e9));
	snprintf(c->isa, sizeof c->isa, "%s", isa);
	c->job = xcalloc((size_t)jobs, sizeof *c->job);
	if (find_folder(c, e) < 0)
		return -1;
	c->canary_source = arena_printf(&c->arena, "%s/canary-%s.c", c->dir, c->tag);
	c->canary_object = arena_printf(&c->arena, "%s/canary-%s.so", c->dir, c->tag);
	if (!first_open && atexit(sweep_all))
		die_no_memory();
	c->open = first_open;
	first_open = c;
	if (cache_canary(c, e) < 0)
		return -1;
	cpu_cc_text(isa, &text);
	if (cpu_cc_version(&text, e) < 0) {
		buf_free(&text);
		return -1;
	}
	c->command_text = arena_strdup(&c->arena, text.s);
	buf_free(&text);
	return 0;
}

static int enqueue(struct cache *c, struct build *b, struct err *e)
{
	if (write_source(b->source, b->text, b->text_n, e) < 0)
		return -1;
	b->state = BUILD_QUEUED;
	b->next = NULL;
	*c->queue_end = b;
	c->queue_end = &b->next;
	return 0;
}

int cache_again(struct cache *c, struct build *b, struct err *e)
{
	unlink(b->object);
	return enqueue(c, b, e);
}

struct build *cache_add(struct cache *c, const char *source, size_t n, struct err *e)
{
	struct buf key = BUF_INIT;
	struct build *b;
	struct stat st;
	struct id code;
	void **place;

	buf_str(&key, c->command_text);
	buf_add(&key, source, n);
	hash_id(&code, key.s, key.n);
	buf_free(&key);
	place = map_put(&c->builds, code.s, ID_HEX, NULL);
	if (*place)
		return *place;
	b = arena_new(&c->arena, struct build);
	b->code = code;
	b->text = arena_strndup(&c->arena, source, n);
	b->text_n = n;
	b->object = arena_printf(&c->arena, "%s/%s.so", c->dir, code.s);
	b->source = arena_printf(&c->arena, "%s/%s-%s.c", c->dir, code.s, c->tag);
	b->temporary = arena_printf(&c->arena, "%s-%s.tmp", b->object, c->tag);
	if (stat(b->object, &st) == 0 && st.st_size > 0) {
		b->state = BUILD_DONE;
		b->cached = 1;
	} else if (enqueue(c, b, e) < 0) {
		return NULL;
	}
	*place = b;
	return b;
}

static int start_job(struct cache *c, struct job *j, struct err *e)
{
	struct build *b = c->queue;
	char *argv[CPU_CC_ARGS];

	c->queue = b->next;
	if (!c->queue)
		c->queue_end = &c->queue;
	buf_clear(&j->message);
	cpu_cc_argv(c->isa, b->source, b->temporary, argv);
	if (proc_start(&j->proc, argv, PROC_STDERR | PROC_GROUP | PROC_DIE_WITH_PARENT, -1, -1, e) <
	    0) {
		unlink(b->source);
		return -1;
	}
	fcntl(j->proc.errfd, F_SETFL, O_NONBLOCK);
	j->build = b;
	b->state = BUILD_RUNNING;
	return 0;
}

static void read_message(struct job *j)
{
	char text[1024];
	ssize_t n;

	while ((n = read(j->proc.errfd, text, sizeof text)) > 0)
		if (j->message.n < MESSAGE_MAX)
			buf_add(&j->message, text, (size_t)n);
}

static const char *first_error(struct cache *c, const struct job *j, int status)
{
	const char *s = j->message.s ? strstr(j->message.s, "error") : NULL;

	if (s)
		return arena_strndup(&c->arena, s, strcspn(s, "\n"));
	return arena_printf(&c->arena, "the compiler ended with status %d", status);
}

/* A rename may outlive the data behind it when the power goes: an empty object would be found ever
 * after. */
static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -1;
	rc = fsync(fd);
	close(fd);
	return rc;
}

/* Takes in a job that has ended. -1 only for faults of the machine. */
static int end_job(struct cache *c, struct job *j, int status, int late, struct err *e)
{
	struct build *b = j->build;

	read_message(j);
	b->seconds = clock_now() - j->proc.started;
	proc_close(&j->proc);
	unlink(b->source);
	j->build = NULL;
	if (!late && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
		if (sync_file(b->temporary) < 0 || rename(b->temporary, b->object) < 0)
			return err_sys(e, "cannot put %s into place", b->object);
		b->state = BUILD_DONE;
		c->built++;
		return 0;
	}
	unlink(b->temporary);
	b->state = BUILD_FAILED;
	b->late = late;
	b->why = late ? "the compiler took too long"
		      : first_error(c, j, WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	return cache_canary(c, e); /* whose fault is it? */
}

int cache_poll(struct cache *c, struct err *e)
{
	for (int i = 0; i < c->jobs; i++) {
		struct job *j = &c->job[i];
		int status, ended;

		if (j->build) {
			read_message(j);
			ended = proc_wait(&j->proc, 0, &status, e);
			if (ended < 0)
				return -1;
			if (!ended && clock_now() - j->proc.started > c->timeout_s) {
				proc_kill(&j->proc);
				if (end_job(c, j, 0, 1, e) < 0)
					return -1;
			} else if (ended && end_job(c, j, status, 0, e) < 0) {
				return -1;
			}
		}
		if (!j->build && c->queue && start_job(c, j, e) < 0)
			return -1;
	}
	return 0;
}

static int busy(const struct cache *c)
{
	for (int i = 0; i < c->jobs; i++)
		if (c->job[i].build)
			return 1;
	return c->queue != NULL;
}

int cache_wait(struct cache *c, const struct build *b, struct err *e)
{
	while (b ? b->state == BUILD_QUEUED || b->state == BUILD_RUNNING : busy(c)) {
		if (rec_stopped())
			return 1;
		if (cache_poll(c, e) < 0)
			return -1;
		poll(NULL, 0, 1);
	}
	return 0;
}

void cache_close(struct cache *c)
{
	struct cache **link = &first_open;

	for (int i = 0; c->job && i < c->jobs; i++) {
		struct job *j = &c->job[i];

		if (j->build) {
			proc_kill(&j->proc);
			proc_close(&j->proc);
		}
		buf_free(&j->message);
	}
	sweep(c);
	while (*link && *link != c)
		link = &(*link)->open;
	if (*link)
		*link = c->open;
	free(c->job);
	map_free(&c->builds);
	arena_free(&c->arena);
}
