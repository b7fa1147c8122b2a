#include "lib/extract/contents.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/err.h"

int64_t contents_plus(int64_t a, int64_t b)
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

static struct content_model *model_of(struct contents *c, const char *name)
{
	void **slot = map_put(&c->model, name, strlen(name), NULL);

	return *slot ? *slot : (*slot = xcalloc(1, sizeof(struct content_model)));
}

static struct content_row *row_of(struct content_model *m, const char *type, enum fate fate,
				  const char *why)
{
	struct buf key = BUF_INIT;
	struct content_row *r;
	void **slot;

	buf_fmt(&key, "%d %s\n%s", (int)fate, type, why);
	slot = map_put(&m->row, key.s, key.n, NULL);
	buf_free(&key);
	if (!*slot) {
		r = *slot = xcalloc(1, sizeof *r);
		*r = (struct content_row){plain(type), plain(why), fate, 0, 0, 0, m->row.n};
	}
	return *slot;
}

struct content_row *contents_add(struct contents *c, const char *model, const char *type,
				 enum fate fate, const char *why, int64_t n, int64_t macs)
{
	struct content_model *m = model_of(c, model);
	struct content_row *r = row_of(m, type, fate, why);

	r->n += n;
	r->macs = macs < 0 || r->macs < 0 ? -1 : contents_plus(r->macs, macs);
	m->n += n;
	if (macs > 0)
		m->macs = contents_plus(m->macs, macs);
	if (macs > 0 && fate == FATE_WORKLOAD)
		m->taken = contents_plus(m->taken, macs);
	return r;
}

void contents_add_work(struct contents *c, const char *model, const struct workload *w, int64_t n)
{
	int64_t macs;

	if (!w->op->is_product)
		macs = 0;
	else if (__builtin_mul_overflow(w->flops / 2, n, &macs))
		macs = INT64_MAX;
	contents_add(c, model, w->op->name, FATE_WORKLOAD, "", n, macs);
}

static void merge_model(struct content_model *to, const struct content_model *from)
{
	for (size_t i = 0; i < from->row.n; i++) {
		const struct content_row *f = from->row.item[i].value;
		struct content_row *r = row_of(to, f->type, f->fate, f->why);

		r->n += f->n;
		r->macs = r->macs < 0 || f->macs < 0 ? -1 : contents_plus(r->macs, f->macs);
		r->time_s += f->time_s;
	}
	to->n += from->n;
	to->macs = contents_plus(to->macs, from->macs);
	to->taken = contents_plus(to->taken, from->taken);
}

void contents_merge(struct contents *to, const struct contents *from)
{
	for (size_t i = 0; i < from->model.n; i++)
		merge_model(model_of(to, from->model.item[i].key), from->model.item[i].value);
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
	if (a->time_s != b->time_s)
		return a->time_s < b->time_s ? 1 : -1;
	if (a->fate != b->fate)
		return a->fate < b->fate ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* A table without times lacks the columns between SHARE and FATE. */
enum column { MODEL, TYPE, COUNT, MACS, SHARE, TIME, TIME_SHARE, FATE, WHY, COLUMNS };

static int column(const struct table *t, enum column c)
{
	return c >= FATE ? (int)c - (COLUMNS - t->ncols) : (int)c;
}

static void put_share(struct table *t, enum column c, double part, double all, int for_people)
{
	if (all > 0 && for_people)
		table_cell(t, c, "%.1f %%", 100 * part / all);
	else if (all > 0)
		table_cell(t, c, "%.9g", part / all);
}

static void put_time(struct table *t, double part, double all, int for_people)
{
	if (t->ncols < COLUMNS || (part <= 0 && for_people))
		return;
	if (for_people)
		table_cell(t, TIME, "%.3f ms", part * 1e3);
	else
		table_cell(t, TIME, "%.9g", part);
	put_share(t, TIME_SHARE, part, all, for_people);
}

double contents_time(const struct content_model *m, int of_workloads)
{
	double sum = 0;

	for (size_t i = 0; i < m->row.n; i++) {
		const struct content_row *r = m->row.item[i].value;

		sum += !of_workloads || r->fate == FATE_WORKLOAD ? r->time_s : 0;
	}
	return sum;
}

static void put_row(struct table *t, const char *model, const struct content_model *m,
		    double time_s, const struct content_row *r, int for_people)
{
	table_row(t);
	table_cell(t, MODEL, "%s", model);
	table_cell(t, TYPE, "%s", r->type);
	table_cell(t, COUNT, "%lld", (long long)r->n);
	table_cell(t, column(t, FATE), "%s", fate_name(r->fate));
	table_cell(t, column(t, WHY), "%s", r->why);
	if (r->macs >= 0 && (r->macs || !for_people))
		table_cell(t, MACS, "%lld", (long long)r->macs);
	else if (r->macs < 0 && for_people)
		table_cell(t, MACS, "unknown");
	if (r->macs > 0 || (r->macs == 0 && !for_people))
		put_share(t, SHARE, (double)r->macs, (double)m->macs, for_people);
	put_time(t, r->time_s, time_s, for_people);
}

static void put_model(struct table *t, const char *name, const struct content_model *m,
		      int for_people)
{
	struct content_row **row = xcalloc(m->row.n, sizeof *row);
	const double time_s = contents_time(m, 0);

	for (size_t i = 0; i < m->row.n; i++)
		row[i] = m->row.item[i].value;
	qsort(row, m->row.n, sizeof *row, by_work);
	for (size_t i = 0; i < m->row.n; i++)
		put_row(t, name, m, time_s, row[i], for_people);
	free(row);
	if (!for_people)
		return;
	table_row(t);
	table_cell(t, MODEL, "%s", name);
	table_cell(t, TYPE, "all");
	table_cell(t, COUNT, "%lld", (long long)m->n);
	table_cell(t, MACS, "%lld", (long long)m->macs);
	if (time_s > 0)
		put_time(t, time_s, time_s, 1);
	if (m->macs)
		table_cell(t, column(t, FATE), "%.1f %% covered",
			   100.0 * (double)m->taken / (double)m->macs);
	if (time_s > 0)
		table_cell(t, column(t, WHY), "%.1f %% of the time",
			   100 * contents_time(m, 1) / time_s);
}

static void put_all(struct table *t, const struct contents *c, int for_people)
{
	for (size_t i = 0; i < c->model.n; i++)
		put_model(t, c->model.item[i].key, c->model.item[i].value, for_people);
}

static int tells_time(const struct contents *c)
{
	for (size_t i = 0; i < c->model.n; i++)
		if (contents_time(c->model.item[i].value, 0) > 0)
			return 1;
	return 0;
}

/* Begins a table of these columns, which shown has room for; where no times are told, theirs are
 * left out. */
static void begin(struct table *t, const struct contents *c, const char *const head[COLUMNS],
		  const char *shown[COLUMNS])
{
	const int times = tells_time(c);
	int n = 0;

	for (int i = 0; i < COLUMNS; i++)
		if (times || (i != TIME && i != TIME_SHARE))
			shown[n++] = head[i];
	table_init(t, shown, n);
}

void contents_text(const struct contents *c, const struct table_look *look, struct buf *out)
{
	static const char *const head[COLUMNS] = {"model",	    "operator", ">count",
						  ">multiply-adds", ">share",	">time",
						  ">share of time", "becomes",	"why not"};
	const char *shown[COLUMNS];
	static const signed char leave[] = {MACS, TIME, -1}, leave_macs[] = {MACS, -1};
	struct table t;

	begin(&t, c, head, shown);
	t.look = *look;
	t.leave = t.ncols == COLUMNS ? leave : leave_macs;
	t.shorten = column(&t, WHY);
	put_all(&t, c, 1);
	table_text(&t, out);
	table_free(&t);
}

void contents_csv(const struct contents *c, struct buf *out)
{
	static const char *const head[COLUMNS] = {"model",	    "operator", ">count",
						  ">multiply_adds", ">share",	">time_s",
						  ">time_share",    "becomes",	"why"};
	const char *shown[COLUMNS];
	struct table t;

	begin(&t, c, head, shown);
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
