#include "lib/schedule/split.h"

#include "lib/schedule/operand.h"

enum { LEAST_PART = 64, MOST_PARTS = 64 };

/* Splitting k pays where threads have next to no tiles: fewer than two each, even of the largest,
 * which has all registers. */
static int pays(const struct product *p, const struct limits *m)
{
	int64_t most = (int64_t)m->lanes * m->vregs;

	return m->threads > 1 && p->b * ceil_div(p->m * p->n, most) < 2 * m->threads;
}

void split_range(struct range *r, int knob, const struct product *p)
{
	int64_t ways;

	if (r->space) {
		range_more(r, knob, 1);
		for (ways = 2; ways <= 8 && p->k / ways >= LEAST_PART; ways *= 2)
			if (pays(p, r->machine))
				range_more(r, knob, ways);
		return;
	}
	ways = r->knob[knob];
	range_need(r, ways >= 1 && ways <= MOST_PARTS && (ways - 1) * ceil_div(p->k, ways) < p->k,
		   "some of so many parts of k would be empty");
}

void split_declare(struct nest *n, struct split *s)
{
	s->buffer = nest_team(n, "sums", s->ways * s->b * s->m * s->columns);
	s->parts = nest_param(n, "ks", s->ways);
	s->part = nest_param(n, "Spart", s->b * s->m * s->columns);
	s->batch = nest_param(n, "Sbatch", s->m * s->columns);
	s->row = nest_param(n, "Srow", s->columns);
}

struct chunk split_open(struct nest *n, int part, int64_t size, int extent)
{
	struct chunk c = {.loop = -1};
	int step = nest_param(n, "kpart", size);

	c.k0 = af_var(nest_let(n, "k0", af_times(af_var(part), step)));
	c.k = af_var(nest_let_min(n, "kn", af_var(step), af_sub(af_var(extent), c.k0)));
	return c;
}

/* A tile's partial sums. */
static struct brgemm_out sums_at(const struct split *s, struct affine part, int batch,
				 struct affine row, struct affine column)
{
	return (struct brgemm_out){.scale = -1,
				   .shift = -1,
				   .c = s->buffer,
				   .c_at = af_sum(af_times(part, s->part),
						  af_times(af_var(batch), s->batch),
						  af_times(row, s->row), column),
				   .c_row = af_var(s->row),
				   .bias = -1};
}

void split_tile(struct nest *n, const struct split *s, const struct brgemm *g, int rows, int part,
		int batch, struct affine row, struct affine column)
{
	struct brgemm_out to = sums_at(s, af_var(part), batch, row, column);

	brgemm_zero(n, g, rows);
	brgemm_multiply(n, g, rows);
	brgemm_keep(n, g, rows, &to);
}

void split_finish(struct nest *n, const struct split *s, const struct brgemm *g,
		  const struct split_result *r)
{
	struct brgemm_out out = *r->out, from;
	int64_t nr = (int64_t)g->nv * g->lanes;
	struct affine row, column;
	int batch, t, j, part;

	nest_sync(n);
	batch = nest_for(n, LOOP_PARALLEL, "b", af(0), af_var(r->batches));
	t = nest_for(n, LOOP_PARALLEL, "t", af(0), r->rows);
	j = nest_for(n, LOOP_PARALLEL, "j", af(0), r->columns);
	brgemm_out_view(n, &out, af_times(af_var(batch), r->step));
	row = parts_row(n, r->parts, t);
	column = af_mul(af_var(j), nr);
	operand_place(n, r->n, nr, row, column, &out);
	for (int rows = parts_first(n, r->parts, t); rows; rows = parts_next(n, r->parts, rows)) {
		from = sums_at(s, af(0), batch, row, column);
		brgemm_load(n, g, rows, &from);
		part = nest_for(n, LOOP_SERIAL, "s", af(1), af_var(s->parts));
		from = sums_at(s, af_var(part), batch, row, column);
		brgemm_add(n, g, rows, &from);
		nest_close(n);
		brgemm_finish(n, g, rows, &out);
	}
	nest_close(n);
	nest_close(n);
	nest_close(n);
}
