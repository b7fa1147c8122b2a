#include "lib/extract/list/listing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds on what a member makes us keep: kinds of what is left out, and what was seen once. */
enum { KINDS_MAX = 1000, SEEN_MAX = 100000 };
enum { TYPE_MAX = 40, NAME_MAX_BYTES = 98, LABEL_MAX = 160 };

void listing_begin(struct listing *l, struct extract *x, struct member *m)
{
	*l = (struct listing){.x = x, .m = m};
	l->found.list.source_bytes = x->found.source_bytes; /* of all lists of an input */
	extract_stem(m, &l->stem);
}

/* Returns what was taken and left; NULL: nothing was. */
static const struct content_model *kinds(const struct listing *l)
{
	return l->kinds.model.n ? l->kinds.model.item[0].value : NULL;
}

/* macs: of one of them, or -1. */
static void count_kind(struct listing *l, enum fate fate, const char *type, const char *why,
		       int64_t n, int64_t macs)
{
	char cut[TYPE_MAX + 1];
	int64_t all = -1;

	if (macs >= 0 && __builtin_mul_overflow(n, macs, &all))
		all = INT64_MAX;
	if (kinds(l) && kinds(l)->row.n >= KINDS_MAX && fate == FATE_NONE)
		type = "other kinds", why = "";
	snprintf(cut, sizeof cut, "%s", type);
	l->last = contents_add(&l->kinds, l->stem.s, cut, fate, why, n, all);
}

/* ":LINE", ":LINE:NAME", and "*I" behind them for one of several; 1: it is new. It begins with a
 * colon because the part of a source that names the model is empty here. */
static int add_label(const struct listing *l, struct work *k, const char *name, size_t n, int64_t i)
{
	char label[LABEL_MAX], instance[24] = "";

	if (i)
		snprintf(instance, sizeof instance, "*%lld", (long long)i);
	snprintf(label, sizeof label, ":%lld%s%.*s%s", (long long)l->line, n ? ":" : "",
		 n < NAME_MAX_BYTES ? (int)n : NAME_MAX_BYTES, name, instance);
	return work_add_source(k, label);
}

/* A line may have the same operator twice, by two problems or two values of an option. */
static void add_source(struct listing *l, struct work *k, const char *name, size_t n, int64_t i)
{
	l->of_line = l->line == l->last_line ? l->of_line + 1 : 1;
	l->last_line = l->line;
	if (!add_label(l, k, name, n, i))
		add_label(l, k, name, n, l->of_line);
	l->taken++;
}

void listing_take(struct listing *l, const struct workload *w, const char *name, size_t n,
		  int64_t count)
{
	const size_t length = n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES;
	const int64_t room = worklist_room(&l->found.list, length);
	const int64_t taken = count < room ? count : room;
	struct work *k;

	if (count > taken)
		listing_leave(l, w->op->name, "beyond what a list may hold", count - taken,
			      w->flops / 2);
	if (taken < 1 || !worklist_has_room(&l->found.list, taken, length))
		return;
	k = worklist_put(&l->found.list, w, NULL, 0);
	for (int64_t i = 1; i <= taken; i++)
		add_source(l, k, name, n, count > 1 ? i : 0);
	count_kind(l, FATE_WORKLOAD, w->op->name, "", taken, w->flops / 2);
}

void listing_take_once(struct listing *l, const struct workload *w, const char *name)
{
	struct work *k = worklist_put(&l->found.list, w, NULL, 0);

	l->last = NULL;
	if (!k->source.n) {
		add_source(l, k, name, strlen(name), 0);
		count_kind(l, FATE_WORKLOAD, w->op->name, "", 1, w->flops / 2);
	}
}

void listing_leave(struct listing *l, const char *type, const char *why, int64_t n, int64_t macs)
{
	count_kind(l, FATE_NONE, type, why, n, macs);
}

void listing_leave_once(struct listing *l, const char *type, const char *why, const char *bytes,
			size_t n, int64_t macs)
{
	struct id id;
	int is_new = 1;

	hash_id(&id, bytes, n);
	l->last = NULL;
	if (l->seen.n < SEEN_MAX)
		map_put(&l->seen, id.s, ID_HEX, &is_new);
	if (is_new)
		listing_leave(l, type, why, 1, macs);
}

void listing_time(struct listing *l, double seconds)
{
	if (l->last && isfinite(seconds) && seconds > 0)
		l->last->time_s += seconds;
}

void listing_bad(struct listing *l, const struct err *e)
{
	extract_bad_line(l->x, l->m, l->line, e);
}

static void put_left(const struct listing *l, struct buf *out)
{
	const char *between = "; not extracted: ";

	for (size_t i = 0; kinds(l) && i < kinds(l)->row.n; i++) {
		const struct content_row *k = kinds(l)->row.item[i].value;

		if (k->fate == FATE_WORKLOAD)
			continue;
		buf_fmt(out, "%s%s", between, k->type);
		if (*k->why)
			buf_fmt(out, " (%s)", k->why);
		buf_fmt(out, " %lld", (long long)k->n);
		between = ", ";
	}
}

/* What share of the time that is told went into the workloads. */
static void put_time(const struct listing *l, struct buf *out)
{
	const double all = kinds(l) ? contents_time(kinds(l), 0) : 0;

	if (all > 0)
		buf_fmt(out, ", %.1f%% of the %.3g s that it tells of",
			100 * contents_time(kinds(l), 1) / all, all);
}

static void tell(struct listing *l)
{
	struct buf sum = BUF_INIT;

	buf_count(&sum, l->taken, "instance");
	buf_str(&sum, " extracted");
	put_time(l, &sum);
	put_left(l, &sum);
	extract_report(l->x, "%s: %s", l->stem.s, sum.s);
	buf_free(&sum);
}

void listing_end(struct listing *l)
{
	tell(l);
	for (size_t i = 0; l->x->contents && kinds(l) && i < kinds(l)->row.n; i++) {
		const struct content_row *k = kinds(l)->row.item[i].value;

		contents_add(l->x->contents, l->stem.s, k->type, k->fate, k->why, k->n, k->macs)
			->time_s += k->time_s;
	}
	collect_finish(l->x, &l->found, l->m);
	listing_drop(l);
}

void listing_drop(struct listing *l)
{
	buf_free(&l->stem);
	buf_free(&l->found.all);
	worklist_free(&l->found.list);
	contents_free(&l->kinds);
	map_free(&l->seen);
}
