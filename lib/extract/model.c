#include "lib/extract/model.h"

#include <string.h>

#include "lib/extract/graph/names.h"
#include "lib/extract/task/fate.h"
#include "lib/extract/tally.h"
#include "lib/extract/task/task.h"

/* A graph with its tasks: the model's, or one inside a node. */
struct part {
	struct graph *g;
	const char *where; /* "NODE/" of the node that it is in, and those around that */
	int64_t times, macs;
	struct task *task; /* of each node that multiplies and adds, in topological order */
	int ntask;
	unsigned char *absorbed; /* of each node */
	int is_left;		 /* another branch counts */
};

struct job {
	struct extract *x;
	struct graph *g;
	const struct id *hash;
	struct arena *a;
	struct infer infer;
	struct buf stem;
	struct buf parts;	 /* struct part */
	int64_t macs, covered;	 /* known ones */
	int64_t extracted;	 /* operators */
	int unknown;		 /* tasks of unknown size */
	struct map once, either; /* nodes whose turns, or branch, are not known */
};

static int nparts(const struct job *j)
{
	return (int)(j->parts.n / sizeof(struct part));
}

static struct part *part_at(const struct job *j, int i)
{
	return (struct part *)j->parts.s + i;
}

static int64_t add_part(struct job *j, struct graph *g, const char *where, int64_t times);

static void leave_out(struct job *j, int from, int to)
{
	for (int i = from; i < to; i++)
		part_at(j, i)->is_left = 1;
}

/* The graphs in a node. Of branches one counts: that with more multiply-adds, else the first. */
static int64_t add_inside(struct job *j, const struct graph *g, const struct graph_node *n,
			  const char *where, int64_t times)
{
	const char *label = node_label(g, n);
	int best_from = -1, best_to = -1, branches = 0;
	int64_t most = 0;

	for (int i = 0; i < n->nattr; i++) {
		struct graph *sub = n->attr[i].subgraph;
		int from = nparts(j), to;
		int64_t macs;

		if (!sub || !sub->times)
			continue;
		if (sub->is_once)
			infer_count(&j->once, j->a, label);
		macs = add_part(j, sub, arena_printf(j->a, "%s%s/", where, label),
				task_times(times, sub->times));
		to = nparts(j);
		if (branches++)
			infer_count(&j->either, j->a, label);
		if (branches > 1 && macs <= most) {
			leave_out(j, from, to);
			continue;
		}
		if (best_from >= 0)
			leave_out(j, best_from, best_to);
		most = macs;
		best_from = from;
		best_to = to;
	}
	return most;
}

/* The known multiply-adds of the graph and those inside. */
static int64_t add_part(struct job *j, struct graph *g, const char *where, int64_t times)
{
	struct part p = {.g = g, .where = where, .times = times};
	const struct task_wanted wanted = {j->x->all ? TASKS_ALL : TASKS_PRODUCTS, j->x->layout,
					   j->infer.opset};
	int64_t macs = 0;

	p.task = arena_array(j->a, struct task, task_room(g, &wanted));
	p.absorbed = arena_alloc(j->a, (size_t)g->nnode + 1);
	p.ntask = task_find(g, &wanted, j->a, p.task, p.absorbed);
	for (int i = 0; i < p.ntask; i++) {
		int64_t more = task_times(p.task[i].macs, times);

		if (more > 0 && __builtin_add_overflow(macs, more, &macs))
			macs = INT64_MAX;
	}
	buf_add(&j->parts, &p, sizeof p);
	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[g->order[i]];
		int64_t more = n->nattr ? add_inside(j, g, n, where, times) : 0;

		if (__builtin_add_overflow(macs, more, &macs))
			macs = INT64_MAX;
	}
	return macs;
}

/* One source for each time that the workload is computed. */
static void add_sources(struct job *j, const struct task *t, const char *name, int64_t times)
{
	struct work *w = worklist_put(&j->x->found, &t->w, NULL, 0);
	struct buf source = BUF_INIT;

	for (int64_t i = 1; i <= times; i++) {
		buf_clear(&source);
		buf_fmt(&source, "%s:%.12s:", j->stem.s, j->hash->s);
		extract_utf8(&source, name);
		buf_str(&source, task_part_name(t));
		if (i > 1)
			buf_fmt(&source, "@%lld", (long long)i);
		work_add_source(w, source.s);
	}
	buf_free(&source);
}

static void emit_part(struct job *j, struct part *p)
{
	struct map names = MAP_INIT;

	names_count(p->g, j->a, &names);
	for (int i = 0; i < p->ntask; i++) {
		struct task *t = &p->task[i];
		int64_t macs = task_times(t->macs, p->times);
		int64_t times = task_times(t->times, p->times);
		const char *name;

		if (!t->why && (times < 0 || times > TIMES_MOST))
			t->why = "computed more than 100000 times";
		if (macs < 0)
			j->unknown++;
		else if (__builtin_add_overflow(j->macs, macs, &j->macs))
			j->macs = INT64_MAX;
		name = t->why ? NULL
			      : arena_printf(j->a, "%s%s", p->where,
					     names_of(p->g, &p->g->node[t->node], &names, j->a));
		if (name && !worklist_has_room(&j->x->found, times, strlen(name)))
			t->why = "computed too often, with too long a name";
		if (t->why)
			continue;
		j->extracted += times;
		if (macs > 0 && __builtin_add_overflow(j->covered, macs, &j->covered))
			j->covered = INT64_MAX;
		add_sources(j, t, name, times);
	}
	map_free(&names);
}

static void tally_unwalked(struct job *j, const struct graph_node *n, struct tally *left)
{
	for (int i = 0; i < n->nattr; i++) {
		const struct graph *sub = graph_unwalked(&n->attr[i]);

		for (int k = 0; sub && k < sub->nnode; k++) {
			const struct graph_node *in = &sub->node[k];

			if (!node_is(in, OP_Constant))
				tally_add(left,
					  arena_printf(j->a, "%s (inside %s)", in->type, n->type));
			tally_unwalked(j, in, left);
		}
	}
}

static void tally_left(struct job *j, const struct part *p, struct tally *left)
{
	const struct graph *g = p->g;
	int next = 0;

	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[g->order[i]];
		int is_task = 0;

		tally_unwalked(j, n, left);
		for (; next < p->ntask && p->task[next].node == g->order[i]; next++) {
			const struct task *t = &p->task[next];

			is_task = 1;
			if (t->why && t->part < 2)
				tally_add(left, arena_printf(j->a, "%s (%s)", n->type, t->why));
		}
		if (!is_task && !p->absorbed[g->order[i]] && !fate_is_plumbing(g, n) &&
		    !node_is_walked(n))
			tally_add(left, n->type);
	}
}

static void report_names(struct job *j, const char *what, const struct map *m, const char *hint)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < m->n; i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", m->item[i].key);
	if (m->n)
		extract_report(j->x, "%s: %s: %s%s", j->stem.s, what, b.s, hint);
	buf_free(&b);
}

static void report(struct job *j)
{
	struct tally left = {MAP_INIT};
	struct buf b = BUF_INIT;

	for (int i = 0; i < nparts(j); i++)
		if (!part_at(j, i)->is_left)
			tally_left(j, part_at(j, i), &left);
	buf_fmt(&b, "%s: ", j->stem.s);
	buf_count(&b, j->extracted, "operator");
	buf_str(&b, " extracted");
	if (j->macs)
		buf_fmt(&b, ", %.1f %% of the model's %lld multiply-adds",
			100.0 * (double)j->covered / (double)j->macs, (long long)j->macs);
	if (j->unknown)
		buf_fmt(&b, "; those of %d operator%s not known", j->unknown,
			j->unknown == 1 ? " are" : "s are");
	extract_report(j->x, "%s", b.s);
	buf_clear(&b);
	tally_print(&left, &b);
	if (b.n)
		extract_report(j->x, "%s: not extracted: %s", j->stem.s, b.s);
	report_names(j, "unknown operators", &j->infer.unknown, "");
	report_names(j, "counted as one turn", &j->once, " (the number of turns is not known)");
	report_names(j, "the larger branch counts of", &j->either, " (the condition is not known)");
	report_names(j, "sizes not known", &j->infer.unsized, " (--dim NAME=SIZE gives them)");
	report_names(j, "sizes not known", &j->infer.open, " (--shape gives them)");
	report_names(j, "taken for a batch of 1", &j->infer.assumed,
		     " (--batch or --dim give another size)");
	tally_free(&left);
	buf_free(&b);
}

static void show(struct job *j, const struct part *p)
{
	struct fates f;

	fates_find(&f, p->g, p->times, p->task, p->ntask, p->absorbed, j->a);
	f.is_inside = p->g != j->g;
	extract_show(j->x, j->stem.s, &f);
}

int model_extract(struct extract *x, const struct member *m, struct graph *g, int64_t opset,
		  const struct id *hash, struct err *e)
{
	struct job j = {.x = x, .g = g, .hash = hash, .a = g->a};
	int r = infer_run(&j.infer, g, opset, &x->infer, e);

	extract_stem(m, &j.stem);
	if (!r) {
		add_part(&j, g, "", 1);
		for (int i = 0; i < nparts(&j); i++)
			if (!part_at(&j, i)->is_left)
				emit_part(&j, part_at(&j, i));
		report(&j);
		for (int i = 0; i < nparts(&j); i++)
			if (!part_at(&j, i)->is_left)
				show(&j, part_at(&j, i));
	}
	buf_free(&j.parts);
	map_free(&j.once);
	map_free(&j.either);
	infer_free(&j.infer);
	buf_free(&j.stem);
	return r;
}

int model_extract_document(struct extract *x, const struct member *m, const struct document *d,
			   int64_t opset, model_reader *read, struct err *e)
{
	struct arena a = ARENA_INIT;
	struct graph g;
	int r;

	graph_init(&g, &a);
	r = read(&g, &d->json, &x->infer, e) || model_extract(x, m, &g, opset, &d->hash, e);
	graph_free(&g);
	arena_free(&a);
	return r ? -1 : 0;
}
