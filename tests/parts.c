/* The threads of a plan: each part of a step runs once, behind all parts of the steps before it,
 * whatever else has the cores; threads of a kernel with phases meet; and each has its own
 * workspace. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/run/parts.h"
#include "tests/tap.h"

enum { STEPS = 24, MOST = 8, PARTS = 64, RUNS = 30, OWN = 16 };

/* This tells what happened in a run. */
struct seen {
	atomic_int runs[STEPS][PARTS]; /* of each part */
	atomic_int parts[STEPS];       /* how many it is cut into */
	atomic_int done[STEPS];
	atomic_int met[STEPS]; /* threads that are through with the first phase */
	atomic_int early;      /* began before the step before it had ended */
	atomic_int apart;      /* threads that did not wait for the others */
	atomic_int strange;    /* found another thread in their workspace */
};

static struct seen seen;
static int number[STEPS]; /* of the step; what a plain step is called with */
static atomic_int stop_busy;

static void spend(double s)
{
	for (double end = clock_now() + s; clock_now() < end;)
		;
}

/* Plays a part: mostly it ends at once, now and then after 200 us. */
static void note(int step, int part, int parts)
{
	if (step && atomic_load(&seen.done[step - 1]) != atomic_load(&seen.parts[step - 1]))
		atomic_fetch_add(&seen.early, 1);
	atomic_store(&seen.parts[step], parts);
	atomic_fetch_add(&seen.runs[step][part], 1);
	if ((step * 7 + part) % 11 == 0)
		spend(200e-6);
}

static int run_plain(const void *with, float *const *buffers, int part, int parts)
{
	int step = *(const int *)with;

	note(step, part, parts);
	atomic_fetch_add(&seen.done[step], 1);
	return step == STEPS - 1 && part == 0 && buffers[0] ? -1 : 0;
}

/* Plays a kernel. params has its step, and whether it has two phases. */
static void run_kernel(const struct kernel *k, const long *params, void *const *buffers, int part,
		       int parts, void (*barrier)(void))
{
	int step = (int)params[0];
	float *own = (float *)buffers[0] + (long)part * OWN;

	(void)k;
	note(step, part, parts);
	for (int i = 0; i < OWN; i++)
		own[i] = (float)part;
	atomic_fetch_add(&seen.met[step], 1);
	if (params[1] && parts > 1) {
		barrier();
		if (atomic_load(&seen.met[step]) != parts)
			atomic_fetch_add(&seen.apart, 1);
		barrier();
	}
	for (int i = 0; i < OWN; i++)
		if (own[i] != (float)part)
			atomic_fetch_add(&seen.strange, 1);
	atomic_fetch_add(&seen.done[step], 1);
}

static const struct runner runner = {.part = run_kernel};

/* Plain steps, kernels with one phase, with two, and for one thread alone, in turns; one is idle.
 */
static void make_plan(struct plan *p, struct step *step, struct plain *plain, float *work,
		      int threads)
{
	memset(p, 0, sizeof *p);
	memset(step, 0, STEPS * sizeof *step);
	*p = (struct plan){.runner = &runner, .threads = threads, .step = step, .nstep = STEPS};
	for (int i = 0; i < STEPS; i++) {
		struct step *s = &step[i];

		number[i] = i;
		plain[i] = (struct plain){.run = run_plain, .with = &number[i]};
		s->threads = i % 4 == 3 ? 1 : threads;
		s->nslots = 1;
		s->phases = i % 4 == 1 ? 2 : 1;
		s->plain = i % 4 == 0 || i == STEPS - 1 ? &plain[i] : NULL;
		s->buffers[0] = s->plain ? NULL : work;
		s->own[0] = s->plain ? 0 : OWN * (int64_t)sizeof(float);
		s->is_idle = i % 10 == 6;
		s->params[0] = i;
		s->params[1] = s->phases > 1;
	}
}

static int is_complete(void)
{
	for (int i = 0; i < STEPS; i++)
		for (int part = 0; part < PARTS; part++)
			if (atomic_load(&seen.runs[i][part]) !=
			    (part < atomic_load(&seen.parts[i])))
				return 0;
	return !atomic_load(&seen.early) && !atomic_load(&seen.apart) &&
	       !atomic_load(&seen.strange);
}

static int times_rise(const double *ended)
{
	for (int i = 0; i < STEPS; i++)
		if (ended[i + 1] < ended[i])
			return 0;
	return ended[0] > 0;
}

static void with_threads(int threads, const char *how)
{
	static float work[MOST * OWN];
	static struct step step[STEPS];
	static struct plain plain[STEPS];
	double ended[STEPS + 1];
	struct err e = ERR_INIT;
	cpu_set_t cpus;
	struct plan p;
	struct parts *t;
	int whole = 1, bad = 1;

	make_plan(&p, step, plain, work, threads);
	sched_getaffinity(0, sizeof cpus, &cpus);
	t = parts_start(&p, &cpus, &e);
	for (int i = 0; t && i < RUNS; i++) {
		memset(&seen, 0, sizeof seen);
		whole &= !parts_run(t, i % 2 ? ended : NULL) && is_complete();
		whole &= !(i % 2) || times_rise(ended);
	}
	ok(t && whole, "%d threads run all parts once, and step after step%s", threads, how);
	step[STEPS - 1].buffers[0] = work;
	for (int i = 0; t && i < 3; i++)
		bad &= parts_run(t, NULL) == &step[STEPS - 1];
	ok(bad, "and tell which step failed");
	parts_end(t);
}

/* Ends each team right after a run without work, when its threads are about to wait. */
static void end_at_once(void)
{
	enum { TEAMS = 4000, THREADS = 2 };
	static float work[MOST * OWN];
	static struct step step[STEPS];
	static struct plain plain[STEPS];
	struct err e = ERR_INIT;
	cpu_set_t cpus;
	struct plan p;
	int ended = 0;

	make_plan(&p, step, plain, work, THREADS);
	for (int i = 0; i < STEPS; i++)
		step[i].is_idle = 1;
	sched_getaffinity(0, sizeof cpus, &cpus);
	for (int i = 0; i < TEAMS; i++) {
		struct parts *t = parts_start(&p, &cpus, &e);

		ended += t && !parts_run(t, NULL);
		parts_end(t);
	}
	ok(ended == TEAMS, "%d teams end as soon as they have run", ended);
}

static void *busy(void *core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t) * (int *)core, &set);
	sched_setaffinity(0, sizeof set, &set);
	while (!atomic_load(&stop_busy))
		spend(1e-3);
	return NULL;
}

/* Another thread is busy on the last core. */
static void beside(const cpu_set_t *allowed)
{
	cpu_set_t now;
	pthread_t other;
	int core = CPU_SETSIZE - 1;

	while (!CPU_ISSET((size_t)core, allowed))
		core--;
	if (pthread_create(&other, NULL, busy, &core)) {
		ok(0, "a busy thread starts");
		return;
	}
	with_threads(CPU_COUNT(allowed) < MOST ? CPU_COUNT(allowed) : MOST, " beside a busy one");
	sched_getaffinity(0, sizeof now, &now);
	ok(CPU_EQUAL(&now, allowed), "and the caller has its CPUs again");
	atomic_store(&stop_busy, 1);
	pthread_join(other, NULL);
}

int main(void)
{
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof allowed, &allowed);
	with_threads(1, "");
	for (int threads = 2; threads <= MOST; threads *= 2)
		with_threads(threads, "");
	end_at_once();
	beside(&allowed);
	return done_testing();
}
