/* Convolutions, pools, and what pads, cuts and enlarges images. */
#include <string.h>

#include "lib/extract/keras/layer.h"

enum { MOST_WINDOW = 1 << 20 };

/* ---- convolutions ---- */

static int channels_last(const struct call *l)
{
	return !call_is(l, "data_format", "channels_first");
}

/* The rank of the images, by the layer's name: Conv2D, MaxPooling1D. */
static int rank_of(const struct call *l)
{
	const char *d = strrchr(l->type, 'D');
	const int rank = d && d > l->type ? d[-1] - '0' : 0;

	return rank >= 1 && rank <= 3 ? rank : 0;
}

/* The zeros before a sequence whose every step reads no later one: 0 where the sizes make no sense.
 */
static int64_t before_first(const struct call *l, const char *size)
{
	int64_t v[GRAPH_MAX_RANK], dilation[GRAPH_MAX_RANK];

	if (call_ints(l, size, 1, v) != 1 || v[0] < 1 || v[0] >= MOST_WINDOW)
		return 0;
	if (call_ints(l, "dilation_rate", 1, dilation) != 1)
		dilation[0] = 1;
	if (dilation[0] < 1 || dilation[0] >= MOST_WINDOW)
		return 0;
	return (v[0] - 1) * dilation[0];
}

static void window(const struct call *l, const char *size)
{
	struct graph_node *n = build_last(l->b);
	const int rank = rank_of(l);

	call_sizes(l, n, size, "kernel_shape", rank);
	if (call_is(l, "padding", "causal") && rank == 1) {
		const int64_t pads[] = {before_first(l, size), 0};

		build_ints(l->b, n, "pads", pads, 2);
	} else {
		build_str(l->b, n, "auto_pad",
			  call_is(l, "padding", "same") ? "SAME_UPPER" : "VALID");
	}
	call_sizes(l, n, "strides", "strides", rank);
	n->channels_last = channels_last(l);
}

/* Keras makes as many outputs as strides fit, ONNX no more than the windows reach. */
static void fill_strides(const struct call *l, struct graph_node *n)
{
	int64_t k[GRAPH_MAX_RANK], stride[GRAPH_MAX_RANK], dilation[GRAPH_MAX_RANK];
	const int rank = rank_of(l);
	const int is_dilated = call_ints(l, "dilation_rate", rank, dilation) == rank;

	if (!call_is(l, "padding", "same") || call_ints(l, "kernel_size", rank, k) != rank ||
	    call_ints(l, "strides", rank, stride) != rank)
		return;
	for (int i = 0; i < rank; i++) {
		const int64_t by = is_dilated ? dilation[i] : 1;

		if (k[i] < 1 || k[i] >= MOST_WINDOW || by < 1 || by >= MOST_WINDOW)
			return;
		k[i] = stride[i] - ((k[i] - 1) * by + 1);
		k[i] = k[i] < 0 ? 0 : k[i];
	}
	build_ints(l->b, n, "output_padding", k, rank);
}

/* A convolution of `filters` filters; group 0: as many for each channel. */
static int convolve(const struct call *l, const char *onnx, int in, int64_t filters, int64_t group,
		    int is_pointwise, int has_bias)
{
	const int64_t ones[] = {1, 1, 1};
	const int kernel = layer_parameter(l, "kernel", 0);
	const int bias = has_bias ? layer_parameter(l, "bias", 0) : -1;
	const int out = call_make(l, "y = %s(@%d @%d @%d)", onnx, in, kernel, bias);
	struct graph_node *n = build_last(l->b);

	if (is_pointwise) {
		build_ints(l->b, n, "kernel_shape", ones, rank_of(l));
		n->channels_last = channels_last(l);
	} else {
		window(l, "kernel_size");
		call_sizes(l, n, "dilation_rate", "dilations", rank_of(l));
		if (!strcmp(onnx, "ConvTranspose"))
			fill_strides(l, n);
	}
	build_int(l->b, n, "filters", filters);
	build_int(l->b, n, "group", group);
	return out;
}

static int activated(const struct call *l, int out)
{
	return layer_made(l, layer_activate(l, out, layer_activation(l)));
}

int layer_conv(const struct call *l, const struct call_row *row)
{
	return activated(l, convolve(l, row->onnx, l->in[0], call_int(l, "filters", 0),
				     call_int(l, "groups", 1), 0, call_flag(l, "use_bias", 1)));
}

int layer_depthwise(const struct call *l, const struct call_row *row)
{
	return activated(l, convolve(l, row->onnx, l->in[0], call_int(l, "depth_multiplier", 1), 0,
				     0, call_flag(l, "use_bias", 1)));
}

int layer_separable(const struct call *l, const struct call_row *row)
{
	const int depthwise =
		convolve(l, row->onnx, l->in[0], call_int(l, "depth_multiplier", 1), 0, 0, 0);

	return activated(l, convolve(l, row->onnx, depthwise, call_int(l, "filters", 0), 1, 1,
				     call_flag(l, "use_bias", 1)));
}

/* ---- pools and sizes of images ---- */

/* Where the images' height and width, or the like, begin. */
static int first_of_space(const struct call *l)
{
	return channels_last(l) ? 1 : 2;
}

/* Says of the node at hand which dimensions those are. */
static void say_axes(const struct call *l, int rank)
{
	const int64_t first = first_of_space(l), axes[] = {first, first + 1, first + 2};

	build_ints(l->b, build_last(l->b), "axes", axes, rank);
}

int layer_pool(const struct call *l, const struct call_row *row)
{
	layer_made(l, call_make(l, "y = %s(0)", row->onnx));
	window(l, "pool_size");
	return 0;
}

int layer_global_pool(const struct call *l, const struct call_row *row)
{
	layer_made(l, call_make(l, "y = %s(0)", row->onnx));
	say_axes(l, rank_of(l));
	build_int(l->b, build_last(l->b), "keepdims", call_flag(l, "keepdims", 0));
	return 0;
}

/* Pairs of before and behind for each dimension of space: [[1, 2], [1, 2]], [1, 1], or 1. */
static int pairs(const struct call *l, const char *key, int64_t before[3], int64_t after[3])
{
	const struct json *v = layer_get(l, key), *first = json_first(l->doc, v);
	const int rank = rank_of(l);
	int i = 0;

	if (json_int(v, &before[0]) == 0) {
		for (i = 0; i < rank; i++)
			before[i] = after[i] = before[0];
		return rank;
	}
	if (first && first->type != JSON_ARR && rank == 1)
		return json_int(first, &before[0]) ||
				       json_int(json_next(l->doc, v, first), &after[0])
			       ? 0
			       : 1;
	for (const struct json *p = first; p && i < rank; p = json_next(l->doc, v, p), i++) {
		const struct json *a = json_first(l->doc, p),
				  *b = a ? json_next(l->doc, p, a) : NULL;

		if (p->type != JSON_ARR ? json_int(p, &before[i]) || json_int(p, &after[i])
					: !b || json_int(a, &before[i]) || json_int(b, &after[i]))
			return 0;
	}
	return i;
}

int layer_pad(const struct call *l, const struct call_row *row)
{
	int64_t before[3], after[3], pads[2 * GRAPH_MAX_RANK] = {0};
	const int rank = pairs(l, "padding", before, after), first = first_of_space(l);

	if (rank != rank_of(l))
		return -1;
	for (int i = 0; i < rank; i++) {
		pads[first + i] = before[i];
		pads[rank + 2 + first + i] = after[i];
	}
	layer_made(l, call_make(l, "y = %s(0)", row->onnx));
	build_ints(l->b, build_last(l->b), "pads", pads, 2 * (rank + 2));
	return 0;
}

int layer_crop(const struct call *l, const struct call_row *row)
{
	int64_t before[3], after[3];
	const int rank = pairs(l, "cropping", before, after);

	if (rank != rank_of(l))
		return -1;
	for (int i = 0; i < rank; i++)
		after[i] = after[i] ? -after[i] : INT64_MAX;
	layer_made(l, call_make(l, "y = %s(0)", row->onnx));
	build_ints(l->b, build_last(l->b), "starts", before, rank);
	build_ints(l->b, build_last(l->b), "ends", after, rank);
	say_axes(l, rank);
	return 0;
}

int layer_upsample(const struct call *l, const struct call_row *row)
{
	const int rank = rank_of(l);
	double scale[5] = {1, 1, 1, 1, 1};
	int64_t v[GRAPH_MAX_RANK];

	if (call_ints(l, "size", rank, v) != rank)
		return -1;
	for (int i = 0; i < rank; i++)
		scale[first_of_space(l) + i] = (double)v[i];
	return layer_made(l, call_make(l, "y = %s(0 - @%d)", row->onnx,
				       build_numbers(l->b, scale, rank + 2)));
}

/* To a height and a width that the layer tells. */
int layer_resize(const struct call *l, const struct call_row *row)
{
	const int64_t v[] = {call_int(l, "height", 0), call_int(l, "width", 0)};
	const int is_crop = !strcmp(row->onnx, "CenterCropPad");

	if (v[0] < 1 || v[1] < 1 || v[0] > MOST_WINDOW || v[1] > MOST_WINDOW)
		return -1;
	layer_made(l, call_make(l, "y = %s(0 %s @%d)", row->onnx, is_crop ? "" : "- -",
				build_integers(l->b, v, 2)));
	say_axes(l, 2);
	return 0;
}
