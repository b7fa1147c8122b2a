/* Teams of threads: OpenMP's (TLX_OPENMP), a pool of POSIX threads (TLX_PTHREADS), or the caller
 * alone. */
#include "tlx_kernels.h"

#if defined TLX_OPENMP

#include <omp.h>

static void barrier(void)
{
#pragma omp barrier
}

int tlx_team_start(int threads)
{
	(void)threads; /* OpenMP starts and keeps its threads by itself */
	return 0;
}

void tlx_team_run(tlx_function *function, const long *params, void *const *buffers, int threads)
{
	if (threads == 1) {
		function(params, buffers, 0, 1, NULL);
		return;
	}
#pragma omp parallel num_threads(threads)
	function(params, buffers, omp_get_thread_num(), omp_get_num_threads(), barrier);
}

#elif defined TLX_PTHREADS

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* One team runs at a time. A caller that finds it busy computes alone, with the same result.
 * Threads wait for work by spinning a while, then asleep. After fork() the child computes alone. */
enum { SPINS = 20000, MOST = 1024 };

static struct {
	pthread_mutex_t busy, lock;
	pthread_cond_t wake;
	int started; /* threads beside the caller */
	atomic_ulong job;
	int threads;
	tlx_function *function;
	const long *params;
	void *const *buffers;
	atomic_int left;      /* threads that have not ended the job */
	atomic_int arrived;   /* at the barrier */
	atomic_uint barriers; /* passed */
} team = {.busy = PTHREAD_MUTEX_INITIALIZER,
	  .lock = PTHREAD_MUTEX_INITIALIZER,
	  .wake = PTHREAD_COND_INITIALIZER};

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

	if (atomic_fetch_add(&team.arrived, 1) + 1 == team.threads) {
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

struct member {
	long number;
	unsigned long done; /* the job that was the last one when it was started */
};
static struct member members[MOST];

static void *work(void *arg)
{
	struct member *m = arg;

	for (;;) {
		m->done = next_job(m->done);
		if (m->number < team.threads)
			team.function(team.params, team.buffers, m->number, team.threads, barrier);
		atomic_fetch_sub(&team.left, 1);
	}
	return NULL;
}

static void forget(void)
{
	team.started = 0;
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

void tlx_team_run(tlx_function *function, const long *params, void *const *buffers, int threads)
{
	int spins = 0;

	if (threads == 1 || pthread_mutex_trylock(&team.busy)) {
		function(params, buffers, 0, 1, NULL);
		return;
	}
	if (threads > team.started + 1)
		threads = team.started + 1;
	team.threads = threads;
	team.function = function;
	team.params = params;
	team.buffers = buffers;
	atomic_store(&team.left, team.started);
	pthread_mutex_lock(&team.lock);
	atomic_fetch_add(&team.job, 1);
	pthread_cond_broadcast(&team.wake);
	pthread_mutex_unlock(&team.lock);
	function(params, buffers, 0, threads, barrier);
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

void tlx_team_run(tlx_function *function, const long *params, void *const *buffers, int threads)
{
	(void)threads;
	function(params, buffers, 0, 1, NULL);
}

#endif
