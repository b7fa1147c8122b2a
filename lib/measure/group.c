#include "lib/measure/group.h"

#include <string.h>

#include "lib/host/system.h"
#include "lib/io/clock.h"
#include "lib/io/field.h"
#include "lib/nest/nest.h"
#include "lib/target/target.h"

/* A guess, where no time is known. */
static const double S_PER_FLOP = 1e-11;

void group_init(struct group *g, const struct workload *w)
{
	memset(g, 0, sizeof *g);
	g->w = *w;
	g->last = &g->first;
	g->count = 1;
	g->time_s = (double)w->flops * S_PER_FLOP;
}

void group_free(struct group *g)
{
	arena_free(&g->arena);
}

/* NULL: the target cannot print the nest, and *why says why. */
static struct build *add_nest(struct cache *c, const struct nest *n, const struct limits *m,
			      const char **why)
{
	struct buf text = BUF_INIT;
	const char *why_c = c->target->print(n, m, &text);
	struct build *b;

	*why = text.n ? NULL : why_c;
	b = text.n ? cache_add(c, text.s, text.n, why_c) : NULL;
	buf_free(&text);
	return b;
}

static int add_naive(struct measure *m, struct group *g, struct err *e)
{
	struct arena a = ARENA_INIT;
	const char *why;
	struct nest n;
	int rc;

	nest_init(&n, &a, "naive");
	rc = workload_define(&g->w, 1, &n, e);
	if (rc == 0)
		g->naive = add_nest(m->definitions, &n, &m->env.limits, &why);
	arena_free(&a);
	return rc;
}

static const char *unsupported(const struct measure *m, const struct candidate *c, struct arena *a)
{
	const char *why = NULL;

	if (!algo_valid(c->algo, &c->w, c->knob, &why))
		return why;
	if (c->knob[0] > m->env.limits.lanes && !strcmp(c->algo->knob[0].name, "vl"))
		return arena_printf(a, "vectors of %lld lanes, but %s has %d",
				    (long long)c->knob[0], m->env.limits.isa, m->env.limits.lanes);
	return NULL;
}

/* Starts the build of a candidate's kernel, or settles that it has none. */
static int add_kernel(struct measure *m, struct group *g, struct item *it,
		      const struct candidate *c, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct err why = ERR_INIT;
	struct nest nest;
	int rc = 0;

	it->why = unsupported(m, c, &g->arena);
	if (it->why) {
		it->status = STATUS_UNSUPPORTED;
		return 0;
	}
	if (!g->naive && add_naive(m, g, e) < 0)
		return -1;
	nest_init(&nest, &a, "kernel");
	if (candidate_build(c, &nest, &why) < 0) {
		it->status = STATUS_UNSUPPORTED;
		it->why = arena_strdup(&g->arena, why.msg);
	} else {
		it->build = add_nest(&m->cache, &nest, &m->env.limits, &it->why);
		it->status = it->build ? STATUS_NONE : STATUS_UNSUPPORTED;
	}
	arena_free(&a);
	return rc;
}

static int look_up(struct measure *m, struct group *g, struct item *it, struct err *e)
{
	int rc = known_find(m->known, g->w.id.s, it->id.s, &g->arena, &it->known, e);

	if (rc <= 0)
		return rc;
	g->nknown++;
	it->in.at = it->known.result->at;
	return 0;
}

static struct item *new_item(struct group *g, const struct id *id, const char *line, size_t n)
{
	struct item *it = arena_new(&g->arena, struct item);

	it->line = arena_strndup(&g->arena, line, n);
	it->n = n;
	it->id = *id;
	it->in.owner = it;
	return it;
}

/* The candidate of an item, read anew from its line. */
static int read_candidate(const struct item *it, int check, struct candidate *c, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	int rc = json_parse(&d, it->line, it->n, e);

	if (rc == 0)
		rc = candidate_from_json(c, &d, check, e);
	json_free(&d);
	return rc;
}

/* The kernel of one that was not known to be needed. */
int group_kernel(struct measure *m, struct group *g, struct item *it, struct err *e)
{
	struct candidate c;

	if (it->build || it->status)
		return 0;
	return read_candidate(it, 1, &c, e) < 0 ? -1 : add_kernel(m, g, it, &c, e);
}

int group_add(struct measure *m, struct group *g, const struct candidate *c, const char *line,
	      size_t n, struct err *e)
{
	struct item *it = new_item(g, &c->id, line, n);

	*g->last = it;
	g->last = &it->next;
	g->n++;
	m->total++;
	if (m->known && look_up(m, g, it, e) < 0)
		return -1;
	if (it->known.result)
		return 0;
	if (clock_now() >= m->until)
		return 0; /* it will not race */
	if (g->first_incumbent && group_kernel(m, g, g->first_incumbent, e) < 0)
		return -1;
	return add_kernel(m, g, it, c, e);
}

void group_incumbent_line(const struct workload *w, const struct target *target,
			  const struct json_doc *d, const struct json *incumbent, const char *id,
			  struct buf *line)
{
	buf_clear(line);
	field_record(line, "candidate");
	field_text(line, "candidate_id", id);
	field_object(line, "workload");
	workload_fields(w, line);
	buf_ch(line, '}');
	field_text(line, "target", target->name);
	field_copy(line, "algo", json_get(d, incumbent, "algo"));
	field_copy(line, "knobs", json_get(d, incumbent, "knobs"));
	buf_ch(line, '}');
}

/* Where an algorithm's revision has changed since, the incumbent is what its knobs mean today,
 * which has had no final. */
int group_incumbent(struct group *g, const struct target *target, const struct json_doc *d,
		    const struct json *incumbent, struct err *e)
{
	const struct json *id = json_get(d, incumbent, "candidate_id");
	const char *at = NULL;
	struct candidate c;
	struct buf line = BUF_INIT;
	struct item it = {0}, *kept;
	int rc;

	if (!json_get(d, incumbent, "algo") || !json_get(d, incumbent, "knobs") || !id)
		return 0; /* there is none, or none that can be measured */
	group_incumbent_line(&g->w, target, d, incumbent, "", &line);
	it.line = line.s;
	it.n = line.n;
	rc = read_candidate(&it, 0, &c, e);
	if (rc == 0) {
		group_incumbent_line(&g->w, target, d, incumbent, c.id.s, &line);
		kept = new_item(g, &c.id, line.s, line.n);
		json_str(json_get(d, incumbent, "at"), &g->arena, &at);
		kept->in.at = at ? at : "";
		json_bool(json_get(d, incumbent, "final"), &g->first_had_final);
		g->first_had_final &= json_is(id, c.id.s);
		g->first_incumbent = kept;
	}
	buf_free(&line);
	return rc;
}

/* Reads the best variant in the workload's own layout, or why there is none. 0: the record has
 * neither, and the library is looked through again. */
static int own_impl(struct group *g, const struct json_doc *d, const struct json *baseline)
{
	struct group_baseline *b = &g->baseline;

	return !strcmp(b->layout, layout_name(g->w.layout)) ||
	       json_str(json_get(d, baseline, "own_impl"), &g->arena, &b->own_impl) == 0 ||
	       json_str(json_get(d, baseline, "own_impl_why"), &g->arena, &b->own_impl_why) == 0;
}

void group_baseline(struct group *g, const struct json_doc *d, const struct json *baseline)
{
	struct group_baseline *b = &g->baseline;
	const char *system;

	if (!baseline || json_str(json_get(d, baseline, "system"), &g->arena, &system) < 0 ||
	    strcmp(system, system_name()) != 0 ||
	    json_str(json_get(d, baseline, "impl"), &g->arena, &b->impl) < 0 ||
	    json_str(json_get(d, baseline, "layout"), &g->arena, &b->layout) < 0 ||
	    !own_impl(g, d, baseline))
		*b = (struct group_baseline){0};
	else
		b->looked = 1;
}

void group_standing(struct measure *m, struct group *g, const struct json_doc *d)
{
	double best = 0, baseline = 0;

	if (json_int(json_get(d, d->tok, "count"), &g->count) < 0 || g->count < 1)
		g->count = 1;
	if (json_num(json_get(d, json_get(d, d->tok, "incumbent"), "latency_s"), &best) < 0)
		return;
	g->time_s = best;
	if (json_num(json_get(d, json_get(d, d->tok, "opponent"), "latency_s"), &baseline) == 0)
		standing_ratio(&m->standing, &g->ahead, baseline / best);
}
