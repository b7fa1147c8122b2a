/* tl-measure: candidates -> results. Builds while it reads, and times when its input has ended,
 * alone on the machine. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/io/clock.h"
#include "lib/io/opt.h"
#include "lib/io/progress.h"
#include "lib/measure/group.h"
#include "lib/measure/lock.h"
#include "lib/target/cpu.h"

enum { MAX_JOBS = 256 };

static int nowait, stream, full, samples;
static int64_t finals = 2, jobs, seed = 1, memory;
static double max_error = 1e-5, timeout_s = 20, race_s = 0.1, audit, max_drift = 0.05;
static const char *output, *caches = "warm";

static const struct opt opts[] = {
	{'o', "output", OPT_FILE, &output, "FILE",
	 "Write to FILE instead of standard output. FILE is replaced at the end.", NULL},
	{0, "final", OPT_COUNT, &finals, "K",
	 "Time the K fastest candidates of each workload once more, in turns with the baseline, "
	 "for a "
	 "verdict. Default 2.",
	 NULL},
	{0, "max-error", OPT_REAL, &max_error, "E",
	 "Largest error allowed against the reference in double precision, relative L2 and largest "
	 "over largest value. Default 1e-5.",
	 NULL},
	{0, "timeout", OPT_TIME, &timeout_s, "TIME",
	 "Kill a candidate that takes longer, verification and repeats included. Default 20s.",
	 NULL},
	{0, "memory", OPT_COUNT, &memory, "BYTES",
	 "Kill a candidate that takes more memory than this beside its operands. Default: half of "
	 "the machine's.",
	 NULL},
	{'j', "jobs", OPT_COUNT, &jobs, "N",
	 "Compilers at once. Default: as many as there are CPUs to run on.", NULL},
	{0, "seed", OPT_COUNT, &seed, "N", "Seed of the random data. Default 1.", NULL},
	{0, "race", OPT_TIME, &race_s, "TIME",
	 "Longest time of a race's calls, where its interval does not narrow before. Default "
	 "100ms.",
	 NULL},
	{0, "cache", OPT_ENUM, &caches, "MODE",
	 "Time with operands as the call before left them in the caches (warm), or flushed before "
	 "each call (cold). Default warm.",
	 "warm|cold"},
	{0, "audit", OPT_REAL, &audit, "SHARE",
	 "Time this share of the preempted candidates to the end all the same, so that it is known "
	 "how often one was stopped that was the best. Charged as audit. Default 0.",
	 NULL},
	{0, "samples", OPT_FLAG, &samples, NULL, "Put every timed call into the result.", NULL},
	{0, "max-drift", OPT_REAL, &max_drift, "SHARE",
	 "Before timing, look whether peak and memory bandwidth are what the probe found. What "
	 "differs by more than this share is said; if it is a peak, or memory by twice as "
	 "much, the results are of another env than earlier ones. Default 0.05; 0: do not look.",
	 NULL},
	{0, "no-preempt", OPT_FLAG, &full, NULL,
	 "Time every candidate to the end, also those that have clearly lost: for data to learn "
	 "from.",
	 NULL},
	{0, "stream", OPT_FLAG, &stream, NULL,
	 "Time each workload as soon as its candidates have come, not when the input has ended. "
	 "Other "
	 "programs may then run beside the timing.",
	 NULL},
	{0, "no-wait", OPT_FLAG, &nowait, NULL,
	 "Exit with status 75 if another run is timing on this machine, instead of waiting for it.",
	 NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-measure",
	.summary = "build, verify and time candidate tensor programs against the vendor's library",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* Groups in the order in which they came; `open` takes the candidates. */
struct queue {
	struct group *first, **last, *open;
	int begun; /* the begin record is out, and the machine is ours */
	int cut;   /* groups without an end */
	int lock;
};

static void queue_free(struct queue *q)
{
	while (q->first) {
		struct group *g = q->first;

		q->first = g->next;
		group_free(g);
		free(g);
	}
}

static void make_run_id(struct measure *m)
{
	char text[96], now[25];

	rec_now(now);
	snprintf(text, sizeof text, "%s %d %.9f", now, (int)getpid(), clock_now());
	hash_id(&m->run, text, strlen(text));
}

static double half_of_memory(void)
{
	return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 2;
}

/* Is the machine as fast as it was? */
static int check_drift(struct measure *m, struct err *e)
{
	struct buf said = BUF_INIT;
	int rc = env_check(&m->env, max_drift, &said, e);

	if (said.n)
		opt_warn(&program, "%s", said.s);
	buf_free(&said);
	return rc < 0 ? -1 : 0;
}

static int measure_open(struct measure *m, struct err *e)
{
	struct buf libs = BUF_INIT;
	struct limits limits;
	int rc;

	m->rules = (struct measure_rules){
		.max_error = max_error,
		.timeout_s = timeout_s,
		.race_s = race_s,
		.memory = memory ? (double)memory : half_of_memory(),
		.audit = audit,
		.finals = finals,
		.preempt = !full,
		.cold = !strcmp(caches, "cold"),
		.samples = samples,
		.seed = (uint64_t)seed,
	};
	if (cpu_limits(&limits, e) < 0 || worker_open(&m->worker, limits.threads, e) < 0)
		return -1;
	rc = worker_libs(&m->worker, &libs, e);
	if (rc == 0)
		rc = env_make(&m->env, libs.s ? libs.s : "none", e);
	if (rc == 0)
		rc = check_drift(m, e);
	buf_free(&libs);
	if (rc < 0)
		return -1;
	energy_open(&m->energy, ENERGY_CPU);
	return cache_open(&m->cache, limits.isa, jobs ? (int)jobs : limits.threads, e);
}

static void measure_close(struct measure *m)
{
	worker_close(&m->worker);
	cache_close(&m->cache);
	env_free(&m->env);
	energy_close(&m->energy);
	buf_free(&m->held);
}

/* Whatever comes out of this run lies between a begin and a done record, so that a death shows
 * downstream. */
static int bracket(struct measure *m, const char *type, struct err *e)
{
	struct buf out = BUF_INIT;
	int rc;

	buf_fmt(&out, "{\"tl\":1,\"type\":\"%s\",\"run\":\"%s\"}", type, m->run.s);
	rc = rec_put(m->out, out.s, out.n, e);
	buf_free(&out);
	return rc < 0 ? -1 : rec_flush(m->out, e);
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

static int take_workload(struct queue *q, const struct rec *r, const struct json_doc *d,
			 struct err *e)
{
	const struct json *inc = json_get(d, d->tok, "incumbent");
	struct workload w;
	struct group *g;

	if (workload_from_json(&w, d, d->tok, e) < 0)
		return -1;
	g = open_group(q, &w);
	g->record = arena_strndup(&g->arena, r->s, r->n);
	g->record_n = r->n;
	json_num(json_get(d, inc, "latency_s"), &g->incumbent_s);
	return 0;
}

static void take_end(struct queue *q, const struct rec *r, const struct json_doc *d)
{
	struct group *g = q->open;

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
		take_end(q, r, d);
		return 0;
	}
	if (r->type == REC_WORKLOAD)
		return take_workload(q, r, d, &why) < 0 ? (rec_bad(in, r, &why), 1) : 0;
	if (candidate_from_json(&c, d, 1, &why) < 0) {
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

		if (cache_poll(&m->cache, e) < 0)
			return -1;
		if (rec_reader_gone(m->out))
			return err_set(e, "the reader of standard output is gone");
		if (poll(&p, 1, 5) > 0)
			break;
	}
	return 0;
}

/* Runs and forgets the groups at the front; all of them, or (streaming) those whose end has come.
 * 1: stopped. */
static int run_groups(struct measure *m, struct queue *q, struct err *e)
{
	int rc = 0;

	while (rc == 0 && q->first && q->first != q->open) {
		struct group *g = q->first;

		rc = cache_wait(&m->cache, NULL, e);
		energy_lap(&m->energy); /* what was spent on waiting is no candidate's */
		if (rc == 0)
			rc = group_run(m, g, e);
		if (rc < 0)
			return -1;
		q->first = g->next;
		if (!q->first)
			q->last = &q->first;
		group_free(g);
		free(g);
	}
	return rc;
}

/* At the first record: from here on a death shows downstream, and the machine is ours, compilers
 * included, for they would disturb another run's timing. */
static int begin(struct measure *m, struct queue *q, struct err *e)
{
	q->begun = 1;
	make_run_id(m);
	if (bracket(m, "begin", e) < 0)
		return -1;
	q->lock = lock_device("cpu", nowait, e);
	return q->lock < 0 ? -1 : measure_open(m, e);
}

static int measure(struct measure *m, struct queue *q, struct rec_in *in, struct err *e)
{
	int more, rc = 0;
	struct rec r;

	while (rc >= 0 && !(rc = wait_for_input(m, in, e)) && (more = rec_next(in, &r, e)) != 0) {
		if (more < 0 || (!q->begun && begin(m, q, e) < 0))
			return -1;
		if (r.type != REC_WORKLOAD && r.type != REC_CANDIDATE && r.type != REC_END) {
			rc = rec_put(m->out, r.s, r.n, e);
			continue;
		}
		rc = take(m, q, in, &r, e);
		if (rc >= 0)
			rc = cache_poll(&m->cache, e);
		if (rc >= 0 && stream)
			rc = run_groups(m, q, e);
	}
	if (rc < 0 || rec_stopped())
		return rc < 0 ? -1 : 1;
	close_group(q);
	rc = run_groups(m, q, e);
	if (rc == 0 && q->begun && !q->cut)
		rc = bracket(m, "done", e);
	if (rc == 0 && q->cut)
		return err_set(e, "the input was cut off inside a group: its producer died");
	return rc;
}

static int check_usage(struct err *e)
{
	if (jobs > MAX_JOBS)
		return err_status(e, EXIT_USAGE, "--jobs is %lld, more than %d", (long long)jobs,
				  MAX_JOBS);
	if (audit > 1)
		return err_status(e, EXIT_USAGE, "--audit is %g, but a share is at most 1", audit);
	return 0;
}

int main(int argc, char **argv)
{
	struct measure m = {0};
	struct queue q = {.lock = -1};
	struct err e = ERR_INIT;
	int first = opt_parse(&program, argc, argv), status = EXIT_DONE, rc;
	struct rec_in *in;

	q.last = &q.first;
	rec_stop_on_signals();
	m.out = rec_create(output, &e);
	if (!m.out)
		return opt_fail(&program, &e);
	in = rec_open(argv + first, argc - first, m.out, &e);
	rc = !in || check_usage(&e) < 0 ? -1 : measure(&m, &q, in, &e);
	progress_clear();
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
