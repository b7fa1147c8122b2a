#include "lib/schedule/overrun.h"

#include "lib/nest/tmul.h"
#include "lib/space/knob.h"

int64_t overrun_positions(const struct conv *p, int64_t lines)
{
	return (lines - 1) * p->band_w + p->ow;
}

int overrun_pays(const struct conv *p)
{
	const int64_t in_lines = p->oh * ceil_div(p->ow, TMUL_ROWS);

	return p->sw == 1 && p->sh == 1 && p->kh * p->kw > 1 &&
	       ceil_div(overrun_positions(p, p->oh), TMUL_ROWS) < in_lines;
}

void overrun_check(struct range *r, const struct conv *p, int64_t rows, int64_t lines, int copied)
{
	const int64_t last = p->oh % lines ? p->oh % lines : lines;

	range_need(r, p->sw == 1 && p->sh == 1, "only lines of unit stride are one run");
	range_need(r, copied || p->band_w == p->iw,
		   "lines have the padding between them in a copy");
	range_need(r, rows % TMUL_ROWS == 0 && rows <= overrun_positions(p, last),
		   "tiles that run over the ends of lines are full");
}

int overrun_open(struct nest *n, const struct conv *p, const struct block *band, int64_t rows,
		 struct brgemm *g)
{
	const struct affine lines = af_sub(af_var(band->hi), af_var(band->lo));
	struct affine all, from;
	int tiles, t;

	all = af_var(
		nest_let(n, "positions", af_sub(af_mul(lines, p->band_w), af(p->band_w - p->ow))));
	tiles = nest_let_div(n, "tiles", af_add(all, af(rows - 1)), rows);
	t = nest_for(n, LOOP_SERIAL, "t", af(0), af_var(tiles));
	from = af_mul(af_var(t), rows);
	g->over = (struct brgemm_over){
		.pitch = (int)p->band_w,
		.width = (int)p->ow,
		.begin = af_var(nest_let_min(n, "begin", from, af_sub(all, af(rows)))),
		.from = from,
		.end = af_var(nest_let_min(n, "end", af_add(from, af(rows)), all)),
	};
	return t;
}
