/* Which operators of ONNX an operator of MXNet is: the table. */
#include <string.h>

#include "lib/extract/mxnet/operator.h"

static const struct row {
	const char *type;
	mx_fn *fn;
	const char *onnx;
	int ndata; /* inputs that are data; 0: all */
} rows[] = {
	{"Convolution", mx_conv, "Conv", 1},
	{"Convolution_v1", mx_conv, "Conv", 1},
	{"Deconvolution", mx_deconv, "ConvTranspose", 1},
	{"_contrib_DeformableConvolution", mx_deformable, "DeformConv", 2},
	{"_contrib_ModulatedDeformableConvolution", mx_deformable, "DeformConv", 3},
	{"Pooling", mx_pool, NULL, 0},
	{"Pooling_v1", mx_pool, NULL, 0},
	{"_contrib_quantized_pooling", mx_pool, NULL, 1},
	{"_contrib_AdaptiveAvgPooling2D", mx_adaptive_pool, NULL, 0},
	{"UpSampling", mx_upsample, NULL, 1},
	{"_contrib_BilinearResize2D", mx_bilinear, NULL, 0},
	{"Pad", mx_pad, "Pad", 0},
	{"pad", mx_pad, "Pad", 0},
	{"Crop", mx_crop, NULL, 0},
	{"_contrib_ROIAlign", mx_regions, "RoiAlign", 0},
	{"ROIPooling", mx_regions, "MaxRoiPool", 0},
	{"depth_to_space", mx_blocks, "DepthToSpace", 0},
	{"space_to_depth", mx_blocks, "SpaceToDepth", 0},

	{"FullyConnected", mx_dense, NULL, 1},
	{"dot", mx_dot, "MatMul", 0},
	{"batch_dot", mx_dot, "MatMul", 0},
	{"linalg_gemm2", mx_dot, "MatMul", 0},
	{"_linalg_gemm2", mx_dot, "MatMul", 0},
	{"linalg_gemm", mx_gemm, "MatMul", 0},
	{"_linalg_gemm", mx_gemm, "MatMul", 0},
	{"Embedding", mx_embedding, "Gather", 1},
	{"RNN", mx_recurrent, NULL, 1},
	{"_contrib_interleaved_matmul_selfatt_qk", mx_self_scores, NULL, 0},
	{"_contrib_interleaved_matmul_selfatt_valatt", mx_self_sum, NULL, 0},
	{"_contrib_interleaved_matmul_encdec_qk", mx_cross_scores, NULL, 0},
	{"_contrib_interleaved_matmul_encdec_valatt", mx_cross_sum, NULL, 0},

	{"Reshape", mx_reshape_codes, NULL, 0},
	{"reshape", mx_reshape_codes, NULL, 0},
	{"reshape_like", mx_reshape_like, "Reshape", 0},
	{"Flatten", mx_flatten, "Flatten", 0},
	{"flatten", mx_flatten, "Flatten", 0},
	{"transpose", mx_permute, "Transpose", 0},
	{"SwapAxis", mx_swap, "SwapAxes", 0},
	{"swapaxes", mx_swap, "SwapAxes", 0},
	{"expand_dims", mx_expand_dims, "Unsqueeze", 0},
	{"squeeze", mx_squeeze, "Squeeze", 0},
	{"Concat", mx_concat, "Concat", 0},
	{"concat", mx_concat, "Concat", 0},
	{"_rnn_param_concat", mx_concat, "Concat", 0},
	{"stack", mx_stack, NULL, 0},
	{"SliceChannel", mx_split, NULL, 0},
	{"split", mx_split, NULL, 0},
	{"_split_v2", mx_split_at, NULL, 0},
	{"slice", mx_slice, "Slice", 0},
	{"crop", mx_slice, "Slice", 0},
	{"slice_axis", mx_slice_axis, "Slice", 0},
	{"slice_like", mx_slice_like, NULL, 0},
	{"broadcast_to", mx_broadcast_to, "Expand", 0},
	{"broadcast_axis", mx_broadcast_axis, "Repeat", 0},
	{"broadcast_axes", mx_broadcast_axis, "Repeat", 0},
	{"broadcast_like", mx_broadcast_like, "Expand", 0},
	{"tile", mx_tile, "Repeat", 0},
	{"repeat", mx_repeat, "Repeat", 0},
	{"take", mx_take, "Gather", 0},
	{"gather_nd", mx_gather_nd, "GatherND", 0},
	{"one_hot", mx_one_hot, "OneHot", 0},
	{"topk", mx_top, "TopK", 0},
	{"_arange", mx_range, "Range", 0},
	{"_contrib_arange_like", mx_range_like, "Range", 0},
	{"_zeros", mx_filled, NULL, 0},
	{"_ones", mx_filled, NULL, 0},
	{"_full", mx_filled, NULL, 0},
	{"shape_array", mx_first, "Shape", 0},
	{"size_array", mx_first, "Size", 0},
	{"where", mx_where, "Where", 0},
	{"reverse", mx_first, "Identity", 0},
	{"argsort", mx_first, "Identity", 0},
	{"sort", mx_first, "Identity", 0},
	{"SequenceMask", mx_first, "Identity", 1},
	{"SequenceReverse", mx_first, "ReverseSequence", 1},
	{"zeros_like", mx_first, "Identity", 0},
	{"ones_like", mx_first, "Identity", 0},
	{"_contrib_box_nms", mx_first, "Identity", 0},
	{"_contrib_box_decode", mx_first, "Identity", 0},

	{"Activation", mx_activation, NULL, 0},
	{"LeakyReLU", mx_leaky, NULL, 1},
	{"relu", mx_first, "Relu", 0},
	{"sigmoid", mx_first, "Sigmoid", 0},
	{"tanh", mx_first, "Tanh", 0},
	{"softsign", mx_first, "Softsign", 0},
	{"erf", mx_first, "Erf", 0},
	{"hard_sigmoid", mx_hard_sigmoid, "HardSigmoid", 0},
	{"softmax", mx_softmax, "Softmax", 1},
	{"log_softmax", mx_softmax, "LogSoftmax", 1},
	{"SoftmaxOutput", mx_softmax_output, "Softmax", 1},
	{"Softmax", mx_softmax_output, "Softmax", 1},
	{"SoftmaxActivation", mx_softmax_output, "Softmax", 1},
	{"LogisticRegressionOutput", mx_first, "Sigmoid", 1},
	{"LinearRegressionOutput", mx_first, "Identity", 1},
	{"MAERegressionOutput", mx_first, "Identity", 1},
	{"SVMOutput", mx_first, "Identity", 1},
	{"MakeLoss", mx_first, "Identity", 0},
	{"make_loss", mx_first, "Identity", 0},
	{"BlockGrad", mx_first, "Identity", 0},
	{"stop_gradient", mx_first, "Identity", 0},
	{"_copy", mx_first, "Identity", 0},
	{"identity", mx_first, "Identity", 0},
	{"Dropout", mx_first, "Identity", 0},
	{"IdentityAttachKLSparseReg", mx_first, "Identity", 0},

	{"BatchNorm", mx_batch_norm, "BatchNormalization", 1},
	{"BatchNorm_v1", mx_batch_norm, "BatchNormalization", 1},
	{"_contrib_SyncBatchNorm", mx_batch_norm, "BatchNormalization", 1},
	{"LayerNorm", mx_layer_norm, "LayerNormalization", 1},
	{"InstanceNorm", mx_first, "InstanceNormalization", 1},
	{"GroupNorm", mx_first, "GroupNormalization", 1},
	{"L2Normalization", mx_first, "LpNormalization", 0},
	{"LRN", mx_first, "LRN", 0},
	{"mean", mx_reduce, "ReduceMean", 0},
	{"sum", mx_reduce, "ReduceSum", 0},
	{"sum_axis", mx_reduce, "ReduceSum", 0},
	{"max", mx_reduce, "ReduceMax", 0},
	{"max_axis", mx_reduce, "ReduceMax", 0},
	{"min", mx_reduce, "ReduceMin", 0},
	{"min_axis", mx_reduce, "ReduceMin", 0},
	{"prod", mx_reduce, "ReduceProd", 0},
	{"norm", mx_norm, NULL, 0},
	{"argmax", mx_arg, "ArgMax", 0},
	{"argmin", mx_arg, "ArgMin", 0},

	{"Cast", mx_cast, "Cast", 0},
	{"cast", mx_cast, "Cast", 0},
	{"amp_cast", mx_cast, "Cast", 0},
	{"amp_multicast", mx_cast_all, "Identity", 0},
	{"_contrib_quantize_v2", mx_quantize, "QuantizeLinear", 1},
	{"_contrib_quantize", mx_quantize, "QuantizeLinear", 1},
	{"_contrib_requantize", mx_quantize, "QuantizeLinear", 1},
	{"_contrib_dequantize", mx_first, "DequantizeLinear", 1},

	{"clip", mx_clip, "Clip", 0},
	{"square", mx_square, NULL, 0},
	{"rsqrt", mx_chain, "Sqrt Reciprocal", 0},
	{"reciprocal", mx_first, "Reciprocal", 0},
	{"_contrib_div_sqrt_dim", mx_first, "Identity", 0},
	{"add_n", mx_same, "Sum", 0},
	{"ElementWiseSum", mx_same, "Sum", 0},
	{"broadcast_not_equal", mx_chain, "Equal Not", 0},
	{"_not_equal", mx_chain, "Equal Not", 0},
	{"_minimum_scalar", mx_scalar, "Min", 0},
	{"_maximum_scalar", mx_scalar, "Max", 0},
	{"_plus_scalar", mx_scalar, "Add", 0},
	{"_minus_scalar", mx_scalar, "Sub", 0},
	{"_rminus_scalar", mx_scalar_left, "Sub", 0},
	{"_mul_scalar", mx_scalar, "Mul", 0},
	{"_div_scalar", mx_scalar, "Div", 0},
	{"_rdiv_scalar", mx_scalar_left, "Div", 0},
	{"_mod_scalar", mx_scalar, "Mod", 0},
	{"_power_scalar", mx_scalar, "Pow", 0},
	{"_rpower_scalar", mx_scalar_left, "Pow", 0},
	{"_MinimumScalar", mx_scalar, "Min", 0},
	{"_MaximumScalar", mx_scalar, "Max", 0},
	{"_PlusScalar", mx_scalar, "Add", 0},
	{"_MinusScalar", mx_scalar, "Sub", 0},
	{"_RMinusScalar", mx_scalar_left, "Sub", 0},
	{"_MulScalar", mx_scalar, "Mul", 0},
	{"_DivScalar", mx_scalar, "Div", 0},
	{"_RDivScalar", mx_scalar_left, "Div", 0},
	{"_PowerScalar", mx_scalar, "Pow", 0},
	{"_RPowerScalar", mx_scalar_left, "Pow", 0},
	{"_equal_scalar", mx_scalar, "Equal", 0},
	{"_greater_scalar", mx_scalar, "Greater", 0},
	{"_greater_equal_scalar", mx_scalar, "GreaterOrEqual", 0},
	{"_lesser_scalar", mx_scalar, "Less", 0},
	{"_lesser_equal_scalar", mx_scalar, "LessOrEqual", 0},
};

static const struct row *find_row(const char *type)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].type, type))
			return &rows[i];
	return NULL;
}

int mxnet_data_inputs(const char *type)
{
	const struct row *row = find_row(type);

	return row ? row->ndata : 0;
}

static void own(const struct mx_op *o, const int *out, int nout)
{
	build_node(o->b, o->type, o->in, o->nin, out, nout)->domain = MXNET_DOMAIN;
}

/* Some results are read, but no node makes them: statistics of normalizations, and the like. A node
 * of our own makes them. The values of an operator's results follow each other. */
static void make_rest(const struct mx_op *o, int first_node)
{
	char *is_made = arena_array(o->b->a, char, o->nout);
	int *rest = arena_array(o->b->a, int, o->nout), n = 0;

	for (int i = first_node; i < o->b->g->nnode; i++)
		for (int k = 0; k < o->b->g->node[i].nout; k++) {
			const int at = o->b->g->node[i].out[k] - o->out[0];

			if (at >= 0 && at < o->nout)
				is_made[at] = 1;
		}
	for (int i = 0; i < o->nout; i++)
		if (!is_made[i] && !o->b->g->value[o->out[i]]->is_const)
			rest[n++] = o->out[i];
	if (n)
		own(o, rest, n);
}

/* One of several nodes has the name of the operator: the one that multiplies, or else the last. */
static void name_nodes(const struct mx_op *o, int first_node)
{
	for (int i = first_node; i < o->b->g->nnode; i++)
		if (o->b->g->node[i].name[0])
			return;
	if (o->b->g->nnode > first_node)
		o->b->g->node[o->b->g->nnode - 1].name = o->name;
}

void mxnet_operator(const struct mx_op *o)
{
	const struct row *row = find_row(o->type);
	const int first_node = o->b->g->nnode;
	/* Constants read nothing. */
	const int can_be = o->nin > 0 || (row && (row->fn == mx_range || row->fn == mx_filled));

	if (!can_be || (row ? row->fn(o, row->onnx) : mx_element_wise(o))) {
		own(o, o->out, o->nout);
		name_nodes(o, first_node);
		return;
	}
	name_nodes(o, first_node);
	make_rest(o, first_node);
}
