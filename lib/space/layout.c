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
	int64_t at[LAYOUT_RANK];     /* logical index so far */
	const float *src;
	float *dst;
};

static void pack_axis(struct pack_state *s, int i)
{
	const struct packing *p = s->p;
	int dim = p->axis[i].dim;
	int64_t n = p->axis[i].n, step = p->axis[i].step, start = s->at[dim];

	if (i < p->naxes - 1) {
		for (int64_t j = 0; j < n; j++, s->at[dim] += step)
			pack_axis(s, i + 1);
		s->at[dim] = start;
		return;
	}
	const float *src = s->src;
	int padding = 0;

	for (int d = 0; d < p->rank; d++) {
		src += s->at[d] * s->stride[d];
		padding |= d != dim && s->at[d] >= p->extent[d];
	}
	for (int64_t j = 0; j < n; j++)
		s->dst[j] = padding || start + j * step >= p->extent[dim]
				    ? 0.0f
				    : src[j * step * s->stride[dim]];
	s->dst += n;
}

void packing_run(const struct packing *p, const float *src, float *dst)
{
	struct pack_state s = {.p = p, .src = src, .dst = dst};
	int64_t stride = 1;

	for (int d = p->rank - 1; d >= 0; d--) {
		s.stride[d] = stride;
		stride *= p->extent[d];
	}
	pack_axis(&s, 0);
}

void packing_text(const struct packing *p, struct buf *out)
{
	for (int d = 0; d < p->rank; d++)
		buf_fmt(out, "%s%lld", d ? "x" : "", (long long)p->extent[d]);
	for (int i = 0; i < p->naxes; i++)
		buf_fmt(out, " %d:%lldx%lld", p->axis[i].dim, (long long)p->axis[i].n,
			(long long)p->axis[i].step);
}
