#include "lib/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/base64.h"
#include "lib/base/hash.h"
#include "lib/io/field.h"
#include "lib/io/file.h"
#include "lib/io/json.h"
#include "lib/model/failure.h"
#include "lib/features/features.h"

/* ---- writing ---- */

static void print_schedule(const struct schedule *s, struct buf *out)
{
	field_record(out, "schedule");
	algo_put(s->algo, s->knob, out);
	field_text(out, "isa", s->isa);
	buf_str(out, "}\n");
}

/* The end of a record that holds trees. */
static void print_trees(const struct trees *t, struct buf *out)
{
	struct buf bytes = BUF_INIT;

	trees_save(t, &bytes);
	field_name(out, "nodes");
	buf_ch(out, '"');
	base64_encode(bytes.s, bytes.n, out);
	buf_str(out, "\"}\n");
	buf_free(&bytes);
}

static void print_stage(const struct model_stage *stage, int number, struct buf *out)
{
	for (int i = 0; i < stage->n; i++) {
		field_record(out, "trees");
		field_integer(out, "stage", number);
		print_trees(stage->bag[i], out);
	}
}

void model_print(const struct model *m, const char *card, struct buf *out)
{
	char version[FEATURES_VERSION + 1];
	struct id id;

	features_version(m->features, version);
	field_record(out, "model");
	field_text(out, "features", version);
	field_number(out, "scale", m->scale);
	if (m->scale_abroad > 0)
		field_number(out, "scale_abroad", m->scale_abroad);
	seen_print(&m->seen, out);
	buf_fmt(out, "%s%s}\n", *card ? "," : "", card);
	for (int i = 0; i < m->nportfolio; i++)
		print_schedule(&m->portfolio[i], out);
	for (int i = 0; i < m->nstages; i++)
		print_stage(&m->stage[i], i, out);
	if (m->failure) {
		field_record(out, "failure");
		print_trees(m->failure, out);
	}
	hash_id(&id, out->s, out->n);
	field_record(out, "done");
	field_text(out, "hash", id.s);
	buf_str(out, "}\n");
}

/* ---- reading ---- */

/* Is the last line the hash of what is before it? */
static int check_hash(struct model *m, const struct buf *text, size_t *end, struct err *e)
{
	static const char start[] = "{\"tl\":1,\"type\":\"done\",\"hash\":\"", close[] = "\"}\n";
	const size_t n = sizeof start - 1 + ID_HEX + sizeof close - 1;
	const char *last;

	if (text->n <= n || text->s[text->n - n - 1] != '\n' ||
	    memcmp(text->s + text->n - n, start, sizeof start - 1) != 0 ||
	    strcmp(text->s + text->n - (sizeof close - 1), close) != 0)
		return err_set(e, "%s is no cost model as tl-train makes it, or was cut off",
			       m->path);
	*end = text->n - n;
	last = text->s + *end + sizeof start - 1;
	hash_id(&m->id, text->s, *end);
	if (memcmp(last, m->id.s, ID_HEX) != 0)
		return err_set(e, "the model %s is damaged: its content is not what was written",
			       m->path);
	return 0;
}

static void read_machines(struct model *m, const struct json_doc *d)
{
	const struct json *list = json_get(d, json_get(d, d->tok, "trained_on"), "machines");

	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v)) {
		struct model_machine *k = &m->machine[m->nmachines];
		const struct json *isa = json_get(d, v, "isa");

		if (m->nmachines == MODEL_MACHINES || !isa || isa->n >= sizeof k->isa ||
		    json_int(json_get(d, v, "l1d"), &k->l1d) ||
		    json_int(json_get(d, v, "l2"), &k->l2))
			continue;
		snprintf(k->isa, sizeof k->isa, "%.*s", (int)isa->n, isa->s);
		if (json_int(json_get(d, v, "bits"), &k->bits))
			k->bits = 0;
		m->nmachines++;
	}
}

static int read_card(struct model *m, const struct json_doc *d, struct err *e)
{
	const struct json *v = json_get(d, d->tok, "features");
	const struct feature_list *own = v ? features_find(v->s, v->n) : NULL;

	if (!own)
		return err_set(e,
			       "the model %s was trained on features of another version; train it "
			       "anew",
			       m->path);
	if (own != m->features)
		return err_set(e, "the model %s was trained on kernels of %s, not of %s", m->path,
			       own->of, m->features->of);
	if (json_num(json_get(d, d->tok, "scale"), &m->scale) || !(m->scale > 0))
		return err_set(e, "the model %s has no scale", m->path);
	if (json_num(json_get(d, d->tok, "scale_abroad"), &m->scale_abroad) ||
	    !(m->scale_abroad > 0))
		m->scale_abroad = 0;
	seen_read(&m->seen, d);
	m->card = arena_strndup(&m->arena, d->tok->s, d->tok->n);
	read_machines(m, d);
	return 0;
}

/* One that this version does not know is left out: it is advice, not meaning. */
static void read_schedule(struct model *m, const struct json_doc *d)
{
	const struct json *name = json_get(d, d->tok, "algo"),
			  *knobs = json_get(d, d->tok, "knobs"), *isa = json_get(d, d->tok, "isa");
	struct schedule *s = &m->portfolio[m->nportfolio];
	int known = 0;

	s->algo = name ? algo_find(name->s, name->n) : NULL;
	if (!s->algo || !isa || isa->n >= sizeof s->isa)
		return;
	snprintf(s->isa, sizeof s->isa, "%.*s", (int)isa->n, isa->s);
	for (int i = 0; i < s->algo->nknobs; i++) {
		s->knob[i] = s->algo->knob[i].frozen;
		known += !json_int(json_get(d, knobs, s->algo->knob[i].name), &s->knob[i]);
	}
	m->nportfolio += known > 0;
}

static int bad_trees(const struct model *m, struct err *e)
{
	return err_set(e, "the model %s has trees that cannot be read", m->path);
}

/* The trees of a record; NULL with e filled. */
static struct trees *read_trees(const struct model *m, const struct json_doc *d, struct err *e)
{
	const struct json *v = json_get(d, d->tok, "nodes");
	struct buf bytes = BUF_INIT;
	struct trees *t = NULL;

	if (!v)
		err_set(e, "the model %s was made by an earlier version; train it anew", m->path);
	else if (base64_decode(v->s, v->n, &bytes) < 0)
		bad_trees(m, e);
	else if (!(t = trees_read(bytes.s, bytes.n, FEATURES, e)))
		err_in(e, "%s", m->path);
	buf_free(&bytes);
	return t;
}

static int read_stage(struct model *m, const struct json_doc *d, struct err *e)
{
	struct model_stage *stage;
	int64_t number;

	if (json_int(json_get(d, d->tok, "stage"), &number) || number < 0 ||
	    number >= MODEL_STAGES || number > m->nstages || m->stage[number].n == MODEL_BAG)
		return bad_trees(m, e);
	stage = &m->stage[number];
	stage->bag[stage->n] = read_trees(m, d, e);
	if (!stage->bag[stage->n])
		return -1;
	stage->n++;
	m->nstages += number == m->nstages;
	return 0;
}

static int read_failure(struct model *m, const struct json_doc *d, struct err *e)
{
	if (m->failure)
		return bad_trees(m, e);
	m->failure = read_trees(m, d, e);
	return m->failure ? 0 : -1;
}

static int read_line(struct model *m, struct json_doc *d, const char *line, size_t n, struct err *e)
{
	const struct json *type;

	if (json_parse(d, line, n, e) < 0)
		return err_in(e, "%s", m->path);
	type = json_get(d, d->tok, "type");
	if (json_is(type, "model"))
		return read_card(m, d, e);
	if (!m->card)
		return err_set(e, "%s is no cost model as tl-train makes it", m->path);
	if (json_is(type, "schedule") && m->nportfolio < MODEL_PORTFOLIO)
		read_schedule(m, d);
	if (json_is(type, "failure"))
		return read_failure(m, d, e);
	return json_is(type, "trees") ? read_stage(m, d, e) : 0;
}

/* Trees that answer with NaN would refuse everything, or nothing. */
static int check_answers(const struct model *m, struct err *e)
{
	float x[2 * FEATURES];
	double value[2], deviation[2];

	if (!m->nstages || !m->stage[0].n)
		return err_set(e, "the model %s was trained on nothing: it has no trees", m->path);
	for (int i = 0; i < FEATURES; i++) {
		x[i] = NAN;
		x[FEATURES + i] = 0;
	}
	model_predict(m, x, 2, value, deviation);
	for (int i = 0; i < 2; i++)
		if (!isfinite(value[i]) || !isfinite(deviation[i]))
			return err_set(e, "the model %s predicts what is no number", m->path);
	return 0;
}

struct model *model_new(const struct feature_list *l)
{
	struct model *m = xcalloc(1, sizeof *m);

	m->features = l;
	m->scale = 1;
	m->bits = ~0;
	return m;
}

struct model *model_load(const char *path, const struct feature_list *wanted, struct err *e)
{
	struct model *m = model_new(wanted);
	struct buf text = BUF_INIT;
	struct json_doc d = JSON_DOC_INIT;
	size_t end = 0;
	int rc;

	m->path = arena_strdup(&m->arena, path);
	rc = file_read("the model", path, &text, e) || check_hash(m, &text, &end, e);
	for (size_t at = 0, n; rc == 0 && at < end; at += n + 1) {
		n = (size_t)((char *)memchr(text.s + at, '\n', end - at) - (text.s + at));
		rc = read_line(m, &d, text.s + at, n, e);
	}
	if (rc == 0)
		rc = check_answers(m, e);
	json_free(&d);
	buf_free(&text);
	if (rc == 0)
		return m;
	model_free(m);
	return NULL;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	for (int i = 0; i < m->nstages; i++)
		for (int k = 0; k < m->stage[i].n; k++)
			trees_free(m->stage[i].bag[k]);
	trees_free(m->failure);
	arena_free(&m->arena);
	free(m);
}

/* ---- machines ---- */

int model_is_machine(const struct model_machine *k, const struct limits *m)
{
	return !strcmp(k->isa, m->isa) && k->l1d == m->l1d && k->l2 == m->l2;
}

void model_share(struct model *m, double draft_share)
{
	m->draft_share = draft_share;
	m->shared = m->nstages;
}

static const struct model_machine *machine_of(const struct model *m, const struct limits *here)
{
	for (int i = 0; i < m->nmachines; i++)
		if (model_is_machine(&m->machine[i], here))
			return &m->machine[i];
	return NULL;
}

int model_has_seen(const struct model *m, const struct limits *here)
{
	return machine_of(m, here) != NULL;
}

int model_knows(const struct model *m, const struct dtypes *d)
{
	const int bits = dtype_bits(d->src);

	if (m->features != &features_threads || dtypes_are_f32(d))
		return 1;
	return features_know(m->features, d) && m->bits & bits &&
	       seen_within(&m->seen, FEATURE_element, log2(bits));
}

static void meet_portfolio(struct model *m, const char *isa)
{
	int n = 0;

	for (int i = 0; i < m->nportfolio; i++)
		if (!strcmp(m->portfolio[i].isa, isa))
			m->portfolio[n++] = m->portfolio[i];
	if (n)
		m->nportfolio = n;
}

void model_meet(struct model *m, const struct limits *here)
{
	const int threads = m->features == &features_threads;
	const struct model_machine *known = machine_of(m, here);
	const int abroad = m->nmachines && threads && !known;

	meet_portfolio(m, here->isa);
	model_share(m, abroad ? MODEL_ABROAD : threads ? MODEL_HOME : 0);
	if (m->nmachines)
		m->bits = known ? known->bits : 0;
	if (abroad && m->scale_abroad > 0)
		m->scale = m->scale_abroad;
}

/* ---- predicting ---- */

/* The draft's value is that of the feature: its time over the roofline's, with warm caches. */
static void add_draft(const float *x, size_t rows, double share, double *value)
{
	for (size_t k = 0; k < rows && share > 0; k++) {
		double draft = -(double)x[k * FEATURES + FEATURE_draft];

		if (!isnan(draft))
			value[k] = share * draft + (1 - share) * value[k];
	}
}

/* A multiply-add of tile registers has the lanes of several vectors. Where the trees have seen no
 * such nest, they know nothing of its speed, and the draft has the say. On the machine with such
 * registers the trees expect vectors to be faster than the draft does, by 0.9 (0.55 to 1.2, log2,
 * five workloads), and kernels of tile registers were slower beside vectors than the draft says, by
 * 0.4 (docs/EXPERIMENTS.md, "Single precision by halves"). */
static void take_drafts(const struct model *m, const float *x, size_t rows, double *value,
			double *deviation)
{
	static const double faster = 0.9 - 0.4, doubt = 0.3; /* log2 */
	const double most = m->seen.known ? m->seen.most[FEATURE_lanes] : 1;

	for (size_t k = 0; k < rows && m->features == &features_threads; k++) {
		const float *f = x + k * FEATURES;

		if (!((double)f[FEATURE_lanes] > fmax(most, 1)))
			continue;
		value[k] = faster - (double)f[FEATURE_draft];
		if (deviation)
			deviation[k] = doubt;
	}
}

/* sign -1: takes away what cold operands cost; 1: gives it back. */
static void count_cold(const float *x, size_t rows, int sign, double *value)
{
	for (size_t k = 0; k < rows; k++)
		value[k] += sign * features_cold(x + k * FEATURES);
}

/* By the first `most` of each bag. */
static void predict(const struct model *m, int most, const float *x, size_t rows, double *value,
		    double *deviation)
{
	float *out = xmalloc(sizeof *out * (rows + 1));
	double *squares = xcalloc(rows + 1, sizeof *squares);

	for (size_t k = 0; k < rows; k++)
		value[k] = 0;
	for (int i = 0; i < m->nstages; i++) {
		const struct model_stage *s = &m->stage[i];
		int n = s->n < most ? s->n : most;

		for (int b = 0; b < n; b++) {
			trees_predict(s->bag[b], x, rows, out);
			for (size_t k = 0; k < rows; k++) {
				value[k] += (double)out[k] / n;
				if (!i)
					squares[k] += (double)out[k] * (double)out[k] / n;
			}
		}
		for (size_t k = 0; k < rows && !i && deviation; k++)
			deviation[k] = m->scale * sqrt(fmax(squares[k] - value[k] * value[k], 0));
		if (i + 1 == m->shared)
			add_draft(x, rows, m->draft_share, value);
	}
	if (m->failure) {
		trees_predict(m->failure, x, rows, out);
		for (size_t k = 0; k < rows; k++)
			value[k] -= failure_penalty((double)out[k]);
	}
	take_drafts(m, x, rows, value, deviation);
	count_cold(x, rows, -1, value);
	free(squares);
	free(out);
}

void model_predict(const struct model *m, const float *x, size_t rows, double *value,
		   double *deviation)
{
	predict(m, MODEL_BAG, x, rows, value, deviation);
}

void model_predict_first(const struct model *m, const float *x, size_t rows, double *value)
{
	predict(m, 1, x, rows, value, NULL);
}

void model_doubt(const struct model *m, const float *x, size_t rows, double *value)
{
	count_cold(x, rows, 1, value);
	add_draft(x, rows, 1 - MODEL_DOUBTED / (1 - m->draft_share), value);
	count_cold(x, rows, -1, value);
}

/* Normally distributed errors of half the deviation lengthen the expected time by so much for each
 * square of the deviation. The whole deviation cost 0.006 of the speed on CPUs left out, half of it
 * cost nothing (docs/EXPERIMENTS.md, "Times whose samples disagree"). */
static const double CAUTION = M_LN2 / 8;

double model_cautious(double value, double deviation)
{
	return value - CAUTION * deviation * deviation;
}
