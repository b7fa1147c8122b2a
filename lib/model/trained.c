#include "lib/model/trained.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io/json.h"

/* XGBoost has a tree by columns, and a node's children stand anywhere. */
enum { LEFT, RIGHT, FEATURE, DEFAULT_LEFT, VALUE, COLUMNS };

static const char *const column_name[COLUMNS] = {
	[LEFT] = "left_children",     [RIGHT] = "right_children",      [FEATURE] = "split_indices",
	[VALUE] = "split_conditions", [DEFAULT_LEFT] = "default_left",
};

struct tree {
	int n, cap;
	double *column[COLUMNS];
	int *order;		 /* the nodes that the root leads to, level by level */
	struct trees_node *node; /* in that order */
};

static void reserve(struct tree *t, int n)
{
	if (n <= t->cap)
		return;
	t->cap = n;
	for (int i = 0; i < COLUMNS; i++)
		t->column[i] = xrealloc(t->column[i], sizeof(double) * (size_t)n);
	t->order = xrealloc(t->order, sizeof *t->order * (size_t)n);
	t->node = xrealloc(t->node, sizeof *t->node * (size_t)n);
}

static void release(struct tree *t)
{
	for (int i = 0; i < COLUMNS; i++)
		free(t->column[i]);
	free(t->order);
	free(t->node);
}

static int read_column(const struct json_doc *d, const struct json *list, double *to, int n)
{
	int i = 0;

	for (const struct json *v = json_first(d, list); v; v = json_next(d, list, v), i++) {
		int flag;

		if (i == n)
			return -1;
		if (json_bool(v, &flag) == 0)
			to[i] = flag;
		else if (json_num(v, &to[i]))
			return -1;
	}
	return i == n ? 0 : -1;
}

static int read_columns(const struct json_doc *d, const struct json *tree, struct tree *t)
{
	const struct json *left = json_get(d, tree, column_name[LEFT]);

	if (!left || left->type != JSON_ARR || !left->size)
		return -1;
	t->n = left->size;
	reserve(t, t->n);
	for (int i = 0; i < COLUMNS; i++)
		if (read_column(d, json_get(d, tree, column_name[i]), t->column[i], t->n) < 0)
			return -1;
	return 0;
}

static int is_child(const struct tree *t, double child)
{
	return child >= 1 && child < t->n;
}

/* Puts the nodes that the root leads to into their order. Returns how many these are; -1: they are
 * no tree. */
static int arrange(struct tree *t)
{
	int n = 1;

	t->order[0] = 0;
	for (int i = 0; i < n; i++) {
		const int at = t->order[i];
		const double left = t->column[LEFT][at], right = t->column[RIGHT][at];

		t->node[i] = (struct trees_node){(float)t->column[VALUE][at], -1, 0};
		if (left < 0 && right < 0)
			continue;
		if (!is_child(t, left) || !is_child(t, right) || n + 2 > t->n)
			return -1;
		t->node[i].feature = (int)t->column[FEATURE][at];
		t->node[i].missing = t->column[DEFAULT_LEFT][at] == 0;
		t->order[n++] = (int)left;
		t->order[n++] = (int)right;
	}
	return n;
}

static int read_trees(const struct json_doc *d, const struct json *list, struct trees *to)
{
	struct tree t = {0};
	int rc = list && list->type == JSON_ARR ? 0 : -1;

	for (const struct json *v = json_first(d, list); v && rc == 0; v = json_next(d, list, v)) {
		int n = read_columns(d, v, &t) < 0 ? -1 : arrange(&t);

		if (n < 0 || trees_add(to, t.node, n))
			rc = -1;
	}
	release(&t);
	return rc;
}

static const struct json *member(const struct json_doc *d, const char *const *path)
{
	const struct json *v = d->tok;

	while (*path)
		v = json_get(d, v, *path++);
	return v;
}

#define MEMBER(d, ...) member(d, (const char *const[]){__VA_ARGS__, NULL})

/* Reads what the trees are added to. It is the inverse of the objective's transformation of
 * "base_score", which is a text: "5E-1", or "[5E-1]" in later versions. */
static int read_base(const struct json_doc *d, float *base)
{
	const struct json *v = MEMBER(d, "learner", "learner_model_param", "base_score"),
			  *objective = MEMBER(d, "learner", "objective", "name");
	char text[40], *end;

	if (!v || v->type != JSON_STR || v->n >= sizeof text)
		return -1;
	memcpy(text, v->s, v->n);
	text[v->n] = 0;
	*base = strtof(text + (text[0] == '['), &end);
	if (strcmp(end, text[0] == '[' ? "]" : "") != 0)
		return -1;
	if (json_is(objective, "binary:logistic"))
		*base = -logf(1 / *base - 1);
	else if (!json_is(objective, "reg:squarederror"))
		return -1;
	return isfinite(*base) ? 0 : -1;
}

struct trees *trained_read(const char *json, size_t n, size_t columns, struct err *e)
{
	struct json_doc d = JSON_DOC_INIT;
	struct trees *t = NULL;
	float base;

	if (json_parse(&d, json, n, e) == 0 &&
	    json_is(MEMBER(&d, "learner", "gradient_booster", "name"), "gbtree") &&
	    read_base(&d, &base) == 0) {
		t = trees_new(columns, base);
		if (read_trees(&d, MEMBER(&d, "learner", "gradient_booster", "model", "trees"), t) <
		    0) {
			trees_free(t);
			t = NULL;
		}
	}
	json_free(&d);
	if (!t)
		err_set(e, "XGBoost has trained what are no trees, or says it in another way");
	return t;
}
