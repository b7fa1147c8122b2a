/* Several inputs at once: each by a thread, into results of its own, which are put together in the
 * order of the inputs. Readers have no state but these results. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/extract/extract.h"

enum { STACK = 8 << 20 };

struct job {
	const char *path;
	int in_turn; /* a pipe: when it is read, what it gives to others depends on it */
	int is_done;
	struct extract x;
	struct contents contents;
	struct buf drawing;
	struct buf said; /* 'E' or 'R', a sentence, a NUL; for each */
};

struct team {
	struct extract *all;
	struct job *job;
	int n, next, merged;
	int ahead; /* so many inputs are read, or wait to be merged, at once: bounds the memory */
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static void keep_said(void *ctx, int is_error, const char *sentence)
{
	struct job *j = ctx;

	buf_ch(&j->said, is_error ? 'E' : 'R');
	buf_add(&j->said, sentence, strlen(sentence) + 1);
}

/* Options that take note of their use are copied: each job has its own. */
static void copy_options(struct infer_options *to, const struct infer_options *from)
{
	*to = *from;
	to->shape = xcalloc((size_t)from->nshape + 1, sizeof *to->shape);
	to->dim = xcalloc((size_t)from->ndim + 1, sizeof *to->dim);
	for (int i = 0; i < from->nshape; i++)
		to->shape[i] = from->shape[i];
	for (int i = 0; i < from->ndim; i++)
		to->dim[i] = from->dim[i];
}

static void merge_options(struct infer_options *to, struct infer_options *from)
{
	for (int i = 0; i < to->nshape; i++)
		to->shape[i].used |= from->shape[i].used;
	for (int i = 0; i < to->ndim; i++)
		to->dim[i].used |= from->dim[i].used;
	free(from->shape);
	free(from->dim);
}

/* Before any is run: all options of the whole, and no results. */
static void prepare(struct job *j, const struct extract *all)
{
	j->x = *all;
	copy_options(&j->x.infer, &all->infer);
	j->x.is_silent = 1;
	j->x.say = keep_said;
	j->x.ctx = j;
	j->x.found = (struct worklist){MAP_INIT};
	j->x.contents = all->contents ? &j->contents : NULL;
	j->x.drawing = all->drawing ? &j->drawing : NULL;
	j->x.failed = 0;
}

static void merge(struct extract *all, struct job *j)
{
	for (const char *s = j->said.s; s && s < j->said.s + j->said.n; s += strlen(s) + 1)
		all->say(all->ctx, *s == 'E', s + 1);
	worklist_add(&all->found, &j->x.found);
	all->failed += j->x.failed;
	if (all->contents)
		contents_merge(all->contents, &j->contents);
	if (all->drawing && j->drawing.n)
		buf_add(all->drawing, j->drawing.s, j->drawing.n);
	merge_options(&all->infer, &j->x.infer);
	extract_free(&j->x);
	contents_free(&j->contents);
	buf_free(&j->drawing);
	buf_free(&j->said);
}

static int may_start(const struct team *t)
{
	return t->next < t->merged + t->ahead && (!t->job[t->next].in_turn || t->merged == t->next);
}

static void *work(void *arg)
{
	struct team *t = arg;

	pthread_mutex_lock(&t->lock);
	while (t->next < t->n) {
		struct job *j;

		if (!may_start(t)) {
			pthread_cond_wait(&t->changed, &t->lock);
			continue;
		}
		j = &t->job[t->next++];
		pthread_mutex_unlock(&t->lock);
		extract_input(&j->x, j->path);
		pthread_mutex_lock(&t->lock);
		j->is_done = 1;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static void merge_in_order(struct team *t)
{
	for (int i = 0; i < t->n; i++) {
		pthread_mutex_lock(&t->lock);
		while (!t->job[i].is_done)
			pthread_cond_wait(&t->changed, &t->lock);
		pthread_mutex_unlock(&t->lock);
		merge(t->all, &t->job[i]);
		pthread_mutex_lock(&t->lock);
		t->merged++;
		pthread_cond_broadcast(&t->changed);
		pthread_mutex_unlock(&t->lock);
	}
}

static int is_in_turn(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || stat(path, &st) < 0 ||
	       !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* So many threads could be made. */
static int start(struct team *t, pthread_t *thread, int jobs)
{
	pthread_attr_t attr;
	int n = 0;

	if (pthread_attr_init(&attr))
		return 0;
	pthread_attr_setstacksize(&attr, STACK);
	while (n < jobs && !pthread_create(&thread[n], &attr, work, t))
		n++;
	pthread_attr_destroy(&attr);
	return n;
}

static int run_team(struct team *t, int jobs)
{
	pthread_t *thread = xcalloc((size_t)jobs, sizeof *thread);
	int started;

	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	started = start(t, thread, jobs);
	if (started)
		merge_in_order(t);
	for (int i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(thread);
	return started;
}

void extract_inputs(struct extract *x, const char *const *path, int n, int jobs)
{
	struct team t = {.all = x, .n = n};
	int is_read = 0;

	if (jobs > n)
		jobs = n;
	if (jobs > 1) {
		t.ahead = 2 * jobs;
		t.job = xcalloc((size_t)n, sizeof *t.job);
		for (int i = 0; i < n; i++) {
			t.job[i].path = path[i];
			t.job[i].in_turn = is_in_turn(path[i]);
			prepare(&t.job[i], x);
		}
		is_read = run_team(&t, jobs) > 0;
		for (int i = 0; i < n && !is_read; i++)
			merge_options(&x->infer, &t.job[i].x.infer);
		free(t.job);
	}
	for (int i = 0; i < n && !is_read; i++) /* one at a time, or for want of threads */
		extract_input(x, path[i]);
}
