#include "lib/policy/history.h"

#include <math.h>
#include <stdlib.h>

#include "lib/store/incumbent.h"
#include "lib/store/row.h"

static struct store_result *append(struct history_item *it)
{
	if (it->n == it->cap) {
		it->cap = it->cap * 2 + 16;
		it->result = xrealloc(it->result, (size_t)it->cap * sizeof *it->result);
	}
	return &it->result[it->n++];
}

static struct history_item *get_item(const struct history *h, const char *id)
{
	return map_get(&h->items, id, strlen(id));
}

const struct history_item *history_get(const struct history *h, const char *id)
{
	return get_item(h, id);
}

/* Is a result one that decides by itself: the best known, or compared with the baseline? */
static int decides(const struct store_result *r)
{
	return r->status == STATUS_OK && (r->since || r->final);
}

/* Leaves out the results that decide, and the best of the others, where their records are not to be
 * believed. The other records are not read: there may be very many. */
static int drop_unbelieved(struct history *h, struct store *s, struct history_item *it,
			   struct err *e)
{
	struct store_result *best;
	int64_t n = 0;
	int rc;

	for (int64_t i = 0; i < it->n; i++) {
		struct store_result *r = &it->result[i];

		rc = decides(r) ? store_record(s, it->id.s, h->env, &h->arena, r, e) : 1;
		if (rc < 0)
			return -1;
		if (rc)
			it->result[n++] = *r;
	}
	it->n = n;
	do {
		best = NULL;
		for (int64_t i = 0; i < it->n; i++)
			if (it->result[i].status == STATUS_OK && store_better(&it->result[i], best))
				best = &it->result[i];
		rc = best ? store_record(s, it->id.s, h->env, &h->arena, best, e) : 1;
		if (rc == 0)
			*best = it->result[--it->n];
	} while (rc == 0);
	return rc < 0 ? -1 : 0;
}

int history_add_workload(struct history *h, struct store *s, const char *id, struct err *e)
{
	struct history_item *it;
	struct store_result *r;
	struct store_tally t;
	int64_t n;
	void **place;
	int isnew;

	place = map_put(&h->items, id, strlen(id), &isnew);
	if (!isnew)
		return 0;
	*place = it = arena_new(&h->arena, struct history_item);
	memcpy(it->id.s, id, sizeof it->id.s);
	if (!s || !h->env)
		return 0;
	if (store_history(s, id, h->env, &h->arena, &r, &n, e) < 0 ||
	    store_tally(s, id, h->env, &t, e) < 0)
		return -1;
	it->exhausted = t.exhausted;
	for (int64_t i = 0; i < n; i++)
		*append(it) = r[i];
	return drop_unbelieved(h, s, it, e);
}

static int add_end(struct history *h, const struct json_doc *d, struct err *e)
{
	static const char *const counts[] = {"measured", "preempted", "failed", "known"};
	const char *id;
	struct history_item *it;
	int64_t n, sum = 0;

	if (json_int(json_get(d, d->tok, "measured"), &n) || /* did not pass tl-measure */
	    json_is(json_get(d, d->tok, "why"), "stopped") ||
	    json_is(json_get(d, d->tok, "why"), "out of time"))
		return 0;
	if (row_id(d, d->tok, "workload_id", &h->arena, &id, e))
		return -1;
	for (int i = 0; i < 4; i++)
		if (!json_int(json_get(d, d->tok, counts[i]), &n))
			sum += n;
	if ((it = get_item(h, id)))
		it->exhausted = sum == 0;
	return 0;
}

int history_add_record(struct history *h, const struct rec *r, const struct json_doc *d,
		       struct err *e)
{
	struct history_item *it;
	const struct result *x;
	struct store_result *s;
	struct row w;

	if (r->type == REC_END)
		return add_end(h, d, e);
	if (row_from_json(&w, d, &h->arena, e))
		return -1;
	x = &w.r;
	if (!h->env)
		h->env = x->env_id;
	if (strcmp(h->env, x->env_id) != 0 || !(it = get_item(h, x->workload_id)))
		return 0;
	s = append(it);
	*s = (struct store_result){.status = x->status,
				   .run = x->run,
				   .at = x->at,
				   .final = x->stage == STAGE_FINAL,
				   .latency_s = x->latency_s,
				   .baseline_s = x->baseline.latency_s,
				   .core_s = x->cost.core_s,
				   .since = w.since,
				   .ratio = w.ratio,
				   .record = arena_strndup(&h->arena, r->s, r->n),
				   .record_n = r->n};
	row_hex(w.candidate, &s->candidate_id);
	it->exhausted = 0;
	return 0;
}

/* Finishing */

static int by_time(const void *pa, const void *pb)
{
	const struct store_result *a = pa, *b = pb;
	int order = strcmp(a->at, b->at);

	if (!order)
		order = strcmp(a->run, b->run);
	if (!order)
		order = strcmp(a->candidate_id.s, b->candidate_id.s);
	return order ? order : a->final - b->final;
}

static int by_key(const void *pa, const void *pb)
{
	const struct store_result *a = pa, *b = pb;
	int order = strcmp(a->candidate_id.s, b->candidate_id.s);

	if (!order)
		order = strcmp(a->run, b->run);
	if (!order)
		order = a->final - b->final;
	return order ? order : strcmp(a->at, b->at);
}

static int same_result(const struct store_result *a, const struct store_result *b)
{
	return a->final == b->final && !strcmp(a->run, b->run) &&
	       !strcmp(a->candidate_id.s, b->candidate_id.s);
}

static int is_ok(const struct store_result *r)
{
	return r->status == STATUS_OK;
}

/* Keeps the last of each key, and sorts them by time. */
static void sort_item(struct history_item *it)
{
	int64_t n = 0;

	if (it->n)
		qsort(it->result, (size_t)it->n, sizeof *it->result, by_key);
	for (int64_t i = 0; i < it->n; i++) {
		n -= n && same_result(&it->result[n - 1], &it->result[i]);
		it->result[n++] = it->result[i];
	}
	it->n = n;
	if (n)
		qsort(it->result, (size_t)n, sizeof *it->result, by_time);
}

struct round {
	const char *run, *at;
	int number;
};

static int by_at(const void *pa, const void *pb)
{
	const struct round *a = *(struct round *const *)pa, *b = *(struct round *const *)pb;
	int order = strcmp(a->at, b->at);

	return order ? order : strcmp(a->run, b->run);
}

/* What counts for the limits: since a time, and until now. What is dated in the future is no doing
 * of a run that began at that time. */
struct window {
	int64_t from_ms, to_ms;
};

static struct window window_since(const char *since)
{
	struct window w = {INT64_MIN, INT64_MAX};
	char now[25];

	if (!since || rec_time_read(since, &w.from_ms))
		return w;
	rec_now(now);
	rec_time_read(now, &w.to_ms);
	return w;
}

static int is_within(const struct window *w, const char *at)
{
	int64_t ms;

	if (w->from_ms == INT64_MIN)
		return 1;
	return !rec_time_read(at, &ms) && ms >= w->from_ms && ms <= w->to_ms;
}

/* Numbers the runs by their first result. */
static void number_rounds(struct history *h, struct map *rounds, const struct window *w)
{
	struct round **sorted;

	for (size_t i = 0; i < h->items.n; i++) {
		struct history_item *it = h->items.item[i].value;

		for (int64_t j = 0; j < it->n; j++) {
			const struct store_result *r = &it->result[j];
			void **place = map_put(rounds, r->run, strlen(r->run), NULL);
			struct round *round = *place;

			if (!round) {
				*place = round = arena_new(&h->arena, struct round);
				*round = (struct round){r->run, r->at, 0};
			}
			if (strcmp(r->at, round->at) < 0)
				round->at = r->at;
		}
	}
	sorted = xcalloc(rounds->n, sizeof *sorted);
	for (size_t i = 0; i < rounds->n; i++)
		sorted[i] = rounds->item[i].value;
	qsort(sorted, rounds->n, sizeof *sorted, by_at);
	for (size_t i = 0; i < rounds->n; i++) {
		sorted[i]->number = (int)i;
		h->rounds_since += is_within(w, sorted[i]->at);
	}
	h->rounds = (int)rounds->n;
	free(sorted);
}

/* The time of a result in the sequence whose falls are progress. A winner is faster than the best
 * so far by the ratio of its duels. A result that did not win is no progress. A result without a
 * duel has its own time. */
static double progress(const struct history_item *it, const struct store_result *r)
{
	double best = NAN;

	if (isnan(r->ratio) || r->final)
		return r->latency_s;
	if (!r->since)
		return NAN;
	for (int64_t i = 0; i < it->ntries; i++)
		best = fmin(best, it->tries[i].latency_s); /* of a number and NAN, the number */
	return isnan(best) ? r->latency_s : best / r->ratio;
}

/* believed: the result is ok, and no other says that its candidate is wrong. */
static void add_try(struct history_item *it, struct map *known, struct store_result *r,
		    int believed, int round)
{
	int isnew;
	void **place = map_put(known, r->candidate_id.s, ID_HEX, &isnew);
	struct policy_try *t;

	if (isnew) {
		t = &it->tries[it->ntries++];
		*t = (struct policy_try){NAN, r->core_s, round};
		*place = t;
	} else {
		t = *place; /* timed again as finalist, or given another chance */
		t->core_s = isnan(t->core_s)   ? r->core_s
			    : isnan(r->core_s) ? t->core_s
					       : t->core_s + r->core_s;
	}
	if (believed && isnan(t->latency_s))
		t->latency_s = progress(it, r);
	if (believed && store_better(r, it->best))
		it->best = r;
	if (believed && r->final)
		it->final = r;
	if (!isnan(r->baseline_s))
		it->baseline_s = r->baseline_s;
}

static void finish_item(struct history *h, struct history_item *it, const struct map *rounds,
			const struct window *w)
{
	struct map known = MAP_INIT, wrong = MAP_INIT;
	struct incumbent incumbent = {NULL, NULL, NULL};
	const struct store_result *found;

	for (int64_t i = 0; i < it->n; i++)
		if (it->result[i].status == STATUS_WRONG)
			*map_put(&wrong, it->result[i].candidate_id.s, ID_HEX, NULL) = it;
	it->baseline_s = NAN;
	it->tries = arena_array(&h->arena, struct policy_try, it->n + 1);
	for (int64_t i = 0; i < it->n; i++) {
		struct store_result *r = &it->result[i];
		const struct round *round = map_get(rounds, r->run, strlen(r->run));
		int believed = is_ok(r) && !map_get(&wrong, r->candidate_id.s, ID_HEX);

		add_try(it, &known, r, believed, round->number);
		if (believed)
			incumbent_feed(&incumbent, r);
		if (!is_within(w, r->at))
			continue;
		h->candidates_since += !r->final;
		h->core_s_since += isnan(r->core_s) ? 0 : r->core_s;
		if (!h->first_at || strcmp(r->at, h->first_at) < 0)
			h->first_at = r->at;
		if (!h->last_at || strcmp(r->at, h->last_at) > 0)
			h->last_at = r->at;
	}
	if ((found = incumbent_found(&incumbent)))
		it->best = &it->result[found - it->result];
	map_free(&known);
	map_free(&wrong);
}

void history_finish(struct history *h, const char *since)
{
	const struct window w = window_since(since);
	struct map rounds = MAP_INIT;

	for (size_t i = 0; i < h->items.n; i++)
		sort_item(h->items.item[i].value);
	number_rounds(h, &rounds, &w);
	for (size_t i = 0; i < h->items.n; i++)
		finish_item(h, h->items.item[i].value, &rounds, &w);
	map_free(&rounds);
}

void history_free(struct history *h)
{
	for (size_t i = 0; i < h->items.n; i++)
		free(((struct history_item *)h->items.item[i].value)->result);
	map_free(&h->items);
	arena_free(&h->arena);
}
