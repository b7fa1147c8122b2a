/* tl-gen: workloads -> candidates.
 *
 * History, so that nothing known is proposed again, comes from a database (-d) and from result
 * records that come before a workload in the stream; these, and the end records of their groups,
 * are consumed. A candidate is known once its result is final (ok, preempted, wrong, unsupported,
 * build), or once it failed twice otherwise (timeout, oom, crash).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/algo/candidate.h"
#include "lib/answer/local.h"
#include "lib/base/arena.h"
#include "lib/base/map.h"
#include "lib/extract/tally.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/io/json.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/model/default.h"
#include "lib/policy/first.h"
#include "lib/record/result.h"
#include "lib/report/algorithms.h"
#include "lib/search/search.h"
#include "lib/space/strict.h"
#include "lib/store/store.h"
#include "lib/target/target.h"

enum {
	CHANCES = 2,
	LOOK_UP_EVERY = 1024,
};

static const char *search_name = "random", *model_path, *algo_name, *database, *env_wanted, *output;
static const char *target_name, *arch, *caches;
static int64_t wanted = 4096, seed = 1;
static int show_cost, list_algos, list_knobs, list_manual, quiet, strict;

static const struct opt opts[] = {
	{'s', "search", OPT_STRING, &search_name, "NAME",
	 "The search strategy. \"random\" draws without replacement, \"grid\" takes every point "
	 "of the space in order, \"guided\" is an evolutionary search by a cost model, "
	 "\"evolution\" is Ansor's, by a model of the database's times of this machine alone, "
	 "\"portfolio\" begins with the schedules of a model's portfolio, and \"exec:COMMAND\" "
	 "asks another program. Default random.",
	 NULL, search_names},
	{'m', "model", OPT_FILE, &model_path, "FILE",
	 "The model for --search=guided and --search=portfolio, which tl-train made. By default "
	 "$TL_MODEL, else the one that came with the programs. \"none\": the analytic cost model "
	 "takes its place.",
	 "pretrained|none"},
	{'n', "number", OPT_COUNT, &wanted, "N",
	 "The number of candidates for each workload; 0: the whole space. Default 4096.", NULL},
	{0, "seed", OPT_COUNT, &seed, "N",
	 "The seed of the random numbers: the same seed gives the same candidates. Default 1.",
	 NULL},
	{'a', "algo", OPT_STRING, &algo_name, "NAME", "Propose candidates of this algorithm only.",
	 NULL, algo_names},
	{0, "list-algos", OPT_FLAG, &list_algos, NULL,
	 "List the algorithms that make kernels for the target, one on each line, and exit.", NULL},
	{0, "list-knobs", OPT_FLAG, &list_knobs, NULL,
	 "List the knobs of these algorithms, or of the one that -a names, and exit. For each "
	 "knob it tells the meaning, and the value that the knob has in a record that leaves it "
	 "out.",
	 NULL},
	{0, "list-manual", OPT_HIDDEN_FLAG, &list_manual, NULL, NULL, NULL},
	TARGET_OPTION(target_name),
	STRICT_OPTION(strict),
	ARCH_OPTION(arch),
	CACHES_OPTION(caches),
	{'d', "db", OPT_FILE, &database, "FILE",
	 "Propose no candidate that the database FILE knows in this env. Propose first the best "
	 "candidates that it knows in other envs, up to 8. Result records that come before a "
	 "workload in the stream are history, too. FILE's times of this machine also correct the "
	 "model; if the model ranks them badly, points are drawn at random.",
	 NULL},
	{0, "env", OPT_ENV_ID, &env_wanted, "ID",
	 "Use the history of this env only. By default tl-gen uses the database's history of "
	 "this machine's env, and all results in the stream.",
	 NULL},
	{0, "cost", OPT_FLAG, &show_cost, NULL,
	 "Write the CPU seconds that a group took into its end record, as search_s. Without it, "
	 "the same input gives the same output.",
	 NULL},
	OUTPUT_OPTION(output),
	QUIET_OPTION(quiet, ""),
	OPT_END,
};

static const struct program program = {
	.name = "tl-gen",
	.summary = "make candidate tensor programs",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* What is known of one workload: how many of its chances each candidate has used up, and the
 * records of those that ran, for a strategy that wants to be told. */
struct history {
	struct map used;  /* candidate id -> chances, as a number in the pointer */
	struct map wrong; /* candidates whose latency means nothing */
	struct buf told;  /* record lines */
};

static struct {
	const struct search *search;
	const char *command; /* exec's */
	struct data_env here;
	struct model *model;
	struct rec_in *in;
	struct rec_out *out;
	struct store *db;
	const char *env_id;   /* of the database's history, NULL if it has none */
	struct store_env env; /* the same */
	struct matcher
		*matcher;	/* of that env, for a search that goes by what is known elsewhere */
	struct map histories;	/* workload id -> struct history */
	struct arena run, work; /* for all time; for one workload */
	struct buf line, json;
	const struct json_doc *group; /* the workload's record */
	double until;		      /* clock_now() when no more is proposed; 0: not known yet */
	double told_s;		      /* CPU time that end records have told of */
	struct door door;
	int64_t workloads;	    /* for which candidates were asked */
	struct tally taken_by_none; /* those that no algorithm applies to, by operator and type */
} gen;

/* "exec:COMMAND, grid, ..." */
static void list_searches(char *names, size_t size)
{
	size_t n = 0;

	for (const struct search *const *s = search_list; *s && n < size; s++)
		n += (size_t)snprintf(names + n, size - n, "%s%s%s", n ? ", " : "", (*s)->name,
				      *s == &search_exec ? ":COMMAND" : "");
}

static struct history *history_of(const char *workload_id)
{
	void **at = map_put(&gen.histories, workload_id, strlen(workload_id), NULL);

	if (!*at)
		*at = arena_new(&gen.run, struct history);
	return *at;
}

static void learn(struct history *h, const char *candidate_id, enum status status)
{
	void **at;

	if (status == STATUS_FILTERED)
		return; /* it was never tried */
	if (status == STATUS_WRONG)
		*map_put(&h->wrong, candidate_id, strlen(candidate_id), NULL) = h;
	at = map_put(&h->used, candidate_id, strlen(candidate_id), NULL);
	*at = (void *)((intptr_t)*at + (status_may_pass(status) ? 1 : CHANCES));
}

static int is_known(const struct history *h, const char *candidate_id)
{
	return (intptr_t)map_get(&h->used, candidate_id, ID_HEX) >= CHANCES;
}

static int learn_from_record(const struct rec *r)
{
	struct json_doc *d;
	struct err e = ERR_INIT;
	struct history *h;
	struct candidate c;
	struct result s;

	if (rec_parse(gen.in, r, &d))
		return -1;
	if (door_result(&gen.door, d, &c, &e) < 0)
		return rec_bad(gen.in, r, &e);
	result_read(&s, d, &gen.work);
	if (env_wanted && (!s.env_id || strcmp(s.env_id, env_wanted) != 0))
		return 0;
	h = history_of(c.w.id.s);
	learn(h, c.id.s, s.status);
	if (gen.search->observe && s.status == STATUS_OK) {
		buf_add(&h->told, r->s, r->n);
		buf_ch(&h->told, '\n');
	}
	return 0;
}

static int learn_from_store(const char *workload_id, struct history *h, struct err *e)
{
	struct store_result *result;
	int64_t n;

	if (!gen.db || !gen.env_id)
		return 0;
	if (store_history(gen.db, workload_id, gen.env_id, &gen.work, &result, &n, e) < 0)
		return -1;
	for (int64_t i = 0; i < n; i++)
		learn(h, result[i].candidate_id.s, result[i].status);
	if (!gen.search->observe)
		return 0;
	if (store_top(gen.db, workload_id, gen.env_id, INT64_MAX, &gen.work, &result, &n, e) < 0)
		return -1;
	for (int64_t i = 0; i < n; i++) {
		buf_add(&h->told, result[i].record, result[i].record_n);
		buf_ch(&h->told, '\n');
	}
	return 0;
}

/* Hands the history to the strategy. */
static void observe_history(void *state, const struct history *h)
{
	struct json_doc d = JSON_DOC_INIT;
	const char *end = h->told.s + h->told.n;

	for (const char *p = h->told.s; p < end;) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct candidate c;
		double latency_s;

		if (!json_parse(&d, p, (size_t)(nl - p), NULL) &&
		    !candidate_from_json(&c, &d, 1, NULL) && !map_get(&h->wrong, c.id.s, ID_HEX) &&
		    !json_num(json_get(&d, d.tok, "latency_s"), &latency_s))
			gen.search->observe(state, &c, latency_s);
		p = nl + 1;
	}
	json_free(&d);
}

static int put_end(const struct workload *w, int64_t drawn, const char *why, int64_t passed_over,
		   struct err *e)
{
	buf_clear(&gen.line);
	rec_end_text(&gen.line, w->id.s, drawn, why);
	gen.line.n--; /* the brace */
	if (passed_over)
		field_integer(&gen.line, "passed_over", passed_over);
	if (show_cost)
		field_number(&gen.line, "search_s", clock_cpu_since(&gen.told_s));
	field_copy(&gen.line, "unit", json_get(gen.group, gen.group->tok, "unit"));
	field_copy(&gen.line, "claim", json_get(gen.group, gen.group->tok, "claim"));
	buf_ch(&gen.line, '}');
	return rec_put(gen.out, gen.line.s, gen.line.n, e);
}

/* match: what is known of it before anything is measured, as tl-query --predict tells it; NULL:
 * nothing. */
static int put_candidate(const struct candidate *c, const char *match, struct err *e)
{
	buf_clear(&gen.line);
	candidate_print_with(c, gen.json.s, gen.json.n, &gen.line);
	if (match) {
		gen.line.n--; /* the brace */
		field_text(&gen.line, "match", match);
		buf_ch(&gen.line, '}');
	}
	return rec_put(gen.out, gen.line.s, gen.line.n, e);
}

/* Proposes a schedule that is known to be good elsewhere, unless it is known here. */
static int take_first(void *history, const struct candidate *c, const char *match, struct err *e)
{
	struct history *h = history;

	if (is_known(h, c->id.s))
		return 0;
	if (put_candidate(c, match, e))
		return -1;
	learn(h, c->id.s, STATUS_OK); /* not twice */
	return 1;
}

/* Takes the candidates that are known before anything is measured here. */
static int draw_first(struct history *h, const struct search_space *space, int is_new,
		      int64_t *drawn, struct err *e)
{
	const struct first f = {.space = space,
				.db = gen.db,
				.env_id = gen.env_id,
				.matcher = gen.matcher,
				.is_new = is_new,
				.seed = (uint64_t)seed,
				.take = take_first,
				.to = h};

	return first_candidates(&f, &gen.work, drawn, e);
}

/* Points that became no candidate, beside those that the strategy itself passed over. */
struct refused {
	int64_t invalid, known;
	char first[200]; /* why the first one makes no program */
};

/* Why do the knobs of this candidate make no program? */
static void note_invalid(struct refused *r, const struct candidate *c)
{
	const char *why = "";

	if (r->invalid++)
		return;
	algo_valid(c->algo, &c->w, c->knob, &why);
	snprintf(r->first, sizeof r->first, "%s: %s", c->algo->name, why);
}

static void warn_passed(const struct workload *w, const struct search_passed *p,
			const struct refused *r, int64_t passed_over)
{
	struct buf text = BUF_INIT;

	if (p->outside)
		buf_fmt(&text, ", %lld not in the space (the first: %s)", (long long)p->outside,
			p->first_outside.msg);
	if (r->invalid)
		buf_fmt(&text, ", %lld that make no program (the first: %s)", (long long)r->invalid,
			r->first);
	if (p->repeated)
		buf_fmt(&text, ", %lld proposed before", (long long)p->repeated);
	if (r->known)
		buf_fmt(&text, ", %lld known already", (long long)r->known);
	opt_warn(&program, "%s: of %lld proposals for %s, %lld were passed over: %s", gen.command,
		 (long long)p->proposed, w->prob, (long long)passed_over, text.s + 2);
	buf_free(&text);
}

/* The end of a group; of one that another program decided, with what of it was passed over. */
static int end_group(const struct workload *w, int64_t drawn, int is_all, const void *state,
		     const struct refused *r, struct err *e)
{
	const struct search_passed *p = gen.search->passed ? gen.search->passed(state) : NULL;
	int64_t passed_over = p ? p->outside + p->repeated + r->invalid + r->known : 0;
	const char *why = !is_all ? "n reached" : "space exhausted";

	if (is_all && p && !gen.search->exhausted(state))
		why = "no more proposed";
	if (passed_over)
		warn_passed(w, p, r, passed_over);
	return put_end(w, drawn, why, passed_over, e);
}

/* Draws until there are as many as wanted. An interrupted group gets no end. */
static int draw(const struct workload *w, struct history *h, const struct search_space *space,
		void *state, struct err *e)
{
	struct candidate c = {.w = *w};
	struct refused refused = {.first = ""};
	int64_t drawn = 0;
	uint64_t point;
	int more;

	int is_new = !h->used.n;

	buf_clear(&gen.json);
	workload_fields(w, &gen.json);
	/* A search that learns from this machine alone is told of nothing else. */
	if (!gen.search->learns && draw_first(h, space, is_new, &drawn, e))
		return -1;
	for (uint64_t tries = 1;; tries++) {
		if (tries % LOOK_UP_EVERY == 0 && rec_stopped())
			return 0;
		if (wanted && drawn == wanted)
			return end_group(w, drawn, 0, state, &refused, e);
		more = gen.search->propose(state, &point);
		if (more < 0) {
			*e = *gen.search->error(state);
			return -1;
		}
		if (!more)
			return end_group(w, drawn, 1, state, &refused, e);
		if (!search_space_at(space, point, &c)) {
			note_invalid(&refused, &c);
			continue;
		}
		candidate_identify(&c);
		if (h->used.n && is_known(h, c.id.s)) {
			refused.known++;
			continue;
		}
		/* The first by a search in a model is the one that it predicts to be best. */
		if (put_candidate(&c, is_new && gen.model && !gen.search->learns ? "model" : NULL,
				  e))
			return -1;
		is_new = 0;
		drawn++;
	}
}

/* That no algorithm applies is an ordinary answer: the end record gives it, and the sentence at the
 * end of the run says for how many workloads. */
static int put_none(const struct workload *w, struct err *e)
{
	if (!algo_name)
		tally_add(&gen.taken_by_none,
			  arena_printf(&gen.work, "%s in %s", w->op->name, w->dtype_text));
	return put_end(w, 0, "no algorithm applies", 0, e);
}

static void say_none(void)
{
	struct buf text = BUF_INIT;
	int64_t n = tally_sum(&gen.taken_by_none);

	tally_print(&gen.taken_by_none, &text);
	if (n)
		opt_say(&program, "no algorithm applies to %lld of %lld workloads: %s",
			(long long)n, (long long)gen.workloads, text.s);
	buf_free(&text);
	tally_free(&gen.taken_by_none);
}

static int propose(const struct workload *w, int64_t round, struct err *e)
{
	struct history *h = history_of(w->id.s);
	struct search_space space;
	void *state;
	int rc;

	if (learn_from_store(w->id.s, h, e))
		return -1;
	search_space_init(&space, w, &gen.here, algo_name);
	if (gen.model && model_knows(gen.model, &w->dtype))
		space.model = gen.model;
	space.command = gen.command;
	space.wanted = wanted;
	gen.workloads++;
	if (!space.nalgos)
		return put_none(w, e);
	state = gen.search->start(&space, (uint64_t)seed, round, &gen.work);
	if (gen.search->observe && h->told.n)
		observe_history(state, h);
	rc = draw(w, h, &space, state, e);
	if (gen.search->stop)
		gen.search->stop(state);
	return rc;
}

/* As it came, but a workload written by hand gets its id, by which the programs behind know it. */
static int put_workload(const struct rec *r, const struct json_doc *d, const struct workload *w,
			struct err *e)
{
	struct buf set = BUF_INIT;

	if (json_get(d, d->tok, "workload_id"))
		return rec_put(gen.out, r->s, r->n, e);
	field_object(&set, NULL);
	field_text(&set, "workload_id", w->id.s);
	buf_clear(&gen.line);
	field_rewrite(d, &set, NULL, &gen.line);
	buf_free(&set);
	return rec_put(gen.out, gen.line.s, gen.line.n, e);
}

/* Proposals may take half of the time that the round has, for they are to be measured, too. */
static const double PROPOSING = 0.5;

static int take_until(const struct json_doc *d, struct err *e)
{
	double left_s;

	if (gen.until > 0)
		return 0;
	if (rec_seconds_left(d, &left_s, e) < 0)
		return -1;
	gen.until = clock_now() + PROPOSING * left_s;
	return 0;
}

static int do_workload(const struct rec *r, struct err *e)
{
	const struct json *v;
	struct json_doc *d;
	struct err why = ERR_INIT;
	struct workload w;
	int64_t round = 0;

	if (rec_parse(gen.in, r, &d))
		return 0;
	gen.group = d;
	v = json_get(d, d->tok, "round");
	if (workload_from_json(&w, d, d->tok, &why) || take_until(d, &why) ||
	    (v && (json_int(v, &round) || round < 0) && err_set(&why, "\"round\" is no count"))) {
		rec_bad(gen.in, r, &why);
		return 0;
	}
	v = json_get(d, json_get(d, d->tok, "prune"), "action");
	if (put_workload(r, d, &w, e))
		return -1;
	if (json_is(v, "stop"))
		return put_end(&w, 0, "stopped", 0, e);
	if (clock_now() >= gen.until)
		return put_end(&w, 0, "out of time", 0, e);
	return propose(&w, round, e);
}

static int generate(struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(gen.in, &r, e)) > 0) {
		arena_reset(&gen.work);
		switch (r.type) {
		case REC_WORKLOAD:
			if (do_workload(&r, e))
				return -1;
			break;
		case REC_RESULT:
			learn_from_record(&r);
			break;
		case REC_END:
			break;
		default:
			if (rec_put(gen.out, r.s, r.n, e))
				return -1;
		}
	}
	/* A file is only replaced by what is whole. */
	if (rec_stopped() && output)
		return 0;
	return more < 0 ? -1 : rec_commit(gen.out, e);
}

static int open_history(struct err *e)
{
	struct store_env env;
	int rc;

	gen.env_id = env_wanted;
	if (!database)
		return 0;
	if ((rc = store_is_there(database, e)) < 0)
		return -1;
	if (!rc) {
		opt_warn(&program, "the database %s is not there: nothing is known yet", database);
		return 0;
	}
	if (!(gen.db = store_open(database, STORE_READ, e)) ||
	    (rc = store_env_here(gen.db, target_named(target_name), env_wanted, &gen.run, &env,
				 e)) < 0)
		return -1;
	if (!rc)
		return 0;
	if (env.doubt)
		opt_warn(&program, "history is taken from env %s, the latest: %s", env.id,
			 env.doubt);
	gen.env_id = env.id;
	gen.env = env;
	if (gen.search->predicts && !gen.search->learns)
		gen.matcher = matcher_open(gen.db, &gen.env);
	return 0;
}

static int choose_search(struct err *e)
{
	static const char exec[] = "exec:";
	char names[256];

	if (!strncmp(search_name, exec, sizeof exec - 1)) {
		gen.command = search_name + sizeof exec - 1;
		search_name = "exec";
	}
	gen.search = search_find(search_name);
	if (gen.search && (gen.search != &search_exec || (gen.command && *gen.command)))
		return 0;
	list_searches(names, sizeof names);
	return err_status(e, EXIT_USAGE, "--search is \"%s\", and wants one of %s", search_name,
			  names);
}

/* The model that was asked for, or the one that came with the programs, as it suits this machine.
 */
static int read_model(struct err *e)
{
	char why[LOCAL_WHY];
	int rc = local_open(model_path, 1, &gen.here.limits, &gen.model, e);

	if (gen.model && gen.db && gen.env_id) {
		rc = local_adapt(gen.db, gen.env_id, &gen.here.limits, &gen.model, why, e);
		if (rc == ADAPTED_USELESS)
			opt_warn(&program, "%s: the draft ranks instead", why);
	}
	return rc < 0 ? -1 : 0;
}

/* Only who predicts needs one. */
static int make_model(struct err *e)
{
	if (gen.search->learns && gen.db && gen.env_id)
		return local_learn(gen.db, gen.env_id, &gen.here.limits, &gen.model, e);
	return gen.search->predicts && !gen.search->learns ? read_model(e) : 0;
}

/* ---- lists ---- */

static int is_list_wanted(void)
{
	return list_algos || list_knobs || list_manual;
}

static int print_list(void)
{
	const struct algorithms which = {target_named(target_name), algo_name};
	struct buf text = BUF_INIT;

	if (list_manual)
		algorithms_manual(&text);
	else if (list_knobs)
		algorithms_knobs(&which, &text);
	else
		algorithms_table(&which, &text);
	fputs(text.s, stdout);
	buf_free(&text);
	return opt_printed(&program) ? EXIT_INPUT : EXIT_DONE;
}

static void say_refused(void)
{
	char text[DOOR_SENTENCE];

	if (door_sentence(store_refused(gen.db), text))
		opt_warn(&program, "%s", text);
}

static int run(char **files, int nfiles)
{
	struct err e = ERR_INIT;

	if (algo_name && !algo_find(algo_name, strlen(algo_name))) {
		err_status(&e, EXIT_USAGE, "there is no algorithm \"%s\"%s", algo_name,
			   algo_hint(algo_name, strlen(algo_name)));
		return opt_fail(&program, &e);
	}
	if (is_list_wanted())
		return print_list();
	if (choose_search(&e) < 0)
		return opt_fail(&program, &e);
	/* Another process is asked for the env before there is a model, which brings threads. */
	if (target_limits(target_named(target_name), arch, &gen.here.limits, &e) ||
	    open_history(&e) || make_model(&e))
		return opt_fail(&program, &e);
	features_rates(&gen.here.limits, &gen.here.rates);
	gen.here.caches = caches_wanted(caches, target_named(target_name));
	if (!(gen.out = rec_create(output, &e)) || !(gen.in = rec_open(files, nfiles, gen.out, &e)))
		return opt_fail(&program, &e);
	if (generate(&e))
		return rec_broken_pipe(gen.out) ? EXIT_DONE : opt_fail(&program, &e);
	say_none();
	say_refused();
	return rec_bad_count(gen.in) ? EXIT_INPUT : EXIT_DONE;
}

int main(int argc, char **argv)
{
	int first, status;

	first = opt_parse(&program, argc, argv);
	if (strict)
		strict_set();
	rec_stop_on_signals();
	status = run(argv + first, argc - first);
	rec_close(gen.in);
	rec_discard(gen.out);
	matcher_close(gen.matcher);
	store_close(gen.db);
	model_free(gen.model);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
