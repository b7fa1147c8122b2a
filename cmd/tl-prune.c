/* tl-prune: workloads and history -> the workloads still worth tuning, each with its budget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/algo/candidate.h"
#include "lib/io/field.h"
#include "lib/io/file.h"
#include "lib/io/opt.h"
#include "lib/io/record.h"
#include "lib/io/terminal.h"
#include "lib/measure/span.h"
#include "lib/policy/finals.h"
#include "lib/policy/history.h"
#include "lib/policy/pace.h"
#include "lib/policy/policy.h"
#include "lib/policy/until.h"
#include "lib/report/machine.h"
#include "lib/store/cost.h"
#include "lib/store/store.h"
#include "lib/target/target.h"

static const char *database, *output, *env_id, *until, *since, *part_of, *target_name, *policy_name,
	*why_path;
static int no_db, all, quiet, verbose, finals, reserve, list_policies;
static int64_t budget = -1, patience = -1;
static double gain = -1, min_gain = -1;
static const struct policy *policy;
static struct policy_rules rules = {.gain = 0.01, .patience = 32, .min_gain = 0.005};

static const struct opt opts[] = {
	OPTIONS_FOR("What is known"),
	{'d', "db", OPT_FILE, &database, "FILE",
	 "Take the history from this database; by default $TL_DB, else tl/tl.db in $XDG_DATA_HOME "
	 "or "
	 "~/.local/share, if it is there.",
	 NULL},
	{0, "no-db", OPT_FLAG, &no_db, NULL,
	 "Take the history only from the result and end records of the input.", NULL},
	TARGET_OPTION(target_name),
	{0, "env", OPT_ENV, &env_id, "ID",
	 "Use the results of this env; by default of this machine's.", NULL},
	OPTIONS_FOR("The policy"),
	{0, "policy", OPT_STRING, &policy_name, "NAME",
	 "What decides which workloads to tune, and how far; with settings such as "
	 "trimmer,batch=32. Default preempt.",
	 NULL, policy_names},
	{0, "list-policies", OPT_FLAG, &list_policies, NULL,
	 "List the policies and their settings, one policy on each line, and exit.", NULL},
	{'b', "budget", OPT_COUNT, &budget, "N",
	 "The number of candidates to measure in the next round, over all workloads. By default "
	 "the policy decides: preempt has 8 for each workload. Until 64 results are known, it has "
	 "64, or 6 for each workload if that is more: these results show whether a model from "
	 "elsewhere ranks well here.",
	 NULL},
	{0, "gain", OPT_REAL, &gain, "X",
	 "The smallest improvement that counts as a gain, as a share of the latency. Default "
	 "0.01. This option and the next two belong to the policy preempt.",
	 NULL},
	{0, "patience", OPT_COUNT, &patience, "N",
	 "Stop an operator after N candidates without a gain. Default 32.", NULL},
	{0, "min-gain", OPT_REAL, &min_gain, "X",
	 "Stop all operators when as many core-seconds again as were spent so far are expected to "
	 "gain less than this, as a share of the time of all operators. Default 0.005.",
	 NULL},
	OPTIONS_FOR("Limits of a run"),
	{0, "until", OPT_STRING, &until, "LIMITS",
	 "Go on only while all of these limits hold, separated by commas: core-seconds<N, "
	 "seconds<N, rounds<N, candidates<N.",
	 NULL},
	{0, "since", OPT_STRING, &since, "TIME",
	 "Count for --until from this time on (2026-11-21T09:00:00.000Z), and until now; by "
	 "default from the first result.",
	 NULL},
	{0, "part-of", OPT_ID, &part_of, "RUN",
	 "Do not count for --until seconds<N what the parts of this run waited for other runs on "
	 "the machine.",
	 NULL},
	{0, "reserve", OPT_FLAG, &reserve, NULL,
	 "End the rounds before --until seconds<N, so that there is time for the finals: a fifth of "
	 "the time at most.",
	 NULL},
	OPTIONS_FOR("What is written"),
	{0, "all", OPT_FLAG, &all, NULL, "Also write the workloads that stop.", NULL},
	{0, "finals", OPT_FLAG, &finals, NULL,
	 "Write only the workloads whose best candidate has not yet been compared with the "
	 "library, each with its last former best candidates, as far as --until candidates<N "
	 "leaves room for them. tl-measure then compares these with the best, and the best with "
	 "the library.",
	 NULL},
	{0, "why", OPT_OUTPUT, &why_path, "FILE",
	 "If nothing is worth more tuning, write the reason to FILE, a sentence on one line, which "
	 "is replaced.",
	 NULL},
	OUTPUT_OPTION(output),
	{'q', "quiet", OPT_FLAG, &quiet, NULL,
	 "Write no records. Only the exit status says whether anything is worth more tuning.",
	 NULL},
	{'v', "verbose", OPT_FLAG, &verbose, NULL, "Report each decision on standard error.", NULL},
	OPT_END,
};

static const struct program program = {
	.name = "tl-prune",
	.summary = "choose the workloads still worth tuning and share out the budget",
	.synopsis = "[OPTION...] [FILE...]",
	.opts = opts,
	.min_args = 0,
	.max_args = -1,
	.operands = "file",
};

/* Storing and the report follow the finals. They get this share of a limit of time. */
static const double ENDING = 0.02;

/* Seconds from a time as in "at" until another, or until now if that is NULL. NAN if it is no such
 * time. */
static double seconds_since(const char *at, const char *until_at)
{
	int64_t ms, end_ms;
	char now[25];

	rec_now(now);
	if (!at || rec_time_read(at, &ms) || rec_time_read(until_at ? until_at : now, &end_ms))
		return NAN;
	return (double)(end_ms - ms) / 1000;
}

/* Input: workloads are kept until all is read, other records go through at once. */

struct item {
	const char *line;
	size_t n;
	struct workload w;
	int64_t count, round;
};

struct input {
	struct store *db;
	struct history history;
	struct store_env env;
	struct machine machine; /* of the env */
	struct arena arena;
	double waited_s; /* for other runs, since the run began */
	char until[25];	 /* when the time for what is written is over; empty: never */
	struct item *item;
	int n, cap;
	struct door door;
};

static int add_workload(struct input *in, struct rec_in *rin, const struct rec *r, struct err *e)
{
	struct err why = ERR_INIT;
	struct item it = {0};
	struct json_doc *d;

	if (rec_parse(rin, r, &d))
		return 0;
	if (workload_from_json(&it.w, d, d->tok, &why)) {
		rec_bad(rin, r, &why);
		return 0;
	}
	if (history_get(&in->history, it.w.id.s))
		return 0; /* twice in the input */
	if (json_int(json_get(d, d->tok, "count"), &it.count) || it.count < 1)
		it.count = 0;
	json_int(json_get(d, d->tok, "round"), &it.round);
	if (!it.count && in->db && store_sources(in->db, it.w.id.s, &it.count, e) < 0)
		return -1;
	if (!it.count)
		it.count = 1;
	if (history_add_workload(&in->history, in->db, it.w.id.s, e))
		return -1;
	it.line = arena_strndup(&in->arena, r->s, r->n);
	it.n = r->n;
	if (in->n == in->cap) {
		in->cap = in->cap * 2 + 64;
		in->item = xrealloc(in->item, (size_t)in->cap * sizeof *in->item);
	}
	in->item[in->n++] = it;
	return 0;
}

/* Result and end records are history; whose workload comes later in the input, or not at all, is
 * not known yet, so that they wait, too. */
struct late {
	struct late *next;
	const char *line;
	size_t n;
	enum rec_type type;
};

static int read_all(struct input *in, struct rec_in *rin, struct rec_out *out, struct err *e)
{
	struct late *first = NULL, **last = &first;
	struct json_doc doc = JSON_DOC_INIT, *d;
	struct rec r;
	int more, rc = 0;

	while ((more = rec_next(rin, &r, e)) > 0) {
		if (r.type == REC_WORKLOAD) {
			if (add_workload(in, rin, &r, e))
				return -1;
		} else if (r.type == REC_RESULT || r.type == REC_END) {
			struct late *l;

			struct err why = ERR_INIT;

			if (rec_parse(rin, &r, &d))
				continue;
			if (door_record(&in->door, d, &why) < 0) {
				rec_bad(rin, &r, &why);
				continue;
			}
			l = *last = arena_new(&in->arena, struct late);
			*l = (struct late){NULL, arena_strndup(&in->arena, r.s, r.n), r.n, r.type};
			last = &l->next;
		} else if (!quiet && rec_put(out, r.s, r.n, e)) {
			return -1;
		}
	}
	for (struct late *l = first; l && !rc && more >= 0; l = l->next) {
		struct rec old = {l->line, l->n, l->type, "-", 0};

		rc = json_parse(&doc, l->line, l->n, e) ||
		     history_add_record(&in->history, &old, &doc, e);
	}
	json_free(&doc);
	return rc || more < 0 ? -1 : 0;
}

/* Deciding */

/* Replays have a clock of their own. */
static const char *now_of(const struct input *in)
{
	return in->db && store_is_replayed(in->db) ? in->history.last_at : NULL;
}

/* How many operators will want a final after the next round: those that lack one, and those for
 * which a better candidate is found. The latter are few, but where all lack one. */
static int finals_wanted(const struct input *in)
{
	int lacking = 0;

	for (int i = 0; i < in->n; i++) {
		const struct store_result *best =
			history_get(&in->history, in->item[i].w.id.s)->best;

		lacking += !best || !best->final;
	}
	return lacking < in->n ? lacking + 1 : lacking;
}

static double used_s(const struct input *in)
{
	return seconds_since(since ? since : in->history.first_at, now_of(in)) - in->waited_s;
}

/* The limit of time, and what is used of it. */
static struct pace pace_of(const struct until *l, const struct input *in)
{
	const struct history *h = &in->history;
	struct pace p = {
		.limit_s = l->most[UNTIL_SECONDS],
		.used_s = used_s(in),
		.candidates = h->candidates_since,
	};

	if (reserve && isfinite(p.limit_s))
		p.reserve_s = span_reserve(p.limit_s, finals_wanted(in), pace_each(&p));
	return p;
}

/* When this round is over, or with --finals the finals. */
static void set_until(struct input *in, const struct pace *p)
{
	const char *from = since ? since : in->history.first_at;
	const double end_s = finals ? (1 - ENDING) * p->limit_s : pace_end(p);
	int64_t ms;

	if (isinf(p->limit_s) || now_of(in) || !from || rec_time_read(from, &ms))
		return;
	rec_time(ms + (int64_t)fmin((end_s + in->waited_s) * 1000, 1e15), in->until);
}

/* The sentence of a limit that is reached, in buf; NULL if none is. */
static const char *reached(const struct until *l, const struct input *in, char *buf, size_t size)
{
	const struct history *h = &in->history;
	const double used[UNTIL_LIMITS] = {
		[UNTIL_CORE_SECONDS] = h->core_s_since,
		[UNTIL_SECONDS] = used_s(in),
		[UNTIL_ROUNDS] = h->rounds_since,
		[UNTIL_CANDIDATES] = (double)h->candidates_since,
	};

	return until_reached(l, used, buf, size);
}

static int64_t next_round(const struct input *in)
{
	int64_t round = in->history.rounds;

	for (int i = 0; i < in->n; i++)
		if (in->item[i].round > round)
			round = in->item[i].round;
	return round + 1;
}

/* Convolutions in groups are far from the rates of others. */
static const char *kind_of(const struct workload *w)
{
	const int is_convolution = !strncmp(w->op->name, "conv", 4);

	return is_convolution && w->dim[CONV_G] > 1 ? "convolution in groups" : w->op->name;
}

/* Does a kernel pass over some of its input? */
static int skips_inputs(const struct workload *w)
{
	return w->op == &op_conv2d &&
	       (w->dim[CONV_KH] < w->dim[CONV_SH] || w->dim[CONV_KW] < w->dim[CONV_SW]);
}

/* Returns the time that it takes to move the operands from memory. Where the last cache holds half
 * of them or more, some may stay there from one call to the next. NAN: it is not known, as where
 * the env tells of no such cache. */
static double bound_of(const struct machine *v, const struct workload *w)
{
	const double bytes = (double)workload_bytes(w), cache = v->holds[LEVEL_L3];
	const double bandwidth = v->bandwidth[LEVEL_MEM];

	if (!(cache > 0 && bandwidth > 0 && bytes >= 2 * cache) || skips_inputs(w))
		return NAN;
	return bytes / bandwidth;
}

/* Writes all of a workload but its post-ops as a text, which lies in the input's arena. */
static const char *without_posts(struct input *in, const struct workload *w)
{
	struct buf b = BUF_INIT;
	const char *text;

	buf_fmt(&b, "%s %s %s %s %d", w->op->name, w->prob, w->dtype_text, layout_name(w->layout),
		w->rhs_const);
	text = arena_strndup(&in->arena, b.s, b.n);
	buf_free(&b);
	return text;
}

static struct policy_op *make_ops(struct input *in)
{
	struct policy_op *op = xcalloc((size_t)in->n, sizeof *op);

	for (int i = 0; i < in->n; i++) {
		const struct item *it = &in->item[i];
		const struct history_item *h = history_get(&in->history, it->w.id.s);

		op[i].count = it->count;
		op[i].flops = (double)it->w.flops;
		op[i].kind = kind_of(&it->w);
		op[i].like = without_posts(in, &it->w);
		op[i].bound_s = bound_of(&in->machine, &it->w);
		op[i].time_s = h->best ? h->best->latency_s : h->baseline_s;
		op[i].tries = h->tries;
		op[i].ntries = h->ntries;
		op[i].exhausted = h->exhausted;
	}
	return op;
}

/* Copies fields of an object. */
static void put_fields(struct buf *out, const struct json_doc *d, const struct json *obj,
		       const char *const *field, int n)
{
	for (int i = 0; i < n; i++)
		field_copy(out, field[i], json_get(d, obj, field[i]));
}

/* The parse of a result's record, which may be in the database. 1; 0: it is not to be believed; -1.
 */
static int read_record(struct input *in, const struct item *it, struct store_result *r,
		       struct json_doc *d, struct err *e)
{
	int rc = store_record(in->db, it->w.id.s, in->history.env, &in->arena, r, e);

	return rc > 0 ? json_parse(d, r->record, r->record_n, e) ? -1 : 1 : rc;
}

/* The best known candidate, whom the next ones race against. */
static int put_incumbent(struct input *in, const struct item *it, struct store_result *best,
			 struct buf *out, struct err *e)
{
	static const char *const field[] = {"algo", "knobs"};
	struct json_doc d = JSON_DOC_INIT;
	int rc = read_record(in, it, best, &d, e);

	if (rc > 0) {
		field_object(out, "incumbent");
		field_text(out, "candidate_id", best->candidate_id.s);
		field_number(out, "latency_s", best->latency_s);
		put_fields(out, &d, d.tok, field, 2);
		field_flag(out, "final", best->final);
		field_text(out, "at", best->at);
		buf_ch(out, '}');
	}
	json_free(&d);
	return rc < 0 ? -1 : 0;
}

/* And which was the best in the workload's own layout, where that one has another. */
static void put_own_impl(const struct json_doc *d, const struct json *baseline, struct buf *out)
{
	const struct json *own = json_get(d, baseline, "own_layout"),
			  *impl = json_get(d, own, "impl"),
			  *why = json_get(d, baseline, "own_layout_why");

	field_copy(out, "own_impl", impl);
	if (impl || !why)
		return;
	field_json(out, "own_impl", "null");
	field_copy(out, "own_impl_why", why);
}

/* Which of the library's variants was the baseline of the last final. */
static int put_baseline(struct input *in, const struct item *it, struct store_result *final,
			struct buf *out, struct err *e)
{
	static const char *const field[] = {"impl", "layout", "system"};
	struct json_doc d = JSON_DOC_INIT;
	int rc = read_record(in, it, final, &d, e);
	const struct json *baseline = rc > 0 ? json_get(&d, d.tok, "baseline") : NULL;

	if (baseline && json_get(&d, baseline, "system")) {
		field_object(out, "opponent");
		put_fields(out, &d, baseline, field, 3);
		put_own_impl(&d, baseline, out);
		field_number(out, "latency_s", final->baseline_s);
		buf_ch(out, '}');
	}
	json_free(&d);
	return rc < 0 ? -1 : 0;
}

/* Adds the decision to a workload. It replaces whatever another round has said. */
static int put_decision(struct input *in, const struct item *it, const struct policy_op *op,
			struct buf *out, struct err *e)
{
	const struct history_item *h = history_get(&in->history, it->w.id.s);

	field_object(out, NULL);
	field_integer(out, "round", next_round(in));
	field_integer(out, "budget", op->budget);
	if (in->until[0] && op->tune)
		field_text(out, "until", in->until);
	if ((h->best && put_incumbent(in, it, h->best, out, e)) ||
	    (h->final && put_baseline(in, it, h->final, out, e)))
		return -1;
	field_object(out, "prune");
	field_text(out, "action", op->tune ? "tune" : "stop");
	field_text(out, "reason", op->reason);
	buf_ch(out, '}');
	return 0;
}

static int write_workload(struct input *in, const struct item *it, const struct policy_op *op,
			  struct rec_out *out, struct err *e)
{
	static const char *const owned[] = {"until", "incumbent", "opponent", NULL};
	struct json_doc d = JSON_DOC_INIT;
	struct buf decision = BUF_INIT, line = BUF_INIT;
	int rc = put_decision(in, it, op, &decision, e) || json_parse(&d, it->line, it->n, e);

	if (!rc) {
		field_rewrite(&d, &decision, owned, &line);
		rc = rec_put(out, line.s, line.n, e);
	}
	json_free(&d);
	buf_free(&decision);
	buf_free(&line);
	return rc ? -1 : 0;
}

/* ---- rematches ---- */

/* A result's candidate, to be measured once more: 1; 0: it is none today, as the algorithm's
 * revision has changed since; -1. */
static int write_candidate(struct input *in, const struct item *it, struct store_result *r,
			   struct rec_out *out, struct err *e)
{
	static const char *const field[] = {"candidate_id", "workload", "target", "algo", "knobs"};
	struct json_doc d = JSON_DOC_INIT;
	struct buf line = BUF_INIT;
	struct err stale = ERR_INIT;
	struct candidate c;
	int rc = read_record(in, it, r, &d, e);

	if (rc > 0 && (rc = candidate_from_json(&c, &d, 1, &stale) == 0)) {
		field_record(&line, "candidate");
		put_fields(&line, &d, d.tok, field, 5);
		buf_ch(&line, '}');
		rc = rec_put(out, line.s, line.n, e) ? -1 : 1;
	}
	json_free(&d);
	buf_free(&line);
	return rc;
}

static int write_end(const struct item *it, int n, struct rec_out *out, struct err *e)
{
	struct buf line = BUF_INIT;
	int rc;

	rec_end_text(&line, it->w.id.s, n, "rematches");
	rc = rec_put(out, line.s, line.n, e);
	buf_free(&line);
	return rc;
}

/* Writes the former best candidates that the best one meets again before its final. tl-measure
 * measures them like any other candidate. A limit leaves room for *left of them. */
static int write_rematches(struct input *in, const struct item *it, int64_t *left,
			   struct rec_out *out, struct err *e)
{
	const struct history_item *h = history_get(&in->history, it->w.id.s);
	struct finals_walk walk;
	struct store_result *r;
	int n = 0, rc = 0;

	finals_begin(h, &walk);
	while (n < FINALS_REMATCHES && n < *left && rc >= 0 && (r = finals_next(h, &walk))) {
		rc = write_candidate(in, it, r, out, e);
		n += rc > 0;
	}
	*left -= n;
	return rc < 0 ? -1 : n ? write_end(it, n, out, e) : 0;
}

/* With --finals: whose best candidate lacks its final? Returns how many. */
static int decide_finals(const struct input *in, struct policy_op *op)
{
	int n = 0;

	for (int i = 0; i < in->n; i++) {
		finals_decide(history_get(&in->history, in->item[i].w.id.s), &op[i]);
		n += op[i].tune;
	}
	return n;
}

static void say(const struct item *it, const struct policy_op *op)
{
	terminal_say("%s: %s %s %s: %s.\n", program.name, op->tune ? "tune" : "stop",
		     it->w.op->name, it->w.prob, op->reason);
}

/* No more candidates than a limit leaves. */
static int64_t within(int64_t candidates, double most, const struct input *in)
{
	double left = ceil(most) - (double)in->history.candidates_since;

	return left < (double)candidates ? (int64_t)fmax(left, 0) : candidates;
}

/* Appends the reason why no operator goes on. expected: what more would have brought; NAN: unknown.
 */
static void put_why(const struct policy_op *op, int n, double expected, struct buf *out)
{
	static const char prefix[] = "all stop: ";
	const size_t skipped =
		n && !strncmp(op->reason, prefix, sizeof prefix - 1) ? sizeof prefix - 1 : 0;
	int same = 0;

	while (same < n && !strcmp(op[same].reason, op->reason))
		same++;
	if (same < n)
		buf_fmt(out, "none of the %d operators goes on; of the first, ", n);
	buf_str(out, n ? op->reason + skipped : "there are no operators");
	if (!isnan(expected))
		buf_fmt(out,
			"; %.2g%% of all time is the gain to expect of as many core-seconds as were "
			"spent so far",
			100 * expected);
	buf_ch(out, '\n');
}

/* --why */
static int write_why(const struct policy_op *op, int n, double expected, struct err *e)
{
	struct buf text = BUF_INIT;
	int rc;

	if (!why_path)
		return 0;
	put_why(op, n, expected, &text);
	rc = file_write(why_path, text.s, text.n, e);
	buf_free(&text);
	return rc;
}

/* Stops all if a limit is reached. Returns how many workloads are to be tuned. */
static int decide_round(struct input *in, const struct until *limits, const struct pace *pace,
			struct policy_op *op, double *expected)
{
	int tuned = policy->decide(op, in->n, &rules);
	char why[200];

	if (!reached(limits, in, why, sizeof why) && !pace_over(pace, why, sizeof why))
		return tuned;
	if (policy->outlook)
		*expected = policy->outlook(op, in->n, &rules);
	policy_stop_all(op, in->n, why);
	return 0;
}

/* Decides and writes. Returns the number of workloads to be tuned, -1 on failure. */
static int decide(struct input *in, const struct until *limits, struct rec_out *out, struct err *e)
{
	struct policy_op *op;
	struct pace pace;
	double expected = NAN;
	int tuned, rc = 0;
	int64_t rematches;

	history_finish(&in->history, since);
	rules.rounds = in->history.rounds;
	pace = pace_of(limits, in);
	set_until(in, &pace);
	op = make_ops(in);
	rules.budget = budget < 0 ? policy->budget(op, in->n, &rules) : budget;
	rules.budget = within(rules.budget, limits->most[UNTIL_CANDIDATES], in);
	rules.budget = pace_budget(&pace, rules.budget);
	rematches = within(FINALS_REMATCHES * (int64_t)in->n, limits->most[UNTIL_CANDIDATES], in);
	tuned = finals ? decide_finals(in, op) : decide_round(in, limits, &pace, op, &expected);
	if (!tuned && !finals)
		rc = write_why(op, in->n, expected, e);
	for (int i = 0; i < in->n && !rc; i++) {
		if (verbose)
			say(&in->item[i], &op[i]);
		if (!quiet && (op[i].tune || all))
			rc = write_workload(in, &in->item[i], &op[i], out, e);
		if (!quiet && finals && op[i].tune && !rc)
			rc = write_rematches(in, &in->item[i], &rematches, out, e);
	}
	free(op);
	return rc ? -1 : tuned;
}

/* The database, if there is one. */
static int open_database(struct input *in, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = 0, there = 1;

	if (!no_db)
		rc = there = store_find(database, &path, e);
	if (database && !there)
		opt_warn(&program, "the database %s is not there: nothing is known yet", path.s);
	if (!no_db && rc >= 0 && there)
		rc = (in->db = store_open(path.s, STORE_READ, e)) ? 0 : -1;
	buf_free(&path);
	if (rc >= 0 && in->db && part_of)
		rc = cost_waited(in->db, part_of, &in->waited_s, e);
	if (rc < 0 ||
	    store_env_here(in->db, target_named(target_name), env_id, &in->arena, &in->env, e) < 0)
		return -1;
	if (in->env.doubt)
		opt_warn(&program, "the results of the env %s count: %s", in->env.id,
			 in->env.doubt);
	in->history.env = in->env.id;
	return machine_read(&in->machine, &in->env, &in->arena, e);
}

/* The policy, and the rules that it goes by. */
static int choose_policy(struct err *e)
{
	if (!(policy = policy_parse(policy_name, rules.setting, e)))
		return -1;
	if (!policy->heeds_gains && (gain >= 0 || patience >= 0 || min_gain >= 0))
		return err_status(e, EXIT_USAGE,
				  "the policy %s heeds no --gain, --patience or --min-gain",
				  policy->name);
	if (gain >= 0)
		rules.gain = gain;
	if (patience >= 0)
		rules.patience = patience;
	if (min_gain >= 0)
		rules.min_gain = min_gain;
	return 0;
}

/* Returns the exit status. */
static int run(struct input *in, char **paths, int npaths, struct rec_out *out)
{
	struct err e = ERR_INIT;
	char refused[DOOR_SENTENCE];
	struct until limits;
	struct rec_in *rin;
	int tuned = -1, bad = 0;

	if (choose_policy(&e) || until_parse(&limits, until, &e) || open_database(in, &e) ||
	    !(rin = rec_open(paths, npaths, NULL, &e)))
		return opt_fail(&program, &e);
	if (!read_all(in, rin, out, &e) && !rec_stopped())
		tuned = decide(in, &limits, out, &e);
	if (door_sentence(store_refused(in->db), refused))
		opt_warn(&program, "%s", refused);
	bad = rec_bad_count(rin) > 0;
	rec_close(rin);
	if (rec_stopped())
		return EXIT_DONE;
	if (tuned < 0 || rec_commit(out, &e))
		return rec_broken_pipe(out) ? EXIT_DONE : opt_fail(&program, &e);
	return bad ? EXIT_INPUT : tuned ? EXIT_DONE : EXIT_NO;
}

static void check_usage(void)
{
	const char *why = NULL;

	if (patience == 0)
		why = "--patience wants 1 or more";
	else if (no_db && database)
		why = "--no-db and -d exclude each other";
	else if (since && isnan(seconds_since(since, NULL)))
		why = "--since wants a time such as 2026-11-21T09:00:00.000Z";
	if (!why)
		return;
	fprintf(stderr, "%s: %s; see %s --help\n", program.name, why, program.name);
	exit(EXIT_USAGE);
}

static int print_policies(void)
{
	struct buf text = BUF_INIT;

	policy_table(&text);
	fputs(text.s, stdout);
	buf_free(&text);
	return opt_printed(&program) ? EXIT_INPUT : EXIT_DONE;
}

int main(int argc, char **argv)
{
	int first = opt_parse(&program, argc, argv), status;
	struct input in = {0};
	struct err e = ERR_INIT;
	struct rec_out *out;

	check_usage();
	if (list_policies)
		return print_policies();
	rec_stop_on_signals();
	out = rec_create(output, &e);
	status = out ? run(&in, argv + first, argc - first, out) : opt_fail(&program, &e);
	rec_discard(out);
	history_free(&in.history);
	door_free(&in.door);
	arena_free(&in.arena);
	free(in.item);
	store_close(in.db);
	if (rec_stopped())
		opt_die_by_signal(rec_stopped());
	return status;
}
