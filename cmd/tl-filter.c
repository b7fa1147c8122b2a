/* tl-filter: candidates -> those most worth building.
 *
 * A group's candidates stream by, through three stages, the cheapest first: what the static checks
 * refuse is gone, as is what the analytic draft puts far behind; of the rest the best by the model
 * (or by the draft, where there is none) are held back until the group's end. The stages work in
 * batches, in threads of their own, and this one reads on. Candidates outside of a group (a dump)
 * are held by workload until the end of the input.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/algo/candidate.h"
#include "lib/answer/local.h"
#include "lib/base/arena.h"
#include "lib/base/batch.h"
#include "lib/base/map.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/io/json.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/model/predictor.h"
#include "lib/features/candidate_features.h"
#include "lib/model/default.h"
#include "lib/features/featurizer.h"
#include "lib/policy/picks.h"
#include "lib/policy/refuse.h"
#include "lib/record/status.h"
#include "lib/target/target.h"

static int64_t keep = 32, seed = 1;
static double hedge = -1, audit;
static const char *output, *refused_path, *model_path, *by, *database, *env_wanted;
static const char *target_name, *arch, *caches;
static int show_cost, on_trial, quiet;

static const struct opt opts[] = {
	{'k', "keep", OPT_COUNT, &keep, "N",
	 "The number of candidates to pass on for each workload. If a workload has a \"budget\", "
	 "that number is passed on. Default 32.",
	 NULL},
	{'m', "model", OPT_FILE, &model_path, "FILE",
	 "Rank by this model, which tl-train made, or by the one that came with the programs "
	 "(\"pretrained\"). \"none\": use no model. By default $TL_MODEL, if that is set.",
	 "pretrained|none"},
	{0, "by", OPT_ENUM, &by, "WHAT",
	 "Rank by the model, by the analytic cost model alone (draft), or not at all (none); "
	 "then the first candidates are passed on. By default the model, if there is one.",
	 "model|draft|none"},
	TARGET_OPTION(target_name),
	ARCH_OPTION(arch),
	CACHES_OPTION(caches),
	{'d', "db", OPT_FILE, &database, "FILE",
	 "With a model: as soon as this database has 64 times of this machine, correct the model "
	 "by them. If the model ranks them badly, rank by the draft instead.",
	 NULL},
	{0, "env", OPT_ENV, &env_wanted, "ID",
	 "With --db: use the times of this env; by default of this machine's.", NULL},
	{0, "hedge", OPT_REAL, &hedge, "SHARE",
	 "With a model: this share of the places is the draft's choice from the candidates that "
	 "the model would refuse, because the model may be wrong about a whole workload. Default "
	 "a quarter; with --db a third, until 64 times of this machine are known.",
	 NULL},
	{0, "audit", OPT_REAL, &audit, "SHARE",
	 "Pass on this share of the refused candidates, too, drawn at random. Their score is "
	 "marked \"audit\", so that you can see what refusing costs. Default 0.",
	 NULL},
	{0, "seed", OPT_COUNT, &seed, "N",
	 "From -k 8 on, one candidate that is passed on is drawn at random from the refused, "
	 "with this seed. Default 1.",
	 NULL},
	{0, "refused", OPT_OUTPUT, &refused_path, "FILE",
	 "Write the refused candidates to FILE, as results of status \"filtered\". FILE is "
	 "replaced at the end.",
	 NULL},
	{0, "cost", OPT_FLAG, &show_cost, NULL,
	 "Write the CPU seconds that a group took into its end record, as inference_s. Without "
	 "it, the same input gives the same output.",
	 NULL},
	OUTPUT_OPTION(output),
	QUIET_OPTION(quiet, ""),
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

struct group {
	struct id workload_id;
	int opened; /* by a workload record */
	int64_t seen, refused;
	int64_t given; /* with a "match": what is known to be good elsewhere is measured first */
	double best_s, best_value; /* by the draft, by the model */
	double best_screened;
	struct map ids; /* seen */
	struct picks picks;
};

/* A candidate that waits for what a stage says. */
struct waiting {
	struct group *group;
	struct pool *pool;
	struct pick pick;
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
	struct candidate_reader reader;
	/* The stages. The last two use the model. NULL: there is none. */
	struct featurizer *featurizer;
	struct predictor *screener, *predictor;
} filter;

/* ---- what is said of a candidate ---- */

/* Was the model asked about it? */
static int is_judged(const struct pick *p)
{
	return filter.model && p->value > -INFINITY;
}

/* "score" of a candidate; tag NULL: none. */
static void print_score(const struct pick *p, const char *tag, struct buf *out)
{
	field_object(out, "score");
	field_fmt(out, "draft_s", "%.9g", p->draft_s);
	if (is_judged(p))
		field_fmt(out, "model", "%.5g", p->value);
	if (is_judged(p) && p->deviation >= 0)
		field_fmt(out, "deviation", "%.3g", p->deviation);
	if (tag)
		field_flag(out, tag, 1);
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
	static const char *const owned[] = {"score", NULL};
	char now[25];
	int rc;

	buf_clear(&filter.value);
	field_object(&filter.value, NULL);
	field_text(&filter.value, "type", "result");
	if (!why)
		print_score(p, NULL, &filter.value);
	field_text(&filter.value, "status", status_name(STATUS_FILTERED));
	if (why)
		field_text(&filter.value, "why", why);
	else
		field_fmt(&filter.value, "why",
			  "\"predicted to take %.3g times as long as the best\"", times_best(g, p));
	rec_now(now);
	field_text(&filter.value, "at", now);
	buf_clear(&filter.line);
	rc = json_parse(&filter.doc, line, n, e);
	if (rc == 0)
		field_rewrite(&filter.doc, &filter.value, owned, &filter.line);
	return rc ? -1 : rec_put(filter.refused, filter.line.s, filter.line.n, e);
}

/* ---- groups ---- */

static struct group *group_new(const char *workload_id, int64_t k)
{
	const struct picks_rules rules = {
		.k = k,
		.hedge = filter.model ? refuse_hedge(k, hedge) : 0,
		.on_trial = on_trial,
		.audit = audit,
		.keep_refused = filter.refused != NULL,
	};
	struct group *g = xcalloc(1, sizeof *g);

	memcpy(g->workload_id.s, workload_id, ID_HEX);
	g->best_value = g->best_screened = -INFINITY;
	picks_open(&g->picks, &rules, (uint64_t)seed, workload_id);
	*map_put(&filter.groups, workload_id, ID_HEX, NULL) = g;
	return g;
}

static void group_free(struct group *g)
{
	picks_free(&g->picks);
	map_free(&g->ids);
	*map_put(&filter.groups, g->workload_id.s, ID_HEX, NULL) = NULL;
	if (filter.open == g)
		filter.open = NULL;
	free(g);
}

static int put_kept(const struct pick *p, const char *tag, struct err *e)
{
	int rc = json_parse(&filter.doc, p->line, p->n, e);

	buf_clear(&filter.value);
	field_object(&filter.value, NULL);
	print_score(p, tag, &filter.value);
	buf_clear(&filter.line);
	if (rc == 0)
		field_rewrite(&filter.doc, &filter.value, NULL, &filter.line);
	return rc ? -1 : rec_put(filter.out, filter.line.s, filter.line.n, e);
}

static int take_answer(void *item, const float *x, double value, double deviation, struct err *e)
{
	struct waiting *w = item;

	(void)x;
	(void)e;
	w->pick.value = value;
	w->pick.deviation = deviation;
	w->pick.rank = -value;
	if (value > w->group->best_value)
		w->group->best_value = value;
	picks_offer(&w->group->picks, w->pool, &w->pick);
	return 0;
}

/* Candidates that the first of the bag puts near the best go on to the whole model. */
static int take_screened(void *item, const float *x, double value, double deviation, struct err *e)
{
	struct group *g = ((struct waiting *)item)->group;

	if (value > g->best_screened)
		g->best_screened = value;
	if (!x || refuse_by_first(value, g->best_screened))
		return take_answer(item, x, value, deviation, e);
	return predictor_put(filter.predictor, item, x, e);
}

/* A candidate that passes the static checks. */
static int take_good(struct waiting *w, const struct featurized *d, struct err *e)
{
	struct group *g = w->group;
	const int has_model = filter.model && model_knows(filter.model, &d->candidate->w.dtype);
	int far = has_model && draft_refutes(d->draft_s, g->best_s);

	if (!g->best_s || d->draft_s < g->best_s)
		g->best_s = d->draft_s;
	w->pool = picks_pool(&g->picks, d->candidate);
	w->pick.draft_s = d->draft_s;
	if (strcmp(by, "none") != 0)
		w->pick.rank = far ? INFINITY : d->draft_s;
	if (has_model && !far)
		return predictor_put(filter.screener, w, d->x, e);
	picks_offer(&g->picks, w->pool, &w->pick);
	return 0;
}

static int take_draft(void *item, const struct featurized *d, struct err *e)
{
	struct waiting *w = item;
	int rc = 0;

	if (d && !d->why)
		return take_good(w, d, e);
	if (d && filter.refused)
		rc = put_refused(w->group, w->pick.line, w->pick.n, NULL, d->why, e);
	free(w->pick.line);
	return rc;
}

/* Waits for all answers, stage by stage. */
static int finish_stages(struct err *e)
{
	if (featurizer_finish(filter.featurizer, e) < 0 ||
	    (filter.screener && predictor_finish(filter.screener, e) < 0))
		return -1;
	return filter.predictor ? predictor_finish(filter.predictor, e) : 0;
}

/* Writes what a group keeps, best first, the random one last. Returns how many, or -1. */
static int64_t put_selection(struct group *g, struct err *e)
{
	struct picks *p = &g->picks;
	int rc = finish_stages(e);

	if (rc < 0)
		return -1;
	p->rules.k -= g->given;
	p->rules.given = g->given > 0;
	picks_close(p);
	for (int64_t i = 0; i < p->chosen.n && !rc; i++)
		rc = put_kept(&p->chosen.pick[i],
			      p->has_random && i == p->chosen.n - 1 ? "random" : NULL, e);
	for (int64_t i = 0; i < p->audited.n && !rc; i++)
		rc = put_kept(&p->audited.pick[i], "audit", e);
	for (int64_t i = 0; i < p->refused.n && !rc; i++)
		rc = put_refused(g, p->refused.pick[i].line, p->refused.pick[i].n,
				 &p->refused.pick[i], NULL, e);
	g->refused = g->seen - p->chosen.n - p->audited.n - g->given;
	return rc ? -1 : p->chosen.n + p->audited.n + g->given;
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
	if (workload_from_json(&w, d, d->tok, &why)) {
		rec_bad(filter.in, r, &why);
		return 0;
	}
	if (budget)
		json_int(budget, &k);
	if (filter.open && filter.open->seen && cut_off(filter.open, e))
		return -1;
	g = map_get(&filter.groups, w.id.s, ID_HEX);
	if (!g)
		g = group_new(w.id.s, k);
	g->opened = 1;
	g->picks.rules.k = k;
	filter.open = g;
	return rec_put(filter.out, r->s, r->n, e);
}

static struct group *group_of(const struct candidate *c)
{
	struct group *g = filter.open && !strcmp(filter.open->workload_id.s, c->w.id.s)
				  ? filter.open
				  : map_get(&filter.groups, c->w.id.s, ID_HEX);

	return g ? g : group_new(c->w.id.s, keep);
}

/* One that is not to be judged takes one of the places. */
static int pass_given(struct group *g, const struct rec *r, struct err *e)
{
	g->seen++;
	g->given++;
	return rec_put(filter.out, r->s, r->n, e);
}

static int do_candidate(const struct rec *r, struct err *e)
{
	struct candidate c;
	struct json_doc *d;
	struct err why = ERR_INIT;
	struct waiting w = {0};
	int isnew;

	if (rec_parse(filter.in, r, &d))
		return 0;
	if (candidate_read(&filter.reader, &c, d, 1, &why) ||
	    target_is(c.target, filter.here.limits.target, &why)) {
		rec_bad(filter.in, r, &why);
		return 0;
	}
	w.group = group_of(&c);
	map_put(&w.group->ids, c.id.s, ID_HEX, &isnew);
	if (!isnew)
		return 0;
	if (json_get(d, d->tok, "match") && w.group->given < w.group->picks.rules.k)
		return pass_given(w.group, r, e);
	w.pick.id = c.id;
	w.pick.value = -INFINITY;
	w.pick.rank = (double)++w.group->seen;
	w.pick.n = r->n;
	w.pick.line = xmalloc(r->n);
	memcpy(w.pick.line, r->s, r->n);
	return featurizer_put(filter.featurizer, &c, &w, e);
}

static int do_end(const struct rec *r, struct err *e)
{
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
	buf_clear(&filter.value);
	field_object(&filter.value, NULL);
	field_integer(&filter.value, "kept", kept);
	field_integer(&filter.value, "refused", refused);
	if (show_cost)
		field_number(&filter.value, "inference_s", clock_cpu_since(&filter.told_s));
	buf_clear(&filter.line);
	field_rewrite(d, &filter.value, NULL, &filter.line);
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

/* The model as it suits this machine; or none, if the draft is the better judge here. Returns what
 * local_adapt() does. */
static int adapt(struct store *db, const char *env_id, struct err *e)
{
	char why[LOCAL_WHY];
	int found = local_adapt(db, env_id, &filter.here.limits, &filter.model, why, e);

	if (found == ADAPTED_USELESS) {
		opt_warn(&program, "%s: the draft ranks instead", why);
		by = "draft";
	}
	return found;
}

/* Another process is asked for the env before there is a model, which brings threads. */
static int read_model(const char *path, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct store *db = NULL;
	struct store_env env;
	int rc = database ? store_is_there(database, e) : 0, found = ADAPTED_TOO_LITTLE;

	if (rc > 0) {
		db = store_open(database, STORE_READ, e);
		rc = db ? store_env_here(db, target_named(target_name), env_wanted, &a, &env, e)
			: -1;
	}
	if (rc >= 0 && !(filter.model = local_load(path, &filter.here.limits, e)))
		rc = -1;
	if (rc > 0)
		rc = found = adapt(db, env.id, e);
	on_trial = database && found == ADAPTED_TOO_LITTLE;
	store_close(db);
	arena_free(&a);
	return rc < 0 ? -1 : 0;
}

/* Who ranks. */
static int choose_judge(struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = model_default(model_path, 0, filter.here.limits.target, &path, e);

	if (rc >= 0 && !by)
		by = rc ? "model" : "draft";
	if (rc == 0 && !strcmp(by, "model"))
		rc = err_status(e, EXIT_USAGE,
				"--by=model wants a model: name it with --model or in TL_MODEL");
	if (rc > 0 && !strcmp(by, "model"))
		rc = read_model(path.s, e);
	if (hedge < 0)
		hedge = refuse_hedge_share(on_trial);
	buf_free(&path);
	return rc < 0 ? -1 : 0;
}

/* A thread is given so many candidates at a time: few, as a workload has about a thousand, and all
 * of it is answered before the next one begins. */
enum { FEATURIZED = 64 };

static void open_stages(void)
{
	const int model = filter.model != NULL;

	features_rates(&filter.here.limits, &filter.here.rates);
	filter.here.caches = caches_wanted(caches, target_named(target_name));
	filter.featurizer =
		featurizer_new(&filter.here, model, sizeof(struct waiting), FEATURIZED, take_draft);
	if (!model)
		return;
	filter.predictor = predictor_new(filter.model, 0, sizeof(struct waiting), take_answer);
	filter.screener = predictor_new(filter.model, 1, sizeof(struct waiting), take_screened);
}

static int run(char **files, int nfiles)
{
	struct err e = ERR_INIT;

	if (target_limits(target_named(target_name), arch, &filter.here.limits, &e) ||
	    choose_judge(&e) || !(filter.out = rec_create(output, &e)) ||
	    (refused_path && !(filter.refused = rec_create(refused_path, &e))) ||
	    !(filter.in = rec_open(files, nfiles, filter.out, &e)))
		return opt_fail(&program, &e);
	open_stages();
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
	featurizer_free(filter.featurizer);
	predictor_free(filter.screener);
	predictor_free(filter.predictor);
	candidate_reader_free(&filter.reader);
	model_free(filter.model);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
