#include "lib/target/simt_group.h"

#include <string.h>

/* ---- functions ---- */

static const char *depth_text(enum mma_kind k)
{
	return mma_depth(k) == 8 ? "8" : "16";
}

static void each_sum(struct buf *out, int across, const char *before, const char *after)
{
	for (int j = 0; j < across; j++)
		for (int s = 0; s < 4; s++)
			buf_fmt(out, "%s%sc%d.s%d%s", j || s ? ", " : "", before, j, s, after);
}

static void assembly(struct buf *out, enum mma_kind kind, int across)
{
	const char *name = mma_name(kind);

	buf_fmt(out,
		"\tasm volatile(\"{ .reg .pred p; setp.ne.b32 p, 1, 0;\\n\\t\"\n"
		"\t\t\"wgmma.mma_async.sync.aligned.m64n%dk%s.f32.%s.%s \"\n\t\t\"{",
		across * MMA_COLUMNS, depth_text(kind), name, name);
	for (int i = 0; i < 4 * across; i++)
		buf_fmt(out, "%s%%%d", i ? ", " : "", i);
	buf_fmt(out, "}, %%%d, %%%d, p, 1, 1%s; }\"\n\t\t: ", 4 * across, 4 * across + 1,
		mma_pair(kind) == 2 ? ", 0, 0" : "");
	each_sum(out, across, "\"+f\"(", ")");
	buf_str(out, "\n\t\t: \"l\"(a), \"l\"(b) : \"memory\");\n");
}

/* "group_bf16_8(c0, .., c7, a, b)": a step of one tile of 64 rows by 8 * across columns. */
static void function(struct buf *out, enum mma_kind kind, int across)
{
	buf_fmt(out, "\n#ifndef GROUP_%s_%d\n#define GROUP_%s_%d\n", mma_name(kind), across,
		mma_name(kind), across);
	buf_fmt(out, "DEVICE void group_%s_%d(", mma_name(kind), across);
	for (int j = 0; j < across; j++)
		buf_fmt(out, "v4 &c%d, ", j);
	buf_str(out, "unsigned long long a, unsigned long long b)\n{\n#ifdef TL_EMULATOR\n"
		     "\tfloat *c[] = {");
	each_sum(out, across, "&", "");
	buf_fmt(out, "};\n\n\temulator_group_mma<emulator_%s_words>(c, %d, a, b);\n#else\n",
		mma_name(kind), across);
	assembly(out, kind, across);
	buf_str(out, "#endif\n}\n#endif\n");
}

enum { MOST_ACROSS = 32 };

static void find(const struct node *t, char found[MMA_KINDS][MOST_ACROSS + 1])
{
	for (; t; t = t->next) {
		if (t->kind == NODE_MMA && t->mma->group && t->mma->across <= MOST_ACROSS)
			found[t->mma->kind][t->mma->across] = 1;
		find(t->body, found);
		find(t->orelse, found);
	}
}

void simt_group_functions(const struct nest *n, struct buf *out)
{
	char found[MMA_KINDS][MOST_ACROSS + 1];

	memset(found, 0, sizeof found);
	find(n->body, found);
	for (int kind = 0; kind < MMA_KINDS; kind++)
		for (int across = 1; across <= MOST_ACROSS; across++)
			if (found[kind][across])
				function(out, (enum mma_kind)kind, across);
}

/* ---- nodes ---- */

/* How rows are swizzled, as a descriptor has it. */
static int order_of(const struct swizzle *s)
{
	int order = 0;

	for (int row = SWIZZLE_UNITS; s->row && row >= s->row / s->unit; row /= 2)
		order++;
	return order;
}

/* "const unsigned long long NAME = matrices_at(&left3[i], K_BYTES, I_BYTES, ORDER);" of a side. */
static void side(struct text *p, const struct mma *m, const struct mma_side *s, char name)
{
	const int size = elem_size(mma_elem(m->kind, 0));

	text_indent(p);
	buf_fmt(p->out, "const unsigned long long %c = matrices_at(&", name);
	text_place(p, s->buffer, &s->at);
	buf_fmt(p->out, ", %lld, %lld, %d);\n", (long long)s->k_step * size,
		(long long)s->step * size, order_of(&p->n->buffer[s->buffer].swizzle));
}

/* How much further a row and step of a side are, in the units that descriptors count. */
static long long further(const struct mma *m, const struct mma_side *s, int row, int step)
{
	struct mma_side from = *s;
	struct affine at;

	from.at = af(0);
	at = mma_at(m, &from, row, (int64_t)step * mma_depth(m->kind));
	return at.c * elem_size(mma_elem(m->kind, 0)) / MMA_CORE_BYTES;
}

static void step_of(struct text *p, const struct node *t, int step, int tile)
{
	const struct mma *m = t->mma;
	int64_t first = text_constant(p, &t->a) + (int64_t)tile * m->across;

	text_indent(p);
	buf_fmt(p->out, "group_%s_%d(", mma_name(m->kind), m->across);
	for (int j = 0; j < m->across; j++) {
		text_register(p, t->buffer, first + j);
		buf_str(p->out, ", ");
	}
	buf_fmt(p->out, "a + %lld, b + %lld);\n", further(m, &m->a, tile * mma_tile_rows(m), step),
		further(m, &m->b, 0, step));
}

static void hold(struct text *p, const struct node *t)
{
	int64_t first = text_constant(p, &t->a);

	for (int i = 0; i < t->mma->down * t->mma->across; i++) {
		text_indent(p);
		buf_str(p->out, "HOLD(");
		text_register(p, t->buffer, first + i);
		buf_str(p->out, ");\n");
	}
}

static void line(struct text *p, const char *text)
{
	text_indent(p);
	buf_str(p->out, text);
}

void simt_group_print(struct text *p, const struct node *t)
{
	const struct mma *m = t->mma;

	if (!m->steps)
		return;
	hold(p, t);
	line(p, "TOGETHER();\n");
	line(p, "{\n");
	p->depth++;
	side(p, m, &m->a, 'a');
	side(p, m, &m->b, 'b');
	line(p, "GROUP_BEGIN();\n");
	for (int step = 0; step < m->steps; step++)
		for (int tile = 0; tile < m->down; tile++)
			step_of(p, t, step, tile);
	p->depth--;
	line(p, "}\n");
	line(p, "GROUP_END();\n");
}

static const struct node *product(const struct node *t)
{
	const struct node *found = NULL;

	for (; t && !found; t = t->next) {
		if (t->kind == NODE_MMA && t->mma->group)
			return t;
		found = product(t->body);
		found = found ? found : product(t->orelse);
	}
	return found;
}

void simt_group_end(struct text *p, const struct node *loop)
{
	const struct node *t = product(loop->body);

	if (!t)
		return;
	text_indent(p);
	buf_fmt(p->out, "GROUP_WAIT(%d);\n", t->mma->late);
	hold(p, t);
}
