/* Which operators of ONNX an operator of MXNet is: the table. */
#include <string.h>

#include "lib/extract/mxnet/operator.h"

/* more: inputs that are data; 0: all. */
static const struct call_row rows[] = {
	{"Convolution Convolution_v1", "Conv", .fn = mx_conv, .more = 1},
	{"Deconvolution", "ConvTranspose", .fn = mx_deconv, .more = 1},
	{"_contrib_DeformableConvolution", "DeformConv", .fn = mx_deformable, .more = 2},
	{"_contrib_ModulatedDeformableConvolution", "DeformConv", .fn = mx_deformable, .more = 3},
	{"Pooling Pooling_v1", NULL, .fn = mx_pool},
	{"_contrib_quantized_pooling", NULL, .fn = mx_pool, .more = 1},
	{"_contrib_AdaptiveAvgPooling2D", NULL, .fn = mx_adaptive_pool},
	{"UpSampling", NULL, .fn = mx_upsample, .more = 1},
	{"_contrib_BilinearResize2D", NULL, .fn = mx_bilinear},
	{"Pad pad", "Pad", .fn = mx_pad},
	{"Crop", NULL, .fn = mx_crop},
	{"_contrib_ROIAlign", "RoiAlign", .fn = mx_regions},
	{"ROIPooling", "MaxRoiPool", .fn = mx_regions},
	{"depth_to_space", "DepthToSpace", "0", CALL_ATTRS({CALL_INT, "blocksize", "block_size"})},
	{"space_to_depth", "SpaceToDepth", "0", CALL_ATTRS({CALL_INT, "blocksize", "block_size"})},

	{"FullyConnected", NULL, .fn = mx_dense, .more = 1},
	{"dot batch_dot linalg_gemm2 _linalg_gemm2", "MatMul", .fn = mx_dot},
	{"linalg_gemm _linalg_gemm", "MatMul", .fn = mx_gemm},
	{"Embedding", "Gather", .fn = mx_embedding, .more = 1},
	{"RNN", NULL, .fn = mx_recurrent, .more = 1},
	{"_contrib_interleaved_matmul_selfatt_qk", NULL, .fn = mx_self_scores},
	{"_contrib_interleaved_matmul_selfatt_valatt", NULL, .fn = mx_self_sum},
	{"_contrib_interleaved_matmul_encdec_qk", NULL, .fn = mx_cross_scores},
	{"_contrib_interleaved_matmul_encdec_valatt", NULL, .fn = mx_cross_sum},

	{"Reshape reshape", NULL, .fn = mx_reshape_codes},
	{"reshape_like", "Reshape", .fn = mx_reshape_like},
	{"Flatten flatten", "Flatten", "0", CALL_ATTRS({CALL_INT, "axis", NULL, 1})},
	{"transpose", "Transpose", "0", CALL_ATTRS({CALL_INTS, "perm", "axes"})},
	{"SwapAxis swapaxes", "SwapAxes", "0", CALL_ATTRS({CALL_EACH, "axes", "dim1 dim2"})},
	{"expand_dims", "Unsqueeze", "0", CALL_ATTRS({CALL_EACH, "axes", "axis"})},
	{"squeeze", "Squeeze", "0", CALL_ATTRS({CALL_INTS, "axes", "axis"})},
	{"Concat concat", "Concat", NULL, CALL_ATTRS({CALL_INT, "axis", "dim", 1})},
	{"_rnn_param_concat", "Concat", NULL, CALL_ATTRS({CALL_INT, "axis", "dim"})},
	{"stack", NULL, NULL, CALL_ATTRS({CALL_INT, "axis", "axis"}), call_pack},
	{"SliceChannel split", NULL, .fn = mx_split},
	{"_split_v2", NULL, .fn = mx_split_at},
	{"slice crop", "Slice", .fn = mx_slice},
	{"slice_axis", "Slice", .fn = mx_slice_axis},
	{"slice_like", NULL, .fn = mx_slice_like},
	{"broadcast_to", "Expand", .fn = mx_broadcast_to},
	{"broadcast_axis broadcast_axes", "Repeat", .fn = mx_broadcast_axis},
	{"broadcast_like", "Expand", .fn = mx_broadcast_like},
	{"tile", "Repeat", .fn = mx_tile},
	{"repeat", "Repeat", .fn = mx_repeat},
	{"take", "Gather", .fn = mx_take},
	{"gather_nd", "GatherND", .fn = mx_gather_nd},
	{"one_hot", "OneHot", .fn = mx_one_hot},
	{"topk", "TopK", .fn = mx_top},
	{"_arange", "Range", .fn = mx_range},
	{"_contrib_arange_like", "Range", .fn = mx_range_like},
	{"_zeros _ones _full", NULL, .fn = mx_filled},
	{"shape_array", "Shape", "0"},
	{"size_array", "Size", "0"},
	{"where", "Where", NULL, CALL_ATTRS({CALL_INT, "rows", NULL, 1})},
	{"reverse argsort sort zeros_like ones_like _contrib_box_nms _contrib_box_decode",
	 "Identity", "0"},
	{"SequenceMask", "Identity", "0", .more = 1},
	{"SequenceReverse", "ReverseSequence", "0", .more = 1},

	{"Activation", NULL, .fn = mx_activation},
	{"LeakyReLU", NULL, .fn = mx_leaky, .more = 1},
	{"relu", "Relu", "0"},
	{"sigmoid", "Sigmoid", "0"},
	{"tanh", "Tanh", "0"},
	{"softsign", "Softsign", "0"},
	{"erf", "Erf", "0"},
	{"hard_sigmoid", "HardSigmoid", "0",
	 CALL_ATTRS({CALL_REAL, "alpha", "alpha", 0.2}, {CALL_REAL, "beta", "beta", 0.5})},
	{"softmax", "Softmax", "0", CALL_ATTRS({CALL_INT, "axis", "axis", -1}), .more = 1},
	{"log_softmax", "LogSoftmax", "0", CALL_ATTRS({CALL_INT, "axis", "axis", -1}), .more = 1},
	{"SoftmaxOutput Softmax SoftmaxActivation", "Softmax", .fn = mx_softmax_output, .more = 1},
	{"LogisticRegressionOutput", "Sigmoid", "0", .more = 1},
	{"LinearRegressionOutput MAERegressionOutput SVMOutput", "Identity", "0", .more = 1},
	{"MakeLoss make_loss BlockGrad stop_gradient _copy identity Dropout", "Identity", "0"},
	{"IdentityAttachKLSparseReg", "Identity", "0"},

	{"BatchNorm BatchNorm_v1 _contrib_SyncBatchNorm", "BatchNormalization", .fn = mx_batch_norm,
	 .more = 1},
	{"LayerNorm", "LayerNormalization", "0", CALL_ATTRS({CALL_INT, "axis", "axis", -1}),
	 .more = 1},
	{"InstanceNorm", "InstanceNormalization", "0", .more = 1},
	{"GroupNorm", "GroupNormalization", "0", .more = 1},
	{"L2Normalization", "LpNormalization", "0"},
	{"LRN", "LRN", "0"},
	{"mean", "ReduceMean", .fn = mx_reduce},
	{"sum sum_axis", "ReduceSum", .fn = mx_reduce},
	{"max max_axis", "ReduceMax", .fn = mx_reduce},
	{"min min_axis", "ReduceMin", .fn = mx_reduce},
	{"prod", "ReduceProd", .fn = mx_reduce},
	{"norm", "ReduceL2", .fn = mx_norm},
	{"argmax", "ArgMax", .fn = mx_arg},
	{"argmin", "ArgMin", .fn = mx_arg},

	{"Cast cast amp_cast", "Cast", .fn = mx_cast},
	{"amp_multicast", "Identity", .fn = mx_cast_all},
	{"_contrib_quantize_v2 _contrib_quantize _contrib_requantize", "QuantizeLinear",
	 .fn = mx_quantize, .more = 1},
	{"_contrib_dequantize", "DequantizeLinear", "0", .more = 1},

	{"clip", "Clip", "0", CALL_ATTRS({CALL_REAL, "min", "a_min"}, {CALL_REAL, "max", "a_max"})},
	{"square", NULL, .fn = call_square},
	{"rsqrt", "Sqrt Reciprocal", .fn = mx_chain},
	{"reciprocal", "Reciprocal", "0"},
	{"_contrib_div_sqrt_dim", "Identity", "0"},
	{"add_n ElementWiseSum", "Sum"},
	{"broadcast_not_equal _not_equal", "Equal Not", .fn = mx_chain},
	{"_minimum_scalar _MinimumScalar", "Min", .fn = mx_scalar},
	{"_maximum_scalar _MaximumScalar", "Max", .fn = mx_scalar},
	{"_plus_scalar _PlusScalar", "Add", .fn = mx_scalar},
	{"_minus_scalar _MinusScalar", "Sub", .fn = mx_scalar},
	{"_rminus_scalar _RMinusScalar", "Sub", .fn = mx_scalar_left},
	{"_mul_scalar _MulScalar", "Mul", .fn = mx_scalar},
	{"_div_scalar _DivScalar", "Div", .fn = mx_scalar},
	{"_rdiv_scalar _RDivScalar", "Div", .fn = mx_scalar_left},
	{"_mod_scalar", "Mod", .fn = mx_scalar},
	{"_power_scalar _PowerScalar", "Pow", .fn = mx_scalar},
	{"_rpower_scalar _RPowerScalar", "Pow", .fn = mx_scalar_left},
	{"_equal_scalar", "Equal", .fn = mx_scalar},
	{"_greater_scalar", "Greater", .fn = mx_scalar},
	{"_greater_equal_scalar", "GreaterOrEqual", .fn = mx_scalar},
	{"_lesser_scalar", "Less", .fn = mx_scalar},
	{"_lesser_equal_scalar", "LessOrEqual", .fn = mx_scalar},
};

static const struct call_row *find_row(const char *type)
{
	return call_find(rows, sizeof rows / sizeof *rows, type);
}

int mxnet_data_inputs(const char *type)
{
	const struct call_row *row = find_row(type);

	return row ? row->more : 0;
}

static void own(const struct call *o, const int *out, int nout)
{
	build_node(o->b, o->type, o->in, o->nin, out, nout)->domain = o->domain;
}

/* Some results are read, but no node makes them: statistics of normalizations, and the like. A node
 * of our own makes them. The values of an operator's results follow each other. */
static void make_rest(const struct call *o, int first_node)
{
	char *is_made = arena_array(o->b->a, char, mx_made(o));
	int *rest = arena_array(o->b->a, int, mx_made(o)), n = 0;

	for (int i = first_node; i < o->b->g->nnode; i++)
		for (int k = 0; k < o->b->g->node[i].nout; k++) {
			const int at = o->b->g->node[i].out[k] - o->out[0];

			if (at >= 0 && at < mx_made(o))
				is_made[at] = 1;
		}
	for (int i = 0; i < mx_made(o); i++)
		if (!is_made[i] && !o->b->g->value[o->out[i]]->is_const)
			rest[n++] = o->out[i];
	if (n)
		own(o, rest, n);
}

/* One of several nodes has the name of the operator: the one that multiplies, or else the last. */
static void name_nodes(const struct call *o, int first_node)
{
	for (int i = first_node; i < o->b->g->nnode; i++)
		if (o->b->g->node[i].name[0])
			return;
	if (o->b->g->nnode > first_node)
		o->b->g->node[o->b->g->nnode - 1].name = o->name;
}

void mxnet_operator(const struct call *o)
{
	const struct call_row *row = find_row(o->type);
	const int first_node = o->b->g->nnode;
	/* Constants read nothing. */
	const int can_be = o->nin > 0 || (row && (row->fn == mx_range || row->fn == mx_filled));

	if (!can_be || (row ? call_by_row(o, row) : mx_element_wise(o))) {
		own(o, o->out, mx_made(o));
		name_nodes(o, first_node);
		return;
	}
	name_nodes(o, first_node);
	make_rest(o, first_node);
}
