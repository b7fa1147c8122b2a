/* The door of lowering: a node has the operands without which its operator means nothing. */
#include "lib/run/lower.h"

enum { EACH = 255, EACH_OF_TWO = 254 }; /* every input that it has, and two at least */

/* So many of the first inputs must be there; where nothing is said, the first one. Others may be
 * left out, or stand in attributes (lib/extract/graph/build.h). */
static const unsigned char needed[OPERATORS] = {
	[OP_Add] = EACH_OF_TWO,
	[OP_And] = 2,
	[OP_Attention] = 3,
	[OP_BatchNormalization] = EACH,
	[OP_BitShift] = 2,
	[OP_BitwiseAnd] = 2,
	[OP_BitwiseOr] = 2,
	[OP_BitwiseXor] = 2,
	[OP_Col2Im] = EACH,
	[OP_Compress] = 2,
	[OP_Concat] = EACH,
	[OP_Conv] = 2,
	[OP_ConvTranspose] = 2,
	[OP_CumSum] = EACH,
	[OP_DequantizeLinear] = 2,
	[OP_DequantizePacked] = 2,
	[OP_Div] = EACH_OF_TWO,
	[OP_Einsum] = EACH,
	[OP_Equal] = 2,
	[OP_Expand] = EACH,
	[OP_GRU] = 3,
	[OP_Gather] = 2,
	[OP_GatherElements] = 2,
	[OP_GatherND] = 2,
	[OP_Gemm] = 2,
	[OP_Greater] = 2,
	[OP_GreaterOrEqual] = 2,
	[OP_GridSample] = 2,
	[OP_GroupNormalization] = EACH,
	[OP_InstanceNormalization] = EACH,
	[OP_LSTM] = 3,
	[OP_Less] = 2,
	[OP_LessOrEqual] = 2,
	[OP_MatMul] = 2,
	[OP_Max] = EACH,
	[OP_Mean] = EACH,
	[OP_Min] = EACH,
	[OP_Mod] = 2,
	[OP_Mul] = EACH_OF_TWO,
	[OP_MaxRoiPool] = 2,
	[OP_NegativeLogLikelihoodLoss] = 2,
	[OP_NonMaxSuppression] = 2,
	[OP_OneHot] = 3,
	[OP_Or] = 2,
	[OP_PRelu] = 2,
	[OP_Pow] = 2,
	[OP_QuantizeLinear] = 2,
	[OP_RNN] = 3,
	[OP_Range] = 3,
	[OP_Reshape] = EACH,
	[OP_ReverseSequence] = 2,
	[OP_RoiAlign] = 3,
	[OP_RotaryEmbedding] = 3,
	[OP_Scatter] = 3,
	[OP_ScatterElements] = 3,
	[OP_ScatterND] = 3,
	[OP_SoftmaxCrossEntropyLoss] = 2,
	[OP_Sub] = EACH_OF_TWO,
	[OP_Sum] = EACH,
	[OP_Tile] = EACH,
	[OP_TopK] = EACH,
	[OP_Where] = 3,
	[OP_Xor] = 2,
};

static int may_lack_first_output(const struct graph_node *n)
{
	return node_is(n, OP_LSTM) || node_is(n, OP_GRU) || node_is(n, OP_RNN) || n->nout == 0;
}

static int needed_by(const struct graph_node *n)
{
	const int need = needed[n->op];

	if (need == EACH_OF_TWO && n->nin < 2)
		return 2;
	return need >= EACH_OF_TWO ? n->nin : need;
}

int lower_check_operands(const struct lowering *l, const struct graph_node *n, struct err *e)
{
	const int need = needed_by(n);

	if (node_is_walked(n)) /* turns may lack a number */
		return 0;
	for (int i = 0; i < need; i++)
		if (i >= n->nin || n->in[i] < 0)
			return lower_bad(l, n, e, "lacks its input %d", i + 1);
	if (n->nin && n->in[0] < 0)
		return lower_bad(l, n, e, "lacks its input 1");
	if (!may_lack_first_output(n) && n->out[0] < 0)
		return lower_bad(l, n, e, "lacks its first output");
	return 0;
}
