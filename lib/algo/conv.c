#include "lib/algo/conv.h"

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
	s->clipped = s->dh == 1 && s->kh > 1 && (s->ph || (s->oh - 1) * s->sh + s->kh > s->ih);
	s->nchw = w->layout == LAYOUT_NCHW;
	return 1;
}
