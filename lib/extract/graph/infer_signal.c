/* Operators of signals and images that networks rarely have: transforms, windows, regions; losses
 * and random tensors; and those whose sizes depend on data. */
#include <string.h>

#include "lib/extract/graph/infer.h"

/* Regions of an image: regions x channels x the size of a region. */
INFER(regions)
{
	const struct value *rois = node_in(x->g, n, 1);
	const struct attr *pooled = node_attr(n, "pooled_shape");
	struct shape s = {4, {DIM_UNKNOWN, DIM_UNKNOWN, 1, 1}};

	if (in->shape.rank == 4)
		s.dim[1] = in->shape.dim[1];
	if (rois->shape.rank == 2)
		s.dim[0] = rois->shape.dim[0];
	if (node_is(n, OP_RoiAlign)) {
		s.dim[2] = node_int(n, "output_height", 1);
		s.dim[3] = node_int(n, "output_width", 1);
	} else if (pooled && pooled->nints == 2) {
		s.dim[2] = pooled->ints[0];
		s.dim[3] = pooled->ints[1];
	}
	return infer_set(x, n, 0, &s, e);
}

/* Columns back to an image: image_shape is input 1, block_shape input 2. */
INFER(col2im)
{
	const int64_t *image, *block;
	int nimage, nblock, known = infer_list(x->g, n, NULL, 1, &nimage, &image) == 1;
	int64_t size = 1;
	struct shape s = {2, {DIM_UNKNOWN, DIM_UNKNOWN}};

	if (!known || in->shape.rank != 3 || nimage + 2 > GRAPH_MAX_RANK)
		return 0;
	s.dim[0] = in->shape.dim[0];
	if (infer_list(x->g, n, NULL, 2, &nblock, &block) == 1) {
		for (int i = 0; i < nblock; i++)
			if (block[i] < 1 || __builtin_mul_overflow(size, block[i], &size))
				return infer_bad(x, n, e, "has blocks that make no sense");
		s.dim[1] = in->shape.dim[1] < 0 ? DIM_UNKNOWN : in->shape.dim[1] / size;
	}
	for (int i = 0; i < nimage; i++)
		s.dim[s.rank++] = image[i] == INT_UNKNOWN ? DIM_UNKNOWN : image[i];
	return infer_set(x, n, 0, &s, e);
}

INFER(center)
{
	const struct attr *axes = node_attr(n, "axes");
	const int64_t *to;
	int count, known = infer_list(x->g, n, NULL, 1, &count, &to) == 1;

	if (known && count != (axes ? axes->nints : made->rank))
		return infer_bad(x, n, e, "has sizes that do not fit its data");
	for (int i = 0; i < (axes ? axes->nints : made->rank); i++) {
		int axis = axes ? infer_axis(axes->ints[i], made->rank) : i;

		if (axis < 0)
			return infer_bad(x, n, e, "crops a dimension that is not there");
		made->dim[axis] = known && to[i] != INT_UNKNOWN ? to[i] : DIM_UNKNOWN;
	}
	return 1;
}

/* A grid for an image of that size (N, C, [D,] H, W): N x [D x] H x W x dimensions. */
INFER(grid)
{
	const int64_t *size;
	int count;
	struct shape s = {0};

	if (infer_list(x->g, n, NULL, 1, &count, &size) != 1 || count < 3 || count > GRAPH_MAX_RANK)
		return 0;
	for (int i = 0; i < count; i++)
		if (i != 1)
			s.dim[s.rank++] = size[i] == INT_UNKNOWN ? DIM_UNKNOWN : size[i];
	s.dim[s.rank++] = count - 2;
	return infer_set(x, n, 0, &s, e);
}

INFER(det)
{
	if (in->shape.rank < 2)
		return 0;
	made->rank -= 2;
	return 1;
}

/* The last dimension holds real and imaginary parts. */
INFER(dft)
{
	int64_t axis = node_int(n, "axis", x->opset < 20 ? 1 : -2), length = DIM_UNKNOWN;
	int one_sided = node_int(n, "onesided", 0) != 0, inverse = node_int(n, "inverse", 0) != 0;
	int at, told = infer_one(x->g, n, 1, &length);

	if (in->shape.rank < 2 || infer_one(x->g, n, 2, &axis) < 0)
		return 0;
	at = infer_axis(axis, made->rank);
	if (at < 0)
		return infer_bad(x, n, e, "transforms a dimension that is not there");
	if (told)
		made->dim[at] = length;
	if (one_sided && !inverse && made->dim[at] >= 0)
		made->dim[at] = made->dim[at] / 2 + 1;
	else if (one_sided && inverse && !told && made->dim[at] > 0)
		made->dim[at] = 2 * (made->dim[at] - 1);
	made->dim[made->rank - 1] = one_sided && inverse ? 1 : 2;
	return 1;
}

int64_t infer_frame(const struct graph *g, const struct graph_node *n)
{
	const struct value *window = node_in(g, n, 2);
	int64_t length;
	const int told = infer_one(g, n, 3, &length);

	if (told == 1)
		return length;
	return !told && window && window->shape.rank == 1 ? window->shape.dim[0] : DIM_UNKNOWN;
}

/* Signal: batch x length [x 1]; batch x frames x frequencies x 2. */
INFER(stft)
{
	const int64_t frame = infer_frame(x->g, n);
	int64_t step = 0;
	struct shape s = {4, {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, 2}};

	if (!frame || frame < DIM_UNKNOWN || (infer_one(x->g, n, 1, &step) == 1 && step < 1))
		return infer_bad(x, n, e, "has frames, or steps, of no length");
	if (in->shape.rank >= 2)
		s.dim[0] = in->shape.dim[0];
	if (frame > 0)
		s.dim[2] = node_int(n, "onesided", 1) ? frame / 2 + 1 : frame;
	if (step > 0 && frame > 0 && in->shape.rank >= 2 && in->shape.dim[1] >= frame)
		s.dim[1] = (in->shape.dim[1] - frame) / step + 1;
	return infer_set(x, n, 0, &s, e);
}

INFER(window)
{
	struct shape s = {1, {DIM_UNKNOWN}};

	(void)infer_one(x->g, n, 0, &s.dim[0]);
	infer_elem(x, n, 0, (int)node_int(n, "output_datatype", VALUE_F32));
	return infer_set(x, n, 0, &s, e);
}

/* Bins x frequencies, where the inputs are bins and the length of the transform. */
INFER(mel)
{
	struct shape s = {2, {DIM_UNKNOWN, DIM_UNKNOWN}};

	(void)infer_one(x->g, n, 0, &s.dim[1]);
	if (infer_one(x->g, n, 1, &s.dim[0]) == 1)
		s.dim[0] = s.dim[0] / 2 + 1;
	infer_elem(x, n, 0, (int)node_int(n, "output_datatype", VALUE_F32));
	return infer_set(x, n, 0, &s, e);
}

INFER(multinomial)
{
	struct shape s = {2, {DIM_UNKNOWN, node_int(n, "sample_size", 1)}};

	if (in->shape.rank == 2)
		s.dim[0] = in->shape.dim[0];
	infer_elem(x, n, 0, (int)node_int(n, "dtype", VALUE_I32));
	return infer_set(x, n, 0, &s, e);
}

/* A loss for each label, or one for all; output 1 has the shape of the scores. */
INFER(loss)
{
	const struct value *scores = node_in(x->g, n, 0), *labels = node_in(x->g, n, 1);
	int each = !strcmp(node_str(n, "reduction", "mean"), "none");
	const struct shape scalar = {0};

	if (infer_set(x, n, 1, &scores->shape, e))
		return -1;
	return infer_set(x, n, 0, each ? &labels->shape : &scalar, e);
}

INFER(random)
{
	const struct attr *a = node_attr(n, "shape");

	if (!a || a->nints > GRAPH_MAX_RANK)
		return infer_bad(x, n, e, "has no shape");
	made->rank = a->nints;
	for (int i = 0; i < made->rank; i++)
		made->dim[i] = a->ints[i];
	infer_elem(x, n, 0, (int)node_int(n, "dtype", VALUE_F32));
	return 1;
}

/* How many different elements there are is not known. */
INFER(unique)
{
	const int64_t count = infer_told(x, n);
	struct shape s = {1, {count}}, list = s, places = {1, {DIM_UNKNOWN}};

	if (shape_known(&in->shape))
		places.dim[0] = shape_count(&in->shape);
	if (node_attr(n, "axis") && in->shape.rank >= 0) {
		int axis = infer_axis(node_int(n, "axis", 0), in->shape.rank);

		if (axis < 0)
			return infer_bad(x, n, e, "looks along a dimension that is not there");
		s = in->shape;
		places.dim[0] = s.dim[axis];
		s.dim[axis] = count;
	}
	for (int i = 1; i < 4; i++) {
		infer_elem(x, n, i, VALUE_I64);
		if (infer_set(x, n, i, i == 2 ? &places : &list, e))
			return -1;
	}
	return infer_set(x, n, 0, &s, e);
}

INFER(compress)
{
	struct shape s = {1, {DIM_UNKNOWN}};
	const int64_t *keep;
	int axis = 0, count, known = infer_list(x->g, n, NULL, 1, &count, &keep) == 1;

	if (node_attr(n, "axis")) {
		if (in->shape.rank < 0)
			return 0;
		axis = infer_axis(node_int(n, "axis", 0), in->shape.rank);
		if (axis < 0)
			return infer_bad(x, n, e, "picks along a dimension that is not there");
		s = in->shape;
	}
	s.dim[axis] = 0;
	for (int i = 0; i < count; i++) {
		known &= keep[i] != INT_UNKNOWN;
		s.dim[axis] += keep[i] != 0;
	}
	if (!known)
		s.dim[axis] = infer_told(x, n);
	return infer_set(x, n, 0, &s, e);
}

/* The last dimension has one element for each pattern. */
INFER(patterns)
{
	const struct attr *a = node_attr(n, "ngram_indexes");
	int64_t most = -1;

	if (in->shape.rank < 1 || !a)
		return 0;
	for (int i = 0; i < a->nints; i++)
		most = a->ints[i] > most && a->ints[i] < MAX_ELEMENTS ? a->ints[i] : most;
	made->dim[made->rank - 1] = most + 1;
	infer_elem(x, n, 0, VALUE_F32);
	return 1;
}

/* A convolution over time and the state that it leaves, batch x channels x steps. */
INFER(causal_conv)
{
	const struct value *w = node_in(x->g, n, 1);

	if (infer_set(x, n, 0, made, e))
		return -1;
	if (made->rank != 3 || w->shape.rank != 3)
		return 0;
	made->dim[2] = w->shape.dim[2] > 0 ? w->shape.dim[2] - 1 : DIM_UNKNOWN;
	return infer_set(x, n, 1, made, e);
}
