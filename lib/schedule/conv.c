#include "lib/schedule/conv.h"

#include <stddef.h>

#include "lib/space/knob.h"

int conv_of(const struct workload *w, struct conv *s)
{
	const int64_t *d = w->dim;

	if (w->op != &op_conv2d)
		return 0;
	*s = (struct conv){
		.mb = d[CONV_MB],
		.g = d[CONV_G],
		.ic = d[CONV_IC] / d[CONV_G],
		.ih = d[CONV_IH],
		.iw = d[CONV_IW],
		.oc = d[CONV_OC] / d[CONV_G],
		.oh = d[CONV_OH],
		.ow = d[CONV_OW],
		.kh = d[CONV_KH],
		.kw = d[CONV_KW],
		.sh = d[CONV_SH],
		.sw = d[CONV_SW],
		.ph = d[CONV_PH],
		.pw = d[CONV_PW],
		.dh = d[CONV_DH] + 1,
		.dw = d[CONV_DW] + 1,
	};
	s->band_w = (s->ow - 1) * s->sw + (s->kw - 1) * s->dw + 1;
	s->padded = s->ph || s->pw || s->band_w > s->iw ||
		    (s->oh - 1) * s->sh + (s->kh - 1) * s->dh + 1 > s->ih;
	s->fills = workload_has_post(w, POST_PAD);
	s->clipped = !s->fills && s->dh == 1 && s->kh > 1 &&
		     (s->ph || (s->oh - 1) * s->sh + s->kh > s->ih);
	return 1;
}

void conv_frame(struct conv *p)
{
	p->ih = (p->oh - 1) * p->sh + (p->kh - 1) * p->dh + 1;
	p->iw = p->band_w;
	p->ph = p->pw = 0;
	p->padded = p->fills = p->clipped = 0;
}

/* Images of h x w pixels, which lie `pixel` elements apart, of groups of c channels. */
static struct access images(int buffer, int64_t pixel, int64_t c, int64_t h, int64_t w)
{
	struct access a = {.buffer = buffer};
	int64_t step[ACCESS_DIMS] = {
		[CONV_IMAGE] = h * w * pixel, [CONV_GROUP] = c,	     [CONV_CHANNEL] = 1,
		[CONV_ROW] = w * pixel,	      [CONV_COLUMN] = pixel,
	};

	for (int d = 0; d < ACCESS_DIMS; d++) {
		a.dim[d].step = step[d];
		a.dim[d].symbol = -1;
	}
	return a;
}

struct access conv_src(const struct conv *p, int buffer)
{
	return images(buffer, p->g * p->ic, p->ic, p->ih, p->iw);
}

struct access conv_dst(const struct nest *n, const struct conv *p, int buffer)
{
	return images(buffer, operand_pitch(n, p->g * p->oc), p->oc, p->oh, p->ow);
}

struct access conv_pad(struct nest *n, const struct workload *w, const struct conv *p)
{
	struct packing one = {0};
	struct access a = {.dim = {[CONV_GROUP] = {p->ic, -1}, [CONV_CHANNEL] = {1, -1}}};

	packing_dim(&one, p->g * p->ic);
	packing_axis(&one, 0, p->g * p->ic, 1);
	a.buffer = nest_packed(n, "pad", TENSOR_PAD, &one);
	nest_elem(n, a.buffer, elem_of(w->dtype.src));
	return a;
}

struct packing conv_packing(const struct conv *p, int64_t nr, int64_t kc, int64_t depth, int halves)
{
	struct packing w = {
		.rank = 5,
		.extent = {p->g, p->oc, p->ic, p->kh, p->kw},
	};

	packing_axis(&w, 0, p->g, 1);
	packing_axis(&w, 1, ceil_div(p->oc, nr), nr);
	if (halves)
		packing_halves(&w);
	packing_axis(&w, 2, ceil_div(p->ic, kc), kc);
	packing_axis(&w, 3, p->kh, 1);
	packing_axis(&w, 4, p->kw, 1);
	packing_axis(&w, 2, kc / depth, depth);
	packing_axis(&w, 1, nr, 1);
	if (depth > 1)
		packing_axis(&w, 2, depth, 1);
	return w;
}

int conv_weights(struct nest *n, const struct conv *p, int64_t nr, int64_t kc, int64_t depth,
		 int halves)
{
	struct packing w = conv_packing(p, nr, kc, depth, halves);

	return nest_packed(n, "w", TENSOR_WEIGHTS, &w);
}

static struct affine number(struct nest *n, int symbols, const char *name, int64_t value)
{
	return symbols ? af_var(nest_param(n, name, value)) : af(value);
}

void conv_rows_inside(struct nest *n, const struct conv *p, int oh, int symbols, struct affine *lo,
		      struct affine *hi)
{
	struct affine ph = number(n, symbols, "PH", p->ph), sh = number(n, symbols, "SH", p->sh);
	struct affine first = af_sub(af_scale(af_var(oh), sh), ph), ih, kh;

	*lo = af_mul(af_var(nest_let_min(n, "above", af(0), first)), -1);
	ih = number(n, symbols, "IH", p->ih);
	kh = number(n, symbols, "KH", p->kh);
	*hi = af_var(nest_let_min(n, "below", kh, af_sub(ih, first)));
}

void conv_whole_rows(const struct conv *p, int64_t *first, int64_t *end)
{
	int64_t room = p->ih - 1 - (p->kh - 1) * p->dh + p->ph;

	*first = ceil_div(p->ph, p->sh);
	*end = room < 0 ? 0 : room / p->sh + 1;
	if (*end > p->oh)
		*end = p->oh;
}
