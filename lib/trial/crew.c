#include "lib/trial/crew.h"

#include <pthread.h>

enum {
	MOST = 64,	 /* threads */
	LEAST = 1 << 17, /* floats for which a second thread is worth its start */
};

struct member {
	const struct runner *runner;
	int number;
	crew_work *work;
	void *arg;
	int64_t first, end;
	pthread_t thread;
	int started;
};

static void *run(void *member)
{
	const struct member *m = member;

	if (m->runner && m->runner->place)
		m->runner->place(m->number);
	m->work(m->arg, m->first, m->end);
	return NULL;
}

int crew_size(int threads, int64_t floats)
{
	return floats < LEAST ? 1 : threads;
}

void crew_run(const struct runner *runner, int threads, int64_t n, crew_work *work, void *arg)
{
	struct member crew[MOST];
	int size = threads < MOST ? threads : MOST;

	if (size > n)
		size = n > 1 ? (int)n : 1;
	for (int i = 0; i < size; i++)
		crew[i] = (struct member){.runner = runner,
					  .number = i,
					  .work = work,
					  .arg = arg,
					  .first = n * i / size,
					  .end = n * (i + 1) / size};
	for (int i = 1; i < size; i++)
		crew[i].started = pthread_create(&crew[i].thread, NULL, run, &crew[i]) == 0;
	work(arg, crew[0].first, crew[0].end);
	for (int i = 1; i < size; i++) {
		if (crew[i].started)
			pthread_join(crew[i].thread, NULL);
		else
			work(arg, crew[i].first, crew[i].end);
	}
}
