#include "lib/measure/known.h"

#include <assert.h>
#include <string.h>

enum { CHANCES = 2 }; /* runs in which something may fail before it is believed */

void known_add_source(struct known *k, const struct known_source *s)
{
	assert(k->nsources < KNOWN_SOURCES);
	k->source[k->nsources++] = *s;
}

void known_free(struct known *k)
{
	json_free(&k->doc);
	door_free(&k->door);
	arena_free(&k->scratch);
}

/* ---- the decision ---- */

/* How good an answer a result is; 0: none. */
static int rank(const struct known_result *r)
{
	if (r->status == STATUS_WRONG)
		return 4;
	if (r->final)
		return 0;
	if (r->status == STATUS_OK)
		return 3;
	if (r->status == STATUS_PREEMPTED)
		return 2;
	return r->status == STATUS_BUILD || r->status == STATUS_UNSUPPORTED;
}

static int is_later(const struct known_result *a, const struct known_result *b)
{
	return !b || strcmp(a->at, b->at) > 0;
}

/* The last of those of a stage that failed in a way that gets another chance, if the chances are
 * used up. */
static const struct known_result *failed(const struct known_result *r, int n, int final)
{
	const struct known_result *last = NULL;
	int runs = 0;

	for (int i = 0; i < n; i++) {
		int seen = 0;

		if (!status_may_pass(r[i].status) || r[i].final != final)
			continue;
		for (int j = 0; j < i; j++)
			seen |= status_may_pass(r[j].status) && r[j].final == final &&
				!strcmp(r[i].run, r[j].run);
		runs += !seen;
		if (is_later(&r[i], last))
			last = &r[i];
	}
	return runs >= CHANCES ? last : NULL;
}

void known_decide(const struct known_result *r, int n, struct known_answer *out)
{
	int best = 0;

	*out = (struct known_answer){NULL, NULL};
	for (int i = 0; i < n; i++) {
		int own = rank(&r[i]);

		if (own && (own > best || (own == best && is_later(&r[i], out->result)))) {
			out->result = &r[i];
			best = own;
		}
		if (r[i].final && r[i].status == STATUS_OK && is_later(&r[i], out->final))
			out->final = &r[i];
	}
	if (!out->result)
		out->result = failed(r, n, 0);
	if (!out->final)
		out->final = failed(r, n, 1);
}

/* ---- looking up ---- */

struct found {
	struct known *k;
	struct arena *arena;
	struct known_result *r;
	int n, cap;
	const char *candidate_id;
};

static int is(const char *text, const char *wanted)
{
	return text && !strcmp(text, wanted);
}

static int take(void *to, const char *line, size_t n, struct err *e)
{
	struct found *f = to;
	struct json_doc *d = &f->k->doc;
	struct err why = ERR_INIT;
	struct candidate c;
	struct result r;

	(void)e;
	/* What cannot be read, or lacks what it takes, is not known. */
	if (door_result_text(&f->k->door, line, n, d, &c, &why) < 0) {
		door_refuse(&f->k->refused, &why);
		return 0;
	}
	arena_reset(&f->k->scratch);
	result_read(&r, d, &f->k->scratch);
	if (!is(r.candidate_id, f->candidate_id) || !is(r.env_id, f->k->env.s) ||
	    !is(r.settings, f->k->settings.s) || !r.status || !r.run || !r.at ||
	    (r.status == STATUS_OK && !(r.latency_s > 0)))
		return 0;
	if (f->n == f->cap) {
		struct known_result *more;

		f->cap = f->cap * 2 + 4;
		more = arena_array(f->arena, struct known_result, f->cap);
		if (f->n)
			memcpy(more, f->r, (size_t)f->n * sizeof *more);
		f->r = more;
	}
	f->r[f->n++] = (struct known_result){.line = arena_strndup(f->arena, line, n),
					     .n = n,
					     .status = r.status,
					     .run = arena_strdup(f->arena, r.run),
					     .at = arena_strdup(f->arena, r.at),
					     .final = r.stage == STAGE_FINAL,
					     .became_incumbent = r.incumbent};
	return 0;
}

int known_find(struct known *k, const char *workload_id, const char *candidate_id, struct arena *a,
	       struct known_answer *out, struct err *e)
{
	struct found f = {.k = k, .arena = a, .candidate_id = candidate_id};

	*out = (struct known_answer){NULL, NULL};
	for (int i = 0; i < k->nsources; i++)
		if (k->source[i].look(k->source[i].from, workload_id, candidate_id, take, &f, e))
			return -1;
	known_decide(f.r, f.n, out);
	return out->result != NULL;
}
