#include "lib/model/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/features/featurizer.h"
#include "lib/io/record.h"
#include "lib/record/result.h"
#include "lib/space/isa.h"
#include "lib/target/target.h"

enum { FEWEST_SAMPLES = 3, ROWS_TOGETHER = 64 };
/* Neighbours made calls of one candidate take 1.1, 1.7 and 8.6 ms: by its median it was the fastest
 * of 93, and nearly twice as fast as the machine's peak allows. Such times are not left out,
 * because slow candidates scatter more than fast ones. */
static const double SCATTER = 0.15;

void dataset_open(struct dataset *d, const struct target *t, const struct limits *here)
{
	memset(d, 0, sizeof *d);
	d->target = t;
	d->here = *here;
}

const struct feature_list *dataset_features(const struct dataset *d)
{
	return features_list(d->target);
}

void dataset_close(struct dataset *d)
{
	for (size_t i = 0; i < d->groups.n; i++) {
		struct data_group *g = dataset_group(d, i);

		map_free(&g->ids);
		free(g->row);
	}
	map_free(&d->envs);
	map_free(&d->groups);
	map_free(&d->uses);
	json_free(&d->doc);
	door_free(&d->door);
	arena_free(&d->arena);
	arena_free(&d->scratch);
}

/* ---- families ---- */

void workload_family(const struct workload *w, struct buf *out)
{
	const int64_t *k = w->dim;

	if (w->op == &op_conv2d)
		buf_fmt(out, "conv2d %lld>%lld %lldx%lld/%lldx%lld g%lld %s", (long long)k[CONV_IC],
			(long long)k[CONV_OC], (long long)k[CONV_KH], (long long)k[CONV_KW],
			(long long)k[CONV_SH], (long long)k[CONV_SW], (long long)k[CONV_G],
			w->dtype_text);
	else if (w->op == &op_matmul)
		buf_fmt(out, "matmul %lld>%lld %s %s", (long long)k[MATMUL_K],
			(long long)k[MATMUL_N], w->rhs_const ? "constant" : "computed",
			w->dtype_text);
	else
		buf_fmt(out, "%s %s %s", w->op->name, w->prob, w->dtype_text);
}

static const char *family_of(const struct workload *w, struct arena *a)
{
	struct buf text = BUF_INIT;
	const char *family;

	workload_family(w, &text);
	family = arena_strdup(a, text.s);
	buf_free(&text);
	return family;
}

/* ---- envs ---- */

static void number(const struct json_doc *d, const struct json *obj, const char *key, int64_t *out)
{
	int64_t v;

	if (!json_int(json_get(d, obj, key), &v) && v > 0)
		*out = v;
}

static void env_key(const char *id, enum caches caches, struct buf *out)
{
	buf_fmt(out, "%s %s", id, caches_name(caches));
}

static struct data_env *find_env(const struct dataset *d, const char *id, enum caches caches)
{
	struct buf key = BUF_INIT;
	struct data_env *env;

	env_key(id, caches, &key);
	env = map_get(&d->envs, key.s, key.n);
	buf_free(&key);
	return env;
}

static void describe(struct data_env *env, const struct limits *limits)
{
	env->limits = *limits;
	features_rates(&env->limits, &env->rates);
}

/* The env's limits hold whatever the state of the caches is. */
static struct data_env *env_of(struct dataset *d, const char *id, enum caches caches)
{
	struct data_env *env = find_env(d, id, caches);
	struct buf key = BUF_INIT;

	if (env)
		return env;
	env = arena_new(&d->arena, struct data_env);
	env->id = arena_strdup(&d->arena, id);
	env->caches = caches;
	describe(env, &d->here);
	for (int i = 0; i < CACHES_STATES; i++) {
		const struct data_env *other = find_env(d, id, (enum caches)i);

		if (other && other->known) {
			describe(env, &other->limits);
			env->known = 1;
		}
	}
	env_key(id, caches, &key);
	*map_put(&d->envs, key.s, key.n, NULL) = env;
	buf_free(&key);
	return env;
}

/* Reads from a probe of what kind the machine is. */
static void read_probe(const struct json_doc *doc, const struct json *probe, struct limits *m)
{
	const struct json *rates = json_get(doc, probe, "bandwidth_all");
	double peak, all, l3;

	if (!json_num(json_get(doc, probe, "peak_flops"), &peak))
		m->wide_turns = isa_wide_turns(m, peak);
	if (!json_num(json_get(doc, probe, "peak_flops_all"), &all) &&
	    !json_num(json_get(doc, rates, "l3"), &l3))
		m->l3_rate = isa_l3_rate(m, all, l3);
}

/* Limits as the "env" object tells them. */
static void read_env(struct dataset *d, const struct json *v, const char *id)
{
	const struct json_doc *doc = &d->doc;
	struct limits limits = d->here;
	int64_t threads = limits.threads;
	const char *isa;

	if (json_str(json_get(doc, v, "isa"), &d->scratch, &isa) ||
	    target_isa_limits(isa, &limits) < 0)
		return;
	number(doc, v, "l1d", &limits.l1d);
	number(doc, v, "l2", &limits.l2);
	number(doc, v, "l3", &limits.l3);
	number(doc, v, "threads", &threads);
	limits.threads = (int)threads;
	read_probe(doc, json_get(doc, v, "probe"), &limits);
	for (int i = 0; i < CACHES_STATES; i++) {
		struct data_env *env = find_env(d, id, (enum caches)i);

		if (env) {
			describe(env, &limits);
			env->known = 1;
		}
	}
}

/* ---- uses ---- */

static void add_use(struct data_use *u, struct arena *a, const char *source)
{
	size_t n = strcspn(source, ":");
	int i = 0;

	u->count++;
	while (i < u->nnetworks &&
	       (strlen(u->network[i]) != n || memcmp(u->network[i], source, n) != 0))
		i++;
	if (i == sizeof u->network / sizeof *u->network)
		return;
	if (i == u->nnetworks)
		u->network[u->nnetworks++] = arena_strndup(a, source, n);
	u->times[i]++;
}

static int add_workload(struct dataset *d, struct err *e)
{
	const struct json_doc *doc = &d->doc;
	struct data_use *u;
	struct workload w;
	const char *source;
	void **place;

	if (workload_from_json(&w, doc, doc->tok, e))
		return -1;
	place = map_put(&d->uses, w.id.s, ID_HEX, NULL);
	if (*place)
		return 0;
	*place = u = arena_new(&d->arena, struct data_use);
	u->family = family_of(&w, &d->arena);
	for (const struct json *list = json_get(doc, doc->tok, "source"),
			       *v = json_first(doc, list);
	     v; v = json_next(doc, list, v))
		if (!json_str(v, &d->scratch, &source))
			add_use(u, &d->arena, source);
	return 0;
}

void dataset_matrix(const struct data_group *g, float *x)
{
	for (int64_t i = 0; i < g->n; i++)
		memcpy(x + i * FEATURES, g->row[i].f, sizeof *x * FEATURES);
}

const struct data_use *dataset_use(const struct dataset *d, const struct workload *w)
{
	return map_get(&d->uses, w->id.s, ID_HEX);
}

/* ---- results ---- */

static struct data_group *group_of(struct dataset *d, const struct workload *w,
				   const struct data_env *env)
{
	struct buf key = BUF_INIT;
	struct data_group *g;
	void **place;

	buf_fmt(&key, "%s %s %s", env->id, caches_name(env->caches), w->id.s);
	place = map_put(&d->groups, key.s, key.n, NULL);
	g = *place;
	if (!g) {
		*place = g = arena_new(&d->arena, struct data_group);
		g->w = *w;
		g->env = env;
		g->family = family_of(w, &d->arena);
	}
	buf_free(&key);
	return g;
}

static struct data_row *new_row(struct data_group *g)
{
	if (g->n == g->cap) {
		g->cap = g->cap * 2 + 64;
		g->row = xrealloc(g->row, sizeof *g->row * (size_t)g->cap);
	}
	memset(&g->row[g->n], 0, sizeof *g->row);
	return &g->row[g->n++];
}

/* The row of a candidate, new or known. */
static struct data_row *row_of(struct dataset *d, struct data_group *g, const struct candidate *c)
{
	intptr_t known = (intptr_t)map_get(&g->ids, c->id.s, ID_HEX);
	struct data_row *r;

	if (known)
		return &g->row[known - 1];
	r = new_row(g);
	r->candidate_id = c->id;
	r->algo = c->algo;
	memcpy(r->knob, c->knob, sizeof r->knob);
	*map_put(&g->ids, c->id.s, ID_HEX, NULL) = (void *)(intptr_t)g->n;
	d->nrows++;
	return r;
}

/* Statuses that are the candidate's fault; one that was good in another run is good. */
static int is_failure(enum status s)
{
	return status_may_pass(s) || s == STATUS_BUILD || s == STATUS_WRONG;
}

/* The time of a result. If it was compared in a duel with a candidate of known time, this is that
 * time divided by their ratio, so that it hardly matters when either was measured. Otherwise it is
 * its own time. 0: none.
 *
 * A search duels with the winner of the last duel, and a winner's ratio flatters it. OWN of its own
 * time keeps the errors of such a chain from adding up. */
static int time_of(const struct data_group *g, const struct result *s, struct data_row *r,
		   double *latency, struct err *e)
{
	static const double OWN = 0.3;
	const char *id = s->duel.against;
	intptr_t known = id ? (intptr_t)map_get(&g->ids, id, strlen(id)) : 0;
	const struct data_row *against = known ? &g->row[known - 1] : NULL;
	double ratio;

	*latency = isnan(s->latency_s) ? 0 : s->latency_s;
	if (s->stage == STAGE_FINAL)
		return 0;
	if (result_ratio(s, &ratio, e) < 0)
		return -1;
	if (!against || !(ratio > 0) || !(against->latency_s > 0))
		return 0;
	*latency = against->chained && *latency > 0
			   ? pow(against->latency_s / ratio, 1 - OWN) * pow(*latency, OWN)
			   : against->latency_s / ratio;
	r->chained = 1;
	return 0;
}

/* Returns how many times as slow a result is to be taken for as its median says. The closest
 * samples, more than half of them and at least FEWEST_SAMPLES, in a duel of its pairs' ratios, may
 * lie SCATTER apart. Beyond that the slowest counts, but for a fifth of them. */
static double slower_by(const struct result *s)
{
	const struct numbers *own = &s->samples_s, *other = &s->duel.samples_s;
	const int n = own->n, most = n / 2 + 1 > FEWEST_SAMPLES ? n / 2 + 1 : FEWEST_SAMPLES;
	double *x, width = INFINITY, middle = 1, slower;

	if (n < FEWEST_SAMPLES)
		return 1;
	x = xmalloc(sizeof *x * (size_t)n);
	for (int i = 0; i < n; i++)
		x[i] = own->v[i] / (other->n == n ? other->v[i] : 1);
	sort_numbers(x, (size_t)n);
	slower = x[n - n / 5 - 1] / x[n / 2];
	for (int i = 0; i + most <= n; i++)
		if (x[i + most - 1] - x[i] < width) {
			width = x[i + most - 1] - x[i];
			middle = x[i + most / 2];
		}
	free(x);
	return width > SCATTER * middle ? slower : 1;
}

static int add_result(struct dataset *d, const struct candidate *c, struct err *e)
{
	const struct json *v = json_get(&d->doc, d->doc.tok, "env");
	struct data_group *g;
	struct data_env *env;
	struct data_row *r;
	struct result s;
	double latency;

	result_read(&s, &d->doc, &d->scratch);
	if (s.status == STATUS_FILTERED)
		return 0;
	if (!s.env_id)
		return err_set(e, "\"env_id\" is missing or not a string");
	if (c->target != d->target || !features_know(features_list(d->target), &c->w.dtype)) {
		d->others++;
		return 0;
	}
	env = env_of(d, s.env_id, s.cache ? (enum caches)caches_find(s.cache) : CACHES_WARM);
	if (v && !env->known)
		read_env(d, v, s.env_id);
	g = group_of(d, &c->w, env);
	if (!isnan(s.baseline.latency_s))
		g->native_s = s.baseline.latency_s;
	if (env->limits.target != d->target)
		return 0;
	r = row_of(d, g, c);
	if (is_failure(s.status))
		r->failed = !r->latency_s && !r->bound_s;
	if (time_of(g, &s, r, &latency, e) < 0)
		return -1;
	if (!(latency > 0))
		return 0;
	r->failed = 0;
	if (s.status == STATUS_PREEMPTED)
		r->bound_s = latency > r->bound_s ? latency : r->bound_s;
	if (s.status != STATUS_OK)
		return 0;
	latency *= slower_by(&s);
	if (!r->latency_s || latency < r->latency_s)
		r->latency_s = latency;
	if (!g->best_s || latency < g->best_s)
		g->best_s = latency;
	return 0;
}

int dataset_add(struct dataset *d, const char *line, size_t n, struct err *e)
{
	const struct json *type;
	struct candidate c;

	arena_reset(&d->scratch);
	if (json_parse(&d->doc, line, n, e) < 0)
		return -1;
	type = json_get(&d->doc, d->doc.tok, "type");
	if (json_is(type, "workload"))
		return add_workload(d, e);
	if (!json_is(type, "result"))
		return 0;
	if (door_result(&d->door, &d->doc, &c, e) < 0)
		return -1;
	return add_result(d, &c, e);
}

/* ---- features ---- */

/* A row whose features are computed. */
struct lacking {
	struct data_row *row;
	struct arena *arena;
};

static int take_features(void *item, const struct featurized *found, struct err *e)
{
	const struct lacking *k = item;

	(void)e;
	if (!found || found->why)
		return 0;
	k->row->draft_s = found->draft_s;
	k->row->prior = -features_cold(found->x);
	k->row->f = arena_array(k->arena, float, FEATURES);
	memcpy(k->row->f, found->x, sizeof *k->row->f * FEATURES);
	return 0;
}

static int describe_group(struct dataset *d, struct data_group *g, struct featurizer *f,
			  struct err *e)
{
	struct candidate c = {.w = g->w, .target = d->target};

	for (int64_t i = g->described; i < g->n; i++) {
		const struct lacking k = {&g->row[i], &d->arena};

		c.algo = g->row[i].algo;
		memcpy(c.knob, g->row[i].knob, sizeof c.knob);
		if (featurizer_put(f, &c, &k, e) < 0)
			return -1;
	}
	return 0;
}

static int describe_env(struct dataset *d, const struct data_env *env, struct err *e)
{
	struct featurizer *f =
		featurizer_new(env, 1, sizeof(struct lacking), ROWS_TOGETHER, take_features);
	int rc = 0;

	for (size_t i = 0; i < d->groups.n && rc == 0; i++)
		if (dataset_group(d, i)->env == env)
			rc = describe_group(d, dataset_group(d, i), f, e);
	if (rc == 0)
		rc = featurizer_finish(f, e);
	featurizer_free(f);
	return rc;
}

/* Rows without features leave, and their times with them. */
static void keep_described(struct dataset *d, struct data_group *g)
{
	const int64_t had = g->n;
	int64_t i = g->described;

	while (i < had && g->row[i].f)
		i++;
	g->described = had;
	if (i == had)
		return;
	g->n = 0;
	g->best_s = 0;
	map_free(&g->ids);
	for (i = 0; i < had; i++) {
		const struct data_row *r = &g->row[i];

		if (!r->f)
			continue;
		if (r->latency_s > 0 && (!(g->best_s > 0) || r->latency_s < g->best_s))
			g->best_s = r->latency_s;
		g->row[g->n++] = *r;
		*map_put(&g->ids, r->candidate_id.s, ID_HEX, NULL) = (void *)(intptr_t)g->n;
	}
	g->described = g->n;
	d->nrows -= had - g->n;
}

int dataset_finish(struct dataset *d, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < d->envs.n && rc == 0; i++)
		rc = describe_env(d, d->envs.item[i].value, e);
	for (size_t i = 0; i < d->groups.n && rc == 0; i++)
		keep_described(d, dataset_group(d, i));
	return rc;
}
