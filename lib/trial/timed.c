#include "lib/trial/timed.h"

#include <errno.h>
#include <math.h>

#include "lib/io/clock.h"

enum { CACHE_LINE = 64 };
static const double ROW_S = 100e-6, ROW_MAX_S = 5e-3;

#ifdef __x86_64__
/* Lines are flushed at once, where clflush would wait for each. */
__attribute__((target("clflushopt"))) static void flush_at_once(const char *line, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_ia32_clflushopt(line + i);
}

static void flush_in_order(const char *line, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += CACHE_LINE)
		__builtin_ia32_clflush(line + i);
}

static void flush(const void *p, size_t bytes)
{
	if (__builtin_cpu_supports("clflushopt"))
		flush_at_once(p, bytes);
	else
		flush_in_order(p, bytes);
	__builtin_ia32_mfence();
}
#else
static void flush(const void *p, size_t bytes)
{
	(void)p, (void)bytes;
}
#endif

static void flush_operand(const struct timed *x, int i)
{
	size_t bytes = x->in->bytes[i];
	const void *p = x->in->buffers[i];

	if (x->t->runner->at)
		p = x->t->runner->at(&x->kernel, i, p, &bytes);
	flush(p, bytes);
}

static int flush_operands(const struct timed *x, struct err *e)
{
	const void *p;
	size_t bytes;

	const int all = x->t->caches == CACHES_COLD;

	if (x->t->runner->flush)
		return x->t->runner->flush(e);
	if (x->baseline)
		for (int i = 0; baseline_memory(x->baseline, x->variant, i, &p, &bytes); i++) {
			if (all || baseline_is_weights(x->baseline, x->variant, i))
				flush(p, bytes);
		}
	else
		for (int i = 0; i < x->in->nslots; i++)
			if (all || x->in->is_weights[i])
				flush_operand(x, i);
	return 0;
}

int timed_load(struct timed *x, struct err *e)
{
	return x->t->runner->load(&x->kernel, x->in->object, e);
}

void timed_unload(struct timed *x)
{
	const struct runner *r = x->t->runner;

	if (r->is_device && x->kernel.handle)
		r->unload(&x->kernel);
}

int timed_put(struct timed *x, struct err *e)
{
	const struct runner *r = x->t->runner;

	return r->put ? r->put(&x->kernel, x->in->buffers, x->in->bytes, x->in->elem, x->in->nslots,
			       e)
		      : 0;
}

int timed_use(const struct timed *x, struct device_use *u)
{
	const struct runner *r = x->t->runner;

	return r->use ? r->use(&x->kernel, x->in->params, u) : -1;
}

enum status timed_failure(enum status otherwise)
{
	switch (errno) {
	case ERANGE:
		return STATUS_WRONG;
	case EFAULT:
		return STATUS_CRASH;
	case ETIMEDOUT:
		return STATUS_TIMEOUT;
	case ENOMEM:
		return STATUS_OOM;
	case ENOTSUP:
		return STATUS_UNSUPPORTED;
	default:
		return otherwise;
	}
}

static int run_kernel(struct timed *x, struct err *e)
{
	const struct entrant *in = x->in;
	const struct runner *r = x->t->runner;

	return in->is_cut ? r->run_parts(&x->kernel, in->params, in->buffers, &in->parts,
					 in->threads, e)
			  : r->run(&x->kernel, in->params, in->buffers, in->threads, e);
}

int timed_call(struct timed *x, double *seconds, struct err *e)
{
	double start;
	int rc = 0;

	if (x->t->caches != CACHES_WARM && flush_operands(x, e) < 0)
		return -1;
	start = clock_now();
	if (x->baseline)
		rc = baseline_run(x->baseline, x->variant, e);
	else
		rc = run_kernel(x, e);
	*seconds = clock_now() - start;
	if (rc == 0 && x->baseline)
		baseline_seconds(x->baseline, seconds);
	else if (rc == 0 && x->t->runner->seconds)
		*seconds = x->t->runner->seconds(&x->kernel);
	return rc;
}

int timed_row(struct timed *x, double *seconds, struct err *e)
{
	const struct runner *r = x->t->runner;

	if (!x->row)
		return timed_call(x, seconds, e);
	if (x->baseline) {
		if (baseline_row(x->baseline, x->variant, x->row, e) < 0)
			return -1;
		baseline_seconds(x->baseline, seconds);
		return 0;
	}
	if (r->row(&x->kernel, x->in->params, x->row, e) < 0)
		return -1;
	*seconds = r->seconds(&x->kernel);
	return 0;
}

static int has_rows(const struct timed *x)
{
	return x->t->caches == CACHES_WARM && x->t->runner->row &&
	       (!x->baseline || baseline_has_rows(x->baseline));
}

static int calls_of(double shortest, double longest)
{
	return (int)fmin(ceil(fmin(ROW_S / shortest, ROW_MAX_S / longest)), OUTCOME_ROW);
}

static int capture(struct timed *x, int calls)
{
	const struct runner *r = x->t->runner;

	if (x->baseline)
		return baseline_capture(x->baseline, x->variant, calls);
	return r->capture && r->capture(&x->kernel, x->in->params, calls);
}

/* Rows of so many calls, all started alike. */
static void set_rows(struct timed *const *callee, int n, int calls)
{
	int all = 1;

	for (int i = 0; i < n; i++)
		all = capture(callee[i], calls) && all;
	for (int i = 0; i < n; i++) {
		if (!all)
			capture(callee[i], 0);
		callee[i]->row = calls;
		callee[i]->row_is_graph = all;
	}
}

void timed_set_row(struct timed *x, double seconds)
{
	const int calls = has_rows(x) ? calls_of(seconds, seconds) : 0;

	if (calls > 1)
		set_rows(&x, 1, calls);
}

int timed_choose_row(struct duellists *d, struct err *e)
{
	struct timed *const callee[] = {&d->x, &d->y, &d->own};
	const int n = d->alone ? 1 : d->own.baseline ? 3 : 2;
	double shortest = INFINITY, longest = 0, seconds;
	int row;

	for (int i = 0; i < n; i++) {
		if (!has_rows(callee[i])) {
			d->failed = NULL;
			return 0;
		}
		d->failed = callee[i];
		if (timed_call(callee[i], &seconds, e) < 0 ||
		    timed_call(callee[i], &seconds, e) < 0)
			return -1;
		shortest = fmin(shortest, seconds);
		longest = fmax(longest, seconds);
	}
	row = calls_of(shortest, longest);
	if (row > 1)
		set_rows(callee, n, row);
	for (int i = 0; i < n && row > 1; i++) {
		d->failed = callee[i];
		if (timed_row(callee[i], &seconds, e) < 0)
			return -1;
	}
	d->failed = NULL;
	return 0;
}

int timed_pair(void *duellists, int turn, double *x, double *y, struct err *e)
{
	struct duellists *d = duellists;
	struct timed *const callee[] = {&d->x, &d->y, &d->own};
	const int n = d->alone ? 1 : d->own.baseline ? 3 : 2;
	/* A race that looks again makes more than DUEL_MAX pairs; a final does not. */
	double *const seconds[] = {x, y, n == 3 ? &d->own_s[d->npairs] : NULL};

	for (int i = 0; i < n; i++) {
		int k = turn ? n - 1 - i : i;

		d->failed = callee[k];
		if (timed_call(callee[k], seconds[k], e) < 0 ||
		    timed_row(callee[k], seconds[k], e) < 0)
			return -1;
	}
	d->failed = NULL;
	d->npairs++;
	return 0;
}

struct baseline *timed_baseline(const struct trial *t, const struct baseline_choice *only, int n,
				struct err *e)
{
	const struct baseline_data data = {
		t->tensor[TENSOR_SRC].data,   t->tensor[TENSOR_WEIGHTS].data,
		t->tensor[TENSOR_BIAS].data,  t->tensor[TENSOR_ADD].data,
		t->tensor[TENSOR_MUL].data,   t->tensor[TENSOR_SCALE].data,
		t->tensor[TENSOR_SHIFT].data, t->tensor[TENSOR_PAD].data,
		t->tensor[TENSOR_ZEROS].data};

	if (!t->compared) {
		err_set(e, "there is no library for this target");
		return NULL;
	}
	/* It takes the pointers, and keeps no pointer to them. */
	/* cppcheck-suppress returnDanglingLifetime */
	return t->compared->open(t->w, &data, only, n, e);
}
