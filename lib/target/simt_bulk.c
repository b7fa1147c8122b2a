/* A bulk copy is a copy of more than 16 bytes. The block's first thread starts it, and the bytes
 * that come are counted by a barrier in the block's memory. Its groups are those of the other
 * copies, so the same waits wait for both. Bulk copies and groups' products go to the block's
 * memory by another way than threads, the async proxy. A fence, which costs time in every chunk,
 * stands only where both ways touch a buffer (lib/target/simt_proxy.c).
 */
#include "lib/target/simt_bulk.h"

#include "lib/nest/box.h"
#include "lib/target/simt_proxy.h"

static int has_copies(const struct node *t)
{
	for (; t && t->kind != NODE_SYNC; t = t->next)
		if (t->kind == NODE_COPY || t->kind == NODE_WAIT || has_copies(t->body) ||
		    has_copies(t->orelse))
			return 1;
	return 0;
}

void simt_bulk_begin(struct text *p, const struct node *t)
{
	if (nest_has_bulk(p->n) && has_copies(t))
		buf_fmt(p->out, "\tBULK_BEGIN(%lld, %d);\n",
			(long long)(nest_block_bytes(p->n) - NEST_BULK_BYTES), NEST_BULK_GROUPS);
}

static void box_copy(struct text *p, const struct node *t)
{
	const struct box_place *x = t->place;
	const struct affine *const at[] = {&x->channel, &x->column, &x->row,
					   &x->image,	&x->right,  &x->down};

	buf_fmt(p->out, ", &box%d", t->box);
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		buf_str(p->out, ", ");
		text_affine(p, at[i]);
	}
}

void simt_bulk_copy(struct text *p, const struct node *t)
{
	if (simt_proxy_read(p->n, t->buffer)) {
		text_indent(p);
		buf_str(p->out, "BULK_OVER_READS();\n");
	}
	text_indent(p);
	buf_str(p->out, t->place ? "BOX_COPY(&" : "BULK_COPY(&");
	text_place(p, t->buffer, &t->a);
	if (t->place) {
		box_copy(p, t);
	} else {
		buf_str(p->out, ", &");
		text_place(p, t->from, &t->b);
	}
	buf_fmt(p->out, ", %d, %d);\n", t->lanes * elem_size(p->n->buffer[t->buffer].elem),
		NEST_BULK_GROUPS);
}

void simt_bulk_end_group(struct text *p)
{
	if (!nest_has_bulk(p->n))
		return;
	text_indent(p);
	buf_fmt(p->out, "BULK_END_GROUP(%d);\n", NEST_BULK_GROUPS);
}

void simt_bulk_wait(struct text *p, int64_t groups)
{
	if (!nest_has_bulk(p->n))
		return;
	text_indent(p);
	buf_fmt(p->out, "BULK_WAIT(%lld, %d);\n", (long long)groups, NEST_BULK_GROUPS);
}
