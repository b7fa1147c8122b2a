#include "lib/measure/ask.h"

#include <stdio.h>
#include <string.h>

#include "lib/io/clock.h"

/* What the worker gets beyond the time that it gives a trial. */
static const double GRACE_S = 15;

enum { CALLS = 60 }; /* of each opponent in a final, and some */

static const char *death(enum ask_result r)
{
	return r == ASK_TIMEOUT ? "timeout" : r == ASK_OOM ? "oom" : "crash";
}

/* While the worker is asked all cores are its own. */
static int ask(struct measure *m, const struct group *g, const struct buf *q, double timeout_s,
	       enum cost purpose, struct err *e)
{
	enum cost before = ledger_switch(&m->ledger, purpose, clock_now());
	enum ask_result r = worker_ask(&m->worker, q->s, q->n, timeout_s + GRACE_S);

	ledger_switch(&m->ledger, before, clock_now());
	if (r == ASK_OK)
		return ASKED;
	if (r == ASK_STOPPED)
		return ASKED_STOPPED;
	m->died = death(r);
	if (r != ASK_FAILED)
		return ASKED_DEAD;
	return err_set(e, "cannot measure %s %s: %s", g->w.op->name, g->w.prob, m->worker.why);
}

const char *answer_text(const struct json_doc *d, struct group *g, const char *key)
{
	const char *s = "";

	json_str(json_get(d, d->tok, key), &g->arena, &s);
	return s;
}

/* The naive nest does about a multiply-add a nanosecond. */
static double naive_timeout(const struct group *g)
{
	return 60 + (double)g->w.flops * 4e-9;
}

static void number(struct buf *q, const char *key, double v)
{
	buf_fmt(q, ",\"%s\":", key);
	buf_num(q, v);
}

int ask_open(struct measure *m, struct group *g, const char **status, struct err *e)
{
	struct buf q = BUF_INIT;
	int rc;

	buf_str(&q, "{\"cmd\":\"open\",\"workload\":{");
	workload_fields(&g->w, &q);
	buf_str(&q, "},\"naive\":");
	buf_json(&q, g->naive->object, strlen(g->naive->object));
	buf_fmt(&q, ",\"threads\":%d,\"seed\":%llu,\"cold\":%s", m->env.limits.threads,
		(unsigned long long)m->rules.seed, m->rules.cold ? "true" : "false");
	number(&q, "max_error", m->rules.max_error);
	number(&q, "beat_s", 0);
	number(&q, "patience_s", m->rules.patience_s);
	number(&q, "memory", m->rules.memory);
	number(&q, "timeout_s", naive_timeout(g));
	buf_ch(&q, '}');
	rc = ask(m, g, &q, naive_timeout(g), COST_BASELINE, e);
	buf_free(&q);
	*status = NULL;
	if (rc == ASKED_DEAD) {
		*status = m->died;
	} else if (rc == ASKED && strcmp(answer_text(&m->worker.answer, g, "status"), "ok") != 0) {
		*status = answer_text(&m->worker.answer, g, "status");
		snprintf(m->worker.why, sizeof m->worker.why, "%s",
			 answer_text(&m->worker.answer, g, "why"));
	}
	return rc == ASKED_DEAD ? ASKED : rc;
}

int ask_baseline(struct measure *m, struct group *g, struct err *e)
{
	/* Each variant runs at least seven times, a slow one perhaps at a flop a cycle. */
	const double timeout_s = 120 + (double)g->w.flops * 2e-8;
	struct buf q = BUF_INIT;
	int rc;

	buf_str(&q, "{\"cmd\":\"baseline\"");
	number(&q, "timeout_s", timeout_s);
	buf_ch(&q, '}');
	rc = ask(m, g, &q, timeout_s, COST_BASELINE, e);
	buf_free(&q);
	return rc;
}

int ask_race(struct measure *m, struct group *g, const struct item *it, double limit_s,
	     struct err *e)
{
	const double timeout_s = m->rules.timeout_s;
	struct buf q = BUF_INIT;
	int rc;

	buf_str(&q, "{\"cmd\":\"race\",\"candidate\":");
	buf_add(&q, it->line, it->n);
	buf_str(&q, ",\"object\":");
	buf_json(&q, it->build->object, strlen(it->build->object));
	number(&q, "timeout_s", timeout_s);
	number(&q, "limit_s", limit_s);
	number(&q, "budget_s", m->rules.race_s);
	buf_fmt(&q, ",\"audit\":%s}",
		contest_audits(m->rules.audit, m->rules.seed, &it->id) ? "true" : "false");
	rc = ask(m, g, &q, timeout_s, COST_TIME, e);
	buf_free(&q);
	return rc;
}

int ask_finals(struct measure *m, struct group *g, struct item *const *it, int n, double latency_s,
	       struct err *e)
{
	const double timeout_s = n * m->rules.timeout_s + CALLS * latency_s;
	struct buf q = BUF_INIT;
	int rc;

	buf_str(&q, "{\"cmd\":\"final\",\"candidates\":[");
	for (int i = 0; i < n; i++) {
		buf_str(&q, i ? "," : "");
		buf_add(&q, it[i]->line, it[i]->n);
	}
	buf_str(&q, "],\"objects\":[");
	for (int i = 0; i < n; i++) {
		buf_str(&q, i ? "," : "");
		buf_json(&q, it[i]->build->object, strlen(it[i]->build->object));
	}
	buf_ch(&q, ']');
	number(&q, "timeout_s", timeout_s);
	buf_ch(&q, '}');
	rc = ask(m, g, &q, 2 * timeout_s, COST_TIME, e); /* perhaps in two processes */
	buf_free(&q);
	return rc;
}

int ask_canary(struct measure *m, struct group *g, struct err *e)
{
	struct buf q = BUF_INIT;
	int rc;

	buf_str(&q, "{\"cmd\":\"canary\"");
	number(&q, "timeout_s", naive_timeout(g));
	buf_ch(&q, '}');
	rc = ask(m, g, &q, naive_timeout(g), COST_PROBE, e);
	buf_free(&q);
	if (rc == ASKED_DEAD)
		return err_set(e, "%s %s: something known to be good fails as well: %s",
			       g->w.op->name, g->w.prob, m->worker.why);
	return rc;
}
