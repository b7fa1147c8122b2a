#include "lib/nest/interp_block.h"

#include <stdlib.h>

#include "lib/nest/box.h"
#include "lib/nest/mma.h"

struct copy {
	int inner; /* the thread */
	int64_t group;
	struct place to;
	int lanes;
};

/* A thread has begun this product of a group of warps, whose places are constant by now. */
struct product {
	const struct node *t;
	struct mma m;
	int64_t step; /* of the block, in which it began */
};

enum { MOST_PRODUCTS = 2 };

/* A thread has begun these products. The oldest stands first. */
struct begun {
	int n;
	struct product of[MOST_PRODUCTS];
};

struct copies {
	int is_bulk;	/* the nest has bulk copies */
	int64_t groups; /* that have ended, in this block */
	int64_t waited; /* of those, how many the first thread has waited for */
	size_t n, room;
	struct copy *copy;
	struct begun *begun; /* of each thread of the block */
};

void copies_open(struct interp *s)
{
	s->copies = xcalloc(1, sizeof *s->copies);
	s->copies->is_bulk = nest_has_bulk(s->n);
	s->copies->begun = xcalloc((size_t)s->n->block_threads + 1, sizeof(struct begun));
}

void copies_close(struct interp *s)
{
	free(s->copies->copy);
	free(s->copies->begun);
	free(s->copies);
}

void copies_forget(struct interp *s)
{
	s->copies->groups = s->copies->waited = 0;
	s->copies->n = 0;
	for (int i = 0; i < s->n->block_threads; i++)
		s->copies->begun[i].n = 0;
}

static struct copy *add_copy(struct copies *c)
{
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		c->copy = xrealloc(c->copy, c->room * sizeof *c->copy);
	}
	return &c->copy[c->n++];
}

static int check_place(const struct interp *s, const struct place *p, int lanes)
{
	if (p->index % lanes == 0)
		return 0;
	return err_set(s->e, "a copy of %d elements stands at %s[%lld], which is no multiple",
		       lanes, p->buffer->name, (long long)p->index);
}

/* What is copied at once: so many elements from a place of one side to one of the other. */
struct piece {
	int64_t to, from;
	int lanes, valid;
};

/* Reads the lanes that there are; the others are 0. */
static int fetch(struct interp *s, const struct node *t, const struct piece *x, double *value)
{
	struct place from;

	if (access_locate(s, t->from, x->from, x->valid, &from) < 0 ||
	    (x->valid && check_place(s, &from, x->lanes) < 0) ||
	    access_read(s, &from, x->valid) < 0)
		return -1;
	access_get(&from, x->valid, value);
	for (int i = x->valid; i < x->lanes; i++)
		value[i] = 0;
	return 0;
}

static int copy(struct interp *s, const struct node *t, const struct piece *x)
{
	double value[NEST_COPY_BYTES];
	struct copy *c;
	struct place to;

	if (fetch(s, t, x, value) < 0 || access_locate(s, t->buffer, x->to, x->lanes, &to) < 0 ||
	    check_place(s, &to, x->lanes) < 0 || access_write(s, &to, x->lanes) < 0)
		return -1;
	access_set(&to, x->lanes, value);
	for (int i = 0; i < x->lanes; i++)
		to.written[i] = UNDER_WAY;
	c = add_copy(s->copies);
	*c = (struct copy){s->inner, s->copies->groups, to, x->lanes};
	return 0;
}

static int check_rows(const struct interp *s, const struct node *t, int64_t at)
{
	const struct buffer *b = &s->n->buffer[t->buffer];
	const int rows = SWIZZLE_ROWS * b->swizzle.row;

	if (!rows || at % rows == 0)
		return 0;
	return err_set(s->e, "a bulk copy for %s begins at %lld, between eight rows", b->name,
		       (long long)at);
}

/* Places are copied, whatever their order is; both sides' is the same. */
static int copy_in_bulk(struct interp *s, const struct node *t)
{
	const int unit = NEST_COPY_BYTES / elem_size(s->n->buffer[t->buffer].elem);
	const int64_t to = access_eval(s, &t->a), from = access_eval(s, &t->b);

	if (check_rows(s, t, to) < 0 || check_rows(s, t, from) < 0)
		return -1;
	for (int i = 0; i < t->lanes; i += unit)
		if (copy(s, t, &(struct piece){to + i, from + i, unit, unit}) < 0)
			return -1;
	return 0;
}

/* The number of a place's first position; -1 with s->e filled: it is at none. */
static int64_t first_position(const struct interp *s, const struct box *b,
			      const struct box_place *p)
{
	const int64_t row = access_eval(s, &p->row) - b->first_row;
	const int64_t column = access_eval(s, &p->column) - b->first_column;

	if (row < 0 || column < 0 || row % b->step_down || column % b->step_across ||
	    row / b->step_down >= b->down || column / b->step_across >= b->across)
		return err_set(s->e, "a box begins %lld down and %lld across, at no position",
			       (long long)row, (long long)column);
	return (access_eval(s, &p->image) * b->down + row / b->step_down) * b->across +
	       column / b->step_across;
}

/* Where the pixel of a position begins in the tensor; -1: it has no such pixel. */
static int64_t pixel_at(const struct interp *s, const struct box *b, const struct box_place *p,
			int64_t position)
{
	const int64_t image = position / (b->down * b->across);
	const int64_t y = position / b->across % b->down, x = position % b->across;
	const int64_t row = b->first_row + y * b->step_down + access_eval(s, &p->down);
	const int64_t column = b->first_column + x * b->step_across + access_eval(s, &p->right);

	if (image >= b->images || row < 0 || row >= b->height || column < 0 || column >= b->width)
		return -1;
	return ((image * b->height + row) * b->width + column) * b->channels;
}

static int copy_box(struct interp *s, const struct node *t)
{
	const struct box *b = &s->n->box[t->box];
	const int unit = NEST_COPY_BYTES / elem_size(s->n->buffer[t->buffer].elem);
	const int64_t to = access_eval(s, &t->a), channel = access_eval(s, &t->place->channel);
	const int64_t first = first_position(s, b, t->place);

	if (first < 0 || check_rows(s, t, to) < 0)
		return -1;
	for (int i = 0; i < b->positions; i++) {
		const int64_t pixel = pixel_at(s, b, t->place, first + i);

		for (int v = 0; v < b->values; v += unit) {
			struct piece x = {to + i * b->values + v, pixel + channel + v, unit, 0};

			if (pixel >= 0 && channel + v < b->channels)
				x.valid = unit;
			if (copy(s, t, &x) < 0)
				return -1;
		}
	}
	return 0;
}

int copies_start(struct interp *s, const struct node *t)
{
	if (!nest_is_bulk(s->n, t))
		return copy(s, t,
			    &(struct piece){access_eval(s, &t->a), access_eval(s, &t->b), t->lanes,
					    access_valid(s, t->valid, t->lanes)});
	if (s->inner)
		return 0;
	return t->place ? copy_box(s, t) : copy_in_bulk(s, t);
}

int copies_end_group(struct interp *s, const struct node *loop)
{
	struct copies *c = s->copies;

	c->groups += nest_has(loop->body, NODE_COPY);
	if (c->is_bulk && c->groups - c->waited > NEST_BULK_GROUPS)
		return err_set(s->e, "more than %d groups of bulk copies are under way",
			       NEST_BULK_GROUPS);
	return 0;
}

void copies_wait(struct interp *s, int64_t groups)
{
	struct copies *c = s->copies;
	size_t left = 0;

	if (!s->inner && c->waited < c->groups - groups)
		c->waited = c->groups - groups;

	for (size_t i = 0; i < c->n; i++) {
		struct copy *x = &c->copy[i];

		if (x->inner != s->inner || x->group >= c->groups - groups) {
			c->copy[left++] = *x;
			continue;
		}
		for (int l = 0; l < x->lanes; l++) {
			x->to.written[l] = WRITTEN;
			x->to.touch[l].writer = access_turn(s);
		}
	}
	c->n = left;
}

/* ---- products ---- */

/* Element (i, k) of a side, whose first one is at `first`. What was written after the product began
 * is not what it multiplies. */
static int element(struct interp *s, const struct product *of, const struct mma_side *side,
		   int64_t first, int i, int k, double *x)
{
	const struct mma *m = &of->m;
	const int unit = m->group ? mma_core(m->kind) : mma_pair(m->kind);
	const int64_t index = first + mma_offset(m, side, i, k);
	struct place p;

	if (k % unit == 0 && index % unit)
		return err_set(s->e,
			       "%d elements of a tile stand at %s[%lld], which is no multiple",
			       unit, s->n->buffer[side->buffer].name, (long long)index);
	if (access_locate(s, side->buffer, index, 1, &p) < 0 || access_read(s, &p, 1) < 0)
		return -1;
	if (access_step(p.touch->writer) > of->step)
		return err_set(s->e, "%s[%lld] is overwritten while it is multiplied",
			       p.buffer->name, (long long)index);
	access_get(&p, 1, x);
	return 0;
}

/* From here on the tiles lie in a swizzled buffer: the values of a step are in one row. */
static int check_swizzled(struct interp *s, const struct mma *m, const struct mma_side *side)
{
	const struct buffer *b = &s->n->buffer[side->buffer];
	struct affine rows, rest;
	int64_t from;

	if (!b->swizzle.row)
		return 0;
	mma_split(s->n, side->buffer, &side->at, &rows, &rest);
	from = access_eval(s, &rest);
	if (from >= 0 && from % b->swizzle.unit == 0 &&
	    from + m->steps * mma_depth(m->kind) <= b->swizzle.row)
		return 0;
	return err_set(s->e, "a tile stands at value %lld of the swizzled rows of %s",
		       (long long)from, b->name);
}

static int add(struct interp *s, const struct mma *m, double products, double *sum)
{
	*sum += products;
	if (mma_sum(m->kind) == ELEM_F32)
		*sum = (double)(float)*sum;
	else if (*sum != elem_round(ELEM_S32, *sum))
		return err_set(s->e, "a sum of products is %.0f, beyond 32 bits", *sum);
	return 0;
}

/* Adds the products of a tile that begins at this row and column to the thread's four sums, which
 * are of two rows and two columns: each element is read once. */
static int add_products(struct interp *s, const struct product *x, int row, int column, double *sum)
{
	const struct mma *m = &x->m;
	const int lane = s->inner % MMA_WARP;
	const int64_t left = access_eval(s, &m->a.at), right = access_eval(s, &m->b.at);
	double products[4] = {0}, a[2], b[2];

	for (int k = 0; k < m->steps * mma_depth(m->kind); k++) {
		for (int i = 0; i < 2; i++)
			if (element(s, x, &m->a, left, row + mma_row(lane, 2 * i), k, &a[i]) < 0 ||
			    element(s, x, &m->b, right, column + mma_column(lane, i), k, &b[i]) < 0)
				return -1;
		for (int i = 0; i < 4; i++)
			products[i] += mma_product(m, a[i / 2], b[i % 2]);
	}
	for (int i = 0; i < 4; i++)
		if (add(s, m, products[i], &sum[i]) < 0)
			return -1;
	return 0;
}

static int multiply(struct interp *s, const struct product *x)
{
	const struct node *t = x->t;
	const struct mma *m = &x->m;
	const int of_group = m->group ? s->inner / MMA_WARP % MMA_GROUP * MMA_ROWS : 0;

	for (int tile = 0; tile < m->down * m->across; tile++) {
		const int row = tile / m->across * mma_tile_rows(m) + of_group;
		const int column = tile % m->across * MMA_COLUMNS;
		struct place acc;

		if (access_locate(s, t->buffer, access_eval(s, &t->a) + tile, 4, &acc) < 0 ||
		    access_read(s, &acc, 4) < 0)
			return -1;
		if (add_products(s, x, row, column, acc.r) < 0)
			return -1;
	}
	return 0;
}

/* Marks the sums of a product. Whoever reads a sum that is under way is refused. */
static int mark_sums(struct interp *s, const struct node *t, unsigned char mark)
{
	for (int tile = 0; tile < t->mma->down * t->mma->across; tile++) {
		struct place acc;

		if (access_locate(s, t->buffer, access_eval(s, &t->a) + tile, 4, &acc) < 0 ||
		    (mark == UNDER_WAY && *acc.written != UNDER_WAY && access_read(s, &acc, 4) < 0))
			return -1;
		*acc.written = mark;
	}
	return 0;
}

static int begin_product(struct interp *s, const struct product *of)
{
	struct begun *b = &s->copies->begun[s->inner];
	struct product *x = &b->of[b->n];

	if (b->n == MOST_PRODUCTS || (b->n && b->of[b->n - 1].step == s->step))
		return err_set(s->e, "two products of groups stand in a loop over threads");
	*x = *of;
	x->m.a.at = af(access_eval(s, &of->m.a.at));
	x->m.b.at = af(access_eval(s, &of->m.b.at));
	b->n++;
	return mark_sums(s, of->t, UNDER_WAY);
}

int mma_run(struct interp *s, const struct node *t)
{
	const struct product x = {.t = t, .m = *t->mma, .step = s->step};

	if (check_swizzled(s, t->mma, &t->mma->a) < 0 || check_swizzled(s, t->mma, &t->mma->b) < 0)
		return -1;
	return t->mma->group ? begin_product(s, &x) : multiply(s, &x);
}

static int end_oldest(struct interp *s, struct begun *b)
{
	const struct product x = b->of[0];

	b->of[0] = b->of[1];
	b->n--;
	if (mark_sums(s, x.t, WRITTEN) < 0 || multiply(s, &x) < 0)
		return -1;
	return b->n ? mark_sums(s, b->of[0].t, UNDER_WAY) : 0;
}

int mma_end(struct interp *s)
{
	struct begun *b = &s->copies->begun[s->inner];
	int late;

	if (!b->n || b->of[b->n - 1].step != s->step)
		return 0;
	late = b->of[b->n - 1].m.late;
	while (b->n > late)
		if (end_oldest(s, b) < 0)
			return -1;
	return 0;
}
