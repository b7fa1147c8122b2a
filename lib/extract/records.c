/* Workload records: merged with what else is found, by the union of their sources. */
#include <string.h>

#include "lib/extract/extract.h"
#include "lib/io/record.h"

static const char start[] = "{\"tl\":";

static int claims(const char *name, const unsigned char *head, size_t n)
{
	(void)name;
	return n >= sizeof start - 1 && !memcmp(head, start, sizeof start - 1);
}

/* A record written by hand may lack sources; its line stands for as many as it counts. */
static int invent_sources(struct work *k, const struct json_doc *d, struct buf *line,
			  const char *stem, int64_t *instances, struct err *e)
{
	const struct json *v = json_get(d, d->tok, "count");
	struct buf source = BUF_INIT;
	int64_t count = 1;
	struct id hash;

	if (v && (json_int(v, &count) || count < 1 || count > 100000))
		return err_set(e,
			       "\"count\" is no number from 1 to 100000, and there is no source");
	*instances = count;
	hash_id(&hash, line->s, line->n);
	for (int64_t i = 1; i <= count; i++) {
		buf_clear(&source);
		buf_fmt(&source, "%s:%.12s:%lld", stem, hash.s, (long long)i);
		work_add_source(k, source.s);
	}
	buf_free(&source);
	return 0;
}

static int add_sources(struct work *k, const struct json_doc *d, struct arena *a,
		       const struct json *list, int64_t *instances, struct err *e)
{
	*instances = 0;
	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v)) {
		const char *s;

		if (json_str(v, a, &s))
			return err_set(e, "\"source\" holds something that is not a string");
		work_add_source(k, s);
		++*instances;
	}
	return 0;
}

static int merge(struct extract *x, struct json_doc *d, struct arena *a, struct buf *line,
		 const char *stem, struct err *e)
{
	const struct json *sources;
	const char *strange;
	struct workload w;
	int64_t instances = 0;
	struct work *k;

	if ((strange = rec_strange(line->s, line->n, d)))
		return err_set(e, "%s", strange);
	if (json_parse(d, line->s, line->n, e))
		return -1;
	if (!json_is(json_get(d, d->tok, "type"), "workload"))
		return err_set(e, "only workload records can be merged");
	if (workload_from_json(&w, d, d->tok, e))
		return -1;
	sources = json_get(d, d->tok, "source");
	if (sources && sources->type != JSON_ARR)
		return err_set(e, "\"source\" is not an array");
	k = worklist_put(&x->found, &w, line->s, line->n);
	if (sources && json_first(d, sources) ? add_sources(k, d, a, sources, &instances, e)
					      : invent_sources(k, d, line, stem, &instances, e))
		return -1;
	if (x->contents)
		contents_add_work(x->contents, stem, &w, instances);
	return 0;
}

static int read(struct extract *x, struct member *m, struct err *e)
{
	struct buf line = BUF_INIT, stem = BUF_INIT;
	struct json_doc d = JSON_DOC_INIT;
	struct arena a = ARENA_INIT;
	int64_t number = 0;
	int r;

	extract_stem(m, &stem);
	while ((r = pull_line(&m->bytes, &line, e)) > 0) {
		struct err bad = ERR_INIT;

		number++;
		if (line.n && merge(x, &d, &a, &line, stem.s, &bad))
			extract_bad_line(x, m, number, &bad);
		arena_reset(&a);
	}
	json_free(&d);
	arena_free(&a);
	buf_free(&line);
	buf_free(&stem);
	return r;
}

const struct format format_records = {
	"records", "a list of workload records", {".wl"}, claims, read};
