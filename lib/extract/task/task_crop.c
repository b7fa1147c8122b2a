/* Rows and columns of a window that lie outside the image for every output: a window of 3x3 that is
 * dilated 36 times over 16x16 pixels is one of 1x1. In DeepLab (Chen et al., "Rethinking atrous
 * convolution for semantic image segmentation", 2017, section 3.3) such windows are common. A run
 * leaves them out, with their weights.
 */
#include <string.h>

#include "lib/extract/task/task.h"

/* Does some output read the image by tap k of an axis? */
static int is_read(const int64_t *d, int axis, int64_t k)
{
	const int64_t first = k * (d[CONV_DH + axis] + 1) - d[CONV_PH + axis];
	const int64_t stride = d[CONV_SH + axis], in = d[CONV_IH + axis];
	const int64_t o = first < 0 ? (stride - 1 - first) / stride : 0;

	return o < d[CONV_OH + axis] && first + o * stride < in;
}

static void crop_axis(struct task *t, int axis)
{
	int64_t *d = t->w.dim, lo = 0, hi = d[CONV_KH + axis];
	const int64_t step = d[CONV_DH + axis] + 1;

	while (lo < hi && !is_read(d, axis, lo))
		lo++;
	while (hi > lo && !is_read(d, axis, hi - 1))
		hi--;
	while (lo * step > d[CONV_PH + axis])
		lo--; /* a workload has no padding that is negative */
	if (lo >= hi)
		return;
	t->skip[axis] = lo;
	d[CONV_KH + axis] = hi - lo;
	d[CONV_PH + axis] -= lo * step;
	if (hi - lo == 1)
		d[CONV_DH + axis] = 0;
}

void task_crop(struct task *t)
{
	const struct workload was = t->w;
	struct err e = ERR_INIT;

	for (int axis = 0; t->w.op == &op_conv2d && axis < 2; axis++)
		crop_axis(t, axis);
	if (!t->skip[0] && !t->skip[1] && !memcmp(was.dim, t->w.dim, sizeof was.dim))
		return;
	/* A problem whose padding behind the image is far larger than its window is none. */
	if (workload_finish(&t->w, &e)) {
		t->w = was;
		t->skip[0] = t->skip[1] = 0;
	}
}
