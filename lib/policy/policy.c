#include "lib/policy/policy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/io/table.h"

void policy_names(struct buf *out)
{
	for (const struct policy *const *p = policy_list; *p; p++)
		buf_fmt(out, "%s%s", p == policy_list ? "" : "|", (*p)->name);
}

const struct policy *policy_find(const char *name)
{
	for (const struct policy *const *p = policy_list; *p; p++)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

void policy_table(struct buf *out)
{
	static const char *const head[] = {"policy", "summary"};
	struct table t;

	table_init(&t, head, 2);
	for (const struct policy *const *p = policy_list; *p; p++) {
		table_row(&t);
		table_cell(&t, 0, "%s", (*p)->name);
		table_cell(&t, 1, "%s", (*p)->summary);
	}
	table_text(&t, out);
	table_free(&t);
}

void policy_say(struct policy_op *op, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(op->reason, sizeof op->reason, fmt, ap);
	va_end(ap);
}

double policy_best(const struct policy_try *t, int64_t n)
{
	double best = NAN;

	for (int64_t i = 0; i < n; i++)
		best = fmin(best, t[i].latency_s); /* of a number and NAN, the number */
	return best;
}

void policy_stop_all(struct policy_op *op, int n, const char *reason)
{
	for (int i = 0; i < n; i++) {
		op[i].tune = 0;
		op[i].budget = 0;
		policy_say(&op[i], "%s", reason);
	}
}
