#include "lib/store/savings.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/sort.h"
#include "lib/store/db.h"

static void take_race(struct saver *x, const struct store_result *r, double trial_s,
		      const struct json_doc *d)
{
	const struct json *duel = json_get(d, d->tok, "duel");

	if (!status_is_timed(r->status))
		return;
	x->sum.races++;
	if (r->status == STATUS_PREEMPTED) {
		x->sum.stopped++;
		x->place.stopped++;
		x->place.stopped_s += trial_s;
	} else if (!json_is(json_get(d, duel, "end"), "won")) {
		x->place.whole++;
		x->place.whole_s += trial_s;
	}
}

static void take_build(struct saver *x, double core_s)
{
	if (core_s <= 0)
		return;
	if (x->nbuild_s == x->cap) {
		x->cap = x->cap * 2 + 64;
		x->build_s = xrealloc(x->build_s, x->cap * sizeof *x->build_s);
	}
	x->build_s[x->nbuild_s++] = core_s;
}

void saver_take(struct saver *x, const struct store_result *r, double own_s,
		const struct json_doc *d)
{
	const struct json *code = json_get(d, d->tok, "code_hash");
	double build_s = 0;

	if (r->final)
		return;
	json_num(json_get(d, json_get(d, d->tok, "cost"), "build_core_s"), &build_s);
	take_race(x, r, own_s - build_s, d);
	take_build(x, build_s);
	if (code && code->type == JSON_STR && r->status != STATUS_BUILD)
		map_put(&x->kernels, code->s, code->n, NULL);
}

void saver_end_place(struct saver *x)
{
	if (x->place.whole) {
		const double each_s = x->place.whole_s / (double)x->place.whole;

		x->sum.estimated += x->place.stopped;
		x->sum.stopped_s += (double)x->place.stopped * each_s - x->place.stopped_s;
	}
	memset(&x->place, 0, sizeof x->place);
}

/* The counts of the groups' ends. */
static int take_ends(struct saver *x, struct store *s, const char *runs, struct err *e)
{
	struct stmt *q = db_sql(
		s,
		"SELECT sum(drawn * 1.0) FILTER (WHERE kept IS NOT NULL), sum(kept * 1.0),"
		" sum(built * 1.0) FROM ends"
		" WHERE run IN (SELECT num FROM runs WHERE id IN (SELECT value FROM json_each(?)))",
		e);
	int rc;

	if (!q)
		return -1;
	db_bind_text(q, 1, runs);
	if ((rc = db_step(q, e)) < 0)
		return -1;
	x->sum.proposed = db_sum(q, 0);
	x->sum.passed_on = db_sum(q, 1);
	x->sum.built = db_sum(q, 2);
	db_reset(q);
	return 0;
}

int saver_finish(struct saver *x, struct store *s, const char *runs, struct err *e)
{
	struct savings *sum = &x->sum;

	if (take_ends(x, s, runs, e) < 0)
		return -1;
	sum->stopped_s = fmax(sum->stopped_s, 0);
	sum->kernels = (int64_t)x->kernels.n;
	if (sum->built > sum->kernels) /* of a run that was killed there may be ends, and no more */
		sum->kernels = sum->built;
	if (!x->nbuild_s)
		return 0;
	sort_numbers(x->build_s, x->nbuild_s);
	sum->cached_s = (double)(sum->kernels - sum->built) * x->build_s[x->nbuild_s / 2];
	return 0;
}

void saver_free(struct saver *x)
{
	map_free(&x->kernels);
	free(x->build_s);
}
