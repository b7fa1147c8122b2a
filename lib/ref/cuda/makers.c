#include "lib/ref/cuda/makers.h"

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

/* How many helpers begin; at most as many as there are other CPUs. */
static int start(struct task *t, struct helper helper[MAKERS - 1])
{
	int n = 0, most = MAKERS - 1;
	pthread_attr_t attr;
	cpu_set_t cpus;

	find_cpus(&cpus);
	most = CPU_COUNT(&cpus) - 1 < most ? CPU_COUNT(&cpus) - 1 : most;
	most = t->n - 1 < most ? t->n - 1 : most;
	if (most < 1 || pthread_attr_init(&attr))
		return 0;
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setaffinity_np(&attr, sizeof cpus, &cpus);
	for (; n < most; n++) {
		helper[n] = (struct helper){.task = t, .maker = &t->all->maker[n + 1]};
		if (pthread_create(&helper[n].thread, &attr, help, &helper[n]))
			break;
	}
	pthread_attr_destroy(&attr);
	return n;
}

void makers_make(struct makers *all, struct execution *const *plan, int n, double until)
{
	struct task t = {.all = all, .plan = plan, .n = n, .until = until};
	struct helper helper[MAKERS - 1];
	const int helpers = start(&t, helper);

	make_some(&t, &all->maker[0]);
	for (int i = 0; i < helpers; i++)
		pthread_join(helper[i].thread, NULL);
}
