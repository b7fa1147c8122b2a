/* tl-query: workloads -> the best known, the nearest, or what a model predicts; statistics; dumps.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/answer/few_shots.h"
#include "lib/answer/local.h"
#include "lib/answer/match.h"
#include "lib/answer/zero_shots.h"
#include "lib/extract/list/emit.h"
#include "lib/extract/select.h"
#include "lib/io/field.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/record/checksum.h"
#include "lib/report/across.h"
#include "lib/report/envs.h"
#include "lib/report/fleet.h"
#include "lib/report/gnuplot.h"
#include "lib/report/lines.h"
#include "lib/report/listing.h"
#include "lib/report/machine.h"
#include "lib/report/page.h"
#include "lib/report/totals.h"
#include "lib/space/strict.h"
#include "lib/store/cost.h"
#include "lib/store/store.h"
#include "lib/target/target.h"

static const char *database, *output, *env_id, *op_name, *prob, *layout, *post, *dtype, *dump,
	*target_name;
static const char *run_id, *since, *emit_form, *report_path, *plot_of, *color = "auto";
static int64_t top = 1;
static const char *model_path, *caches;
static double budget_s;
static int as_table, as_csv, wide, stats, cost, envs, fleet, metrics, predict, quiet, env_ids,
	strict;

static const struct opt opts[] = {
	OPTIONS_FOR("What is asked"),
	{'d', "db", OPT_FILE, &database, "FILE",
	 "The database; by default $TL_DB, else tl/tl.db in $XDG_DATA_HOME or ~/.local/share.",
	 NULL},
	TARGET_OPTION(target_name),
	{0, "env", OPT_ENV, &env_id, "ID",
	 "Answer for the env with this id; by default this machine's. any: with the best of each "
	 "env, also as a table that compares them.",
	 "any"},
	{0, "op", OPT_STRING, &op_name, "NAME",
	 "Ask for one workload of this operator, instead of reading records.", NULL, op_names},
	{0, "prob", OPT_STRING, &prob, "TEXT",
	 "The problem of this workload, in the notation of benchdnn: "
	 "mb1_ic64ih56_oc64oh56_kh3ph1.",
	 NULL},
	{0, "layout", OPT_STRING, &layout, "NAME",
	 "The layout of this workload; by default nhwc, ndhwc for conv3d, or ab for matrices.",
	 "nhwc|nchw|ndhwc|ncdhw|ab"},
	{0, "post", OPT_STRING, &post, "LIST",
	 "The post-ops of this workload, separated by commas; by default none.", NULL},
	{0, "dtype", OPT_STRING, &dtype, "TYPE",
	 "The element type of this workload, or three of them, such as u8:s8:f32. Default f32.",
	 NULL},
	{0, "top", OPT_COUNT, &top, "N",
	 "Answer with the N best candidates of each workload. Default 1.", NULL},
	STRICT_OPTION(strict),
	OPTIONS_FOR("Predictions"),
	{'p', "predict", OPT_FLAG, &predict, NULL,
	 "If the database does not know a workload in this env, answer at once with a candidate "
	 "that a model chooses: one known elsewhere and fitted to this workload, a schedule of "
	 "the model's portfolio, or the result of a search by the model. Needs no database.",
	 NULL},
	{'b', "budget", OPT_TIME, &budget_s, "TIME",
	 "With --predict: first tune, for this time, what the database does not know in this env: "
	 "the most important workloads first, by tl-tune, which stores the results in the "
	 "database. Only what is still not known is predicted. What tl-tune waits for other runs "
	 "on the machine is a part of this time.",
	 NULL},
	{'m', "model", OPT_FILE, &model_path, "FILE",
	 "With --predict: the model; by default $TL_MODEL, else the one that came with the "
	 "programs; \"none\": none.",
	 "pretrained|none"},
	CACHES_OPTION(caches),
	OPTIONS_FOR("Tables and reports"),
	{0, "table", OPT_FLAG, &as_table, NULL,
	 "Print a table for people, with the sum over all workloads, weighed by count.", NULL},
	{0, "csv", OPT_FLAG, &as_csv, NULL, "Print the figures of the table as CSV, in SI units.",
	 NULL},
	WIDE_OPTION(wide),
	COLOR_OPTION(color),
	{0, "report", OPT_OUTPUT, &report_path, "FILE",
	 "Write a report for people to FILE, which is replaced at the end. If its name ends in "
	 ".html, it is a page of HTML with plots, which needs no other file; if it ends in .md, "
	 "it is Markdown.",
	 NULL},
	{0, "plot", OPT_ENUM, &plot_of, "KIND",
	 "Write one of the report's plots: the operators before and after tuning, how the time "
	 "of all operators fell during tuning (convergence), the roofline, or what tuning cost "
	 "and saved. On a terminal gnuplot draws it with characters; elsewhere it is SVG.",
	 "operators|convergence|roofline|savings"},
	OPTIONS_FOR("Questions about the database"),
	{0, "stats", OPT_FLAG, &stats, NULL, "Print how much the database holds.", NULL},
	{0, "envs", OPT_FLAG, &envs, NULL,
	 "List the envs that the database has results of, and what differs from this machine's "
	 "env, or from that of --env.",
	 NULL},
	{0, "cost", OPT_FLAG, &cost, NULL,
	 "Print what tuning cost, by purpose, over all runs that the database knows.", NULL},
	{0, "run", OPT_ID, &run_id, "ID",
	 "With --cost: count only this run and the runs that are parts of it. \"last\" is the "
	 "last run.",
	 "last"},
	{0, "since", OPT_STRING, &since, "TIME",
	 "With --cost: count only runs that ended at TIME (2026-11-21T09:00:00.000Z) or later.",
	 NULL},
	{0, "fleet", OPT_FLAG, &fleet, NULL,
	 "Print how many units of work are open, leased and done, how long the others will take, "
	 "and who has some.",
	 NULL},
	{0, "prometheus", OPT_FLAG, &metrics, NULL,
	 "The same as metrics in the text format of Prometheus, for its node_exporter.", NULL},
	{0, "dump", OPT_ENUM, &dump, "KIND",
	 "Print every record of a kind: results, byte for byte as they were stored; workloads "
	 "with all their sources; runs with their costs; the choices of tl-run for whole networks; "
	 "or all of these and the end records.",
	 "results|workloads|runs|choices|all"},
	{0, "emit", OPT_ENUM, &emit_form, "FORM",
	 "Print every workload that the database knows in another form than records: command "
	 "lines of oneDNN's benchdnn or of MIOpen's driver, or a list with commas. tl-extract reads "
	 "all of them.",
	 EMIT_FORMS},
	{0, "env-ids", OPT_HIDDEN_FLAG, &env_ids, NULL, NULL, NULL}, /* for completion */
	OPTIONS_FOR("Output"),
	OUTPUT_OPTION(output),
	QUIET_OPTION(quiet, ""),
	OPT_END,
};

static const struct program program = {
	.name = "tl-query",
	.summary = "ask the database for the best known, for statistics or for all",
	.synopsis = "[--table | --csv] [OPTION...] [FILE...]\n"
		    "--op=NAME --prob=TEXT [OPTION...]\n"
		    "--predict [--budget=TIME] [OPTION...] [FILE...]\n"
		    "--report=FILE | --plot=KIND [OPTION...] [FILE...]\n"
		    "--stats | --envs | --cost [--run=ID | --since=TIME] [OPTION...]\n"
		    "--fleet | --prometheus [OPTION...]\n"
		    "--dump=KIND | --emit=FORM [OPTION...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* How many of what is known elsewhere are first candidates. */
enum { FOREIGN = 8 };

/* A workload that --budget lets wait for its answer until the tuning has ended. */
struct noted {
	struct workload w;
	struct noted *next;
};

struct query {
	const char *path; /* of the database */
	struct store *db; /* NULL with --predict alone */
	struct matcher *matcher;
	struct rec_out *out;
	struct store_env here;
	struct report report;
	struct arena run, record;
	struct json_doc doc;
	int missing, inexact;
	struct data_env env; /* with --predict, and these */
	struct model *model;
	struct zero_shots *predicted; /* what is still to be answered: it goes before the rest */
	struct buf line;
	struct few_shots *shots; /* with --budget, until all is read */
	struct noted *noted, **noted_end;
	int64_t asked, stale, foreign; /* workloads */
	struct across across;	       /* with --env=any */
};

static int print_text(struct rec_out *out, const struct buf *b, struct err *e)
{
	size_t n = b->n;

	return rec_put(out, b->s, n && b->s[n - 1] == '\n' ? n - 1 : n, e);
}

/* Are answers collected, to be told together? */
static int collects(void)
{
	return as_table || as_csv || report_path || plot_of;
}

/* Dumps, statistics and costs */

static enum output_form form(void)
{
	return as_csv ? OUTPUT_CSV : as_table ? OUTPUT_TEXT : OUTPUT_RECORD;
}

static struct table_look look(void)
{
	return table_look(color, wide, output && strcmp(output, "-") != 0);
}

static int dump_line(void *arg, const char *s, size_t n, struct err *e)
{
	return rec_put(arg, s, n, e);
}

static int run_dump(struct query *q, struct err *e)
{
	int kinds = !strcmp(dump, "results")	 ? STORE_RESULTS
		    : !strcmp(dump, "workloads") ? STORE_WORKLOADS
		    : !strcmp(dump, "runs")	 ? STORE_RUNS
		    : !strcmp(dump, "choices")	 ? STORE_CHOICES
						 : STORE_ALL;

	return store_dump(q->db, kinds, dump_line, q->out, e);
}

/* What a dump is collected in. */
struct collect {
	struct worklist works;
	struct json_doc *doc;
	struct arena *arena;
};

static int collect_line(void *arg, const char *s, size_t n, struct err *e)
{
	struct collect *c = arg;
	int64_t instances;

	arena_reset(c->arena);
	return json_parse(c->doc, s, n, e) < 0 ||
			       !worklist_merge(&c->works, c->doc, c->arena, "db", &instances, e)
		       ? -1
		       : 0;
}

static int run_emit(struct query *q, struct err *e)
{
	struct collect c = {{MAP_INIT}, &q->doc, &q->record};
	int r = store_dump(q->db, STORE_WORKLOADS, collect_line, &c, e);
	struct work **works = select_all(&c.works);
	struct buf text = BUF_INIT;
	int64_t left = 0, n = (int64_t)c.works.by_id.n;

	if (!r)
		left = emit(emit_form, works, n, &text);
	if (!r && text.n)
		r = print_text(q->out, &text, e);
	if (left)
		opt_say(&program, "--emit=%s has no words for %lld of %lld workload%s", emit_form,
			(long long)left, (long long)n, n == 1 ? "" : "s");
	free(works);
	worklist_free(&c.works);
	buf_free(&text);
	return r;
}

static int run_stats(struct query *q, struct err *e)
{
	const struct table_look as = look();
	struct store_stats s;
	struct buf b = BUF_INIT;
	int rc;

	if (store_stats(q->db, &q->run, &s, e))
		return -1;
	totals_stats(&s, form(), &as, &b);
	rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

static int run_env_ids(struct query *q, struct err *e)
{
	struct store_env *env;
	int n, rc = store_envs(q->db, &q->run, &env, &n, e);

	for (int i = 0; i < n && rc >= 0; i++)
		rc = rec_put(q->out, env[i].id, strlen(env[i].id), e);
	return rc < 0 ? -1 : 0;
}

static int run_cost(struct query *q, struct err *e)
{
	const struct cost_which which = {run_id, since};
	const struct table_look as = look();
	struct buf b = BUF_INIT;
	struct cost_sum sum;
	int rc = cost_sum(q->db, &which, &sum, e);

	if (rc < 0)
		return -1;
	if (!rc) {
		fprintf(stderr, "%s: the database knows no such run\n", program.name);
		return EXIT_NO;
	}
	totals_cost(&sum, form(), &as, &b);
	rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

/* Finds the env that the answers are for. An empty database knows none. */
static int find_here(struct query *q, struct err *e)
{
	int rc = !q->db ? 0
			: store_env_here(q->db, target_named(target_name), env_id, &q->run,
					 &q->here, e);

	if (!rc)
		q->here = (struct store_env){"", NULL, NULL};
	return rc < 0 ? -1 : 0;
}

static int run_envs(struct query *q, struct err *e)
{
	const struct table_look as = look();
	struct buf b = BUF_INIT;
	int rc = find_here(q, e);

	if (rc == 0 && q->here.doubt)
		opt_warn(&program, "envs are compared with that of the last result: %s",
			 q->here.doubt);
	if (rc == 0)
		rc = envs_put(q->db, &q->here, form(), &as, &b, e);
	if (rc == 0 && b.n)
		rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

static int run_fleet(struct query *q, struct err *e)
{
	const struct table_look as = look();
	struct buf b = BUF_INIT;
	int rc = metrics ? fleet_metrics(q->db, &b, e) : fleet_put(q->db, form(), &as, &b, e);

	if (rc == 0)
		rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

/* Answers */

/* The stored record with how it answers, and why that is not exact, behind it. */
static int print_result(struct query *q, const struct match *m, const struct store_result *r,
			struct err *e)
{
	struct buf line = BUF_INIT, set = BUF_INIT;
	int rc;

	if (json_parse(&q->doc, r->record, r->record_n, e))
		return err_in(e, "a result in the database");
	field_object(&set, NULL);
	field_text(&set, "match", match_name(m->how));
	field_text(&set, "why", m->why);
	field_rewrite(&q->doc, &set, NULL, &line);
	checksum_renew(&q->doc, &line);
	rc = rec_put(q->out, line.s, line.n, e);
	buf_free(&line);
	buf_free(&set);
	return rc;
}

static void print_confidence(const struct query *q, const struct zero_shot_answer *c,
			     struct buf *out)
{
	char why[120] = "there is no model";

	if (c->beyond)
		snprintf(why, sizeof why,
			 "the model's favourite is beyond all that it has seen: %s", c->beyond);
	else if (q->model)
		snprintf(why, sizeof why, "the model does not know these types");
	if (isnan(c->confidence))
		field_null(out, "confidence", why);
	else
		field_number(out, "confidence", c->confidence);
}

/* A predicted candidate, with its origin. */
static int print_predicted(struct query *q, const struct zero_shot_answer *c, struct err *e)
{
	struct buf *line = &q->line;

	buf_clear(line);
	candidate_print(&c->candidate, line);
	line->n--; /* the brace */
	field_object(line, "score");
	field_number(line, "draft_s", c->draft_s);
	if (!isnan(c->value)) {
		field_fmt(line, "model", "%.5g", c->value);
		field_fmt(line, "deviation", "%.3g", c->deviation);
	}
	buf_ch(line, '}');
	field_text(line, "match", origin_name(c->origin));
	print_confidence(q, c, line);
	buf_ch(line, '}');
	return rec_put(q->out, line->s, line->n, e);
}

/* NULL: there is no answer without measuring. */
static int take_predicted(void *arg, const struct zero_shot_answer *c, struct err *e)
{
	struct query *q = arg;

	q->missing |= !c;
	q->inexact |= c != NULL;
	return c ? print_predicted(q, c, e) : 0;
}

/* Answers come in the order of what was asked. */
static int finish_predicted(struct query *q, struct err *e)
{
	return q->predicted ? zero_shots_finish(q->predicted, e) : 0;
}

static int answers_any(void)
{
	return env_id && !strcmp(env_id, "any");
}

/* With the best of each env. */
static int answer_any(struct query *q, const struct workload *w, int64_t count, struct err *e)
{
	struct match m = {.how = MATCH_EXACT};
	int rc = 0, known = 0;

	if (collects()) {
		if (count < 0 && store_sources(q->db, w->id.s, &count, e) < 0)
			return -1;
		rc = across_add(&q->across, w, count ? count : 1, e);
		q->missing |= !rc;
		return rc < 0 ? -1 : 0;
	}
	for (int i = 0; i < q->across.nenv && rc == 0; i++) {
		rc = store_top(q->db, w->id.s, q->across.env[i].id, top, &q->record, &m.result,
			       &m.n, e) < 0
			     ? -1
			     : 0;
		known |= rc == 0 && m.n;
		for (int64_t k = 0; rc == 0 && k < m.n; k++)
			rc = print_result(q, &m, &m.result[k], e);
	}
	q->missing |= !known;
	return rc;
}

/* count: -1 where the record has none. */
static int answer(struct query *q, const struct workload *w, int64_t count, struct err *e)
{
	struct store_tally t;
	struct match m = {.how = MATCH_NONE};

	if (answers_any())
		return answer_any(q, w, count, e);
	if (q->db && match_find(q->matcher, w, predict && q->model,
				predict && top < FOREIGN ? FOREIGN : top, &q->record, &m, e) < 0)
		return -1;
	if (predict && m.how != MATCH_EXACT) /* of all that is known elsewhere the model chooses */
		return zero_shots_put(q->predicted, w, &m, &q->record, e);
	if (finish_predicted(q, e))
		return -1;
	m.n = m.n < top ? m.n : top;
	q->missing |= m.how == MATCH_NONE;
	q->inexact |= m.how > MATCH_EXACT;
	q->asked++;
	q->stale += m.stale;
	q->foreign += m.foreign;
	if (collects()) {
		if (count < 0 && store_sources(q->db, w->id.s, &count, e) < 0)
			return -1;
		if (store_tally(q->db, w->id.s, q->here.id, &t, e) < 0)
			return -1;
		return report_add(&q->report, w, count ? count : 1, &m, &t, e);
	}
	for (int64_t i = 0; i < m.n; i++)
		if (print_result(q, &m, &m.result[i], e))
			return -1;
	return 0;
}

/* Keeps the workload for later, and has it tuned if there is no measured answer. */
static int note(struct query *q, const struct workload *w, const char *record, size_t n,
		struct err *e)
{
	struct match m = {.how = MATCH_NONE};
	struct noted *k = arena_new(&q->run, struct noted);

	*k = (struct noted){*w, NULL};
	*q->noted_end = k;
	q->noted_end = &k->next;
	if (q->matcher && match_find(q->matcher, w, 0, 1, &q->record, &m, e) < 0)
		return -1;
	return m.how == MATCH_EXACT ? 0 : few_shots_add(q->shots, w->id.s, record, n, e);
}

static int answer_record(struct query *q, struct rec_in *in, const struct rec *r, struct err *e)
{
	struct err why = ERR_INIT;
	const struct json *v;
	struct json_doc *d;
	struct workload w;
	int64_t count = -1;

	if (rec_parse(in, r, &d))
		return 0;
	v = json_get(d, d->tok, "count");
	if (workload_from_json(&w, d, d->tok, &why) ||
	    (v && (json_int(v, &count) || count < 0) && err_set(&why, "\"count\" is no count"))) {
		rec_bad(in, r, &why);
		return 0;
	}
	if (collects())
		report_add_sources(&q->report, d);
	return q->shots ? note(q, &w, r->s, r->n, e) : answer(q, &w, count, e);
}

static int pass_on(struct query *q, const struct rec *r, struct err *e)
{
	if (collects())
		return 0;
	return finish_predicted(q, e) ? -1 : rec_put(q->out, r->s, r->n, e);
}

static int answer_all(struct query *q, struct rec_in *in, struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(in, &r, e)) > 0) {
		arena_reset(&q->record);
		if (r.type == REC_WORKLOAD ? answer_record(q, in, &r, e) : pass_on(q, &r, e))
			return -1;
		if (q->predicted && rec_would_block(in) && finish_predicted(q, e))
			return -1;
	}
	return more;
}

/* Speed is told as a share of this env's peak, as far as that was probed. */
static int read_peak(struct query *q, struct err *e)
{
	struct machine here;

	if (machine_read(&here, &q->here, &q->run, e))
		return -1;
	q->report.peak = here.peak > 0 ? here.peak : 0;
	return 0;
}

static int print_table(struct query *q, struct err *e)
{
	const struct table_look as = look();
	struct buf b = BUF_INIT;
	int rc;

	if (read_peak(q, e))
		return -1;
	if (as_csv)
		listing_csv(&q->report, &b);
	else
		listing_text(&q->report, &as, &b);
	rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

static int print_across(struct query *q, struct err *e)
{
	const struct table_look as = look();
	struct buf b = BUF_INIT;
	int rc = across_put(&q->across, form(), &as, &b, e);

	if (rc == 0)
		rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

static int write_report(const struct figures *f, struct err *e)
{
	struct rec_out *file = rec_create(report_path, e);
	struct buf b = BUF_INIT;
	int rc = -1;

	if (page_form(report_path) == PAGE_HTML)
		page_html(f, &b);
	else
		page_markdown(f, &b);
	if (file && !print_text(file, &b, e))
		rc = rec_commit(file, e);
	rec_discard(file);
	buf_free(&b);
	return rc;
}

static int draw_plot(enum plot p, const struct figures *f, struct buf *out, struct err *e)
{
	struct gnuplot_size size = {80, 24};
	struct buf script = BUF_INIT;
	struct winsize w;
	int rc;

	if (output || !isatty(STDOUT_FILENO)) {
		plot_svg(p, f, 1, out);
		return 0;
	}
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col && w.ws_row > 2)
		size = (struct gnuplot_size){w.ws_col, w.ws_row - 2};
	gnuplot_script(p, f, &size, &script);
	rc = gnuplot_draw(&script, out, e);
	buf_free(&script);
	return rc;
}

/* A plot that lacks data is a "no", as an unknown workload is. */
static int print_plot(struct query *q, const struct figures *f, struct err *e)
{
	enum plot p = plot_find(plot_of);
	const char *lacks = plot_lacks(p, f);
	struct buf b = BUF_INIT;
	int rc;

	if (lacks) {
		terminal_say("%s: no plot: %s\n", program.name, lacks);
		q->missing = 1;
		return 0;
	}
	rc = draw_plot(p, f, &b, e) || print_text(q->out, &b, e) ? -1 : 0;
	buf_free(&b);
	return rc;
}

static int print_figures(struct query *q, struct err *e)
{
	struct figures f;
	int rc = figures_read(&f, q->db, &q->here, &q->report, e);

	if (!rc && report_path)
		rc = write_report(&f, e);
	if (!rc && plot_of)
		rc = print_plot(q, &f, e);
	figures_free(&f);
	return rc;
}

static int print_collected(struct query *q, struct err *e)
{
	if (answers_any())
		return print_across(q, e);
	if ((as_table || as_csv) && print_table(q, e))
		return -1;
	return report_path || plot_of ? print_figures(q, e) : 0;
}

static void say_ages(const struct query *q)
{
	char text[DOOR_SENTENCE];

	if (door_sentence(store_refused(q->db), text))
		opt_warn(&program, "%s", text);
	if (q->stale)
		opt_warn(&program,
			 "%lld of %lld workloads are stale: measured with another compiler "
			 "or library on this hardware",
			 (long long)q->stale, (long long)q->asked);
	if (q->foreign)
		opt_warn(&program,
			 "%lld of %lld workloads are foreign: measured on other hardware, "
			 "or before it drifted",
			 (long long)q->foreign, (long long)q->asked);
}

/* What --predict needs. */
static int open_model(struct query *q, struct err *e)
{
	if (!predict)
		return 0;
	if (target_named(target_name)->limits(&q->env.limits, e) < 0)
		return -1;
	features_rates(&q->env.limits, &q->env.rates);
	q->env.caches = caches_wanted(caches, target_named(target_name));
	return local_open(model_path, 1, &q->env.limits, &q->model, e);
}

/* The model as it suits what the database knows of the env. */
static int adapt(struct query *q, struct err *e)
{
	char why[LOCAL_WHY];
	int found = ADAPTED_TOO_LITTLE;

	if (q->model && q->db)
		found = local_adapt(q->db, q->here.id, &q->env.limits, &q->model, why, e);
	if (found == ADAPTED_USELESS)
		opt_warn(&program, "%s: it predicts nothing", why);
	return found < 0 ? -1 : 0;
}

/* The workload of --op and --prob. */
static int answer_op(struct query *q, struct err *e)
{
	struct workload w;

	if (workload_from_text(&w, op_name, prob, layout, post, e) ||
	    (dtype && workload_set_dtype(&w, dtype, strlen(dtype), e))) {
		e->status = EXIT_USAGE;
		return -1;
	}
	if (!q->shots)
		return answer(q, &w, -1, e);
	buf_clear(&q->line);
	field_record(&q->line, "workload");
	workload_fields(&w, &q->line);
	buf_ch(&q->line, '}');
	return note(q, &w, q->line.s, q->line.n, e);
}

static int answer_input(struct query *q, char **paths, int npaths, int *bad, struct err *e)
{
	struct rec_in *in;
	int rc;

	if (op_name)
		return answer_op(q, e);
	if (!(in = rec_open(paths, npaths, q->out, e)))
		return -1;
	rc = answer_all(q, in, e);
	*bad = rec_bad_count(in) > 0;
	rec_close(in);
	return rc;
}

static int answer_noted(struct query *q, struct err *e)
{
	for (const struct noted *k = q->noted; k; k = k->next) {
		arena_reset(&q->record);
		if (answer(q, &k->w, -1, e))
			return -1;
	}
	return 0;
}

static void close_known(struct query *q)
{
	matcher_close(q->matcher);
	store_close(q->db);
	q->matcher = NULL;
	q->db = NULL;
}

/* Notes all workloads of the input, and tunes those without a measured answer for --budget. Returns
 * 0, the exit status of a tl-tune that failed, or -1. */
static int tune_first(struct query *q, char **paths, int npaths, int *bad, struct err *e)
{
	const struct few_shots_how how = {.db = database,
					  .device = target_named(target_name)->name,
					  .target = target_name,
					  .model = model_path,
					  .caches = caches,
					  .seconds = budget_s,
					  .quiet = quiet};
	char late[FEW_SHOTS_LATE] = "";
	int rc, there;

	if (find_here(q, e) < 0 || !(q->shots = few_shots_open(program.name, e)))
		return -1;
	if (q->db)
		q->matcher = matcher_open(q->db, &q->here);
	q->noted_end = &q->noted;
	rc = answer_input(q, paths, npaths, bad, e);
	close_known(q);
	if (!rc && !rec_stopped())
		rc = few_shots_tune(q->shots, &how, late, e);
	if (*late)
		opt_warn(&program, "%s; what was not measured by then is predicted", late);
	few_shots_close(q->shots);
	q->shots = NULL;
	if (rc || rec_stopped())
		return rc;
	there = store_is_there(q->path, e);
	if (there > 0)
		q->db = store_open(q->path, STORE_READ, e);
	return there < 0 || (there && !q->db) ? -1 : 0;
}

/* Opens what the answers come from. */
static int open_known(struct query *q, struct err *e)
{
	if (answers_any())
		return across_open(&q->across, q->db, e);
	/* Another process is asked for the env before there is a model, which brings threads. */
	if (find_here(q, e) < 0 || open_model(q, e) < 0 || adapt(q, e) < 0)
		return -1;
	if (q->here.doubt)
		opt_warn(&program, "answering for the env %s of the last result: %s", q->here.id,
			 q->here.doubt);
	if (q->db)
		q->matcher = matcher_open(q->db, &q->here);
	if (predict)
		q->predicted = zero_shots_new(&(struct zero_shot){&q->env, q->model, 1, 0},
					      take_predicted, q);
	return 0;
}

static int run_answers(struct query *q, char **paths, int npaths, struct err *e)
{
	int rc, bad = 0;

	if (budget_s > 0 && ((rc = tune_first(q, paths, npaths, &bad, e)) || rec_stopped()))
		return rc;
	if (open_known(q, e) < 0)
		return -1;
	if (collects() && store_is_replayed(q->db))
		opt_warn(&program, "these results were replayed, not measured");
	rc = budget_s > 0 ? answer_noted(q, e) : answer_input(q, paths, npaths, &bad, e);
	if (!rc)
		rc = finish_predicted(q, e);
	if (!rc && collects() && !rec_stopped())
		rc = print_collected(q, e);
	if (!rc)
		say_ages(q);
	return rc ? -1 : bad ? EXIT_INPUT : q->missing ? EXIT_NO : q->inexact ? EXIT_INEXACT : 0;
}

/* Is the question about the whole database? */
static int is_of_all(void)
{
	return dump || emit_form || stats || cost || envs || fleet || metrics;
}

static void check_usage(int npaths)
{
	const char *why = NULL;

	if (!op_name != !prob)
		why = "--op and --prob go together";
	else if (!op_name && (layout || post || dtype))
		why = "--layout, --post and --dtype belong to --op and --prob";
	else if ((dump != NULL) + (emit_form != NULL) + stats + cost + envs + fleet + metrics +
			 (op_name != NULL) >
		 1)
		why = "--dump, --emit, --stats, --cost, --envs, --fleet, --prometheus and --op are "
		      "eight questions; ask one";
	else if ((is_of_all() || op_name) && npaths)
		why = "--dump, --emit, --stats, --cost, --envs, --fleet, --prometheus and --op read no "
		      "files";
	else if (predict && (is_of_all() || collects()))
		why = "--predict answers with records";
	else if ((report_path || plot_of) && is_of_all())
		why = "--report and --plot are of workloads, not of --dump, --emit, --stats, "
		      "--cost or --envs";
	else if (report_path && page_form(report_path) == PAGE_UNKNOWN)
		why = "the name of a report ends with .html or .md";
	else if (plot_of && (as_table || as_csv))
		why = "--plot and a table exclude each other";
	else if (model_path && !predict)
		why = "--model belongs to --predict";
	else if (budget_s > 0 && (!predict || env_id))
		why = "--budget belongs to --predict, and measures on this machine: --env does not "
		      "go with it";
	else if (answers_any() && (predict || report_path || plot_of || is_of_all()))
		why = "--env=any compares measured answers, as records, a table or CSV";
	else if (!cost && (run_id || since))
		why = "--run and --since belong to --cost";
	else if (run_id && since)
		why = "--run and --since exclude each other";
	else if (as_table && as_csv)
		why = "--table and --csv exclude each other";
	else if (dump && (as_table || as_csv))
		why = "a dump is always records";
	else if (emit_form && (as_table || as_csv))
		why = "--emit and a table exclude each other";
	if (!why)
		return;
	fprintf(stderr, "%s: %s; see %s --help\n", program.name, why, program.name);
	_exit(EXIT_USAGE);
}

/* Returns the exit status. */
static int run(struct query *q, char **paths, int npaths)
{
	struct err e = ERR_INIT;
	int status = dump		? run_dump(q, &e)
		     : emit_form	? run_emit(q, &e)
		     : stats		? run_stats(q, &e)
		     : cost		? run_cost(q, &e)
		     : envs		? run_envs(q, &e)
		     : fleet || metrics ? run_fleet(q, &e)
		     : env_ids		? run_env_ids(q, &e)
					: run_answers(q, paths, npaths, &e);

	if (rec_stopped())
		return status;
	if (status < 0 && rec_broken_pipe(q->out))
		return EXIT_DONE; /* a reader such as head has seen enough */
	if (status < 0)
		return opt_fail(&program, &e);
	if (rec_commit(q->out, &e) && !rec_broken_pipe(q->out))
		return opt_fail(&program, &e);
	return status;
}

static int no_database(const char *path)
{
	terminal_say("%s: nothing is known yet: there is no database %s\n", program.name, path);
	return EXIT_NO;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status, there = 1;
	struct query q = {0};
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;

	check_usage(argc - first);
	if (strict)
		strict_set();
	rec_stop_on_signals();
	/* A prediction needs no database, and so no place for one. */
	there = predict && budget_s <= 0 && !store_has_place(database)
			? 0
			: store_find(database, &path, &e);
	q.path = path.s;
	if (there < 0) {
		status = opt_fail(&program, &e);
	} else if (!there && !predict) {
		status = no_database(path.s);
	} else if ((there && !(q.db = store_open(path.s, STORE_READ, &e))) ||
		   !(q.out = rec_create(output, &e))) {
		status = opt_fail(&program, &e);
	} else {
		status = run(&q, argv + first, argc - first);
	}
	zero_shots_free(q.predicted);
	close_known(&q);
	few_shots_close(q.shots);
	report_free(&q.report);
	across_free(&q.across);
	json_free(&q.doc);
	model_free(q.model);
	buf_free(&q.line);
	arena_free(&q.record);
	arena_free(&q.run);
	rec_discard(q.out);
	buf_free(&path);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
