/* Convolutions over three dimensions as convolutions over two, for processors.
 *
 * Where the window has one row and one column, depth is the image's height, and the pixels of a
 * plane are its width: nothing is moved. Else each plane of the result is an image, and the planes
 * that it reads are more channels of its source: the kernel's depth is part of the sum, as it is in
 * a product of patches (Chellapilla et al., "High performance convolutional neural networks for
 * document processing", 2006), but its rows and columns stay a window, so that all algorithms for
 * two dimensions have it.
 */
#include <string.h>

#include "lib/extract/task/task.h"

/* Is its window one row and one column of whole planes? */
static int is_column(const int64_t *d)
{
	for (int axis = 1; axis < 3; axis++)
		if (d[CONV3D_KD + axis] != 1 || d[CONV3D_SD + axis] != 1 || d[CONV3D_PD + axis] ||
		    d[CONV3D_OD + axis] != d[CONV3D_ID + axis])
			return 0;
	return 1;
}

/* An axis of the image, 0 or 1, from one of the volume. */
static void put_axis(int64_t *to, int axis, const int64_t *d, int from)
{
	to[CONV_IH + axis] = d[CONV3D_ID + from];
	to[CONV_OH + axis] = d[CONV3D_OD + from];
	to[CONV_KH + axis] = d[CONV3D_KD + from];
	to[CONV_SH + axis] = d[CONV3D_SD + from];
	to[CONV_PH + axis] = d[CONV3D_PD + from];
	to[CONV_DH + axis] = d[CONV3D_DD + from];
}

static void put_column(int64_t *to, const int64_t *d)
{
	put_axis(to, 0, d, 0);
	put_axis(to, 1, d, 1);
	to[CONV_IW] = task_times(d[CONV3D_IH], d[CONV3D_IW]);
	to[CONV_OW] = to[CONV_IW];
}

static void put_planes(int64_t *to, const int64_t *d)
{
	put_axis(to, 0, d, 1);
	put_axis(to, 1, d, 2);
	to[CONV_MB] = task_times(d[CONV3D_MB], d[CONV3D_OD]);
	to[CONV_IC] = task_times(d[CONV3D_IC], d[CONV3D_KD]);
}

int task_volume(struct task *t)
{
	const struct workload was = t->w;
	const int64_t *d = was.dim;
	int64_t to[OP_MAX_DIMS] = {
		[CONV_MB] = d[CONV3D_MB],
		[CONV_G] = d[CONV3D_G],
		[CONV_IC] = d[CONV3D_IC],
		[CONV_OC] = d[CONV3D_OC],
	};
	struct err e = ERR_INIT;

	t->volume = (struct task_volume){.is_column = is_column(d),
					 .groups = d[CONV3D_G],
					 .in = d[CONV3D_ID],
					 .out = d[CONV3D_OD],
					 .kernel = d[CONV3D_KD],
					 .stride = d[CONV3D_SD],
					 .before = d[CONV3D_PD],
					 .dilation = d[CONV3D_DD] + 1};
	if (t->volume.is_column)
		put_column(to, d);
	else
		put_planes(to, d);
	t->w.op = &op_conv2d;
	t->w.layout = LAYOUT_NHWC;
	memcpy(t->w.dim, to, sizeof to);
	if (!workload_finish(&t->w, &e))
		return 0;
	t->w = was;
	t->volume = (struct task_volume){0};
	return -1;
}
