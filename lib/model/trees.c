#include "lib/model/trees.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 1 << 20, MOST_IN_ALL = 1 << 28 };
enum { BLOCK = 64, ABREAST = 4 }; /* rows */
enum { NODE_BYTES = 6, LEAF = 0xffff, MISSING = 0x8000 };

struct node {
	float value;
	int32_t left; /* child, among the nodes of all trees; 0: a leaf */
	int32_t feature;
	int32_t missing;
};

struct trees {
	size_t columns;
	float base;
	int n, nnodes, cap;
	int32_t *root; /* the last one: where the next tree will begin */
	struct node *node;
};

struct trees *trees_new(size_t columns, float base)
{
	struct trees *t = xcalloc(1, sizeof *t);

	t->columns = columns;
	t->base = base;
	t->root = xcalloc(1, sizeof *t->root);
	return t;
}

void trees_free(struct trees *t)
{
	if (!t)
		return;
	free(t->root);
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

const char *trees_add(struct trees *t, const struct trees_node *node, int n)
{
	const int root = t->nnodes;
	int told = 1; /* nodes that the ones before lead to */

	if (n < 1 || n > MOST_NODES || root > MOST_IN_ALL)
		return "is too large";
	make_room(t, n);
	for (int i = 0; i < n; i++) {
		const int is_leaf = node[i].feature < 0;

		if (i >= told)
			return "has nodes that none leads to";
		if (!isfinite(node[i].value))
			return "has a value that is no number";
		if (!is_leaf && (size_t)node[i].feature >= t->columns)
			return "splits on a feature that is not there";
		t->node[root + i] = (struct node){
			.value = node[i].value,
			.left = is_leaf ? 0 : root + told,
			.feature = is_leaf ? 0 : node[i].feature,
			.missing = node[i].missing,
		};
		told += is_leaf ? 0 : 2;
	}
	if (told != n)
		return "has a child that is not there";
	t->nnodes += n;
	t->root = xrealloc(t->root, sizeof *t->root * ((size_t)t->n + 2));
	t->root[++t->n] = t->nnodes;
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

		put_float(out, s->value);
		put_number(out,
			   s->left ? (uint32_t)(s->feature | (s->missing ? MISSING : 0)) : LEAF, 2);
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

static int32_t step(const struct node *all, int32_t at, const float *x)
{
	const struct node *s = &all[at];
	const float v = x[s->feature];
	const int32_t child = s->left + (isnan(v) ? s->missing : v >= s->value);

	return s->left ? child : at;
}

/* The rows' ways through the tree do not wait for each other. */
static void add_leaves(const struct node *all, int32_t root, const float *x, size_t columns,
		       float out[ABREAST])
{
	int32_t at[ABREAST], going;

	for (int i = 0; i < ABREAST; i++)
		at[i] = root;
	do {
		going = 0;
		for (size_t i = 0; i < ABREAST; i++) {
			at[i] = step(all, at[i], x + i * columns);
			going |= all[at[i]].left;
		}
	} while (going);
	for (int i = 0; i < ABREAST; i++)
		out[i] += all[at[i]].value;
}

static void add_leaf(const struct node *all, int32_t root, const float *x, float *out)
{
	int32_t at = root;

	while (all[at].left)
		at = step(all, at, x);
	*out += all[at].value;
}

/* A tree answers for a block of rows before the next tree does: tree and rows are in the cache. */
void trees_predict(const struct trees *t, const float *x, size_t rows, float *out)
{
	for (size_t begin = 0; begin < rows; begin += BLOCK) {
		const size_t end = begin + BLOCK < rows ? begin + BLOCK : rows;

		for (size_t i = begin; i < end; i++)
			out[i] = t->base;
		for (int k = 0; k < t->n; k++) {
			size_t i = begin;

			for (; i + ABREAST <= end; i += ABREAST)
				add_leaves(t->node, t->root[k], x + i * t->columns, t->columns,
					   out + i);
			for (; i < end; i++)
				add_leaf(t->node, t->root[k], x + i * t->columns, &out[i]);
		}
	}
}
