#include "lib/schedule/split_sum.h"

static int has_parts(const struct split_sum *s)
{
	return s->ks > 1 || s->keeps;
}

void split_sum_declare(struct nest *n, struct split_sum *s)
{
	s->partial = (struct partial){.p = s->p, .ways = s->ks, .threads = s->threads};
	s->stream = (struct stream_k){
		.p = s->p, .blocks = s->stream_k, .by_rows = s->by_rows, .threads = s->threads};
	if (has_parts(s))
		partial_declare(n, &s->partial);
	if (s->stream_k)
		stream_k_declare(n, &s->stream);
}

void split_sum_open(struct nest *n, struct split_sum *s, int *batch, struct affine *row,
		    struct affine *panel, struct affine *first, struct affine *end)
{
	if (s->stream_k) {
		stream_k_open(n, &s->stream, batch, row, panel, first, end);
		return;
	}
	s->part = implicit_blocks(n, s->p, s->ks, s->by_rows, batch, row, panel);
	implicit_part(n, s->p, s->ks, s->part, first, end);
}

void split_sum_leave(struct nest *n, const struct split_sum *s, int batch, struct affine row,
		     struct affine column, const struct expr *x)
{
	if (has_parts(s))
		partial_keep(n, &s->partial, s->part, batch, row, column, x);
	else if (s->stream_k)
		stream_k_leave(n, &s->stream, batch, row, column, x);
	else
		implicit_store(n, s->p, batch, row, column, x);
}

void split_sum_finish(struct nest *n, const struct split_sum *s)
{
	if (s->ks > 1)
		partial_finish(n, &s->partial);
	if (s->stream_k)
		stream_k_finish(n, &s->stream);
}
