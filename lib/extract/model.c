#include "lib/extract/model.h"

#include <string.h>

#include "lib/extract/fate.h"
#include "lib/extract/tally.h"
#include "lib/extract/task.h"

struct job {
	struct extract *x;
	struct graph *g;
	const struct id *hash;
	struct arena *a;
	struct infer infer;
	struct buf stem;
	struct task *task; /* of each node that multiplies and adds, in topological order */
	int ntask;
	unsigned char *absorbed; /* of each node */
	int64_t macs, covered;	 /* known ones */
	int extracted, unknown;	 /* operators; tasks of unknown size */
};

static void make_tasks(struct job *j)
{
	struct graph *g = j->g;

	j->task = arena_array(j->a, struct task, g->nnode);
	j->absorbed = arena_alloc(j->a, (size_t)g->nnode);
	j->ntask = task_find(g, j->x->layout, j->a, j->task, j->absorbed);
}

/* Names of nodes are to be unique but often are not, or are missing; names of values are. */
static const char *node_source(struct job *j, const struct graph_node *n, const struct map *names)
{
	const int *count = map_get(names, n->name, strlen(n->name));
	const struct graph *g = j->g;

	if (count && *count == 1)
		return n->name;
	return arena_printf(j->a, "%s%s%s", n->name, n->name[0] ? "#" : "",
			    n->nout && n->out[0] >= 0 ? g->value[n->out[0]]->name : "");
}

static void count_names(struct job *j, struct map *names)
{
	const struct graph *g = j->g;

	for (int i = 0; i < g->nnode; i++) {
		const char *name = g->node[i].name;
		int **count = name[0] ? (int **)map_put(names, name, strlen(name), NULL) : NULL;

		if (count && !*count)
			*count = arena_new(j->a, int);
		if (count)
			++**count;
	}
}

static void emit(struct job *j)
{
	struct map names = MAP_INIT;
	struct buf source = BUF_INIT;

	count_names(j, &names);
	for (int i = 0; i < j->ntask; i++) {
		const struct task *t = &j->task[i];

		if (t->macs < 0)
			j->unknown++;
		else if (__builtin_add_overflow(j->macs, t->macs, &j->macs))
			j->macs = INT64_MAX;
		if (t->why)
			continue;
		j->extracted++;
		j->covered += t->macs;
		buf_clear(&source);
		buf_fmt(&source, "%s:%.12s:", j->stem.s, j->hash->s);
		extract_utf8(&source, node_source(j, &j->g->node[t->node], &names));
		work_add_source(worklist_put(&j->x->found, &t->w, NULL, 0), source.s);
	}
	buf_free(&source);
	map_free(&names);
}

static void tally_subgraphs(struct job *j, const struct graph_node *n, struct tally *left)
{
	for (int i = 0; i < n->nattr; i++) {
		const struct graph *sub = n->attr[i].subgraph;

		for (int k = 0; sub && k < sub->nnode; k++) {
			const struct graph_node *in = &sub->node[k];

			if (!node_is(in, "Constant"))
				tally_add(left,
					  arena_printf(j->a, "%s (inside %s)", in->type, n->type));
			tally_subgraphs(j, in, left);
		}
	}
}

static void tally_left(struct job *j, struct tally *left)
{
	const struct graph *g = j->g;
	int next = 0;

	for (int i = 0; i < g->nnode; i++) {
		const struct graph_node *n = &g->node[g->order[i]];

		tally_subgraphs(j, n, left);
		if (next < j->ntask && j->task[next].node == g->order[i]) {
			const struct task *t = &j->task[next++];

			if (t->why)
				tally_add(left, arena_printf(j->a, "%s (%s)", n->type, t->why));
		} else if (!j->absorbed[g->order[i]] && !fate_is_plumbing(g, n)) {
			tally_add(left, n->type);
		}
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

	tally_left(j, &left);
	buf_fmt(&b, "%s: ", j->stem.s);
	buf_count(&b, j->extracted, "operator");
	buf_str(&b, " extracted");
	if (j->macs)
		buf_fmt(&b, ", %.1f %% of the model's %lld multiply-adds",
			100.0 * (double)j->covered / (double)j->macs, (long long)j->macs);
	if (j->unknown)
		buf_fmt(&b, "; those of %d operators are not known", j->unknown);
	extract_report(j->x, "%s", b.s);
	buf_clear(&b);
	tally_print(&left, &b);
	if (b.n)
		extract_report(j->x, "%s: not extracted: %s", j->stem.s, b.s);
	report_names(j, "unknown operators", &j->infer.unknown, "");
	report_names(j, "sizes not known", &j->infer.unsized, " (--dim NAME=SIZE gives them)");
	report_names(j, "sizes not known", &j->infer.open, " (--shape gives them)");
	report_names(j, "taken for a batch of 1", &j->infer.assumed,
		     " (--batch or --dim give another size)");
	tally_free(&left);
	buf_free(&b);
}

int model_extract(struct extract *x, const struct member *m, struct graph *g, int64_t opset,
		  const struct id *hash, struct err *e)
{
	struct job j = {.x = x, .g = g, .hash = hash, .a = g->a};
	int r = infer_run(&j.infer, g, opset, &x->infer, e);

	extract_stem(m, &j.stem);
	if (!r) {
		make_tasks(&j);
		emit(&j);
		report(&j);
		extract_show(x, j.stem.s, g, j.task, j.ntask, j.absorbed);
	}
	infer_free(&j.infer);
	buf_free(&j.stem);
	return r;
}
