#include "lib/replay/whole.h"

#include <stdlib.h>

/* 0: what stands there makes no sense. */
static int identify(struct whole *in, struct rec_in *from, const struct rec *r,
		    struct whole_record *out)
{
	struct err why = ERR_INIT;
	struct json_doc *d;
	struct candidate c;
	struct workload w;

	if (r->type != REC_WORKLOAD && r->type != REC_CANDIDATE)
		return 1;
	if (rec_parse(from, r, &d))
		return 0;
	if (r->type == REC_WORKLOAD ? workload_from_json(&w, d, d->tok, &why)
				    : candidate_read(&in->reader, &c, d, 1, &why)) {
		rec_bad(from, r, &why);
		return 0;
	}
	out->workload = r->type == REC_WORKLOAD ? w.id : c.w.id;
	if (r->type == REC_CANDIDATE)
		out->candidate = c.id;
	return 1;
}

int whole_read(struct whole *in, struct rec_in *from, struct err *e)
{
	struct rec r;
	int more;

	while ((more = rec_next(from, &r, e)) > 0) {
		struct whole_record x = {0};

		if (!identify(in, from, &r, &x))
			continue;
		x.r = r;
		x.r.s = arena_strndup(&in->arena, r.s, r.n);
		if (in->n == in->cap) {
			in->cap = in->cap * 2 + 256;
			in->record = xrealloc(in->record, in->cap * sizeof *in->record);
		}
		in->record[in->n++] = x;
	}
	return more;
}

int whole_next(struct whole *in, struct rec *r)
{
	if (in->next == in->n || rec_stopped())
		return 0;
	*r = in->record[in->next++].r;
	return 1;
}

void whole_free(struct whole *in)
{
	free(in->record);
	arena_free(&in->arena);
	candidate_reader_free(&in->reader);
}
