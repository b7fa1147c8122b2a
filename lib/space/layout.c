#include "lib/space/layout.h"

#include <string.h>

int packing_dim(struct packing *p, int64_t extent)
{
	p->extent[p->rank] = extent;
	return p->rank++;
}

void packing_axis(struct packing *p, int dim, int64_t n, int64_t step)
{
	p->axis[p->naxes].dim = dim;
	p->axis[p->naxes].n = n;
	p->axis[p->naxes].step = step;
	p->naxes++;
}

struct packing_map *packing_map(struct packing *p, int dim, int with, int rows, int cols)
{
	struct packing_map *m = &p->map[p->nmaps++];

	*m = (struct packing_map){.dim = dim, .with = with, .rows = rows, .cols = cols};
	return m;
}

int64_t packing_size(const struct packing *p)
{
	int64_t size = 1;

	for (int i = 0; i < p->naxes; i++)
		size *= p->axis[i].n;
	return size;
}

struct pack_state {
	const struct packing *p;
	int64_t stride[LAYOUT_RANK]; /* of the logical tensor */
	int64_t end[LAYOUT_RANK];    /* of each dimension, behind its map */
	int64_t at[LAYOUT_RANK];     /* logical index so far */
	int mapped;		     /* dimensions that have a map, a bit each */
	const float *src;
	float *dst;
};

/* Where value j of a map is, from its value 0. */
static int64_t mapped_from(const struct pack_state *s, const struct packing_map *m, int64_t j)
{
	int64_t inner = m->with == m->dim ? 1 : s->p->extent[m->with];

	return j / inner * s->stride[m->dim] + j % inner * s->stride[m->with];
}

/* The value at s->at through maps i, i + 1, ..; from: where the dimensions without a map and those
 * before stand. */
static double mapped_value(const struct pack_state *s, int i, const float *from)
{
	const struct packing_map *m = &s->p->map[i];
	double sum = 0;

	if (i == s->p->nmaps)
		return (double)*from;
	for (int j = 0; j < m->cols; j++) {
		double factor = m->m[s->at[m->dim]][j];

		if (factor != 0)
			sum += factor * mapped_value(s, i + 1, from + mapped_from(s, m, j));
	}
	return sum;
}

static float value(const struct pack_state *s)
{
	const float *from = s->src;

	for (int d = 0; d < s->p->rank; d++) {
		if (s->at[d] >= s->end[d])
			return 0;
		if (!(s->mapped >> d & 1))
			from += s->at[d] * s->stride[d];
	}
	return (float)mapped_value(s, 0, from);
}

/* The innermost axis, without a map. */
static void pack_run(struct pack_state *s, int dim, int64_t n, int64_t step)
{
	const float *src = s->src;
	int padding = 0;

	for (int d = 0; d < s->p->rank; d++) {
		src += s->at[d] * s->stride[d];
		padding |= d != dim && s->at[d] >= s->end[d];
	}
	for (int64_t j = 0; j < n; j++)
		*s->dst++ = padding || s->at[dim] + j * step >= s->end[dim]
				    ? 0.0f
				    : src[j * step * s->stride[dim]];
}

static void pack_axis(struct pack_state *s, int i);

/* Positions first to end of axis i, and all of the axes in it. */
static void pack_part(struct pack_state *s, int i, int64_t first, int64_t end)
{
	const struct packing *p = s->p;
	int dim = p->axis[i].dim;
	int64_t step = p->axis[i].step, start = s->at[dim];

	s->at[dim] += first * step;
	for (int64_t j = first; j < end; j++, s->at[dim] += step) {
		if (i < p->naxes - 1)
			pack_axis(s, i + 1);
		else
			*s->dst++ = value(s);
	}
	s->at[dim] = start;
}

static void pack_axis(struct pack_state *s, int i)
{
	const struct packing *p = s->p;

	if (i == p->naxes - 1 && !p->nmaps)
		pack_run(s, p->axis[i].dim, p->axis[i].n, p->axis[i].step);
	else
		pack_part(s, i, 0, p->axis[i].n);
}

void packing_run_part(const struct packing *p, const float *src, const int64_t *stride,
		      int64_t first, int64_t end, float *dst)
{
	struct pack_state s = {.p = p, .src = src, .dst = dst};
	int64_t dense = 1;

	for (int d = p->rank - 1; d >= 0; d--) {
		s.stride[d] = stride ? stride[d] : dense;
		s.end[d] = p->extent[d];
		dense *= p->extent[d];
	}
	for (int i = 0; i < p->nmaps; i++) {
		s.end[p->map[i].dim] = p->map[i].rows;
		s.mapped |= 1 << p->map[i].dim | 1 << p->map[i].with;
	}
	if (first == 0 && end == p->axis[0].n)
		pack_axis(&s, 0);
	else
		pack_part(&s, 0, first, end);
}

void packing_run(const struct packing *p, const float *src, float *dst)
{
	packing_run_part(p, src, NULL, 0, p->axis[0].n, dst);
	swizzle_floats(&p->swizzle, dst, packing_size(p));
}

void packing_text(const struct packing *p, struct buf *out)
{
	for (int d = 0; d < p->rank; d++)
		buf_fmt(out, "%s%lld", d ? "x" : "", (long long)p->extent[d]);
	for (int i = 0; i < p->naxes; i++)
		buf_fmt(out, " %d:%lldx%lld", p->axis[i].dim, (long long)p->axis[i].n,
			(long long)p->axis[i].step);
	if (p->swizzle.row)
		buf_fmt(out, " swizzle %d/%d", p->swizzle.row, p->swizzle.unit);
	for (int i = 0; i < p->nmaps; i++) {
		const struct packing_map *m = &p->map[i];

		buf_fmt(out, " map %d", m->dim);
		if (m->with != m->dim)
			buf_fmt(out, "+%d", m->with);
		for (int r = 0; r < m->rows; r++)
			for (int c = 0; c < m->cols; c++)
				buf_fmt(out, "%c%.17g", c ? ',' : ' ', m->m[r][c]);
	}
}
