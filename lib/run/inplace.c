#include "lib/run/inplace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/io/record.h"
#include "lib/record/checksum.h"
#include "lib/run/exec.h"
#include "lib/run/timing.h"
#include "lib/trial/duel.h"

enum {
	WARM_RUNS = 2,
	RUNS = 8,
	BUDGET_PAIRS = 24,
	LEAST_PAIRS = 6,
	WHOLE_PAIRS = 24,
	WHOLE_MOST = 2 * DUEL_MAX
};

static const double SHARE = 0.01, /* of the network's time: less is not worth a race */
	BEYOND = 0.05;		  /* of the time alone, likewise */

/* ---- what is worth a race ---- */

struct found {
	const struct workload *w;
	double beyond_s;
};

static int by_beyond(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return (x->beyond_s < y->beyond_s) - (x->beyond_s > y->beyond_s);
}

static int is_of(const struct step *s, const char *workload_id)
{
	return s->workload && !strcmp(s->workload->id.s, workload_id);
}

/* The median of each step's time, into each[]; the last one is the whole's. */
static int profile(struct network *n, double *each, struct err *e)
{
	struct plan *p = &n->plan;
	const int all = p->nstep + 1;
	double *ended = xcalloc((size_t)(RUNS * all), sizeof *ended), x[RUNS];
	int rc = 0;

	for (int i = 0; !rc && i < WARM_RUNS; i++)
		rc = exec_run(p, NULL, e);
	for (int i = 0; !rc && i < RUNS; i++)
		rc = exec_run(p, ended + i * all, e);
	for (int s = 0; !rc && s < all; s++) {
		for (int i = 0; i < RUNS; i++)
			x[i] = s < p->nstep ? ended[i * all + s + 1] - ended[i * all + s]
					    : ended[i * all + s] - ended[i * all];
		each[s] = stat_median(x, RUNS).median;
	}
	free(ended);
	return rc;
}

static int is_first_of_its(const struct plan *p, int step)
{
	for (int i = 0; i < step; i++)
		if (is_of(&p->step[i], p->step[step].workload->id.s))
			return 0;
	return 1;
}

/* The time of all steps of a step's workload beyond that alone; 0: it is not worth a race. */
static double beyond(const struct plan *p, const double *each, int step)
{
	double network = 0, alone = 0;
	int n = 0;

	for (int i = 0; i < p->nstep; i++) {
		if (!is_of(&p->step[i], p->step[step].workload->id.s))
			continue;
		network += each[i];
		n++;
	}
	alone = n * p->step[step].predicted_s;
	return network > SHARE * each[p->nstep] && network > (1 + BEYOND) * alone ? network - alone
										  : 0;
}

int inplace_find(struct network *n, int all, struct inplace *how, struct err *e)
{
	const struct plan *p = &n->plan;
	double *each = xcalloc((size_t)p->nstep + 1, sizeof *each);
	struct found *f = xcalloc((size_t)p->nstep + 1, sizeof *f);
	int nf = 0, rc = profile(n, each, e);

	for (int i = 0; !rc && i < p->nstep; i++) {
		const struct step *s = &p->step[i];
		double more;

		if (!s->workload || s->is_decided || isnan(s->predicted_s) ||
		    !is_first_of_its(p, i))
			continue;
		more = beyond(p, each, i);
		if (more > 0 || all)
			f[nf++] = (struct found){s->workload, more};
	}
	qsort(f, (size_t)nf, sizeof *f, by_beyond);
	nf = nf < INPLACE_WORKLOADS ? nf : INPLACE_WORKLOADS;
	for (int i = 0; i < nf; i++)
		how->id[i] = f[i].w->id;
	how->n = nf;
	free(each);
	free(f);
	return rc ? -1 : 0;
}

/* ---- a duel ---- */

struct meeting {
	const struct timing *g;
	const struct inplace *how;
	int number[2];		  /* the challenger, and the choice so far */
	double whole[WHOLE_MOST]; /* the choice's whole runs over the challenger's */
	int n;
	int is_over; /* there is no more time */
};

static int is_time_over(const struct inplace *how)
{
	return how->stopped() || clock_now() >= how->until;
}

static int run_pair(void *arg, int turn, double *x, double *y, struct err *e)
{
	struct meeting *m = arg;
	double step_s[2], whole_s[2];

	m->is_over = is_time_over(m->how);
	if (m->is_over)
		return -1;
	for (int i = 0; i < 2; i++) {
		const int who = i ^ turn;

		timing_take(m->g, m->number[who]);
		if (timing_run(m->g, e))
			return -1;
		step_s[who] = timing_with_behind_s(m->g);
		whole_s[who] = timing_whole_s(m->g);
	}
	*x = step_s[0];
	*y = step_s[1];
	if (m->n < WHOLE_MOST)
		m->whole[m->n++] = whole_s[1] / whole_s[0];
	return 0;
}

/* ---- the race of a workload ---- */

enum end { END_LOST, END_EVEN, END_WON, END_DIFFERS };

struct race {
	struct timing g;
	struct network *n;
	struct inplace *how;
	int at;			/* in how */
	struct outputs outputs; /* with the first kernel */
	int first, choice;	/* numbers of the kernels */
	double own_s;		/* the steps with the choice */
	struct stat_median won; /* the ratio of the duel that the choice won last */
};

static const struct step *kernel_of(const struct race *r, int number)
{
	timing_take(&r->g, number);
	return &r->n->plan.step[r->g.step[0]];
}

static void put_ratio(const struct stat_median *ratio, struct buf *out)
{
	field_number(out, "ratio", ratio->median);
	field_interval(out, "ci", ratio->lo, ratio->hi);
	field_integer(out, "pairs", ratio->n);
}

static void note_duel(struct race *r, int number, const struct stat_median *ratio, enum end end)
{
	static const char *const name[] = {"lost", "even", "won", "differs"};
	const struct candidate *c = kernel_of(r, number)->candidate;
	struct buf *out = &r->how->over[r->at];

	field_object(out, NULL);
	field_text(out, "candidate_id", c->id.s);
	field_text(out, "algo", c->algo->name);
	put_ratio(ratio, out);
	field_text(out, "end", name[end]);
	buf_ch(out, '}');
}

static void note_again(struct race *r, const struct stat_median *ratio, int ahead)
{
	struct buf *out = &r->how->again[r->at];

	field_object(out, NULL);
	field_text(out, "candidate_id", kernel_of(r, 0)->candidate->id.s);
	put_ratio(ratio, out);
	field_flag(out, "ahead", ahead);
	buf_ch(out, '}');
}

/* Are whole runs slower, whatever the steps save? */
static int slows_others(struct meeting *m)
{
	return stat_series(m->whole, m->n, 1.96).hi < 1;
}

/* Does the network have the same outputs with a kernel? -1: a step cannot be computed. */
static int computes_same(struct race *r, int number, struct err *e)
{
	timing_take(&r->g, number);
	return timing_run(&r->g, e) ? -1 : outputs_are(r->n, &r->outputs);
}

/* 1: there was no time. */
static int meet(struct race *r, struct meeting *m, struct duel *d, struct err *e)
{
	const double pair_s = 2 * timing_with_behind_s(&r->g);
	const struct duel_rules rules = {DUEL_RACE, BUDGET_PAIRS * pair_s, 0, 0};
	const int rc = duel_run(&rules, run_pair, m, d, e);

	return rc && m->is_over ? 1 : rc;
}

/* The same. Pairs that only confirm may leave it open who won. */
static int duel_with(struct race *r, int number, struct err *e)
{
	struct meeting m = {.g = &r->g, .how = r->how, .number = {number, r->choice}};
	const struct stat_median none = {1, 1, 1, 0};
	struct duel *d = xcalloc(1, sizeof *d);
	int rc = computes_same(r, number, e);
	enum end end;

	if (!rc)
		note_duel(r, number, &none, END_DIFFERS);
	if (rc > 0 && !(rc = meet(r, &m, d, e))) {
		end = d->end != DUEL_WON ? (enum end)d->end
		      : slows_others(&m) ? END_LOST
		      : d->ratio.lo > 1	 ? END_WON
					 : END_EVEN;
		note_duel(r, number, &d->ratio, end);
		if (end == END_WON) {
			r->choice = number;
			r->won = d->ratio;
		}
	}
	free(d);
	return rc;
}

static int count_rivals(const struct timing *g)
{
	const struct plan *p = &g->n->plan;
	int n = 0;

	for (int i = 0; i < p->nrival; i++)
		n += p->rival[i].step == g->step[0];
	return n;
}

/* The same. */
static int race_all(struct race *r, struct err *e)
{
	const int n = count_rivals(&r->g);
	int rc = timing_run(&r->g, e);

	if (rc)
		return rc;
	outputs_keep(r->n, &r->outputs);
	for (int i = 1; !rc && i <= n; i++)
		rc = duel_with(r, i, e);
	outputs_free(&r->outputs);
	return rc;
}

/* The winner has number 0 now, and the first kernel 1. The same. */
static int race_again(struct race *r, struct err *e)
{
	struct meeting m = {.g = &r->g, .how = r->how, .number = {0, 1}};
	struct duel *d = xcalloc(1, sizeof *d);
	int rc = timing_run(&r->g, e), ahead;

	if (!rc)
		rc = meet(r, &m, d, e);
	if (!rc) {
		ahead = d->ratio.median > 1 && !slows_others(&m);
		note_again(r, &d->ratio, ahead);
		r->choice = ahead ? 0 : r->first;
		r->won = d->ratio;
	}
	free(d);
	return rc;
}

/* ---- what is stored ---- */

static void print_choice(struct race *r, struct buf *out)
{
	const struct candidate *first = kernel_of(r, r->first)->candidate;
	const struct step *now = kernel_of(r, r->choice);
	const struct buf *over = &r->how->over[r->at], *again = &r->how->again[r->at];
	struct buf candidate = BUF_INIT, head = BUF_INIT;
	char at[25];

	rec_now(at);
	candidate_print(now->candidate, &candidate);
	field_record(&head, "candidate");
	field_record(out, "choice");
	buf_add(out, candidate.s + head.n, candidate.n - head.n - 1);
	field_text(out, "network", r->n->id.s);
	field_text(out, "model", r->how->model);
	field_integer(out, "steps", r->g.nstep);
	field_number(out, "step_s", r->own_s / r->g.nstep);
	field_number(out, "alone_s", now->predicted_s);
	field_fmt(out, "over", "[%s]", over->s);
	if (again->n)
		field_json(out, "again", again->s);
	field_text(out, "first", first->id.s);
	field_text(out, "env_id", r->n->chooser.here.id);
	field_text(out, "at", at);
	buf_ch(out, '}');
	checksum_put(out);
	buf_free(&candidate);
	buf_free(&head);
}

static int put(struct store *s, const struct buf *text, struct err *e)
{
	const struct rec rec = {.s = text->s, .n = text->n, .type = REC_CHOICE, .file = "-"};
	struct json_doc d = JSON_DOC_INIT;
	int rc = json_parse(&d, text->s, text->n, e) || store_begin(s, e) ? -1 : 0;

	if (!rc && store_put(s, &rec, &d, e) < 0)
		rc = -1;
	if (!rc)
		rc = store_commit(s, e);
	json_free(&d);
	return rc;
}

static int store_race(struct race *r, struct err *e)
{
	struct store *s = store_open(r->how->db, STORE_WRITE, e);
	struct buf text = BUF_INIT;
	int rc = -1;

	if (s) {
		print_choice(r, &text);
		rc = put(s, &text, e);
	}
	store_close(s);
	buf_free(&text);
	return rc;
}

static void say(struct race *r)
{
	const struct inplace_said said = {r->g.w, r->g.nstep, kernel_of(r, r->first)->candidate,
					  kernel_of(r, r->choice)->candidate, r->won};

	if (r->how->say)
		r->how->say(&said);
}

static int decide(struct race *r, struct err *e)
{
	int rc;

	timing_take(&r->g, r->choice);
	rc = timing_run(&r->g, e);
	r->own_s = timing_own_s(&r->g);
	if (!rc)
		rc = store_race(r, e);
	if (!rc)
		say(r);
	return rc;
}

static struct chosen chosen_of(const struct race *r, int number)
{
	const struct step *s = kernel_of(r, number);

	return (struct chosen){*s->candidate, s->match, s->predicted_s, 0};
}

/* A winner is not stored before it was ahead again. */
static int race_first(struct race *r, struct err *e)
{
	int rc = race_all(r, e);

	if (rc || r->choice == r->first)
		return rc ? rc : decide(r, e);
	r->how->won[r->at] = chosen_of(r, r->choice);
	r->how->before[r->at] = chosen_of(r, r->first);
	r->how->nwon++;
	return 0;
}

static int race_workload(struct network *n, struct inplace *how, int i, struct err *e)
{
	struct race r = {.n = n, .how = how, .at = i};
	int rc = 0;

	timing_make(&r.g, n, how->id[i].s);
	if (r.g.nstep && count_rivals(&r.g)) {
		rc = race_first(&r, e);
		timing_take(&r.g, 0);
	}
	timing_free(&r.g);
	return rc;
}

int inplace_race(struct network *n, struct inplace *how, struct err *e)
{
	int rc = 0;

	for (int i = 0; !rc && i < how->n && !is_time_over(how); i++)
		rc = race_workload(n, how, i, e);
	return rc < 0 ? -1 : 0;
}

/* ---- the winners again, and the whole ---- */

struct whole {
	struct timing g[INPLACE_WORKLOADS];
	int n;
};

/* Number 0 of each is the choice, 1 what was before. */
static void take_all(const struct whole *w, int number)
{
	for (int i = 0; i < w->n; i++)
		timing_take(&w->g[i], number);
}

static int compare_whole(const struct whole *w, struct inplace *how, struct err *e)
{
	double s[2][WHOLE_PAIRS], ratio[WHOLE_PAIRS];
	int rc = 0, n = 0;

	for (; !rc && n < WHOLE_PAIRS && (n < LEAST_PAIRS ? !how->stopped() : !is_time_over(how));
	     n++) {
		for (int i = 0; !rc && i < 2; i++) {
			const int number = i ^ (n & 1);

			take_all(w, number);
			rc = timing_run(&w->g[0], e);
			s[number][n] = timing_whole_s(&w->g[0]);
		}
		ratio[n] = s[1][n] / s[0][n];
	}
	if (!rc && n) {
		how->whole = stat_series(ratio, n, 1.96);
		how->before_s = stat_series(s[1], n, 1.96);
		how->after_s = stat_series(s[0], n, 1.96);
	}
	return rc;
}

/* Those that are ahead again stay in their place, and come into the whole. */
static int confirm(struct network *n, struct inplace *how, int i, struct whole *w, struct err *e)
{
	struct race r = {.n = n, .how = how, .at = i, .first = 1};
	int rc = 0;

	timing_make(&r.g, n, how->id[i].s);
	if (r.g.nstep && count_rivals(&r.g)) {
		rc = race_again(&r, e);
		if (!rc)
			rc = decide(&r, e);
		timing_take(&r.g, rc ? 1 : r.choice);
	}
	if (!rc && r.choice == 0)
		w->g[w->n++] = r.g;
	else
		timing_free(&r.g);
	return rc;
}

int inplace_confirm(struct network *n, struct inplace *how, struct err *e)
{
	struct whole w = {.n = 0};
	int rc = 0;

	for (int i = 0; !rc && i < how->n; i++)
		if (how->won[i].match)
			rc = confirm(n, how, i, &w, e);
	if (rc >= 0 && w.n)
		rc = compare_whole(&w, how, e);
	for (int i = 0; i < w.n; i++)
		timing_free(&w.g[i]);
	return rc < 0 ? -1 : 0;
}

void inplace_free(struct inplace *how)
{
	for (int i = 0; i < INPLACE_WORKLOADS; i++) {
		buf_free(&how->over[i]);
		buf_free(&how->again[i]);
	}
}
