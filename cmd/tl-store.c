/* tl-store: results, workloads and ends -> the database, passed on like tee once committed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/door/door.h"
#include "lib/host/env.h"
#include "lib/io/clock.h"
#include "lib/io/opt.h"
#include "lib/io/pipeline.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/store/batch.h"
#include "lib/store/units.h"
#include "lib/target/target.h"

/* A commit costs three syncs. While input is plentiful a batch may grow, as long as others who
 * wait for the database are not kept waiting for more than a moment. */
enum { BATCH_RECORDS = 20000, BATCH_BYTES = 16 * 1024 * 1024 };
static const double BATCH_S = 0.5;

static const char *database, *from, *output, *env_id, *holder, *renew, *release, *target_name;
static int quiet, verbose, check, replayed, opens;
static int64_t claim_n = -1;
static double lease_s = 600;

static const struct opt opts[] = {
	OPTIONS_FOR("The database"),
	{'d', "db", OPT_FILE, &database, "FILE|URI",
	 "The database: a file, or postgresql://HOST/NAME; by default $TL_DB, else tl/tl.db in "
	 "$XDG_DATA_HOME or ~/.local/share. A file is made if it does not exist.",
	 NULL},
	{0, "to", OPT_FILE, &database, "FILE|URI", "The same as -d, with --from.", NULL},
	{0, "from", OPT_FILE, &from, "FILE|URI",
	 "Read the records of this database instead of files: results, workloads, ends and runs. What "
	 "both have counts once. Units of work stay where they are.",
	 NULL},
	{0, "check", OPT_FLAG, &check, NULL,
	 "Read no records. Check every page of the database instead, and end with status 1 if it "
	 "is damaged.",
	 NULL},
	{0, "env", OPT_ENV_ID, &env_id, "ID",
	 "With --open: the units are for machines of this env, or for any; by default for those of "
	 "this machine's. With --claim: take units that machines of this env may take, by default "
	 "this one.",
	 "any"},
	TARGET_OPTION(target_name),
	OPTIONS_FOR("Units of work"),
	{0, "open", OPT_FLAG, &opens, NULL,
	 "Also open a unit of work for each workload of the input, unless there was one of the same "
	 "workload, env and round, or the workload has one that is not done.",
	 NULL},
	{0, "claim", OPT_COUNT, &claim_n, "N",
	 "Read no records. Take up to N units of work and write their workloads. Status 1: there "
	 "are none.",
	 NULL},
	{0, "lease", OPT_TIME, &lease_s, "TIME",
	 "With --claim and --renew: for how long the units are taken. Then they are open again. "
	 "Default 10m.",
	 NULL},
	{0, "holder", OPT_STRING, &holder, "NAME",
	 "With --claim: who takes them. Default the host's name and the process's number.", NULL},
	{0, "renew", OPT_ID, &renew, "CLAIM",
	 "Read no records. Begin the lease of the units of this claim anew. Status 1: this claim "
	 "has none any more.",
	 NULL},
	{0, "release", OPT_ID, &release, "CLAIM",
	 "Read no records. Give back the units of this claim that are not done. Status 1: this "
	 "claim has none any more.",
	 NULL},
	OPTIONS_FOR("Records"),
	{0, "replayed", OPT_FLAG, &replayed, NULL,
	 "The database is for results of tl-replay. A new database is made so, and also one that "
	 "holds no results yet.",
	 NULL},
	{'o', "output", OPT_OUTPUT, &output, "FILE",
	 "Pass records on to FILE, which is replaced at the end, instead of standard output.",
	 NULL},
	{'q', "quiet", OPT_FLAG, &quiet, NULL, "Do not pass records on.", NULL},
	{'v', "verbose", OPT_FLAG, &verbose, NULL,
	 "Say at the end how many records were new, how many were known, and the longest time "
	 "that this writer waited for others.",
	 NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-store",
	.summary = "keep results in the database and pass them on",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

static struct buf held; /* lines to pass on after the commit */

/* A reader that went away is no reason to lose results: they are stored all the same. */
static int pass_on(struct rec_out *out, struct err *e)
{
	if (!quiet && held.n) {
		int failed = rec_put(out, held.s, held.n - 1, e) || rec_flush(out, e);

		if (failed && !rec_broken_pipe(out))
			return -1;
		quiet = failed;
	}
	buf_clear(&held);
	return 0;
}

static int finish(struct batch *b, struct rec_out *out, struct err *e)
{
	return batch_commit(b, e) || pass_on(out, e) ? -1 : 0;
}

static int store_one(struct batch *b, struct rec_in *in, const struct rec *r,
		     const struct json_doc *d, struct err *e)
{
	struct err why = ERR_INIT;

	switch (batch_put(b, r, d, &why)) {
	case STORE_FAILED:
		*e = why;
		return -1;
	case STORE_BAD:
		rec_bad(in, r, &why);
		return 0;
	default:
		return 1;
	}
}

/* The others are only passed on, if they are what tl-check would let pass. */
static int look_at(struct door *g, struct rec_in *in, const struct rec *r, const struct json_doc *d)
{
	struct err why = ERR_INIT;

	return !door_record(g, d, &why) || !rec_bad(in, r, &why);
}

static int is_full(const struct batch *b)
{
	return b->n >= BATCH_RECORDS || held.n >= BATCH_BYTES || b->lines.n >= BATCH_BYTES ||
	       (b->is_open && clock_now() - b->began >= BATCH_S);
}

static int is_stored(const struct rec *r)
{
	return r->type == REC_RESULT || r->type == REC_WORKLOAD || r->type == REC_END ||
	       r->type == REC_RUN || r->type == REC_CHOICE;
}

/* Until the input ends. */
static int store_each(struct batch *b, struct rec_in *in, struct rec_out *out,
		      struct rec_groups *groups, struct door *g, struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(in, &r, e)) > 0) {
		struct json_doc *d = NULL;
		int good = !rec_parse(in, &r, &d);

		if (good)
			good = is_stored(&r) ? store_one(b, in, &r, d, e) : look_at(g, in, &r, d);
		if (good < 0)
			return -1;
		rec_groups_feed(groups, &r, good ? d : NULL);
		if (good && !quiet) {
			buf_add(&held, r.s, r.n);
			buf_ch(&held, '\n');
		}
		if ((is_full(b) || rec_would_block(in)) && finish(b, out, e))
			return -1;
	}
	return more;
}

static int store_all(struct batch *b, struct rec_in *in, struct rec_out *out,
		     struct rec_groups *groups, struct err *e)
{
	struct door g = {0};
	const int rc = store_each(b, in, out, groups, &g, e);

	door_free(&g);
	rec_groups_end(groups);
	return rc < 0 || finish(b, out, e) ? -1 : 0;
}

static void say_damage(const char *report)
{
	terminal_say("%s: the database is damaged:\n", program.name);
	for (size_t n; *report; report += n + (report[n] == '\n')) {
		n = strcspn(report, "\n");
		terminal_say("%.*s", (int)n, report);
		terminal_say("\n");
	}
}

static int run_check(struct store *db, struct err *e)
{
	struct buf report = BUF_INIT;
	int sound = store_check(db, &report, e);

	if (!sound)
		say_damage(report.s);
	buf_free(&report);
	return sound < 0 ? opt_fail(&program, e) : sound ? EXIT_DONE : EXIT_NO;
}

/* Units of work */

static int put_line(void *arg, const char *text, size_t n, struct err *e)
{
	return rec_put(arg, text, n, e);
}

/* The taker's name: that of --holder, or HOST:PID. */
static const char *name_holder(struct buf *name)
{
	char host[64] = "";

	if (holder)
		return holder;
	gethostname(host, sizeof host - 1);
	buf_fmt(name, "%s:%ld", host, (long)getpid());
	return name->s;
}

/* Makes env_id that of this machine, if none is given, and NULL of "any". */
static int find_env(struct err *e)
{
	static struct id id;
	struct env here = {0};
	int rc = 0;

	if (!env_id) {
		rc = env_here(&here, target_named(target_name), e);
		id = here.id;
		env_id = id.s;
		env_free(&here);
	} else if (!strcmp(env_id, "any")) {
		env_id = NULL;
	}
	return rc ? -1 : 0;
}

static void check_usage(int files)
{
	const int others =
		(claim_n >= 0) + (renew != NULL) + (release != NULL) + check + (from != NULL);
	struct err e = ERR_INIT;

	if (others > 1)
		err_status(&e, EXIT_USAGE,
			   "--claim, --renew, --release, --check and --from exclude each other");
	else if (others && (files || opens || replayed))
		err_status(&e, EXIT_USAGE,
			   "--claim, --renew, --release, --check and --from read no files, and go "
			   "with neither --open nor --replayed");
	if (from && output)
		err_status(&e, EXIT_USAGE, "--from stores into --to, and passes nothing on");
	if (*e.msg)
		exit(opt_fail(&program, &e));
}

/* How many units were taken; -1. */
static int64_t claim(struct store *db, struct rec_out *out, struct err *e)
{
	struct buf name = BUF_INIT;
	const struct units_taker t = {env_id, name_holder(&name), lease_s};
	int64_t n = units_claim(db, &t, claim_n, put_line, out, e);

	if (n >= 0 && rec_commit(out, e))
		n = -1;
	buf_free(&name);
	return n;
}

/* --claim, --renew or --release: the exit status. */
static int do_units(struct store *db)
{
	struct rec_out *out = NULL;
	struct err e = ERR_INIT;
	int64_t n = -1;

	if (renew)
		n = units_renew(db, renew, lease_s, &e);
	else if (release)
		n = units_release(db, release, &e);
	else if ((out = rec_create(output, &e)))
		n = claim(db, out, &e);
	rec_discard(out);
	if (n >= 0 && verbose)
		fprintf(stderr, "%s: %lld units\n", program.name, (long long)n);
	return n < 0 ? opt_fail(&program, &e) : n ? EXIT_DONE : EXIT_NO;
}

/* Where groups lack their ends, the run that they belong to lacks its end as well. */
static void tell_cut(const struct rec_groups *groups)
{
	const uint64_t n = groups->cut ? groups->cut : groups->runs;

	fprintf(stderr,
		"%s: the input was cut off: %llu %s%s without %s record; what came is stored\n",
		program.name, (unsigned long long)n, groups->cut ? "workload" : "measuring run",
		n == 1 ? "" : "s", groups->cut ? "an end" : "a done");
}

/* Returns the exit status. */
static int run(struct batch *b, struct rec_in *in, struct rec_out *out)
{
	struct rec_groups groups = {0};
	struct err e = ERR_INIT;
	int status = EXIT_DONE;

	if (store_all(b, in, out, &groups, &e)) {
		status = opt_fail(&program, &e);
	} else if (rec_commit(out, &e) && !rec_broken_pipe(out)) {
		status = opt_fail(&program, &e);
	}
	if (status == EXIT_DONE && (groups.cut || groups.runs) && !rec_stopped()) {
		tell_cut(&groups);
		status = EXIT_INPUT;
	}
	if (status == EXIT_DONE && rec_bad_count(in))
		status = EXIT_INPUT;
	batch_close(b);
	if (verbose)
		fprintf(stderr,
			"%s: %lld new, %lld known, %llu bad; waited %.2f s at most for others\n",
			program.name, (long long)b->fresh, (long long)b->known,
			(unsigned long long)rec_bad_count(in), b->waited);
	buf_free(&held);
	return status;
}

/* A batch has the connection from here on. */
static int store_input(struct store **db, const char *path, char **paths, int n)
{
	struct batch b = {.path = path, .opens = opens, .env_id = env_id};
	struct err e = ERR_INIT;
	struct rec_out *out = rec_create(output, &e);
	struct rec_in *in = out ? rec_open(paths, n, out, &e) : NULL;
	int status;

	if (in) {
		b.db = *db;
		*db = NULL;
	}
	status = in ? run(&b, in, out) : opt_fail(&program, &e);
	rec_close(in);
	rec_discard(out);
	return status;
}

/* Does what the options ask of the database. */
static int act(struct store **db, const char *path, char **paths, int n)
{
	struct err e = ERR_INIT;

	if (check)
		return run_check(*db, &e);
	if ((replayed && store_make_replayed(*db, &e)) || ((opens || claim_n >= 0) && find_env(&e)))
		return opt_fail(&program, &e);
	if (claim_n >= 0 || renew || release)
		return do_units(*db);
	return store_input(db, path, paths, n);
}

/* --from: the records of one database go into another one, as they come. */
static int copy(void)
{
	struct pipeline p = {0};
	struct err e = ERR_INIT;
	int status;

	pipeline_stage(&p, "tl-query");
	pipeline_arg2(&p, "-d", from);
	pipeline_arg2(&p, "--dump", "all");
	pipeline_stage(&p, "tl-store");
	pipeline_arg(&p, "-q");
	if (verbose)
		pipeline_arg(&p, "-v");
	pipeline_arg2(&p, "-d", database);
	status = pipeline_run(&p, &e);
	pipeline_free(&p);
	return status < 0 ? opt_fail(&program, &e) : status;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;
	struct store *db = NULL;

	check_usage(argc - first);
	if (from) {
		rec_stop_in_own_time();
		status = copy();
	} else {
		if (!check)
			rec_read_on_at_first_signal();
		if (store_default_path(database, check ? STORE_READ : STORE_WRITE, &path, &e) ||
		    !(db = store_open(path.s, check ? STORE_READ : STORE_WRITE, &e)))
			status = opt_fail(&program, &e);
		else
			status = act(&db, path.s, argv + first, argc - first);
		store_close(db);
		buf_free(&path);
	}
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
