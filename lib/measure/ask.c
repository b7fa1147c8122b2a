#include "lib/measure/ask.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/field.h"

/* What the worker gets beyond the time that it gives a trial. */
static const double GRACE_S = 15;
/* A trial that has begun may go on so long behind the time of the run; most end within it. */
static const double OVERTIME_S = 0.5;
/* The calls of a final take so long where there is no library. */
static const double ALONE_S = 0.3;

enum {
	FINAL_TIMES = 9, /* what a race may take, and as much for baselines, twice */
	DATA_REV = 3,	 /* of how data are made (lib/trial/tensors.c) */
};

static enum status death(enum ask_result r)
{
	return r == ASK_TIMEOUT ? STATUS_TIMEOUT : r == ASK_OOM ? STATUS_OOM : STATUS_CRASH;
}

/* How long a request may take. */
struct span {
	double timeout_s; /* the worker's own limit */
	double until;	  /* clock_now() when the time for it is over */
};

/* While the worker is asked all cores are its own. */
static int ask(struct measure *m, const struct group *g, const struct buf *q,
	       const struct span *span, enum cost purpose, struct err *e)
{
	const double most_s = span->timeout_s + GRACE_S,
		     left_s = span->until + OVERTIME_S - clock_now();
	enum cost before;
	enum ask_result r;

	if (left_s <= 0)
		return ASKED_LATE;
	before = ledger_switch(&m->ledger, purpose, clock_now());
	r = worker_ask(&m->worker, q->s, q->n, fmin(most_s, left_s));
	ledger_switch(&m->ledger, before, clock_now());
	if (r == ASK_OK)
		return ASKED;
	if (r == ASK_STOPPED)
		return ASKED_STOPPED;
	if (r == ASK_TIMEOUT && left_s < most_s)
		return ASKED_LATE;
	m->died = death(r);
	if (r != ASK_FAILED)
		return ASKED_DEAD;
	return err_set(e, "cannot measure %s %s: %s", g->w.op->name, g->w.prob, m->worker.why);
}

int ask_take(const struct measure *m, int asked, struct arena *a, struct result *r, struct err *e)
{
	if (asked == ASKED_DEAD) {
		result_clear(r);
		r->status = m->died;
		r->why = arena_strdup(a, m->worker.why);
		return 0;
	}
	result_read(r, &m->worker.answer, a);
	r->status = status_answered(&m->worker.answer);
	return r->status ? 0 : err_set(e, "the worker's answer has no status");
}

/* The naive nest does about a multiply-add a nanosecond. */
static double naive_timeout(const struct group *g)
{
	return 60 + (double)g->w.flops * 4e-9;
}

/* The beginning of a request. */
static void put_command(struct buf *q, const char *cmd)
{
	field_object(q, NULL);
	field_text(q, "cmd", cmd);
}

/* The end of a request, with its limit, which is then asked. Frees q. */
static int ask_whole(struct measure *m, const struct group *g, struct buf *q,
		     const struct span *span, enum cost purpose, struct err *e)
{
	int rc;

	field_number(q, "timeout_s", span->timeout_s);
	buf_ch(q, '}');
	rc = ask(m, g, q, span, purpose, e);
	buf_free(q);
	return rc;
}

/* Under which the true answers of a group are kept: the data that they are answers to. */
static void data_text(const struct measure *m, const struct group *g, struct buf *out)
{
	buf_fmt(out, "%s seed %llu rev %d", g->w.id.s, (unsigned long long)m->rules.seed, DATA_REV);
}

int ask_open(struct measure *m, struct group *g, double until, enum status *status, struct err *e)
{
	const struct span span = {naive_timeout(g), until};
	struct buf q = BUF_INIT, data = BUF_INIT, truth = BUF_INIT;
	struct result r;
	int rc;

	data_text(m, g, &data);
	cache_truth(&m->cache, g->naive, data.s, &truth);
	put_command(&q, "open");
	field_object(&q, "workload");
	workload_fields(&g->w, &q);
	buf_ch(&q, '}');
	field_text(&q, "naive", g->naive->object);
	field_text(&q, "truth", truth.s);
	field_integer(&q, "threads", m->threads);
	field_fmt(&q, "seed", "%llu", (unsigned long long)m->rules.seed);
	field_text(&q, "caches", caches_name(m->rules.caches));
	if (m->pci.n)
		field_text(&q, "pci", m->pci.s);
	field_number(&q, "max_error", m->rules.max_error);
	field_number(&q, "memory", m->rules.memory);
	rc = ask_whole(m, g, &q, &span, COST_BASELINE, e);
	buf_free(&data);
	buf_free(&truth);
	if (rc != ASKED && rc != ASKED_DEAD)
		return rc;
	if (ask_take(m, rc, &g->arena, &r, e) < 0)
		return -1;
	*status = r.status;
	if (rc == ASKED && r.status != STATUS_OK)
		snprintf(m->worker.why, sizeof m->worker.why, "%s", r.why ? r.why : "");
	return ASKED;
}

int ask_baseline(struct measure *m, struct group *g, struct err *e)
{
	/* Each variant runs at least three times, a slow one perhaps at a flop a cycle. */
	const struct span span = {120 + (double)g->w.flops * 2e-8, m->until};
	struct buf q = BUF_INIT;

	put_command(&q, "baseline");
	return ask_whole(m, g, &q, &span, COST_BASELINE, e);
}

static void put_entry(struct buf *q, const char *candidate, const char *object,
		      const struct item *it)
{
	field_json(q, candidate, it->line);
	field_text(q, object, it->build->object);
}

int ask_race(struct measure *m, struct group *g, const struct item *it,
	     const struct item *incumbent, int how, enum cost purpose, struct err *e)
{
	const struct span span = {m->rules.timeout_s, m->until};
	struct buf q = BUF_INIT;

	put_command(&q, "race");
	put_entry(&q, "candidate", "object", it);
	if (incumbent)
		put_entry(&q, "incumbent", "incumbent_object", incumbent);
	field_number(&q, "budget_s", m->rules.race_s);
	field_flag(&q, "whole", how & ASK_WHOLE);
	field_flag(&q, "apart", how & ASK_APART);
	return ask_whole(m, g, &q, &span, purpose, e);
}

int ask_final(struct measure *m, struct group *g, const struct item *it, int pairs, double limit_s,
	      struct err *e)
{
	const struct span span = {FINAL_TIMES * m->rules.timeout_s, m->until};
	struct buf q = BUF_INIT;

	put_command(&q, "final");
	put_entry(&q, "candidate", "object", it);
	field_text(&q, "impl", g->baseline.impl);
	if (g->baseline.impl)
		field_text(&q, "layout", g->baseline.layout);
	field_text(&q, "own_impl", g->baseline.own_impl);
	field_number(&q, "budget_s", ALONE_S);
	if (limit_s > 0)
		field_number(&q, "limit_s", limit_s);
	field_integer(&q, "pairs", pairs);
	return ask_whole(m, g, &q, &span, COST_TIME, e);
}

int ask_canary(struct measure *m, struct group *g, struct err *e)
{
	const struct span span = {naive_timeout(g), INFINITY};
	struct buf q = BUF_INIT;
	int rc;

	put_command(&q, "canary");
	rc = ask_whole(m, g, &q, &span, COST_PROBE, e);
	if (rc == ASKED_DEAD)
		return err_set(e, "%s %s: something known to be good fails as well: %s",
			       g->w.op->name, g->w.prob, m->worker.why);
	return rc;
}
