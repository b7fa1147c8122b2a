#include "lib/run/parts.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/io/clock.h"

enum {
	LINE = 64,
	NOBODY = -1,
};

static const double SPIN_S = 2e-3, /* a thread that waits sleeps then */
	SPIN_SHARED_S = 20e-6,	   /* where another program was seen on one of the cores */
	LOOK_S = 20e-6,		   /* between looks at whether a thread has its core */
	SHARED_S = 0.2;		   /* what was seen holds so long */

/* Threads wait until it changes. */
struct turn {
	_Alignas(LINE) atomic_uint count;
	atomic_int asleep;
};

struct member {
	_Alignas(LINE) atomic_ulong next; /* a step << 32 | parts of its share that are taken */
	struct parts *team;
	int number, cpu; /* cpu: NOBODY: it has none of its own */
	pid_t tid;
	pthread_t thread;
	atomic_int at_work; /* it has begun a part, and does not wait in it */
	atomic_int is_moved;
};

struct parts {
	const struct plan *plan;
	int threads, started;
	cpu_set_t callers; /* the CPUs of the caller, before and afterwards */
	int knows_callers;
	double *ended;
	const struct step *_Atomic bad;
	double _Atomic shared_until; /* by clock_now(): another program is on one of the cores */
	atomic_int over, quit;
	_Alignas(LINE) atomic_int left; /* parts of the step's turn that are not done */
	atomic_int turn;		/* of the step (struct plain) */
	struct turn steps;		/* there is something to do */
	struct turn meets;		/* the threads of a kernel have met */
	atomic_int met;			/* those that wait there */
	atomic_int gone;		/* those that look at no other thread any more */
	struct member member[];
};

static _Thread_local struct member *self;

/* ---- parts of a step ---- */

static int is_alone(const struct parts *t, const struct step *s)
{
	return s->threads < t->threads;
}

static int is_together(const struct step *s)
{
	return !s->plain && s->phases > 1;
}

/* Does each part look through all operands, so that fewer parts do less work? */
static int is_scan(const struct step *s)
{
	return s->plain && s->plain->is_scan;
}

/* Returns how many parts of it member v has. */
static int share(const struct parts *t, const struct step *s, int v)
{
	if (is_alone(t, s))
		return v == 0;
	return is_together(s) || is_scan(s) || t->threads == 1 ? 1 : RUNNER_PARTS;
}

static int all_parts(const struct parts *t, const struct step *s)
{
	return is_alone(t, s) ? 1 : t->threads * share(t, s, 0);
}

static void meet(void);

/* The buffers of a step, with the workspace of thread `part` where that of the member is. */
static void *const *buffers_of(const struct step *s, int member, int part, void **own)
{
	for (int i = 0; i < s->nslots; i++)
		own[i] = (void *)((uintptr_t)s->buffers[i] +
				  (uintptr_t)((member - part) * s->own[i]));
	return own;
}

static int run_part(const struct member *m, const struct step *s, int part)
{
	const struct parts *t = m->team;
	const struct plan *p = t->plan;
	int parts = all_parts(t, s);
	void *own[NEST_BUFFERS];

	if (s->plain)
		return plain_part(s->plain, s->buffers, atomic_load(&t->turn), part, parts);
	p->runner->part(&s->kernel, s->params,
			parts > 1 ? buffers_of(s, m->number, part, own) : s->buffers, part, parts,
			meet);
	return 0;
}

/* ---- turns ---- */

static void futex(atomic_uint *word, int op, unsigned value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void next_turn(struct turn *turn)
{
	atomic_fetch_add(&turn->count, 1);
	if (atomic_load(&turn->asleep))
		futex(&turn->count, FUTEX_WAKE, INT32_MAX);
}

static int has_come(const struct turn *turn, unsigned before)
{
	return atomic_load(&turn->count) != before;
}

/* Begins a turn of step i, or ends the run. Member 0 comes last: no turn can end without its share,
 * so nobody else is here before all have the new one. */
static void begin_turn(struct parts *t, int i, int turn)
{
	const struct plan *p = t->plan;

	atomic_store(&t->turn, turn);
	if (i < p->nstep)
		atomic_store(&t->left, all_parts(t, &p->step[i]));
	for (int v = t->threads; v-- > 0;)
		atomic_store(&t->member[v].next, (unsigned long)i << 32);
	if (i == p->nstep)
		atomic_store(&t->over, 1);
	next_turn(&t->steps);
}

/* Does a step that is one thread's, while all others wait. */
static void do_alone(struct parts *t, const struct step *s)
{
	const int turns = s->plain ? plain_turns(s->plain) : 1;

	atomic_store(&self->at_work, 1);
	for (int turn = 0; turn < turns; turn++) {
		atomic_store(&t->turn, turn);
		if (run_part(self, s, 0))
			atomic_store(&t->bad, s);
	}
	atomic_store(&self->at_work, 0);
}

/* Does those steps from i on that are one thread's, and begins the first that is the team's. */
static void begin_step(struct parts *t, int i)
{
	const struct plan *p = t->plan;

	for (; i < p->nstep; i++) {
		const struct step *s = &p->step[i];
		const int is_live = step_is_live(s);

		if (is_live && !is_alone(t, s))
			break;
		if (is_live)
			do_alone(t, s);
		if (t->ended)
			t->ended[i + 1] = is_live ? clock_now() : t->ended[i];
	}
	begin_turn(t, i, 0);
}

static void end_turn(struct parts *t, int i)
{
	const struct plain *c = t->plan->step[i].plain;
	const int turn = atomic_load(&t->turn) + 1;

	if (c && turn < plain_turns(c)) {
		begin_turn(t, i, turn);
		return;
	}
	if (t->ended)
		t->ended[i + 1] = clock_now();
	begin_step(t, i + 1);
}

/* ---- waiting ---- */

static void put(const struct member *m, pid_t tid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)m->cpu, &set);
	sched_setaffinity(tid, sizeof set, &set);
}

static double cpu_time(const struct member *m)
{
	struct timespec ts = {0};
	clockid_t clock;

	if (pthread_getcpuclockid(m->thread, &clock) || clock_gettime(clock, &ts))
		return 0;
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void spin(const struct turn *turn, unsigned before, double seconds)
{
	double end = clock_now() + seconds;

	do
		for (int i = 0; i < 32 && !has_come(turn, before); i++)
			__builtin_ia32_pause();
	while (!has_come(turn, before) && clock_now() < end);
}

/* Has another program the core on which v has begun a part? Takes LOOK_S. */
static int is_off_its_core(const struct member *v, const struct turn *turn, unsigned before)
{
	double used = cpu_time(v);

	spin(turn, before, LOOK_S);
	return !has_come(turn, before) && atomic_load(&v->at_work) &&
	       cpu_time(v) - used < 0.1 * LOOK_S;
}

/* Gives the caller's core to one that has begun a part and lost its core. */
static int give_core(const struct member *m, const struct turn *turn, unsigned before)
{
	struct parts *t = m->team;
	const int has_core = m->cpu != NOBODY && !atomic_load(&m->is_moved);

	for (int i = 0; i < t->threads && has_core; i++) {
		struct member *v = &t->member[i];

		if (v == m || atomic_load(&v->is_moved) || !atomic_load(&v->at_work) ||
		    !is_off_its_core(v, turn, before))
			continue;
		t->shared_until = clock_now() + SHARED_S;
		put(m, v->tid);
		atomic_store(&v->is_moved,
			     1); /* told last: it would be at home before it is moved */
		return 1;
	}
	return 0;
}

static void wait_for(const struct member *m, struct turn *turn, unsigned before)
{
	double start = clock_now(), most = start < m->team->shared_until ? SPIN_SHARED_S : SPIN_S;

	spin(turn, before, SPIN_SHARED_S);
	while (!has_come(turn, before) && !give_core(m, turn, before) && clock_now() - start < most)
		spin(turn, before, LOOK_S);
	while (!has_come(turn, before)) {
		atomic_fetch_add(&turn->asleep, 1);
		futex(&turn->count, FUTEX_WAIT, before);
		atomic_fetch_sub(&turn->asleep, 1);
	}
}

/* Where the threads of a kernel meet. */
static void meet(void)
{
	struct parts *t = self->team;
	unsigned before = atomic_load(&t->meets.count);

	if (atomic_fetch_add(&t->met, 1) + 1 == t->threads) {
		atomic_store(&t->met, 0);
		next_turn(&t->meets);
		return;
	}
	atomic_store(&self->at_work, 0);
	wait_for(self, &t->meets, before);
	atomic_store(&self->at_work, 1);
}

/* ---- working ---- */

/* Takes a part of v's share. The step, and *part of it; -1: there is none that m may take. */
static int take(const struct member *m, struct member *v, int *part)
{
	const struct parts *t = m->team;
	unsigned long next = atomic_load(&v->next);
	const struct step *s;
	int n;

	do {
		if (next >> 32 >= (unsigned long)t->plan->nstep)
			return -1;
		s = &t->plan->step[next >> 32];
		n = share(t, s, v->number);
		if ((int)(next & UINT32_MAX) >= n || (v != m && is_together(s)))
			return -1;
	} while (!atomic_compare_exchange_weak(&v->next, &next, next + 1));
	*part = v->number * n + (int)(next & UINT32_MAX);
	return (int)(next >> 32);
}

static int take_any(const struct member *m, int *part)
{
	struct parts *t = m->team;
	int step = -1;

	for (int i = 0; step < 0 && i < t->threads; i++)
		step = take(m, &t->member[(m->number + i) % t->threads], part);
	return step;
}

static void go_home(struct member *m)
{
	if (atomic_exchange(&m->is_moved, 0))
		put(m, m->tid);
}

/* Does what there is to do. No part of a step is left behind, so the next step cannot begin before
 * those that are done are told. */
static void work(struct member *m)
{
	struct parts *t = m->team;
	int step, part, last = -1, done = 0;

	go_home(m);
	atomic_store(&m->at_work, 1);
	while ((step = take_any(m, &part)) >= 0) {
		const struct step *s = &t->plan->step[step];

		if (run_part(m, s, part))
			atomic_store(&t->bad, s);
		last = step;
		done++;
	}
	atomic_store(&m->at_work, 0);
	if (done && atomic_fetch_sub(&t->left, done) == done)
		end_turn(t, last);
}

static void settle(struct member *m)
{
	m->tid = (pid_t)syscall(SYS_gettid);
	if (m->cpu != NOBODY)
		put(m, m->tid);
	atomic_fetch_add(&m->team->met, 1);
}

static void *run_member(void *member)
{
	struct member *m = member;
	struct parts *t = m->team;

	self = m;
	settle(m);
	for (;;) {
		unsigned before = atomic_load(&t->steps.count);

		/* Not before that: the last turn may come in between, and no other one follows. */
		if (atomic_load(&t->quit))
			break;
		work(m);
		wait_for(m, &t->steps, before);
	}
	atomic_fetch_add(&t->gone, 1);
	while (atomic_load(&t->gone) < t->started - 1) /* one may look at this thread still */
		sched_yield();
	return NULL;
}

const struct step *parts_run(struct parts *t, double *ended)
{
	struct member *m = &t->member[0];

	self = m;
	t->ended = ended;
	if (ended)
		ended[0] = clock_now();
	atomic_store(&t->bad, NULL);
	atomic_store(&t->over, 0);
	begin_step(t, 0);
	while (!atomic_load(&t->over)) {
		unsigned before = atomic_load(&t->steps.count);

		work(m);
		if (!atomic_load(&t->over))
			wait_for(m, &t->steps, before);
	}
	go_home(m);
	return atomic_load(&t->bad);
}

void parts_rest(struct parts *t)
{
	for (int v = 0; v < t->threads; v++)
		while (atomic_load(&t->member[v].at_work))
			sched_yield();
}

/* ---- the team ---- */

/* If there are more CPUs than threads, other programs may choose the same ones. */
static void choose_cores(struct parts *t, const cpu_set_t *cpus)
{
	const int fits = CPU_COUNT(cpus) == t->threads;
	int v = 0;

	for (int i = 0; i < t->threads; i++)
		t->member[i].cpu = NOBODY;
	for (int cpu = 0; cpu < CPU_SETSIZE && fits; cpu++)
		if (CPU_ISSET((size_t)cpu, cpus))
			t->member[v++].cpu = cpu;
	if (CPU_COUNT(cpus) >
	    t->threads) /* the caller may be bound to one, and others inherit that */
		sched_setaffinity(0, sizeof *cpus, cpus);
}

struct parts *parts_start(const struct plan *p, const cpu_set_t *cpus, struct err *e)
{
	size_t bytes = sizeof(struct parts) + (size_t)p->threads * sizeof(struct member);
	struct parts *t = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);

	if (!t) {
		err_sys(e, "there is no memory for threads");
		return NULL;
	}
	memset(t, 0, bytes);
	t->plan = p;
	t->threads = p->threads;
	t->knows_callers = !sched_getaffinity(0, sizeof t->callers, &t->callers);
	choose_cores(t, cpus);
	for (int v = 0; v < t->threads; v++) {
		struct member *m = &t->member[v];

		m->team = t;
		m->number = v;
		m->next = (unsigned long)p->nstep << 32;
	}
	t->member[0].thread = pthread_self();
	settle(&t->member[0]);
	for (t->started = 1; t->started < t->threads; t->started++) {
		struct member *m = &t->member[t->started];

		errno = pthread_create(&m->thread, NULL, run_member, m);
		if (errno) {
			err_sys(e, "thread %d does not start", t->started);
			parts_end(t);
			return NULL;
		}
	}
	while (atomic_load(&t->met) < t->threads)
		sched_yield();
	atomic_store(&t->met, 0);
	return t;
}

void parts_end(struct parts *t)
{
	if (!t)
		return;
	atomic_store(&t->quit, 1);
	next_turn(&t->steps);
	for (int v = 1; v < t->started; v++)
		pthread_join(t->member[v].thread, NULL);
	if (t->knows_callers)
		sched_setaffinity(0, sizeof t->callers, &t->callers);
	free(t);
}
