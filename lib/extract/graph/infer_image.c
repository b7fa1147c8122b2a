/* Operators that pad, resize and rearrange images. */
#include <math.h>
#include <string.h>

#include "lib/extract/graph/infer.h"

enum { FAR = 1 << 20 }; /* paddings and blocks beyond it are absurd */

INFER(pad)
{
	const int64_t *pads, *axes;
	int npads, naxes, given, some;

	given = infer_list(x->g, n, node_attr(n, "paddings") ? "paddings" : "pads", 1, &npads,
			   &pads);
	some = infer_list(x->g, n, NULL, 3, &naxes, &axes);
	if (given < 0 || some < 0)
		return infer_open(made, made->rank);
	if (!some)
		naxes = made->rank;
	if (!given || npads != 2 * naxes)
		return infer_bad(x, n, e, "wants two paddings for each dimension");
	for (int i = 0; i < naxes; i++) {
		int axis = some ? infer_axis(axes[i], made->rank) : i;

		if (axis < 0 || pads[i] > FAR || pads[i + naxes] > FAR)
			return infer_bad(x, n, e, "has paddings that make no sense");
		if (made->dim[axis] < 0 || pads[i] < -FAR || pads[i + naxes] < -FAR) {
			made->dim[axis] = DIM_UNKNOWN;
			continue;
		}
		made->dim[axis] += pads[i] + pads[i + naxes];
		if (made->dim[axis] < 0)
			return infer_bad(x, n, e, "makes a negative size");
	}
	return 1;
}

/* The axes that it resizes: how many, -1 if one is not there. */
static int resized_axes(const struct graph_node *n, int rank, int *axes)
{
	const struct attr *only = node_attr(n, "axes"); /* since opset 18 */
	int count = only ? only->nints : rank;

	if (count > GRAPH_MAX_RANK)
		return -1;
	for (int i = 0; i < count; i++) {
		axes[i] = only ? infer_axis(only->ints[i], rank) : i;
		if (axes[i] < 0)
			return -1;
	}
	return count;
}

/* Sizes of which one gives the factor for all: the smallest (not_larger) or the largest. 0: each
 * size stands for itself. */
static double common_factor(const struct graph *g, const struct graph_node *n)
{
	const char *policy = node_str(n, "keep_aspect_ratio_policy", "stretch");
	const int larger = !strcmp(policy, "not_smaller");
	const struct shape *s = &node_in(g, n, 0)->shape;
	int nsizes, axes[GRAPH_MAX_RANK], count = resized_axes(n, s->rank, axes);
	const int64_t *sizes;
	double best = 0;

	if ((!larger && strcmp(policy, "not_larger") != 0) ||
	    infer_list(g, n, NULL, 3, &nsizes, &sizes) != 1 || nsizes != count)
		return 0;
	for (int i = 0; i < count; i++) {
		double f = (double)sizes[i] / (double)s->dim[axes[i]];

		if (s->dim[axes[i]] < 1 || sizes[i] < 0)
			return 0;
		if (!i || (larger ? f > best : f < best))
			best = f;
	}
	return best;
}

/* Factors as floats: an attribute (Upsample 7), or input 1 (Upsample 9, Resize 10) or 2 (Resize
 * 11). */
int infer_resize_factor(const struct graph *g, const struct graph_node *n, int64_t opset, int rank,
			int i, double *out)
{
	const struct attr *a = node_attr(n, "scales");
	const struct value *v;

	if (a && a->nfloats == rank) {
		*out = a->floats[i];
		return 1;
	}
	*out = common_factor(g, n);
	if (*out > 0)
		return 1;
	v = node_in(g, n, n->nin > 2 || opset >= 11 ? 2 : 1);
	if (!v || !v->kept || !elem_is_real(v->elem) || v->shape.rank != 1 ||
	    v->shape.dim[0] != rank)
		return 0;
	*out = v->kept[i].f;
	return !isnan(*out);
}

INFER(resize)
{
	const int64_t *sizes;
	int nsizes, fixed, count, axes[GRAPH_MAX_RANK];
	double common;

	fixed = infer_list(x->g, n, NULL, 3, &nsizes, &sizes);
	count = resized_axes(n, made->rank, axes);
	if (count < 0)
		return infer_bad(x, n, e, "resizes a dimension that is not there");
	common = common_factor(x->g, n);
	for (int i = 0; i < count; i++) {
		int axis = axes[i];
		double f, size;

		if (common > 0) {
			size = floor(common * (double)made->dim[axis] + 0.5);
			made->dim[axis] =
				size <= (double)MAX_ELEMENTS ? (int64_t)size : DIM_UNKNOWN;
			continue;
		}
		if (fixed == 1 && nsizes == count) {
			if (sizes[i] < 0 && sizes[i] != INT_UNKNOWN)
				return infer_bad(x, n, e, "makes a negative size");
			made->dim[axis] = sizes[i] == INT_UNKNOWN ? DIM_UNKNOWN : sizes[i];
		} else if (made->dim[axis] >= 0 &&
			   infer_resize_factor(x->g, n, x->opset, count, i, &f)) {
			size = floor((double)made->dim[axis] * f);
			if (!(size >= 0 && size <= (double)MAX_ELEMENTS))
				return infer_bad(x, n, e, "has an absurd factor");
			made->dim[axis] = (int64_t)size;
		} else {
			made->dim[axis] = DIM_UNKNOWN;
		}
	}
	return 1;
}

/* DepthToSpace, and SpaceToDepth. */
INFER(blocks)
{
	const int64_t b = node_int(n, "blocksize", 0);

	if (b < 1 || b > 1024 || (in->shape.rank >= 0 && in->shape.rank != 4))
		return infer_bad(x, n, e, "wants an image and a blocksize");
	for (int i = 1; i < made->rank; i++) {
		const int64_t factor = i == node_channel(n, 4) ? b * b : b;

		if (made->dim[i] < 0)
			continue;
		if (node_is(n, OP_DepthToSpace) == (i == node_channel(n, 4)))
			made->dim[i] /= factor;
		else
			made->dim[i] *= factor;
	}
	return 1;
}

/* Blocks of an image become images of their own in the batch: the dimensions behind the batch are
 * padded and divided by the sizes of input 1, pads are pairs in input 2. And back, with a part cut
 * off. */
INFER(space_to_batch)
{
	int back = node_is(n, OP_BatchToSpace), nblock, npads, known;
	const int64_t *block, *pads;

	known = infer_list(x->g, n, NULL, 1, &nblock, &block) == 1 &&
		infer_list(x->g, n, NULL, 2, &npads, &pads) == 1;
	if (known && (nblock >= made->rank || npads != 2 * nblock))
		return infer_bad(x, n, e, "has blocks that do not fit its data");
	if (!known)
		return infer_open(made, made->rank);
	for (int i = 0; i < nblock; i++) {
		int64_t *d = &made->dim[i + 1], b = block[i], p = pads[2 * i], q = pads[2 * i + 1];

		if (b < 1 || b > FAR || p < 0 || p > FAR || q < 0 || q > FAR)
			return infer_bad(x, n, e, "has blocks that make no sense");
		if (made->dim[0] >= 0)
			made->dim[0] = back ? made->dim[0] / b : made->dim[0] * b;
		if (*d >= 0)
			*d = back ? *d * b - p - q : (*d + p + q) / b;
		if (*d < DIM_UNKNOWN || infer_absurd(made))
			return infer_bad(x, n, e, "has blocks that do not fit its data");
	}
	return 1;
}
