#include "lib/model/trees.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 20, MOST_IN_ALL = 1 << 28 };
enum { BLOCK = 32, ABREAST = 8 }; /* rows */
enum { NODE_BYTES = 6, LEAF = 0xffff, MISSING = 0x8000 };

/* A row has each feature in two places, one after the other. A feature that is missing is less than
 * all values in the first, and greater in the second: a split looks at the place that sends it the
 * right way. Of a leaf, the split is NaN, and the left child is itself: whoever is there stays. */
struct node {
	float split;
	int32_t left;  /* child, among the nodes of all trees */
	int32_t place; /* of the feature */
	float value;   /* of a leaf */
};

struct tree {
	int32_t root;
	int depth; /* splits on the longest way */
};

struct trees {
	size_t columns;
	float base;
	int n, nnodes, cap;
	struct tree *tree;
	struct node *node;
};

struct trees *trees_new(size_t columns, float base)
{
	struct trees *t = xcalloc(1, sizeof *t);

	t->columns = columns;
	t->base = base;
	return t;
}

void trees_free(struct trees *t)
{
	if (!t)
		return;
	free(t->tree);
	free(t->node);
	free(t);
}

/* Makes room for so many nodes more. */
static void make_room(struct trees *t, int n)
{
	if (t->nnodes + n <= t->cap)
		return;
	t->cap = t->cap * 2 + n;
	t->node = xrealloc(t->node, (size_t)t->cap * sizeof *t->node);
}

static int is_leaf(const struct trees *t, int32_t at)
{
	return t->node[at].left == at;
}

static int depth_of(const struct trees *t, int32_t root)
{
	int32_t at = root, end = root + 1; /* a level */
	int depth = 0;

	for (;; depth++) {
		int32_t splits = 0;

		for (; at < end; at++)
			splits += !is_leaf(t, at);
		if (!splits)
			return depth;
		end += 2 * splits;
	}
}

static struct node node_of(const struct trees_node *node, int32_t at, int32_t left)
{
	if (node->feature < 0)
		return (struct node){.split = NAN, .left = at, .value = node->value};
	return (struct node){.split = node->value,
			     .left = left,
			     .place = 2 * node->feature + (node->missing != 0)};
}

const char *trees_add(struct trees *t, const struct trees_node *node, int n)
{
	const int root = t->nnodes;
	int told = 1; /* nodes that the ones before lead to */

	if (n < 1 || n > MOST_NODES || root > MOST_IN_ALL)
		return "is too large";
	make_room(t, n);
	for (int i = 0; i < n; i++) {
		const int splits = node[i].feature >= 0;

		if (i >= told)
			return "has nodes that none leads to";
		if (!isfinite(node[i].value))
			return "has a value that is no number";
		if (splits && (size_t)node[i].feature >= t->columns)
			return "splits on a feature that is not there";
		t->node[root + i] = node_of(&node[i], root + i, root + told);
		told += splits ? 2 : 0;
	}
	if (told != n)
		return "has a child that is not there";
	t->nnodes += n;
	t->tree = xrealloc(t->tree, sizeof *t->tree * ((size_t)t->n + 1));
	t->tree[t->n++] = (struct tree){root, depth_of(t, root)};
	return NULL;
}

/* ---- as bytes ---- */

static void put_number(struct buf *out, uint32_t x, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_ch(out, (char)(x >> 8 * i));
}

static void put_float(struct buf *out, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	put_number(out, bits, sizeof bits);
}

void trees_save(const struct trees *t, struct buf *out)
{
	put_float(out, t->base);
	for (int i = 0; i < t->nnodes; i++) {
		const struct node *s = &t->node[i];

		put_float(out, is_leaf(t, i) ? s->value : s->split);
		put_number(out,
			   is_leaf(t, i) ? LEAF
					 : (uint32_t)(s->place / 2 | (s->place % 2 ? MISSING : 0)),
			   2);
	}
}

static uint32_t number_at(const unsigned char *p, int bytes)
{
	uint32_t x = 0;

	for (int i = 0; i < bytes; i++)
		x |= (uint32_t)p[i] << 8 * i;
	return x;
}

static float float_at(const unsigned char *p)
{
	const uint32_t bits = number_at(p, sizeof bits);
	float x;

	memcpy(&x, &bits, sizeof x);
	return x;
}

static struct trees_node node_at(const unsigned char *p)
{
	const int split = (int)number_at(p + sizeof(float), 2);

	return split == LEAF
		       ? (struct trees_node){float_at(p), -1, 0}
		       : (struct trees_node){float_at(p), split & ~MISSING, (split & MISSING) != 0};
}

/* Counts the nodes of the tree that begins at p; 0: it breaks off. */
static int count_nodes(const unsigned char *p, size_t room)
{
	int told = 1;

	for (int i = 0; i < told; i++, p += NODE_BYTES) {
		if ((size_t)i == room || i == MOST_NODES)
			return 0;
		told += node_at(p).feature < 0 ? 0 : 2;
	}
	return told;
}

struct trees *trees_read(const void *bytes, size_t n, size_t columns, struct err *e)
{
	const unsigned char *p = bytes, *end = p + n;
	struct trees_node *node = NULL;
	const char *fault = NULL;
	struct trees *t;

	if (n <= sizeof(float) || (n - sizeof(float)) % NODE_BYTES || !isfinite(float_at(p))) {
		err_set(e, "these are no trees");
		return NULL;
	}
	t = trees_new(columns, float_at(p));
	for (p += sizeof(float); p < end && !fault;) {
		const int count = count_nodes(p, (size_t)(end - p) / NODE_BYTES);

		node = xrealloc(node, sizeof *node * ((size_t)count + 1));
		for (int i = 0; i < count; i++, p += NODE_BYTES)
			node[i] = node_at(p);
		fault = count ? trees_add(t, node, count) : "breaks off";
	}
	free(node);
	if (!fault)
		return t;
	err_set(e, "tree %d %s", t->n, fault);
	trees_free(t);
	return NULL;
}

/* ---- predicting ---- */

/* Writes the features of a row to both of their places, which those abreast have side by side. */
static void place_row(const float *x, size_t columns, float *to)
{
	for (size_t i = 0; i < columns; i++) {
		to[2 * i * ABREAST] = isnan(x[i]) ? -INFINITY : x[i];
		to[(2 * i + 1) * ABREAST] = isnan(x[i]) ? INFINITY : x[i];
	}
}

static inline int32_t step(const struct node *all, int32_t at, const float *x)
{
	return all[at].left + (x[(size_t)all[at].place * ABREAST] >= all[at].split);
}

/* The rows' ways through the tree do not wait for each other. */
static void add_leaves(const struct node *all, const struct tree *tree, const float *x,
		       float out[ABREAST])
{
	int32_t a = tree->root, b = a, c = a, d = a, e = a, f = a, g = a, h = a;

	for (int left = tree->depth; left > 0; left--) {
		a = step(all, a, x);
		b = step(all, b, x + 1);
		c = step(all, c, x + 2);
		d = step(all, d, x + 3);
		e = step(all, e, x + 4);
		f = step(all, f, x + 5);
		g = step(all, g, x + 6);
		h = step(all, h, x + 7);
	}
	out[0] += all[a].value;
	out[1] += all[b].value;
	out[2] += all[c].value;
	out[3] += all[d].value;
	out[4] += all[e].value;
	out[5] += all[f].value;
	out[6] += all[g].value;
	out[7] += all[h].value;
}

/* A tree answers for a block of rows before the next tree does: tree and rows are in the cache. */
static void predict_block(const struct trees *t, const float *x, float out[BLOCK])
{
	const size_t places = 2 * t->columns;

	for (int i = 0; i < BLOCK; i++)
		out[i] = t->base;
	for (int k = 0; k < t->n; k++)
		for (size_t i = 0; i < BLOCK; i += ABREAST)
			add_leaves(t->node, &t->tree[k], x + i * places, out + i);
}

void trees_predict(const struct trees *t, const float *x, size_t rows, float *out)
{
	const size_t places = 2 * t->columns;
	float *placed = xcalloc(BLOCK * places, sizeof *placed);

	for (size_t begin = 0; begin < rows; begin += BLOCK) {
		const size_t n = rows - begin < BLOCK ? rows - begin : BLOCK;
		float sum[BLOCK];

		for (size_t i = 0; i < n; i++)
			place_row(x + (begin + i) * t->columns, t->columns,
				  placed + i / ABREAST * ABREAST * places + i % ABREAST);
		predict_block(t, placed, sum);
		memcpy(out + begin, sum, n * sizeof *out);
	}
	free(placed);
}
