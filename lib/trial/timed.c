#include "lib/trial/timed.h"

#include "lib/io/clock.h"

enum { CACHE_LINE = 64 };

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

	const int all = x->t->caches == CACHES_COLD;

	if (x->ref)
		for (int i = 0; ref_memory(x->ref, x->variant, i, &p, &bytes); i++) {
			if (all || ref_is_weights(x->ref, x->variant, i))
				flush(p, bytes);
		}
	else
		for (int i = 0; i < x->in->nslots; i++)
			if (all || x->in->is_weights[i])
				flush(x->in->buffers[i], x->in->bytes[i]);
}

int timed_load(struct timed *x, struct err *e)
{
	return x->t->runner->load(&x->kernel, x->in->object, e);
}

int timed_put(struct timed *x, struct err *e)
{
	const struct runner *r = x->t->runner;

	return r->put ? r->put(&x->kernel, x->in->buffers, x->in->bytes, x->in->elem, x->in->nslots, e)
		      : 0;
}

int timed_call(struct timed *x, double *seconds, struct err *e)
{
	double start;
	int rc = 0;

	if (x->t->caches != CACHES_WARM)
		flush_operands(x);
	start = clock_now();
	if (x->ref)
		rc = ref_run(x->ref, x->variant, e);
	else
		rc = x->t->runner->run(&x->kernel, x->in->params, x->in->buffers, x->in->threads,
				       e);
	*seconds = clock_now() - start;
	if (rc == 0 && x->ref)
		ref_seconds(x->ref, seconds);
	else if (rc == 0 && x->t->runner->seconds)
		*seconds = x->t->runner->seconds(&x->kernel);
	return rc;
}

int timed_pair(void *duellists, int turn, double *x, double *y, struct err *e)
{
	struct duellists *d = duellists;
	struct timed *const callee[] = {&d->x, &d->y, &d->own};
	double *const seconds[] = {x, y, &d->own_s[d->npairs]};
	const int n = d->alone ? 1 : d->own.ref ? 3 : 2;

	for (int i = 0; i < n; i++) {
		int k = turn ? n - 1 - i : i;

		if (timed_call(callee[k], seconds[k], e) < 0 ||
		    timed_call(callee[k], seconds[k], e) < 0)
			return -1;
	}
	d->npairs++;
	return 0;
}

struct ref *timed_library(const struct trial *t, const struct ref_choice *only, int n,
			  struct err *e)
{
	const struct ref_data data = {t->tensor[TENSOR_SRC].data, t->tensor[TENSOR_WEIGHTS].data,
				      t->tensor[TENSOR_BIAS].data, t->tensor[TENSOR_ADD].data,
				      t->tensor[TENSOR_MUL].data};

	if (!t->vendor) {
		err_set(e, "there is no library for this target");
		return NULL;
	}
	/* It takes the pointers, and keeps no pointer to them. */
	/* cppcheck-suppress returnDanglingLifetime */
	return t->vendor->open(t->w, &data, only, n, e);
}
