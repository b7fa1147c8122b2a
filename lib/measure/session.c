#include "lib/measure/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/map.h"
#include "lib/base/rng.h"
#include "lib/io/clock.h"
#include "lib/nest/operands.h"
#include "lib/ref/ref.h"
#include "lib/target/kernel.h"

enum {
	MAX_REPS = 256,
	FINAL_ROUNDS = 21, /* turns of baseline and candidate, at most */
	MIN_ROUNDS = 3,
	MAX_PACKED = 1 << 28, /* floats */
	FINAL_BATCH = 5,      /* calls a turn, the first one is not counted */
};

static const double PROBE_FACTOR = 1.5;	 /* beyond this times the limit two probes are enough */
static const double LOST_FACTOR = 1.02;	 /* the whole interval beyond this: lost */
static const double NOISE_TARGET = 0.01; /* width of the interval over the median */
static const double RACE_TIME_S = 0.1, BASELINE_TIME_S = 0.06, FINAL_TIME_S = 0.6;
static const double BASELINE_ERROR = 1e-3; /* what the library's fast algorithms may be off */

struct session {
	struct workload w;
	int threads;
	float *tensor[TENSOR_ROLES];
	int64_t size[TENSOR_ROLES];
	float *expected;
	struct map packed; /* role and packing text -> float array */
	int64_t packed_floats;
	float *work;
	size_t work_bytes;
	struct ref *ref;
	int variant, direct; /* the baseline's and the best direct one, -1: none */
};

static float *new_floats(int64_t n)
{
	size_t bytes = ((size_t)n * sizeof(float) + 4095) & ~(size_t)4095;
	float *p = aligned_alloc(4096, bytes ? bytes : 4096);

	if (!p)
		die_no_memory();
	return p;
}

static void poison(float *p, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		p[i] = NAN;
}

/* Runs the compiled naive nest for the true answer. */
static int run_naive(struct session *s, const char *naive, struct err *e)
{
	struct arena a = ARENA_INIT;
	float *buffers[NEST_BUFFERS] = {0};
	long params[NEST_PARAMS];
	struct kernel k;
	struct nest n;
	int rc;

	nest_init(&n, &a, "naive");
	rc = s->w.op->naive(&s->w, 1, &n, e);
	if (rc == 0 && (rc = kernel_load(&k, naive, e)) < 0)
		unlink(naive); /* damaged: it is built anew the next time */
	if (rc == 0) {
		for (int i = 0; i < n.nslots; i++)
			buffers[i] = s->tensor[operand_buffer(&n, i)->role];
		c_params(&n, params);
		kernel_run(&k, params, buffers, s->threads);
		kernel_unload(&k);
	}
	arena_free(&a);
	return rc;
}

struct session *session_open(const struct workload *w, const char *naive, int threads,
			     uint64_t seed, struct err *e)
{
	struct session *s = xcalloc(1, sizeof *s);
	struct tensor t[OP_MAX_TENSORS];
	int n = w->op->tensors(w, t);
	struct rng rng;

	s->w = *w;
	s->threads = threads;
	s->variant = s->direct = -1;
	rng_seed(&rng, seed, w->id.s);
	for (int i = 0; i < n; i++) {
		float *p = new_floats(t[i].size);

		for (int64_t j = 0; j < t[i].size; j++)
			p[j] = (float)(int32_t)(uint32_t)rng_u64(&rng) * 0x1p-31f;
		s->tensor[t[i].role] = p;
		s->size[t[i].role] = t[i].size;
	}
	s->expected = new_floats(s->size[TENSOR_DST]);
	poison(s->tensor[TENSOR_DST], s->size[TENSOR_DST]);
	if (run_naive(s, naive, e) < 0) {
		session_close(s);
		return NULL;
	}
	memcpy(s->expected, s->tensor[TENSOR_DST], (size_t)s->size[TENSOR_DST] * sizeof(float));
	return s;
}

/* Big weights in many packings would fill the memory: then the next candidate begins anew. */
static void forget_packings(struct session *s)
{
	for (size_t i = 0; i < s->packed.n; i++)
		free(s->packed.item[i].value);
	map_free(&s->packed);
	s->packed_floats = 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	ref_close(s->ref);
	for (int i = 0; i < TENSOR_ROLES; i++)
		free(s->tensor[i]);
	forget_packings(s);
	free(s->expected);
	free(s->work);
	free(s);
}

/* Relative L2 error, and largest error over largest value. */
static void errors(const struct session *s, const float *out, double *l2, double *max)
{
	double diff = 0, norm = 0, worst = 0, largest = 0;

	for (int64_t i = 0; i < s->size[TENSOR_DST]; i++) {
		double x = (double)s->expected[i], d = fabs((double)out[i] - x);

		if (!isfinite(out[i]))
			d = INFINITY;
		diff += d * d;
		norm += x * x;
		worst = d > worst ? d : worst;
		largest = fabs(x) > largest ? fabs(x) : largest;
	}
	*l2 = norm > 0 ? sqrt(diff / norm) : sqrt(diff);
	*max = largest > 0 ? worst / largest : worst;
}

/* ---- what is timed: a candidate or a variant of the baseline ---- */

struct timed {
	struct session *s;
	int variant; /* of the baseline; -1: the kernel below */
	struct kernel kernel;
	long params[NEST_PARAMS];
	float *buffers[NEST_BUFFERS];
};

static int call(struct timed *t, double *seconds, struct err *e)
{
	double start = clock_now();
	int rc = 0;

	if (t->variant >= 0)
		rc = ref_run(t->s->ref, t->variant, e);
	else
		kernel_run(&t->kernel, t->params, t->buffers, t->s->threads);
	*seconds = clock_now() - start;
	return rc;
}

/* Doubles the number of repeats until the interval is narrow, the time is spent, or (limit > 0) it
 * lies beyond the limit: then *lost is set. */
static int repeat(struct timed *t, double limit, double budget_s, struct stat_median *m, int *lost,
		  struct err *e)
{
	double x[MAX_REPS], sorted[MAX_REPS], spent = 0;
	int n = 0;

	*lost = 0;
	for (int target = 4; target <= MAX_REPS; target *= 2) {
		for (; n < target; n++) {
			if (call(t, &x[n], e) < 0)
				return -1;
			spent += x[n];
		}
		memcpy(sorted, x, (size_t)n * sizeof *x);
		*m = stat_median(sorted, n);
		if (limit > 0 && n >= 8 && m->lo > LOST_FACTOR * limit) {
			*lost = 1;
			return 0;
		}
		if (spent > budget_s || (n >= 16 && m->hi - m->lo < NOISE_TARGET * m->median))
			return 0;
	}
	return 0;
}

static int is_direct(const char *impl)
{
	return !strstr(impl, "winograd");
}

/* Verifies and times one variant; m->n stays 0 if its result is wrong. */
static int time_variant(struct session *s, int variant, struct stat_median *m, struct err *e)
{
	struct timed t = {.s = s, .variant = variant};
	double l2, max, once;
	int lost;

	*m = (struct stat_median){0};
	if (call(&t, &once, e) < 0 || ref_output(s->ref, variant, s->tensor[TENSOR_DST], e) < 0)
		return -1;
	errors(s, s->tensor[TENSOR_DST], &l2, &max);
	if (!(l2 < BASELINE_ERROR))
		return 0;
	if (call(&t, &once, e) < 0)
		return -1;
	return repeat(&t, 0, BASELINE_TIME_S, m, &lost, e);
}

static void keep_better(struct session *s, struct baseline_best *b, int *variant, int i,
			struct stat_median m)
{
	if (b->impl && b->time.median <= m.median)
		return;
	b->impl = ref_name(s->ref, i);
	b->layout = ref_layout(s->ref, i);
	b->time = m;
	*variant = i;
}

int session_baseline(struct session *s, struct baseline *b, struct err *e)
{
	struct ref_data data = {s->tensor[TENSOR_SRC], s->tensor[TENSOR_WEIGHTS],
				s->tensor[TENSOR_BIAS], s->tensor[TENSOR_ADD]};

	*b = (struct baseline){.why = "the library has no implementation"};
	s->variant = s->direct = -1;
	if (!s->ref)
		s->ref = ref_onednn_open(&s->w, &data, e);
	if (!s->ref)
		return -1;
	for (int i = 0; i < ref_variants(s->ref); i++) {
		struct stat_median m;

		if (time_variant(s, i, &m, e) < 0 || !m.n) {
			b->why = m.n ? "the library fails" : "the library's result is wrong";
			continue;
		}
		keep_better(s, &b->best, &s->variant, i, m);
		if (is_direct(ref_name(s->ref, i)))
			keep_better(s, &b->direct, &s->direct, i, m);
	}
	if (s->direct == s->variant) {
		b->direct.impl = NULL;
		s->direct = -1;
	}
	return 0;
}

static float *packed(struct session *s, const struct buffer *b)
{
	struct buf key = BUF_INIT;
	void **place;

	buf_fmt(&key, "%d ", b->role);
	packing_text(&b->packing, &key);
	place = map_put(&s->packed, key.s, key.n, NULL);
	buf_free(&key);
	if (!*place) {
		s->packed_floats += b->size;
		*place = new_floats(b->size);
		packing_run(&b->packing, s->tensor[b->role], *place);
	}
	return *place;
}

/* Operands of the kernel; all workspace is one stretch of memory that is used again by the next
 * candidate. */
static void bind(struct timed *t, const struct nest *n)
{
	struct session *s = t->s;
	size_t need = 0;
	float *work;

	if (s->packed_floats > MAX_PACKED)
		forget_packings(s);
	for (int i = 0; i < n->nslots; i++)
		if (operand_buffer(n, i)->kind == BUFFER_WORK)
			need += (size_t)operand_size(n, i, s->threads) * sizeof(float);
	if (need > s->work_bytes) {
		free(s->work);
		s->work = new_floats((int64_t)(need / sizeof(float)));
		s->work_bytes = need;
	}
	poison(s->work, (int64_t)(need / sizeof(float)));
	work = s->work;
	for (int i = 0; i < n->nslots; i++) {
		const struct buffer *b = operand_buffer(n, i);

		if (b->kind == BUFFER_PACKED) {
			t->buffers[i] = packed(s, b);
		} else if (b->kind == BUFFER_WORK) {
			t->buffers[i] = work;
			work += operand_size(n, i, s->threads);
		} else {
			t->buffers[i] = s->tensor[b->role];
		}
	}
	c_params(n, t->params);
}

static int prepare(struct session *s, const struct candidate *c, const char *object,
		   struct timed *t, struct outcome *o)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct nest n;
	int rc;

	memset(o, 0, sizeof *o);
	*t = (struct timed){.s = s, .variant = -1};
	nest_init(&n, &a, "kernel");
	rc = c->algo->build(&c->w, c->knob, &n, &e);
	o->status = "unsupported";
	if (rc == 0 && (rc = kernel_load(&t->kernel, object, &e)) < 0) {
		/* A damaged object is no fault of the candidate: it is built anew the next time. */
		o->status = "crash";
		unlink(object);
	}
	if (rc == 0)
		bind(t, &n);
	arena_free(&a);
	if (rc == 0)
		return 0;
	snprintf(o->why, sizeof o->why, "%.190s", e.msg);
	return -1;
}

/* The poisoned run whose output is compared. */
static int verify(struct timed *t, double max_error, struct outcome *o, struct err *e)
{
	float *out = t->s->tensor[TENSOR_DST];
	double start = clock_now(), once;

	poison(out, t->s->size[TENSOR_DST]);
	if (call(t, &once, e) < 0)
		return -1;
	errors(t->s, out, &o->error_l2, &o->error_max);
	o->verify_s += clock_now() - start;
	if (o->error_l2 <= max_error && o->error_max <= max_error)
		return 0;
	o->status = "wrong";
	snprintf(o->why, sizeof o->why,
		 "the error is %.3g (relative L2) and %.3g (largest), beyond %g", o->error_l2,
		 o->error_max, max_error);
	return -1;
}

static int race(struct timed *t, double limit, struct outcome *o, struct err *e)
{
	double start = clock_now(), first, second;
	int lost = 0;

	o->status = "ok";
	if (call(t, &first, e) < 0 || call(t, &second, e) < 0)
		return -1;
	if (limit > 0 && first > PROBE_FACTOR * limit && second > PROBE_FACTOR * limit) {
		o->time = (struct stat_median){fmin(first, second), fmin(first, second),
					       fmax(first, second), 2};
		lost = 1;
	} else if (repeat(t, limit, RACE_TIME_S, &o->time, &lost, e) < 0) {
		return -1;
	} else if (lost) {
		o->time.median = o->time.lo;
	}
	o->run_s = clock_now() - start;
	if (lost) {
		o->status = "preempted";
		snprintf(o->why, sizeof o->why,
			 "at least %.2f times the incumbent's time after %d calls",
			 o->time.lo / limit, o->time.n);
	}
	return 0;
}

int session_race(struct session *s, const struct candidate *c, const char *object, double limit_s,
		 double max_error, struct outcome *o, struct err *e)
{
	struct timed t;
	int rc = 0;

	if (prepare(s, c, object, &t, o) < 0)
		return 0;
	if (verify(&t, max_error, o, e) == 0)
		rc = race(&t, limit_s, o, e);
	kernel_unload(&t.kernel);
	return rc;
}

/* One turn: the first call brings the caches back, the others count; their median is the turn's
 * time. */
static int turn(struct timed *t, double *seconds, struct err *e)
{
	double x[FINAL_BATCH];

	for (int i = 0; i < FINAL_BATCH; i++)
		if (call(t, &x[i], e) < 0)
			return -1;
	*seconds = stat_median(x + 1, FINAL_BATCH - 1).median;
	return 0;
}

static int take_turns(struct timed *base, struct timed *direct, struct timed *t, struct outcome *o,
		      struct err *e)
{
	double b[FINAL_ROUNDS], d[FINAL_ROUNDS], c[FINAL_ROUNDS];
	double r[FINAL_ROUNDS], rd[FINAL_ROUNDS], start = clock_now();
	int n = 0;

	for (; n < FINAL_ROUNDS && (n < MIN_ROUNDS || clock_now() - start < FINAL_TIME_S); n++) {
		if (turn(base, &b[n], e) < 0 || turn(t, &c[n], e) < 0 ||
		    (direct && turn(direct, &d[n], e) < 0))
			return -1;
		r[n] = b[n] / c[n];
		if (direct)
			rd[n] = d[n] / c[n];
	}
	o->time = stat_median(c, n);
	o->baseline = stat_median(b, n);
	o->ratio = stat_median(r, n);
	o->has_baseline = 1;
	if (direct) {
		o->direct = stat_median(d, n);
		o->direct_ratio = stat_median(rd, n);
		o->has_direct = 1;
	}
	return 0;
}

int session_final(struct session *s, const struct candidate *c, const char *object,
		  double max_error, struct outcome *o, struct err *e)
{
	struct timed t, base = {.s = s, .variant = s->variant};
	struct timed direct = {.s = s, .variant = s->direct};
	double start, once;
	int rc = 0, lost;

	if (prepare(s, c, object, &t, o) < 0)
		return 0;
	if (verify(&t, max_error, o, e) == 0) {
		o->status = "ok";
		start = clock_now();
		if (s->variant >= 0)
			rc = take_turns(&base, s->direct >= 0 ? &direct : NULL, &t, o, e);
		else
			rc = repeat(&t, 0, FINAL_TIME_S / 2, &o->time, &lost, e);
		o->run_s = clock_now() - start;
		/* Once more: a race between threads may have shown only now. */
		poison(s->tensor[TENSOR_DST], s->size[TENSOR_DST]);
		if (rc == 0)
			rc = call(&t, &once, e);
		errors(s, s->tensor[TENSOR_DST], &o->error_l2, &o->error_max);
		if (rc == 0 && !(o->error_l2 <= max_error && o->error_max <= max_error)) {
			o->status = "wrong";
			snprintf(o->why, sizeof o->why,
				 "right at first, wrong later: the error is %.3g", o->error_l2);
		}
	}
	kernel_unload(&t.kernel);
	return rc;
}
