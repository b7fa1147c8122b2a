#include "lib/answer/match.h"

#include <math.h>
#include <stdlib.h>

#include "lib/algo/candidate.h"
#include "lib/answer/differ.h"

enum { KINDS = 8 };

/* All workloads of an operator that have a result, here or (anywhere) in any env. */
struct kind {
	const struct op *op;
	int anywhere;
	struct workload *w;
	int64_t n;
};

struct matcher {
	struct store *s;
	const struct store_env *here;
	struct store_env *env;
	int nenv; /* -1: not read yet */
	struct kind kind[KINDS];
	int nkind;
	struct arena arena; /* of the matcher's life */
	struct json_doc doc, other;
};

const char *match_name(enum match_how how)
{
	static const char *const name[] = {"none", "exact", "env", "nearest"};

	return name[how];
}

struct matcher *matcher_open(struct store *s, const struct store_env *here)
{
	struct matcher *m = xcalloc(1, sizeof *m);

	m->s = s;
	m->here = here;
	m->nenv = -1;
	return m;
}

void matcher_close(struct matcher *m)
{
	if (!m)
		return;
	json_free(&m->doc);
	json_free(&m->other);
	arena_free(&m->arena);
	free(m);
}

/* Other envs */

static int parse_env(struct json_doc *d, const struct store_env *env)
{
	struct err ignored = ERR_INIT;

	return env->json && !json_parse(d, env->json, strlen(env->json), &ignored) &&
	       d->tok->type == JSON_OBJ;
}

/* Which env is more like this one: the least number is. */
static int difference_rank(const struct differ *d)
{
	return d->n + 100 * d->hardware;
}

/* "gcc 12.2.0, onednn 2.6.3" */
static void add_software(struct buf *out, const struct json_doc *d)
{
	const struct json *cc = json_get(d, d->tok, "cc"), *libs = json_get(d, d->tok, "libs");

	buf_fmt(out, "%.*s, %.*s", cc ? (int)cc->n : 19, cc ? cc->s : "an unknown compiler",
		libs ? (int)libs->n : 18, libs ? libs->s : "an unknown library");
}

/* 1 if both envs were recorded, so that they can be compared. */
static int difference_from_here(struct matcher *m, const struct store_env *env, struct differ *d)
{
	*d = (struct differ){.n = 1000};
	if (!parse_env(&m->doc, m->here) || !parse_env(&m->other, env))
		return 0;
	differ_envs(d, &m->other, &m->doc);
	return 1;
}

/* The sentence for a result of another env. */
static void say_env(struct matcher *m, const struct store_env *env, struct match *out,
		    struct arena *a)
{
	struct buf why = BUF_INIT, there = BUF_INIT, here = BUF_INIT;
	struct differ d;

	if (!difference_from_here(m, env, &d)) {
		buf_fmt(&why, "measured in the env %s, not in %s", env->id, m->here->id);
	} else if (d.hardware) {
		out->foreign = 1;
		buf_fmt(&why, "foreign: measured on other hardware: %s", d.what.s);
	} else {
		out->stale = 1;
		add_software(&there, &m->other);
		add_software(&here, &m->doc);
		buf_fmt(&why,
			"stale: measured with %s on this same hardware, where there is now %s",
			there.s, here.s);
	}
	out->why = arena_strndup(a, why.s, why.n);
	differ_free(&d);
	buf_free(&there);
	buf_free(&here);
	buf_free(&why);
}

static int read_envs(struct matcher *m, struct err *e)
{
	if (m->nenv >= 0)
		return 0;
	return store_envs(m->s, &m->arena, &m->env, &m->nenv, e);
}

/* The same workload in the env most like this one. */
static int find_in_env(struct matcher *m, const char *workload_id, int64_t top, struct arena *a,
		       struct match *out, struct err *e)
{
	const struct store_env *best = NULL;
	int least = 0;

	if (read_envs(m, e))
		return -1;
	for (int i = 0; i < m->nenv; i++) {
		struct differ d;
		int n, found;

		if (!strcmp(m->env[i].id, m->here->id))
			continue;
		found = store_top(m->s, workload_id, m->env[i].id, 1, a, &out->result, &out->n, e);
		if (found < 0)
			return -1;
		difference_from_here(m, &m->env[i], &d);
		n = difference_rank(&d);
		differ_free(&d);
		if (found && (!best || n < least)) {
			best = &m->env[i];
			least = n;
		}
	}
	if (!best)
		return 0;
	if (store_top(m->s, workload_id, best->id, top, a, &out->result, &out->n, e) < 0)
		return -1;
	out->how = MATCH_ENV;
	say_env(m, best, out, a);
	return 1;
}

/* Near workloads */

double match_distance(const struct workload *a, const struct workload *b)
{
	double sum = (a->layout != b->layout) + (a->rhs_const != b->rhs_const);

	for (int i = 0; i < a->op->ndims; i++) {
		double d = log2(((double)a->dim[i] + 1) / ((double)b->dim[i] + 1));

		sum += d * d;
	}
	for (int p = 0; p < POSTS; p++)
		sum += (workload_has_post(a, p) != workload_has_post(b, p)) / 16.0;
	return sqrt(sum);
}

static int find_kind(struct matcher *m, const struct op *op, int anywhere, struct kind **out,
		     struct err *e)
{
	struct kind *k = m->kind;

	while (k < m->kind + m->nkind && (k->op != op || k->anywhere != anywhere))
		k++;
	*out = k;
	if (k < m->kind + m->nkind)
		return 0;
	if (m->nkind == KINDS)
		*out = k = m->kind; /* more operators than there are: forget one */
	else
		m->nkind++;
	k->op = op;
	k->anywhere = anywhere;
	return store_workloads(m->s, op->name, anywhere ? NULL : m->here->id, &m->arena, &k->w,
			       &k->n, e);
}

/* Is there no other difference than post-ops? The types are equal. */
static int differ_in_posts(const struct workload *a, const struct workload *b)
{
	return a->layout == b->layout && a->rhs_const == b->rhs_const && !strcmp(a->prob, b->prob);
}

/* Finds the nearest workloads, nearest first; the lower id goes first where two are as near. With
 * `alike` it takes those alone that differ in nothing but post-ops. */
static int nearest(const struct kind *k, const struct workload *w, int alike, int most,
		   const struct workload **near)
{
	double distance[MATCH_NEAR];
	int n = 0;

	for (int64_t i = 0; i < k->n; i++) {
		double d;
		int j;

		if (!dtypes_equal(&k->w[i].dtype, &w->dtype) || !strcmp(k->w[i].id.s, w->id.s) ||
		    (alike && !differ_in_posts(&k->w[i], w)))
			continue;
		d = match_distance(w, &k->w[i]);
		if (n == most && d >= distance[n - 1])
			continue;
		n += n < most;
		for (j = n - 1; j > 0 && distance[j - 1] > d; j--) {
			distance[j] = distance[j - 1];
			near[j] = near[j - 1];
		}
		distance[j] = d;
		near[j] = &k->w[i];
	}
	return n;
}

/* Does the candidate of a result for another workload make a program for this one? */
static int is_valid_for(struct matcher *m, const struct store_result *r, const struct workload *w)
{
	struct err ignored = ERR_INIT;
	struct candidate c;
	const char *why;

	return !json_parse(&m->doc, r->record, r->record_n, &ignored) &&
	       !candidate_from_json(&c, &m->doc, 0, &ignored) &&
	       algo_valid(c.algo, w, c.knob, &why) == 1;
}

static const struct post_op *post_of(const struct workload *w, enum post kind)
{
	for (int i = 0; i < w->npost; i++)
		if (w->post[i].kind == kind)
			return &w->post[i];
	return NULL;
}

/* Appends what differs in post-ops, behind a mark. */
static void say_posts(const struct workload *there, const struct workload *here, const char *mark,
		      struct buf *out)
{
	for (int p = 0; p < POSTS; p++) {
		const struct post_op *x = post_of(there, p), *y = post_of(here, p);
		char was[POST_TEXT], is[POST_TEXT];

		if (x && y) {
			post_print(x, was);
			post_print(y, is);
			if (!strcmp(was, is))
				continue;
			buf_fmt(out, "%s post-op %s is %s here", mark, was, is);
		} else if (x || y) {
			buf_fmt(out, "%s post-op %s is only %s", mark, post_name(p),
				x ? "there" : "here");
		} else {
			continue;
		}
		mark = ",";
	}
	if (*mark == ':')
		buf_fmt(out, "%s the order of the post-ops is another", mark);
}

static const char *why_near(const struct workload *there, const struct workload *here,
			    const char *env, struct arena *a)
{
	struct buf b = BUF_INIT;
	const char *text, *mark = ":";

	buf_fmt(&b, "measured for the nearest workload known%s%s, %s %s", env ? " in the env " : "",
		env ? env : "", there->op->name, there->prob);
	for (int i = 0; i < here->op->ndims; i++) {
		if (there->dim[i] == here->dim[i])
			continue;
		buf_fmt(&b, "%s %s is %lld there and %lld here", mark, here->op->dim[i],
			(long long)there->dim[i], (long long)here->dim[i]);
		mark = ",";
	}
	if (there->layout != here->layout) {
		buf_fmt(&b, "%s layout is %s there and %s here", mark, layout_name(there->layout),
			layout_name(here->layout));
		mark = ",";
	}
	if (there->rhs_const != here->rhs_const) {
		buf_fmt(&b, "%s the right side is constant only %s", mark,
			there->rhs_const ? "there" : "here");
		mark = ",";
	}
	say_posts(there, here, mark, &b);
	text = arena_strndup(a, b.s, b.n);
	buf_free(&b);
	return text;
}

static int try_near(struct matcher *m, const struct workload *there, const struct workload *here,
		    const struct store_env *env, int64_t top, struct arena *a, struct match *out,
		    struct err *e)
{
	struct store_result *r;
	int64_t n;

	/* Some of the best may not fit; a few more are asked for. */
	if (store_top(m->s, there->id.s, env->id, top + MATCH_NEAR, a, &r, &n, e) < 0)
		return -1;
	out->n = 0;
	out->result = r;
	for (int64_t i = 0; i < n && out->n < top; i++)
		if (is_valid_for(m, &r[i], here))
			r[out->n++] = r[i];
	if (!out->n)
		return 0;
	out->how = MATCH_NEAREST;
	out->alike = env == m->here && differ_in_posts(there, here);
	out->why = why_near(there, here, env == m->here ? NULL : env->id, a);
	return 1;
}

enum where { ALIKE_HERE, HERE, ANYWHERE };

static int find_near(struct matcher *m, const struct workload *w, enum where where, int64_t top,
		     struct arena *a, struct match *out, struct err *e)
{
	const struct workload *near[MATCH_NEAR];
	const int anywhere = where == ANYWHERE;
	struct kind *k;
	int n, found = 0;

	if (find_kind(m, w->op, anywhere, &k, e) < 0 || read_envs(m, e))
		return -1;
	n = nearest(k, w, where == ALIKE_HERE, MATCH_NEAR, near);
	for (int i = 0; i < n && !found; i++) {
		if (!anywhere)
			found = try_near(m, near[i], w, m->here, top, a, out, e);
		for (int j = 0; anywhere && j < m->nenv && !found; j++)
			found = try_near(m, near[i], w, &m->env[j], top, a, out, e);
	}
	return found;
}

int match_near(struct matcher *m, const struct workload *w, int most, const struct workload **near,
	       struct err *e)
{
	struct kind *k;

	if (find_kind(m, w->op, 0, &k, e) < 0)
		return -1;
	return nearest(k, w, 0, most < MATCH_NEAR ? most : MATCH_NEAR, near);
}

int match_find(struct matcher *m, const struct workload *w, int alike_first, int64_t top,
	       struct arena *a, struct match *out, struct err *e)
{
	int found;

	*out = (struct match){.how = MATCH_NONE};
	found = store_top(m->s, w->id.s, m->here->id, top, a, &out->result, &out->n, e);
	if (found > 0)
		out->how = MATCH_EXACT;
	if (!found && alike_first)
		found = find_near(m, w, ALIKE_HERE, top, a, out, e);
	if (!found)
		found = find_in_env(m, w->id.s, top, a, out, e);
	if (!found)
		found = find_near(m, w, HERE, top, a, out, e);
	if (!found)
		found = find_near(m, w, ANYWHERE, top, a, out, e);
	if (!found)
		out->n = 0;
	return found;
}
