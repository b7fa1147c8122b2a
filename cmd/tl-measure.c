/* tl-measure: candidates -> results. Builds while it reads, and times when its input has ended,
 * alone on the machine. */
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/host/env.h"
#include "lib/host/lock.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/io/opt.h"
#include "lib/io/progress.h"
#include "lib/measure/final.h"
#include "lib/measure/finals.h"
#include "lib/measure/group.h"
#include "lib/measure/pause.h"
#include "lib/measure/races.h"
#include "lib/measure/settings.h"
#include "lib/measure/span.h"
#include "lib/record/check.h"
#include "lib/store/recorded.h"
#include "lib/target/target.h"

enum { MAX_JOBS = 256 };

static int nowait, stream, full, samples, skip_known, reprobe, quiet;
static int64_t finals = 3, jobs, seed = 1, memory;
static double max_error = 1e-5, timeout_s = 20, race_s = 0.03, audit = 0.02;
static const char *output, *caches, *part_of, *database, *journal, *target_name;

static const struct opt opts[] = {
	OPTIONS_FOR("Races and finals"),
	{0, "final", OPT_COUNT, &finals, "N",
	 "Compare the best candidate of each workload with the library's best in this many "
	 "processes, with 32 pairs of calls in each, for a verdict. Two are enough if the verdict "
	 "is clear, and more follow if it is open. Default 3; 0: no final.",
	 NULL},
	{0, "race", OPT_TIME, &race_s, "TIME",
	 "The longest time that the calls of a race take, if the race is not decided before. A "
	 "candidate that may be better by 3% gets up to three times as long. Default 30ms.",
	 NULL},
	{0, "samples", OPT_FLAG, &samples, NULL, "Write the time of every call into the result.",
	 NULL},
	{0, "no-preempt", OPT_FLAG, &full, NULL,
	 "Let every candidate duel with the first one until their ratio is known, even if it has "
	 "clearly lost. This makes data to learn from.",
	 NULL},
	{0, "cache", OPT_ENUM, &caches, "MODE",
	 "The state of the caches before each call: warm (with the operands as the call before "
	 "left them), cold (all operands flushed), or weights-cold (weights and bias flushed, as "
	 "in a network of many layers). By default weights-cold, and on a device warm.",
	 CACHES_NAMES},
	{0, "audit", OPT_REAL, &audit, "SHARE",
	 "Give this share of the candidates that lost their race a second race in a new process, "
	 "to find out how often the better one lost. The cost counts as audit. Default 0.02.",
	 NULL},
	{0, "max-error", OPT_REAL, &max_error, "E",
	 "The largest error that is allowed against the reference in double precision. It limits "
	 "the relative L2 norm, and the largest difference over the largest value. Default 1e-5.",
	 NULL},
	{0, "seed", OPT_COUNT, &seed, "N", "The seed of the random data. Default 1.", NULL},
	TARGET_OPTION(target_name),
	OPTIONS_FOR("Building and limits"),
	{'j', "jobs", OPT_COUNT, &jobs, "N",
	 "The number of compilers that run at once. Default: as many as there are CPUs to run "
	 "on.",
	 NULL},
	{0, "timeout", OPT_TIME, &timeout_s, "TIME",
	 "Kill a candidate that takes longer than this, including verification and repeats. "
	 "Default 20s.",
	 NULL},
	{0, "memory", OPT_COUNT, &memory, "BYTES",
	 "Kill a candidate that takes more memory than this in addition to its operands. "
	 "Default: half of the machine's memory.",
	 NULL},
	OPTIONS_FOR("What is known"),
	{'d', "db", OPT_FILE, &database, "FILE",
	 "With --skip-known: the database; by default $TL_DB, else tl/tl.db in $XDG_DATA_HOME or "
	 "~/.local/share.",
	 NULL},
	{0, "journal", OPT_OUTPUT, &journal, "FILE",
	 "Append each result to FILE as soon as it is known, safe from kill -9 and power cuts. "
	 "Do not measure again what FILE holds for this env and these settings. So a run that "
	 "died goes on when it is started again.",
	 NULL},
	{0, "skip-known", OPT_FLAG, &skip_known, NULL,
	 "If the database has a result for this env and these settings, pass it on instead of "
	 "measuring the candidate again.",
	 NULL},
	{0, "part-of", OPT_ID, &part_of, "RUN",
	 "This run is a part of the run with that id, whose cost includes it. tl-tune uses this "
	 "option.",
	 NULL},
	OPTIONS_FOR("The machine and what is said"),
	{0, "stream", OPT_FLAG, &stream, NULL,
	 "Time each workload as soon as its candidates have come, instead of when the input has "
	 "ended. Other programs may then run beside the timing.",
	 NULL},
	{0, "no-wait", OPT_FLAG, &nowait, NULL,
	 "Exit with status 75 if another run is timing on this machine, instead of waiting for it.",
	 NULL},
	REPROBE_OPTION(reprobe),
	OUTPUT_OPTION(output),
	QUIET_OPTION(quiet, ""),
	OPT_END,
};

static const struct program program = {
	.name = "tl-measure",
	.summary = "build, verify and time candidate tensor programs against the baseline",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

static const double LONGEST_RACE_S = 10;

/* Groups in the order in which they came; `open` takes the candidates. */
struct queue {
	struct group *first, **last, *open;
	int begun;	     /* the begin record is out, and the machine is ours */
	int cut;	     /* groups without an end */
	int workloads, work; /* that came; incumbents, candidates and ends that came */
	double started;	     /* clock_now() at the start of the program */
	struct journal journal;
	struct known known;
	struct store *db;
	double own_s; /* CPU time of this process that the ledger has heard of */
};

static void queue_free(struct queue *q)
{
	journal_close(&q->journal);
	store_close(q->db);
	known_free(&q->known);
	while (q->first) {
		struct group *g = q->first;

		q->first = g->next;
		group_free(g);
		free(g);
	}
}

static double half_of_memory(void)
{
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;
}

/* The GPU's counter for targets whose devices NVML knows. A device that tells no address has none.
 */
static void open_energy(struct measure *m, const struct target *target)
{
	struct err ignored = ERR_INIT;

	if (target->pci && target->pci(&m->pci, &ignored) < 0)
		buf_clear(&m->pci);
	energy_open(&m->energy, target->pci ? ENERGY_GPU : ENERGY_CPU, m->pci.n ? m->pci.s : "");
}

/* Compilers are run by this machine's processor, whatever they compile for. */
static int open_caches(struct measure *m, const struct limits *limits, const struct limits *here,
		       struct err *e)
{
	const struct target *target = limits->target;
	int count = jobs ? (int)jobs : here->threads;

	m->definitions = &m->cache;
	if (cache_open(&m->cache, target, limits->isa, count, e) < 0)
		return -1;
	m->cache.ledger = &m->ledger;
	if (target == target_default())
		return 0;
	m->definitions = &m->own_definitions;
	if (cache_open(m->definitions, target_default(), here->isa, 1, e) < 0)
		return -1;
	m->definitions->ledger = &m->ledger;
	return 0;
}

/* started: clock_now() at the start of the program. */
static int measure_open(struct measure *m, double started, struct err *e)
{
	struct buf libs = BUF_INIT;
	const struct target *target = target_named(target_name);
	struct limits limits, here;
	int rc;

	m->rules = (struct measure_rules){
		.max_error = max_error,
		.timeout_s = timeout_s,
		.race_s = race_s,
		.memory = memory ? (double)memory : half_of_memory(),
		.memory_asked = memory > 0,
		.audit = audit,
		.finals = finals,
		.preempt = !full,
		.caches = (enum caches)caches_find(caches),
		.samples = samples,
		.seed = (uint64_t)seed,
	};
	if (target->limits(&limits, e) < 0)
		return -1;
	here = limits;
	if (target != target_default() && target_default()->limits(&here, e) < 0)
		return -1;
	m->threads = here.threads;
	/* Until now it waited for its first record, and for the device. */
	ledger_open(&m->ledger, m->threads, started);
	ledger_switch(&m->ledger, COST_IDLE, started);
	ledger_switch(&m->ledger, COST_PROBE, clock_now());
	open_energy(m, target);
	if (worker_open(&m->worker, target, m->threads, e) < 0)
		return -1;
	rc = worker_libs(&m->worker, &libs, e);
	if (rc == 0)
		rc = env_make(&m->env, target, libs.s ? libs.s : "none", reprobe, e);
	buf_free(&libs);
	if (rc < 0)
		return -1;
	rc = open_caches(m, &limits, &here, e);
	ledger_switch(&m->ledger, COST_IDLE, clock_now());
	return rc;
}

static void measure_close(struct measure *m)
{
	cache_close(&m->cache);
	cache_close(&m->own_definitions);
	env_free(&m->env);
	energy_close(&m->energy);
	buf_free(&m->pci);
	buf_free(&m->held);
	arena_free(&m->trial);
}

static int open_journal(struct measure *m, struct queue *q, struct err *e)
{
	const struct known_source source = {journal_look, &q->journal};

	if (journal_open(&q->journal, journal, e) < 0)
		return -1;
	if (q->journal.torn)
		opt_warn(&program,
			 "the last line of the journal %s was cut off (%lld bytes) and is dropped",
			 journal, (long long)q->journal.torn);
	if (q->journal.bad)
		opt_warn(&program,
			 "%s:%lld: from here on %lld lines of the journal are no records, or not "
			 "as they were written",
			 journal, (long long)q->journal.bad_line, (long long)q->journal.bad);
	known_add_source(&q->known, &source);
	m->journal = &q->journal;
	m->known = &q->known;
	return 0;
}

static int open_database(struct measure *m, struct queue *q, struct err *e)
{
	struct known_source source = {store_recorded, NULL};
	struct buf path = BUF_INIT;
	int rc = store_find(database, &path, e);

	if (rc == 0) {
		opt_warn(&program, "the database %s is not there: nothing is known yet", path.s);
	} else if (rc > 0) {
		source.from = q->db = store_open(path.s, STORE_READ, e);
		rc = q->db ? 0 : -1;
		known_add_source(&q->known, &source);
		m->known = &q->known;
	}
	buf_free(&path);
	return rc;
}

/* Where earlier results are, so that a failure shows before anything is read. */
static int open_known(struct measure *m, struct queue *q, struct err *e)
{
	if (journal && open_journal(m, q, e) < 0)
		return -1;
	return skip_known ? open_database(m, q, e) : 0;
}

/* Begin, run and done records: also into the journal. */
static int put_mark(struct measure *m, const struct buf *line, struct err *e)
{
	if (m->journal && journal_add(m->journal, line->s, line->n, e) < 0)
		return -1;
	return rec_put(m->out, line->s, line->n, e);
}

/* Whatever comes out of this run lies between a begin and a done record, so that a death shows
 * downstream. */
static int bracket(struct measure *m, const char *type, struct err *e)
{
	struct buf out = BUF_INIT;
	int rc;

	field_record(&out, type);
	field_text(&out, "run", m->run.s);
	buf_ch(&out, '}');
	rc = put_mark(m, &out, e);
	buf_free(&out);
	return rc < 0 ? -1 : rec_flush(m->out, e);
}

/* What the run cost, up to here; why: it is not done. A run that never got the device cost nothing
 * worth telling. */
static int put_run(struct measure *m, const char *why, struct err *e)
{
	struct buf out = BUF_INIT, energy = BUF_INIT;
	struct ledger_run run = {
		.run = m->run.s, .program = program.name, .part_of = part_of, .why = why};
	char now[25];
	int rc;

	if (m->ledger.cores <= 0) /* or was told already */
		return 0;
	worker_close(&m->worker); /* which takes a moment */
	rec_now(now);
	run.at = now;
	run.waited_s = clock_stood();
	ledger_close(&m->ledger, clock_now());
	energy_put(&m->energy, energy_read(&m->energy), &energy);
	run.energy = energy.s;
	ledger_record(&m->ledger, &run, &out);
	buf_free(&energy);
	m->ledger.cores = 0;
	rc = put_mark(m, &out, e);
	buf_free(&out);
	return rc;
}

/* A group whose workload came must have its end, too: without it the producer died. */
static void close_group(struct queue *q)
{
	struct group *g = q->open;

	if (g && g->record && g->n && !g->end) {
		g->cut = 1;
		q->cut++;
	}
	q->open = NULL;
}

static struct group *open_group(struct queue *q, const struct workload *w)
{
	struct group *g = xmalloc(sizeof *g);

	close_group(q);
	group_init(g, w);
	*q->last = g;
	q->last = &g->next;
	return q->open = g;
}

/* The time of day when the round is over, on our clock: the earliest of all workloads counts. The
 * time that this run waited for others is given back, but not that of a lease. */
static int take_until(struct measure *m, const struct json_doc *d, struct err *e)
{
	double left_s;

	if (rec_seconds_left(d, &left_s, e) < 0)
		return -1;
	if (json_get(d, d->tok, "unit"))
		m->has_leases = 1;
	else
		left_s += clock_stood();
	m->until = fmin(m->until, clock_now() + left_s);
	return 0;
}

static int take_workload(struct measure *m, struct queue *q, const struct rec *r,
			 const struct json_doc *d, struct err *e)
{
	struct workload w;
	struct group *g;

	if (record_check(&record_workload, d, d->tok, e) < 0 ||
	    workload_from_json(&w, d, d->tok, e) < 0)
		return -1;
	g = open_group(q, &w);
	g->record = arena_strndup(&g->arena, r->s, r->n);
	g->record_n = r->n;
	if (take_until(m, d, e) < 0)
		return -1;
	group_baseline(g, d, json_get(d, d->tok, "opponent"));
	if (group_incumbent(g, target_named(target_name), d, json_get(d, d->tok, "incumbent"), e) <
	    0)
		return -1;
	group_standing(m, g, d);
	q->work += g->first_incumbent != NULL; /* it may get its final */
	return 0;
}

/* The programs before this one worked while it waited for them; if it did not, they were not beside
 * it, but at another time. */
static void charge_producer(struct measure *m, enum cost c, const struct json *cpu_s)
{
	double v = 0;

	json_num(cpu_s, &v);
	ledger_move(&m->ledger, COST_IDLE, c, v, clock_now());
}

static void take_end(struct measure *m, struct queue *q, const struct rec *r,
		     const struct json_doc *d)
{
	struct group *g = q->open;

	charge_producer(m, COST_SEARCH, json_get(d, d->tok, "search_s"));
	charge_producer(m, COST_INFERENCE, json_get(d, d->tok, "inference_s"));
	if (g && json_is(json_get(d, d->tok, "workload_id"), g->w.id.s)) {
		g->end = arena_strndup(&g->arena, r->s, r->n);
		g->end_n = r->n;
	}
	q->open = NULL;
}

/* 0; 1: a bad line, already told; -1: the machine's fault. */
static int take(struct measure *m, struct queue *q, struct rec_in *in, const struct rec *r,
		struct err *e)
{
	struct err why = ERR_INIT;
	struct candidate c;
	struct json_doc *d;

	if (rec_parse(in, r, &d) < 0)
		return 1;
	if (r->type == REC_END) {
		take_end(m, q, r, d);
		return 0;
	}
	if (r->type == REC_WORKLOAD)
		return take_workload(m, q, r, d, &why) < 0 ? (rec_bad(in, r, &why), 1) : 0;
	if (candidate_from_json(&c, d, 1, &why) < 0 ||
	    target_is(c.target, target_named(target_name), &why) < 0) {
		rec_bad(in, r, &why);
		return 1;
	}
	if (!q->open || strcmp(q->open->w.id.s, c.w.id.s) != 0)
		open_group(q, &c.w);
	return group_add(m, q->open, &c, r->s, r->n, e);
}

/* While the input has nothing for us, compilers start and end. */
static int wait_for_input(struct measure *m, struct rec_in *in, struct err *e)
{
	while (rec_would_block(in) && !rec_stopped()) {
		struct pollfd p = {.fd = rec_fd(in), .events = POLLIN};

		energy_tick(&m->energy); /* its counters wrap while nobody looks */
		if (cache_poll(&m->cache, e) < 0)
			return -1;
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of standard output is gone");
		if (m->lock.fd >= 0 && cache_is_idle(&m->cache) && pause_for_others(m, e) < 0)
			return -1;
		if (poll(&p, 1, 5) > 0)
			break;
	}
	return 0;
}

/* Reading and making kernels' sources is work beside the compilers. */
static void charge_own(struct measure *m, struct queue *q)
{
	ledger_beside(&m->ledger, COST_OTHER, clock_cpu_since(&q->own_s), clock_now());
}

/* The compilers' work and this program's own have ended: what comes is charged to those who time.
 */
static int begin_timing(struct measure *m, struct queue *q, struct err *e)
{
	int rc = cache_wait(&m->cache, NULL, e);

	energy_lap(&m->energy); /* what was spent on waiting is no candidate's */
	charge_own(m, q);
	ledger_switch(&m->ledger, COST_OTHER, clock_now());
	return rc;
}

/* The finals have their part of the time that is left. */
static void plan_time(struct measure *m, const struct queue *q)
{
	int64_t most = 0;

	for (const struct group *g = q->first; g != q->open; g = g->next)
		most += m->rules.finals > 0;
	m->races_until = span_races(clock_now(), m->until, m->total - m->timed - m->skipped, most);
}

static int run_races(struct measure *m, struct queue *q, struct err *e)
{
	int rc = 0;

	for (struct group *g = q->first; g != q->open && rc == 0; g = g->next) {
		rc = races_run(m, g, e);
		/* Between groups nothing is timed: let the next program work now. */
		if (rec_flush(m->out, rc < 0 ? NULL : e) < 0)
			return -1;
	}
	return rc;
}

static void forget_groups(struct queue *q)
{
	while (q->first && q->first != q->open) {
		struct group *g = q->first;

		q->first = g->next;
		group_free(g);
		free(g);
	}
	if (!q->first)
		q->last = &q->first;
}

/* Runs and forgets the groups at the front; all of them, or (streaming) those whose end has come.
 * 1: stopped. */
static int run_groups(struct measure *m, struct queue *q, struct err *e)
{
	int rc;

	if (q->first == q->open)
		return 0;
	rc = begin_timing(m, q, e);
	plan_time(m, q);
	standing_begin(&m->standing, "measuring", m->total - m->timed);
	if (rc == 0)
		rc = run_races(m, q, e);
	if (rc == 0)
		rc = finals_run(m, q->first, q->open, e);
	ledger_switch(&m->ledger, COST_IDLE, clock_now());
	clock_cpu_since(&q->own_s);
	if (rc == 0)
		forget_groups(q);
	return rc;
}

/* 1: stopped meanwhile. */
static int take_device(struct measure *m, struct err *e)
{
	const enum lock_how how = nowait ? LOCK_TRY : part_of ? LOCK_WAIT_TURNS : LOCK_WAIT;
	const int rc = lock_take(&m->lock, target_named(target_name)->name, how, e);

	return rc < 0 && rec_stopped() ? 1 : rc;
}

/* At the first record: from here on a death shows downstream, and the machine is ours, compilers
 * included, for they would disturb another run's timing. 1: stopped meanwhile. */
static int begin(struct measure *m, struct queue *q, struct err *e)
{
	int rc;

	q->begun = 1;
	rec_run_id(&m->run);
	rc = bracket(m, "begin", e);
	if (rc == 0)
		rc = take_device(m, e);
	if (rc == 0)
		rc = measure_open(m, q->started, e);
	if (rc)
		return rc;
	settings_id(&m->rules, &m->settings);
	q->known.settings = m->settings;
	q->known.env = m->env.id;
	return 0;
}

/* --reprobe without anything to measure. */
static int probe_only(struct measure *m, struct queue *q, struct err *e)
{
	int rc = take_device(m, e);

	if (rc)
		return rc;
	rc = measure_open(m, q->started, e);
	worker_close(&m->worker);
	return rc;
}

static int measure(struct measure *m, struct queue *q, struct rec_in *in, struct err *e)
{
	int more, rc = 0;
	struct rec r;

	while (rc >= 0 && !(rc = wait_for_input(m, in, e)) && (more = rec_next(in, &r, e)) != 0) {
		if (more < 0 || (!q->begun && (rc = begin(m, q, e))))
			return more < 0 ? -1 : rc;
		if (r.type != REC_WORKLOAD && r.type != REC_CANDIDATE && r.type != REC_END) {
			rc = rec_put(m->out, r.s, r.n, e);
			continue;
		}
		q->workloads += r.type == REC_WORKLOAD;
		q->work += r.type != REC_WORKLOAD;
		rc = take(m, q, in, &r, e);
		if (rc >= 0)
			rc = cache_poll(&m->cache, e);
		if (rc >= 0 && stream)
			rc = run_groups(m, q, e);
	}
	if (rc < 0 || rec_stopped())
		return rc < 0 ? -1 : 1;
	if (!q->begun && reprobe)
		return probe_only(m, q, e);
	close_group(q);
	rc = run_groups(m, q, e);
	if (rc == 0 && q->begun && put_run(m, q->cut ? "the input was cut off" : NULL, e) < 0)
		return -1;
	if (rc == 0 && q->begun && !q->cut)
		rc = bracket(m, "done", e);
	if (rc == 0 && q->workloads && !q->work)
		return err_set(e, "no candidates came in: tl-gen makes them of workloads");
	if (rc == 0 && q->cut)
		return err_set(e, "the input was cut off inside a group: its producer died");
	return rc;
}

static int check_usage(struct err *e)
{
	caches = caches_name(caches_wanted(caches, target_named(target_name)));
	if (jobs > MAX_JOBS)
		return err_status(e, EXIT_USAGE, "--jobs is %lld, more than %d", (long long)jobs,
				  MAX_JOBS);
	if (audit > 1)
		return err_status(e, EXIT_USAGE, "--audit is %g, but a share is at most 1", audit);
	if (finals > FINAL_ASKED)
		return err_status(e, EXIT_USAGE, "--final is %lld, more than %d", (long long)finals,
				  FINAL_ASKED);
	if (race_s > LONGEST_RACE_S)
		return err_status(
			e, EXIT_USAGE,
			"--race is %g s, more than %g s; a unit may be missing, as in 30ms", race_s,
			LONGEST_RACE_S);
	if (database && !skip_known)
		return err_status(e, EXIT_USAGE, "--db belongs to --skip-known");
	if (!strcmp(caches, "weights-cold") && target_named(target_name) != target_default())
		return err_status(e, EXIT_USAGE,
				  "--cache=weights-cold flushes this processor's caches; those of "
				  "--target=%s can only be flushed as a whole (--cache=cold)",
				  target_name);
	return 0;
}

int main(int argc, char **argv)
{
	struct measure m = {.until = INFINITY, .lock = {.fd = -1}};
	struct queue q = {.started = clock_now(), .journal = {.fd = -1}};
	struct err e = ERR_INIT;
	int first = opt_parse(&program, argc, argv), status = EXIT_DONE, rc;
	char refused[DOOR_SENTENCE];
	struct rec_in *in;

	q.last = &q.first;
	rec_stop_in_own_time();
	m.out = rec_create(output, &e);
	if (!m.out)
		return opt_fail(&program, &e);
	in = rec_open(argv + first, argc - first, m.out, &e);
	rc = !in || check_usage(&e) < 0 || open_known(&m, &q, &e) < 0 ? -1
								      : measure(&m, &q, in, &e);
	progress_clear();
	if (rc && q.begun) { /* the first error counts */
		put_run(&m, rc < 0 ? e.msg : "stopped by a signal", NULL);
		if (!output)
			rec_flush(m.out, NULL);
	}
	if (door_sentence(&q.known.refused, refused))
		opt_warn(&program, "%s", refused);
	measure_close(&m);
	queue_free(&q);
	/* What was measured is kept whatever happened after it; without any, the old file stands.
	 */
	if ((rc == 0 || m.timed) && rec_commit(m.out, rc < 0 ? NULL : &e) < 0)
		rc = -1;
	if (rc < 0)
		status = opt_fail(&program, &e);
	if (status == EXIT_DONE && rec_bad_count(in))
		status = EXIT_INPUT;
	rec_close(in);
	rec_discard(m.out);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
