#include "lib/space/layout.h"

#include <math.h>
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

void packing_halves(struct packing *p)
{
	packing_axis(p, PACKING_HALVES, 2, 1);
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
	int64_t at[LAYOUT_RANK + 1]; /* logical index so far; and the half */
	int halves;		     /* is there an axis of halves? */
	int mapped;		     /* dimensions that have a map, a bit each */
	int64_t each[LAYOUT_AXES];   /* elements of one position of an axis */
	int across;		     /* the axis of which several positions go together, or -1 */
	int64_t wide;		     /* how many of them go now */
	const float *src;
};

/* Where value j of a map is, from its value 0. */
static int64_t mapped_from(const struct pack_state *s, const struct packing_map *m, int64_t j)
{
	int64_t inner = m->with == m->dim ? 1 : s->p->extent[m->with];

	return j / inner * s->stride[m->dim] + j % inner * s->stride[m->with];
}

enum { RUN = 64 };

/* n values (RUN at most) at s->at through maps i, i + 1, ..; from: where the dimensions without a
 * map and those before stand for the first one, the next one is `apart` behind. */
static void mapped_values(const struct pack_state *s, int i, const float *from, int64_t apart,
			  int n, double *to)
{
	const struct packing_map *m = &s->p->map[i];
	double inner[RUN];

	for (int k = 0; k < n; k++)
		to[k] = 0;
	for (int j = 0; j < m->cols; j++) {
		const float *x = from + mapped_from(s, m, j);
		double factor = m->m[s->at[m->dim]][j];

		if (factor == 0)
			continue;
		if (i + 1 < s->p->nmaps)
			mapped_values(s, i + 1, x, apart, n, inner);
		else
			for (int k = 0; k < n; k++)
				inner[k] = (double)x[k * apart];
		for (int k = 0; k < n; k++)
			to[k] += factor * inner[k];
	}
}

static void put_mapped(const struct pack_state *s, const float *from, int64_t apart, int64_t n,
		       float *dst)
{
	double value[RUN];

	for (int64_t done = 0; done < n; done += RUN) {
		int part = n - done < RUN ? (int)(n - done) : RUN;

		mapped_values(s, 0, from + done * apart, apart, part, value);
		for (int k = 0; k < part; k++)
			dst[done + k] = (float)value[k];
	}
}

/* How many of n positions, step apart, along a dimension are no padding. */
static int64_t inside(const struct pack_state *s, int dim, int64_t n, int64_t step)
{
	int64_t left = s->end[dim] - s->at[dim];

	for (int d = 0; d < s->p->rank; d++)
		if (d != dim && s->at[d] >= s->end[d])
			return 0;
	if (left <= 0)
		return 0;
	return (left - 1) / step + 1 < n ? (left - 1) / step + 1 : n;
}

/* Returns the nearest bf16 number: the upper half of a float. That of NaN is NaN, too. */
static float nearest(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	bits = isnan(x) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
	bits &= 0xffff0000;
	memcpy(&x, &bits, sizeof x);
	return x;
}

/* The nearest finite one. */
static float first_half(float x)
{
	static const float most = 0x1.fep127F;

	return fabsf(x) > most ? copysignf(most, x) : nearest(x);
}

static void take_half(int second, int64_t n, float *x)
{
	for (int64_t i = 0; i < n; i++)
		x[i] = second ? x[i] - first_half(x[i]) : first_half(x[i]);
}

/* n positions, step apart, along a dimension without a map, or one position. */
static void pack_run(const struct pack_state *s, int dim, int64_t n, int64_t step, float *dst)
{
	const int64_t apart = step * s->stride[dim], some = inside(s, dim, n, step);
	const float *from = s->src;

	for (int d = 0; d < s->p->rank; d++)
		if (!(s->mapped >> d & 1))
			from += s->at[d] * s->stride[d];
	if (s->p->nmaps)
		put_mapped(s, from, apart, some, dst);
	else if (apart == 1)
		memcpy(dst, from, (size_t)some * sizeof *dst);
	else
		for (int64_t j = 0; j < some; j++)
			dst[j] = from[j * apart];
	if (s->halves)
		take_half(s->at[PACKING_HALVES] > 0, some, dst);
	for (int64_t j = 0; s->p->rounds && j < some; j++)
		dst[j] = nearest(dst[j]);
	memset(dst + some, 0, (size_t)(n - some) * sizeof *dst);
}

/* The innermost axis, at each of the positions that go together. */
static void pack_runs(struct pack_state *s, float *dst)
{
	const int last = s->p->naxes - 1, dim = s->p->axis[last].dim;
	const int64_t start = s->at[dim];

	for (int64_t w = 0; w < s->wide; w++) {
		pack_run(s, dim, s->p->axis[last].n, s->p->axis[last].step, dst);
		if (s->across < 0)
			break;
		s->at[dim] += s->p->axis[s->across].step;
		dst += s->each[s->across];
	}
	s->at[dim] = start;
}

static void pack_axis(struct pack_state *s, int i, float *dst);

/* Positions first to end of axis i, and all of the axes in it. */
static void pack_part(struct pack_state *s, int i, int64_t first, int64_t end, float *dst)
{
	const struct packing *p = s->p;
	const int dim = p->axis[i].dim;
	const int64_t start = s->at[dim], most = i == s->across ? PACKING_ACROSS : 1;

	for (int64_t j = first; j < end; j += most) {
		s->at[dim] = start + j * p->axis[i].step;
		if (i == s->across)
			s->wide = end - j < most ? end - j : most;
		if (i < p->naxes - 1)
			pack_axis(s, i + 1, dst + (j - first) * s->each[i]);
		else
			pack_run(s, dim, 1, 1, dst + (j - first));
	}
	s->at[dim] = start;
}

static void pack_axis(struct pack_state *s, int i, float *dst)
{
	const struct packing *p = s->p;

	if (i == p->naxes - 1 && !(s->mapped >> p->axis[i].dim & 1))
		pack_runs(s, dst);
	else
		pack_part(s, i, 0, p->axis[i].n, dst);
}

/* Where runs are contiguous in the source, and another axis goes on along the same dimension, as
 * panels of columns do, several positions of that axis go together. Else a row's short run would be
 * all that is read from its page before the next row. */
static int axis_across(const struct pack_state *s)
{
	const int last = s->p->naxes - 1, dim = s->p->axis[last].dim;
	int i = last - 1;

	if (s->mapped >> dim & 1 || s->p->axis[last].step * s->stride[dim] != 1)
		return -1;
	while (i >= 0 && s->p->axis[i].dim != dim)
		i--;
	return i;
}

int packing_outer(const struct packing *p)
{
	int i = 0;

	while (i < p->naxes - 1 && p->axis[i].n == 1)
		i++;
	return i;
}

void packing_run_part(const struct packing *p, const float *src, const int64_t *stride,
		      int64_t first, int64_t end, float *dst)
{
	struct pack_state s = {.p = p, .wide = 1, .src = src};
	const int outer = packing_outer(p);
	int64_t dense = 1, each = 1;

	for (int d = p->rank - 1; d >= 0; d--) {
		s.stride[d] = stride ? stride[d] : dense;
		s.end[d] = p->extent[d];
		dense *= p->extent[d];
	}
	for (int i = 0; i < p->nmaps; i++) {
		s.end[p->map[i].dim] = p->map[i].rows;
		s.mapped |= 1 << p->map[i].dim | 1 << p->map[i].with;
	}
	for (int i = p->naxes - 1; i >= 0; i--) {
		s.halves |= p->axis[i].dim == PACKING_HALVES;
		s.each[i] = each;
		each *= p->axis[i].n;
	}
	s.across = axis_across(&s);
	if (first == 0 && end == p->axis[outer].n)
		pack_axis(&s, outer, dst);
	else
		pack_part(&s, outer, first, end, dst);
}

void packing_run(const struct packing *p, const float *src, float *dst)
{
	packing_run_part(p, src, NULL, 0, p->axis[packing_outer(p)].n, dst);
	swizzle_floats(&p->swizzle, dst, packing_size(p));
}

int packing_turned(const struct packing *p, struct packing *turned, int64_t *stride)
{
	const int last = p->axis[p->naxes - 1].dim;
	int64_t step = p->extent[last],
		behind = 1; /* elements from one of its positions to the next */

	*turned = (struct packing){.rank = p->rank};
	memcpy(turned->extent, p->extent, sizeof p->extent);
	for (int d = 0; d < p->rank; d++)
		if (d != last)
			packing_axis(turned, d, p->extent[d], 1);
	packing_axis(turned, last, p->extent[last], 1);
	for (int d = p->rank - 1; d >= 0; d--) {
		stride[d] = d == last ? 1 : step;
		step *= d == last ? 1 : p->extent[d];
	}
	for (int d = last + 1; d < p->rank; d++)
		behind *= p->extent[d];
	return behind > 1 && p->axis[p->naxes - 1].n > 1;
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
	if (p->rounds)
		buf_str(out, " rounds");
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
