/* Recordings and replays: which of several results answers, whatever their order; and that a duel
 * over recorded samples ends as the duel over the calls themselves would have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/rng.h"
#include "lib/replay/replay.h"
#include "lib/trial/duel.h"
#include "tests/tap.h"

#define WORKLOAD "00000000000000000000000000000001"
#define HEAD                                                                                       \
	"{\"tl\":1,\"type\":\"%s\",\"candidate_id\":\"%s\",\"workload\":{\"workload_id\":"         \
	"\"" WORKLOAD "\"}"

enum { LINES = 200, PROGRAMS = 120, MOST_SAMPLES = 1024 };

static struct buf line[LINES];
static int nlines;

static void forget(void)
{
	for (int i = 0; i < nlines; i++)
		buf_free(&line[i]);
	nlines = 0;
}

static struct id candidate(int i)
{
	struct id id;

	hash_id(&id, &i, sizeof i);
	return id;
}

/* A result as it was measured; fields: what stands behind the common ones. */
static void add(int who, const char *run, const char *at, const char *status, double latency_s,
		const char *fields)
{
	struct buf *b = &line[nlines++];
	const struct id id = candidate(who);

	buf_fmt(b, HEAD, "result", id.s);
	buf_fmt(b,
		",\"status\":\"%s\",\"latency_s\":%.9g,\"run\":\"%s\",\"at\":\"2026-11-%s\","
		"\"env_id\":\"e\"%s}",
		status, latency_s, run, at, fields);
}

static void fill(struct recording *r, const int *order)
{
	struct err e = ERR_INIT;

	for (int i = 0; i < nlines; i++) {
		const struct buf *b = &line[order ? order[i] : i];

		if (recording_add(r, b->s, b->n, &e))
			diag("%s", e.msg);
	}
}

static int is_from(const struct recorded *x, const char *run, double latency_s)
{
	return x && !strcmp(x->run, run) && x->latency_s == latency_s;
}

static void make_choices(void)
{
	static const char day[] = "21T09:00:00.000Z", next[] = "22T09:00:00.000Z";
	static const char samples[] = ",\"samples_s\":[0.002,0.002]";

	add(0, "a", day, "ok", 2e-3, "");
	add(0, "b", day, "ok", 1e-3, "");
	add(0, "c", day, "preempted", 9e-4, "");
	add(0, "a", day, "ok", 1.5e-3, ",\"stage\":\"final\"");
	add(1, "a", day, "ok", 1e-3, "");
	add(1, "b", day, "ok", 2e-3, samples);
	add(2, "a", day, "ok", 1e-3, "");
	add(2, "b", day, "wrong", 1e-3, ",\"why\":\"off\"");
	add(3, "a", day, "ok", 1e-3, "");
	add(3, "b", day, "wrong", 1e-3, ",\"stage\":\"final\",\"why\":\"off\"");
	add(4, "a", day, "preempted", 1e-3, "");
	add(4, "b", day, "preempted", 3e-3, "");
	add(4, "c", day, "crash", 0, "");
	add(5, "b", day, "crash", 0, "");
	add(5, "a", next, "timeout", 0, "");
	add(6, "b", day, "ok", 1e-3, "");
	add(6, "a", day, "ok", 1e-3, "");
	add(7, "a", day, "ok", 1e-3, ",\"stage\":\"final\"");
	add(8, "a", day, "ok", 5e-4, ",\"cache\":\"cold\"");
	add(8, "b", day, "ok", 6e-4, "");
	add(9, "a", day, "ok", 1e-3, ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0.25}");
	add(9, "b", next, "ok", 2e-3,
	    ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0,\"baseline_s\":0.5}");
}

/* All rules of the choice at once, in some order of the lines. */
static int chooses_right(const int *order)
{
	struct recording r = {.cache = "warm"};
	const struct recorded_env *v;
	const struct recorded *x[10];
	int right;

	fill(&r, order);
	v = recording_env(&r, "e");
	for (int i = 0; i < 10; i++)
		x[i] = recording_race(v, candidate(i).s);
	right = is_from(x[0], "b", 1e-3) && is_from(x[1], "b", 2e-3) && x[1]->nx == 2 &&
		is_from(x[2], "b", 1e-3) && x[2]->status == STATUS_WRONG &&
		is_from(x[3], "b", 1e-3) && x[3]->status == STATUS_WRONG &&
		is_from(x[4], "b", 3e-3) && is_from(x[5], "a", 0) && is_from(x[6], "a", 1e-3) &&
		is_from(x[7], "a", 1e-3) && is_from(x[8], "b", 6e-4);
	right &= is_from(recording_final(v, candidate(0).s), "a", 1.5e-3) &&
		 !recording_final(v, candidate(1).s) && !recording_race(v, candidate(10).s);
	right &= x[9]->code->build_s == 0.25 && x[0]->workload->baseline_s == 0.5;
	right &= v->n == nlines - 1 && recording_latest(&r) == v;
	recording_free(&r);
	return right;
}

static void test_choice(void)
{
	int order[LINES], right = 1;
	struct rng g;

	forget();
	make_choices();
	ok(chooses_right(NULL), "one of several results answers");
	rng_seed(&g, 1, "order");
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < nlines; i++) {
			int j = (int)rng_below(&g, (uint64_t)i + 1);

			order[i] = order[j];
			order[j] = i;
		}
		right &= chooses_right(order);
	}
	ok(right, "and the same one in whatever order they came");
}

static int refuses(const char *text)
{
	struct recording r = {.cache = "warm"};
	struct err e = ERR_INIT;
	int rc = recording_add(&r, text, strlen(text), &e);

	recording_free(&r);
	return rc == -1 && e.msg[0];
}

static void test_bad(void)
{
	struct recording r = {.cache = "warm"};
	static const char end[] = "{\"tl\":1,\"type\":\"end\"";
	struct buf b = BUF_INIT;

	ok(refuses("garbage") && refuses("{\"tl\":1,\"type\":\"result\"}") &&
		   refuses("{\"tl\":1,\"type\":\"result\""),
	   "what is no result is refused");
	forget();
	add(0, "a", "21T09:00:00.000Z", "ok", 1e-3, ",\"replayed\":true");
	add(0, "a", "21T09:00:00.000Z", "ok", 1e-3, ",\"samples_s\":[1,-1]");
	add(0, "a", "noon", "ok", 1e-3, "");
	ok(refuses(line[0].s), "and what was replayed");
	ok(refuses(line[1].s) && refuses(line[2].s), "and samples and times that are none");
	add(0, "a", "21T09:00:00.000Z", "ok", 1e-3,
	    ",\"samples_s\":[1,1],\"duel\":{\"samples_s\":[1,0]}");
	ok(refuses(line[3].s), "and those of the one it raced against");
	buf_str(&b, "[1");
	for (int i = 0; i < MOST_SAMPLES; i++)
		buf_str(&b, ",1");
	buf_str(&b, "]}");
	line[2].n = 0;
	buf_add(&line[2], line[1].s, strstr(line[1].s, "[1,") - line[1].s);
	buf_add(&line[2], b.s, b.n);
	ok(refuses(line[2].s), "and more samples than can be kept");
	ok(recording_add(&r, end, sizeof end - 1, NULL) == 0 && !recording_latest(&r),
	   "other records are passed over unread");
	buf_free(&b);
}

/* What is kept of the one that it dueled with. */
static void test_reference(void)
{
	static const char day[] = "21T09:00:00.000Z";
	static const char fields[] = ",\"samples_s\":[0.001,0.002],\"duel\":{\"against\":\"%s\","
				     "\"ratio\":1,\"samples_s\":%s}";
	struct recording r = {.cache = "warm"};
	const struct id id = candidate(9);
	const struct recorded *x[4];
	struct buf b = BUF_INIT;

	forget();
	buf_fmt(&b, fields, id.s, "[0.003,0.004]");
	add(0, "a", day, "ok", 1e-3, b.s);
	buf_clear(&b);
	buf_fmt(&b, fields, id.s, "[0.003]");
	add(1, "a", day, "preempted", 1e-3, b.s);
	add(2, "a", day, "ok", 1e-3, ",\"samples_s\":[0.001]");
	buf_clear(&b);
	buf_fmt(&b, fields, id.s,
		"[0.003,0.004],\"first\":{\"challenger_s\":[0.005],\"incumbent_s\":[0.006]}");
	add(3, "a", day, "ok", 1e-3, b.s);
	fill(&r, NULL);
	for (int i = 0; i < 4; i++)
		x[i] = recording_race(recording_env(&r, "e"), candidate(i).s);
	ok(x[0]->nx == 2 && x[0]->x[1] == 0.002 && x[0]->y && x[0]->y[1] == 0.004 &&
		   x[0]->reference && !strcmp(x[0]->reference, id.s),
	   "the calls of a duel: its own, the other's, and who that was");
	ok(x[3]->nx == 3 && x[3]->x[0] == 0.005 && x[3]->x[2] == 0.002 && x[3]->y &&
		   x[3]->y[0] == 0.006 && x[3]->y[2] == 0.004,
	   "pairs that won come before those that confirm it");
	ok(x[1]->x && !x[1]->y, "without a call for each of its own, the other's are none");
	ok(x[2]->x && !x[2]->y && !x[2]->reference, "where there was no duel there is no other");
	recording_free(&r);
	buf_free(&b);
}

/* ---- replays ---- */

/* A program's calls in a duel with the first program of all, at some hour: what others do then
 * makes the calls of a pair longer alike. */
struct calls {
	double t, x[DUEL_MAX], y[DUEL_MAX]; /* t: what a call takes where nobody is */
	int n;				    /* pairs that were recorded */
};

static void make_calls(struct rng *g, const struct calls *first, struct calls *c)
{
	const double hour = 1 + 0.6 * rng_unit(g);

	c->t = 3e-4 * (1 + 0.3 * rng_unit(g)) * (rng_below(g, 4) ? 1 : 2);
	for (int i = 0; i < DUEL_MAX; i++) {
		double moment = hour * (1 + 0.2 * rng_unit(g)) * (rng_below(g, 20) ? 1 : 2);

		c->x[i] = buf_rounded(c->t * moment * (1 + 0.01 * rng_unit(g)));
		c->y[i] = buf_rounded(first->t * moment * (1 + 0.01 * rng_unit(g)));
	}
}

/* Two of them, as they would have dueled in the same hour. */
struct feed {
	const struct calls *c, *incumbent; /* incumbent NULL: nobody */
	int is_first;			   /* the incumbent is the first of all */
	int most, at; /* calls of each begin again after so many; 0: as recorded */
};

static int feed(void *arg, int turn, double *x, double *y, struct err *e)
{
	struct feed *f = arg;
	int i = f->at % (f->most ? f->most : f->c->n);

	(void)turn, (void)e;
	*x = f->c->x[i];
	*y = f->c->y[i];
	if (f->incumbent && !f->is_first) {
		int k = f->at % f->incumbent->n;

		*x = f->c->x[i] / f->c->y[i] * f->incumbent->y[k];
		*y = f->incumbent->x[k];
	}
	f->at++;
	return 0;
}

static void duel(struct feed f, enum duel_kind kind, struct duel *d)
{
	const struct duel_rules rules = {kind, 0.1, 0};
	struct err e = ERR_INIT;

	memset(d, 0, sizeof *d);
	if (f.incumbent)
		duel_run(&rules, feed, &f, d, &e);
	else
		duel_alone(rules.budget_s, feed, &f, d, &e);
}

/* What a duel comes to, as the fields of its result. */
static void told(const struct duel *d, int preempted, struct buf *b)
{
	buf_fmt(b, "\"latency_s\":%.9g%s,\"ci_s\":[%.9g,%.9g],\"reps\":%d",
		preempted ? d->time.lo : d->time.median, preempted ? ",\"bound\":\"lower\"" : "",
		d->time.lo, d->time.hi, d->n);
}

static void told_samples(const double *x, int n, struct buf *b)
{
	buf_str(b, ",\"samples_s\":[");
	for (int k = 0; k < n; k++)
		buf_fmt(b, "%s%.9g", k ? "," : "", x[k]);
	buf_str(b, "]");
}

/* Records the whole duel of each with the first, with its samples. */
static void record(struct calls *c, int n)
{
	static struct duel d;
	const struct id first = candidate(0);

	for (int i = 0; i < n; i++) {
		const struct feed f = {
			.c = &c[i], .incumbent = i ? &c[0] : NULL, .is_first = 1, .most = DUEL_MAX};
		struct buf *b = &line[nlines++];
		const struct id id = candidate(i);

		duel(f, DUEL_WHOLE, &d);
		c[i].n = d.n;
		buf_fmt(b, HEAD, "result", id.s);
		buf_str(b, ",\"status\":\"ok\",");
		told(&d, 0, b);
		buf_str(b, ",\"run\":\"a\",\"at\":\"2026-11-21T09:00:00.000Z\",\"env_id\":\"e\","
			   "\"cost\":{\"verify_s\":0.001,\"run_s\":");
		buf_num(b, 2 * d.spent_s);
		buf_str(b, "}");
		told_samples(d.x, d.n, b);
		if (i) {
			buf_fmt(b, ",\"duel\":{\"against\":\"%s\",\"ratio\":%.9g", first.s,
				d.ratio.median);
			told_samples(d.y, d.n, b);
			buf_str(b, "}");
		}
		buf_str(b, "}");
	}
}

static char path[] = "/tmp/tl-test-XXXXXX";

/* Opens a replay of what was added, whose output goes to path. */
static void open_replay(struct replay *p, struct recording *r, const int preempt)
{
	struct err e = ERR_INIT;

	*r = (struct recording){.cache = "warm"};
	fill(r, NULL);
	*p = (struct replay){.rules = {.race_s = 0.1, .finals = 3, .preempt = preempt},
			     .env = recording_env(r, "e"),
			     .run = "run",
			     .out = rec_create(path, &e)};
	if (!p->out || !p->env)
		bail_out("no replay: %s", e.msg);
}

static int play(struct replay *p, int who)
{
	struct json_doc d = JSON_DOC_INIT;
	struct buf b = BUF_INIT;
	struct err e = ERR_INIT;
	const struct id id = candidate(who);
	int rc;

	buf_fmt(&b, HEAD "}", "candidate", id.s);
	if (json_parse(&d, b.s, b.n, &e))
		bail_out("%s", e.msg);
	rc = replay_candidate(p, &d, &id, &e);
	json_free(&d);
	buf_free(&b);
	return rc;
}

/* Ends it; its output in text. */
static void close_replay(struct replay *p, struct recording *r, struct buf *text)
{
	struct err e = ERR_INIT;
	char block[4096];
	FILE *f;
	size_t n;

	if (replay_final(p, &e) || replay_end(p, WORKLOAD, NULL, 0, &e) || rec_commit(p->out, &e))
		bail_out("%s", e.msg);
	rec_discard(p->out);
	replay_free(p);
	recording_free(r);
	buf_clear(text);
	f = fopen(path, "re");
	while (f && (n = fread(block, 1, sizeof block, f)) > 0)
		buf_add(text, block, n);
	if (f)
		fclose(f);
}

/* The candidate's line in the text, of a stage; "" if there is none. */
static const char *answer(const struct buf *text, int who, const char *stage, struct buf *out)
{
	const struct id id = candidate(who);

	buf_clear(out);
	buf_str(out, "");
	for (const char *s = text->s, *nl; (nl = strchr(s, '\n')); s = nl + 1) {
		buf_clear(out);
		buf_add(out, s, (size_t)(nl - s));
		if (strstr(out->s, id.s) && strstr(out->s, stage))
			return out->s;
	}
	return "";
}

/* Replays all of them; whom each races against and what comes of it is found otherwise. */
static void test_exact(void)
{
	static struct calls c[PROGRAMS];
	static struct duel now;
	struct buf text = BUF_INIT, one = BUF_INIT, want = BUF_INIT;
	int same = 1, lost = 0, early = 0, won = 0, finals = 0, incumbent = -1;
	struct recording r;
	struct replay p;
	struct rng g;
	double best = 1;

	forget();
	rng_seed(&g, 3, "calls");
	for (int i = 0; i < PROGRAMS; i++) {
		make_calls(&g, &c[0], &c[i]);
		best = c[i].t < best ? c[i].t : best;
	}
	record(c, PROGRAMS);
	open_replay(&p, &r, 1);
	replay_open(&p, &(struct replay_incumbent){0});
	for (int i = 0; i < PROGRAMS; i++)
		same &= play(&p, i) == 1;
	close_replay(&p, &r, &text);
	for (int i = 0; i < PROGRAMS; i++) {
		const struct feed f = {.c = &c[i],
				       .incumbent = incumbent < 0 ? NULL : &c[incumbent],
				       .is_first = incumbent == 0};
		int preempted;

		duel(f, DUEL_RACE, &now);
		preempted = f.incumbent && now.end == DUEL_LOST;
		buf_clear(&want);
		buf_fmt(&want, ",\"stage\":\"race\",");
		told(&now, preempted, &want);
		if (f.incumbent)
			buf_fmt(&want, ",\"duel\":{\"against\":\"%s\",\"ratio\":%.9g,",
				candidate(incumbent).s, now.ratio.median);
		answer(&text, i, "\"stage\":\"race\"", &one);
		if (!strstr(one.s, want.s) ||
		    !strstr(one.s, preempted ? "\"status\":\"preempted\"" : "\"status\":\"ok\"") ||
		    !strstr(one.s, "\"incumbent\":true") != (now.end != DUEL_WON)) {
			diag("want %s in %s", want.s, one.s);
			same = 0;
		}
		lost += preempted;
		early += preempted && now.n < 4;
		won += now.end == DUEL_WON;
		if (now.end == DUEL_WON)
			incumbent = i;
		finals += *answer(&text, i, "\"stage\":\"final\"", &one) != 0;
	}
	ok(same, "each duel over samples ends as over the calls, and has the winner of the last");
	ok(lost > 20 && early > 5 && early < lost && won > 2,
	   "of which %d lost, %d of them early, and %d won", lost, early, won);
	ok(finals == 1 && *answer(&text, incumbent, "\"stage\":\"final\"", &one),
	   "then the last that won has its final");
	ok(c[incumbent].t < 1.02 * best, "and is the best, whatever the hours were");
	buf_free(&text);
	buf_free(&one);
	buf_free(&want);
}

/* Every candidate against the first, to the end: nothing that was recorded changes. */
static void test_whole(void)
{
	static struct calls c[PROGRAMS];
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;
	struct rng g;
	int same = 1;

	forget();
	rng_seed(&g, 4, "calls");
	for (int i = 0; i < PROGRAMS; i++)
		make_calls(&g, &c[0], &c[i]);
	record(c, PROGRAMS);
	open_replay(&p, &r, 0);
	replay_open(&p, &(struct replay_incumbent){0});
	for (int i = 0; i < PROGRAMS; i++)
		same &= play(&p, i) == 1;
	close_replay(&p, &r, &text);
	for (int i = 0; i < PROGRAMS; i++) {
		const char *from = strstr(line[i].s, "\"latency_s\""),
			   *run = strstr(from, ",\"run\"");
		const char *cost = strstr(run, "\"run_s\""), *end = strchr(cost, '}');
		struct buf timing = BUF_INIT;

		answer(&text, i, "\"stage\":\"race\"", &one);
		buf_add(&timing, from, (size_t)(run - from));
		same &= strstr(one.s, timing.s) && strstr(one.s, "\"status\":\"ok\"");
		buf_clear(&timing);
		buf_add(&timing, cost, (size_t)(end - cost));
		same &= strstr(one.s, timing.s) != NULL;
		buf_free(&timing);
	}
	ok(same, "without preemption each comes out as it was recorded, at the same cost");
	ok(!strstr(text.s, "\"incumbent\""), "and none is an incumbent");
	buf_free(&text);
	buf_free(&one);
}

static void test_incumbent(void)
{
	static const char day[] = "21T09:00:00.000Z";
	const struct id known = candidate(0), unknown = candidate(99);
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;

	forget();
	add(0, "a", day, "ok", 1e-3, "");
	add(1, "a", day, "ok", 2e-3, "");
	open_replay(&p, &r, 1);
	replay_open(&p, &(struct replay_incumbent){.id = &known, .at = "2026-11-20"});
	play(&p, 1);
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"preempted\"") && strstr(one.s, known.s) &&
		   !strstr(text.s, "\"stage\":\"final\""),
	   "the incumbent of earlier rounds holds the place, and has had its final");
	open_replay(&p, &r, 1);
	replay_open(&p, &(struct replay_incumbent){.id = &unknown, .at = "2026-11-20"});
	play(&p, 1);
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"ok\"") && !strstr(one.s, "\"duel\"") &&
		   strstr(one.s, "\"incumbent\":true"),
	   "one that was not recorded does not");
	buf_free(&text);
	buf_free(&one);
}

struct constant {
	double x, y;
};

static int constant(void *arg, int turn, double *x, double *y, struct err *e)
{
	const struct constant *c = arg;

	(void)turn, (void)e;
	*x = c->x;
	*y = c->y;
	return 0;
}

/* Calls that always last as long: the pairs until that is clear. */
static int pairs_of(double x, double y)
{
	const struct duel_rules rules = {DUEL_RACE, 0.1, 0};
	struct constant c = {x, y};
	static struct duel d;
	struct err e = ERR_INIT;

	memset(&d, 0, sizeof d);
	duel_run(&rules, constant, &c, &d, &e);
	return d.n;
}

/* Is a field of the line this number? */
static int is(const char *text, const char *field, double v)
{
	const char *at = strstr(text, field);

	return at && fabs(strtod(at + strlen(field), NULL) - v) < 1e-6 * v;
}

static void test_bounds(void)
{
	static const char day[] = "21T09:00:00.000Z";
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;
	int n;

	forget();
	add(0, "a", day, "ok", 1e-3, ",\"ci_s\":[0.00099,0.00101],\"cost\":{\"run_s\":0.1}");
	add(1, "a", day, "ok", 2e-3, ",\"ci_s\":[0.00199,0.00201],\"cost\":{\"run_s\":0.1}");
	add(2, "a", day, "ok", 1.03e-3, ",\"ci_s\":[0.00099,0.00104],\"cost\":{\"run_s\":0.1}");
	add(3, "a", day, "preempted", 1.5e-3, ",\"bound\":\"lower\",\"cost\":{\"run_s\":0.01}");
	add(4, "a", day, "preempted", 0.99e-3, ",\"bound\":\"lower\",\"cost\":{\"run_s\":0.01}");
	add(6, "a", day, "crash", 0, ",\"why\":\"it died\"");
	open_replay(&p, &r, 1);
	replay_open(&p, &(struct replay_incumbent){0});
	ok(play(&p, 3) == 0, "one that had lost is unknown while nobody is there to beat it");
	ok(play(&p, 6) == 1 && play(&p, 3) == 0, "nor does one that crashed beat it");
	ok(play(&p, 0) == 1 && play(&p, 1) == 1 && play(&p, 2) == 1 && play(&p, 3) == 1 &&
		   play(&p, 4) == 0 && play(&p, 5) == 0,
	   "and where its bound would not lose again, as one that was never recorded");
	ok(p.unknown == 4 && p.asked == 9, "they are counted");
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	n = pairs_of(1.99e-3, 0.99e-3);
	ok(strstr(one.s, "\"preempted\"") && strstr(one.s, "\"latency_s\":0.00199,\"bound\"") &&
		   is(one.s, "\"reps\":", n) &&
		   is(one.s, "\"run_s\":", 2 * n * (1.99e-3 + 0.99e-3)),
	   "without samples: slower by its interval's lower end, so it loses, at the cost of its "
	   "calls and the incumbent's");
	answer(&text, 2, "race", &one);
	ok(strstr(one.s, "\"ok\"") && is(one.s, "\"reps\":", pairs_of(0.99e-3, 0.99e-3)) &&
		   strstr(one.s, "\"end\":\"even\"") && !strstr(one.s, "\"incumbent\""),
	   "not slower: the incumbent stays");
	answer(&text, 3, "race", &one);
	ok(strstr(one.s, "\"preempted\"") && strstr(one.s, "\"latency_s\":0.0015,\"bound\""),
	   "it had lost then, and loses now");
	answer(&text, 6, "race", &one);
	ok(strstr(one.s, "\"crash\",\"why\":\"it died\"") != NULL, "and a crash is one again");
	answer(&text, 0, "\"stage\":\"final\"", &one);
	ok(strstr(one.s, "\"ratio\":null,\"ratio_why\"") != NULL,
	   "a final that was not recorded is the race once more, and says so");
	ok(strstr(text.s, "\"measured\":2,\"preempted\":2,\"failed\":1,\"built\":0,") &&
		   strstr(text.s, "\"unknown\":4,\"replayed\":true}"),
	   "the end tells what became of them");
	buf_free(&text);
	buf_free(&one);
}

static void test_costs(void)
{
	static const char day[] = "21T09:00:00.000Z";
	static const char first[] = ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0.5,\"build_core_"
				    "s\":0.375,\"verify_s\":0."
				    "25,\"run_s\":0.125,\"baseline_s\":1},\"env\":{\"threads\":2}";
	static const char second[] = ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0,\"verify_s\":0."
				     "25,\"run_s\":0.125,\"baseline_s\":0}";
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;
	double run_s;
	char at[48];

	forget();
	add(0, "a", day, "ok", 1e-3, first);
	add(1, "a", day, "ok", 1e-3, second);
	open_replay(&p, &r, 1);
	p.rules.finals = 0;
	p.start_ms = 1000;
	replay_open(&p, &(struct replay_incumbent){0});
	play(&p, 1);
	play(&p, 0);
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"build_s\":0.5,\"build_core_s\":0.375,\"verify_s\":0.25,\"run_s\":0.125,"
			 "\"baseline_s\":1,"
			 "\"core_s\":3.125,") != NULL,
	   "what is shared is charged to the first that wants it");
	ok(strstr(one.s, "\"at\":\"1970-01-01T00:00:02.875Z\"") != NULL, "and takes its time");
	answer(&text, 0, "race", &one);
	run_s = 2 * pairs_of(1e-3, 1e-3) * 2e-3; /* a call before each, and the incumbent's */
	ok(strstr(one.s, "\"build_s\":0,\"build_core_s\":0,\"verify_s\":0.25,") &&
		   is(one.s, "\"run_s\":", run_s) &&
		   is(one.s, "\"baseline_s\":0,\"core_s\":", 2 * (0.25 + run_s)),
	   "and to no other, but for its calls");
	snprintf(at, sizeof at, "\"at\":\"1970-01-01T00:00:%06.3fZ\"", 3.125 + run_s);
	ok(strstr(one.s, at) != NULL, "the clock goes on: %s", at);
	ok(strstr(text.s, "\"built\":1,") != NULL, "one object was built");
	buf_free(&text);
	buf_free(&one);
}

static void test_audit(void)
{
	static const char day[] = "21T09:00:00.000Z";
	struct buf text = BUF_INIT, one = BUF_INIT;
	struct recording r;
	struct replay p;

	forget();
	add(0, "a", day, "ok", 1e-3, "");
	/* Slow at first: its race is lost before it shows that it is the better one. */
	add(1, "a", day, "ok", 9e-4,
	    ",\"samples_s\":[0.002,0.002,0.0009,0.0009,0.0009,0.0009,0.0009,0.0009,0.0009,0.0009,"
	    "0.0009,0.0009]");
	open_replay(&p, &r, 1);
	p.rules.audit = 1;
	p.rules.finals = 0;
	replay_open(&p, &(struct replay_incumbent){0});
	play(&p, 0);
	play(&p, 1);
	close_replay(&p, &r, &text);
	answer(&text, 1, "race", &one);
	ok(strstr(one.s, "\"preempted\"") &&
		   strstr(one.s, "\"audit\":{\"ratio\":1.11111111,\"ci\":[1.11111111,1.11111111],"
				 "\"false_kill\":true}"),
	   "an audit shows a false kill");
	ok(strstr(text.s, "\"audited\":1,\"false_kills\":1") != NULL, "which is counted");
	ok(is(one.s, "\"run_s\":", 2 * 2 * (2e-3 + 1e-3)) && is(one.s, "\"audit_s\":", 0.05),
	   "and charged by its calls, beside the race");
	buf_free(&text);
	buf_free(&one);
}

/* ---- looks ---- */

/* A race of a candidate in a run, all of whose calls take so long, beside those of the reference.
 */
static void add_look(int who, const char *run, double own_s, double reference_s, const char *more)
{
	const struct id reference = candidate(0);
	struct buf b = BUF_INIT;
	char at[32];

	buf_fmt(&b, ",\"samples_s\":[");
	for (int i = 0; i < 12; i++)
		buf_fmt(&b, "%s%.9g", i ? "," : "", own_s);
	buf_fmt(&b, "]");
	if (reference_s > 0) {
		buf_fmt(&b, ",\"duel\":{\"against\":\"%s\",\"samples_s\":[", reference.s);
		for (int i = 0; i < 12; i++)
			buf_fmt(&b, "%s%.9g", i ? "," : "", reference_s);
		buf_fmt(&b, "]}");
	}
	buf_str(&b, more);
	snprintf(at, sizeof at, "21T09:00:0%c.000Z", run[0] - 'a' + '0');
	add(who, run, at, "ok", own_s, b.s);
	buf_free(&b);
}

static void make_looks(void)
{
	forget();
	add_look(0, "a", 1e-3, 0,
		 ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0.25,\"baseline_s\":0.5}");
	add_look(0, "b", 1.1e-3, 1e-3,
		 ",\"code_hash\":\"h\",\"cost\":{\"build_s\":0.75,\"baseline_s\":2}");
	add_look(1, "a", 2e-3, 1e-3, "");
	add_look(1, "b", 4e-3, 1e-3, "");
	add_look(1, "c", 1e-4, 8e-3, ""); /* other work has disturbed it */
	add(2, "a", "21T09:00:00.000Z", "wrong", 1e-3, ",\"why\":\"off\"");
	add(3, "a", "21T09:00:00.000Z", "crash", 0, "");
	add(3, "b", "21T09:00:01.000Z", "crash", 0, "");
	for (char run[2] = "a"; *run < 'g'; run[0]++)
		add_look(4, run, 1e-4, 8e-3, "");
}

static int looks_right(const int *order)
{
	struct recording r = {.cache = "warm", .grows = 1};
	const struct recorded_env *v;
	const char *program = NULL, *reference;
	const struct recorded *race;
	int right;

	fill(&r, order);
	recording_settle(&r);
	v = recording_env(&r, "e");
	race = recording_race(v, candidate(1).s);
	reference = recording_reference(v, WORKLOAD, &program);
	right = is_from(recording_look(v, candidate(1).s, 0), "a", 2e-3) &&
		is_from(recording_look(v, candidate(1).s, 1), "b", 4e-3) &&
		!recording_look(v, candidate(1).s, 2) && is_from(race, "a", 2e-3);
	right &= reference && !strcmp(reference, candidate(0).s) && program;
	right &= recording_needs(v, candidate(1).s, 3) && !recording_needs(v, candidate(1).s, 2) &&
		 !recording_needs(v, candidate(2).s, 3) && recording_needs(v, candidate(3).s, 3) &&
		 !recording_needs(v, candidate(3).s, 2) && recording_needs(v, candidate(5).s, 1);
	right &= recording_needs(v, candidate(4).s, 3) && !recording_needs(v, candidate(4).s, 2);
	race = recording_race(v, candidate(0).s);
	right &= race->code->build_s == 0.25 && race->workload->baseline_s == 0.5 &&
		 race->workload->again_s == 2 && v->first_ms < v->last_ms;
	recording_free(&r);
	return right;
}

static void test_looks(void)
{
	int order[LINES];
	int right = 1;
	struct rng rng;

	make_looks();
	ok(looks_right(NULL),
	   "looks stand in the order of time, without disturbed ones; the earliest "
	   "costs count");
	rng_seed(&rng, 1, "looks");
	for (int t = 0; t < 20; t++) {
		for (int i = 0; i < nlines; i++)
			order[i] = i;
		for (int i = nlines - 1; i > 0; i--) {
			int k = (int)rng_below(&rng, (uint64_t)i + 1), at = order[i];

			order[i] = order[k];
			order[k] = at;
		}
		right &= looks_right(order);
	}
	ok(right, "in whatever order they are read");
}

/* The latency that the one candidate has in a replay with a seed. */
static double drawn(uint64_t seed, int *again)
{
	struct recording r;
	struct buf text = BUF_INIT;
	struct replay p;
	const char *at;
	double s;

	open_replay(&p, &r, 1);
	p.rules.draws = 1;
	p.rules.seed = seed;
	replay_open(&p, &(struct replay_incumbent){0});
	play(&p, 1);
	close_replay(&p, &r, &text);
	at = strstr(text.s, "\"latency_s\":");
	s = at ? strtod(at + strlen("\"latency_s\":"), NULL) : 0;
	if (again)
		*again = drawn(seed, NULL) == s;
	buf_free(&text);
	return s;
}

static void test_drawn(void)
{
	int n[3] = {0, 0, 0}, same = 1, again;

	make_looks();
	for (uint64_t seed = 1; seed <= 60; seed++) {
		double s = drawn(seed, &again);

		n[0] += s == 2e-3;
		n[1] += s == 4e-3;
		n[2] += s == 1e-4;
		same &= again;
	}
	ok(same && n[0] + n[1] + n[2] == 60,
	   "a seed draws one of the looks, the same one each time");
	ok(n[0] > 8 && n[1] > 8 && n[2] > 8, "seeds draw each of three: %d, %d and %d times", n[0],
	   n[1], n[2]);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("no temporary file");
	close(fd);
	test_choice();
	test_bad();
	test_reference();
	test_exact();
	test_whole();
	test_incumbent();
	test_bounds();
	test_costs();
	test_audit();
	test_looks();
	test_drawn();
	forget();
	unlink(path);
	return done_testing();
}
