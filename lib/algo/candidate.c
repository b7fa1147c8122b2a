#include "lib/algo/candidate.h"

#include <assert.h>
#include <string.h>

#include "lib/base/nearest.h"
#include "lib/io/field.h"
#include "lib/nest/check.h"

/* A tensor that multiplies the result has no gaps, and both are read by one index. */
int candidate_pitches(const struct candidate *c)
{
	return c->algo->pitches && c->w.layout != LAYOUT_NCHW &&
	       !workload_has_post(&c->w, POST_MUL);
}

int candidate_build(const struct candidate *c, struct nest *n, struct err *e)
{
	const char *why;

	if (!algo_valid(c->algo, &c->w, c->knob, &why))
		return err_set(e, "%s: %s", c->algo->name, why);
	if (n->pitch && !candidate_pitches(c))
		return err_set(e, "%s: rows of the result cannot lie apart", c->algo->name);
	if (c->algo->build(&c->w, c->knob, n, e) < 0)
		return -1;
	return check_nest(n, e);
}

/* The knobs of an algorithm in the byte order of their names. */
static void sort_knobs(const struct algo *a, int *order)
{
	for (int i = 0; i < a->nknobs; i++) {
		int j = i;

		for (; j && strcmp(a->knob[order[j - 1]].name, a->knob[i].name) > 0; j--)
			order[j] = order[j - 1];
		order[j] = i;
	}
}

static char *put(char *p, const char *s)
{
	size_t n = strlen(s);

	memcpy(p, s, n);
	return p + n;
}

static char *put_int(char *p, int64_t v)
{
	char t[24], *q = t + sizeof t;
	uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		*--q = (char)('0' + u % 10);
	while (u /= 10);
	if (v < 0)
		*--q = '-';
	memcpy(p, q, (size_t)(t + sizeof t - q));
	return p + (t + sizeof t - q);
}

/* Writes the canonical text of lib/space/key.h without its detour over pairs, because ids are made
 * and checked by the hundred thousand: the keys stand here in their order, algo < knob.* < rev <
 * target < tl < type < workload. tests/candidate.c holds it to key_text(). */
void candidate_identify(struct candidate *c)
{
	const struct algo *a = c->algo;
	char text[KNOB_MAX * 56 + 256], *p = text;
	int order[KNOB_MAX];

	assert(a->nknobs <= KNOB_MAX && strlen(a->name) < 64 && strlen(c->target->name) < 32);
	sort_knobs(a, order);
	p = put(put(p, "algo="), a->name);
	*p++ = ';';
	for (int i = 0; i < a->nknobs; i++) {
		const struct knob *k = &a->knob[order[i]];

		if (c->knob[order[i]] == k->frozen)
			continue;
		assert(strlen(k->name) < 24);
		p = put(put(p, "knob."), k->name);
		*p++ = '=';
		p = put_int(p, c->knob[order[i]]);
		*p++ = ';';
	}
	p = put_int(put(p, "rev="), a->rev);
	p = put(put(p, ";target="), c->target->name);
	p = put(put(p, ";tl=1;type=candidate;workload="), c->w.id.s);
	*p++ = ';';
	hash_id(&c->id, text, (size_t)(p - text));
}

static int is_knob(const struct algo *a, const struct json *key)
{
	for (int i = 0; i < a->nknobs; i++)
		if (json_is(key, a->knob[i].name))
			return 1;
	return 0;
}

/* The sentence for the first key that is no knob: there is one. */
static int no_knob(const struct algo *a, const struct json_doc *d, const struct json *obj,
		   struct err *e)
{
	const struct json *key = json_first(d, obj);
	struct nearest near;

	while (is_knob(a, key))
		key = json_next(d, obj, key);
	nearest_begin(&near, key->s, key->n);
	for (int i = 0; i < a->nknobs; i++)
		nearest_try(&near, a->knob[i].name);
	return err_set(e, "algorithm %s has no knob \"%.*s\"%s", a->name, (int)key->n, key->s,
		       nearest_hint(&near));
}

int candidate_knobs_from_json(struct candidate *c, const struct json_doc *d, const struct json *obj,
			      struct err *e)
{
	const struct algo *a = c->algo;
	int known = 0;

	if (!obj || obj->type != JSON_OBJ)
		return err_set(e, "\"knobs\" is missing or not an object");
	for (int i = 0; i < a->nknobs; i++) {
		const struct json *v = json_get(d, obj, a->knob[i].name);

		c->knob[i] = a->knob[i].frozen;
		if (!v)
			continue;
		known++;
		if (json_int(v, &c->knob[i]) < 0)
			return err_set(e, "knob \"%s\" is not an integer", a->knob[i].name);
	}
	if (known != obj->size)
		return no_knob(a, d, obj, e);
	return 0;
}

static int target_from_json(struct candidate *c, const struct json *v, struct err *e)
{
	if (!v || v->type != JSON_STR)
		return err_set(e, "\"target\" is missing or not a string");
	c->target = target_find(v->s, v->n);
	if (!c->target)
		return err_set(e, "unknown target \"%.*s\"", (int)v->n, v->s);
	if (!algo_suits(c->algo, c->target))
		return err_set(e, "target %s cannot do what algorithm %s needs", c->target->name,
			       c->algo->name);
	return 0;
}

/* Without reading the record's workload, which is w. */
static int from_json_with(struct candidate *c, const struct json_doc *d, int check,
			  const struct workload *w, struct err *e)
{
	const struct json *rec = d->tok, *v = json_get(d, rec, "algo");

	if (&c->w != w)
		c->w = *w;
	if (!v || v->type != JSON_STR)
		return err_set(e, "\"algo\" is missing or not a string");
	c->algo = algo_find(v->s, v->n);
	if (!c->algo)
		return err_set(e, "unknown algorithm \"%.*s\"%s", (int)v->n, v->s,
			       algo_hint(v->s, v->n));
	if (target_from_json(c, json_get(d, rec, "target"), e) < 0)
		return -1;
	if (candidate_knobs_from_json(c, d, json_get(d, rec, "knobs"), e) < 0)
		return -1;
	candidate_identify(c);
	if (check && !json_is(json_get(d, rec, "candidate_id"), c->id.s))
		return err_set(e, "\"candidate_id\" is not %s, as the fields make it", c->id.s);
	return 0;
}

int candidate_from_json(struct candidate *c, const struct json_doc *d, int check, struct err *e)
{
	if (workload_from_json(&c->w, d, json_get(d, d->tok, "workload"), e) < 0)
		return err_in(e, "workload");
	return from_json_with(c, d, check, &c->w, e);
}

int candidate_read(struct candidate_reader *r, struct candidate *c, const struct json_doc *d,
		   int check, struct err *e)
{
	const struct json *v = json_get(d, d->tok, "workload");

	/* An empty string has no bytes to compare, and the reader has none at first. */
	if (!v || v->type != JSON_OBJ || v->n != r->text.n || memcmp(v->s, r->text.s, v->n) != 0) {
		buf_clear(&r->text);
		if (workload_from_json(&r->w, d, v, e) < 0)
			return err_in(e, "workload");
		buf_add(&r->text, v->s, v->n);
	}
	return from_json_with(c, d, check, &r->w, e);
}

void candidate_reader_free(struct candidate_reader *r)
{
	buf_free(&r->text);
}

void candidate_print_with(const struct candidate *c, const char *workload_json, size_t n,
			  struct buf *out)
{
	field_record(out, "candidate");
	field_text(out, "candidate_id", c->id.s);
	field_object(out, "workload");
	buf_add(out, workload_json, n);
	buf_ch(out, '}');
	field_text(out, "target", c->target->name);
	algo_put(c->algo, c->knob, out);
	buf_ch(out, '}');
}

void candidate_print(const struct candidate *c, struct buf *out)
{
	struct buf w = BUF_INIT;

	workload_fields(&c->w, &w);
	candidate_print_with(c, w.s, w.n, out);
	buf_free(&w);
}
