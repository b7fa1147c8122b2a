#include "lib/extract/contents.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

struct content_row {
	char *type, *why;
	enum fate fate;
	int64_t n, macs; /* macs: -1 if not known of any of them */
	size_t at;
};

struct content_model {
	struct map row;	     /* struct content_row * */
	int64_t macs, taken; /* known ones, and those of workloads */
	int64_t n;
};

/* a + b, or the largest number. */
static int64_t plus(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_add_overflow(a, b, &r) ? INT64_MAX : r;
}

/* A copy without what a terminal would take for commands. */
static char *plain(const char *s)
{
	char *copy = xstrdup(s);

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return copy;
}

void contents_add(struct contents *c, const char *model, const char *type, enum fate fate,
		  const char *why, int64_t n, int64_t macs)
{
	void **slot = map_put(&c->model, model, strlen(model), NULL), **in;
	struct content_model *m = *slot ? *slot : (*slot = xcalloc(1, sizeof *m));
	struct buf key = BUF_INIT;
	struct content_row *r;

	buf_fmt(&key, "%d %s\n%s", (int)fate, type, why);
	in = map_put(&m->row, key.s, key.n, NULL);
	buf_free(&key);
	if (!*in) {
		r = *in = xcalloc(1, sizeof *r);
		*r = (struct content_row){plain(type), plain(why), fate, 0, 0, m->row.n};
	}
	r = *in;
	r->n += n;
	r->macs = macs < 0 || r->macs < 0 ? -1 : plus(r->macs, macs);
	m->n += n;
	if (macs > 0)
		m->macs = plus(m->macs, macs);
	if (macs > 0 && fate == FATE_WORKLOAD)
		m->taken = plus(m->taken, macs);
}

void contents_add_left(struct contents *c, const char *model, const char *text, int64_t n)
{
	const char *open = strstr(text, " (");
	struct buf type = BUF_INIT, why = BUF_INIT;

	buf_add(&type, text, open ? (size_t)(open - text) : strlen(text));
	buf_str(&why, open ? open + 2 : "");
	if (why.n && why.s[why.n - 1] == ')')
		why.s[--why.n] = 0;
	contents_add(c, model, type.s, FATE_NONE, why.s, n, open ? -1 : 0);
	buf_free(&type);
	buf_free(&why);
}

void contents_add_work(struct contents *c, const char *model, const struct workload *w, int64_t n)
{
	int64_t macs;

	if (__builtin_mul_overflow(w->flops / 2, n, &macs))
		macs = INT64_MAX;
	contents_add(c, model, w->op->name, FATE_WORKLOAD, "", n, macs);
}

static void add_subgraphs(struct contents *c, const char *model, const struct graph_node *n)
{
	for (int i = 0; i < n->nattr; i++) {
		const struct graph *sub = graph_unwalked(&n->attr[i]);
		struct buf why = BUF_INIT;

		buf_fmt(&why, "inside %s", n->type);
		for (int k = 0; sub && k < sub->nnode; k++) {
			contents_add(c, model, sub->node[k].type, FATE_NONE, why.s, 1, 0);
			add_subgraphs(c, model, &sub->node[k]);
		}
		buf_free(&why);
	}
}

void contents_add_graph(struct contents *c, const char *model, const struct fates *f)
{
	for (int i = 0; i < f->g->nnode; i++) {
		int node = f->g->order[i];
		const struct graph_node *n = &f->g->node[node];
		const struct task *t = f->task[node];

		contents_add(c, model, n->type, f->of[node], t && t->why ? t->why : "", f->times,
			     f->macs[node]);
		add_subgraphs(c, model, n);
	}
}

static int by_work(const void *p, const void *q)
{
	const struct content_row *a = *(struct content_row *const *)p;
	const struct content_row *b = *(struct content_row *const *)q;

	if (a->macs != b->macs)
		return a->macs < b->macs ? 1 : -1;
	if (a->fate != b->fate)
		return a->fate < b->fate ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return a->at < b->at ? -1 : a->at > b->at;
}

enum column { MODEL, TYPE, COUNT, MACS, SHARE, FATE, WHY, COLUMNS };

static void put_share(struct table *t, int64_t part, int64_t all, int for_people)
{
	if (all && for_people)
		table_cell(t, SHARE, "%.1f %%", 100.0 * (double)part / (double)all);
	else if (all)
		table_cell(t, SHARE, "%.9g", (double)part / (double)all);
}

static void put_row(struct table *t, const char *model, const struct content_model *m,
		    const struct content_row *r, int for_people)
{
	table_row(t);
	table_cell(t, MODEL, "%s", model);
	table_cell(t, TYPE, "%s", r->type);
	table_cell(t, COUNT, "%lld", (long long)r->n);
	table_cell(t, FATE, "%s", fate_name(r->fate));
	table_cell(t, WHY, "%s", r->why);
	if (r->macs >= 0 && (r->macs || !for_people))
		table_cell(t, MACS, "%lld", (long long)r->macs);
	else if (r->macs < 0 && for_people)
		table_cell(t, MACS, "unknown");
	if (r->macs > 0 || (r->macs == 0 && !for_people))
		put_share(t, r->macs, m->macs, for_people);
}

static void put_model(struct table *t, const char *name, const struct content_model *m,
		      int for_people)
{
	struct content_row **row = xcalloc(m->row.n, sizeof *row);

	for (size_t i = 0; i < m->row.n; i++)
		row[i] = m->row.item[i].value;
	qsort(row, m->row.n, sizeof *row, by_work);
	for (size_t i = 0; i < m->row.n; i++)
		put_row(t, name, m, row[i], for_people);
	free(row);
	if (!for_people)
		return;
	table_row(t);
	table_cell(t, MODEL, "%s", name);
	table_cell(t, TYPE, "all");
	table_cell(t, COUNT, "%lld", (long long)m->n);
	table_cell(t, MACS, "%lld", (long long)m->macs);
	if (m->macs)
		table_cell(t, FATE, "%.1f %% covered", 100.0 * (double)m->taken / (double)m->macs);
}

static void put_all(struct table *t, const struct contents *c, int for_people)
{
	for (size_t i = 0; i < c->model.n; i++)
		put_model(t, c->model.item[i].key, c->model.item[i].value, for_people);
}

void contents_text(const struct contents *c, const struct table_look *look, struct buf *out)
{
	static const char *const head[COLUMNS] = {"model",  "operator", ">count", ">multiply-adds",
						  ">share", "becomes",	"why not"};
	static const signed char leave[] = {MACS, -1};
	struct table t;

	table_init(&t, head, COLUMNS);
	t.look = *look;
	t.leave = leave;
	t.shorten = WHY;
	put_all(&t, c, 1);
	table_text(&t, out);
	table_free(&t);
}

void contents_csv(const struct contents *c, struct buf *out)
{
	static const char *const head[COLUMNS] = {"model",  "operator", ">count", ">multiply_adds",
						  ">share", "becomes",	"why"};
	struct table t;

	table_init(&t, head, COLUMNS);
	put_all(&t, c, 0);
	table_csv(&t, out);
	table_free(&t);
}

void contents_free(struct contents *c)
{
	for (size_t i = 0; i < c->model.n; i++) {
		struct content_model *m = c->model.item[i].value;

		for (size_t k = 0; k < m->row.n; k++) {
			struct content_row *r = m->row.item[k].value;

			free(r->type);
			free(r->why);
			free(r);
		}
		map_free(&m->row);
		free(m);
	}
	map_free(&c->model);
}
