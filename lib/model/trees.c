#include "lib/model/trees.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/model/ubj.h"

enum { MOST_NODES = 1 << 20, MOST_TREES = 1 << 16 };

/* A tree by columns, as it is saved. */
enum { LEFT, RIGHT, FEATURE, DEFAULT_LEFT, SPLIT_TYPE, INTS };
enum { VALUE, WEIGHT, GAIN, HESSIAN, FLOATS };

static const char *const int_name[INTS] = {
	[LEFT] = "left_children",	 [RIGHT] = "right_children",  [FEATURE] = "split_indices",
	[DEFAULT_LEFT] = "default_left", [SPLIT_TYPE] = "split_type",
};
static const char *const float_name[FLOATS] = {
	[VALUE] = "split_conditions", /* of a leaf: what it adds */
	[WEIGHT] = "base_weights",
	[GAIN] = "loss_changes",
	[HESSIAN] = "sum_hessian",
};

struct tree {
	int n, cap;
	int32_t *whole[INTS];
	float *real[FLOATS];
	int32_t *order;	 /* nodes in the order in which they are written: parents first */
	int32_t *parent; /* of these, by their places */
	int32_t *child;	 /* the place of the left child, before the right one; -1: a leaf */
};

static void reserve(struct tree *t, int n)
{
	const size_t bytes = (size_t)n * sizeof(int32_t);

	if (n <= t->cap)
		return;
	t->cap = n;
	for (int i = 0; i < INTS; i++)
		t->whole[i] = xrealloc(t->whole[i], bytes);
	for (int i = 0; i < FLOATS; i++)
		t->real[i] = xrealloc(t->real[i], bytes);
	t->order = xrealloc(t->order, bytes);
	t->parent = xrealloc(t->parent, bytes);
	t->child = xrealloc(t->child, bytes);
}

static void release(struct tree *t)
{
	for (int i = 0; i < INTS; i++)
		free(t->whole[i]);
	for (int i = 0; i < FLOATS; i++)
		free(t->real[i]);
	free(t->order);
	free(t->parent);
	free(t->child);
}

/* ---- reading ---- */

static int count(const struct ubj *u, struct ubj_value tree)
{
	struct ubj_list l;
	struct ubj_value v;
	int n = 0;

	if (ubj_list(u, ubj_get(u, tree, int_name[LEFT]), &l) < 0)
		return -1;
	while (n <= MOST_NODES && ubj_next(&l, &v))
		n++;
	return n < 1 || n > MOST_NODES ? -1 : n;
}

static int read_ints(const struct ubj *u, struct ubj_value array, int32_t *to, int n)
{
	struct ubj_list l;
	struct ubj_value v;
	int i = 0;

	if (ubj_list(u, array, &l) < 0)
		return -1;
	for (int64_t x; i < n && ubj_next(&l, &v); i++) {
		if (ubj_int(u, v, &x) < 0 || x < -1 || x > INT32_MAX)
			return -1;
		to[i] = (int32_t)x;
	}
	return i == n && !ubj_next(&l, &v) ? 0 : -1;
}

static int read_floats(const struct ubj *u, struct ubj_value array, float *to, int n)
{
	struct ubj_list l;
	struct ubj_value v;
	int i = 0;

	if (ubj_list(u, array, &l) < 0)
		return -1;
	while (i < n && ubj_next(&l, &v))
		if (ubj_float(u, v, &to[i++]) < 0)
			return -1;
	return i == n && !ubj_next(&l, &v) ? 0 : -1;
}

static int read_columns(const struct ubj *u, struct ubj_value tree, struct tree *t)
{
	int n = count(u, tree);

	if (n < 0)
		return -1;
	reserve(t, n);
	t->n = n;
	for (int i = 0; i < INTS; i++)
		if (read_ints(u, ubj_get(u, tree, int_name[i]), t->whole[i], n) < 0)
			return -1;
	for (int i = 0; i < FLOATS; i++)
		if (read_floats(u, ubj_get(u, tree, float_name[i]), t->real[i], n) < 0)
			return -1;
	return 0;
}

static const char *fault_of_split(const struct tree *t, int node, size_t columns)
{
	const int left = t->whole[LEFT][node], right = t->whole[RIGHT][node];

	if (left < 1 || left >= t->n || right < 1 || right >= t->n)
		return "has a child that is not there";
	if (t->whole[FEATURE][node] < 0 || (size_t)t->whole[FEATURE][node] >= columns)
		return "splits on a feature that is not there";
	if (t->whole[SPLIT_TYPE][node] != 0)
		return "splits on categories";
	if (t->whole[DEFAULT_LEFT][node] < 0 || t->whole[DEFAULT_LEFT][node] > 1)
		return "has no way for what is missing";
	return NULL;
}

/* Orders the nodes that the root leads to, level by level. A node that is reached in a circle makes
 * more of them than there are. NULL; or what is wrong. */
static const char *arrange(struct tree *t, size_t columns)
{
	int n = 1;

	t->order[0] = 0;
	t->parent[0] = INT32_MAX; /* as XGBoost says that there is none */
	for (int at = 0; at < n; at++) {
		const int node = t->order[at];
		const char *fault;

		if (!isfinite(t->real[VALUE][node]))
			return "has a value that is no number";
		t->child[at] = -1;
		if (t->whole[LEFT][node] == -1 && t->whole[RIGHT][node] == -1)
			continue;
		if ((fault = fault_of_split(t, node, columns)))
			return fault;
		if (n + 2 > t->n)
			return "has a node that is its own ancestor";
		t->child[at] = n;
		t->order[n] = t->whole[LEFT][node];
		t->order[n + 1] = t->whole[RIGHT][node];
		t->parent[n] = t->parent[n + 1] = at;
		n += 2;
	}
	t->n = n;
	return NULL;
}

/* ---- writing ---- */

static void put_ints(const struct tree *t, const char *name, char type, const int32_t *x,
		     struct buf *out)
{
	ubj_put_name(out, name);
	ubj_put_array(out, type, (size_t)t->n);
	for (int i = 0; i < t->n; i++)
		ubj_put_bytes(out, (uint32_t)(x ? x[t->order[i]] : 0), type == 'U' ? 1 : 4);
}

static void put_floats(const struct tree *t, int which, struct buf *out)
{
	ubj_put_name(out, float_name[which]);
	ubj_put_array(out, 'd', (size_t)t->n);
	for (int i = 0; i < t->n; i++)
		ubj_put_float(out, t->real[which][t->order[i]]);
}

/* Of the places of nodes. right: 1 behind those of the left children. */
static void put_places(const struct tree *t, const char *name, const int32_t *x, int right,
		       struct buf *out)
{
	ubj_put_name(out, name);
	ubj_put_array(out, 'l', (size_t)t->n);
	for (int i = 0; i < t->n; i++)
		ubj_put_bytes(out, (uint32_t)(x[i] < 0 ? -1 : x[i] + right), 4);
}

static void put_number(const char *name, int64_t x, struct buf *out)
{
	char text[24];

	snprintf(text, sizeof text, "%lld", (long long)x);
	ubj_put_name(out, name);
	ubj_put_text(out, text);
}

static void put_empty(const char *name, char type, struct buf *out)
{
	ubj_put_name(out, name);
	ubj_put_array(out, type, 0);
}

/* Names in the order of XGBoost's. */
static void put_tree(const struct tree *t, int id, size_t columns, struct buf *out)
{
	buf_ch(out, '{');
	put_floats(t, WEIGHT, out);
	put_empty("categories", 'l', out);
	put_empty("categories_nodes", 'l', out);
	put_empty("categories_segments", 'L', out);
	put_empty("categories_sizes", 'L', out);
	put_ints(t, int_name[DEFAULT_LEFT], 'U', t->whole[DEFAULT_LEFT], out);
	ubj_put_name(out, "id");
	buf_ch(out, 'l');
	ubj_put_bytes(out, (uint32_t)id, 4);
	put_places(t, int_name[LEFT], t->child, 0, out);
	put_floats(t, GAIN, out);
	put_places(t, "parents", t->parent, 0, out);
	put_places(t, int_name[RIGHT], t->child, 1, out);
	put_floats(t, VALUE, out);
	put_ints(t, int_name[FEATURE], 'l', t->whole[FEATURE], out);
	put_ints(t, int_name[SPLIT_TYPE], 'U', NULL, out);
	put_floats(t, HESSIAN, out);
	ubj_put_name(out, "tree_param");
	buf_ch(out, '{');
	put_number("num_deleted", 0, out);
	put_number("num_feature", (int64_t)columns, out);
	put_number("num_nodes", t->n, out);
	put_number("size_leaf_vector", 0, out);
	buf_str(out, "}}");
}

/* ---- the model ---- */

struct head {
	const char *objective;
	float base; /* what the trees are added to, before the objective's transformation */
};

static struct ubj_value get(const struct ubj *u, struct ubj_value v, const char *const *path)
{
	while (*path)
		v = ubj_get(u, v, *path++);
	return v;
}

#define GET(u, v, ...) get(u, v, (const char *const[]){__VA_ARGS__, NULL})

static int is_text(const struct ubj *u, struct ubj_value v, const char *wanted)
{
	const char *s;
	size_t n;

	return ubj_text(u, v, &s, &n) == 0 && n == strlen(wanted) && !memcmp(s, wanted, n);
}

/* "5E-1", or "[5E-1]" in later versions. */
static int read_base(const struct ubj *u, struct ubj_value v, float *base)
{
	char text[40], *end;
	const char *s;
	size_t n;

	if (ubj_text(u, v, &s, &n) < 0 || n >= sizeof text)
		return -1;
	memcpy(text, s, n);
	text[n] = 0;
	s = text + (text[0] == '[');
	*base = strtof(s, &end);
	return end > s && isfinite(*base) ? 0 : -1;
}

static int read_head(const struct ubj *u, struct ubj_value learner, size_t columns, struct head *h,
		     struct err *e)
{
	static const char *const objectives[] = {"reg:squarederror", "binary:logistic"};
	const struct ubj_value param = ubj_get(u, learner, "learner_model_param"),
			       objective = GET(u, learner, "objective", "name");
	char features[24];

	snprintf(features, sizeof features, "%zu", columns);
	*h = (struct head){0};
	for (size_t i = 0; i < sizeof objectives / sizeof *objectives; i++)
		if (is_text(u, objective, objectives[i]))
			h->objective = objectives[i];
	if (!is_text(u, GET(u, learner, "gradient_booster", "name"), "gbtree") || !h->objective ||
	    !is_text(u, ubj_get(u, param, "num_class"), "0"))
		return err_set(e, "these are no trees, or trees of another kind");
	if (!is_text(u, ubj_get(u, param, "num_feature"), features))
		return err_set(e, "the trees are of other features");
	if (read_base(u, ubj_get(u, param, "base_score"), &h->base) < 0 ||
	    (h->objective == objectives[1] && (h->base <= 0 || h->base >= 1)))
		return err_set(e, "the trees begin with a value that is none");
	return 0;
}

static int read_trees(const struct ubj *u, struct ubj_value trees, size_t columns, struct buf *out,
		      int *n, struct err *e)
{
	struct tree t = {0};
	const char *fault = NULL;
	struct ubj_list l;
	struct ubj_value v;

	*n = 0;
	if (ubj_list(u, trees, &l) < 0)
		return err_set(e, "there are no trees");
	while (!fault && ubj_next(&l, &v)) {
		fault = *n == MOST_TREES	     ? "is one too many"
			: read_columns(u, v, &t) < 0 ? "cannot be read"
						     : arrange(&t, columns);
		if (!fault)
			put_tree(&t, (*n)++, columns, out);
	}
	release(&t);
	if (fault)
		return err_set(e, "tree %d %s", *n, fault);
	return l.is_damaged ? err_set(e, "the trees break off after tree %d", *n) : 0;
}

/* The trees may be of several classes: here all are of one. */
static int check_info(const struct ubj *u, struct ubj_value info, int n, struct err *e)
{
	int32_t *of = xcalloc((size_t)n + 1, sizeof *of);
	int bad = read_ints(u, info, of, n) < 0;

	for (int i = 0; i < n; i++)
		bad |= of[i] != 0;
	free(of);
	return bad ? err_set(e, "the trees are of several classes") : 0;
}

static void put_model(const struct buf *trees, int n, struct buf *out)
{
	ubj_put_name(out, "model");
	buf_ch(out, '{');
	ubj_put_name(out, "gbtree_model_param");
	buf_ch(out, '{');
	put_number("num_parallel_tree", 1, out);
	put_number("num_trees", n, out);
	put_number("size_leaf_vector", 0, out);
	buf_ch(out, '}');
	ubj_put_name(out, "tree_info");
	buf_ch(out, '[');
	for (int i = 0; i < n; i++)
		buf_add(out, "i", 2); /* and a 0 */
	buf_ch(out, ']');
	ubj_put_name(out, "trees");
	buf_ch(out, '[');
	buf_add(out, trees->s ? trees->s : "", trees->n);
	buf_str(out, "]}");
}

static void put_learner(const struct head *h, size_t columns, const struct buf *trees, int n,
			struct buf *out)
{
	char base[40];

	snprintf(base, sizeof base, "%.9g", (double)h->base);
	buf_ch(out, '{');
	ubj_put_name(out, "attributes");
	buf_str(out, "{}");
	ubj_put_name(out, "feature_names");
	buf_str(out, "[]");
	ubj_put_name(out, "feature_types");
	buf_str(out, "[]");
	ubj_put_name(out, "gradient_booster");
	buf_ch(out, '{');
	put_model(trees, n, out);
	ubj_put_name(out, "name");
	ubj_put_text(out, "gbtree");
	buf_ch(out, '}');
	ubj_put_name(out, "learner_model_param");
	buf_ch(out, '{');
	ubj_put_name(out, "base_score");
	ubj_put_text(out, base);
	put_number("boost_from_average", 0, out);
	put_number("num_class", 0, out);
	put_number("num_feature", (int64_t)columns, out);
	put_number("num_target", 1, out);
	buf_ch(out, '}');
	ubj_put_name(out, "objective");
	buf_ch(out, '{');
	ubj_put_name(out, "name");
	ubj_put_text(out, h->objective);
	ubj_put_name(out, "reg_loss_param");
	buf_ch(out, '{');
	put_number("scale_pos_weight", 1, out);
	buf_str(out, "}}}");
}

int trees_write_anew(const void *bytes, size_t n, size_t columns, struct buf *out, struct err *e)
{
	const struct ubj u = {bytes, n};
	const struct ubj_value learner = ubj_get(&u, ubj_root(&u), "learner"),
			       model = GET(&u, learner, "gradient_booster", "model");
	static const int version[] = {1, 7, 4};
	struct buf trees = BUF_INIT;
	struct head h;
	int count, rc = read_head(&u, learner, columns, &h, e);

	if (rc == 0)
		rc = read_trees(&u, ubj_get(&u, model, "trees"), columns, &trees, &count, e);
	if (rc == 0)
		rc = check_info(&u, ubj_get(&u, model, "tree_info"), count, e);
	if (rc == 0) {
		buf_ch(out, '{');
		ubj_put_name(out, "learner");
		put_learner(&h, columns, &trees, count, out);
		ubj_put_name(out, "version");
		buf_ch(out, '[');
		for (size_t i = 0; i < sizeof version / sizeof *version; i++) {
			buf_ch(out, 'i');
			ubj_put_bytes(out, (uint64_t)version[i], 1);
		}
		buf_str(out, "]}");
	}
	buf_free(&trees);
	return rc;
}
