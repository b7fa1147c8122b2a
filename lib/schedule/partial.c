#include "lib/schedule/partial.h"

#include "lib/space/knob.h"

enum { LANES = 4 };

int64_t partial_rows(const struct partial *s)
{
	return ceil_div(s->p->m, s->p->bm) * s->p->bm;
}

int64_t partial_columns(const struct partial *s)
{
	return implicit_panels(s->p) * s->p->bn;
}

void partial_declare(struct nest *n, struct partial *s)
{
	s->buffer = nest_team(n, "sums", s->ways * s->p->b * partial_rows(s) * partial_columns(s));
}

static struct affine sum_at(const struct partial *s, struct affine part, int batch,
			    struct affine row, struct affine column)
{
	int64_t of_batch = partial_rows(s) * partial_columns(s);

	return af_sum(af_mul(part, s->p->b * of_batch), af_mul(af_var(batch), of_batch),
		      af_mul(row, partial_columns(s)), column);
}

void partial_keep(struct nest *n, const struct partial *s, int part, int batch, struct affine row,
		  struct affine column, const struct expr *x)
{
	nest_store(n, s->buffer, sum_at(s, af_var(part), batch, row, column), NULL, x);
}

/* Threads share the vectors of the result, columns innermost. */
void partial_finish(struct nest *n, const struct partial *s)
{
	int64_t vectors = s->p->m * partial_columns(s) / LANES;
	int sum, batch, group, thread, unit, row, column, part;
	struct affine at;

	nest_sync(n);
	sum = nest_reg(n, "sum", ELEM_F32, LANES, 1, 1);
	batch = nest_for(n, LOOP_PARALLEL, "b", af(0), af(s->p->b));
	group = nest_for(n, LOOP_PARALLEL, "i", af(0), af(ceil_div(vectors, s->threads)));
	thread = nest_for_threads(n, "t", s->threads);
	unit = nest_let(n, "u", af_add(af_mul(af_var(group), s->threads), af_var(thread)));
	if (vectors % s->threads)
		nest_if_less(n, af_var(unit), af(vectors));
	row = nest_let_div(n, "row", af_var(unit), partial_columns(s) / LANES);
	column = nest_let_mod(n, "vector", af_var(unit), partial_columns(s) / LANES);
	at = af_mul(af_var(column), LANES);
	nest_store(n, sum, af(0), NULL,
		   ex_load(n, s->buffer, LANES, sum_at(s, af(0), batch, af_var(row), at), NULL));
	part = nest_for(n, LOOP_SERIAL, "s", af(1), af(s->ways));
	nest_store(n, sum, af(0), NULL,
		   ex_op(n, EXPR_ADD, ex_reg(n, sum, af(0)),
			 ex_load(n, s->buffer, LANES,
				 sum_at(s, af_var(part), batch, af_var(row), at), NULL),
			 NULL));
	nest_close(n);
	implicit_store(n, s->p, batch, af_var(row), at, ex_reg(n, sum, af(0)));
	nest_close_to(n, 0);
}
