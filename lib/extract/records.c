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

static int merge(struct extract *x, struct json_doc *d, struct arena *a, struct buf *line,
		 const char *stem, struct err *e)
{
	const char *strange = rec_strange(line->s, line->n, d);
	int64_t instances;
	struct work *k;

	if (strange)
		return err_set(e, "%s", strange);
	if (json_parse(d, line->s, line->n, e) < 0)
		return -1;
	k = worklist_merge(&x->found, d, a, stem, &instances, e);
	if (k && x->contents)
		contents_add_work(x->contents, stem, &k->w, instances);
	return k ? 0 : -1;
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
