#include "lib/build/cache.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/build/compile.h"
#include "lib/build/mark.h"
#include "lib/build/object.h"
#include "lib/build/sweep.h"
#include "lib/host/folder.h"
#include "lib/io/clock.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/seal.h"

enum {
	BATCH_MAX = 16,
	BATCH_MIN = 8, /* so many start at once; fewer wait for more for BATCH_WAIT_S */
};

static const double BATCH_WAIT_S = 0.02;
static const double TIMEOUT_S = 60;
static const double BATCH_TIMEOUT = 1. / 6; /* more, for each of a batch */

/* A compiler at work on a batch. */
struct job {
	struct compile compile;
	struct build *first; /* NULL: idle */
	int n;
};

/* ---- opening ---- */

static int find_folder(struct cache *c, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = folder_cache("objects", &path, e);

	if (rc == 0)
		c->dir = arena_strdup(&c->arena, path.s);
	buf_free(&path);
	return rc;
}

/* The lock comes first: a sweep takes a work folder without it for a dead run's. */
static int open_folder(struct cache *c, struct err *e)
{
	struct buf work = BUF_INIT;

	if (find_folder(c, e) < 0)
		return -1;
	c->lock = sweep_lock(c->dir);
	if (sweep_work_make(c->dir, &work, e) < 0) {
		buf_free(&work);
		return -1;
	}
	c->work = arena_strdup(&c->arena, work.s);
	buf_free(&work);
	mark_put(c->dir, c->work, sweep_is_ours);
	compile_environment(c->work);
	return 0;
}

int cache_canary(struct cache *c, struct err *e)
{
	struct buf stem = BUF_INIT;
	int rc;

	buf_fmt(&stem, "%s/canary", c->work);
	rc = compile_canary(c->target, c->isa, stem.s, c->timeout_s, e);
	buf_free(&stem);
	return rc;
}

int cache_open(struct cache *c, const struct target *target, const char *isa, int jobs,
	       struct err *e)
{
	struct buf text = BUF_INIT;

	*c = (struct cache){.target = target, .jobs = jobs, .timeout_s = TIMEOUT_S, .lock = -1};
	c->opened = clock_now();
	c->queue_end = &c->queue;
	snprintf(c->isa, sizeof c->isa, "%s", isa);
	c->job = xcalloc((size_t)jobs, sizeof *c->job);
	if (sweep_bound(&c->max_bytes, e) < 0 || open_folder(c, e) < 0)
		return -1;
	if (cache_canary(c, e) < 0)
		return -1;
	target_command(target, isa, &text);
	if (target->compiler(&text, e) < 0) {
		buf_free(&text);
		return -1;
	}
	c->command_text = arena_strdup(&c->arena, text.s);
	buf_free(&text);
	return 0;
}

/* ---- the queue ---- */

static void put_last(struct cache *c, struct build *b)
{
	b->state = BUILD_QUEUED;
	b->queued = clock_now();
	b->next = NULL;
	*c->queue_end = b;
	c->queue_end = &b->next;
	c->waiting++;
}

static void put_first(struct cache *c, struct build *b)
{
	b->state = BUILD_QUEUED;
	b->next = c->queue;
	c->queue = b;
	if (!b->next)
		c->queue_end = &b->next;
	c->waiting++;
}

static struct build *take_first(struct cache *c)
{
	struct build *b = c->queue;

	c->queue = b->next;
	if (!c->queue)
		c->queue_end = &c->queue;
	c->waiting--;
	b->next = NULL;
	b->state = BUILD_RUNNING;
	return b;
}

struct build *cache_add(struct cache *c, const char *text, size_t n, const char *why_c)
{
	struct buf key = BUF_INIT;
	struct build *b;
	struct id code;
	void **place;

	buf_str(&key, c->command_text);
	buf_str(&key, c->target->prelude());
	buf_add(&key, text, n);
	hash_id(&code, key.s, key.n);
	buf_free(&key);
	place = map_put(&c->builds, code.s, ID_HEX, NULL);
	if (*place)
		return *place;
	*place = b = arena_new(&c->arena, struct build);
	b->code = code;
	b->text = arena_strndup(&c->arena, text, n);
	b->n = n;
	b->why_c = why_c;
	b->alone = c->target->alone;
	b->object = arena_printf(&c->arena, "%s/%s.so", c->dir, code.s);
	if (seal_seems_whole(b->object)) {
		b->state = BUILD_DONE;
		b->cached = 1;
		sweep_touch(b->object);
	} else {
		put_last(c, b);
	}
	return b;
}

/* How many builds a compiler should take on now, if there are so many; 0: better wait for more. */
static int batch_size(const struct cache *c)
{
	if (!c->queue)
		return 0;
	if (c->queue->alone)
		return 1;
	if (c->hurry)
		return c->hurry;
	if (c->waiting < BATCH_MIN && clock_now() - c->queue->queued < BATCH_WAIT_S)
		return 0;
	return c->waiting < (int64_t)c->jobs * BATCH_MAX ? BATCH_MIN : BATCH_MAX;
}

/* ---- compiling ---- */

static void batch_text(const struct target *target, const struct job *j, struct buf *out)
{
	buf_str(out, target->prelude());
	for (const struct build *b = j->first; b; b = b->next) {
		buf_fmt(out, "\n#define KERNEL " TARGET_PREFIX "%s\n", b->code.s);
		buf_add(out, b->text, b->n);
		buf_str(out, "\n#undef KERNEL\n");
	}
}

/* Takes up to n builds. */
static int start_job(struct cache *c, struct job *j, int n, struct err *e)
{
	struct build **last = &j->first;
	struct buf text = BUF_INIT;
	char *stem;
	int rc;

	for (j->n = 0; j->n < n && (j->n == 0 || (c->queue && !c->queue->alone)); j->n++) {
		*last = take_first(c);
		last = &(*last)->next;
	}
	stem = arena_printf(&c->arena, "%s/batch-%lld", c->work, (long long)c->calls++);
	batch_text(c->target, j, &text);
	rc = compile_start(&j->compile, c->target, c->isa, &text,
			   arena_printf(&c->arena, "%s.c", stem),
			   arena_printf(&c->arena, "%s.tmp", stem),
			   c->timeout_s * (j->n > 1 ? 1 + j->n * BATCH_TIMEOUT : 1), e);
	buf_free(&text);
	return rc;
}

/* The batch's object becomes each kernel's. It is sealed and on the disk before: a rename may
 * outlive the data behind it when the power goes. */
static int put_in_place(struct cache *c, struct job *j, struct err *e)
{
	int rc = seal_file(j->compile.object, e);

	for (struct build *b = j->first; b && rc == 0; b = b->next) {
		const char *temporary = arena_printf(&c->arena, "%s/%s.tmp", c->work, b->code.s);

		if (object_put(j->compile.object, temporary, b->object) < 0)
			rc = err_sys(e, "cannot put %s into place", b->object);
		b->state = BUILD_DONE;
		c->built++;
	}
	return rc;
}

/* One of a batch is at fault, or all were too much at once. */
static void part_batch(struct cache *c, struct job *j)
{
	for (struct build *b = j->first, *next; b; b = next) {
		next = b->next;
		b->alone = 1;
		put_first(c, b);
	}
}

/* Other programs may have left a compiler no memory: then the build has another chance, behind
 * the others. Returns whether it takes it. */
static int try_again(struct cache *c, struct build *b)
{
	if (b->starved)
		return 0;
	b->starved = b->alone = 1;
	put_last(c, b);
	return 1;
}

/* -1: it was the machine's fault. */
static int blame(struct cache *c, struct job *j, int late, struct err *e)
{
	const int starved = !late && compile_was_starved(&j->compile);
	struct build *b = j->first;

	if (!late && compile_no_disk(&j->compile, e))
		return -1;
	if (starved && try_again(c, b))
		return 0;
	b->state = BUILD_FAILED;
	b->fault = late ? FAULT_LATE : starved ? FAULT_STARVED : FAULT_SOURCE;
	b->why = late ? "the compiler took too long" : compile_why(&j->compile, &c->arena);
	return cache_canary(c, e);
}

/* Takes in a job that has ended. -1 only for faults of the machine. */
static int end_job(struct cache *c, struct job *j, enum compile_state state, struct err *e)
{
	const struct proc *p = &j->compile.proc;
	const double now = clock_now();
	size_t bytes = 0;
	int rc = 0;

	for (struct build *b = j->first; b; b = b->next)
		bytes += b->n;
	for (struct build *b = j->first; b; b = b->next) {
		double share = (double)b->n / (double)bytes;

		b->seconds += (now - p->started) * share;
		b->cpu_s += p->cpu_s * share;
	}
	if (c->ledger)
		ledger_beside(c->ledger, COST_BUILD, p->cpu_s, now);
	if (state == COMPILE_DONE)
		rc = put_in_place(c, j, e);
	else if (j->n > 1)
		part_batch(c, j);
	else
		rc = blame(c, j, state == COMPILE_LATE, e);
	compile_close(&j->compile);
	j->first = NULL;
	return rc;
}

static void show_progress(const struct cache *c)
{
	const struct progress p = {.what = "building kernels",
				   .started = c->opened,
				   .done = c->built,
				   .all = c->built + c->waiting};

	if (c->waiting)
		progress_show(&p, NULL);
}

int cache_poll(struct cache *c, struct err *e)
{
	show_progress(c);
	for (int i = 0; i < c->jobs; i++) {
		struct job *j = &c->job[i];
		int state, n;

		if (j->first) {
			state = compile_poll(&j->compile, e);
			if (state < 0 || (state != COMPILE_RUNS &&
					  end_job(c, j, (enum compile_state)state, e) < 0))
				return -1;
		}
		if (!j->first && (n = batch_size(c)) > 0 && start_job(c, j, n, e) < 0)
			return -1;
	}
	return 0;
}

static int busy(const struct cache *c)
{
	for (int i = 0; i < c->jobs; i++)
		if (c->job[i].first)
			return 1;
	return c->queue != NULL;
}

/* The size of batches when no more come: as many rounds as the largest need, and all of them even.
 */
static int even_size(const struct cache *c)
{
	int64_t round = (int64_t)c->jobs * BATCH_MAX, batches;

	if (!c->waiting)
		return 1;
	batches = (c->waiting + round - 1) / round * c->jobs;
	return (int)((c->waiting + batches - 1) / batches);
}

int cache_is_idle(const struct cache *c)
{
	return !busy(c);
}

int cache_wait(struct cache *c, const struct build *b, struct err *e)
{
	int rc = 0;

	c->hurry = even_size(c);
	while (rc == 0 && (b ? b->state == BUILD_QUEUED || b->state == BUILD_RUNNING : busy(c))) {
		rc = rec_stopped() ? 1 : cache_poll(c, e);
		if (rc == 0)
			poll(NULL, 0, 1);
	}
	c->hurry = 0;
	return rc;
}

int cache_rebuild(struct cache *c, struct build *b, struct err *e)
{
	if (unlink(b->object) < 0 && errno != ENOENT)
		return err_sys(e, "cannot remove %s", b->object);
	b->alone = 1;
	b->cached = 0;
	put_first(c, b);
	return cache_wait(c, b, e);
}

void cache_close(struct cache *c)
{
	for (int i = 0; c->job && i < c->jobs; i++)
		compile_free(&c->job[i].compile);
	if (c->work) /* it was opened */
		sweep_work_remove(c->work);
	if (c->job)
		sweep(c->dir, c->lock, c->max_bytes);
	free(c->job);
	map_free(&c->builds);
	arena_free(&c->arena);
}

void cache_truth(const struct cache *c, const struct build *b, const char *data, struct buf *out)
{
	struct buf key = BUF_INIT;
	struct id id;

	buf_fmt(&key, "%s %s", b->code.s, data);
	hash_id(&id, key.s, key.n);
	buf_free(&key);
	buf_fmt(out, "%s/%s.truth", c->dir, id.s);
}
