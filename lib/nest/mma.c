#include "lib/nest/mma.h"

#include <string.h>

static const struct {
	const char *name;
	int depth;
	enum elem left, right, sum;
} kinds[MMA_KINDS] = {
	[MMA_TF32X3] = {"tf32x3", 8, ELEM_F32, ELEM_F32, ELEM_F32},
	[MMA_TF32] = {"tf32", 8, ELEM_F32, ELEM_F32, ELEM_F32},
	[MMA_BF16] = {"bf16", 16, ELEM_BF16, ELEM_BF16, ELEM_F32},
	[MMA_F16] = {"f16", 16, ELEM_F16, ELEM_F16, ELEM_F32},
	[MMA_S8] = {"s8", 32, ELEM_S8, ELEM_S8, ELEM_S32},
	[MMA_U8] = {"u8", 32, ELEM_U8, ELEM_S8, ELEM_S32},
};

const char *mma_name(enum mma_kind k)
{
	return kinds[k].name;
}

int mma_depth(enum mma_kind k)
{
	return kinds[k].depth;
}

int mma_pair(enum mma_kind k)
{
	return 4 / elem_size(kinds[k].left);
}

enum elem mma_elem(enum mma_kind k, int is_right)
{
	return is_right ? kinds[k].right : kinds[k].left;
}

enum elem mma_sum(enum mma_kind k)
{
	return kinds[k].sum;
}

int mma_row(int lane, int sum)
{
	return lane / 4 + 8 * (sum / 2);
}

int mma_column(int lane, int sum)
{
	return lane % 4 * 2 + sum % 2;
}

enum { TF32_BITS = 0x2000 }; /* of what is cut off */

/* To ten bits behind the point: to the nearest, ties away from zero, as cvt.rna.tf32.f32 does; or
 * cut off. */
static double tf32(double x, int cut)
{
	float f = (float)x;
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	bits = (bits + (cut ? 0 : TF32_BITS / 2)) & ~(uint32_t)(TF32_BITS - 1);
	memcpy(&f, &bits, sizeof f);
	return (double)f;
}

double mma_product(const struct mma *m, double a, double b)
{
	double x, y;

	if (m->kind == MMA_TF32)
		return tf32(a, m->group) * tf32(b, m->group);
	if (m->kind != MMA_TF32X3)
		return a * b;
	x = tf32(a, 0);
	y = tf32(b, 0);
	return x * tf32(b - y, 0) + tf32(a - x, 0) * y + x * y;
}

static unsigned needs(const struct node *t)
{
	unsigned bits = 0;

	for (; t; t = t->next) {
		if (t->kind == NODE_MMA)
			bits |= 1U << t->mma->kind | (t->mma->group ? 1U << MMA_GROUPS : 0);
		bits |= needs(t->body) | needs(t->orelse);
	}
	return bits;
}

unsigned mma_needs(const struct nest *n)
{
	return needs(n->body) | (nest_has_bulk(n) ? 1U << MMA_BULK : 0);
}

void nest_mma(struct nest *n, int acc, struct affine first, const struct mma *m)
{
	struct node *s = nest_append(n, NODE_MMA);
	struct mma *kept = arena_new(n->arena, struct mma);

	*kept = *m;
	s->buffer = acc;
	s->a = first;
	s->mma = kept;
}

int mma_core(enum mma_kind k)
{
	return MMA_CORE_BYTES / elem_size(kinds[k].left);
}

int mma_tile_rows(const struct mma *m)
{
	return m->group ? MMA_GROUP * MMA_ROWS : MMA_ROWS;
}

int64_t mma_offset(const struct mma *m, const struct mma_side *s, int64_t i, int64_t k)
{
	const int64_t unit = m->group ? mma_core(m->kind) : mma_pair(m->kind);
	const int64_t at = k / unit * s->k_step + k % unit;

	return at + (m->group ? i / MMA_CORE * s->step + i % MMA_CORE * s->row : i * s->step);
}

struct affine mma_at(const struct mma *m, const struct mma_side *s, int64_t i, int64_t k)
{
	return af_add(s->at, af(mma_offset(m, s, i, k)));
}

void mma_split(const struct nest *n, int buffer, const struct affine *at, struct affine *rows,
	       struct affine *rest)
{
	const int64_t by = (int64_t)SWIZZLE_ROWS * n->buffer[buffer].swizzle.row;
	const struct affine all = *at;

	*rows = af(all.c / by * by);
	*rest = af(all.c % by);
	for (int i = 0; i < all.n; i++) {
		struct affine *to = all.t[i].coef % by ? rest : rows;

		to->t[to->n++] = all.t[i];
	}
}
