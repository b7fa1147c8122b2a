#include "lib/target/simt_tile.h"

#include "lib/nest/mma.h"
#include "lib/target/simt_bulk.h"
#include "lib/target/simt_group.h"
#include "lib/target/simt_proxy.h"

static void copy(struct text *p, const struct node *t)
{
	if (nest_is_bulk(p->n, t)) {
		simt_bulk_copy(p, t);
		return;
	}
	text_indent(p);
	buf_str(p->out, "COPY(&");
	text_element(p, t->buffer, &t->a);
	buf_str(p->out, ", &");
	text_element(p, t->from, &t->b);
	buf_fmt(p->out, ", %d, ", t->lanes);
	if (t->valid)
		text_affine(p, t->valid);
	else
		buf_int(p->out, t->lanes);
	buf_str(p->out, ");\n");
}

/* ", IN_ORDER(&left3[i], STEP, K_STEP));" of a side, from a row and step on. */
static void side(struct text *p, const struct mma *m, const struct mma_side *s, int row, int step)
{
	const struct swizzle *order = &p->n->buffer[s->buffer].swizzle;
	const struct swizzle_bits b = swizzle_bits(order);
	struct affine at = mma_at(m, s, row, (int64_t)step * mma_depth(m->kind)), rest;

	if (!order->row) {
		buf_str(p->out, ", IN_ORDER(&");
		text_element(p, s->buffer, &at);
		buf_fmt(p->out, ", %lld, %lld));\n", (long long)s->step, (long long)s->k_step);
		return;
	}
	mma_split(p->n, s->buffer, &at, &at, &rest);
	buf_str(p->out, ", IN_ROWS(&");
	text_place(p, s->buffer, &at);
	buf_str(p->out, ", ");
	text_affine(p, &rest);
	buf_fmt(p->out, ", %d, %lld, %d, %d, %d));\n", order->row, (long long)s->k_step, b.down,
		b.mask, b.up);
}

static void declare(struct text *p, const char *name, char which, int n)
{
	text_indent(p);
	buf_fmt(p->out, "%c_%s ", which, name);
	for (int i = 0; i < n; i++)
		buf_fmt(p->out, "%s%c%d", i ? ", " : "", which, i);
	buf_str(p->out, ";\n");
}

static void load_b(struct text *p, const struct mma *m, int step)
{
	const char *name = mma_name(m->kind);

	for (int j = 0; j < m->across; j += 2) {
		text_indent(p);
		if (j + 1 < m->across)
			buf_fmt(p->out, "load_b2_%s(b%d, b%d", name, j, j + 1);
		else
			buf_fmt(p->out, "load_b_%s(b%d", name, j);
		side(p, m, &m->b, j * MMA_COLUMNS, step);
	}
}

static void multiply(struct text *p, const struct node *t, int step)
{
	const struct mma *m = t->mma;
	const char *name = mma_name(m->kind);
	int64_t first = text_constant(p, &t->a);

	text_indent(p);
	buf_str(p->out, "TOGETHER();\n");
	text_indent(p);
	buf_str(p->out, "{\n");
	p->depth++;
	declare(p, name, 'a', m->down);
	declare(p, name, 'b', m->across);
	for (int i = 0; i < m->down; i++) {
		text_indent(p);
		buf_fmt(p->out, "load_a_%s(a%d", name, i);
		side(p, m, &m->a, i * MMA_ROWS, step);
	}
	load_b(p, m, step);
	for (int tile = 0; tile < m->down * m->across; tile++) {
		text_indent(p);
		buf_fmt(p->out, "mma_%s(", name);
		text_register(p, t->buffer, first + tile);
		buf_fmt(p->out, ", a%d, b%d);\n", tile / m->across, tile % m->across);
	}
	p->depth--;
	text_indent(p);
	buf_str(p->out, "}\n");
}

/* OpenCL gets no products by groups: its limits have none. */
static void products(struct text *p, const struct node *t)
{
	if (t->mma->group) {
		simt_group_print(p, t);
		return;
	}
	for (int step = 0; step < t->mma->steps; step++)
		multiply(p, t, step);
}

static void wait_for(struct text *p, const struct node *t)
{
	if (simt_proxy_copies(p->n)) {
		text_indent(p);
		buf_fmt(p->out, "WAIT(%lld);\n", (long long)t->a.c);
	}
	simt_bulk_wait(p, t->a.c);
	if (!simt_proxy_written(p->n))
		return;
	text_indent(p);
	buf_str(p->out, "GROUP_FENCE();\n");
}

void simt_tile_print(struct text *p, const struct node *t)
{
	if (t->kind == NODE_COPY)
		copy(p, t);
	else if (t->kind == NODE_MMA)
		products(p, t);
	else
		wait_for(p, t);
}

void simt_tile_end_group(struct text *p, const struct node *loop)
{
	if (nest_has(loop->body, NODE_COPY)) {
		if (simt_proxy_copies(p->n)) {
			text_indent(p);
			buf_str(p->out, "END_GROUP();\n");
		}
		simt_bulk_end_group(p);
	}
	simt_group_end(p, loop);
}
