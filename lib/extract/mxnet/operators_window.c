/* Convolutions, pools, and what pads, cuts and resizes images. */
#include <string.h>

#include "lib/extract/compose.h"
#include "lib/extract/mxnet/operator.h"

/* NHWC and the like; NULL or NCHW: the channels come second. */
static int channels_last(const struct call *o)
{
	const char *layout = mx_text(o, "layout", "");
	const size_t n = strlen(layout);

	return n > 2 && layout[n - 1] == 'C';
}

static int rank_of(const struct call *o, const char *key)
{
	int64_t v[GRAPH_MAX_RANK];
	const int rank = call_ints(o, key, 0, v);

	return rank > GRAPH_MAX_RANK - 2 ? -1 : rank;
}

static void window(const struct call *o, struct graph_node *n, int rank)
{
	call_sizes(o, n, "kernel", "kernel_shape", rank);
	call_sizes(o, n, "stride", "strides", rank);
	call_sizes(o, n, "dilate", "dilations", rank);
	call_pads(o, n, "pad", rank);
	n->channels_last = channels_last(o);
}

/* ---- convolutions ---- */

/* Inputs are data, weights, and a bias where there is one. */
static int convolve(const struct call *o, const char *onnx, const int *in, int nin)
{
	const int rank = rank_of(o, "kernel");
	struct graph_node *n;

	if (rank < 1)
		return -1;
	n = call_node(o, onnx, in, nin);
	window(o, n, rank);
	build_int(o->b, n, "filters", call_int(o, "num_filter", 0));
	build_int(o->b, n, "group", call_int(o, "num_group", 1));
	return 0;
}

int mx_conv(const struct call *o, const struct call_row *row)
{
	const int is_biased = o->nin > 2 && !call_flag(o, "no_bias", 0);

	return o->nin < 2 ? -1 : convolve(o, row->onnx, o->in, 2 + is_biased);
}

/* Data, offsets, in a later form masks, weights, a bias. */
int mx_deformable(const struct call *o, const struct call_row *row)
{
	const int is_modulated = strstr(o->type, "Modulated") != NULL, weights = 2 + is_modulated;
	const int is_biased = o->nin > weights + 1 && !call_flag(o, "no_bias", 0);
	const int in[] = {o->in[0], o->nin > weights ? o->in[weights] : -1,
			  o->nin > 1 ? o->in[1] : -1, is_biased ? o->in[weights + 1] : -1,
			  is_modulated && o->nin > 2 ? o->in[2] : -1};

	return o->nin <= weights ? -1 : convolve(o, row->onnx, in, 5);
}

int mx_deconv(const struct call *o, const struct call_row *row)
{
	const int is_biased = o->nin > 2 && !call_flag(o, "no_bias", 1);
	struct graph_node *n;
	int64_t v[GRAPH_MAX_RANK];

	if (o->nin < 2 || convolve(o, row->onnx, o->in, 2 + is_biased))
		return -1;
	n = &o->b->g->node[o->b->g->nnode - 1];
	call_sizes(o, n, "adj", "output_padding", rank_of(o, "kernel"));
	if (call_ints(o, "target_shape", 0, v) == rank_of(o, "kernel") && v[0] > 0)
		call_sizes(o, n, "target_shape", "output_shape", rank_of(o, "kernel"));
	return 0;
}

/* ---- pools ---- */

static int global_pool(const struct call *o, int is_max)
{
	const int64_t space[] = {1, 2, 3};
	const int rank = (int)strlen(mx_text(o, "layout", "")) - 2;
	struct graph_node *n;

	if (!channels_last(o)) {
		call_node(o, is_max ? "GlobalMaxPool" : "GlobalAveragePool", o->in, 1);
		return 0;
	}
	n = call_node(o, is_max ? "ReduceMax" : "ReduceMean", o->in, 1);
	build_ints(o->b, n, "axes", space, rank > 3 ? 3 : rank);
	return 0;
}

int mx_pool(const struct call *o, const struct call_row *row)
{
	const char *type = mx_text(o, "pool_type", "");
	const int is_max = !*type || !strcmp(type, "max");
	const int rank = rank_of(o, "kernel");
	struct graph_node *n;

	(void)row;
	if (call_flag(o, "global_pool", 0))
		return global_pool(o, is_max);
	if (rank < 1)
		return -1;
	n = call_node(o,
		      is_max			      ? "MaxPool"
		      : call_is(o, "pool_type", "lp") ? "LpPool"
						      : "AveragePool",
		      o->in, 1);
	window(o, n, rank);
	if (call_is(o, "pooling_convention", "full"))
		build_int(o->b, n, "ceil_mode", CEIL_ALWAYS);
	else if (call_is(o, "pooling_convention", "same"))
		build_str(o->b, n, "auto_pad", "SAME_UPPER");
	if (!is_max)
		build_int(o->b, n, "count_include_pad", call_flag(o, "count_include_pad", 1));
	return 0;
}

/* An average over as many parts of each dimension as are wanted. */
int mx_adaptive_pool(const struct call *o, const struct call_row *row)
{
	static const int64_t space[] = {2, 3};
	int64_t v[GRAPH_MAX_RANK];
	int n = call_ints(o, "output_size", 0, v), in[] = {o->in[0], -1, -1, -1};

	(void)row;
	if (n == 1)
		v[1] = v[0];
	if (n < 1 || (v[0] == 1 && v[1] == 1)) {
		call_node(o, "GlobalAveragePool", o->in, 1);
		return 0;
	}
	in[3] = build_integers(o->b, v, 2);
	build_ints(o->b, call_node(o, "Resize", in, 4), "axes", space, 2);
	return 0;
}

/* ---- sizes of images ---- */

static int scale(const struct call *o, double height, double width)
{
	const double factors[] = {1, 1, height, width};
	const int in[] = {o->in[0], -1, build_numbers(o->b, factors, 4)};

	if (!(height > 0 && width > 0))
		return -1;
	call_node(o, "Resize", in, 3);
	return 0;
}

/* Where there are several inputs, each is brought to the size of the first; that is seldom used. */
int mx_upsample(const struct call *o, const struct call_row *row)
{
	const double factor = (double)call_int(o, "scale", 0);

	(void)row;
	return call_int(o, "num_args", 1) > 1 && call_is(o, "sample_type", "nearest")
		       ? -1
		       : scale(o, factor, factor);
}

int mx_bilinear(const struct call *o, const struct call_row *row)
{
	static const int64_t space[] = {2, 3};
	const int64_t size[] = {call_int(o, "height", 1), call_int(o, "width", 1)};
	const char *mode = mx_text(o, "mode", "size");
	int in[] = {o->in[0], -1, -1, -1}, from[2];

	(void)row;
	if (mx_text(o, "scale_height", NULL) && strcmp(mode, "size") != 0)
		return -1;
	if (call_real(o, "scale_height", 0) > 0)
		return scale(o, call_real(o, "scale_height", 0), call_real(o, "scale_width", 0));
	if (!strcmp(mode, "like") && o->nin > 1) {
		mx_step(o, "Shape", o->in[1], &from[0]);
		from[1] = build_integers(o->b, space, 2);
		in[3] = mx_part(o, "size");
		build_node(o->b, "Gather", from, 2, &in[3], 1);
	} else if (!strcmp(mode, "size")) {
		in[3] = build_integers(o->b, size, 2);
	} else {
		return -1;
	}
	build_ints(o->b, call_node(o, "Resize", in, 4), "axes", space, 2);
	return 0;
}

/* Pairs of before and behind, a pair a dimension. */
int mx_pad(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK], pads[GRAPH_MAX_RANK];
	const int n = call_ints(o, "pad_width", 0, v);
	const char *mode = mx_text(o, "mode", "constant");
	struct graph_node *node;

	if (n < 2 || n % 2)
		return -1;
	for (int i = 0; i < n; i++)
		pads[i / 2 + (i % 2) * (n / 2)] = v[i];
	node = call_node(o, row->onnx, o->in, 1);
	build_ints(o->b, node, "pads", pads, n);
	build_str(o->b, node, "mode", mode);
	build_float(o->b, node, "value", (float)call_real(o, "constant_value", 0));
	return 0;
}

/* To the size of a second input, or to the size given. */
int mx_crop(const struct call *o, const struct call_row *row)
{
	static const int64_t space[] = {2, 3}, none[] = {0, 0};
	int64_t size[GRAPH_MAX_RANK];
	struct graph_node *n;

	if (o->nin > 1)
		return mx_slice_like(o, row);
	if (call_ints(o, "h_w", 0, size) != 2)
		return -1;
	n = call_node(o, "Slice", o->in, 1);
	build_ints(o->b, n, "starts", none, 2);
	build_ints(o->b, n, "ends", size, 2);
	build_ints(o->b, n, "axes", space, 2);
	return 0;
}

/* A row of regions is the number of the image, and a box. */
int mx_regions(const struct call *o, const struct call_row *row)
{
	int64_t v[GRAPH_MAX_RANK];
	struct graph_node *n;

	if (o->nin < 2 || call_ints(o, "pooled_size", 0, v) != 2)
		return -1;
	n = call_node(o, row->onnx, o->in, 2);
	build_ints(o->b, n, "pooled_shape", v, 2);
	build_int(o->b, n, "output_height", v[0]);
	build_int(o->b, n, "output_width", v[1]);
	return 0;
}
