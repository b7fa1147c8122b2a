#include "lib/extract/select.h"

#include <stdlib.h>
#include <string.h>

/* The names of every workload; behind them stand the dimensions of all operators. */
enum name { FLOPS, BYTES, COUNT, TOTAL, OP, LAYOUT, DTYPE, FIXED };
enum { NAMES_MAX = 100 };

static int is_op(const char *s, size_t n)
{
	return op_find(s, n) != NULL;
}

static int is_layout(const char *s, size_t n)
{
	return layout_find(s, n) >= 0;
}

static int is_dtype(const char *s, size_t n)
{
	struct dtypes d;

	return !dtypes_parse(&d, s, n);
}

static const struct condition_name fixed[FIXED] = {
	[FLOPS] = {"flops", CONDITION_NUMBER, NULL},
	[BYTES] = {"bytes", CONDITION_NUMBER, NULL},
	[COUNT] = {"count", CONDITION_NUMBER, NULL},
	[TOTAL] = {"total", CONDITION_NUMBER, NULL},
	[OP] = {"op", CONDITION_TEXT, is_op},
	[LAYOUT] = {"layout", CONDITION_TEXT, is_layout},
	[DTYPE] = {"dtype", CONDITION_TEXT, is_dtype},
};

static int list_names(struct condition_name *names)
{
	int n = FIXED;

	memcpy(names, fixed, sizeof fixed);
	for (const struct op *const *op = op_list; *op; op++)
		for (int d = 0; d < (*op)->ndims && n < NAMES_MAX; d++) {
			int i = 0;

			while (i < n && strcmp(names[i].name, (*op)->dim[d]) != 0)
				i++;
			if (i == n)
				names[n++] = (struct condition_name){(*op)->dim[d],
								     CONDITION_NUMBER, NULL};
		}
	return n;
}

struct subject {
	const struct work *work;
	const struct condition_name *names;
};

static double number_of(const struct work *k, enum name name)
{
	double count = (double)k->source.n;

	if (name == COUNT)
		return count;
	if (name == BYTES)
		return (double)workload_bytes(&k->w);
	return (double)k->w.flops * (name == TOTAL ? count : 1);
}

static struct condition_value look(const void *subject, int name)
{
	const struct subject *s = subject;
	const struct workload *w = &s->work->w;
	struct condition_value v = {s->names[name].kind, 0, NULL};

	if (name < OP) {
		v.number = number_of(s->work, (enum name)name);
		return v;
	}
	if (name < FIXED) {
		v.text = name == OP	  ? w->op->name
			 : name == LAYOUT ? layout_name(w->layout)
					  : w->dtype_text;
		return v;
	}
	for (int d = 0; d < w->op->ndims; d++)
		if (!strcmp(w->op->dim[d], s->names[name].name)) {
			v.number = (double)w->dim[d];
			return v;
		}
	v.kind = CONDITION_NONE;
	return v;
}

struct work **select_all(const struct worklist *l)
{
	struct work **w = xcalloc(l->by_id.n + 1, sizeof *w);

	for (size_t i = 0; i < l->by_id.n; i++)
		w[i] = l->by_id.item[i].value;
	return w;
}

int64_t select_where(struct work **w, int64_t n, const char *condition, struct arena *a,
		     struct selected *told, struct err *e)
{
	struct condition_name *names = arena_array(a, struct condition_name, NAMES_MAX);
	const struct condition *c = condition_parse(condition, names, list_names(names), a, e);
	int64_t kept = 0;

	if (!c)
		return -1;
	for (int64_t i = 0; i < n; i++) {
		const struct subject s = {w[i], names};
		int name = 0, holds = condition_holds(c, look, &s, &name);

		if (holds > 0) {
			w[kept++] = w[i];
			continue;
		}
		told->out++;
		if (holds < 0 && !told->unknown++) {
			told->lacks = names[name].name;
			told->op = w[i]->w.op->name;
		}
	}
	return kept;
}

struct ranked {
	double key;
	int64_t at;
	struct work *work;
};

static int by_key(const void *p, const void *q)
{
	const struct ranked *a = p, *b = q;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return a->at < b->at ? -1 : a->at > b->at;
}

void select_sort(struct work **w, int64_t n, const char *key, int smallest_first)
{
	struct ranked *r = xcalloc((size_t)n + 1, sizeof *r);
	int name = 0;

	while (strcmp(fixed[name].name, key) != 0)
		name++;
	for (int64_t i = 0; i < n; i++) {
		double v = number_of(w[i], (enum name)name);

		r[i] = (struct ranked){smallest_first ? -v : v, i, w[i]};
	}
	qsort(r, (size_t)n, sizeof *r, by_key);
	for (int64_t i = 0; i < n; i++)
		w[i] = r[i].work;
	free(r);
}
