#include "lib/run/exec.h"

#include <omp.h>
#include <sched.h>

#include "lib/io/clock.h"
#include "lib/run/library.h"
#include "lib/run/parts.h"

static void barrier(void)
{
#pragma omp barrier
}

/* Thread i on the i-th core that the process may use. */
static void pin(const cpu_set_t *allowed, int thread)
{
	cpu_set_t one;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && thread-- == 0) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof one, &one);
			return;
		}
}

/* The CPUs that the process may use. Where OpenMP binds threads, this one is bound already, and
 * OpenMP knows the others. */
static void find_cpus(cpu_set_t *cpus)
{
	int cpu[CPU_SETSIZE];

	if (sched_getaffinity(0, sizeof *cpus, cpus))
		CPU_ZERO(cpus);
	for (int place = 0; place < omp_get_num_places(); place++) {
		int n = omp_get_place_num_procs(place);

		if (n > CPU_SETSIZE)
			continue;
		omp_get_place_proc_ids(place, cpu);
		for (int i = 0; i < n; i++)
			if (cpu[i] < CPU_SETSIZE)
				CPU_SET((size_t)cpu[i], cpus);
	}
}

/* The library's threads are OpenMP's. */
static void pin_all(const struct plan *p, const cpu_set_t *cpus)
{
	if (CPU_COUNT(cpus) < p->threads)
		return;
#pragma omp parallel num_threads(p->threads)
	pin(cpus, omp_get_thread_num());
}

int exec_team(struct plan *p, struct err *e)
{
	cpu_set_t cpus;

	omp_set_dynamic(0);
	find_cpus(&cpus);
	if (p->by_library) {
		pin_all(p, &cpus);
		return 0;
	}
	omp_pause_resource_all(omp_pause_soft); /* its idle threads would spin beside the team */
	p->team = parts_start(p, &cpus, e);
	return p->team ? 0 : -1;
}

void exec_end(struct plan *p)
{
	parts_end(p->team);
	p->team = NULL;
}

void exec_rest(struct plan *p)
{
	if (p->team)
		parts_rest(p->team);
}

/* A thread's part of all turns. */
static int plain_team(const struct plain *c, void *const *buffers, int thread, int threads)
{
	int rc = 0;

	for (int turn = 0; turn < plain_turns(c); turn++) {
		if (turn && threads > 1)
			barrier();
		rc |= plain_part(c, buffers, turn, thread, threads);
	}
	return rc;
}

/* A thread's part of a step. */
static int part(const struct plan *p, const struct step *s, int thread, int threads)
{
	if (s->threads < threads) {
		if (thread)
			return 0;
		threads = 1;
	}
	if (s->plain)
		return plain_team(s->plain, s->buffers, thread, threads);
	p->runner->part(&s->kernel, s->params, s->buffers, thread, threads, barrier);
	return 0;
}

static int say_bad(const struct step *s, struct err *e)
{
	return err_set(e, "%s (%s): %s", s->name, s->what, s->plain->bad);
}

int exec_step(struct plan *p, const struct step *s, struct err *e)
{
	int bad = 0;

#pragma omp parallel num_threads(p->threads) reduction(| : bad)
	bad = part(p, s, omp_get_thread_num(), omp_get_num_threads()) != 0;
	return bad ? say_bad(s, e) : 0;
}

/* The library has a team of its own: a step after the other, each with its fork and join. */
static int run_by_library(struct plan *p, double *ended, struct err *e)
{
	int rc = 0;

	for (int i = 0; !rc && i < p->nstep; i++) {
		const struct step *s = &p->step[i];

		if (s->baseline)
			rc = library_run(s, e);
		else if (step_is_live(s))
			rc = exec_step(p, s, e);
		if (ended)
			ended[i + 1] = clock_now();
	}
	return rc;
}

int exec_run(struct plan *p, double *ended, struct err *e)
{
	const struct step *bad;

	if (p->by_library) {
		if (ended)
			ended[0] = clock_now();
		return run_by_library(p, ended, e);
	}
	bad = parts_run(p->team, ended);
	return bad ? say_bad(bad, e) : 0;
}
