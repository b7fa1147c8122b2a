#include "lib/policy/policy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/number.h"
#include "lib/io/table.h"

void policy_names(struct buf *out)
{
	for (const struct policy *const *p = policy_list; *p; p++)
		buf_fmt(out, "%s%s", p == policy_list ? "" : "|", (*p)->name);
}

static const struct policy *find(const char *name, size_t n)
{
	for (const struct policy *const *p = policy_list; *p; p++)
		if (strlen((*p)->name) == n && !memcmp((*p)->name, name, n))
			return *p;
	return NULL;
}

static int count_settings(const struct policy *p)
{
	int n = 0;

	while (n < POLICY_SETTINGS && p->setting[n].name)
		n++;
	return n;
}

/* Appends "threshold=3,batch=16". */
static void put_settings(const struct policy *p, struct buf *out)
{
	for (int i = 0; i < count_settings(p); i++)
		buf_fmt(out, "%s%s=%lld", i ? "," : "", p->setting[i].name,
			(long long)p->setting[i].value);
}

/* Reads "batch=32", which has n characters. */
static int read_setting(const struct policy *p, const char *text, size_t n, int64_t *setting,
			struct err *e)
{
	const char *is = memchr(text, '=', n);
	size_t length = is ? (size_t)(is - text) : n;
	struct buf known = BUF_INIT;
	int i = 0, settings = count_settings(p);
	const char *end;
	int64_t value;

	while (i < settings &&
	       (strlen(p->setting[i].name) != length || memcmp(p->setting[i].name, text, length)))
		i++;
	if (i == settings) {
		put_settings(p, &known);
		err_status(e, EXIT_USAGE, "the policy %s has no setting \"%.*s\"%s%s", p->name,
			   (int)length, text, settings ? "; there is " : "",
			   settings ? known.s : "");
		buf_free(&known);
		return -1;
	}
	if (!is || number_whole(is + 1, &end, &value) || end != text + n ||
	    value < p->setting[i].least || value > p->setting[i].most)
		return err_status(e, EXIT_USAGE,
				  "the policy %s wants %s=N, with N from %lld to %lld, not "
				  "\"%.*s\"",
				  p->name, p->setting[i].name, (long long)p->setting[i].least,
				  (long long)p->setting[i].most, (int)n, text);
	setting[i] = value;
	return 0;
}

static const struct policy *say_unknown(const char *name, size_t n, struct err *e)
{
	struct buf names = BUF_INIT;

	policy_names(&names);
	err_status(e, EXIT_USAGE, "--policy is \"%.*s\", and wants one of %s", (int)n, name,
		   names.s);
	buf_free(&names);
	return NULL;
}

const struct policy *policy_parse(const char *text, int64_t setting[POLICY_SETTINGS], struct err *e)
{
	const struct policy *p;
	int64_t value[POLICY_SETTINGS];
	size_t n;

	if (!text)
		text = policy_preempt.name;
	n = strcspn(text, ",");
	if (!(p = find(text, n)))
		return say_unknown(text, n, e);
	for (int i = 0; i < POLICY_SETTINGS; i++)
		value[i] = p->setting[i].value;
	while (text[n] == ',') {
		text += n + 1;
		n = strcspn(text, ",");
		if (read_setting(p, text, n, value, e))
			return NULL;
	}
	if (setting)
		memcpy(setting, value, sizeof value);
	return p;
}

void policy_table(struct buf *out)
{
	static const char *const head[] = {"policy", "settings", "summary"};
	struct table t;

	table_init(&t, head, 3);
	for (const struct policy *const *p = policy_list; *p; p++) {
		struct buf settings = BUF_INIT;

		put_settings(*p, &settings);
		table_row(&t);
		table_cell(&t, 0, "%s", (*p)->name);
		table_cell(&t, 1, "%s", settings.n ? settings.s : "-");
		table_cell(&t, 2, "%s", (*p)->summary);
		buf_free(&settings);
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

void policy_say_exhausted(struct policy_op *op)
{
	policy_say(op, "no candidate is left that was not tried");
}

double policy_best(const struct policy_try *t, int64_t n)
{
	double best = NAN;

	for (int64_t i = 0; i < n; i++)
		best = fmin(best, t[i].latency_s); /* of a number and NAN, the number */
	return best;
}

int policy_races(const int64_t setting[POLICY_SETTINGS])
{
	return setting[POLICY_RACE] != 0;
}

void policy_stop_all(struct policy_op *op, int n, const char *reason)
{
	for (int i = 0; i < n; i++) {
		op[i].tune = 0;
		op[i].budget = 0;
		policy_say(&op[i], "%s", reason);
	}
}
