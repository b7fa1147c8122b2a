#include "lib/trial/verify.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"

static void poison(const struct fence *f)
{
	compare_poison(f->data, f->n);
}

/* What the output holds before a call: a tensor that is added lies there (op.h), else poison. */
static void prepare_output(const struct trial *t)
{
	const struct fence *out = &t->tensor[TENSOR_DST], *add = &t->tensor[TENSOR_ADD];

	if (add->map)
		memcpy(out->data, add->data, fence_bytes(out));
	else
		poison(out);
}

struct comparison verify_output(const struct trial *t)
{
	const struct fence *out = &t->tensor[TENSOR_DST];

	return compare(out->data, t->expected, out->n);
}

int verify_allows(const struct trial *t, const struct comparison *c)
{
	return c->l2 <= t->max_error && c->max <= t->max_error;
}

void verify_freshen(const struct trial *t)
{
	for (int i = 0; i < TENSOR_ROLES; i++) {
		const struct fence *f = &t->tensor[i];

		if (!t->fresh[i].map)
			continue;
		if (!t->runner->is_device) {
			fence_replace(f, &t->fresh[i]);
			continue;
		}
		fence_thaw(f);
		memcpy(f->data, t->fresh[i].data, fence_bytes(f));
		fence_freeze(f);
	}
}

static const char *scribbled(const struct timed *x)
{
	for (int i = 0; i < TENSOR_ROLES; i++)
		if (x->t->tensor[i].map && fence_broken(&x->t->tensor[i]))
			return x->t->tensor[i].name;
	for (int i = 0; i < x->in->nslots; i++)
		if (x->in->work[i].map && fence_broken(&x->in->work[i]))
			return x->in->work[i].name;
	return NULL;
}

/* 0, or -1 with status and reason. */
static int judge(const struct timed *x, const float *expected, struct outcome *o)
{
	const struct trial *t = x->t;
	const int64_t size = t->tensor[TENSOR_DST].n;
	struct comparison c = compare(t->tensor[TENSOR_DST].data, expected, size);
	const char *where = scribbled(x);

	o->error_l2 = c.l2;
	o->error_max = c.max;
	o->status = STATUS_WRONG;
	if (where)
		snprintf(o->why, sizeof o->why, "it wrote behind the end of %s", where);
	else if (c.unwritten)
		snprintf(o->why, sizeof o->why, "%lld of %lld outputs were not written",
			 (long long)c.unwritten, (long long)size);
	else if (c.strange)
		snprintf(o->why, sizeof o->why, "%lld of %lld outputs are NaN or infinite",
			 (long long)c.strange, (long long)size);
	else if (!verify_allows(t, &c))
		snprintf(o->why, sizeof o->why,
			 "the error is %.3g (relative L2) and %.3g (largest), beyond %g", c.l2,
			 c.max, t->max_error);
	else
		o->status = STATUS_OK;
	return o->status == STATUS_OK ? 0 : -1;
}

void verify_ready(const struct trial *t)
{
	fence_populate(&t->tensor[TENSOR_DST]);
	fence_arm(&t->tensor[TENSOR_DST]);
	for (const struct entrant *in = t->entrant; in < t->entrant + t->nentrants; in++)
		for (int i = 0; i < in->nslots; i++)
			if (in->work[i].map) {
				fence_populate(&in->work[i]);
				poison(&in->work[i]);
				fence_arm(&in->work[i]);
			}
}

/* What the kernel wrote comes back from the device. */
static int take_output(struct timed *x, struct err *e)
{
	const struct fence *dst = &x->t->tensor[TENSOR_DST];

	for (int i = 0; x->t->runner->take && i < x->in->nslots; i++)
		if (x->in->buffers[i] == dst->data || x->in->work[i].map)
			if (x->t->runner->take(&x->kernel, i, x->in->buffers[i], x->in->bytes[i],
					       e) < 0)
				return -1;
	return 0;
}

/* The call whose output is compared, of the operands as they are now. -1: the device does not go
 * through with it. */
static int call(struct timed *x, struct outcome *o)
{
	struct err e = ERR_INIT;
	double once;

	errno = 0;
	if (timed_put(x, &e) == 0 && timed_call(x, &once, &e) == 0 && take_output(x, &e) == 0)
		return 0;
	o->status = timed_failure(STATUS_CRASH);
	o->error_l2 = o->error_max = NAN;
	snprintf(o->why, sizeof o->why, "%.190s", e.msg);
	return -1;
}

int verify(struct timed *x, struct outcome *o)
{
	struct err e = ERR_INIT;
	double start = clock_now();
	int rc;

	memset(o, 0, sizeof *o);
	if (timed_load(x, &e) < 0) {
		o->status = STATUS_UNLOADABLE;
		snprintf(o->why, sizeof o->why, "%.190s", e.msg);
		return -1;
	}
	o->has_use = timed_use(x, &o->use) == 0;
	prepare_output(x->t);
	rc = call(x, o) < 0 ? -1 : judge(x, x->t->expected, o);
	o->verify_s = clock_now() - start;
	return rc;
}

void verify_again(struct timed *x, struct outcome *o)
{
	const struct trial *t = x->t;
	double start = clock_now();
	char why[TRIAL_WHY];

	verify_freshen(t);
	prepare_output(t);
	if (call(x, o) < 0 || judge(x, t->expected + t->tensor[TENSOR_DST].n, o) < 0) {
		snprintf(why, sizeof why, "%s", o->why);
		snprintf(o->why, sizeof o->why, "right at first, %s later, on other data: %.150s",
			 o->status == STATUS_WRONG ? "wrong" : "failed", why);
	}
	o->verify_s += clock_now() - start;
}
