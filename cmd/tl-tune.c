/* tl-tune: the loop. Runs the other programs as pipelines, round by round, until tl-prune says that
 * nothing is worth more.
 *
 * It does nothing that a shell script over them could not: --print prints that script, from the
 * same pipelines. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/arena.h"
#include "lib/fleet/workers.h"
#include "lib/host/env.h"
#include "lib/host/ledger.h"
#include "lib/host/scratch.h"
#include "lib/host/team.h"
#include "lib/io/clock.h"
#include "lib/io/file.h"
#include "lib/io/opt.h"
#include "lib/io/pipeline.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/table.h"
#include "lib/io/terminal.h"
#include "lib/model/default.h"
#include "lib/policy/policy.h"
#include "lib/policy/until.h"
#include "lib/report/saved.h"
#include "lib/search/search.h"
#include "lib/space/strict.h"
#include "lib/store/cost.h"
#include "lib/store/store.h"
#include "lib/store/units.h"
#include "lib/target/caches.h"
#include "lib/target/target.h"

static const char *db, *output, *until, *workers_path, *seed, *number, *keep, *layout, *batch,
	*patience, *min_gain, *finals, *caches, *replay, *env, *model, *search, *filter, *policy,
	*target_name, *looks, *charges, *color = "auto";
static double time_s, race_s;
static int no_races; /* the policy times all candidates to the end */
static int closes;   /* the recording of --replay */
static int no_db, nowait, quiet, verbose, print, wide, reprobe, strict;
static struct buf limits_text; /* --until, with a --budget of time */

static const struct opt opts[] = {
	OPTIONS_FOR("Models and where results go"),
	{'d', "db", OPT_FILE, &db, "FILE",
	 "The database that tl-tune starts from and stores all results in; by default $TL_DB, "
	 "else tl/tl.db in $XDG_DATA_HOME or ~/.local/share.",
	 NULL},
	STRICT_OPTION(strict),
	{0, "no-db", OPT_FLAG, &no_db, NULL,
	 "Start from nothing and keep no database. All records of the run go to the output.", NULL},
	{'o', "output", OPT_OUTPUT, &output, "FILE",
	 "Write the best result of each workload to FILE (- is standard output) instead of a table "
	 "to "
	 "standard output.",
	 NULL},
	{0, "layout", OPT_STRING, &layout, "NAME", "The layout of convolutions: nhwc or nchw.",
	 "nhwc|nchw"},
	{0, "batch", OPT_STRING, &batch, "N", "The batch size, if a model leaves it open.", NULL},
	TARGET_OPTION(target_name),
	{'w', "workers", OPT_FILE, &workers_path, "FILE",
	 "Tune with the machines of this list, each for its own env, all workloads of the "
	 "database. A line is a name, a target (cpu), and a command that runs another one there, "
	 "such as ssh node1. Limits of time hold for each machine. -d is a database that all of them "
	 "reach.",
	 NULL},
	OPTIONS_FOR("Limits"),
	{'t', "time", OPT_TIME, &time_s, "TIME",
	 "End after this time (30s, 5m, 2h), finals included: the same as --until seconds<N.",
	 NULL},
	{'u', "until", OPT_STRING, &until, "LIMITS",
	 "Stop when one of these limits is reached, counted from the start of this run and "
	 "separated by commas: core-seconds<N, seconds<N, rounds<N, candidates<N.",
	 NULL},
	{'b', "budget", OPT_STRING, &keep, "N|TIME",
	 "The number of candidates to measure in a round, over all workloads; by default "
	 "tl-prune's. With a unit (30s, 5m), the time for all rounds.",
	 NULL},
	{'n', "number", OPT_STRING, &number, "N",
	 "The number of candidates that tl-gen proposes for each workload in a round; by default "
	 "tl-gen's, but 256 with a search in a model, and where nothing ranks them.",
	 NULL},
	{0, "final", OPT_STRING, &finals, "N",
	 "At the end, compare the best candidate of each workload with the library in N "
	 "processes; 0: do not compare. By default tl-measure's number.",
	 NULL},
	{0, "race", OPT_TIME, &race_s, "TIME",
	 "The longest time that the calls of a race take, as in tl-measure; by default its time.",
	 NULL},
	{0, "patience", OPT_STRING, &patience, "N",
	 "Stop a workload after N candidates without a gain; by default tl-prune's number. Only "
	 "the policy preempt heeds it.",
	 NULL},
	{0, "min-gain", OPT_STRING, &min_gain, "X",
	 "Stop all when twice the cost is expected to gain less than this share of the time of all "
	 "operators; by default tl-prune's number, 0.005. 0: only plateaus and limits stop. Only "
	 "the policy preempt heeds it.",
	 NULL},
	OPTIONS_FOR("How candidates are chosen"),
	{'m', "model", OPT_FILE, &model, "FILE",
	 "Search and rank candidates by this model, which tl-train made; by default by "
	 "$TL_MODEL, else by the one that came with the programs. \"none\": use no model, which "
	 "is the default of simulations.",
	 "pretrained|none"},
	{'s', "search", OPT_STRING, &search, "NAME",
	 "The strategy of tl-gen; by default guided, if there is a model to rank by, else "
	 "tl-gen's own.",
	 NULL, search_names},
	{0, "filter", OPT_ENUM, &filter, "WHAT",
	 "What tl-filter ranks candidates by: the model (the default, if there is one), the "
	 "analytic cost model (draft), or nothing (none).",
	 "model|draft|none"},
	{0, "policy", OPT_STRING, &policy, "NAME",
	 "The policy of tl-prune, which decides what to tune and how far; with settings such as "
	 "trimmer,batch=32. By default tl-prune's.",
	 NULL, policy_names},
	{0, "seed", OPT_STRING, &seed, "N",
	 "The seed of the random numbers: another seed proposes other candidates.", NULL},
	OPTIONS_FOR("The machine"),
	{0, "cache", OPT_ENUM, &caches, "MODE",
	 "The state of the caches before each timed call, as in tl-measure, and by default as "
	 "there. Times of different modes cannot be compared: give each mode a database of its "
	 "own.",
	 CACHES_NAMES},
	{0, "no-wait", OPT_FLAG, &nowait, NULL,
	 "Exit with status 75 if another run is timing on this machine, instead of waiting for it.",
	 NULL},
	REPROBE_OPTION(reprobe),
	OPTIONS_FOR("Simulation"),
	{0, "replay", OPT_FILE, &replay, "FILE",
	 "Simulate: measure nothing, and let tl-replay answer from the results in FILE (a "
	 "database or records). Needs a database of its own, by -d, or --no-db. --until then "
	 "counts everything in that database.",
	 NULL},
	{0, "close", OPT_FLAG, &closes, NULL,
	 "With --replay: measure what the recording lacks, and store it there, as tl-replay does. "
	 "FILE is a database, which is made if it is not there.",
	 NULL},
	{0, "looks", OPT_STRING, &looks, "N",
	 "With --close: measure a candidate in so many processes; by default tl-replay's number.",
	 NULL},
	{0, "charge", OPT_ENUM, &charges, "WHAT",
	 "With --replay: what its clock and its run records count. results: the costs of the "
	 "results (the default); run: what a live run would hold the machine for. Two simulations "
	 "then differ a little, as the time for search and inference is real.",
	 "results|run"},
	{0, "env", OPT_ENV_ID, &env, "ID",
	 "With --replay: use the results of this env; by default of this machine's.", NULL},
	OPTIONS_FOR("What is said"),
	{0, "print", OPT_FLAG, &print, NULL, "Print a shell script that does the same, and exit.",
	 NULL},
	WIDE_OPTION(wide),
	COLOR_OPTION(color),
	QUIET_OPTION(quiet, " No table."),
	{'v', "verbose", OPT_FLAG, &verbose, NULL,
	 "Say in each round why each workload is tuned or stopped.", NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-tune",
	.summary = "tune the operators of models on this machine",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* Where things are; in the printed script the names of shell variables. */
struct places {
	const char *db, *workloads, *round, *since;
	const char *run, *cost; /* id of this run, and where its record goes; NULL: it has none */
	const char *why;	/* where tl-prune says why the rounds end; NULL: nowhere */
	char *const *files;
	int nfiles;
};

/* Unless another is named: the model that came with the programs, if it is there, and the search
 * inside it. */
static int choose_model(struct err *e)
{
	struct buf path = BUF_INIT;
	int rc;

	rc = model_default(model, !replay, target_named(target_name), &path, e);
	buf_free(&path);
	if (rc < 0)
		return -1;
	model = rc ? model_name(model, !replay) : "none";
	if (!filter)
		filter = rc ? "model" : "draft";
	if (!rc && !strcmp(filter, "model"))
		return err_status(e, EXIT_USAGE, "--filter=model wants a model, and there is none");
	if (!search && !strcmp(filter, "model"))
		search = "guided";
	/* A few are enough where tl-filter takes the first, also if the static checks refuse some.
	 * So they are of a search in a model, which has ranked about a thousand itself: of 1000
	 * proposals tl-filter chose 104 of 108 from the first 200. */
	if (!number && (!strcmp(filter, "none") || (search && !strcmp(search, "guided"))))
		number = "256";
	return 0;
}

static struct ledger ledger; /* of all but the measuring runs, which keep their own */
static double started;	     /* clock_now() at the start of the run */
static double limit_s;	     /* what it may take, by --until and the like; 0: no limit */

static void flag(struct pipeline *p, const char *option, int given)
{
	if (given)
		pipeline_arg(p, option);
}

static void extract(struct pipeline *p, const struct places *at)
{
	pipeline_stage(p, "tl-extract");
	flag(p, "-q", quiet);
	pipeline_arg2(p, "--layout", layout);
	pipeline_arg2(p, "--batch", batch);
	pipeline_arg2(p, "-o", at->workloads);
	for (int i = 0; i < at->nfiles; i++)
		pipeline_arg(p, at->files[i]);
}

/* The finals of a recording that nobody closes are looked up in the rounds. */
static int has_finals(void)
{
	return (!replay || closes) && !(finals && !strcmp(finals, "0"));
}

/* A simulation that counts what a live run would hold the machine for. */
static int charges_run(void)
{
	return charges && !strcmp(charges, "run");
}

/* Makes the database, if need be, and tells it what is to be tuned. */
static void store(struct pipeline *p, const struct places *at)
{
	pipeline_stage(p, "tl-store");
	pipeline_arg(p, "-q");
	flag(p, "--replayed", replay != NULL);
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg(p, at->workloads);
}

/* A limit of time counts from the start of this run, without what it waits for others. */
static void limits_since(struct pipeline *p, const struct places *at)
{
	if (!until || replay)
		return;
	pipeline_arg2(p, "--since", at->since);
	pipeline_arg2(p, "--part-of", at->run);
}

static void prune_rules(struct pipeline *p)
{
	pipeline_arg2(p, "--until", until);
	pipeline_arg2(p, "-b", keep);
	pipeline_arg2(p, "--policy", policy);
	pipeline_arg2(p, "--patience", patience);
	pipeline_arg2(p, "--min-gain", min_gain);
}

static void prune(struct pipeline *p, const struct places *at)
{
	pipeline_stage(p, "tl-prune");
	flag(p, "-v", verbose);
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg2(p, "--env", env);
	prune_rules(p);
	limits_since(p, at);
	flag(p, "--reserve", until && has_finals());
	pipeline_arg2(p, "--target", target_name);
	pipeline_arg2(p, "--why", at->why);
	pipeline_arg2(p, "-o", at->round);
	pipeline_arg(p, at->workloads);
}

static double spent_s;	    /* in a simulation, since the last tl-replay */
static char spent_text[32]; /* as an option; empty: nothing is told */

static const char *race_text(void)
{
	static char text[32];

	snprintf(text, sizeof text, "%.9gs", race_s);
	return text;
}

static void measure_rules(struct pipeline *p, int full, const char *n)
{
	if (race_s > 0) /* else it is tl-measure's */
		pipeline_arg2(p, "--race", race_text());
	pipeline_arg2(p, "--cache", caches);
	flag(p, "--no-preempt", full);
	pipeline_arg2(p, "--final", n);
}

/* Measures races, and finals in n processes. full: races are timed to the end. */
static void measure_stage(struct pipeline *p, const struct places *at, int full, const char *n)
{
	pipeline_stage(p, replay ? "tl-replay" : "tl-measure");
	flag(p, "-q", quiet);
	pipeline_arg2(p, "--target", target_name);
	measure_rules(p, full, n);
	if (!replay) {
		pipeline_arg2(p, "--part-of", at->run);
		flag(p, "--no-wait", nowait);
		return;
	}
	pipeline_arg2(p, "--from", replay);
	pipeline_arg2(p, "--env", env);
	pipeline_arg2(p, "--after", at->db);
	pipeline_arg2(p, "--seed", seed);
	flag(p, "--close", closes);
	pipeline_arg2(p, "--looks", looks);
	pipeline_arg2(p, "--charge", charges);
	pipeline_arg2(p, "--spent", spent_text[0] ? spent_text : NULL);
}

static void measure(struct pipeline *p, const struct places *at)
{
	pipeline_stage(p, "tl-gen");
	flag(p, "-q", quiet);
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg2(p, "--env", env);
	pipeline_arg2(p, "--target", target_name);
	pipeline_arg2(p, "--seed", seed);
	pipeline_arg2(p, "-n", number);
	pipeline_arg2(p, "--search", search);
	pipeline_arg2(p, "--cache", caches);
	if (search)
		pipeline_arg2(p, "-m", model);
	flag(p, "--strict", strict);
	flag(p, "--cost", !replay || charges_run());
	pipeline_arg(p, at->round);
	pipeline_stage(p, "tl-filter");
	flag(p, "-q", quiet);
	if (!strcmp(filter, "model"))
		pipeline_arg2(p, "-m", model);
	pipeline_arg2(p, "--cache", caches);
	pipeline_arg2(p, "--by", filter);
	pipeline_arg2(p, "--target", target_name);
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg2(p, "--env", env);
	flag(p, "--cost", !replay || charges_run());
	/* What was recorded has its finals, which cost nothing to look up. */
	measure_stage(p, at, no_races, replay && !closes ? finals : "0");
	pipeline_stage(p, "tl-store");
	pipeline_arg(p, "-q");
	pipeline_arg2(p, "-d", at->db);
}

/* --reprobe: nothing is measured. */
static void probe(struct pipeline *p, const struct places *at)
{
	(void)at;
	pipeline_stage(p, "tl-measure");
	pipeline_arg(p, "--reprobe");
	flag(p, "-q", quiet);
	pipeline_arg2(p, "--target", target_name);
	flag(p, "--no-wait", nowait);
	pipeline_arg(p, "/dev/null");
}

/* After the last round: those whose best candidate has not been compared with the baseline. */
static void prune_finals(struct pipeline *p, const struct places *at)
{
	pipeline_stage(p, "tl-prune");
	pipeline_arg(p, "--finals");
	pipeline_arg2(p, "--until", until);
	limits_since(p, at);
	pipeline_arg2(p, "--target", target_name);
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg2(p, "--env", env);
	pipeline_arg2(p, "-o", at->round);
	pipeline_arg(p, at->workloads);
}

static void measure_finals(struct pipeline *p, const struct places *at)
{
	measure_stage(p, at, 0, finals);
	pipeline_arg(p, at->round);
	pipeline_stage(p, "tl-store");
	pipeline_arg(p, "-q");
	pipeline_arg2(p, "-d", at->db);
}

static void store_cost(struct pipeline *p, const struct places *at)
{
	p->finish = 1;
	pipeline_stage(p, "tl-store");
	pipeline_arg(p, "-q");
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg(p, at->cost);
}

/* A database that goes with the run is told always. */
static int reports(void)
{
	return !quiet || output || no_db;
}

static void report_table(struct pipeline *p)
{
	pipeline_arg(p, "--table");
	flag(p, "--wide", wide);
	if (strcmp(color, "auto") != 0)
		pipeline_arg2(p, "--color", color);
}

/* Someone who interrupts a run wants to see how far it came. Otherwise a signal ends it, unless
 * what was measured is nowhere else. */
static int reports_after(int signal)
{
	return no_db || !signal || (signal == SIGINT && !output && !quiet);
}

static void report(struct pipeline *p, const struct places *at)
{
	/* With --no-db all that was measured is in there; after an interrupt it is the table so
	 * far. */
	p->finish = no_db || rec_stopped();
	pipeline_stage(p, "tl-query");
	flag(p, "-q", quiet);
	pipeline_arg2(p, "-d", at->db);
	pipeline_arg2(p, "--target", target_name);
	pipeline_arg2(p, "--env", workers_path ? "any" : env);
	if (no_db)
		pipeline_arg(p, "--dump=all");
	else if (!output)
		report_table(p);
	if (output && strcmp(output, "-") != 0)
		pipeline_arg2(p, "-o", output);
	if (!no_db)
		pipeline_arg(p, at->workloads);
}

static void put_line(const char *before, void (*fill)(struct pipeline *, const struct places *),
		     const struct places *at, const char *after)
{
	struct pipeline p = {0};
	struct buf b = BUF_INIT;

	fill(&p, at);
	pipeline_print(&p, &b);
	printf("%s%s%s", before, b.s, after);
	buf_free(&b);
	pipeline_free(&p);
}

/* As tune() does it: the report comes also after a failure, and where it is all that is left of the
 * run, after a signal. What tl-query does not know is no failure. */
static void print_end(const struct places *at)
{
	printf("end() {\n\ts=$?\n");
	if (reports())
		put_line(no_db			 ? "\t"
			 : reports_after(SIGINT) ? "\t{ [ $s -gt 128 ] && [ $s -ne 130 ]; } || "
						 : "\t[ $s -gt 128 ] || ",
			 report, at,
			 no_db ? " || {\n\t\tr=$?\n"
				 "\t\t[ $r -eq 1 ] || [ $r -eq 4 ] || {\n"
				 "\t\t\techo \"what was measured is in the database $db\" >&2\n"
				 "\t\t\t[ $s -ne 0 ] || s=$r\n"
				 "\t\t\texit $s\n\t\t}\n\t}\n"
			       : " || {\n\t\tr=$?\n"
				 "\t\t[ $s -ne 0 ] || [ $r -eq 1 ] || [ $r -eq 4 ] || s=$r\n"
				 "\t}\n");
	if (!no_db && !quiet)
		printf("\t[ $s -ne 130 ] || echo \"stopped: what was measured is in the database "
		       "$db; run this again to go on\" >&2\n");
	printf("\trm -rf \"$work\"\n\texit $s\n}\ntrap end EXIT\n");
}

static int print_script(char *const *files, int n)
{
	struct places at = {.db = "$db",
			    .workloads = "$work/workloads",
			    .round = "$work/round",
			    .since = "$since",
			    .run = until ? "$run" : NULL,
			    .files = files,
			    .nfiles = n};
	struct buf b = BUF_INIT;

	printf("#!/bin/sh\n# What tl-tune does, as a script.\nset -eu\n"
	       "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\n"
	       "trap 'exit 129' HUP\ntrap 'exit 130' INT\ntrap 'exit 143' TERM\n");
	if (no_db) {
		printf("db=$work/db\n");
	} else if (db) {
		shell_quote(db, &b);
		printf("db=%s\n", b.s);
		buf_free(&b);
	} else {
		printf("db=${TL_DB:-${XDG_DATA_HOME:-$HOME/.local/share}/tl/tl.db}\n");
	}
	if (until && !replay)
		printf("since=$(date -u +%%Y-%%m-%%dT%%H:%%M:%%S.000Z)\n"
		       "run=$(od -An -tx1 -N16 /dev/urandom | tr -d ' \\n')\n");
	put_line("", extract, &at, "\n");
	put_line("", store, &at, "\n");
	print_end(&at);
	if (reprobe)
		put_line("", probe, &at, "\n");
	put_line("while ", prune, &at, " || { s=$?; [ $s -eq 1 ] || exit $s; false; }; do\n");
	put_line("\t", measure, &at, "\ndone\n");
	if (has_finals()) {
		put_line("if ", prune_finals, &at, "; then\n");
		put_line("\t", measure_finals, &at,
			 "\nelse\n\ts=$?\n\t[ $s -eq 1 ] || exit $s\nfi\n");
	}
	return opt_printed(&program);
}

/* The cores were held; what the programs took of them is c. While tl-measure ran, it kept its own
 * ledger, also of those around it. */
static void charge(const struct pipeline *p, enum cost c)
{
	double cpu_s = 0;

	ledger_switch(&ledger, COST_IDLE, ledger.since);
	for (int i = 0; i < p->n; i++) {
		cpu_s += p->stage[i].proc.cpu_s;
		if (strcmp(p->stage[i].argv[0], "tl-measure") != 0 || !p->stage[i].ended ||
		    c == COST_PROBE)
			continue;
		ledger_switch(&ledger, c, p->stage[i].proc.started);
		ledger_skip(&ledger, p->stage[i].ended);
		cpu_s = 0;
		break;
	}
	ledger_switch(&ledger, COST_OTHER, clock_now());
	ledger_move(&ledger, COST_IDLE, c, cpu_s, clock_now());
}

/* Tells tl-replay, which has a clock of its own, what time goes by around it. */
static void count_spent(const struct pipeline *p, double started_s)
{
	spent_s += clock_now() - started_s;
	for (int i = 0; i < p->n; i++)
		if (!strcmp(p->stage[i].argv[0], "tl-replay"))
			spent_s = 0;
	if (charges_run())
		snprintf(spent_text, sizeof spent_text, "%.6f", spent_s);
}

/* The exit status of a pipeline; what could not be started is told here. */
static int run(void (*fill)(struct pipeline *, const struct places *), const struct places *at,
	       enum cost c)
{
	struct pipeline p = {0};
	struct err e = ERR_INIT;
	double before = clock_now();
	int status;

	fill(&p, at);
	progress_clear();
	ledger_close(&ledger, before);
	status = pipeline_run(&p, &e);
	charge(&p, c);
	count_spent(&p, before);
	pipeline_free(&p);
	return status < 0 ? opt_fail(&program, &e) : status;
}

/* What the programs of the next pipelines begin their progress line with. */
static void set_whole(const char *words)
{
	if (!quiet && isatty(STDERR_FILENO))
		progress_set_whole(words, started, limit_s);
}

/* ", 1:07 of 5:00" */
static void put_times(struct buf *out)
{
	buf_str(out, ", ");
	progress_time(clock_now() - started, out);
	if (limit_s > 0) {
		buf_str(out, " of ");
		progress_time(limit_s, out);
	}
}

/* What the round that tl-prune has just planned will do. */
static void announce(const struct places *at, int round)
{
	FILE *f = quiet ? NULL : fopen(at->round, "re");
	struct buf times = BUF_INIT;
	int workloads = 0, c;
	char words[32];

	if (!f)
		return;
	while ((c = getc(f)) != EOF)
		workloads += c == '\n';
	fclose(f);
	put_times(&times);
	opt_say(&program, "round %d: %d workload%s%s", round, workloads, workloads == 1 ? "" : "s",
		times.s);
	buf_free(&times);
	snprintf(words, sizeof words, "round %d", round);
	set_whole(words);
}

static double waited_s; /* for other runs on the machine */

/* Learns what tl-measure waited: it counts for nothing. */
static int take_waited(const struct places *at, struct err *e)
{
	const double before_s = waited_s;
	struct store *s = replay ? NULL : store_open(at->db, STORE_READ, e);
	int rc;

	if (!s)
		return replay || rec_stopped() ? 0 : -1;
	rc = cost_waited(s, at->run, &waited_s, e);
	store_close(s);
	ledger_wait(&ledger, waited_s - before_s);
	started += waited_s - before_s;
	return rec_stopped() ? 0 : rc;
}

/* Rounds until tl-prune ends with "nothing is worth more". */
static int rounds(const struct places *at)
{
	struct err e = ERR_INIT;

	for (int round = 1;; round++) {
		int status = run(prune, at, COST_SEARCH);

		if (status == EXIT_NO)
			return EXIT_DONE;
		if (!status) {
			announce(at, round);
			status = run(measure, at, COST_STORE);
			if (take_waited(at, &e))
				return opt_fail(&program, &e);
			/* Of some candidates nothing was recorded; tl-replay has said so. */
			if (status == EXIT_INEXACT && replay)
				status = EXIT_DONE;
		}
		if (status || rec_stopped())
			return status;
	}
}

/* The best of each workload against the baseline. */
static int compare(const struct places *at)
{
	struct err e = ERR_INIT;
	int status = run(prune_finals, at, COST_SEARCH);

	if (status == EXIT_NO)
		return EXIT_DONE;
	set_whole("finals");
	status = status ? status : run(measure_finals, at, COST_STORE);
	if (take_waited(at, &e))
		return opt_fail(&program, &e);
	return status == EXIT_INEXACT && replay ? EXIT_DONE : status;
}

/* Why the rounds ended; empty: they did not end by themselves. */
static int read_why(const struct places *at, struct buf *why, struct err *e)
{
	if (access(at->why, F_OK) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "cannot look for %s", at->why);
	if (file_read("the reason", at->why, why, e) < 0)
		return -1;
	while (why->n && why->s[why->n - 1] == '\n')
		why->s[--why->n] = 0;
	return 0;
}

/* Writes the record of what this run cost, for store_cost. */
static int write_cost(const struct places *at, const struct buf *why, struct err *e)
{
	struct ledger_run r = {.run = at->run, .program = program.name, .replayed = replay != NULL};
	struct rec_out *out;
	struct buf b = BUF_INIT;
	char now[25];
	int rc;

	if (replay) {
		ledger_open(&ledger, ledger.cores, clock_now() - spent_s);
		ledger_switch(&ledger, COST_SEARCH, ledger.since);
	}
	rec_now(now);
	r.at = now;
	r.stop = why->n ? why->s : NULL;
	r.why = rec_stopped() ? "stopped by a signal" : NULL;
	r.waited_s = waited_s;
	ledger_close(&ledger, clock_now());
	ledger_record(&ledger, &r, &b);
	out = rec_create(at->cost, e);
	rc = !out || rec_put(out, b.s, b.n, e) || rec_commit(out, e);
	rec_discard(out);
	buf_free(&b);
	return rc ? -1 : 0;
}

/* Stores what this run cost, without its measuring runs. In a simulation it is what went
 * by after the last tl-replay, if that counts; else its results have the costs that they were
 * recorded with. */
static int tell_cost(const struct places *at)
{
	struct err e = ERR_INIT;
	struct buf why = BUF_INIT;
	int rc;

	if (replay && !charges_run())
		return EXIT_DONE;
	rc = read_why(at, &why, &e) || write_cost(at, &why, &e);
	buf_free(&why);
	return rc ? opt_fail(&program, &e) : run(store_cost, at, COST_STORE);
}

/* The folder for what the pipelines hand on, with whatever a program that was killed has left in
 * it. It goes when the run ends, wherever it ends; but a database that was to end with the run
 * stays when its records could not be written out. */
static struct {
	const struct places *at;
	struct scratch scratch;
	char *journal;
	int is_held;	  /* what was measured is nowhere else */
	struct buf place; /* names its database: made early, as memory may be what ends */
} work;

/* Reads what the database tells of this run. 1; 0: it tells nothing; -1. */
static int ask_cost(const struct places *at, struct cost_sum *sum, struct err *e)
{
	const struct cost_which which = {.run = at->run};
	struct store *s = store_open(at->db, STORE_READ, e);
	int found = s ? cost_sum(s, &which, sum, e) : -1;

	store_close(s);
	return found;
}

/* After an interrupt, for whoever pressed the keys. */
static void say_stopped(const struct places *at)
{
	struct err ignored = ERR_INIT;
	struct cost_sum sum;

	if (rec_stopped() != SIGINT || quiet || no_db)
		return;
	if (ask_cost(at, &sum, &ignored) > 0)
		opt_say(&program,
			"stopped: %lld result%s of this run %s stored in %s; run it again to go on",
			(long long)sum.results, sum.results == 1 ? "" : "s",
			sum.results == 1 ? "is" : "are", work.place.s);
	else
		opt_say(&program,
			"stopped: what was measured is stored in %s; run it again to go "
			"on",
			work.place.s);
}

/* Says what each saving saved, and why the rounds ended. Returns the exit status. */
static int say_saved(const struct places *at)
{
	struct err e = ERR_INIT;
	struct cost_sum sum;
	int rc = ask_cost(at, &sum, &e);

	if (rc < 0)
		return opt_fail(&program, &e);
	if (!rc)
		return EXIT_DONE;
	for (int i = 0; i < SAVED_SENTENCES; i++) {
		struct buf b = BUF_INIT;

		if (saved_sentence(&sum, (enum saved_sentence)i, &b))
			opt_say(&program, "%s", b.s);
		buf_free(&b);
	}
	return EXIT_DONE;
}

/* ---- many machines ---- */

/* The options of a stage, as they stand in a variable of the worker's script. */
static int put_options(const struct pipeline *p, struct buf *out, struct err *e)
{
	for (int i = 1; i < p->stage[0].argc; i++) {
		const char *arg = p->stage[0].argv[i];

		if (arg[strcspn(arg, " \t\n\"'`$\\&;|()")])
			return err_status(e, EXIT_USAGE, "workers cannot be given \"%s\"", arg);
		buf_fmt(out, " %s", arg);
	}
	return 0;
}

static int run_workers(const struct workers *w, const struct places *at, int *failed, struct err *e)
{
	struct pipeline rules = {0}, measuring = {0};
	struct buf prune_options = BUF_INIT, measure_options = BUF_INIT;
	int rc;

	pipeline_stage(&rules, "tl-prune");
	flag(&rules, "-v", verbose);
	prune_rules(&rules);
	pipeline_stage(&measuring, "tl-measure");
	measure_rules(&measuring, no_races, finals);
	buf_str(&prune_options, "");
	buf_str(&measure_options, "");
	rc = put_options(&rules, &prune_options, e) || put_options(&measuring, &measure_options, e);
	if (!rc) {
		const struct workers_job job = {at->db, prune_options.s, measure_options.s,
						limit_s};

		rc = workers_run(w, &job, failed, e);
	}
	pipeline_free(&rules);
	pipeline_free(&measuring);
	buf_free(&prune_options);
	buf_free(&measure_options);
	return rc;
}

/* Units that no machine has taken to the end. */
static int count_left(const struct places *at, int64_t *left, struct err *e)
{
	struct store *s = store_open(at->db, STORE_READ, e);
	struct units_count *count;
	struct arena a = ARENA_INIT;
	int n = 0, rc = s ? units_count(s, &a, &count, &n, e) : -1;

	*left = 0;
	for (int i = 0; i < n && rc == 0; i++) {
		const int64_t here = count[i].open + count[i].lapsed;

		if (here && limit_s > 0)
			opt_say(&program, "%lld unit%s of the env %s %s left for the next run",
				(long long)here, here == 1 ? "" : "s",
				count[i].env_id ? count[i].env_id : "any",
				here == 1 ? "is" : "are");
		else if (here && !rec_stopped())
			opt_warn(
				&program,
				"%lld unit%s of the env %s %s not done: no worker serves it any more",
				(long long)here, here == 1 ? "" : "s",
				count[i].env_id ? count[i].env_id : "any",
				here == 1 ? "is" : "are");
		*left += here;
	}
	store_close(s);
	arena_free(&a);
	return rc;
}

/* With --workers. Returns the exit status. */
static int tune_with_workers(const struct places *at)
{
	struct arena a = ARENA_INIT;
	struct err e = ERR_INIT;
	struct workers w;
	int failed[WORKERS_MOST] = {0}, status = EXIT_DONE, bad = 0;
	int64_t left = 0;

	if (workers_read(workers_path, &a, &w, &e))
		status = opt_fail(&program, &e);
	if (!status)
		status = run(extract, at, COST_OTHER);
	if (!status)
		status = run(store, at, COST_STORE);
	if (!status && ((bad = run_workers(&w, at, failed, &e)) < 0 || count_left(at, &left, &e)))
		status = opt_fail(&program, &e);
	for (int i = 0; i < w.n && !status; i++)
		if (failed[i] && !rec_stopped())
			opt_warn(&program, "the worker %s ended with status %d", w.place[i].name,
				 failed[i]);
	if (!status && !rec_stopped() && reports()) {
		status = run(report, at, COST_OTHER);
		status = status == EXIT_NO ? EXIT_DONE : status;
	}
	if (!status && bad && (bad == w.n || left))
		status = EXIT_INPUT;
	arena_free(&a);
	return status;
}

static int tune(const struct places *at)
{
	int status = run(extract, at, COST_OTHER), told;

	if (status == EXIT_INPUT)
		fprintf(stderr, "%s: not all of the input could be read: nothing is tuned\n",
			program.name);
	if (!status)
		status = run(store, at, COST_STORE);
	if (status)
		return status;
	work.is_held = no_db;
	if (reprobe)
		status = run(probe, at, COST_PROBE);
	if (!status)
		status = rounds(at);
	if (!status && has_finals() && !rec_stopped())
		status = compare(at);
	told = tell_cost(at);
	if (!status)
		status = told;
	/* After a signal, what was measured is stored, and the next run goes on from there. */
	if (reports() && reports_after(rec_stopped())) {
		told = run(report, at, COST_OTHER);
		if (!told || told == EXIT_NO || told == EXIT_INEXACT)
			work.is_held = 0;
		/* A workload that nothing is known of is no failure of the report. */
		if (!status && told != EXIT_NO && told != EXIT_INEXACT)
			status = told;
	}
	say_stopped(at);
	return status || rec_stopped() || quiet ? status : say_saved(at);
}

static void add_seconds(double n)
{
	struct buf before = limits_text;

	limits_text = (struct buf)BUF_INIT;
	if (until)
		buf_fmt(&limits_text, "%s,", until);
	buf_fmt(&limits_text, "seconds<%.9g", n);
	until = limits_text.s;
	buf_free(&before);
}

/* A budget of time is a limit of the run. */
static void read_budget(void)
{
	double s;

	if (!keep || strspn(keep, "0123456789") == strlen(keep) || option_time(keep, &s))
		return;
	add_seconds(s);
	keep = NULL;
}

/* Checks the policy, and takes what goes with it. */
static void take_policy(struct err *e)
{
	int64_t setting[POLICY_SETTINGS];
	const struct policy *p = policy_parse(policy, setting, e);

	if (!p)
		return;
	if ((patience || min_gain) && !p->heeds_gains)
		err_status(e, EXIT_USAGE, "the policy %s heeds no --patience or --min-gain",
			   p->name);
	if (workers_path && (p->search || p->filter)) {
		err_status(e, EXIT_USAGE, "the policy %s is none for workers", p->name);
		return;
	}
	if (!search)
		search = p->search;
	if (!filter)
		filter = p->filter;
	no_races = p->races && !p->races(setting);
}

static void check_usage(void)
{
	struct err e = ERR_INIT;
	struct until limits;

	if (workers_path && (no_db || replay || print || reprobe || target_name || model ||
			     search || number || filter || seed || nowait))
		err_status(&e, EXIT_USAGE,
			   "--workers goes with the database that all machines share, with limits, "
			   "and with rules for races and rounds; each machine searches by its own "
			   "model");
	else if (replay && !db && !no_db)
		err_status(&e, EXIT_USAGE, "--replay wants a database of its own: -d, or --no-db");
	else if ((closes || charges) && !replay)
		err_status(&e, EXIT_USAGE, "--close and --charge go with --replay");
	else if (looks && !closes)
		err_status(&e, EXIT_USAGE, "--looks goes with --close");
	else if (env && !replay)
		err_status(&e, EXIT_USAGE,
			   "--env goes with --replay: what is measured is this "
			   "machine's");
	else if (reprobe && replay)
		err_status(&e, EXIT_USAGE,
			   "--reprobe probes this machine, where nothing is "
			   "measured");
	else if (!until_parse(&limits, until, &e) && isfinite(limits.most[UNTIL_SECONDS]))
		limit_s = limits.most[UNTIL_SECONDS];
	if (!e.status)
		take_policy(&e);
	if (e.status)
		exit(opt_fail(&program, &e));
}

/* That the workers' team is none for this machine is told before anything is read. */
static int check_team(struct err *e)
{
	struct limits here;

	if (replay)
		return 0;
	return target_default()->limits(&here, e) || team_check(here.threads, "OMP_NUM_THREADS", e);
}

/* That the output cannot be written is told before anything is measured. */
static int check_output(struct err *e)
{
	struct rec_out *out;
	struct stat st;

	if (!output || !strcmp(output, "-") || (!stat(output, &st) && !S_ISREG(st.st_mode)))
		return 0;
	out = rec_create(output, e);
	rec_discard(out);
	return out ? 0 : -1;
}

/* With whatever a program that was killed has left in it. */
static void remove_work(void)
{
	struct err e = ERR_INIT;

	if (!work.scratch.path)
		return;
	if (work.is_held) {
		fprintf(stderr, "%s: what was measured is in the database %s\n", program.name,
			work.place.s);
		scratch_keep(&work.scratch);
		return;
	}
	/* These by name: there may be no memory, or no descriptor, to look for others. */
	if (work.at) {
		unlink(work.at->workloads);
		unlink(work.at->round);
		unlink(work.at->cost);
		unlink(work.at->why);
		unlink(work.journal);
		if (no_db)
			unlink(work.at->db);
	}
	if (scratch_remove(&work.scratch, &e))
		opt_fail(&program, &e);
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;
	struct arena a = ARENA_INIT;
	struct buf path = BUF_INIT;
	struct err e = ERR_INIT;
	static struct places at; /* it is looked at after main() */
	struct limits limits;
	struct id id;
	char since[25];
	const char *shown;

	read_budget();
	if (time_s > 0)
		add_seconds(time_s);
	check_usage();
	if (strict)
		strict_set();
	if (choose_model(&e))
		return opt_fail(&program, &e);
	if (print)
		return print_script(argv + first, argc - first);
	at.files = argv + first;
	at.nfiles = argc - first;
	if (check_team(&e) || check_output(&e) || target_named(target_name)->limits(&limits, &e))
		return opt_fail(&program, &e);
	started = clock_now();
	ledger_open(&ledger, limits.threads, started);
	rec_stop_in_own_time();
	/* Named to all: tl-gen heeds no database but one that is named. */
	if (!no_db && store_default_path(db, STORE_WRITE, &path, &e))
		return opt_fail(&program, &e);
	if (atexit(remove_work))
		die_no_memory();
	if (scratch_open(&work.scratch, program.name, &e)) {
		buf_free(&path);
		arena_free(&a);
		return opt_fail(&program, &e);
	}
	rec_now(since);
	at.since = since;
	rec_run_id(&id);
	at.run = id.s;
	at.cost = arena_printf(&a, "%s/cost", work.scratch.path);
	at.why = arena_printf(&a, "%s/why", work.scratch.path);
	at.workloads = arena_printf(&a, "%s/workloads", work.scratch.path);
	at.round = arena_printf(&a, "%s/round", work.scratch.path);
	at.db = no_db ? arena_printf(&a, "%s/db", work.scratch.path) : path.s;
	work.journal = arena_printf(&a, "%s/db-journal", work.scratch.path);
	shown = store_shown(at.db, &a);
	terminal_text(shown, strlen(shown), &work.place);
	work.at = &at;
	status = workers_path ? tune_with_workers(&at) : tune(&at);
	remove_work();
	buf_free(&work.place);
	buf_free(&path);
	arena_free(&a);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
