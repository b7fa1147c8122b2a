/* tl-query: workloads -> the best known, or the nearest; statistics; dumps. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/io/table.h"
#include "lib/store/match.h"
#include "lib/store/report.h"
#include "lib/store/store.h"

static const char *database, *output, *env_id, *op_name, *prob, *layout, *post, *dtype, *dump;
static int64_t top = 1;
static int as_table, as_csv, stats;

static const struct opt opts[] = {
	{'d', "db", OPT_FILE, &database, "FILE",
	 "The database; by default $TL_DB, else tl/tl.db in $XDG_DATA_HOME or ~/.local/share.",
	 NULL},
	{0, "env", OPT_STRING, &env_id, "ID",
	 "Answer for the env with this id; by default this machine's.", NULL},
	{0, "op", OPT_STRING, &op_name, "NAME",
	 "Ask for one workload, of this operator, instead of reading records.", NULL},
	{0, "prob", OPT_STRING, &prob, "TEXT",
	 "Its problem, in the notation of benchdnn: mb1_ic64ih56_oc64oh56_kh3ph1.", NULL},
	{0, "layout", OPT_STRING, &layout, "NAME", "Its layout; by default nhwc, of matrices ab.",
	 NULL},
	{0, "post", OPT_STRING, &post, "LIST",
	 "Its post-ops, separated by commas; by default none.", NULL},
	{0, "dtype", OPT_ENUM, &dtype, "NAME", "Its element type.", "f32"},
	{0, "top", OPT_COUNT, &top, "N", "The N best candidates of each workload; by default 1.",
	 NULL},
	{0, "table", OPT_FLAG, &as_table, NULL,
	 "A table for people, with what each workload cost and the sum over all, weighed by count.",
	 NULL},
	{0, "csv", OPT_FLAG, &as_csv, NULL, "The same figures as CSV, in SI units.", NULL},
	{0, "stats", OPT_FLAG, &stats, NULL, "How much the database holds.", NULL},
	{0, "dump", OPT_ENUM, &dump, "KIND",
	 "Print every record of a kind: results byte for byte as they were stored, workloads with "
	 "all their sources, or all, with the end records, too.",
	 "results|workloads|all"},
	{'o', "output", OPT_FILE, &output, "FILE",
	 "Write to FILE, which is replaced at the end, instead of standard output.", NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-query",
	.summary = "ask the database for the best known, for statistics or for all",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

struct query {
	struct store *db;
	struct matcher *matcher;
	struct rec_out *out;
	struct store_env here;
	struct report report;
	struct arena run, record;
	struct json_doc doc;
	int missing, inexact;
};

static int print_text(struct rec_out *out, const struct buf *b, struct err *e)
{
	size_t n = b->n;

	return rec_put(out, b->s, n && b->s[n - 1] == '\n' ? n - 1 : n, e);
}

/* Dumps and statistics */

static int dump_line(void *arg, const char *s, size_t n, struct err *e)
{
	return rec_put(arg, s, n, e);
}

static int run_dump(struct query *q, struct err *e)
{
	int kinds = !strcmp(dump, "results")	 ? STORE_RESULTS
		    : !strcmp(dump, "workloads") ? STORE_WORKLOADS
						 : STORE_ALL;

	return store_dump(q->db, kinds, dump_line, q->out, e);
}

static void stats_record(const struct store_stats *s, struct buf *b)
{
	buf_fmt(b,
		"{\"tl\":1,\"type\":\"stats\",\"workloads\":%lld,\"sources\":%lld,"
		"\"candidates\":%lld,\"results\":%lld,\"status\":{",
		(long long)s->workloads, (long long)s->sources, (long long)s->candidates,
		(long long)s->results);
	for (int i = 0; i < s->nstatus; i++)
		buf_fmt(b, "%s\"%s\":%lld", i ? "," : "", s->status[i].name,
			(long long)s->status[i].n);
	buf_fmt(b, "},\"envs\":%lld,\"runs\":%lld,\"core_s\":", (long long)s->envs,
		(long long)s->runs);
	buf_num(b, s->core_s);
	buf_ch(b, '}');
}

static void stats_table(const struct store_stats *s, struct buf *b)
{
	static const char *const head[] = {"what", ">number"};
	const struct {
		const char *what;
		int64_t n;
	} line[] = {{"workloads", s->workloads},
		    {"places in models", s->sources},
		    {"envs", s->envs},
		    {"runs", s->runs},
		    {"candidates", s->candidates},
		    {"results", s->results}};
	struct table t;

	table_init(&t, head, 2);
	for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
		table_row(&t);
		table_cell(&t, 0, "%s", line[i].what);
		table_cell(&t, 1, "%lld", (long long)line[i].n);
	}
	for (int i = 0; i < s->nstatus; i++) {
		table_row(&t);
		table_cell(&t, 0, "results %s", s->status[i].name);
		table_cell(&t, 1, "%lld", (long long)s->status[i].n);
	}
	table_row(&t);
	table_cell(&t, 0, "core-seconds");
	table_cell(&t, 1, "%.1f", s->core_s);
	if (as_csv)
		table_csv(&t, b);
	else
		table_text(&t, b);
	table_free(&t);
}

static int run_stats(struct query *q, struct err *e)
{
	struct store_stats s;
	struct buf b = BUF_INIT;
	int rc;

	if (store_stats(q->db, &q->run, &s, e))
		return -1;
	if (as_table || as_csv)
		stats_table(&s, &b);
	else
		stats_record(&s, &b);
	rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

/* Answers */

/* The stored record with how it answers, and why that is not exact, behind it. */
static int print_result(struct query *q, const struct match *m, const struct store_result *r,
			struct err *e)
{
	struct json_field f[] = {{"match", NULL}, {"why", NULL}};
	struct buf line = BUF_INIT, why = BUF_INIT;
	int rc;

	if (json_parse(&q->doc, r->record, r->record_n, e))
		return err_in(e, "a result in the database");
	f[0].value = arena_printf(&q->record, "\"%s\"", match_name(m->how));
	if (m->why) {
		buf_json(&why, m->why, strlen(m->why));
		f[1].value = why.s;
	}
	json_rewrite(&q->doc, f, m->why ? 2 : 1, &line);
	rc = rec_put(q->out, line.s, line.n, e);
	buf_free(&line);
	buf_free(&why);
	return rc;
}

/* count: -1 where the record has none. */
static int answer(struct query *q, const struct workload *w, int64_t count, struct err *e)
{
	struct store_tally t;
	struct match m;

	if (match_find(q->matcher, w, top, &q->record, &m, e) < 0)
		return -1;
	q->missing |= m.how == MATCH_NONE;
	q->inexact |= m.how > MATCH_EXACT;
	if (as_table || as_csv) {
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
	return answer(q, &w, count, e);
}

static int answer_all(struct query *q, struct rec_in *in, struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(in, &r, e)) > 0) {
		arena_reset(&q->record);
		if (r.type == REC_WORKLOAD) {
			if (answer_record(q, in, &r, e))
				return -1;
		} else if (!as_table && !as_csv && rec_put(q->out, r.s, r.n, e)) {
			return -1;
		}
	}
	return more;
}

static int print_report(struct query *q, struct err *e)
{
	struct buf b = BUF_INIT;
	int rc;

	if (as_csv)
		report_csv(&q->report, &b);
	else
		report_text(&q->report, &b);
	rc = print_text(q->out, &b, e);
	buf_free(&b);
	return rc;
}

static int run_answers(struct query *q, char **paths, int npaths, struct err *e)
{
	struct rec_in *in = NULL;
	struct workload w;
	int rc, bad = 0;

	rc = store_env_here(q->db, env_id, &q->run, &q->here, e);
	if (rc < 0)
		return -1;
	if (!rc)
		q->here = (struct store_env){"", NULL, NULL}; /* an empty database knows no env */
	if (q->here.doubt)
		opt_warn(&program, "answering for the env %s of the last result: %s", q->here.id,
			 q->here.doubt);
	if ((as_table || as_csv) && store_is_replayed(q->db))
		opt_warn(&program, "these results were replayed, not measured");
	q->matcher = matcher_open(q->db, &q->here);
	if (op_name) {
		rc = workload_from_text(&w, op_name, prob, layout, post, e);
		if (rc)
			e->status = EXIT_USAGE;
		else
			rc = answer(q, &w, -1, e);
	} else if (!(in = rec_open(paths, npaths, q->out, e))) {
		rc = -1;
	} else {
		rc = answer_all(q, in, e);
		bad = rec_bad_count(in) > 0;
	}
	if (!rc && (as_table || as_csv) && !rec_stopped())
		rc = print_report(q, e);
	rec_close(in);
	return rc ? -1 : bad ? EXIT_INPUT : q->missing ? EXIT_NO : q->inexact ? EXIT_INEXACT : 0;
}

static void check_usage(int npaths)
{
	const char *why = NULL;

	if (!op_name != !prob)
		why = "--op and --prob go together";
	else if (!op_name && (layout || post || dtype))
		why = "--layout, --post and --dtype belong to --op and --prob";
	else if ((dump != NULL) + stats + (op_name != NULL) > 1)
		why = "--dump, --stats and --op are three questions; ask one";
	else if ((dump || stats || op_name) && npaths)
		why = "--dump, --stats and --op read no files";
	else if (as_table && as_csv)
		why = "--table and --csv exclude each other";
	else if (dump && (as_table || as_csv))
		why = "a dump is always records";
	if (!why)
		return;
	fprintf(stderr, "%s: %s; see %s --help\n", program.name, why, program.name);
	_exit(EXIT_USAGE);
}

/* Returns the exit status. */
static int run(struct query *q, char **paths, int npaths)
{
	struct err e = ERR_INIT;
	int status = dump    ? run_dump(q, &e)
		     : stats ? run_stats(q, &e)
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

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;
	struct query q = {0};
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;

	check_usage(argc - first);
	rec_stop_on_signals();
	if (store_default_path(database, STORE_READ, &path, &e)) {
		status = opt_fail(&program, &e);
	} else if (!database && access(path.s, F_OK)) {
		fprintf(stderr, "%s: nothing is known yet: there is no database %s\n", program.name,
			path.s);
		status = EXIT_NO;
	} else if (!(q.db = store_open(path.s, STORE_READ, &e)) ||
		   !(q.out = rec_create(output, &e))) {
		status = opt_fail(&program, &e);
	} else {
		status = run(&q, argv + first, argc - first);
	}
	matcher_close(q.matcher);
	report_free(&q.report);
	json_free(&q.doc);
	arena_free(&q.record);
	arena_free(&q.run);
	rec_discard(q.out);
	store_close(q.db);
	buf_free(&path);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
