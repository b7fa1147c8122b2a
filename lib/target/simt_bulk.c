#include "lib/target/simt_bulk.h"

#include "lib/nest/box.h"
#include "lib/target/simt_proxy.h"

/* NVIDIA, "Parallel Thread Execution ISA", "Asynchronous copy: bulk copy" and "mbarrier". A phase
 * of a barrier ends when its one thread has arrived and as many bytes have come as that thread
 * said. */
const char simt_bulk_ptx[] =
	"DEVICE void bulk_init(unsigned long long *b)\n"
	"{ asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" :: \"r\"(in_block(b)) : "
	"\"memory\"); }\n"
	"#define BULK_FENCE() asm volatile(\"fence.mbarrier_init.release.cluster;\\n\\t\" \\\n"
	"\t\"fence.proxy.async.shared::cta;\" ::: \"memory\")\n"
	"DEVICE void bulk_copy(void *to, const void *from, unsigned bytes, unsigned long long *b)\n"
	"{ asm volatile(\"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes \"\n"
	"\t\"[%0], [%1], %2, [%3];\"\n"
	"\t:: \"r\"(in_block(to)), \"l\"(from), \"r\"(bytes), \"r\"(in_block(b)) : \"memory\"); }\n"
	"struct __align__(64) BOX_MAP { unsigned long long word[16]; };\n"
	"#define BOX __grid_constant__ BOX_MAP\n"
	"DEVICE void box_copy(void *to, const BOX_MAP *box, int c, int x, int y, int image, int right, "
	"int down, unsigned long long *b)\n"
	"{ asm volatile(\"cp.async.bulk.tensor.4d.shared::cluster.global.im2col\"\n"
	"\t\".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};\"\n"
	"\t:: \"r\"(in_block(to)), \"l\"(box), \"r\"(c), \"r\"(x), \"r\"(y), \"r\"(image), "
	"\"r\"(in_block(b)),\n"
	"\t\"h\"((short)right), \"h\"((short)down) : \"memory\"); }\n"
	"DEVICE void bulk_arrive(unsigned long long *b, unsigned bytes)\n"
	"{ asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\"\n"
	"\t:: \"r\"(in_block(b)), \"r\"(bytes) : \"memory\"); }\n"
	"DEVICE void bulk_wait(unsigned long long *b, unsigned phase)\n"
	"{ asm volatile(\"{ .reg .pred there;\\n\\t\"\n"
	"\t\"AGAIN: mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\\n\\t\"\n"
	"\t\"@!there bra AGAIN; }\"\n"
	"\t:: \"r\"(in_block(b)), \"r\"(phase) : \"memory\"); }\n";

const char simt_bulk_emulated[] = "#define bulk_init emulator_bulk_init\n"
				  "#define BULK_FENCE()\n"
				  "#define bulk_copy emulator_bulk_copy\n"
				  "typedef emulator_box BOX_MAP;\n"
				  "#define BOX emulator_box\n"
				  "#define box_copy emulator_box_copy\n"
				  "#define bulk_arrive emulator_bulk_arrive\n"
				  "#define bulk_wait emulator_bulk_wait\n";

/* Groups take turns with the barriers. What threads themselves read of the memory before they last
 * met must come before the copy overwrites it, by another way to memory than theirs: that takes a
 * fence. A wait goes through one group as a rule. */
const char simt_bulk_words[] =
	"#define BULK_BEGIN(at, n) \\\n"
	"\tunsigned long long *const bulk_barrier = \\\n"
	"\t\t(unsigned long long *)((char *)block_memory + (at)); \\\n"
	"\tint bulk_groups = 0, bulk_waited = 0; \\\n"
	"\tunsigned bulk_bytes = 0; \\\n"
	"\tif (THREAD < (n)) bulk_init(bulk_barrier + THREAD); \\\n"
	"\tBULK_FENCE(); \\\n"
	"\tBARRIER()\n"
	"#define BULK_OVER_READS() do { if (THREAD == 0) GROUP_FENCE(); } while (0)\n"
	"#define BULK_COPY(to, from, bytes, n) do { \\\n"
	"\tif (THREAD == 0) \\\n"
	"\t\tbulk_copy(to, from, bytes, bulk_barrier + bulk_groups % (n)); \\\n"
	"\tbulk_bytes += (bytes); } while (0)\n"
	"#define BOX_COPY(to, box, c, x, y, image, right, down, bytes, n) do { \\\n"
	"\tif (THREAD == 0) \\\n"
	"\t\tbox_copy(to, box, c, x, y, image, right, down, \\\n"
	"\t\t\tbulk_barrier + bulk_groups % (n)); \\\n"
	"\tbulk_bytes += (bytes); } while (0)\n"
	"#define BULK_END_GROUP(n) do { \\\n"
	"\tif (THREAD == 0) bulk_arrive(bulk_barrier + bulk_groups % (n), bulk_bytes); \\\n"
	"\tbulk_bytes = 0; bulk_groups++; } while (0)\n"
	"#define BULK_WAIT(groups, n) \\\n"
	"\t_Pragma(\"unroll 1\") \\\n"
	"\tfor (; bulk_waited < bulk_groups - (groups); bulk_waited++) \\\n"
	"\t\tbulk_wait(bulk_barrier + bulk_waited % (n), bulk_waited / (n) & 1)\n";

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
