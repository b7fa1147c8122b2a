#include "lib/schedule/frame.h"

#include "lib/schedule/stage.h"
#include "lib/space/knob.h"

struct frame {
	struct nest *n;
	int lanes, from, to;
	struct access pad;
	int64_t channels;
	int vectors, row_vectors; /* symbols: of a pixel, of a row of the image */
};

/* Writes `count` pixels of what lies outside, from `at` on. */
static void fill(const struct frame *f, struct affine at, int64_t count)
{
	int x;

	if (!count)
		return;
	x = nest_for(f->n, LOOP_SERIAL, "x", af(0), af(count));
	stage_run(f->n, &(struct run){f->lanes, f->to, f->pad.buffer,
				      af_add(at, af_mul(af_var(x), f->channels)), af(0),
				      af(f->channels), f->vectors});
	nest_close(f->n);
}

/* Row y of image img, which is row ih of the source. */
static void copy_row(const struct frame *f, const struct conv *is, const struct conv *whole,
		     struct affine img, int y, struct affine ih)
{
	const int64_t room = whole->iw - is->pw, width = is->iw < room ? is->iw : room;
	const struct affine row =
		af_mul(af_add(af_mul(img, whole->ih), af_var(y)), whole->iw * f->channels);
	const struct affine from = af_mul(af_add(af_mul(img, is->ih), ih), is->iw * f->channels);
	struct nest *n = f->n;
	const int inside = nest_let_min(n, "inside", ih, af_sub(af(is->ih - 1), ih));

	nest_if_less(n, af(-1), af_var(inside));
	fill(f, row, is->pw < whole->iw ? is->pw : whole->iw);
	if (width > 0) {
		stage_run(n, &(struct run){f->lanes, f->to, f->from,
					   af_add(row, af(is->pw * f->channels)), from,
					   af(width * f->channels), f->row_vectors});
		fill(f, af_add(row, af((is->pw + width) * f->channels)), room - width);
	}
	nest_else(n);
	fill(f, row, whole->iw);
	nest_close(n);
}

int frame_src(struct reorder *r, const struct conv *p)
{
	const enum elem elem = elem_of(r->w->dtype.src);
	struct nest *n = r->n;
	struct frame f = {.n = n, .lanes = r->lanes, .from = reorder_src(r)};
	struct conv is;
	int img, y;

	if (!conv_of(r->w, &is) || !is.fills)
		return f.from;
	f.pad = conv_pad(n, r->w, &is);
	f.channels = is.g * is.ic;
	f.to = nest_team(n, "frame", is.mb * p->ih * p->iw * f.channels);
	nest_elem(n, f.from, elem);
	nest_elem(n, f.to, elem);
	f.vectors = nest_param(n, "padvecs", ceil_div(f.channels, f.lanes));
	f.row_vectors = nest_param(n, "rowvecs", ceil_div(is.iw * f.channels, f.lanes));
	img = nest_for(n, LOOP_PARALLEL, "img", af(0), af(is.mb));
	y = nest_for(n, LOOP_PARALLEL, "y", af(0), af(p->ih));
	copy_row(&f, &is, p, af_var(img), y, af_sub(af_var(y), af(is.ph)));
	nest_close(n);
	nest_close(n);
	nest_sync(n);
	return f.to;
}
