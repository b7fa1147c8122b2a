#include "lib/trial/timed.h"

#include <time.h>

#include "lib/io/clock.h"
#include "lib/target/probe.h"

enum { CACHE_LINE = 64, FIRST_BEATS = 40 /* to find the best of */ };

static const double PAUSE_S = 5e-4;

/* ---- a call ---- */

static void flush(const void *p, size_t bytes)
{
#ifdef __x86_64__
	const char *line = p;

	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_ia32_clflush(line + i);
	__builtin_ia32_mfence();
#else
	(void)p, (void)bytes;
#endif
}

static void flush_operands(const struct timed *x)
{
	const void *p;
	size_t bytes;

	if (x->ref)
		for (int i = 0; ref_memory(x->ref, x->variant, i, &p, &bytes); i++)
			flush(p, bytes);
	else
		for (int i = 0; i < x->in->nslots; i++)
			flush(x->in->buffers[i], x->in->bytes[i]);
}

int timed_call(void *timed, double *seconds, struct err *e)
{
	struct timed *x = timed;
	double start;
	int rc = 0;

	if (x->t->cold)
		flush_operands(x);
	start = clock_now();
	if (x->ref)
		rc = ref_run(x->ref, x->variant, e);
	else
		kernel_run(&x->kernel, x->in->params, x->in->buffers, x->t->threads);
	*seconds = clock_now() - start;
	return rc;
}

/* ---- a machine that others disturb ---- */

/* The first of two beats wakes the team. */
static double beat(int threads)
{
	double first = probe_beat(threads), second = probe_beat(threads);

	return first < second ? first : second;
}

static void pause_a_little(void)
{
	const struct timespec pause = {.tv_nsec = (long)(PAUSE_S * 1e9)};

	nanosleep(&pause, NULL);
}

int timed_look(const struct trial *t, struct quiet *q)
{
	for (int i = q->best_s > 0 ? FIRST_BEATS : 1; i < FIRST_BEATS; i++) {
		quiet_take(q, beat(t->threads));
		pause_a_little();
	}
	return quiet_take(q, beat(t->threads));
}

int timed_wait(const struct trial *t, struct quiet *q, double usual_s)
{
	double wait_s = t->patience_s > 0 ? t->patience_s : quiet_hope(q) ? usual_s : 0;
	double end = clock_now() + wait_s;
	int quiet;

	while (!(quiet = timed_look(t, q)) && clock_now() < end)
		pause_a_little();
	if (!quiet)
		quiet_believe(q);
	return quiet;
}

/* ---- the library ---- */

struct ref *timed_library(const struct trial *t, struct err *e)
{
	const struct ref_data data = {t->tensor[TENSOR_SRC].data, t->tensor[TENSOR_WEIGHTS].data,
				      t->tensor[TENSOR_BIAS].data, t->tensor[TENSOR_ADD].data};

	return ref_onednn_open(t->w, &data, t->opponent, t->nopponents, e);
}
