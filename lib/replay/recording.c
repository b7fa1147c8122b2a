#include "lib/replay/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/field.h"
#include "lib/measure/result.h"
#include "lib/store/cost.h"
#include "lib/store/row.h"
#include "lib/store/store.h"
#include "lib/trial/duel.h"

enum { MAX_SAMPLES = 1024 };

/* Times its own time, a reference was disturbed. */
static const double TOO_SLOW = 3;

/* A candidate has been recorded with these; STATUS_NONE: it has not. */
struct pair {
	struct recorded race, final;
	struct look *looks;
	int64_t tries;	     /* the same, and those that were dropped */
	const char *program; /* "algo":..,"knobs":.. */
};

/* A race that took place, in the order of at and run. */
struct look {
	struct recorded r;
	struct look *next;
};

/* ---- texts ---- */

/* A copy that equal texts share. */
static const char *intern(struct recording *r, const char *s, size_t n)
{
	int isnew;
	void **at = map_put(&r->texts, s, n, &isnew);

	if (isnew)
		*at = r->texts.item[r->texts.n - 1].key;
	return *at;
}

/* Where the fields of a result go. Fields that are not named here go to REST. A replay makes the
 * fields in NOWHERE anew. */
enum place { TIMING, ERROR, BASELINE, REST, PLACES, NOWHERE };
static const struct {
	const char *key;
	enum place place;
} places[] = {
	{"latency_s", TIMING},
	{"latency_why", TIMING},
	{"bound", TIMING},
	{"ci_s", TIMING},
	{"reps", TIMING},
	{"row", TIMING},
	{"row_by", TIMING},
	{"use", TIMING},
	{"error", ERROR},
	{"baseline", BASELINE},
	{"baseline_why", BASELINE},
	/* what a replay makes anew */
	{"type", NOWHERE},
	{"status", NOWHERE},
	{"why", NOWHERE},
	{"stage", NOWHERE},
	{"samples_s", NOWHERE},
	{"watch", NOWHERE},
	{"again", NOWHERE},
	{"printer", NOWHERE},
	{"printer_why", NOWHERE},
	{"audit", NOWHERE},
	{"duel", NOWHERE},
	{"incumbent", NOWHERE},
	{"cost", NOWHERE},
	{"env_id", NOWHERE},
	{"code_hash", NOWHERE},
	{"code_hash_why", NOWHERE},
	{"settings", NOWHERE},
	{"run", NOWHERE},
	{"at", NOWHERE},
	{"env", NOWHERE},
	{"cache", NOWHERE},
	{"replayed", NOWHERE},
	{"checksum", NOWHERE},
};

static enum place place_of(const struct json *key)
{
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (json_is(key, places[i].key))
			return places[i].place;
	return result_owns(key) ? REST : NOWHERE;
}

static void keep_texts(struct recording *r, struct recorded *x)
{
	struct buf text[PLACES] = {BUF_INIT};
	const struct json_doc *d = &r->doc;

	for (const struct json *k = json_first(d, d->tok); k; k = json_next(d, d->tok, k)) {
		enum place p = place_of(k);

		if (p == NOWHERE)
			continue;
		buf_fmt(&text[p], ",\"%.*s\":", (int)k->n, k->s);
		field_copy(&text[p], NULL, k + 1);
	}
	for (int i = 0; i < PLACES; i++)
		buf_str(&text[i], "");
	x->timing = arena_strndup(&r->arena, text[TIMING].s, text[TIMING].n);
	x->error = arena_strndup(&r->arena, text[ERROR].s, text[ERROR].n);
	x->baseline = intern(r, text[BASELINE].s, text[BASELINE].n);
	x->rest = x->final ? arena_strndup(&r->arena, text[REST].s, text[REST].n)
			   : intern(r, text[REST].s, text[REST].n);
	for (int i = 0; i < PLACES; i++)
		buf_free(&text[i]);
}

/* ---- reading a result ---- */

static double or_zero(double v)
{
	return isnan(v) ? 0 : v;
}

/* Appends a list of seconds to n that are there. */
static int add_seconds(double *to, int *n, const struct numbers *list, struct err *e)
{
	if (list->n > MAX_SAMPLES - *n)
		return err_set(e, "a duel has more than %d samples", MAX_SAMPLES);
	for (int i = 0; i < list->n; i++)
		if (!((to[(*n)++] = list->v[i]) > 0))
			return err_set(e, "a list of samples is not one of seconds");
	return 0;
}

/* A copy of the pairs that won and of those that confirmed it, in their order. *n is how many.
 * NULL: there are none. */
static const double *seconds(struct recording *r, const struct numbers *first,
			     const struct numbers *list, int *n, struct err *e)
{
	double all[MAX_SAMPLES];

	*n = 0;
	if (add_seconds(all, n, first, e) < 0 || add_seconds(all, n, list, e) < 0 || !*n)
		return NULL;
	return memcpy(arena_array(&r->arena, double, *n), all, (size_t)*n * sizeof *all);
}

/* Which pairs can be compared with those of another duel. */
static void keep_calm(struct recording *r, struct recorded *x)
{
	double copy[MAX_SAMPLES], limit;
	int *calm = arena_array(&r->arena, int, x->nx);

	memcpy(copy, x->y, (size_t)x->nx * sizeof *copy);
	limit = duel_limit(copy, x->nx);
	for (int i = 0; i < x->nx; i++)
		if (x->y[i] <= limit)
			calm[x->ncalm++] = i;
	x->calm = calm;
}

static int keep_samples(struct recording *r, const struct result *s, struct recorded *x,
			struct err *e)
{
	const struct result_duel *duel = &s->duel;
	const struct result_first none = {0}, *first = duel->first.is_there ? &duel->first : &none;
	struct err why = ERR_INIT;
	int ny;

	if (x->final)
		return 0;
	x->x = seconds(r, &first->challenger_s, &s->samples_s, &x->nx, &why);
	x->y = seconds(r, &first->incumbent_s, &duel->samples_s, &ny, &why);
	if (why.msg[0])
		return err_set(e, "%s", why.msg);
	if (ny != x->nx || first->challenger_s.n != first->incumbent_s.n)
		x->y = NULL;
	if (x->y && r->grows)
		keep_calm(r, x);
	if (duel->against)
		x->reference = intern(r, duel->against, strlen(duel->against));
	x->is_behind_again = s->again.is_there && !s->again.ahead;
	return 0;
}

static void keep_code(struct recording *r, const struct result *s, struct recorded *x)
{
	const char *why = s->code_hash_why ? s->code_hash_why : "not built";
	const double build_s = or_zero(s->cost.build_s);
	double core_s = s->cost.build_core_s;
	void **at;

	if (!s->code_hash) {
		x->why_no_code = intern(r, why, strlen(why));
		return;
	}
	at = map_put(&r->codes, s->code_hash, strlen(s->code_hash), NULL);
	if (!*at) {
		*at = x->code = arena_new(&r->arena, struct recorded_code);
		x->code->hash = arena_strdup(&r->arena, s->code_hash);
	}
	x->code = *at;
	core_s = isnan(core_s) ? build_s : core_s;
	if (!r->grows) {
		x->code->build_s = fmax(x->code->build_s, build_s);
		x->code->build_core_s = fmax(x->code->build_core_s, core_s);
	} else if (build_s > 0 && (x->code->build_s <= 0 || x->at_ms < x->code->at_ms)) {
		x->code->build_s = build_s;
		x->code->build_core_s = core_s;
		x->code->at_ms = x->at_ms;
	}
}

/* Among the earliest that paid for opening a workload. */
static void keep_opened(struct recorded_workload *w, double s, int64_t at_ms)
{
	int i = w->nopened;

	while (i > 0 && at_ms < w->opened[i - 1].at_ms)
		i--;
	if (i == RECORDED_OPENED)
		return;
	w->nopened += w->nopened < RECORDED_OPENED;
	for (int k = w->nopened - 1; k > i; k--)
		w->opened[k] = w->opened[k - 1];
	w->opened[i].at_ms = at_ms;
	w->opened[i].s = s;
}

static void keep_workload(struct recording *r, struct recorded_env *v, const char *id,
			  struct recorded *x)
{
	void **at = map_put(&v->workloads, id, ID_HEX, NULL);
	struct recorded_workload *w = *at;
	const double s = x->own_baseline_s;

	if (!w)
		*at = w = arena_new(&r->arena, struct recorded_workload);
	x->workload = w;
	if (s > 0 && !x->final)
		keep_opened(w, s, x->at_ms);
	if (!r->grows)
		w->baseline_s = fmax(w->baseline_s, s);
	else if (w->nopened)
		w->baseline_s = w->opened[0].s;
	w->again_s = w->nopened > 1 ? w->opened[1].s : w->baseline_s;
}

static void keep_env(struct recording *r, struct recorded_env *v, int64_t at_ms)
{
	const struct json *env = json_get(&r->doc, r->doc.tok, "env");

	if (!v->json && env && env->type == JSON_OBJ) {
		v->json = arena_strndup(&r->arena, env->s, env->n);
		if (json_int(json_get(&r->doc, env, "threads"), &v->threads) || v->threads < 1)
			v->threads = 1;
	}
	if (!v->n || at_ms > v->last_ms)
		v->last_ms = at_ms;
	if (!v->n || at_ms < v->first_ms)
		v->first_ms = at_ms;
	v->n++;
}

static struct recorded_env *put_env(struct recording *r, const char *id)
{
	void **at = map_put(&r->envs, id, strlen(id), NULL);
	struct recorded_env *v = *at;

	if (!v) {
		*at = v = arena_new(&r->arena, struct recorded_env);
		v->id = arena_strdup(&r->arena, id);
		v->threads = 1;
	}
	return v;
}

/* Whether a counts and not b, which has a status. */
static int is_better(const struct recorded *a, const struct recorded *b)
{
	static const enum status order[] = {STATUS_WRONG, STATUS_OK, STATUS_PREEMPTED};
	int cmp = 0;

	for (size_t i = 0; !cmp && i < sizeof order / sizeof *order; i++)
		cmp = (a->status == order[i]) - (b->status == order[i]);
	if (!cmp && a->status == STATUS_OK) {
		cmp = (a->x != NULL) - (b->x != NULL);
		if (!cmp)
			cmp = (a->latency_s < b->latency_s) - (a->latency_s > b->latency_s);
	} else if (!cmp && a->status == STATUS_PREEMPTED) {
		cmp = (a->latency_s > b->latency_s) - (a->latency_s < b->latency_s);
	} else if (!cmp) {
		cmp = (a->at_ms > b->at_ms) - (a->at_ms < b->at_ms);
	}
	return cmp ? cmp > 0 : strcmp(a->run, b->run) < 0;
}

static void take(struct recorded *have, const struct recorded *x)
{
	if (!have->status || is_better(x, have))
		*have = *x;
}

/* It ended well and can be played, or failed. */
static int is_look(const struct recorded *x)
{
	if (x->final || x->status == STATUS_PREEMPTED)
		return 0;
	return x->status != STATUS_OK || x->x;
}

/* A run that looked twice has one look, by the rule for results. */
static void keep_look(struct recording *r, struct pair *p, const struct recorded *x)
{
	struct look **at = &p->looks, *look;
	const char *reference = x->reference ? x->reference : x->id;
	void **count;

	while (*at && ((*at)->r.at_ms < x->at_ms ||
		       ((*at)->r.at_ms == x->at_ms && strcmp((*at)->r.run, x->run) < 0)))
		at = &(*at)->next;
	for (look = p->looks; look; look = look->next)
		if (look->r.run == x->run) {
			take(&look->r, x);
			return;
		}
	p->tries++;
	look = arena_new(&r->arena, struct look);
	look->r = *x;
	look->next = *at;
	*at = look;
	if (x->status != STATUS_OK || strlen(reference) != ID_HEX)
		return;
	count = map_put(&x->workload->references, reference, ID_HEX, NULL);
	*count = (void *)((intptr_t)*count + 1);
}

/* The candidate's place, with what it is. */
static struct pair *put_pair(struct recording *r, struct recorded_env *v, const char *id)
{
	void **at = map_put(&v->candidates, id, ID_HEX, NULL);
	struct buf text = BUF_INIT;
	struct pair *p = *at;

	if (p)
		return p;
	*at = p = arena_new(&r->arena, struct pair);
	field_copy(&text, "algo", json_get(&r->doc, r->doc.tok, "algo"));
	field_copy(&text, "knobs", json_get(&r->doc, r->doc.tok, "knobs"));
	p->program = arena_strndup(&r->arena, text.s, text.n);
	buf_free(&text);
	return p;
}

static int read_result(struct recording *r, const struct result *s, struct recorded *x,
		       struct err *e)
{
	*x = (struct recorded){.status = s->status,
			       .run = intern(r, s->run, strlen(s->run)),
			       .final = s->stage == STAGE_FINAL,
			       .latency_s = s->latency_s,
			       .lo_s = isnan(s->ci_s.lo) ? s->latency_s : s->ci_s.lo,
			       .own_baseline_s = or_zero(s->cost.baseline_s),
			       .verify_s = or_zero(s->cost.verify_s),
			       .run_s = or_zero(s->cost.run_s)};
	if (rec_time_read(s->at, &x->at_ms))
		return err_set(e, "\"at\" is not a time");
	if (s->status != STATUS_OK)
		x->why = s->why ? intern(r, s->why, strlen(s->why)) : "";
	keep_code(r, s, x);
	return keep_samples(r, s, x, e);
}

static int is_wanted(struct recording *r, const struct result *s)
{
	const char *cache = s->cache ? s->cache : caches_name(CACHES_WARM);

	if (r->only && strcmp(r->only, s->env_id))
		return 0;
	if (!r->cache)
		r->cache = caches_name((enum caches)caches_find(cache));
	return !strcmp(cache, r->cache);
}

static int add_result(struct recording *r, struct err *e)
{
	struct recorded_env *v;
	struct recorded x;
	struct pair *p;
	const struct result *s;
	struct row w;

	arena_reset(&r->scratch);
	if (row_from_json(&w, &r->doc, &r->scratch, e))
		return -1;
	s = &w.r;
	if (s->replayed != r->replayed)
		return err_set(e, s->replayed
					  ? "this was replayed; only what was measured can answer"
					  : "this was measured, not replayed");
	if (!is_wanted(r, s))
		return 0;
	if (read_result(r, s, &x, e))
		return -1;
	x.id = intern(r, s->candidate_id, ID_HEX);
	v = put_env(r, s->env_id);
	keep_env(r, v, x.at_ms);
	keep_workload(r, v, s->workload_id, &x);
	keep_texts(r, &x);
	p = put_pair(r, v, s->candidate_id);
	take(x.final ? &p->final : &p->race, &x);
	if (is_look(&x))
		keep_look(r, p, &x);
	return 0;
}

/* A run record, among the earliest of tl-measure. */
static int add_run(struct recording *r, struct err *e)
{
	const struct json_doc *d = &r->doc;
	const char *at = "";
	struct cost_run cost;
	int64_t at_ms;
	int i = r->nstarts;

	arena_reset(&r->scratch);
	if (!json_is(json_get(d, d->tok, "program"), "tl-measure"))
		return 0;
	if (cost_read(&cost, d, e))
		return -1;
	json_str(json_get(d, d->tok, "at"), &r->scratch, &at);
	if (rec_time_read(at, &at_ms))
		return err_set(e, "\"at\" is not a time");
	while (i > 0 && at_ms < r->start[i - 1].at_ms)
		i--;
	if (i == RECORDED_STARTS || !(cost.cores > 0))
		return 0;
	r->nstarts += r->nstarts < RECORDED_STARTS;
	for (int k = r->nstarts - 1; k > i; k--)
		r->start[k] = r->start[k - 1];
	r->start[i].at_ms = at_ms;
	r->start[i].s = cost.core_s[COST_PROBE] / cost.cores;
	return 0;
}

static int is_type(const char *type, const char *line, size_t n)
{
	const size_t nt = strlen(type);

	return n > nt && !memcmp(line, type, nt) && line[nt] == '"';
}

int recording_add(struct recording *r, const char *line, size_t n, struct err *e)
{
	static const char start[] = "{\"tl\":1,\"type\":\"";
	const size_t ns = sizeof start - 1;
	int result, run;

	if (n < ns || memcmp(line, start, ns) != 0)
		return err_set(e, "it is no record of format %d", TL_FORMAT);
	result = is_type("result", line + ns, n - ns);
	run = is_type("run", line + ns, n - ns);
	if (!result && !run)
		return 0;
	if (json_parse(&r->doc, line, n, e))
		return -1;
	return result ? add_result(r, e) : add_run(r, e);
}

int recording_add_strange(struct recording *r, const char *line, size_t n, struct err *e)
{
	static const char type[] = "{\"tl\":1,\"type\":\"result\"";
	struct candidate c;

	if (n > sizeof type - 1 && !memcmp(line, type, sizeof type - 1) &&
	    door_result_text(&r->door, line, n, &r->doc, &c, e) < 0)
		return -1;
	return recording_add(r, line, n, e);
}

/* A record of a database that does not pass the door is unknown. */
static int add_line(void *arg, const char *s, size_t n, struct err *e)
{
	struct recording *r = arg;
	struct err why = ERR_INIT;

	(void)e;
	if (recording_add_strange(r, s, n, &why) < 0)
		door_refuse(&r->refused, &why);
	return 0;
}

/* For a database of the other kind: its first result tells why it cannot be used. */
static int add_misplaced(void *arg, const char *s, size_t n, struct err *e)
{
	return recording_add(arg, s, n, e);
}

int recording_add_store(struct recording *r, const char *path, struct err *e)
{
	struct store *s = store_open(path, STORE_READ, e);
	int fits = s && store_is_replayed(s) == r->replayed;
	int rc =
		s ? store_dump(s, STORE_RESULTS | STORE_RUNS, fits ? add_line : add_misplaced, r, e)
		  : -1;

	store_close(s);
	return rc;
}

/* ---- answering ---- */

struct recorded_env *recording_env(const struct recording *r, const char *id)
{
	return map_get(&r->envs, id, strlen(id));
}

struct recorded_env *recording_latest(const struct recording *r)
{
	struct recorded_env *best = NULL;

	for (size_t i = 0; i < r->envs.n; i++) {
		struct recorded_env *v = r->envs.item[i].value;

		if (!best || v->last_ms > best->last_ms ||
		    (v->last_ms == best->last_ms && strcmp(v->id, best->id) < 0))
			best = v;
	}
	return best;
}

static const struct pair *find(const struct recorded_env *v, const char *candidate_id)
{
	static const struct pair none;
	const struct pair *p = map_get(&v->candidates, candidate_id, ID_HEX);

	return p ? p : &none;
}

const struct recorded *recording_race(const struct recorded_env *v, const char *candidate_id)
{
	const struct pair *p = find(v, candidate_id);

	/* What was wrong in a final is wrong from the start. */
	if (p->final.status == STATUS_WRONG)
		return &p->final;
	if (p->race.status)
		return &p->race;
	return p->final.status ? &p->final : NULL;
}

const struct recorded *recording_final(const struct recorded_env *v, const char *candidate_id)
{
	const struct pair *p = find(v, candidate_id);

	return p->final.status ? &p->final : NULL;
}

int recording_needs(const struct recorded_env *v, const char *candidate_id, int64_t wanted)
{
	const struct recorded *race = recording_race(v, candidate_id);
	const struct pair *p = find(v, candidate_id);
	int64_t n = 0;

	if (race && (race->status == STATUS_WRONG || race->status == STATUS_BUILD ||
		     race->status == STATUS_UNSUPPORTED))
		return 0;
	for (const struct look *l = p->looks; l; l = l->next)
		n++;
	return n < wanted && p->tries < RECORDING_ENOUGH * wanted;
}

const struct recorded *recording_look(const struct recorded_env *v, const char *candidate_id,
				      int64_t nth)
{
	const struct look *l = find(v, candidate_id)->looks;

	while (l && (l->r.status != STATUS_OK || nth-- > 0))
		l = l->next;
	return l ? &l->r : NULL;
}

const char *recording_reference(const struct recorded_env *v, const char *workload_id,
				const char **program)
{
	const struct recorded_workload *w = map_get(&v->workloads, workload_id, ID_HEX);
	const char *best = NULL;
	intptr_t most = 0;

	for (size_t i = 0; w && i < w->references.n; i++) {
		const struct map_item *it = &w->references.item[i];
		const intptr_t n = (intptr_t)it->value;

		if (n < most || (n == most && best && strcmp(it->key, best) >= 0) ||
		    !recording_look(v, it->key, 0))
			continue;
		best = it->key;
		most = n;
	}
	if (best)
		*program = find(v, best)->program;
	return best;
}

/* ---- disturbed looks ---- */

static int is_disturbed(const struct recorded_env *v, const struct recorded *x)
{
	const struct recorded *reference;
	double most = 0;

	if (x->status != STATUS_OK || !x->y || !x->reference || !x->calm)
		return 0;
	if (2 * x->ncalm < x->nx)
		return 1;
	reference = recording_look(v, x->reference, 0);
	for (int i = 0; i < x->ncalm; i++)
		most = fmax(most, x->y[x->calm[i]]);
	return reference && most > TOO_SLOW * reference->latency_s;
}

/* The answer may have been such a look. */
static void settle_pair(const struct recorded_env *v, struct pair *p)
{
	int is_gone = 0;

	for (struct look **at = &p->looks; *at;) {
		if (is_disturbed(v, &(*at)->r)) {
			is_gone |= p->race.run == (*at)->r.run;
			*at = (*at)->next;
		} else {
			at = &(*at)->next;
		}
	}
	if (!is_gone || !p->looks)
		return;
	p->race = p->looks->r;
	for (const struct look *l = p->looks; l; l = l->next)
		take(&p->race, &l->r);
}

void recording_settle(struct recording *r)
{
	for (size_t i = 0; i < r->envs.n; i++) {
		struct recorded_env *v = r->envs.item[i].value;

		for (size_t k = 0; k < v->candidates.n; k++)
			settle_pair(v, v->candidates.item[k].value);
	}
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double recording_start(const struct recording *r)
{
	double all[RECORDED_STARTS];

	for (int i = 0; i < r->nstarts; i++)
		all[i] = r->start[i].s;
	qsort(all, (size_t)r->nstarts, sizeof *all, by_size);
	return r->nstarts ? all[(r->nstarts - 1) / 2] : 0;
}

static void free_env(struct recorded_env *v)
{
	for (size_t i = 0; i < v->workloads.n; i++) {
		struct recorded_workload *w = v->workloads.item[i].value;

		map_free(&w->references);
	}
	map_free(&v->candidates);
	map_free(&v->workloads);
}

void recording_free(struct recording *r)
{
	for (size_t i = 0; i < r->envs.n; i++)
		free_env(r->envs.item[i].value);
	map_free(&r->envs);
	map_free(&r->texts);
	map_free(&r->codes);
	json_free(&r->doc);
	door_free(&r->door);
	arena_free(&r->arena);
	arena_free(&r->scratch);
}
