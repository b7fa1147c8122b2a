#include "lib/extract/list/listing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bounds on what a member makes us keep: kinds of what is left out, and what was seen once. */
enum { KINDS_MAX = 1000, SEEN_MAX = 100000 };
enum { TYPE_MAX = 40, NAME_MAX_BYTES = 98, LABEL_MAX = 160 };

struct listed {
	char *type, *why;
	int taken; /* as workloads */
	int64_t n, macs;
	double time_s;
};

void listing_begin(struct listing *l, struct extract *x, struct member *m)
{
	*l = (struct listing){.x = x, .m = m};
	l->found.list.source_bytes = x->found.source_bytes; /* of all lists of an input */
}

static struct listed *kind_of(struct listing *l, int taken, const char *type, const char *why)
{
	struct buf key = BUF_INIT;
	struct listed *k;
	void **slot;

	if (l->kind.n >= KINDS_MAX && !taken)
		type = "other kinds", why = "";
	buf_fmt(&key, "%d%.*s\n%s", taken, TYPE_MAX, type, why);
	slot = map_put(&l->kind, key.s, key.n, NULL);
	buf_free(&key);
	if (*slot)
		return *slot;
	k = *slot = xcalloc(1, sizeof *k);
	k->type = xstrdup(type);
	if (strlen(k->type) > TYPE_MAX)
		k->type[TYPE_MAX] = 0;
	k->why = xstrdup(why);
	k->taken = taken;
	return k;
}

static void count_kind(struct listing *l, struct listed *k, int64_t n, int64_t macs)
{
	int64_t all;

	if (macs < 0 || k->macs < 0)
		k->macs = -1;
	else
		k->macs = contents_plus(k->macs,
					__builtin_mul_overflow(n, macs, &all) ? INT64_MAX : all);
	k->n = contents_plus(k->n, n);
	l->last = k;
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
	count_kind(l, kind_of(l, 1, w->op->name, ""), taken, w->flops / 2);
}

void listing_take_once(struct listing *l, const struct workload *w, const char *name)
{
	struct work *k = worklist_put(&l->found.list, w, NULL, 0);

	l->last = NULL;
	if (!k->source.n) {
		add_source(l, k, name, strlen(name), 0);
		count_kind(l, kind_of(l, 1, w->op->name, ""), 1, w->flops / 2);
	}
}

void listing_leave(struct listing *l, const char *type, const char *why, int64_t n, int64_t macs)
{
	count_kind(l, kind_of(l, 0, type, why), n, macs);
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

	for (size_t i = 0; i < l->kind.n; i++) {
		const struct listed *k = l->kind.item[i].value;

		if (k->taken)
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
	double all = 0, taken = 0;

	for (size_t i = 0; i < l->kind.n; i++) {
		const struct listed *k = l->kind.item[i].value;

		all += k->time_s;
		taken += k->taken ? k->time_s : 0;
	}
	if (all > 0)
		buf_fmt(out, ", %.1f%% of the %.3g s that it tells of", 100 * taken / all, all);
}

static void tell(struct listing *l, const char *stem)
{
	struct buf sum = BUF_INIT;

	buf_count(&sum, l->taken, "instance");
	buf_str(&sum, " extracted");
	put_time(l, &sum);
	put_left(l, &sum);
	extract_report(l->x, "%s: %s", stem, sum.s);
	buf_free(&sum);
}

static void show(struct listing *l, const char *stem)
{
	for (size_t i = 0; i < l->kind.n; i++) {
		const struct listed *k = l->kind.item[i].value;
		enum fate fate = k->taken ? FATE_WORKLOAD : FATE_NONE;

		contents_add(l->x->contents, stem, k->type, fate, k->why, k->n, k->macs);
		contents_add_time(l->x->contents, stem, k->type, fate, k->why, k->time_s);
	}
}

void listing_end(struct listing *l)
{
	struct buf stem = BUF_INIT;

	extract_stem(l->m, &stem);
	tell(l, stem.s);
	if (l->x->contents)
		show(l, stem.s);
	collect_finish(l->x, &l->found, l->m);
	buf_free(&stem);
	listing_drop(l);
}

void listing_drop(struct listing *l)
{
	buf_free(&l->found.all);
	worklist_free(&l->found.list);
	for (size_t i = 0; i < l->kind.n; i++) {
		struct listed *k = l->kind.item[i].value;

		free(k->type);
		free(k->why);
		free(k);
	}
	map_free(&l->kind);
	map_free(&l->seen);
}
