#include "lib/trial/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/memory.h"
#include "lib/nest/operands.h"
#include "lib/trial/kept.h"
#include "lib/trial/packings.h"
#include "lib/trial/stay.h"
#include "lib/trial/tensors.h"

static const double TICK_S = 0.05; /* between looks at a GPU */

struct session {
	struct workload w;
	struct session_rules rules;
	struct watch watch;
	char *naive;			   /* the object */
	struct fence tensor[TENSOR_ROLES]; /* dst is touched in cells only */
	struct fence fresh[TENSOR_ROLES];  /* other data for input, residual and factor */
	struct packings packings;
	struct fence expected;	    /* both true answers, one behind the other */
	struct stay stay;	    /* the cell of races on a device */
	float *first[TENSOR_ROLES]; /* in that cell: the data that a trial has made others of */
};

/* ---- trials ---- */

static const struct fence *operand(struct session *s, const struct nest *n, int slot,
				   struct fence *work)
{
	const struct buffer *b = operand_buffer(n, slot);

	if (b->kind == BUFFER_PACKED)
		return packings_of(&s->packings, b, &s->tensor[b->role]);
	if (b->kind != BUFFER_WORK && b->kind != BUFFER_TEAM)
		return &s->tensor[b->role];
	fence_open(work, b->kind == BUFFER_WORK ? "the workspace" : "the team's memory",
		   operand_size(n, slot, s->rules.threads), sizeof(float));
	return work;
}

/* A trial without entrants. */
static void begin(struct session *s, struct trial *t)
{
	*t = (struct trial){.w = &s->w,
			    .runner = s->rules.runner,
			    .compared = s->rules.compared,
			    .threads = s->rules.threads,
			    .caches = s->rules.caches,
			    .max_error = dtype_error(s->w.dtype.dst, s->rules.max_error),
			    .tensor = s->tensor,
			    .fresh = s->fresh,
			    .expected = s->expected.data};
	/* Not later: entrants of this trial may need the same packings. */
	packings_bound(&s->packings);
}

static int is_weights(const struct session *s, const struct buffer *b)
{
	return b->kind == BUFFER_PACKED || (b->kind == BUFFER_ARG && s->w.rhs_const &&
					    (b->role == TENSOR_WEIGHTS || b->role == TENSOR_BIAS));
}

static void enter(struct session *s, const struct nest *n, const char *object, struct trial *t)
{
	struct entrant *in = &t->entrant[t->nentrants++];

	in->object = object;
	in->nslots = in->parts.nslots = n->nslots;
	for (int i = 0; i < n->nslots; i++) {
		const struct fence *f = operand(s, n, i, &in->work[i]);

		in->buffers[i] = f->data;
		in->bytes[i] = fence_bytes(f);
		in->elem[i] = operand_buffer(n, i)->elem;
		in->is_weights[i] = is_weights(s, operand_buffer(n, i));
		in->parts.own[i] = operand_buffer(n, i)->kind == BUFFER_WORK
					   ? buffer_bytes(operand_buffer(n, i))
					   : 0;
	}
	t->runner->params(n, in->params);
	in->threads = nest_threads(n, s->rules.threads);
	in->is_cut = t->runner->run_parts && n->nphases == 1 && in->threads > 1;
}

static void leave(struct session *s, struct trial *t)
{
	packings_hide(&s->packings);
	for (int i = 0; i < t->nentrants; i++)
		for (int k = 0; k < NEST_BUFFERS; k++)
			fence_close(&t->entrant[i].work[k]);
	t->nentrants = 0;
}

static const char *beside(struct session *s, const struct trial *t, const struct cell_fault *fault,
			  int64_t *bytes)
{
	const struct fence *packed;

	for (int i = 0; i < TENSOR_ROLES; i++)
		if (fence_locate(&s->tensor[i], fault->address, bytes))
			return s->tensor[i].name;
	if (fence_locate(&s->expected, fault->address, bytes))
		return s->expected.name;
	for (int i = 0; i < t->nentrants; i++)
		for (int k = 0; k < NEST_BUFFERS; k++)
			if (fence_locate(&t->entrant[i].work[k], fault->address, bytes))
				return t->entrant[i].work[k].name;
	packed = packings_locate(&s->packings, fault->address, bytes);
	return packed ? packed->name : NULL;
}

/* "died of signal 11 (Segmentation fault): wrote 64 bytes behind the end of the output" */
static void describe(struct session *s, const struct trial *t, const struct cell_fault *fault,
		     struct report *r)
{
	size_t n = strlen(r->why);
	int64_t bytes = 0;
	const char *where;

	if (r->end != CELL_CRASH || !fault->address)
		return;
	where = beside(s, t, fault, &bytes);
	if (!where)
		snprintf(r->why + n, sizeof r->why - n, ": %s at address %p",
			 fault->write ? "wrote" : "read", fault->address);
	else if (!bytes)
		snprintf(r->why + n, sizeof r->why - n, ": wrote to %s", where);
	else
		snprintf(r->why + n, sizeof r->why - n, ": %s %lld bytes %s of %s",
			 fault->write ? "wrote" : "read", (long long)llabs(bytes),
			 bytes < 0 ? "before the beginning" : "behind the end", where);
}

static void tick(void *watch)
{
	watch_tick(watch);
}

static struct cell cell_of(struct session *s, const struct runner *runner, double timeout_s)
{
	struct cell cell = {.timeout_s = timeout_s,
			    .memory = s->rules.memory,
			    .hidden = (size_t)s->packings.hidden,
			    .threads = s->rules.threads,
			    .has_driver = runner->is_device,
			    .tick = runner->is_device ? tick : NULL,
			    .tick_arg = &s->watch,
			    .tick_s = TICK_S};

	/* Operands are no surprise to anyone. */
	if (cell.memory)
		for (int i = 0; i < TENSOR_ROLES; i++)
			cell.memory += 4 * fence_bytes(&s->tensor[i]);
	return cell;
}

static struct report run(struct session *s, struct trial *t, void (*what)(void *, void *),
			 double timeout_s, void *answer, size_t n)
{
	const struct cell cell = cell_of(s, t->runner, timeout_s);
	struct cell_fault fault;
	struct report r = {0};

	stay_end(&s->stay);
	watch_begin(&s->watch);
	r.end = cell_run(&cell, what, t, answer, n, &fault, r.why);
	watch_end(&s->watch, &r.watched);
	describe(s, t, &fault, &r);
	return r;
}

/* ---- the truth ---- */

/* Values of both true answers. */
static size_t true_values(const struct session *s)
{
	return 2 * (size_t)s->tensor[TENSOR_DST].n;
}

static struct report run_naive(struct session *s, double timeout_s, struct truth *out,
			       struct err *e)
{
	size_t bytes = sizeof *out + true_values(s) * sizeof *out->dst;
	struct report r = {.end = CELL_FAILED};
	struct arena a = ARENA_INIT;
	struct trial t;
	struct nest n;

	nest_init(&n, &a, "naive");
	begin(s, &t);
	t.runner = &runner_cpu;
	if (workload_define(&s->w, 1, &n, e) == 0) {
		enter(s, &n, s->naive, &t);
		r = run(s, &t, trial_truth, timeout_s, out, bytes);
		leave(s, &t);
	}
	if (r.end == CELL_DONE && !out->ran) {
		r.end = CELL_FAILED;
		r.unloadable = 1;
		snprintf(r.why, sizeof r.why, "%.190s", out->why);
	}
	if (r.end != CELL_DONE)
		err_set(e, "the reference does not run: %s", r.why);
	arena_free(&a);
	return r;
}

/* What the session itself takes, which no limit counts: the system would kill for it late, and
 * perhaps another. 1: the memory is there. */
static int fits(const struct tensor *t, int n, struct report *r)
{
	/* Inputs are there twice; of the output there are both true ones, and copies; of weights
	 * the turned ones and two packings. */
	static const double copies[TENSOR_ROLES] = {[TENSOR_SRC] = 3,
						    [TENSOR_WEIGHTS] = 4,
						    [TENSOR_ADD] = 3,
						    [TENSOR_MUL] = 3,
						    [TENSOR_DST] = 6};
	double bytes = 0, there = memory_available();

	for (int i = 0; i < n; i++)
		bytes += (double)t[i].size * sizeof(float) * fmax(1, copies[t[i].role]);
	if (there < 0 || bytes <= there)
		return 1;
	*r = (struct report){.end = CELL_OOM};
	snprintf(r->why, sizeof r->why, "its operands take %.1f GiB, of %.1f that are free",
		 bytes / 0x1p30, there / 0x1p30);
	return 0;
}

static struct truth *new_truth(const struct session *s)
{
	return xmalloc(sizeof(struct truth) + true_values(s) * sizeof(float));
}

/* From the file, or by the naive nest. */
static struct report find_truth(struct session *s, const char *kept, double timeout_s,
				struct err *e)
{
	struct report r = {.end = CELL_DONE};
	struct truth *out;

	fence_open(&s->expected, "the true answer", (int64_t)true_values(s), sizeof(float));
	if (!kept_load(kept, s->expected.data, true_values(s))) {
		out = new_truth(s);
		r = run_naive(s, timeout_s, out, e);
		if (r.end == CELL_DONE) {
			memcpy(s->expected.data, out->dst, true_values(s) * sizeof *out->dst);
			kept_save(kept, out->dst, true_values(s));
		}
		free(out);
	}
	fence_freeze(&s->expected);
	return r;
}

struct session *session_open(const struct workload *w, const char *naive, const char *kept,
			     const struct session_rules *rules, double timeout_s, struct report *r,
			     struct err *e)
{
	struct session *s;
	struct tensor t[OP_MAX_TENSORS];
	int n = w->op->tensors(w, t);

	if (!fits(t, n, r))
		return NULL;
	s = xcalloc(1, sizeof *s);
	s->w = *w;
	s->rules = *rules;
	s->packings.runner = rules->runner;
	s->packings.threads = rules->threads;
	s->packings.hides = !rules->runner->is_device; /* a cell on a device outlives a trial */
	s->naive = xstrdup(naive);
	watch_open(&s->watch, "", NULL, 0);
	if (rules->pci)
		watch_gpu(&s->watch, rules->pci);
	tensors_open(w, rules->seed, rules->runner, rules->threads, s->tensor, s->fresh);
	*r = find_truth(s, kept, timeout_s, e);
	if (r->end == CELL_DONE)
		return s;
	session_close(s);
	return NULL;
}

/* What a library that is right may be off, however little a candidate may. */
static const double BASELINE_ERROR = 1e-3;
static const double VARIANT_TIME_S = 0.03; /* of calls, in a duel of the library's variants */

struct report session_baseline(struct session *s, double timeout_s, struct baseline_found *b)
{
	struct report r;
	struct trial t;

	memset(b, 0, sizeof *b);
	begin(s, &t);
	t.rules = (struct duel_rules){DUEL_RACE, VARIANT_TIME_S, 0};
	r = run(s, &t, trial_baseline, timeout_s, b, sizeof *b);
	if (r.end != CELL_DONE) {
		b->failed = 1;
		snprintf(b->why, sizeof b->why, "%.190s", r.why);
	}
	return r;
}

/* A reference that is itself wrong would call every candidate wrong. */
static int baseline_agrees(struct session *s, double timeout_s, struct err *e)
{
	const double limit = s->rules.max_error;
	struct baseline_found b;

	s->rules.max_error = fmax(limit, BASELINE_ERROR);
	session_baseline(s, timeout_s, &b);
	s->rules.max_error = limit;
	if (!b.wrong || b.known)
		return 1;
	err_set(e, "the library finds another answer than the reference, as do candidates");
	return 0;
}

int session_canary(struct session *s, double timeout_s, struct err *e)
{
	struct truth *out = new_truth(s);
	size_t bytes = true_values(s) * sizeof *out->dst;
	struct report r = run_naive(s, timeout_s, out, e);
	int good = r.end == CELL_DONE;

	if (good && memcmp(out->dst, s->expected.data, bytes) != 0) {
		good = 0;
		err_set(e, "the reference gives another answer than before: the machine computes "
			   "wrongly");
	}
	free(out);
	if (r.unloadable)
		return -1;
	return good && baseline_agrees(s, timeout_s, e);
}

void session_close(struct session *s)
{
	if (!s)
		return;
	for (int i = 0; i < TENSOR_ROLES; i++) {
		fence_close(&s->tensor[i]);
		fence_close(&s->fresh[i]);
	}
	packings_forget(&s->packings);
	fence_close(&s->expected);
	stay_end(&s->stay);
	watch_close(&s->watch);
	free(s->naive);
	free(s);
}

/* ---- candidates ---- */

/* Its kernel becomes an entrant: 0, or -1 with the report filled. */
static int enter_candidate(struct session *s, const struct session_entry *in, struct trial *t,
			   struct report *r)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct nest n;
	int rc;

	nest_init(&n, &a, "kernel");
	rc = candidate_build(in->c, &n, &e);
	if (rc == 0) {
		enter(s, &n, in->object, t);
	} else {
		*r = (struct report){.end = CELL_FAILED};
		snprintf(r->why, sizeof r->why, "%.300s", e.msg);
	}
	arena_free(&a);
	return rc;
}

/* An answer that no trial could have made. */
static void judge(const struct outcome *o, struct report *r)
{
	if (r->end != CELL_DONE || outcome_is_sane(o))
		return;
	r->end = CELL_CRASH;
	snprintf(r->why, sizeof r->why, "it destroyed the answer of its own process");
}

static struct report run_trial(struct session *s, struct trial *t, void (*what)(void *, void *),
			       double timeout_s, struct outcome *o)
{
	struct report r;

	memset(o, 0, sizeof *o);
	r = run(s, t, what, timeout_s, o, sizeof *o);
	judge(o, &r);
	return r;
}

static struct report race_apart(struct session *s, const struct session_entry *in,
				const struct session_entry *incumbent,
				const struct session_ask *ask, struct outcome *o)
{
	struct report r;
	struct trial t;

	begin(s, &t);
	t.rules = ask->rules;
	if (enter_candidate(s, in, &t, &r) == 0 &&
	    (!incumbent->c || enter_candidate(s, incumbent, &t, &r) == 0))
		r = run_trial(s, &t, trial_race, ask->timeout_s, o);
	leave(s, &t);
	return r;
}

/* ---- races that share a cell ---- */

/* A request brings the cell all that it does not have yet. */
struct request {
	struct candidate c[2];
	int n; /* candidates: the challenger, and the incumbent if there is one */
	char object[2][4096];
	struct session_ask ask;
};

/* A trial ends with fresh data in the operands. The next one begins with the first data again. */
static void restore(struct session *s)
{
	for (int i = 0; i < TENSOR_ROLES; i++) {
		const struct fence *f = &s->tensor[i];

		if (!s->fresh[i].map)
			continue;
		if (!s->first[i]) {
			s->first[i] = xmalloc(fence_bytes(f));
			memcpy(s->first[i], f->data, fence_bytes(f));
			continue;
		}
		fence_thaw(f);
		memcpy(f->data, s->first[i], fence_bytes(f));
		fence_freeze(f);
	}
}

/* The cell runs this. */
static void serve_race(void *session, const void *request, void *answer)
{
	const struct request *q = request;
	struct session *s = session;
	struct outcome *o = answer;
	struct report r;
	struct trial t;
	int entered = 0;

	restore(s);
	begin(s, &t);
	t.rules = q->ask.rules;
	for (int i = 0; i < q->n && entered == 0; i++) {
		const struct session_entry in = {&q->c[i], q->object[i]};

		entered = enter_candidate(s, &in, &t, &r);
	}
	if (entered == 0) {
		trial_race(&t, o);
	} else {
		o->status = STATUS_FAILED;
		snprintf(o->why, sizeof o->why, "%.190s", r.why);
	}
	leave(s, &t);
}

static int add(struct request *q, const struct session_entry *in)
{
	q->c[q->n] = *in->c;
	return (size_t)snprintf(q->object[q->n++], sizeof q->object[0], "%s", in->object) <
			       sizeof q->object[0]
		       ? 0
		       : -1;
}

static struct report ask_cell(struct session *s, const struct request *q, struct outcome *o)
{
	const struct cell cell = cell_of(s, s->rules.runner, q->ask.timeout_s);
	const struct stay_serve how = {serve_race, s, sizeof *q, sizeof *o};
	struct report r = {0};

	watch_begin(&s->watch);
	r.end = stay_ask(&s->stay, &cell, &how, q, o, r.why);
	watch_end(&s->watch, &r.watched);
	judge(o, &r);
	if (r.end != CELL_DONE || (o->status != STATUS_OK && o->status != STATUS_PREEMPTED))
		stay_end(&s->stay);
	return r;
}

struct report session_race(struct session *s, const struct session_entry *in,
			   const struct session_entry *incumbent, const struct session_ask *ask,
			   struct outcome *o)
{
	struct request *q;
	struct report r;

	if (!s->rules.runner->is_device || ask->apart)
		return race_apart(s, in, incumbent, ask, o);
	q = xcalloc(1, sizeof *q);
	q->ask = *ask;
	if (add(q, in) < 0 || (incumbent->c && add(q, incumbent) < 0))
		r = race_apart(s, in, incumbent, ask, o);
	else
		r = ask_cell(s, q, o);
	free(q);
	return r;
}

struct report session_final(struct session *s, const struct session_entry *in,
			    const struct baselines *baselines, const struct session_ask *ask,
			    struct outcome *o)
{
	struct report r;
	struct trial t;

	begin(s, &t);
	t.rules = ask->rules;
	t.baselines = *baselines;
	if (enter_candidate(s, in, &t, &r) == 0)
		r = run_trial(s, &t, trial_final, ask->timeout_s, o);
	leave(s, &t);
	return r;
}
