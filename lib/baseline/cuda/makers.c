#include "lib/baseline/cuda/makers.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "lib/io/clock.h"
#include "lib/target/device.h"

enum { STACK = 8 << 20 }; /* bytes, as the first thread mostly has: a compiler runs there */

struct task {
	struct makers *all;
	struct execution *const *plan;
	int n;
	atomic_int next;
	double until;
};

struct helper {
	struct task *task;
	struct maker *maker;
	pthread_t thread;
};

int makers_open(struct makers *all, struct device *d, struct err *e)
{
	*all = (struct makers){.device = d};
	return cudnn_start(&all->maker[0].handle, e);
}

void makers_close(struct makers *all)
{
	for (int i = 0; i < MAKERS; i++)
		if (all->maker[i].handle)
			cudnn_stop(all->maker[i].handle);
}

static void make_some(struct task *t, struct maker *m)
{
	int i;

	while (clock_now() <= t->until && (i = atomic_fetch_add(&t->next, 1)) < t->n)
		execution_make(t->plan[i], m);
}

/* A helper that cannot begin leaves the work to the others. */
static void *help(void *helper)
{
	struct helper *h = helper;
	struct err ignored = ERR_INIT;

	if (cuda_use(h->task->all->device, &ignored) < 0)
		return NULL;
	if (h->maker->handle || cudnn_start(&h->maker->handle, &ignored) == 0)
		make_some(h->task, h->maker);
	return NULL;
}

/* The CPUs of the process. OpenMP knows them where it has bound this thread to one of them, as it
 * does in a worker. */
static void find_cpus(cpu_set_t *set)
{
	const int places = omp_get_num_places();
	int id[CPU_SETSIZE];

	if (sched_getaffinity(0, sizeof *set, set) < 0)
		CPU_ZERO(set);
	for (int i = 0; i < places; i++) {
		const int n = omp_get_place_num_procs(i);

		if (n > CPU_SETSIZE)
			continue;
		omp_get_place_proc_ids(i, id);
		for (int j = 0; j < n; j++)
			CPU_SET(id[j], set);
	}
}

/* A helper more is worth its handle, which takes most of a second, where this is left to do. */
static const double WORTH_S = 1;

/* Helpers that could begin: one a CPU, but for the first maker's. */
struct crew {
	struct task *task;
	struct helper helper[MAKERS - 1];
	int n, most;
	pthread_attr_t attr;
};

static int crew_open(struct crew *c, struct task *t)
{
	cpu_set_t cpus;
	int others;

	find_cpus(&cpus);
	others = CPU_COUNT(&cpus) - 1;
	c->task = t;
	c->n = 0;
	c->most = others < MAKERS - 1 ? others : MAKERS - 1;
	if (c->most < 1 || pthread_attr_init(&c->attr))
		return -1;
	pthread_attr_setstacksize(&c->attr, STACK);
	pthread_attr_setaffinity_np(&c->attr, sizeof cpus, &cpus);
	return 0;
}

static void crew_grow(struct crew *c, int wanted)
{
	while (c->n < wanted && c->n < c->most) {
		struct helper *h = &c->helper[c->n];

		*h = (struct helper){.task = c->task, .maker = &c->task->all->maker[c->n + 1]};
		if (pthread_create(&h->thread, &c->attr, help, h))
			c->most = c->n;
		else
			c->n++;
	}
}

static void crew_close(struct crew *c)
{
	for (int i = 0; i < c->n; i++)
		pthread_join(c->helper[i].thread, NULL);
	pthread_attr_destroy(&c->attr);
}

/* The first maker's part. It calls for helpers by what its own plans have taken so far. */
static void lead(struct task *t, struct crew *c)
{
	const double start = clock_now();

	for (int made = 0, i; clock_now() <= t->until; made++) {
		const int left = t->n - atomic_load(&t->next);
		const double each = made ? (clock_now() - start) / made : 0;

		crew_grow(c, (int)(each * left / (c->n + 1) / WORTH_S));
		if ((i = atomic_fetch_add(&t->next, 1)) >= t->n)
			return;
		execution_make(t->plan[i], &t->all->maker[0]);
	}
}

void makers_make(struct makers *all, struct execution *const *plan, int n, double until)
{
	struct task t = {.all = all, .plan = plan, .n = n, .until = until};
	struct crew crew;

	if (crew_open(&crew, &t) < 0) {
		make_some(&t, &all->maker[0]);
		return;
	}
	lead(&t, &crew);
	crew_close(&crew);
}
