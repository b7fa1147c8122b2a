#include "lib/schedule/space_to_depth.h"

#include <stddef.h>

#include "lib/schedule/stage.h"
#include "lib/space/knob.h"

struct space_to_depth space_to_depth_none(const struct conv *p)
{
	return (struct space_to_depth){
		.sh = 1, .sw = 1, .ic = p->ic, .ih = p->ih, .iw = p->iw, .kh = p->kh, .kw = p->kw};
}

/* One direction by blocks of `size` pixels; returns how many taps come before the first. */
static int64_t fold(int64_t size, int64_t *taps, int64_t *padding, int64_t *extent)
{
	int64_t blocks = ceil_div(*padding, size), before = blocks * size - *padding;

	*taps = ceil_div(*taps + before, size);
	*padding = blocks;
	*extent = ceil_div(*extent, size);
	return before;
}

struct space_to_depth space_to_depth(struct conv *p)
{
	struct space_to_depth d = space_to_depth_none(p);

	d.sh = p->sh;
	d.sw = p->sw;
	d.top = fold(d.sh, &p->kh, &p->ph, &p->ih);
	d.left = fold(d.sw, &p->kw, &p->pw, &p->iw);
	p->ic *= d.sh * d.sw;
	p->sh = p->sw = 1;
	return d;
}

static void zero_pixel(struct nest *n, const struct run *r, struct affine at, int64_t pitch)
{
	int v = nest_for(n, LOOP_UNROLL, "v", af(0), af(pitch / r->lanes));

	nest_store(n, r->to, af_add(at, af_mul(af_var(v), r->lanes)), NULL,
		   ex_const(n, ELEM_F32, r->lanes, 0));
	nest_close(n);
}

/* Row dy of a block of pixels, which may have fewer columns at the right end of the image. */
static void put_row(struct nest *n, const struct space_to_depth *d, struct run *r, int row, int col)
{
	int64_t all = d->sw * d->ic;
	int clipped = d->ih % d->sh != 0;

	if (clipped)
		nest_if_less(n, af_var(row), af(d->ih));
	r->count = af(all);
	if (d->iw % d->sw) {
		struct affine left = af_sub(af(d->iw * d->ic), af_mul(af_var(col), all));

		r->count = af_var(nest_let_min(n, "values", af(all), left));
	}
	stage_run(n, r);
	if (clipped)
		nest_close(n);
}

int space_to_depth_pixels(struct nest *n, const struct space_to_depth *d, const struct conv *p,
			  int src, int lanes, int64_t pitch)
{
	int64_t all = d->sw * d->ic;
	struct run run = {.lanes = lanes, .from = src, .vectors = -1};
	int img, y, x;
	struct affine at;

	run.to = nest_team(n, "blocks", p->mb * p->ih * p->iw * pitch);
	if (all > lanes)
		run.vectors = nest_const(n, "vectors", ceil_div(all, lanes));
	img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(p->mb));
	y = nest_for(n, LOOP_PARALLEL, "y", af(0), af(p->ih));
	x = nest_for(n, LOOP_SERIAL, "x", af(0), af(p->iw));
	at = af_sum(af_mul(af_var(img), p->ih * p->iw * pitch), af_mul(af_var(y), p->iw * pitch),
		    af_mul(af_var(x), pitch));
	zero_pixel(n, &run, at, pitch);
	for (int64_t dy = 0; dy < d->sh; dy++) {
		int row = nest_let(n, "row", af_add(af_mul(af_var(y), d->sh), af(dy)));

		run.to_at = af_add(at, af(dy * all));
		run.from_at = af_sum(af_mul(af_var(img), d->ih * d->iw * d->ic),
				     af_mul(af_var(row), d->iw * d->ic), af_mul(af_var(x), all));
		put_row(n, d, &run, row, x);
	}
	nest_close(n);
	nest_close(n);
	nest_close(n);
	nest_sync(n);
	return run.to;
}
