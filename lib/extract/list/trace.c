/* Traces of PyTorch's profiler (export_chrome_trace(), with record_shapes=True): events with a
 * name, a start and a duration. An operator is made of others (conv2d of convolution, of
 * _convolution, of mkldnn_convolution), whose events lie within its own in time, on the same
 * thread. The outermost one that tells its shapes counts, and what lies within it does not. */
#include <stdlib.h>
#include <string.h>

#include "lib/extract/read/document.h"
#include "lib/extract/list/aten.h"
#include "lib/extract/list/listing.h"

enum { EVENTS_MAX = 1000000, NAMES_MAX = 10000, DEPTH_MAX = 256 };

struct event {
	double from, to; /* microseconds */
	uint64_t thread;
	int64_t line; /* which event of the trace it is, from 1 */
	const char *name;
	enum aten_kind kind;
	const char *why;
	int64_t macs;
	const struct work *work[2];
	int counts; /* it is the outermost one that tells */
};

struct trace {
	struct listing l;
	struct event *event;
	size_t n, cap;
	int64_t beyond;	       /* events that there was no room for */
	struct worklist works; /* what the events refer to */
	struct map names;      /* likewise: their own texts */
};

static int claims(const char *name, const unsigned char *head, size_t n)
{
	static const char *const marks[] = {"\"schemaVersion\"", "\"traceEvents\"",
					    "\"displayTimeUnit\"", "\"trace_id\""};

	(void)name;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (document_begins(head, n, marks[i]))
			return 1;
	return n > 10 && (!memcmp(head, "[{\"name\": ", 10) || !memcmp(head, "[{\"ph\": \"", 9));
}

/* ---- events ---- */

enum { LONGEST = 1 << 20 }; /* bytes of an object */

/* The objects of a JSON document that stand in a list, "[{..},{..}]" or "{"events":[{..},{..}]}",
 * one after the other, however long the document is. A zeroed struct is at the start. */
struct elements {
	struct buf object;   /* the last object's text */
	int64_t too_long;    /* objects that were passed over */
	int64_t depth, from; /* from: the depth at which the object began, 0: there is none */
	char outer[2];	     /* what the two outermost levels are: '{' or '[' */
	int in_string, escaped, drop;
};

static int begins_here(const struct elements *s)
{
	return (s->depth == 1 && s->outer[0] == '[') || (s->depth == 2 && s->outer[1] == '[');
}

static void open_level(struct elements *s, char c)
{
	if (!s->from && c == '{' && begins_here(s)) {
		s->from = s->depth + 1;
		s->drop = 0;
		buf_clear(&s->object);
	}
	if (s->depth < 2)
		s->outer[s->depth] = c;
	s->depth++;
}

/* 1: the object is whole. */
static int take_byte(struct elements *s, char c)
{
	int ends = 0;

	if (s->in_string) {
		s->in_string = s->escaped || c != '"';
		s->escaped = !s->escaped && c == '\\';
	} else if (c == '"') {
		s->in_string = 1;
	} else if (c == '{' || c == '[') {
		open_level(s, c);
	} else if ((c == '}' || c == ']') && s->depth) {
		ends = s->from == s->depth;
		s->depth--;
	}
	if (s->from && !s->drop) {
		buf_ch(&s->object, c);
		s->drop = s->object.n > LONGEST;
	}
	if (ends) {
		s->from = 0;
		s->too_long += s->drop;
	}
	return ends && !s->drop;
}

/* 1: the next object; 0: the end; -1: cannot be read, or is cut off. */
static int next_object(struct elements *s, struct listing *l, struct err *e)
{
	struct pull *in = &l->m->bytes;
	int r;

	while ((r = pull_fill(in, e)) > 0) {
		const unsigned char *from = in->at;
		int whole = 0;

		while (in->at < in->end && !whole)
			whole = take_byte(s, (char)*in->at++);
		collect_bytes(&l->found, (const char *)from, (size_t)(in->at - from));
		if (whole)
			return 1;
	}
	if (!r && (s->depth || s->in_string))
		return err_set(e, "it is cut off");
	return r;
}

static struct event *new_event(struct trace *t)
{
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 1024;
		t->event = xrealloc(t->event, t->cap * sizeof *t->event);
	}
	return &t->event[t->n++];
}

/* The name, in memory that stays. */
static const char *keep_name(struct trace *t, const char *name)
{
	void **slot;

	if (t->names.n == NAMES_MAX)
		name = "other operators";
	slot = map_put(&t->names, name, strlen(name), NULL);
	if (!*slot)
		*slot = xstrdup(name);
	return *slot;
}

/* Process and thread, numbers or texts, as one number. */
static uint64_t thread_of(const struct json_doc *d)
{
	const struct json *p = json_get(d, d->tok, "pid"), *t = json_get(d, d->tok, "tid");

	return (p ? hash64(p->s, p->n) : 0) * 31 + (t ? hash64(t->s, t->n) : 0);
}

/* Operators on the host have this category; traces without categories have names in a space. */
static int is_operator(const struct json_doc *d, const char *name)
{
	const struct json *category = json_get(d, d->tok, "cat");

	return json_is(json_get(d, d->tok, "ph"), "X") && strstr(name, "::") &&
	       (!category || json_is(category, "cpu_op") || json_is(category, "Operator"));
}

static void add_event(struct trace *t, const struct json_doc *d, struct arena *a)
{
	double from, length;
	struct aten is;
	struct event *v;
	const char *name;

	if (json_str(json_get(d, d->tok, "name"), a, &name) || !is_operator(d, name) ||
	    json_num(json_get(d, d->tok, "ts"), &from) ||
	    json_num(json_get(d, d->tok, "dur"), &length) || !(length >= 0))
		return;
	if (t->n == EVENTS_MAX) {
		t->beyond++;
		return;
	}
	aten_read(d, name, json_get(d, d->tok, "args"), &is);
	v = new_event(t);
	*v = (struct event){from,    from + length, thread_of(d), t->l.line, keep_name(t, name),
			    is.kind, is.why,	    is.macs,	  {NULL}};
	for (int i = 0; i < is.n && is.kind == ATEN_WORK; i++)
		v->work[i] = worklist_put(&t->works, &is.w[i], NULL, 0);
}

/* Outer events before those that they are made of. */
static int by_place(const void *p, const void *q)
{
	const struct event *a = p, *b = q;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to > b->to ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static int by_line(const void *p, const void *q)
{
	const struct event *a = p, *b = q;

	return a->line < b->line ? -1 : a->line > b->line;
}

/* The events around the one at hand. */
struct around {
	struct level {
		struct event *event;
		int holds; /* an operator that counts lies in it, or it counts itself */
	} level[DEPTH_MAX];
	int n;
};

static void mark(struct around *a)
{
	for (int i = 0; i < a->n; i++)
		a->level[i].holds = 1;
}

static int is_told(const struct event *v)
{
	return v->kind == ATEN_WORK || v->kind == ATEN_LEFT;
}

/* An event is over. */
static void close_one(struct around *a)
{
	struct level top = a->level[--a->n];
	int within_untold = 0;

	for (int i = 0; i < a->n; i++)
		within_untold |= a->level[i].event->kind == ATEN_UNTOLD;
	if (is_told(top.event)) {
		top.event->counts = 1;
	} else if (!top.holds && top.event->kind == ATEN_UNTOLD && !within_untold) {
		top.event->counts = 1;
		mark(a);
	} else if (!top.holds && top.event->kind == ATEN_OTHER) {
		top.event->counts = !a->n;
	}
}

/* Finds the events that count. */
static void find_outermost(struct trace *t)
{
	struct around around = {.n = 0};
	uint64_t thread = 0;

	qsort(t->event, t->n, sizeof *t->event, by_place);
	for (size_t i = 0; i < t->n; i++) {
		struct event *v = &t->event[i];
		int counted = 0;

		while (around.n &&
		       (v->thread != thread || around.level[around.n - 1].event->to <= v->from))
			close_one(&around);
		thread = v->thread;
		for (int k = 0; k < around.n; k++)
			counted |= is_told(around.level[k].event);
		if (counted || around.n == DEPTH_MAX)
			continue;
		if (is_told(v))
			mark(&around);
		around.level[around.n++] = (struct level){v, is_told(v)};
	}
	while (around.n)
		close_one(&around);
}

static void take_all(struct trace *t)
{
	if (t->n) {
		find_outermost(t);
		qsort(t->event, t->n, sizeof *t->event, by_line);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct event *v = &t->event[i];

		if (!v->counts)
			continue;
		t->l.line = v->line;
		for (int k = 0; k < 2 && v->work[k]; k++)
			listing_take(&t->l, &v->work[k]->w, k ? "2" : "", (size_t)k, 1);
		if (v->kind != ATEN_WORK)
			listing_leave(&t->l, v->name, v->why ? v->why : "", 1, v->macs);
		listing_time(&t->l, (v->to - v->from) * 1e-6);
	}
	if (t->beyond)
		listing_leave(&t->l, "further operators", "", t->beyond, -1);
}

static void trace_free(struct trace *t)
{
	for (size_t i = 0; i < t->names.n; i++)
		free(t->names.item[i].value);
	map_free(&t->names);
	worklist_free(&t->works);
	free(t->event);
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct elements s = {.depth = 0};
	struct json_doc d = JSON_DOC_INIT;
	struct arena a = ARENA_INIT;
	struct trace t = {.n = 0};
	int more;

	d.foreign = 1;
	listing_begin(&t.l, x, m);
	while ((more = next_object(&s, &t.l, e)) > 0) {
		struct err bad = ERR_INIT;

		t.l.line++;
		if (json_parse(&d, s.object.s, s.object.n, &bad))
			listing_leave(&t.l, "events that are no JSON", "", 1, 0);
		else
			add_event(&t, &d, &a);
		arena_reset(&a);
	}
	take_all(&t);
	if (s.too_long)
		listing_leave(&t.l, "events of more than a megabyte", "", s.too_long, 0);
	listing_end(&t.l);
	trace_free(&t);
	buf_free(&s.object);
	json_free(&d);
	arena_free(&a);
	return more;
}

const struct format format_trace = {
	"trace", "a trace of a profiler", {".trace.json"}, claims, read};
