/* tl-replay: candidates -> results, from what was recorded, in tl-measure's place. With --close it
 * has measured what was not recorded, first. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/algo/candidate.h"
#include "lib/extract/read/lines.h"
#include "lib/host/lock.h"
#include "lib/host/scratch.h"
#include "lib/io/file.h"
#include "lib/measure/group.h"
#include "lib/io/field.h"
#include "lib/io/opt.h"
#include "lib/io/progress.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/record/check.h"
#include "lib/replay/closing.h"
#include "lib/replay/replay.h"
#include "lib/store/store.h"
#include "lib/target/target.h"

static const char *database, *output, *env_id, *at, *after, *cache, *missing = "skip";
static const char *target_name, *charge = "results";
static struct opt_list from;
static int full, quiet, closes;
static int64_t looks = 3;
static double before_s;
static int64_t finals = 3, seed = -1; /* seed: below 0, it was not given */
static double race_s = 0.03, audit = 0.02;

static const struct opt opts[] = {
	OPTIONS_FOR("The recording"),
	{'d', "db", OPT_FILE, &database, "FILE",
	 "Answer from this database; without --from, by default $TL_DB, else tl/tl.db in "
	 "$XDG_DATA_HOME or ~/.local/share.",
	 NULL},
	{0, "from", OPT_LIST, &from, "FILE",
	 "Answer from the results in FILE: records as tl-measure writes them, plain or "
	 "compressed, or a database. May be given several times.",
	 NULL},
	TARGET_OPTION(target_name),
	{0, "env", OPT_ENV_ID, &env_id, "ID",
	 "Use the results of this env; by default of this machine's.", NULL},
	{0, "missing", OPT_ENUM, &missing, "HOW",
	 "What happens if nothing is known of a candidate. skip: it gets no result and is "
	 "counted, and the exit status is 4. fail: the run ends with status 3. Default skip.",
	 "skip|fail"},
	{0, "close", OPT_FLAG, &closes, NULL,
	 "Measure what was not recorded now, by tl-measure, and store it in the recording, so that "
	 "the next simulation finds it. The recording is one database, by --db or --from, which is "
	 "made if it is not there.",
	 NULL},
	{0, "looks", OPT_COUNT, &looks, "N",
	 "With --close: measure a candidate in this many processes, at different times. "
	 "Default 3.",
	 NULL},
	OPTIONS_FOR("Races and finals"),
	{0, "final", OPT_COUNT, &finals, "N",
	 "0: no finals. Otherwise the best candidate of each workload gets its recorded final. "
	 "Default 3.",
	 NULL},
	{0, "race", OPT_TIME, &race_s, "TIME",
	 "The longest time that the calls of a race take, if the race is not decided before. A "
	 "candidate that may be better by 3% gets up to three times as long. Default 30ms.",
	 NULL},
	{0, "cache", OPT_ENUM, &cache, "MODE",
	 "Use results that were timed with the caches in this state; by default the state of the "
	 "first one.",
	 CACHES_NAMES},
	{0, "audit", OPT_REAL, &audit, "SHARE",
	 "Give this share of the candidates that lost their race a second race, too, from the "
	 "recording. Default 0.02.",
	 NULL},
	{0, "no-preempt", OPT_FLAG, &full, NULL,
	 "Answer for every candidate as if it had been timed to the end.", NULL},
	{0, "seed", OPT_COUNT, &seed, "N",
	 "Draw one of the recorded looks at a candidate for each duel, by this seed, which is that "
	 "of --audit, too. By default the result that counts plays in all duels, and the seed of "
	 "--audit is 1.",
	 NULL},
	OPTIONS_FOR("The clock"),
	{0, "charge", OPT_ENUM, &charge, "WHAT",
	 "What the clock and the run record count. results: the costs of the results, one after "
	 "the other. run: what a live run would hold the machine for, with search, inference, idle "
	 "cores and the starts of programs. Default results.",
	 "results|run"},
	{0, "spent", OPT_TIME, &before_s, "TIME",
	 "With --charge=run: so much time went by before the programs of the pipeline started. "
	 "tl-tune uses this option.",
	 NULL},
	{0, "at", OPT_STRING, &at, "TIME",
	 "Start the simulated clock at this time (2026-11-21T09:00:00.000Z); by default at the "
	 "time of the latest recorded result, and with --close of the earliest.",
	 NULL},
	{0, "after", OPT_FILE, &after, "DB",
	 "Go on where the replays in this database ended: the clock starts after the last of "
	 "them, and what was compiled for them is not compiled again.",
	 NULL},
	OPTIONS_FOR("What is written"),
	OUTPUT_OPTION(output),
	QUIET_OPTION(quiet, ""),
	OPT_END,
};

static const struct program program = {
	.name = "tl-replay",
	.summary = "answer for candidates from recorded results, in tl-measure's place",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

static struct {
	struct recording recording;
	struct replay replay;
	struct rec_in *in;
	struct rec_out *out;
	struct arena arena;
	int64_t bad; /* lines of the recordings */
	int begun;
	struct id run;
	int cut;	    /* groups without an end */
	struct whole input; /* all of it, where it has to be known first */
	struct scratch scratch;
	struct closing closing;
	int is_measuring; /* between closing_begin() and closing_end() */

	/* The open group */
	int open, with_record;
	struct workload workload;
	struct candidate_reader reader;
} sim;

/* ---- the recordings ---- */

static int take_line(void *arg, const char *line, size_t n, struct err *why)
{
	(void)arg;
	return recording_add_strange(&sim.recording, line, n, why);
}

static void say(void *arg, const char *sentence)
{
	(void)arg;
	progress_clear();
	terminal_say("%s: %s\n", program.name, sentence);
}

/* The state of the first result, if another was not asked for; where there are no results yet, they
 * will be measured. */
static void set_caches(void)
{
	if (!cache)
		cache = sim.recording.cache;
	if (!cache)
		cache = caches_name(caches_default(target_named(target_name)));
	sim.replay.rules.caches = (enum caches)caches_find(cache);
	sim.closing.cache = cache;
}

static int load(struct err *e)
{
	const struct lines lines = {take_line, say, NULL, &sim.bad};
	struct buf path = BUF_INIT;
	char text[DOOR_SENTENCE];
	int rc = 0;

	recording_free(&sim.recording);
	sim.recording = (struct recording){
		.only = env_id, .cache = cache, .grows = closes || !strcmp(charge, "run")};
	if (closes && (rc = store_is_there(sim.closing.database, e)) <= 0)
		return rc;
	rc = 0;
	for (int i = 0; i < from.n && rc == 0; i++)
		rc = lines_is_database(from.item[i])
			     ? recording_add_store(&sim.recording, from.item[i], e)
			     : lines_each(from.item[i], &lines, e);
	if (rc == 0 && (database || !from.n))
		rc = store_default_path(database, STORE_READ, &path, e) ||
		     recording_add_store(&sim.recording, path.s, e);
	buf_free(&path);
	set_caches();
	if (sim.recording.grows)
		recording_settle(&sim.recording);
	if (door_sentence(&sim.recording.refused, text))
		opt_warn(&program, "%s", text);
	return rc ? -1 : 0;
}

/* The env that is asked for, or this machine's; where that cannot be told, the latest. */
static int choose_env(struct err *e)
{
	const struct recording *r = &sim.recording;
	const struct recorded_env *latest = recording_latest(r);
	struct store_env env;

	if (!latest)
		return err_set(e, "nothing was recorded%s%s", env_id ? " in the env " : "",
			       env_id ? env_id : "");
	if (store_env_here(NULL, target_named(target_name), env_id, &sim.arena, &env, e) < 0)
		return -1;
	if (!env.id) {
		opt_warn(&program, "the results of the env %s answer, the latest", latest->id);
		env.id = latest->id;
	}
	sim.replay.env = recording_env(r, env.id);
	if (!sim.replay.env)
		return err_set(e,
			       "nothing was recorded in this machine's env, %s, with the caches "
			       "%s (--cache); the latest results are of the env %s: name it with "
			       "--env to be answered by it",
			       env.id, cache, latest->id);
	return 0;
}

/* ---- the simulated clock ---- */

/* The workloads that were tuned before have their data and true answers in the cache. */
static void mark_opened(const struct recorded_env *past)
{
	for (size_t i = 0; i < past->workloads.n; i++) {
		const struct map_item *it = &past->workloads.item[i];
		struct recorded_workload *w = map_get(&sim.replay.env->workloads, it->key, it->len);

		if (w)
			w->was_opened = 1;
	}
}

/* What was replayed before: its objects are there, and time goes on behind it. */
static int go_on(int64_t *start_ms, struct err *e)
{
	struct recording past = {.cache = cache, .replayed = 1};
	const struct recorded_env *v;
	int rc = recording_add_store(&past, after, e);

	v = rc ? NULL : recording_latest(&past);
	if (v && v->last_ms >= *start_ms)
		*start_ms = v->last_ms + 1;
	if (v)
		mark_opened(v);
	for (size_t i = 0; i < past.codes.n; i++) {
		const struct map_item *it = &past.codes.item[i];
		struct recorded_code *code = map_get(&sim.recording.codes, it->key, it->len);

		if (code)
			code->built = 1;
	}
	recording_free(&past);
	return rc;
}

static int set_clock(struct err *e)
{
	int64_t *start = &sim.replay.start_ms;

	*start = closes ? sim.replay.env->first_ms : sim.replay.env->last_ms;
	if (at && rec_time_read(at, start))
		return err_status(e, EXIT_USAGE,
				  "--at wants a time such as 2026-11-21T09:00:00.000Z");
	return after ? go_on(start, e) : 0;
}

/* ---- the stream ---- */

/* In a trial nothing is written. */
static int put(const char *s, size_t n, struct err *e)
{
	return sim.replay.out ? rec_put(sim.replay.out, s, n, e) : 0;
}

static int bracket(const char *type, struct err *e)
{
	struct buf out = BUF_INIT;
	int rc;

	field_record(&out, type);
	field_text(&out, "run", sim.run.s);
	buf_ch(&out, '}');
	rc = put(out.s, out.n, e);
	buf_free(&out);
	return rc;
}

/* At the first record, of which the run's id is made, so that it is the same each time. */
static int begin(const struct rec *r, struct err *e)
{
	struct buf text = BUF_INIT;

	sim.begun = 1;
	/* A recording that grows has another size the next time. */
	buf_fmt(&text, "replay env=%s results=%lld start=%lld cache=%s final=%lld seed=%lld ",
		sim.replay.env->id, closes ? 0LL : (long long)sim.replay.env->n,
		(long long)sim.replay.start_ms, cache, (long long)finals,
		(long long)sim.replay.rules.seed);
	if (sim.replay.rules.draws)
		buf_fmt(&text, "draws ");
	buf_fmt(&text, "race=%.9g audit=%.9g preempt=%d ", race_s, audit, !full);
	buf_add(&text, r->s, r->n);
	hash_id(&sim.run, text.s, text.n);
	buf_free(&text);
	sim.replay.run = sim.run.s;
	return bracket("begin", e);
}

/* Ends the open group; line: its end record, or NULL. A group whose workload came must have its
 * end, too: without it the producer died. */
static int close_group(const char *line, size_t n, struct err *e)
{
	const int had = sim.open;
	const int cut = had && sim.with_record && sim.replay.n && !line;

	sim.open = 0;
	if (!had)
		return 0;
	if (replay_final(&sim.replay, e))
		return -1;
	sim.cut += cut;
	if (cut || (!line && !sim.replay.n && !sim.replay.gave_final))
		return 0;
	return replay_end(&sim.replay, sim.workload.id.s, line, n, e);
}

/* incumbent NULL: no workload record opens it. */
static int open_group(const struct replay_incumbent *incumbent, struct err *e)
{
	const struct replay_incumbent none = {0};

	if (close_group(NULL, 0, e))
		return -1;
	sim.open = 1;
	sim.with_record = incumbent != NULL;
	replay_open(&sim.replay, incumbent ? incumbent : &none);
	return 0;
}

/* 0; 1: a bad line, not told yet; -1: failed. */
static int take_workload(const struct rec *r, const struct json_doc *d, struct err *e)
{
	const struct json *in = json_get(d, d->tok, "incumbent");
	struct replay_incumbent incumbent = {.at = ""};
	struct buf line = BUF_INIT;
	const char *id = "";
	struct workload w;
	struct id text;
	int rc;

	if (record_check(&record_workload, d, d->tok, e) || workload_from_json(&w, d, d->tok, e))
		return 1;
	json_str(json_get(d, in, "candidate_id"), &sim.arena, &id);
	json_str(json_get(d, in, "at"), &sim.arena, &incumbent.at);
	json_bool(json_get(d, in, "final"), &incumbent.had_final);
	snprintf(text.s, sizeof text.s, "%s", id);
	if (*id)
		incumbent.id = &text;
	if (json_get(d, in, "algo") && json_get(d, in, "knobs")) {
		group_incumbent_line(&w, target_named(target_name), d, in, text.s, &line);
		incumbent.line = line.s;
		incumbent.n = line.n;
	}
	rc = open_group(&incumbent, e);
	buf_free(&line);
	if (rc)
		return -1;
	sim.workload = w;
	return put(r->s, r->n, e);
}

static int take_end(const struct rec *r, const struct json_doc *d, struct err *e)
{
	if (sim.open && json_is(json_get(d, d->tok, "workload_id"), sim.workload.id.s))
		return close_group(r->s, r->n, e);
	return close_group(NULL, 0, e);
}

static int take_candidate(const struct json_doc *d, struct err *e)
{
	struct candidate c;
	int rc;

	if (candidate_read(&sim.reader, &c, d, 1, e))
		return 1;
	if ((!sim.open || strcmp(sim.workload.id.s, c.w.id.s) != 0) && open_group(NULL, e))
		return -1;
	sim.workload = c.w;
	rc = replay_candidate(&sim.replay, d, &c.id, e);
	if (rc == 0 && !strcmp(missing, "fail"))
		return err_set(e, "nothing is known of the candidate %s of %s %s", c.id.s,
			       c.w.op->name, c.w.prob);
	return rc < 0 ? -1 : 0;
}

static int take(const struct rec *r, struct err *e)
{
	struct err why = ERR_INIT;
	struct json_doc *d;
	int rc;

	if (rec_parse(sim.in, r, &d))
		return 0;
	rc = r->type == REC_END	       ? take_end(r, d, &why)
	     : r->type == REC_WORKLOAD ? take_workload(r, d, &why)
				       : take_candidate(d, &why);
	if (rc > 0)
		rec_bad(sim.in, r, &why);
	if (rc < 0)
		*e = why;
	return rc < 0 ? -1 : 0;
}

/* Has the input to be read to its end, before the first answer? */
static int reads_ahead(void)
{
	return closes || sim.replay.rules.by_run;
}

static int replay(struct err *e)
{
	struct rec r;
	int more, rc = 0;

	while (rc == 0 &&
	       (more = reads_ahead() ? whole_next(&sim.input, &r) : rec_next(sim.in, &r, e)) != 0) {
		if (more < 0 || (!sim.begun && begin(&r, e)))
			return -1;
		if (r.type == REC_WORKLOAD || r.type == REC_CANDIDATE || r.type == REC_END)
			rc = take(&r, e);
		else
			rc = put(r.s, r.n, e);
	}
	if (rc || rec_stopped())
		return rc;
	if (close_group(NULL, 0, e) || replay_cost(&sim.replay, program.name, e))
		return -1;
	if (sim.cut)
		return err_set(e, "the input was cut off inside a group: its producer died");
	return sim.begun ? bracket("done", e) : 0;
}

/* ---- closing the recording ---- */

/* This machine's env in the recording; NULL: nothing was recorded there. */
static int find_here(const struct recorded_env **v, struct err *e)
{
	struct store_env here;

	*v = NULL;
	if (store_env_here(NULL, target_named(target_name), NULL, &sim.arena, &here, e) < 0)
		return -1;
	if (!here.id)
		return err_set(e, "this machine's env cannot be told, so nothing can be measured");
	if (env_id && strcmp(env_id, here.id) != 0)
		return err_set(e, "--close measures on this machine, whose env is %s, not %s",
			       here.id, env_id);
	*v = recording_env(&sim.recording, here.id);
	return 0;
}

/* Measures what the file asks for, and loads what the recording is now. */
static int measure(const char *path, int64_t processes, struct err *e)
{
	int status;

	if (!sim.is_measuring && closing_begin(&sim.closing, e))
		return -1;
	sim.is_measuring = 1;
	status = closing_measure(&sim.closing, path, processes, e);
	if (rec_stopped())
		return 1;
	if (status < 0)
		return -1;
	if (status && status != EXIT_INEXACT)
		return err_set(e, "what was not recorded could not be measured (status %d)",
			       status);
	return load(e);
}

/* A look at a time, so that looks at a candidate are apart, until none is needed. */
static int close_races(const char *path, struct err *e)
{
	const struct recorded_env *v;
	int rc = 0;

	for (int64_t pass = 0; rc == 0 && pass < RECORDING_ENOUGH * looks; pass++) {
		int64_t n;

		if (find_here(&v, e) || (n = closing_races(&sim.input, v, looks, path, e)) < 0)
			return -1;
		if (!n)
			break;
		if (!pass)
			opt_say(&program, "%lld candidates were not recorded: they are measured",
				(long long)n);
		rc = measure(path, 0, e);
	}
	return rc;
}

static int prepare(struct err *e)
{
	return choose_env(e) || set_clock(e) ? -1 : 0;
}

/* Which finals are asked for follows from the races: they are played without being written. */
static int close_finals(const char *path, struct err *e)
{
	const struct replay_rules rules = sim.replay.rules;
	struct buf lacking = BUF_INIT;
	int rc;

	if (!finals || prepare(e))
		return finals ? -1 : 0;
	sim.replay.lacking = &lacking;
	rc = replay(e);
	replay_free(&sim.replay);
	sim.replay = (struct replay){.rules = rules};
	sim.begun = sim.open = sim.cut = 0;
	sim.input.next = 0;
	if (rc == 0 && lacking.n && !rec_stopped())
		rc = file_write(path, lacking.s, lacking.n, e) ? -1 : measure(path, finals, e);
	else if (rc == 0)
		rc = load(e); /* the trial has marked what it built */
	buf_free(&lacking);
	return rc;
}

/* Other simulations that close a recording wait, so that nothing is measured twice. */
static int close_recording(struct err *e)
{
	struct buf path = BUF_INIT;
	struct lock lock;
	int taken = !lock_take(&lock, "recordings", LOCK_WAIT, e), rc = -1;

	if (taken && load(e) == 0 && scratch_open(&sim.scratch, program.name, e) == 0) {
		buf_fmt(&path, "%s/missing", sim.scratch.path);
		rc = close_races(path.s, e);
		if (rc == 0)
			rc = close_finals(path.s, e);
	}
	if (sim.is_measuring)
		closing_end(&sim.closing, rc == 0);
	sim.is_measuring = 0;
	if (sim.scratch.path && scratch_remove(&sim.scratch, e))
		rc = -1;
	lock_drop(&lock);
	buf_free(&path);
	return rc;
}

/* ---- the run ---- */

/* Charges what comes before the first race. */
static int charge_lead(struct err *e)
{
	struct lead lead = {.before_s = before_s, .start_s = recording_start(&sim.recording)};

	if (!sim.replay.rules.by_run)
		return 0;
	if (lead_make(&lead, &sim.input, sim.replay.env, e))
		return -1;
	replay_lead(&sim.replay, &lead);
	return 0;
}

/* All before the first answer. 1: stopped. */
static int open_all(char **paths, int npaths, struct err *e)
{
	int rc;

	if (!reads_ahead() && (load(e) || rec_stopped() || prepare(e)))
		return rec_stopped() ? 1 : -1;
	sim.out = rec_create(output, e);
	sim.in = sim.out ? rec_open(paths, npaths, sim.out, e) : NULL;
	if (!sim.in)
		return -1;
	if (!reads_ahead())
		rc = 0;
	else if (whole_read(&sim.input, sim.in, e))
		rc = -1;
	else if (!sim.input.n && closes)
		rc = 0;
	else if (!(rc = closes ? close_recording(e) : load(e)) && !(rc = prepare(e)))
		rc = charge_lead(e);
	sim.replay.out = sim.out;
	return rec_stopped() ? 1 : rc;
}

static int check_usage(struct err *e)
{
	if (audit > 1)
		return err_status(e, EXIT_USAGE, "--audit is %g, but a share is at most 1", audit);
	if (before_s > 0 && strcmp(charge, "run") != 0)
		return err_status(e, EXIT_USAGE, "--spent belongs to --charge=run");
	if (closes && (!!database + from.n != 1))
		return err_status(e, EXIT_USAGE,
				  "--close stores in the recording: name one database, by --db or "
				  "--from");
	if (closes && looks < 1)
		return err_status(e, EXIT_USAGE, "--looks is 0: nothing would be measured");
	return 0;
}

static void set_rules(void)
{
	const int by_run = !strcmp(charge, "run");

	sim.replay.rules = (struct replay_rules){.race_s = race_s,
						 .audit = audit,
						 .finals = finals,
						 .preempt = !full,
						 .seed = seed < 0 ? 1 : (uint64_t)seed,
						 .draws = seed >= 0,
						 .of_first = closes || by_run,
						 .by_run = by_run};
	sim.closing = (struct closing){.database = database ? database
						   : from.n ? from.item[0]
							    : NULL,
				       .target = target_name,
				       .quiet = quiet};
}

/* Returns the exit status. */
static int run(char **paths, int npaths)
{
	struct replay *r = &sim.replay;
	struct err e = ERR_INIT;
	int rc;

	if (check_usage(&e))
		return opt_fail(&program, &e);
	set_rules();
	rc = open_all(paths, npaths, &e) ? -1 : replay(&e);
	if (rec_stopped())
		e = (struct err)ERR_INIT;
	/* What was answered is kept whatever happened after it. */
	if (sim.out && (rc == 0 || r->asked) && rec_commit(sim.out, rc ? NULL : &e))
		rc = -1;
	if (rc)
		return rec_stopped() || (sim.out && rec_broken_pipe(sim.out))
			       ? EXIT_DONE
			       : opt_fail(&program, &e);
	if (r->unknown)
		opt_say(&program, "of %lld of %lld candidates nothing is known",
			(long long)r->unknown, (long long)r->asked);
	return sim.bad || rec_bad_count(sim.in) ? EXIT_INPUT
	       : r->unknown			? EXIT_INEXACT
						: EXIT_DONE;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;

	opt_foreign_exit(&program);
	/* While it closes a recording it has to see its children end. */
	if (closes)
		rec_stop_in_own_time();
	else
		rec_stop_on_signals();
	status = run(argv + first, argc - first);
	rec_close(sim.in);
	rec_discard(sim.out);
	replay_free(&sim.replay);
	recording_free(&sim.recording);
	whole_free(&sim.input);
	arena_free(&sim.arena);
	candidate_reader_free(&sim.reader);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
