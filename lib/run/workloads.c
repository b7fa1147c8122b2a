#include "lib/run/workloads.h"

#include <string.h>

#include "lib/extract/extract.h"
#include "lib/io/field.h"
#include "lib/io/record.h"

static int is_of(const struct step *s, const struct workload *w)
{
	return s->workload && !strcmp(s->workload->id.s, w->id.s);
}

static int is_first(const struct plan *p, int i)
{
	for (int k = 0; k < i; k++)
		if (is_of(&p->step[k], p->step[i].workload))
			return 0;
	return 1;
}

/* Steps from `first` on, up to this one, that compute the same workload for the same node. */
static int count_so_far(const struct plan *p, int first, int i)
{
	int n = 0;

	for (int k = first; k <= i; k++)
		n += is_of(&p->step[k], p->step[i].workload) &&
		     !strcmp(p->step[k].name, p->step[i].name);
	return n;
}

/* As tl-extract names a node that computes a workload several times. */
static void put_source(const struct plan *p, const char *network, int first, int i, struct buf *out)
{
	const int n = count_so_far(p, first, i);
	struct buf source = BUF_INIT;

	buf_fmt(&source, "%s:", network);
	extract_utf8(&source, p->step[i].name);
	if (n > 1)
		buf_fmt(&source, "@%d", n);
	buf_str(out, i > first ? "," : "");
	buf_json(out, source.s, source.n);
	buf_free(&source);
}

/* The record of the workload of step `first`. */
static void put_workload(const struct plan *p, const char *network, int first, struct buf *line)
{
	const struct workload *w = p->step[first].workload;
	struct buf sources = BUF_INIT;
	int n = 0;

	for (int i = first; i < p->nstep; i++) {
		if (!is_of(&p->step[i], w))
			continue;
		put_source(p, network, first, i, &sources);
		n++;
	}
	field_record(line, "workload");
	workload_fields(w, line);
	field_integer(line, "count", n);
	field_fmt(line, "source", "[%s]", sources.s);
	buf_ch(line, '}');
	buf_free(&sources);
}

int workloads_write(const struct plan *p, const char *source, const char *path, struct err *e)
{
	struct rec_out *out = rec_create(path, e);
	struct buf line = BUF_INIT;
	int rc = out ? 0 : -1;

	for (int i = 0; !rc && i < p->nstep; i++) {
		if (!p->step[i].workload || !is_first(p, i))
			continue;
		buf_clear(&line);
		put_workload(p, source, i, &line);
		rc = rec_put(out, line.s, line.n, e);
	}
	if (!rc)
		rc = rec_commit(out, e);
	rec_discard(out);
	buf_free(&line);
	return rc;
}
