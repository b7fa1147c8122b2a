#include "lib/extract/worklist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/field.h"

struct work *worklist_put(struct worklist *l, const struct workload *w, const char *line, size_t n)
{
	void **slot = map_put(&l->by_id, w->id.s, ID_HEX, NULL);
	struct work *k = *slot;

	if (k)
		return k;
	k = *slot = xcalloc(1, sizeof *k);
	k->w = *w;
	if (line) {
		k->line = xmalloc(n + 1);
		memcpy(k->line, line, n);
		k->line[n] = 0;
	}
	return k;
}

/* It is there twice, as a key and with the model's name, and has places in two tables. */
static int64_t source_bytes(size_t length)
{
	return 2 * ((int64_t)length + 32) + 96;
}

int64_t worklist_room(const struct worklist *l, size_t length)
{
	static const int64_t most = (int64_t)1 << 26;

	return (most - l->source_bytes) / source_bytes(length);
}

int worklist_has_room(struct worklist *l, int64_t sources, size_t length)
{
	if (sources > worklist_room(l, length))
		return 0;
	l->source_bytes += sources * source_bytes(length);
	return 1;
}

int work_add_source(struct work *k, const char *source)
{
	const char *colon = strchr(source, ':');
	const char *key = colon ? colon + 1 : source;
	void **slot = map_put(&k->source, key, strlen(key), NULL);

	if (*slot)
		return 0;
	*slot = xstrdup(source);
	return 1;
}

/* How many operators a record stands for. -1: that makes no sense. A record written by hand may
 * lack sources. */
static int count_instances(const struct json_doc *d, struct arena *a, const struct json *sources,
			   int64_t *instances, struct err *e)
{
	const struct json *count = json_get(d, d->tok, "count");
	const char *s;

	if (sources && sources->type != JSON_ARR)
		return err_set(e, "\"source\" is not an array");
	*instances = 0;
	for (const struct json *v = sources ? json_first(d, sources) : NULL; v;
	     v = json_next(d, sources, v)) {
		if (json_str(v, a, &s))
			return err_set(e, "\"source\" holds something that is not a string");
		++*instances;
	}
	if (*instances)
		return 0;
	*instances = 1;
	if (count && (json_int(count, instances) || *instances < 1 || *instances > 100000))
		return err_set(e,
			       "\"count\" is no number from 1 to 100000, and there is no source");
	return 0;
}

static void invent_sources(struct work *k, const struct json_doc *d, const char *stem, int64_t n)
{
	struct buf source = BUF_INIT;
	struct id hash;

	hash_id(&hash, d->text, d->tok->n);
	for (int64_t i = 1; i <= n; i++) {
		buf_clear(&source);
		buf_fmt(&source, "%s:%.12s:%lld", stem, hash.s, (long long)i);
		work_add_source(k, source.s);
	}
	buf_free(&source);
}

static void add_sources(struct work *k, const struct json_doc *d, struct arena *a,
			const struct json *list)
{
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v)) {
		const char *s;

		if (!json_str(v, a, &s))
			work_add_source(k, s);
	}
}

struct work *worklist_merge(struct worklist *l, struct json_doc *d, struct arena *a,
			    const char *stem, int64_t *instances, struct err *e)
{
	const struct json *sources = json_get(d, d->tok, "source");
	struct workload w;
	struct work *k;

	if (!json_is(json_get(d, d->tok, "type"), "workload")) {
		err_set(e, "only workload records can be merged");
		return NULL;
	}
	if (workload_from_json(&w, d, d->tok, e) || count_instances(d, a, sources, instances, e))
		return NULL;
	if (!worklist_has_room(l, *instances, strlen(stem))) {
		err_set(e, "the records stand for too many operators to be counted");
		return NULL;
	}
	k = worklist_put(l, &w, d->text, d->tok->n);
	if (sources && json_first(d, sources))
		add_sources(k, d, a, sources);
	else
		invent_sources(k, d, stem, *instances);
	return k;
}

void worklist_add(struct worklist *to, const struct worklist *from)
{
	for (size_t i = 0; i < from->by_id.n; i++) {
		const struct work *k = from->by_id.item[i].value;
		struct work *same = worklist_put(to, &k->w, k->line, k->line ? strlen(k->line) : 0);

		for (size_t s = 0; s < k->source.n; s++)
			work_add_source(same, k->source.item[s].value);
	}
}

static void print_sources(const struct work *k, struct buf *out)
{
	buf_ch(out, '[');
	for (size_t i = 0; i < k->source.n; i++) {
		const char *s = k->source.item[i].value;

		field_text(out, NULL, s);
	}
	buf_ch(out, ']');
}

void work_print(const struct work *k, struct json_doc *scratch, struct buf *out)
{
	struct buf count = BUF_INIT, sources = BUF_INIT, id = BUF_INIT;

	buf_fmt(&id, "\"%s\"", k->w.id.s);
	buf_int(&count, (int64_t)k->source.n);
	print_sources(k, &sources);
	if (k->line) {
		const struct json_field f[] = {
			{"workload_id", id.s}, {"count", count.s}, {"source", sources.s}};
		int r = json_parse(scratch, k->line, strlen(k->line), NULL);

		assert(!r); /* it was parsed when it came */
		(void)r;
		json_rewrite(scratch, f, 3, out);
	} else {
		field_record(out, "workload");
		workload_fields(&k->w, out);
		field_json(out, "count", count.s);
		field_json(out, "source", sources.s);
		buf_ch(out, '}');
	}
	buf_free(&count);
	buf_free(&sources);
	buf_free(&id);
}

void work_drop_sources(struct work *k)
{
	for (size_t s = 0; s < k->source.n; s++)
		free(k->source.item[s].value);
	map_free(&k->source);
}

void worklist_free(struct worklist *l)
{
	for (size_t i = 0; i < l->by_id.n; i++) {
		struct work *k = l->by_id.item[i].value;

		work_drop_sources(k);
		free(k->line);
		free(k);
	}
	map_free(&l->by_id);
}
