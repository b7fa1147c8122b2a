#include "lib/schedule/edge.h"

#include <stddef.h>

#include "lib/space/knob.h"

enum body { FIRST, WHOLE, LAST }; /* none yet, that of what is whole, that of what is not */

int panel_next(struct nest *n, struct panel *x)
{
	int64_t whole = x->channels / x->nr;
	int hi;

	if (x->body != FIRST)
		nest_close(n);
	if (x->body == FIRST && whole) {
		x->body = WHOLE;
		hi = nest_let_min(n, x->block->name, af_var(x->block->hi), af(whole));
		x->index = af_var(
			nest_for(n, LOOP_SERIAL, x->block->name, af_var(x->block->lo), af_var(hi)));
		x->width = x->nr;
		return 1;
	}
	if (x->body == LAST || x->channels % x->nr == 0)
		return 0;
	x->body = LAST;
	nest_if_less(n, af(whole), af_var(x->block->hi));
	x->index = af(whole);
	x->width = x->channels % x->nr;
	return 1;
}

static int64_t tile_start(const struct row_split *r, int64_t t)
{
	return t * r->rows + (t < r->rest ? t : r->rest);
}

struct edges edge_find(const struct conv *p, struct row_split split)
{
	struct edges e = {.split = split};

	while (e.left < split.tiles && tile_start(&split, e.left) * p->sw < p->pw)
		e.left++;
	while (e.left + e.right < split.tiles) {
		int64_t end = tile_start(&split, split.tiles - e.right);

		if ((end - 1) * p->sw - p->pw + (p->kw - 1) * p->dw < p->iw)
			break;
		e.right++;
	}
	return e;
}

int edge_rows_can_go(const struct conv *p)
{
	const int above = p->ph || (p->oh - 1) * p->sh + (p->kh - 1) * p->dh + 1 > p->ih;

	return p->clipped || !above;
}

void edge_limit(struct range *r, const struct conv *p, int64_t pixels)
{
	enum { MOST = 3 };
	const struct edges e = edge_find(p, row_split(p->ow, pixels));

	range_need(r, e.left + e.right <= MOST, "too many tiles have taps outside the image");
}

int stretch_next(struct nest *n, struct stretch *x)
{
	const struct row_split *r = &x->edges->split;
	int64_t t = x->next, end = r->tiles - x->edges->right, first = tile_start(r, t);

	if (x->edge < 0)
		nest_close(n);
	if (t == r->tiles)
		return 0;
	x->pixels = r->rows + (t < r->rest);
	if (t < x->edges->left || t >= end) {
		x->edge = first;
		x->ow = af(first);
		x->tile = af(t);
		x->next = t + 1;
		return 1;
	}
	x->edge = -1;
	x->next = t < r->rest && r->rest < end ? r->rest : end;
	x->tile = af_var(nest_for(n, LOOP_SERIAL, "t", af(0), af(x->next - t)));
	x->ow = af_add(af(first), af_mul(x->tile, x->pixels));
	x->tile = af_add(x->tile, af(t));
	return 1;
}

void stretch_inside(const struct stretch *x, const struct conv *p, int kw, int64_t *from,
		    int64_t *to)
{
	int64_t first = x->edge * p->sw - p->pw + kw * p->dw; /* input column of pixel 0 */

	*from = 0;
	*to = x->pixels;
	while (x->edge >= 0 && *from < *to && first + *from * p->sw < 0)
		++*from;
	while (x->edge >= 0 && *from < *to && first + (*to - 1) * p->sw >= p->iw)
		--*to;
}

static int64_t whole_vectors(const struct site *x)
{
	return x->columns / x->lanes < x->nv ? x->columns / x->lanes : x->nv;
}

int64_t site_vectors(const struct site *x)
{
	return ceil_div(x->columns, x->lanes) < x->nv ? ceil_div(x->columns, x->lanes) : x->nv;
}

int site_next(struct nest *n, struct site *x)
{
	int64_t whole = whole_vectors(x);

	if (x->from >= x->to)
		return 0;
	if (x->body == FIRST)
		x->m = af_var(nest_for(n, LOOP_UNROLL, "m", af(x->from), af(x->to)));
	if (x->body == FIRST && whole) {
		x->body = WHOLE;
		x->v = af_var(nest_for(n, LOOP_UNROLL, "v", af(0), af(whole)));
		return 1;
	}
	if (x->body == WHOLE)
		nest_close(n);
	if (x->body != LAST && whole < site_vectors(x)) {
		x->body = LAST;
		x->v = af(whole);
		x->valid = nest_keep(n, af(x->columns % x->lanes));
		return 1;
	}
	nest_close(n);
	return 0;
}
