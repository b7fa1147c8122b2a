#include "lib/run/lower.h"

#include <stdlib.h>
#include <string.h>

#include "lib/run/constants.h"

static lower_fn *const table[OPERATORS] = {
	[OP_Abs] = lower_unary,
	[OP_Acos] = lower_scalar,
	[OP_Acosh] = lower_scalar,
	[OP_Add] = lower_binary,
	[OP_And] = lower_scalar,
	[OP_ArgMax] = lower_arg,
	[OP_ArgMin] = lower_arg,
	[OP_Asin] = lower_scalar,
	[OP_Asinh] = lower_scalar,
	[OP_Atan] = lower_scalar,
	[OP_Atanh] = lower_scalar,
	[OP_Attention] = lower_attention,
	[OP_AveragePool] = lower_pool,
	[OP_BatchNormalization] = lower_batch_norm,
	[OP_BitShift] = lower_bits,
	[OP_BitwiseAnd] = lower_bits,
	[OP_BitwiseNot] = lower_bits,
	[OP_BitwiseOr] = lower_bits,
	[OP_BitwiseXor] = lower_bits,
	[OP_Cast] = lower_cast,
	[OP_CastLike] = lower_cast,
	[OP_Ceil] = lower_scalar,
	[OP_Celu] = lower_elu,
	[OP_CenterCropPad] = lower_center,
	[OP_Clip] = lower_clip,
	[OP_Col2Im] = lower_col2im,
	[OP_Compress] = lower_compress,
	[OP_Concat] = lower_concat,
	[OP_Conv] = lower_taps,
	[OP_ConvTranspose] = lower_taps,
	[OP_Cos] = lower_scalar,
	[OP_Cosh] = lower_scalar,
	[OP_CumProd] = lower_cumulate,
	[OP_CumSum] = lower_cumulate,
	[OP_DepthToSpace] = lower_depth_to_space,
	[OP_DequantizeLinear] = lower_quantize,
	[OP_DequantizePacked] = lower_dequantize_packed,
	[OP_Div] = lower_binary,
	[OP_Dropout] = lower_dropout,
	[OP_Einsum] = lower_einsum,
	[OP_Elu] = lower_elu,
	[OP_Equal] = lower_scalar,
	[OP_Erf] = lower_unary,
	[OP_Exp] = lower_unary,
	[OP_Expand] = lower_expand,
	[OP_EyeLike] = lower_diagonal,
	[OP_Flatten] = lower_reshape,
	[OP_Floor] = lower_scalar,
	[OP_GRU] = lower_recurrent,
	[OP_Gather] = lower_gather,
	[OP_GatherElements] = lower_elements,
	[OP_GatherND] = lower_gather_rows,
	[OP_Gelu] = lower_gelu,
	[OP_Gemm] = lower_gemm,
	[OP_GlobalAveragePool] = lower_global_pool,
	[OP_GlobalLpPool] = lower_global_pool,
	[OP_GlobalMaxPool] = lower_global_pool,
	[OP_Greater] = lower_scalar,
	[OP_GreaterOrEqual] = lower_scalar,
	[OP_GridSample] = lower_sample,
	[OP_GroupNormalization] = lower_group_norm,
	[OP_HardSigmoid] = lower_hard_sigmoid,
	[OP_HardSwish] = lower_unary,
	[OP_Hardmax] = lower_like_softmax,
	[OP_Identity] = lower_alias,
	[OP_InstanceNormalization] = lower_instance_norm,
	[OP_IsInf] = lower_scalar,
	[OP_IsNaN] = lower_scalar,
	[OP_LRN] = lower_lrn,
	[OP_LSTM] = lower_recurrent,
	[OP_LayerNormalization] = lower_layer_norm,
	[OP_LeakyRelu] = lower_leaky_relu,
	[OP_Less] = lower_scalar,
	[OP_LessOrEqual] = lower_scalar,
	[OP_Log] = lower_scalar,
	[OP_LogSoftmax] = lower_like_softmax,
	[OP_LpNormalization] = lower_lp_norm,
	[OP_LpPool] = lower_pool,
	[OP_MatMul] = lower_matmul,
	[OP_Max] = lower_binary,
	[OP_MaxPool] = lower_pool,
	[OP_MaxRoiPool] = lower_regions,
	[OP_Mean] = lower_binary,
	[OP_MeanVarianceNormalization] = lower_mean_variance,
	[OP_Min] = lower_binary,
	[OP_Mish] = lower_scalar,
	[OP_Mod] = lower_scalar,
	[OP_Mul] = lower_binary,
	[OP_Neg] = lower_unary,
	[OP_NegativeLogLikelihoodLoss] = lower_loss,
	[OP_NonMaxSuppression] = lower_suppress,
	[OP_NonZero] = lower_non_zero,
	[OP_Not] = lower_scalar,
	[OP_OneHot] = lower_one_hot,
	[OP_Optional] = lower_alias,
	[OP_OptionalGetElement] = lower_alias,
	[OP_Or] = lower_scalar,
	[OP_PRelu] = lower_prelu,
	[OP_Pad] = lower_pad,
	[OP_Pow] = lower_pow,
	[OP_QuantizeLinear] = lower_quantize,
	[OP_RMSNormalization] = lower_layer_norm,
	[OP_RNN] = lower_recurrent,
	[OP_Range] = lower_range,
	[OP_Reciprocal] = lower_unary,
	[OP_ReduceL1] = lower_reduce,
	[OP_ReduceL2] = lower_reduce,
	[OP_ReduceLogSum] = lower_reduce,
	[OP_ReduceLogSumExp] = lower_reduce,
	[OP_ReduceMax] = lower_reduce,
	[OP_ReduceMean] = lower_reduce,
	[OP_ReduceMin] = lower_reduce,
	[OP_ReduceProd] = lower_reduce,
	[OP_ReduceSum] = lower_reduce,
	[OP_ReduceSumSquare] = lower_reduce,
	[OP_Relu] = lower_unary,
	[OP_Reshape] = lower_reshape,
	[OP_Resize] = lower_resize,
	[OP_ReverseSequence] = lower_reversal,
	[OP_RoiAlign] = lower_regions,
	[OP_RotaryEmbedding] = lower_rotary,
	[OP_Round] = lower_scalar,
	[OP_Scatter] = lower_elements,
	[OP_ScatterElements] = lower_elements,
	[OP_ScatterND] = lower_scatter,
	[OP_Selu] = lower_elu,
	[OP_Shrink] = lower_scalar,
	[OP_Sigmoid] = lower_unary,
	[OP_Sign] = lower_scalar,
	[OP_SimplifiedLayerNormalization] = lower_layer_norm,
	[OP_Sin] = lower_scalar,
	[OP_Sinh] = lower_scalar,
	[OP_Slice] = lower_slice,
	[OP_Softmax] = lower_softmax,
	[OP_SoftmaxCrossEntropyLoss] = lower_loss,
	[OP_Softplus] = lower_scalar,
	[OP_Softsign] = lower_scalar,
	[OP_SpaceToDepth] = lower_space_to_depth,
	[OP_Split] = lower_split,
	[OP_Sqrt] = lower_unary,
	[OP_Squeeze] = lower_reshape,
	[OP_Sub] = lower_binary,
	[OP_Sum] = lower_binary,
	[OP_SwiGLU] = lower_swish,
	[OP_Swish] = lower_swish,
	[OP_Tan] = lower_scalar,
	[OP_Tanh] = lower_unary,
	[OP_ThresholdedRelu] = lower_scalar,
	[OP_Tile] = lower_tile,
	[OP_TopK] = lower_top,
	[OP_Transpose] = lower_transpose,
	[OP_Trilu] = lower_triangle,
	[OP_Unique] = lower_unique,
	[OP_Unsqueeze] = lower_reshape,
	[OP_Upsample] = lower_resize,
	[OP_Where] = lower_scalar,
	[OP_Xor] = lower_scalar,
};

/* ---- nodes ---- */

int lower_is_done(const struct lowering *l, const struct graph_node *n)
{
	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(l->g, n, i);

		if (value_is_read(v) && !constant_is_kept(l->g, v))
			return 0;
	}
	return 1;
}

int lower_is_empty(const struct lowering *l, const struct graph_node *n)
{
	int outputs = 0;

	for (int i = 0; i < n->nout; i++) {
		const struct value *v = node_out(l->g, n, i);

		if (!value_is_read(v))
			continue;
		if (!shape_known(&v->shape) || shape_count(&v->shape))
			return 0;
		outputs++;
	}
	return outputs > 0;
}

/* The places of outputs without elements. */
static int make_empty(struct lowering *l, const struct graph_node *n, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		struct place p;

		if (n->out[i] < 0)
			continue;
		if (lower_new(l, n->out[i], NULL, &p, e))
			return -1;
		lower_put(l, n->out[i], &p);
	}
	return 0;
}

static int lower_node(struct lowering *l, const struct graph_node *n, struct err *e)
{
	lower_fn *const row = table[n->op];

	if (lower_is_done(l, n))
		return 0;
	if (node_is(n, OP_Constant) || node_is(n, OP_ConstantOfShape))
		return lower_constant_value(l, n->out[0], e);
	if (!row)
		return lower_refuse(l, n, e);
	if (node_is(n, OP_Optional) && !n->nin) /* it is empty */
		return 0;
	return row(l, n, e) || lower_wrap(l, n, e) ? -1 : 0;
}

/* What is wanted elsewhere goes there. */
static int settle(struct lowering *l, const struct graph_node *n, struct err *e)
{
	for (int i = 0; i < n->nout; i++) {
		int v = n->out[i];
		struct place p;

		if (v < 0 || l->want[v].memory < 0 || (l->place[v].memory < 0 && !l->waiting[v]))
			continue;
		if (lower_get_made(l, v, &p, e))
			return -1;
		if (place_is(&p, &l->want[v]))
			continue;
		plan_copy(l->p, l->g->value[v]->name, &p, &l->want[v], 0);
		l->place[v] = l->want[v];
	}
	return 0;
}

/* The kernel in front of the views has made the node's elements. */
static int lower_behind(struct lowering *l, const struct graph_node *n, int value, struct err *e)
{
	struct place p;

	if (lower_get_made(l, value, &p, e))
		return -1;
	lower_put(l, n->out[0], &p);
	return 0;
}

static int lower_at(struct lowering *l, int node, struct err *e)
{
	const struct graph_node *n = &l->g->node[node];

	if (lower_check_operands(l, n, e))
		return -1;
	if (lower_is_empty(l, n) && !lower_is_counted(n)) { /* that none is counted must hold */
		if (make_empty(l, n, e))
			return -1;
	} else if (l->task[node] >= 0) {
		if (lower_task(l, &l->tasks[l->task[node]], e))
			return -1;
	} else if (l->norm[node] >= 0) {
		if (lower_norm(l, &l->norms[l->norm[node]], e))
			return -1;
	} else if (l->behind[node] >= 0) {
		if (lower_behind(l, n, l->behind[node], e))
			return -1;
	} else if (l->absorbed[node]) {
		return 0;
	} else if (lower_node(l, n, e)) {
		return -1;
	}
	return settle(l, n, e);
}

/* ---- the graph ---- */

/* Is the node more than its task, but computed around it: by sums of the product's columns? */
static int is_around(const struct graph_node *n, const struct task *t)
{
	return node_is(n, OP_ConvTranspose) && t->w.rhs_const && t->w.dim[MATMUL_B] == 1;
}

/* As tl-extract makes them, channels last. A task's steps stand where its last node does. */
static int find_tasks(struct lowering *l, struct err *e)
{
	struct graph *g = l->g;

	const struct task_wanted wanted = {TASKS_RUN, LAYOUT_NHWC, l->opset, !l->p->by_library};

	l->ntasks = task_find(g, &wanted, l->p->a, l->tasks, l->absorbed);
	for (int i = 0; i < l->ntasks; i++) {
		const struct task *t = &l->tasks[i];
		const struct graph_node *n = &g->node[t->node];
		int last;

		if (!l->p->by_library)
			lower_pack_task(l, &l->tasks[i]);
		if (lower_is_done(l, n) || lower_is_empty(l, n) ||
		    ((t->why || (t->part && !is_around(n, t))) && table[n->op]))
			continue;
		if (t->why || (t->part && !is_around(n, t)))
			return lower_bad(l, n, e, "is not computed here: %s",
					 t->why ? t->why : "it is several products");
		last = t->ntaken ? t->taken[t->ntaken - 1].node : t->node;
		l->absorbed[t->node] = 1;
		l->task[last] = i;
		if (t->behind >= 0)
			l->behind[t->behind] = t->behind_in;
	}
	return 0;
}

/* All of these are floats here. */
static int is_runtime_type(int elem)
{
	return elem_is_int(elem) || elem_is_real(elem) || elem == VALUE_UNKNOWN;
}

static int make_inputs(struct lowering *l, struct graph_io *io, struct err *e)
{
	struct graph *g = l->g;
	int64_t floats = 0;

	io->input = arena_array(l->p->a, int, g->nvalue);
	io->input_at = arena_array(l->p->a, int, g->nvalue);
	for (int v = 0; v < g->nvalue; v++) {
		struct place p;

		if (!g->value[v]->is_input || g->value[v]->is_const)
			continue;
		if (!is_runtime_type(g->value[v]->elem))
			return err_set(e, "the input '%s' is %s, which tl-run does not take",
				       g->value[v]->name, elem_name(g->value[v]->elem));
		if (lower_shape(l, v, &p, e))
			return -1;
		lower_room(l, &p);
		l->p->memory[p.memory].is_kept = l->p->memory[p.memory].is_input = 1;
		lower_put(l, v, &p);
		io->input[io->ninputs] = v;
		io->input_at[io->ninputs++] = p.memory;
		floats += memory_floats(&l->p->memory[p.memory]);
	}
	return plan_has_room(floats)
		       ? 0
		       : err_set(e, "the inputs take %.3g GB, and the machine has less memory",
				 (double)floats * sizeof(float) / 1e9);
}

static int make_outputs(struct lowering *l, struct graph_io *io, struct err *e)
{
	struct graph *g = l->g;

	io->output = arena_array(l->p->a, int, g->nvalue);
	io->output_at = arena_array(l->p->a, int, g->nvalue);
	for (int v = 0; v < g->nvalue; v++) {
		struct place p, whole;

		if (!g->value[v]->is_output)
			continue;
		if (lower_get(l, v, &p, e))
			return -1;
		if (!place_is_dense(&p, NULL) || p.at ||
		    l->p->memory[p.memory].size != place_count(&p)) {
			place_dense(&whole, p.rank, p.dim, NULL);
			lower_room(l, &whole);
			plan_copy(l->p, g->value[v]->name, &p, &whole, 0);
			p = whole;
		}
		l->p->memory[p.memory].is_kept = 1;
		l->p->memory[p.memory].readers++;
		io->output[io->noutputs] = v;
		io->output_at[io->noutputs++] = p.memory;
	}
	return 0;
}

static void begin(struct lowering *l)
{
	struct graph *g = l->g;
	size_t nv = (size_t)g->nvalue, nn = (size_t)g->nnode;

	l->place = xcalloc(nv, sizeof *l->place);
	l->want = xcalloc(nv, sizeof *l->want);
	l->waiting = xcalloc(nv, sizeof *l->waiting);
	l->elem = xcalloc(nv, sizeof *l->elem);
	l->absorbed = xcalloc(nn, sizeof *l->absorbed);
	l->task = xcalloc(nn, sizeof *l->task);
	l->norm = xcalloc(nn, sizeof *l->norm);
	l->behind = xcalloc(nn, sizeof *l->behind);
	l->whole = xcalloc(nn, sizeof *l->whole);
	l->tasks = xcalloc(TASK_PARTS * nn, sizeof *l->tasks);
	l->computes = xcalloc(TASK_PARTS * nn, sizeof *l->computes);
	l->norms = xcalloc(nn, sizeof *l->norms);
	for (int v = 0; v < g->nvalue; v++)
		l->place[v].memory = l->want[v].memory = MEMORY_NONE;
	for (int i = 0; i < g->nnode; i++)
		l->task[i] = l->norm[i] = l->behind[i] = l->whole[i].memory = MEMORY_NONE;
}

static void end(struct lowering *l)
{
	free(l->place);
	free(l->want);
	free(l->waiting);
	free(l->elem);
	free(l->absorbed);
	free(l->task);
	free(l->norm);
	free(l->behind);
	free(l->whole);
	free(l->tasks);
	free(l->computes);
	free(l->norms);
	free(l->copy);
	free(l->table);
}

int lower_graph(struct graph *g, int64_t opset, struct plan *p, struct chooser *c,
		const uint64_t *seed, struct graph_io *io, struct err *e)
{
	struct lowering l = {.g = g,
			     .p = p,
			     .opset = opset,
			     .chooser = c,
			     .seed = seed,
			     .lanes = p->limits.lanes};
	int rc;

	*io = (struct graph_io){0};
	begin(&l);
	if (seed)
		constants_draw(g);
	rc = lower_begin_attributes(&l, e);
	if (!rc)
		rc = find_tasks(&l, e);
	if (!rc) {
		lower_find_norms(&l);
		lower_find_types(&l);
		rc = make_inputs(&l, io, e);
	}
	if (!rc)
		rc = lower_plan_concats(&l, e);
	for (int i = 0; !rc && i < g->nnode; i++)
		rc = lower_at(&l, g->order[i], e);
	if (!rc)
		rc = lower_left_attributes(&l, e);
	if (!rc)
		rc = make_outputs(&l, io, e);
	if (!rc)
		lower_leave_tables(&l);
	end(&l);
	return rc;
}
