/* Teams of threads: OpenMP's (TLX_OPENMP), a pool of POSIX threads (TLX_PTHREADS), or the caller
 * alone. */
#include "tlx_kernels.h"

static void run_alone(const struct tlx_kernel *k, void *const *buffers)
{
	k->function(k->params, buffers, 0, 1, NULL);
}

#if defined TLX_OPENMP

#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>

/* A kernel is cut into a few parts for each thread, and who has done its own takes those that
 * others have not begun; but the threads of one with phases meet, so each runs its own part. */
enum { EACH = 4, MOST = 64, LINE = 64 };

struct share {
	_Alignas(LINE) atomic_long taken; /* parts of a thread's share */
};

static void barrier(void)
{
#pragma omp barrier
}

int tlx_team_start(int threads)
{
	(void)threads; /* OpenMP starts and keeps its threads by itself */
	return 0;
}

/* A part, with the workspace of the thread. */
static void run_part(const struct tlx_kernel *k, void *const *buffers, long thread, long part,
		     long parts)
{
	void *own[TLX_MAX_SLOTS];

	for (int i = 0; i < k->nslots; i++) {
		long apart = k->slot[i].kind == TLX_WORKSPACE
				     ? (thread - part) * (long)tlx_slot_bytes(&k->slot[i])
				     : 0;

		own[i] = (void *)((uintptr_t)buffers[i] + (uintptr_t)apart);
	}
	k->function(k->params, own, part, parts, barrier);
}

static void take_parts(const struct tlx_kernel *k, void *const *buffers, struct share *share)
{
	long thread = omp_get_thread_num(), threads = omp_get_num_threads(), part;

	for (long i = 0; i < threads; i++) {
		long v = (thread + i) % threads;

		while ((part = atomic_fetch_add(&share[v].taken, 1)) < EACH)
			run_part(k, buffers, thread, v * EACH + part, threads * EACH);
	}
}

static void run_whole(const struct tlx_kernel *k, void *const *buffers, int threads)
{
#pragma omp parallel num_threads(threads)
	k->function(k->params, buffers, omp_get_thread_num(), omp_get_num_threads(), barrier);
}

void tlx_team_run(const struct tlx_kernel *k, void *const *buffers, int threads)
{
	struct share share[MOST];

	if (threads == 1) {
		run_alone(k, buffers);
		return;
	}
	if (threads > MOST || k->phases > 1) {
		run_whole(k, buffers, threads);
		return;
	}
	for (int v = 0; v < threads; v++)
		atomic_init(&share[v].taken, 0);
#pragma omp parallel num_threads(threads)
	take_parts(k, buffers, share);
}

#elif defined TLX_PTHREADS

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

/* One team runs at a time. A caller that finds it busy computes alone, with the same result.
 * Threads wait for work by spinning a while, then asleep. After fork() the child computes alone.
 *
 * Other programs may have the cores, so the caller waits for no thread that has not begun: a kernel
 * is cut into a few parts for each thread, and who has done its own takes those of others. Only a
 * kernel with phases is cut into one part for each thread, and each runs its own. */
enum { SPINS = 20000, MOST = 1024, EACH = 4, LINE = 64 };
enum { THREADS_BITS = 16, TAKEN_BITS = 16, NUMBER_BITS = 64 - 1 - THREADS_BITS - TAKEN_BITS };

/* A thread's share: next is the job << TAKEN_BITS, and tells how many parts of it are taken. */
struct share {
	_Alignas(LINE) atomic_ulong next;
};
static struct share shares[MOST];

static struct {
	pthread_mutex_t busy, lock;
	pthread_cond_t wake;
	int started;	  /* threads beside the caller */
	atomic_ulong job; /* its number, whether its kernel has phases, and its threads */
	const struct tlx_kernel *kernel;
	void *const *buffers;
	atomic_long left;     /* parts that are not done */
	atomic_int arrived;   /* at the barrier */
	atomic_uint barriers; /* passed */
} team = {.busy = PTHREAD_MUTEX_INITIALIZER,
	  .lock = PTHREAD_MUTEX_INITIALIZER,
	  .wake = PTHREAD_COND_INITIALIZER};

static long threads_of(unsigned long job)
{
	return (long)(job & ((1ul << THREADS_BITS) - 1));
}

/* Has its kernel phases? */
static int is_together(unsigned long job)
{
	return (int)(job >> THREADS_BITS & 1);
}

/* Returns how many parts each thread has. */
static long share_of(unsigned long job)
{
	return is_together(job) ? 1 : EACH;
}

static void pause_a_little(int *spins)
{
	if (++*spins > SPINS)
		sched_yield();
	else
		__builtin_ia32_pause();
}

static void barrier(void)
{
	unsigned passed = atomic_load(&team.barriers);
	int spins = 0;

	if (atomic_fetch_add(&team.arrived, 1) + 1 == threads_of(atomic_load(&team.job))) {
		atomic_store(&team.arrived, 0);
		atomic_fetch_add(&team.barriers, 1);
		return;
	}
	while (atomic_load(&team.barriers) == passed)
		pause_a_little(&spins);
}

static unsigned long next_job(unsigned long done)
{
	unsigned long job;

	for (int spins = 0; spins < SPINS; spins++) {
		job = atomic_load(&team.job);
		if (job != done)
			return job;
		__builtin_ia32_pause();
	}
	pthread_mutex_lock(&team.lock);
	while ((job = atomic_load(&team.job)) == done)
		pthread_cond_wait(&team.wake, &team.lock);
	pthread_mutex_unlock(&team.lock);
	return job;
}

/* Runs a part of a job's kernel, with the workspace of the thread. */
static void run_part(unsigned long job, long thread, long part)
{
	const struct tlx_kernel *k = team.kernel;
	long parts = threads_of(job) * share_of(job);
	void *own[TLX_MAX_SLOTS];

	for (int i = 0; i < k->nslots; i++) {
		long apart = k->slot[i].kind == TLX_WORKSPACE
				     ? (thread - part) * (long)tlx_slot_bytes(&k->slot[i])
				     : 0;

		own[i] = (void *)((uintptr_t)team.buffers[i] + (uintptr_t)apart);
	}
	k->function(k->params, own, part, parts, barrier);
}

/* Takes a part of v's share: its number; -1: there is none that the thread may take. A job goes on
 * while it has parts, so its kernel may be looked at once one is taken. */
static long take(unsigned long job, long thread, long v)
{
	unsigned long next = atomic_load(&shares[v].next), taken;

	if (v != thread && is_together(job))
		return -1;
	do {
		taken = next & ((1ul << TAKEN_BITS) - 1);
		if (next >> TAKEN_BITS != job || (long)taken == share_of(job))
			return -1;
	} while (!atomic_compare_exchange_weak(&shares[v].next, &next, next + 1));
	return v * share_of(job) + (long)taken;
}

struct member {
	long number;
	unsigned long done; /* the job that was the last one when it was started */
};
static struct member members[MOST];

/* Does what there is to do of a job. */
static void take_part(unsigned long job, long thread)
{
	long threads = threads_of(job), part;

	for (long i = 0; thread < threads && i < threads; i++)
		while ((part = take(job, thread, (thread + i) % threads)) >= 0) {
			run_part(job, thread, part);
			atomic_fetch_sub(&team.left, 1);
		}
}

static void *work(void *arg)
{
	struct member *m = arg;

	for (;;) {
		m->done = next_job(m->done);
		take_part(m->done, m->number);
	}
	return NULL;
}

static void forget(void)
{
	team.started = 0;
	atomic_store(&team.arrived, 0);
	pthread_mutex_init(&team.busy, NULL);
	pthread_mutex_init(&team.lock, NULL);
	pthread_cond_init(&team.wake, NULL);
}

int tlx_team_start(int threads)
{
	static int told;
	int failed = 0;

	pthread_mutex_lock(&team.busy);
	if (!told)
		failed = pthread_atfork(NULL, NULL, forget);
	told = 1;
	while (!failed && team.started < threads - 1 && team.started + 1 < MOST) {
		struct member *m = &members[team.started + 1];
		pthread_t t;

		m->number = team.started + 1;
		m->done = atomic_load(&team.job);
		failed = pthread_create(&t, NULL, work, m);
		if (!failed)
			pthread_detach(t);
		team.started += !failed;
	}
	pthread_mutex_unlock(&team.busy);
	return failed ? -1 : 0;
}

static unsigned long begin_job(const struct tlx_kernel *k, void *const *buffers, int threads)
{
	unsigned long number = (atomic_load(&team.job) >> (THREADS_BITS + 1)) + 1, job;

	number &= (1ul << NUMBER_BITS) - 1;
	job = (number << 1 | (k->phases > 1)) << THREADS_BITS | (unsigned long)threads;
	team.kernel = k;
	team.buffers = buffers;
	atomic_store(&team.left, threads * share_of(job));
	for (int v = 0; v < threads; v++)
		atomic_store(&shares[v].next, job << TAKEN_BITS);
	pthread_mutex_lock(&team.lock);
	atomic_store(&team.job, job);
	pthread_cond_broadcast(&team.wake);
	pthread_mutex_unlock(&team.lock);
	return job;
}

void tlx_team_run(const struct tlx_kernel *k, void *const *buffers, int threads)
{
	int spins = 0;

	if (threads == 1 || pthread_mutex_trylock(&team.busy)) {
		run_alone(k, buffers);
		return;
	}
	if (threads > team.started + 1)
		threads = team.started + 1;
	take_part(begin_job(k, buffers, threads), 0);
	while (atomic_load(&team.left))
		pause_a_little(&spins);
	pthread_mutex_unlock(&team.busy);
}

#else

int tlx_team_start(int threads)
{
	(void)threads;
	return 0;
}

void tlx_team_run(const struct tlx_kernel *k, void *const *buffers, int threads)
{
	(void)threads;
	run_alone(k, buffers);
}

#endif
