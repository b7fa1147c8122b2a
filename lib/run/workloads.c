#include "lib/run/workloads.h"

#include <string.h>

#include "lib/io/field.h"
#include "lib/io/record.h"

/* How many steps compute the workload of step i; 0: an earlier one is of it, or it has none. */
static int count_steps(const struct plan *p, int i)
{
	const struct workload *w = p->step[i].workload;
	int n = 0;

	for (int k = 0; w && k < p->nstep; k++) {
		const struct workload *other = p->step[k].workload;

		if (!other || strcmp(other->id.s, w->id.s) != 0)
			continue;
		if (k < i)
			return 0;
		n++;
	}
	return n;
}

int workloads_write(const struct plan *p, const char *path, struct err *e)
{
	struct rec_out *out = rec_create(path, e);
	struct buf line = BUF_INIT;
	int rc = out ? 0 : -1;

	for (int i = 0; !rc && i < p->nstep; i++) {
		const int n = count_steps(p, i);

		if (!n)
			continue;
		buf_clear(&line);
		field_record(&line, "workload");
		workload_fields(p->step[i].workload, &line);
		field_integer(&line, "count", n);
		buf_ch(&line, '}');
		rc = rec_put(out, line.s, line.n, e);
	}
	if (!rc)
		rc = rec_commit(out, e);
	rec_discard(out);
	buf_free(&line);
	return rc;
}
