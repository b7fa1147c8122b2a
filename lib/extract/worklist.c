#include "lib/extract/worklist.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

static void print_sources(const struct work *k, struct buf *out)
{
	buf_ch(out, '[');
	for (size_t i = 0; i < k->source.n; i++) {
		const char *s = k->source.item[i].value;

		if (i)
			buf_ch(out, ',');
		buf_json(out, s, strlen(s));
	}
	buf_ch(out, ']');
}

void work_print(const struct work *k, struct json_doc *scratch, struct buf *out)
{
	struct buf count = BUF_INIT, sources = BUF_INIT;

	buf_int(&count, (int64_t)k->source.n);
	print_sources(k, &sources);
	if (k->line) {
		const struct json_field f[] = {{"count", count.s}, {"source", sources.s}};
		int r = json_parse(scratch, k->line, strlen(k->line), NULL);

		assert(!r); /* it was parsed when it came */
		(void)r;
		json_rewrite(scratch, f, 2, out);
	} else {
		buf_str(out, "{\"tl\":1,\"type\":\"workload\",");
		workload_fields(&k->w, out);
		buf_str(out, ",\"count\":");
		buf_add(out, count.s, count.n);
		buf_str(out, ",\"source\":");
		buf_add(out, sources.s, sources.n);
		buf_ch(out, '}');
	}
	buf_free(&count);
	buf_free(&sources);
}

void worklist_free(struct worklist *l)
{
	for (size_t i = 0; i < l->by_id.n; i++) {
		struct work *k = l->by_id.item[i].value;

		for (size_t s = 0; s < k->source.n; s++)
			free(k->source.item[s].value);
		map_free(&k->source);
		free(k->line);
		free(k);
	}
	map_free(&l->by_id);
}
