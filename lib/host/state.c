#include "lib/host/state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/json.h"
#include "lib/io/record.h"

/* The cells of a class: a tenth of the peak, a quarter of the bandwidth. */
static const double PEAK_CELL = 1.1, MEMORY_CELL = 1.25;
/* Memory may drift by as many times as much as a peak: other machines share it. */
static const double MEMORY_SLACK = 5;

/* Figures */

int figures_read(const char *json, struct figures *f, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	int rc = json_parse(&d, json, strlen(json), e);

	f->beat_s = 0;
	if (rc == 0)
		json_num(json_get(&d, d.tok, "beat_s"), &f->beat_s);
	if (rc == 0 &&
	    (json_num(json_get(&d, d.tok, "peak_flops"), &f->peak_flops) < 0 ||
	     json_num(json_get(&d, d.tok, "peak_flops_all"), &f->peak_flops_all) < 0 ||
	     json_num(json_get(&d, json_get(&d, d.tok, "bandwidth_all"), "mem"), &f->memory) < 0 ||
	     json_num(json_get(&d, d.tok, "forkjoin_s"), &f->forkjoin_s) < 0 ||
	     f->peak_flops <= 0 || f->peak_flops_all <= 0 || f->memory <= 0 || f->forkjoin_s <= 0))
		rc = err_set(e, "the probe's figures make no sense: %.200s", json);
	json_free(&d);
	return rc;
}

/* Of two beats, of which 0 is none. */
static double least(double a, double b)
{
	return a > 0 && (b <= 0 || a < b) ? a : b;
}

void figures_best(struct figures *f, const struct figures *other)
{
	f->peak_flops = fmax(f->peak_flops, other->peak_flops);
	f->peak_flops_all = fmax(f->peak_flops_all, other->peak_flops_all);
	f->memory = fmax(f->memory, other->memory);
	f->forkjoin_s = fmin(f->forkjoin_s, other->forkjoin_s);
	f->beat_s = least(f->beat_s, other->beat_s);
}

static double drift(double a, double b)
{
	return (a > b ? a / b : b / a) - 1;
}

double figures_drift(const struct figures *a, const struct figures *b)
{
	return fmax(fmax(drift(a->peak_flops, b->peak_flops),
			 drift(a->peak_flops_all, b->peak_flops_all)),
		    drift(a->memory, b->memory) / MEMORY_SLACK);
}

static double cell(double x, double base)
{
	return pow(base, round(log(x) / log(base)));
}

/* States */

static int nearest(const struct states *s, const struct figures *f)
{
	int best = 0;

	for (int i = 1; i < s->n; i++)
		if (figures_drift(&s->state[i].f, f) < figures_drift(&s->state[best].f, f))
			best = i;
	return best;
}

double states_beat(const struct states *s)
{
	double beat_s = 0;

	for (int i = 0; i < s->n; i++)
		beat_s = least(beat_s, s->state[i].f.beat_s);
	return beat_s;
}

void states_set_beat(struct states *s, double beat_s)
{
	struct state *x = &s->state[s->now];
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;
	struct buf out = BUF_INIT;
	char number[32];

	snprintf(number, sizeof number, "%.9g", beat_s);
	if (json_parse(&d, x->probe, strlen(x->probe), &ignored) == 0) {
		const struct json_field field = {"beat_s", number};

		json_rewrite(&d, &field, 1, &out);
		x->probe = arena_strdup(&s->arena, out.s);
		x->f.beat_s = beat_s;
	}
	json_free(&d);
	buf_free(&out);
}

int states_match(const struct states *s, const struct figures *f, double max_drift)
{
	int best;

	if (!s->n)
		return -1;
	if (figures_drift(&s->state[s->now].f, f) <= max_drift)
		return s->now;
	best = nearest(s, f);
	return figures_drift(&s->state[best].f, f) <= max_drift ? best : -1;
}

static int has_class(const struct states *s, const char *class)
{
	for (int i = 0; i < s->n; i++)
		if (!strcmp(s->state[i].class, class))
			return 1;
	return 0;
}

/* The centres of the cells; and which of several, where states differ less than the cells are wide.
 */
static void new_class(const struct states *s, struct state *t)
{
	double peak = cell(t->f.peak_flops, PEAK_CELL) / 1e9;
	double memory = cell(t->f.memory, MEMORY_CELL) / 1e9;
	int n = snprintf(t->class, sizeof t->class, "%.3g GFLOP/s, %.3g GB/s", peak, memory);

	for (int i = 2; has_class(s, t->class); i++)
		snprintf(t->class + n, sizeof t->class - (size_t)n, ", %d", i);
}

int states_add(struct states *s, const char *probe, const char *at, struct err *e)
{
	struct state t = {.probe = arena_strdup(&s->arena, probe)};

	if (figures_read(probe, &t.f, e) < 0)
		return -1;
	if (s->n == STATES_MAX)
		return s->now = nearest(s, &t.f);
	snprintf(t.at, sizeof t.at, "%s", at);
	new_class(s, &t);
	s->state[s->n] = t;
	return s->now = s->n++;
}

/* The file */

static int read_state(struct states *s, const struct json_doc *d, const struct json *v)
{
	const struct json *probe = json_get(d, v, "probe");
	struct state *t = &s->state[s->n];
	struct err ignored = ERR_INIT;
	const char *class, *at;

	if (s->n == STATES_MAX || !probe ||
	    json_str(json_get(d, v, "class"), &s->arena, &class) < 0 ||
	    json_str(json_get(d, v, "at"), &s->arena, &at) < 0)
		return -1;
	snprintf(t->class, sizeof t->class, "%s", class);
	snprintf(t->at, sizeof t->at, "%s", at);
	t->probe = arena_strndup(&s->arena, probe->s, probe->n);
	if (figures_read(t->probe, &t->f, &ignored) < 0)
		return -1;
	s->n++;
	return 0;
}

static int read_states(struct states *s, const char *line, size_t n)
{
	struct json_doc d = JSON_DOC_INIT;
	struct err ignored = ERR_INIT;
	const struct json *list = NULL;
	const char *looked;
	int64_t now = -1;
	int rc = json_parse(&d, line, n, &ignored);

	if (rc == 0) {
		rc = json_int(json_get(&d, d.tok, "now"), &now);
		list = json_get(&d, d.tok, "states");
		if (json_str(json_get(&d, d.tok, "looked"), &s->arena, &looked) == 0)
			snprintf(s->looked, sizeof s->looked, "%s", looked);
	}
	for (const struct json *v = list && rc == 0 ? json_first(&d, list) : NULL; v && rc == 0;
	     v = json_next(&d, list, v))
		rc = read_state(s, &d, v);
	json_free(&d);
	if (rc < 0 || now < 0 || now >= s->n)
		return -1;
	s->now = (int)now;
	return 0;
}

int states_load(struct states *s, const char *path, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	*s = (struct states){0};
	if (!f)
		return errno == ENOENT ? 0 : err_sys(e, "cannot read %s", path);
	n = getline(&line, &cap, f);
	fclose(f);
	if (n <= 0 || read_states(s, line, (size_t)n) < 0)
		states_free(s);
	free(line);
	return s->n > 0;
}

int states_save(const struct states *s, const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	struct rec_out *out = rec_create(path, e);
	int rc = -1;

	buf_fmt(&b, "{\"now\":%d,\"looked\":\"%s\",\"states\":[", s->now, s->looked);
	for (int i = 0; i < s->n; i++)
		buf_fmt(&b, "%s{\"class\":\"%s\",\"at\":\"%s\",\"probe\":%s}", i ? "," : "",
			s->state[i].class, s->state[i].at, s->state[i].probe);
	buf_str(&b, "]}");
	if (out && rec_put(out, b.s, b.n, e) == 0)
		rc = rec_commit(out, e);
	rec_discard(out);
	buf_free(&b);
	return rc;
}

void states_free(struct states *s)
{
	arena_free(&s->arena);
	*s = (struct states){0};
}
