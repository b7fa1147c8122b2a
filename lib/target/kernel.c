#include "lib/target/runner.h"

#include <dlfcn.h>
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/seal.h"
#include "lib/space/isa.h"
#include "lib/target/c.h"
#include "lib/target/cpu.h"
#include "lib/target/kernel_operands.h"
#include "lib/target/probe.h"

static void unload(struct kernel *k)
{
	kernel_operands_free(k);
	if (k->handle)
		dlclose(k->handle);
	k->handle = NULL;
}

/* dlopen() loads what was damaged or cut off, and calling that kills the process or gives wrong
 * answers. */
static int check(const char *object, struct err *e)
{
	struct buf bytes = BUF_INIT;
	int rc = seal_read(object, &bytes, e);

	buf_free(&bytes);
	if (rc < 0)
		return -1;
	return rc ? 0 : err_set(e, "the object %s is damaged or gone", object);
}

/* Between the check and dlopen() only this user could change the file: the cache is in no folder
 * that others may write to (lib/host/folder.h). */
static int load(struct kernel *k, const char *object, struct err *e)
{
	const char *slash = strrchr(object, '/'), *file = slash ? slash + 1 : object;
	char name[64];
	void *symbol;

	k->own = NULL;
	if (check(object, e) < 0)
		return -1;
	cpu_has_isa(isa_list->name); /* for all that the kernel may use */
	snprintf(name, sizeof name, TARGET_PREFIX "%.*s", (int)strcspn(file, "."), file);

	k->handle = dlopen(object, RTLD_NOW | RTLD_LOCAL);
	if (!k->handle)
		return err_set(e, "the kernel does not load: %s", dlerror());
	symbol = dlsym(k->handle, name);
	if (!symbol) {
		unload(k);
		return err_set(e, "the object %s has no function %s", object, name);
	}
	*(void **)&k->entry = symbol;
	return 0;
}

static void team_barrier(void)
{
#pragma omp barrier
}

static void part(const struct kernel *k, const long *params, void *const *buffers, int thread,
		 int threads, void (*barrier)(void))
{
	((c_kernel)k->entry)(params, kernel_operands(k, buffers), thread, threads, barrier);
}

static int run(const struct kernel *k, const long *params, void *const *buffers, int threads,
	       struct err *e)
{
	void *const *own = kernel_operands(k, buffers);
	c_kernel call = (c_kernel)k->entry;

	(void)e;
	if (threads == 1) {
		call(params, own, 0, 1, team_barrier);
		return 0;
	}
#pragma omp parallel num_threads(threads)
	call(params, own, omp_get_thread_num(), omp_get_num_threads(), team_barrier);
	return 0;
}

/* ---- in parts ---- */

enum { MOST_THREADS = 64, LINE = 64 };

struct share {
	_Alignas(LINE) atomic_int taken; /* parts of a thread's share */
};

struct shared_call {
	c_kernel entry;
	const long *params;
	void *const *buffers;
	const struct runner_parts *parts;
	struct share share[MOST_THREADS];
};

/* A part, with its workspace where that of the thread is. */
static void run_part(const struct shared_call *c, int thread, int part, int parts)
{
	void *own[NEST_BUFFERS];

	for (int i = 0; i < c->parts->nslots; i++)
		own[i] = (void *)((uintptr_t)c->buffers[i] +
				  (uintptr_t)((thread - part) * c->parts->own[i]));
	c->entry(c->params, own, part, parts, team_barrier);
}

/* Its own parts first, and then those that others have not begun. */
static void take_parts(struct shared_call *c)
{
	const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
	int part;

	for (int i = 0; i < threads; i++) {
		const int v = (thread + i) % threads;

		while ((part = atomic_fetch_add(&c->share[v].taken, 1)) < RUNNER_PARTS)
			run_part(c, thread, v * RUNNER_PARTS + part, threads * RUNNER_PARTS);
	}
}

static int run_parts(const struct kernel *k, const long *params, void *const *buffers,
		     const struct runner_parts *parts, int threads, struct err *e)
{
	struct shared_call c = {
		(c_kernel)k->entry, params, kernel_operands(k, buffers), parts, {{0}}};

	if (threads > MOST_THREADS)
		return run(k, params, buffers, threads, e);
#pragma omp parallel num_threads(threads)
	take_parts(&c);
	return 0;
}

static void team(int threads)
{
#pragma omp parallel num_threads(threads)
	team_barrier();
}

/* Where OpenMP binds threads, it bound the first one when the program began, and all that this one
 * starts inherit that. */
static void place(int thread)
{
	const int places = omp_get_num_places();
	int cpu[CPU_SETSIZE], n = places ? omp_get_place_num_procs(thread % places) : 0;
	cpu_set_t set;

	if (n < 1 || n > CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	omp_get_place_proc_ids(thread % places, cpu);
	for (int i = 0; i < n; i++)
		CPU_SET((size_t)cpu[i], &set);
	sched_setaffinity(0, sizeof set, &set);
}

const struct runner runner_cpu = {
	.target = &target_cpu,
	.load = load,
	.unload = unload,
	.params = c_params,
	.put = kernel_operands_put,
	.take = kernel_operands_take,
	.at = kernel_operands_at,
	.run = run,
	.part = part,
	.run_parts = run_parts,
	.team = team,
	.place = place,
	.probe = probe_run,
};
