/* tl-filter: candidates -> those most worth building.
 *
 * A group's candidates stream by, through three stages, the cheapest first: what the static checks
 * refuse is gone, as is what the analytic draft puts far behind; of the rest the best by the model
 * (or by the draft, where there is none) are held back until the group's end. The model is asked in
 * batches. Candidates outside of a group (a dump) are held by workload until the end of the input.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/algo/candidate.h"
#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/base/rng.h"
#include "lib/io/clock.h"
#include "lib/io/json.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/model/dataset.h"
#include "lib/model/default.h"
#include "lib/model/model.h"
#include "lib/target/cpu.h"

enum {
	EXPLORE_FROM = 8, /* from this k on, one of those kept is drawn from the refused */
	BATCH = 2048,	  /* candidates that the model is asked about at once */
};

/* The draft puts a candidate this many times behind the best so far: the model is not asked. */
static const double DRAFT_FAR = 4;

static int64_t keep = 32, seed = 1;
static double diverse = 1.0 / 3, audit, explore;
static const char *output, *refused_path, *model_path, *by;
static int tell_cost;

static const struct opt opts[] = {
	{'k', "keep", OPT_COUNT, &keep, "N",
	 "Candidates to pass on for each workload. A workload with a \"budget\" gets that many.",
	 NULL},
	{0, "diverse", OPT_REAL, &diverse, "SHARE",
	 "At most this share of them has the same register tile, as long as there are others (a "
	 "third); 1: any number.",
	 NULL},
	{'m', "model", OPT_FILE, &model_path, "FILE",
	 "Rank by this model, as tl-train makes it. By default $TL_MODEL, if that is set.", NULL},
	{0, "by", OPT_ENUM, &by, "WHAT",
	 "Rank by the model, by the analytic draft alone, or not at all: then those that come "
	 "first "
	 "are passed on. By default by the model, if there is one.",
	 "model|draft|none"},
	{0, "explore", OPT_REAL, &explore, "C",
	 "Rank by the model's value plus C times its deviation: the unknown is worth a look. "
	 "Default "
	 "0.",
	 NULL},
	{0, "audit", OPT_REAL, &audit, "SHARE",
	 "Let this share of what is refused through all the same, drawn at random and marked "
	 "\"audit\" in its score, so that it is known what refusing costs. Default 0.",
	 NULL},
	{0, "seed", OPT_COUNT, &seed, "N",
	 "From -k 8 on, one of those passed on is drawn at random from the refused; by this seed.",
	 NULL},
	{0, "refused", OPT_FILE, &refused_path, "FILE",
	 "Write the refused to FILE, as results of status \"filtered\". FILE is replaced at the "
	 "end.",
	 NULL},
	{0, "cost", OPT_FLAG, &tell_cost, NULL,
	 "Tell in each end record the CPU seconds that the group took, as inference_s. Without it "
	 "the "
	 "same input gives the same output.",
	 NULL},
	{'o', "output", OPT_FILE, &output, "FILE",
	 "Write to FILE instead of standard output. FILE is replaced at the end.", NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-filter",
	.summary = "pass on the candidates most worth building",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* A candidate that is held, with its line. */
struct pick {
	double rank;			  /* the least is the best */
	double draft_s, value, deviation; /* the last two by the model */
	struct id id;
	char *line;
	size_t n;
	struct pool *pool;
	int taken;
};

/* The best of those that share a register tile, at most k. */
struct pool {
	struct pick *pick;
	int64_t n, cap, worst, taken;
};

struct group {
	struct id workload_id;
	int opened; /* by a workload record */
	int64_t k, seen, refused;
	double best_s, best_value; /* by the draft, by the model */
	struct map ids, pools;	   /* seen; by register tile */
	struct rng rng;
	struct pick spare; /* the one drawn from the refused so far */
	int64_t spares;	   /* of how many */
	struct pick *lost; /* with --refused: the others */
	int64_t nlost, caplost;
	struct pick *audited;
	int64_t naudited, capaudited;
};

/* Candidates that wait for the model. While it is asked about one batch, in a thread of its own,
 * the next one fills. */
struct batch {
	int n;
	struct waiting {
		struct group *group;
		struct pool *pool;
		struct pick pick;
	} waiting[BATCH];
	float x[BATCH * FEATURES];
	double value[BATCH], deviation[BATCH];
	struct err e;
};

static struct {
	struct data_env here;
	struct model *model; /* NULL: none is asked */
	struct rec_in *in;
	struct rec_out *out, *refused;
	struct map groups; /* by workload id; NULL once ended */
	struct group *open;
	struct arena arena; /* of one record */
	struct json_doc doc;
	struct buf line, value;
	uint64_t cut;
	double told_s; /* CPU time that end records have told of */
	/* The workload read last, and its text. */
	struct buf text;
	struct workload workload;
	struct batch batch[2], *filling, *asked; /* asked: NULL, or the other one */
	pthread_t asking;
} filter;

/* ---- picks and pools ---- */

static int before(const struct pick *a, const struct pick *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	return strcmp(a->id.s, b->id.s) < 0;
}

static int compare_picks(const void *pa, const void *pb)
{
	const struct pick *const *a = pa, *const *b = pb;

	return before(*a, *b) ? -1 : before(*b, *a);
}

/* Was the model asked about it? */
static int is_judged(const struct pick *p)
{
	return filter.model && p->value > -INFINITY;
}

/* "score" of a candidate; tag NULL: none. */
static void print_score(const struct pick *p, const char *tag, struct buf *out)
{
	buf_fmt(out, "{\"draft_s\":%.9g", p->draft_s);
	if (is_judged(p))
		buf_fmt(out, ",\"model\":%.5g,\"deviation\":%.3g", p->value, p->deviation);
	if (tag)
		buf_fmt(out, ",\"%s\":true", tag);
	buf_ch(out, '}');
}

/* How many times as long as the best it takes, by who ranks. */
static double times_best(const struct group *g, const struct pick *p)
{
	return is_judged(p) ? exp2(g->best_value - p->value) : p->draft_s / g->best_s;
}

/* The record of a refused candidate; why NULL: it was slower than the best. */
static int put_refused(const struct group *g, const char *line, size_t n, const struct pick *p,
		       const char *why, struct err *e)
{
	struct json_field f[] = {
		{"type", "\"result\""}, {"score", NULL}, {"status", "\"filtered\""},
		{"why", NULL},		{"at", NULL},
	};
	struct buf score = BUF_INIT;
	char now[25], at[28];
	int rc;

	buf_clear(&filter.value);
	if (why) {
		buf_json(&filter.value, why, strlen(why));
	} else {
		print_score(p, NULL, &score);
		f[1].value = score.s;
		buf_fmt(&filter.value, "\"predicted to take %.3g times as long as the best\"",
			times_best(g, p));
	}
	f[3].value = filter.value.s;
	rec_now(now);
	snprintf(at, sizeof at, "\"%s\"", now);
	f[4].value = at;
	buf_clear(&filter.line);
	rc = json_parse(&filter.doc, line, n, e);
	if (rc == 0)
		json_rewrite(&filter.doc, f, 5, &filter.line);
	buf_free(&score);
	return rc ? -1 : rec_put(filter.refused, filter.line.s, filter.line.n, e);
}

static void add_pick(struct pick **list, int64_t *n, int64_t *cap, const struct pick *p)
{
	if (*n == *cap) {
		*cap = *cap * 2 + 64;
		*list = xrealloc(*list, sizeof **list * (size_t)*cap);
	}
	(*list)[(*n)++] = *p;
}

static void lose(struct group *g, const struct pick *p)
{
	if (audit > 0 && rng_unit(&g->rng) < audit)
		add_pick(&g->audited, &g->naudited, &g->capaudited, p);
	else if (filter.refused)
		add_pick(&g->lost, &g->nlost, &g->caplost, p);
	else
		free(p->line);
}

/* Takes the pick, line and all. Each refused candidate has the same chance to stay as the spare
 * (Vitter, "Random sampling with a reservoir", ACM TOMS 11, 1985, algorithm R). */
static void refuse(struct group *g, struct pick *p)
{
	struct pick loser = *p;

	if (rng_below(&g->rng, (uint64_t)++g->spares) == 0) {
		loser = g->spare;
		g->spare = *p;
	}
	if (loser.line)
		lose(g, &loser);
}

/* Is it among the best k so far? */
static int pool_wants(const struct pool *p, int64_t k, const struct pick *c)
{
	return p->n < k || (k && before(c, &p->pick[p->worst]));
}

static void pool_add(struct group *g, struct pool *p, struct pick *c)
{
	if (p->n < g->k) {
		if (p->n == p->cap) {
			p->cap = p->cap * 2 + 4;
			p->pick = xrealloc(p->pick, sizeof *p->pick * (size_t)p->cap);
		}
		p->pick[p->n++] = *c;
	} else {
		refuse(g, &p->pick[p->worst]);
		p->pick[p->worst] = *c;
	}
	p->worst = 0;
	for (int64_t i = 1; i < p->n; i++)
		if (before(&p->pick[p->worst], &p->pick[i]))
			p->worst = i;
}

/* What counts as the same register tile. */
static struct pool *pool_of(struct group *g, const struct candidate *c)
{
	static const char *const tile[] = {"vl", "nv", "mr"};
	struct {
		const struct algo *algo;
		int64_t knob[3];
	} key = {c->algo, {0, 0, 0}};
	void **at;

	for (int i = 0; i < c->algo->nknobs; i++)
		for (int j = 0; j < 3; j++)
			if (!strcmp(c->algo->knob[i].name, tile[j]))
				key.knob[j] = c->knob[i];
	at = map_put(&g->pools, (const char *)&key, sizeof key, NULL);
	if (!*at)
		*at = xcalloc(1, sizeof(struct pool));
	return *at;
}

/* ---- groups ---- */

static struct group *group_new(const char *workload_id)
{
	struct group *g = xcalloc(1, sizeof *g);

	memcpy(g->workload_id.s, workload_id, ID_HEX);
	g->k = keep;
	g->best_value = -INFINITY;
	rng_seed(&g->rng, (uint64_t)seed, workload_id);
	*map_put(&filter.groups, workload_id, ID_HEX, NULL) = g;
	return g;
}

static void group_free(struct group *g)
{
	for (size_t i = 0; i < g->pools.n; i++) {
		struct pool *p = g->pools.item[i].value;

		free(p->pick);
		free(p);
	}
	for (int64_t i = 0; i < g->nlost; i++)
		free(g->lost[i].line);
	for (int64_t i = 0; i < g->naudited; i++)
		free(g->audited[i].line);
	free(g->lost);
	free(g->audited);
	free(g->spare.line);
	map_free(&g->pools);
	map_free(&g->ids);
	*map_put(&filter.groups, g->workload_id.s, ID_HEX, NULL) = NULL;
	if (filter.open == g)
		filter.open = NULL;
	free(g);
}

static int put_kept(const struct pick *p, const char *tag, struct err *e)
{
	struct buf score = BUF_INIT;
	struct json_field f = {"score", NULL};
	int rc = json_parse(&filter.doc, p->line, p->n, e);

	print_score(p, tag, &score);
	f.value = score.s;
	buf_clear(&filter.line);
	if (rc == 0)
		json_rewrite(&filter.doc, &f, 1, &filter.line);
	buf_free(&score);
	return rc ? -1 : rec_put(filter.out, filter.line.s, filter.line.n, e);
}

/* Marks the chosen among n picks in order. First come those that who ranks can tell from
 * one already chosen, with the limit on each register tile; places left go to any within the limit;
 * then to any. */
static void choose(struct pick **order, int64_t n, int64_t places, int64_t k)
{
	int64_t each = (int64_t)floor((double)k * diverse), taken = 0;

	if (each < 1)
		each = 1;
	for (int pass = 0; pass < 3; pass++) {
		double last = -INFINITY;

		for (int64_t i = 0; i < n && taken < places; i++) {
			struct pick *p = order[i];

			if (p->taken || (pass < 2 && p->pool->taken >= each) ||
			    (!pass && p->rank == last))
				continue;
			last = p->rank;
			p->taken = 1;
			p->pool->taken++;
			taken++;
		}
	}
}

/* ---- the model ---- */

static void offer(struct group *g, struct pool *pool, struct pick *p)
{
	if (pool_wants(pool, g->k, p))
		pool_add(g, pool, p);
	else
		refuse(g, p);
}

static void *predict(void *arg)
{
	struct batch *b = arg;

	model_predict(filter.model, b->x, (size_t)b->n, b->value, b->deviation, &b->e);
	return NULL;
}

/* Takes in what the model says of the batch that it was asked about. */
static int take_answer(struct err *e)
{
	struct batch *b = filter.asked;

	if (!b)
		return 0;
	pthread_join(filter.asking, NULL);
	filter.asked = NULL;
	if (*b->e.msg) {
		*e = b->e;
		return -1;
	}
	for (int i = 0; i < b->n; i++) {
		struct waiting *w = &b->waiting[i];

		w->pick.value = b->value[i];
		w->pick.deviation = b->deviation[i];
		w->pick.rank = -b->value[i] - explore * b->deviation[i];
		if (b->value[i] > w->group->best_value)
			w->group->best_value = b->value[i];
		offer(w->group, w->pool, &w->pick);
	}
	b->n = 0;
	return 0;
}

/* Asks the model about the batch that was filled, and lets the other one fill. */
static int ask(struct err *e)
{
	struct batch *b = filter.filling;

	if (take_answer(e) < 0)
		return -1;
	if (!b->n)
		return 0;
	b->e = (struct err)ERR_INIT;
	errno = pthread_create(&filter.asking, NULL, predict, b);
	if (errno)
		return err_sys(e, "cannot start a thread");
	filter.asked = b;
	filter.filling = &filter.batch[b == filter.batch];
	return 0;
}

/* Writes what a group keeps, best first, the random one last. Returns how many, or -1. */
static int64_t put_selection(struct group *g, struct err *e)
{
	struct pick **order;
	int64_t n = 0, kept = 0, places = g->k;
	int rc = ask(e) || take_answer(e), random;

	for (size_t i = 0; i < g->pools.n; i++)
		n += ((struct pool *)g->pools.item[i].value)->n;
	order = xmalloc(sizeof *order * (size_t)(n + 1));
	n = 0;
	for (size_t i = 0; i < g->pools.n; i++) {
		struct pool *p = g->pools.item[i].value;

		for (int64_t j = 0; j < p->n; j++) {
			p->pick[j].pool = p;
			order[n++] = &p->pick[j];
		}
	}
	if (n > 1)
		qsort(order, (size_t)n, sizeof *order, compare_picks);
	random = g->k >= EXPLORE_FROM && n + g->spares > g->k;
	choose(order, n, places - random, g->k);
	for (int64_t i = 0; i < n && !rc; i++) {
		if (order[i]->taken) {
			rc = put_kept(order[i], NULL, e);
			kept++;
		} else {
			refuse(g, order[i]);
			order[i]->line = NULL;
		}
	}
	if (random && !rc) {
		rc = put_kept(&g->spare, "random", e);
		kept++;
	} else if (g->spare.line) {
		lose(g, &g->spare);
		g->spare.line = NULL;
	}
	for (int64_t i = 0; i < n; i++)
		free(order[i]->line);
	free(order);
	for (int64_t i = 0; i < g->naudited && !rc; i++, kept++)
		rc = put_kept(&g->audited[i], "audit", e);
	for (int64_t i = 0; i < g->nlost && !rc; i++)
		rc = put_refused(g, g->lost[i].line, g->lost[i].n, &g->lost[i], NULL, e);
	g->refused = g->seen - kept;
	return rc ? -1 : kept;
}

/* A group that ends without its end record: its selection stands, but no end says that it is
 * whole. */
static int cut_off(struct group *g, struct err *e)
{
	opt_warn(&program,
		 "the input was cut off: workload %s has no end record; what came was selected "
		 "from",
		 g->workload_id.s);
	filter.cut++;
	if (put_selection(g, e) < 0)
		return -1;
	group_free(g);
	return 0;
}

/* ---- records ---- */

static int do_workload(const struct rec *r, struct err *e)
{
	struct json_doc *d;
	struct err why = ERR_INIT;
	const struct json *budget;
	struct workload w;
	struct group *g;
	int64_t k = keep;

	if (rec_parse(filter.in, r, &d))
		return 0;
	budget = json_get(d, d->tok, "budget");
	if (workload_from_json(&w, d, d->tok, &why) || (budget && (json_int(budget, &k) || k < 0) &&
							err_set(&why, "\"budget\" is no count"))) {
		rec_bad(filter.in, r, &why);
		return 0;
	}
	if (filter.open && filter.open->seen && cut_off(filter.open, e))
		return -1;
	g = map_get(&filter.groups, w.id.s, ID_HEX);
	if (!g)
		g = group_new(w.id.s);
	g->opened = 1;
	g->k = k;
	filter.open = g;
	return rec_put(filter.out, r->s, r->n, e);
}

/* Reads the candidate; an embedded workload that reads like the last one is not read again. */
static int read_candidate(const struct json_doc *d, struct candidate *c, struct err *e)
{
	const struct json *v = json_get(d, d->tok, "workload");

	if (!v || v->n != filter.text.n || memcmp(v->s, filter.text.s, v->n)) {
		buf_clear(&filter.text);
		if (workload_from_json(&filter.workload, d, v, e))
			return err_in(e, "workload");
		buf_add(&filter.text, v->s, v->n);
	}
	return candidate_from_json_with(c, d, 1, &filter.workload, e);
}

/* Where the model is asked: takes the pick. */
static int wait_for_model(struct group *g, struct pool *pool, const struct pick *p, struct err *e)
{
	struct batch *b = filter.filling;

	b->waiting[b->n++] = (struct waiting){g, pool, *p};
	return b->n == BATCH ? ask(e) : 0;
}

static struct group *group_of(const struct candidate *c)
{
	struct group *g = filter.open && !strcmp(filter.open->workload_id.s, c->w.id.s)
				  ? filter.open
				  : map_get(&filter.groups, c->w.id.s, ID_HEX);

	return g ? g : group_new(c->w.id.s);
}

/* A candidate that passes the static checks. */
static int rank(const struct rec *r, struct group *g, const struct candidate *c, struct pick *p,
		struct err *e)
{
	struct pool *pool = pool_of(g, c);
	int far = filter.model && g->best_s > 0 && p->draft_s > DRAFT_FAR * g->best_s;

	if (!g->best_s || p->draft_s < g->best_s)
		g->best_s = p->draft_s;
	p->id = c->id;
	p->value = -INFINITY;
	p->rank = !strcmp(by, "none") ? (double)g->seen : far ? INFINITY : p->draft_s;
	p->n = r->n;
	p->line = xmalloc(r->n);
	memcpy(p->line, r->s, r->n);
	if (filter.model && !far)
		return wait_for_model(g, pool, p, e);
	offer(g, pool, p);
	return 0;
}

static int do_candidate(const struct rec *r, struct err *e)
{
	struct batch *b = filter.filling;
	float *x = filter.model ? b->x + (size_t)b->n * FEATURES : NULL;
	struct candidate c;
	struct json_doc *d;
	struct err why = ERR_INIT;
	struct pick p = {0};
	struct group *g;
	int isnew;

	if (rec_parse(filter.in, r, &d))
		return 0;
	if (read_candidate(d, &c, &why)) {
		rec_bad(filter.in, r, &why);
		return 0;
	}
	g = group_of(&c);
	map_put(&g->ids, c.id.s, ID_HEX, &isnew);
	if (!isnew)
		return 0;
	g->seen++;
	if (candidate_features(&c, &filter.here, &filter.arena, &p.draft_s, x, &why) < 0)
		return filter.refused ? put_refused(g, r->s, r->n, NULL, why.msg, e) : 0;
	return rank(r, g, &c, &p, e);
}

static int do_end(const struct rec *r, struct err *e)
{
	char kept_text[24], refused_text[24];
	struct json_field f[] = {
		{"kept", kept_text}, {"refused", refused_text}, {"inference_s", NULL}};
	struct buf cost = BUF_INIT;
	const char *id;
	struct json_doc *d;
	struct err why = ERR_INIT;
	struct group *g;
	int64_t kept = 0, refused = 0;

	if (rec_parse(filter.in, r, &d))
		return 0;
	if (json_str(json_get(d, d->tok, "workload_id"), &filter.arena, &id)) {
		err_set(&why, "\"workload_id\" is missing or not a string");
		rec_bad(filter.in, r, &why);
		return 0;
	}
	g = map_get(&filter.groups, id, strlen(id));
	if (g) {
		kept = put_selection(g, e);
		if (kept < 0)
			return -1;
		refused = g->refused;
		group_free(g);
	}
	snprintf(kept_text, sizeof kept_text, "%lld", (long long)kept);
	snprintf(refused_text, sizeof refused_text, "%lld", (long long)refused);
	buf_clear(&filter.line);
	if (tell_cost) {
		buf_num(&cost, clock_cpu_since(&filter.told_s));
		f[2].value = cost.s;
	}
	json_rewrite(d, f, tell_cost ? 3 : 2, &filter.line);
	buf_free(&cost);
	return rec_put(filter.out, filter.line.s, filter.line.n, e);
}

static int select_all(struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(filter.in, &r, e)) > 0) {
		int rc;

		arena_reset(&filter.arena);
		if (r.type == REC_WORKLOAD)
			rc = do_workload(&r, e);
		else if (r.type == REC_CANDIDATE)
			rc = do_candidate(&r, e);
		else if (r.type == REC_END)
			rc = do_end(&r, e);
		else
			rc = rec_put(filter.out, r.s, r.n, e);
		if (rc)
			return -1;
	}
	if (more < 0 || rec_stopped())
		return more;
	for (size_t i = 0; i < filter.groups.n; i++) {
		struct group *g = filter.groups.item[i].value;

		if (!g)
			continue;
		if (g->opened && g->seen) {
			if (cut_off(g, e))
				return -1;
			continue;
		}
		if (put_selection(g, e) < 0)
			return -1;
		group_free(g);
	}
	if (filter.refused && rec_commit(filter.refused, e))
		return -1;
	return rec_commit(filter.out, e);
}

/* Who ranks. */
static int choose_judge(struct err *e)
{
	struct buf path = BUF_INIT;
	int there = model_default(model_path, 0, &path, e);

	if (there >= 0 && !by)
		by = there ? "model" : "draft";
	if (there == 0 && !strcmp(by, "model"))
		there = err_status(e, EXIT_USAGE,
				   "--by=model wants a model: name it with --model or in TL_MODEL");
	if (there > 0 && !strcmp(by, "model") &&
	    (!(filter.model = model_load(path.s, e)) || model_threads(filter.model, 1, e) < 0))
		there = -1;
	buf_free(&path);
	return there < 0 ? -1 : 0;
}

static int run(char **files, int nfiles)
{
	struct err e = ERR_INIT;

	if (choose_judge(&e) || cpu_limits(&filter.here.limits, &e) ||
	    !(filter.out = rec_create(output, &e)) ||
	    (refused_path && !(filter.refused = rec_create(refused_path, &e))) ||
	    !(filter.in = rec_open(files, nfiles, filter.out, &e)))
		return opt_fail(&program, &e);
	filter.filling = filter.batch;
	features_rates(&filter.here.limits, &filter.here.rates);
	if (select_all(&e)) /* a reader that has seen enough is no failure, unless more is lost */
		return rec_broken_pipe(filter.out) && !filter.refused ? EXIT_DONE
								      : opt_fail(&program, &e);
	return rec_bad_count(filter.in) || filter.cut ? EXIT_INPUT : EXIT_DONE;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;

	rec_stop_on_signals();
	status = run(argv + first, argc - first);
	rec_close(filter.in);
	rec_discard(filter.out);
	rec_discard(filter.refused);
	if (filter.asked)
		pthread_join(filter.asking, NULL);
	model_free(filter.model);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
